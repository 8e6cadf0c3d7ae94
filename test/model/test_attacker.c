/* test_attacker.c -- a random caller sends random requests and must not see more than it may.
 *
 * Each caller has random policies, and random resource policies stand in its way (attacker.h).
 * After each request four things are compared with what naive_policy.h allows: the answer, the
 * markers of items in it, what is stored, and the answer of a twin world in which the table Secret
 * is missing or another one. Triggers call a function here, which sees what leaves the database.
 *
 * ATTACKER_REQUESTS sets the length of a run, ATTACKER_SEED its first caller; a failure names the
 * seed of its caller. ATTACKER_REPORT=1 goes on after failures, shows the first of each kind
 * and counts them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "attacker.h"
#include "run_length.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "outbound/outbound.h"
#include "trigger/trigger_runner.h"

enum {
    REQUESTS = 3000,
    REQUESTS_LONG = 100 * 1000, /* With STATOR_TEST_LONG. */
    REQUESTS_PER_CALLER = 60,
    KINDS_MAX = 200,
    UUID_SIZE = 36,
    TEXT_MAX = 600,
};

/* --- What leaves by triggers --- */

/* Of which tables an attacker's trigger has called out. */
static atomic_bool called_out[ATTACK_TABLES];

static enum outbound_result see_post(struct outbound_client *client, struct arena *arena,
                                     const struct outbound_request *request,
                                     struct outbound_answer *answer)
{
    struct bytes url = request->url;
    (void)client;
    for (size_t i = 0; i < GAMMA; i++) {
        char source[TEXT_MAX];
        snprintf(source, sizeof source, ":table/%s/stream/", attack_tables[i].name);
        if (memmem(url.data, url.len, "attacker", 8) != NULL &&
            memmem(request->body.data, request->body.len, source, strlen(source)) != NULL)
            atomic_store(&called_out[i], true);
    }
    *answer = (struct outbound_answer){ .status = 200 };
    buffer_init(&answer->body, arena);
    return OUTBOUND_OK;
}

static struct trigger_outside watched = { .send = see_post }; /* main opens its network. */
static const struct trigger_outside idle = { .network = NULL };

/* --- A run --- */

struct finding {
    const char *kind;
    const char *operation;
    size_t count;
    size_t first_request;
    uint64_t first_seed;
};

struct run {
    struct attacker attacker;
    struct attack_rights rights;
    struct attack_world world;
    struct attack_world twin;
    const struct policy *policies[ATTACK_IDENTITY_MAX];
    struct caller caller;
    bool twin_differs; /* Something was done to Secret and to what the twin has as well. */
    bool has_trigger[ATTACK_TABLES];
    bool may_call_out[ATTACK_TABLES];
    uint64_t items[GAMMA];
    uint64_t settings; /* Before the request. */
    uint64_t seed;
    size_t request_count;
    size_t allowed_count, refused_count, twin_count;
    bool reports;
    struct finding findings[KINDS_MAX];
    size_t finding_count;
};

static void print_rights(struct run *run)
{
    for (size_t i = 0; i < run->rights.identity_count; i++)
        print_error(" caller: %.*s\n",
                    BYTES_FMT(naive_print(run->attacker.arena, &run->rights.identity[i])));
    for (size_t i = 0; i < GAMMA; i++) {
        if (run->rights.has_policy[i])
            print_error(" %s: %.*s\n", attack_tables[i].name,
                        BYTES_FMT(naive_print(run->attacker.arena, &run->rights.of_table[i])));
        if (run->rights.has_stream_policy[i])
            print_error(" %s's stream: %.*s\n", attack_tables[i].name,
                        BYTES_FMT(naive_print(run->attacker.arena, &run->rights.of_stream[i])));
    }
}

/* True if it is the first of its kind. */
static bool note(struct run *run, const char *kind, const struct attack_request *request)
{
    for (size_t i = 0; i < run->finding_count; i++) {
        struct finding *finding = &run->findings[i];
        if (finding->kind == kind && strcmp(finding->operation, request->operation) == 0) {
            finding->count++;
            return false;
        }
    }
    assert_true(run->finding_count < KINDS_MAX);
    run->findings[run->finding_count++] =
        (struct finding){ kind, request->operation, 1, run->request_count, run->seed };
    return true;
}

static void found(struct run *run, const char *kind, const struct attack_request *request,
                  struct bytes answer, struct bytes other)
{
    if (!note(run, kind, request))
        return;
    print_error("%s, ATTACKER_SEED=%llu, request %zu\n", kind, (unsigned long long)run->seed,
                run->request_count);
    print_rights(run);
    print_error(" %s %s\n", request->operation, request->body);
    for (size_t i = 0; i < request->ask_count; i++)
        print_error(" asks: %s on %s\n", request->asks[i].action, request->asks[i].resource);
    print_error(" answer: %.*s\n", BYTES_FMT(answer));
    if (other.data != NULL)
        print_error(" twin: %.*s\n", BYTES_FMT(other));
    if (!run->reports)
        fail_msg("%s", kind);
}

/* --- What the naive evaluator says --- */

struct judgement {
    bool allowed;
    bool is_certain;  /* The decision does not depend on what this test does not know. */
    bool is_stranger; /* Whoever asks has no right at all, whatever conditions hold. */
};

static void add_key(struct naive_request *to, const char *name, const char *const *values,
                    size_t count)
{
    if (count > 0 && values[0] != NULL)
        to->keys[to->key_count++] = (struct naive_key){ name, values, count, false };
}

static void make_naive_request(const struct attack_ask *ask, struct naive_request *out)
{
    static const char *const username = "alice";
    *out = (struct naive_request){ .action = ask->action,
                                   .resource = ask->resource,
                                   .principal = ATTACK_USER,
                                   .account = ATTACK_ACCOUNT };
    add_key(out, "aws:username", &username, 1);
    add_key(out, "dynamodb:LeadingKeys", ask->leading_keys.texts, ask->leading_keys.count);
    out->keys[out->key_count++] = (struct naive_key){ "dynamodb:Attributes", ask->attributes.texts,
                                                      ask->attributes.count, ask->shows_unnamed };
    add_key(out, "dynamodb:ReturnValues", ask->return_values.texts, ask->return_values.count);
    add_key(out, "dynamodb:Select", &ask->select, 1);
    add_key(out, "dynamodb:ReturnConsumedCapacity", &ask->capacity, 1);
    add_key(out, "dynamodb:FullTableScan", &ask->full_scan, 1);
    add_key(out, "dynamodb:EnclosingOperation", &ask->enclosing, 1);
    if (ask->table != ATTACK_NO_TABLE)
        add_key(out, "aws:ResourceTag/team", &attack_tables[ask->table].tag, 1);
}

/* The policy of the resource; NULL: it has none. */
static const struct naive_document *policy_of(const struct attack_rights *rights,
                                              const struct attack_ask *ask)
{
    if (ask->table == ATTACK_NO_TABLE)
        return NULL;
    if (!ask->of_stream)
        return rights->has_policy[ask->table] ? &rights->of_table[ask->table] : NULL;
    return rights->has_stream_policy[ask->table] && strstr(ask->resource, ATTACK_LABEL) != NULL
               ? &rights->of_stream[ask->table]
               : NULL;
}

struct concerned {
    bool by_allow;
    bool by_deny;    /* Without conditions, of the caller's own policies. */
    bool by_deny_if; /* The same with conditions. */
    bool by_condition;
    bool by_tag;
};

static void look_at(const struct naive_document *document, const struct naive_request *request,
                    bool of_identity, struct concerned *out)
{
    for (size_t i = 0; document != NULL && i < document->count; i++) {
        const struct naive_statement *statement = &document->statements[i];
        if (!naive_concerns(statement, request))
            continue;
        bool conditional = statement->test_count > 0;
        out->by_allow = out->by_allow || !statement->deny;
        out->by_deny = out->by_deny || (statement->deny && of_identity && !conditional);
        out->by_deny_if = out->by_deny_if || (statement->deny && of_identity && conditional);
        out->by_condition = out->by_condition || conditional;
        for (size_t j = 0; j < statement->test_count; j++)
            out->by_tag = out->by_tag || strstr(statement->tests[j].key, "Tag") != NULL;
    }
}

static struct judgement judge(const struct run *run, const struct attack_request *request,
                              const struct attack_ask *ask)
{
    const struct attack_rights *rights = &run->rights;
    struct naive_request asked;
    struct concerned concerned = { 0 };
    make_naive_request(ask, &asked);
    for (size_t i = 0; i < rights->identity_count; i++)
        look_at(&rights->identity[i], &asked, true, &concerned);
    look_at(policy_of(rights, ask), &asked, false, &concerned);
    struct naive_decision decision =
        naive_decide(rights->identity, rights->identity_count, policy_of(rights, ask), &asked);
    /* The keys of a missing table, or of a request that does not fit, are not known; nor are the
     * tags of a stream. An unconditional denial holds all the same. */
    bool open = (ask->table == GAMMA || request->is_broken) && concerned.by_condition;
    open = open || (ask->of_stream && concerned.by_tag);
    return (struct judgement){ .allowed = decision.allowed,
                               .is_certain = !open || concerned.by_deny || !concerned.by_allow,
                               .is_stranger = concerned.by_deny ||
                                              (!concerned.by_allow && !concerned.by_deny_if) };
}

struct verdict {
    struct judgement asks[ATTACK_ASKS_MAX];
    bool all_certain;
    bool any_refused;    /* With certainty. */
    bool may_see_secret; /* Some ask about Secret is no stranger's. */
};

static struct verdict judge_request(const struct run *run, const struct attack_request *request)
{
    struct verdict verdict = { .all_certain = true };
    for (size_t i = 0; i < request->ask_count; i++) {
        struct judgement judgement = judge(run, request, &request->asks[i]);
        verdict.asks[i] = judgement;
        verdict.all_certain = verdict.all_certain && judgement.is_certain;
        verdict.any_refused = verdict.any_refused || (judgement.is_certain && !judgement.allowed);
        if (request->asks[i].table == SECRET && !judgement.is_stranger)
            verdict.may_see_secret = true;
    }
    return verdict;
}

/* --- Answers --- */

static bool has(struct bytes text, const char *sought)
{
    return memmem(text.data, text.len, sought, strlen(sought)) != NULL;
}

static bool is_success(struct bytes answer)
{
    return bytes_starts_with(answer, BYTES("200"));
}

static bool is_denied(struct bytes answer)
{
    return bytes_starts_with(answer, BYTES("com.amazon.coral.service#AccessDenied"));
}

/* AccessDenied for one of what was refused. */
static bool is_denied_rightly(const struct attack_request *request, const struct verdict *verdict,
                              struct bytes answer)
{
    for (size_t i = 0; i < request->ask_count; i++) {
        char text[TEXT_MAX];
        snprintf(text, sizeof text,
                 "User: " ATTACK_USER " is not authorized to perform: %s on "
                 "resource: %s ",
                 request->asks[i].action, request->asks[i].resource);
        if (is_denied(answer) && !verdict->asks[i].allowed && has(answer, text))
            return true;
    }
    return false;
}

/* A part of the request may be told that its table is missing before another part is refused. */
static bool is_not_found_rightly(const struct attack_request *request,
                                 const struct verdict *verdict, struct bytes answer)
{
    for (size_t i = 0; i < request->ask_count; i++)
        if (request->asks[i].table == GAMMA &&
            (verdict->asks[i].allowed || !verdict->asks[i].is_certain))
            return has(answer, "ResourceNotFoundException");
    return false;
}

static size_t count_of(struct bytes text, const char *sought)
{
    size_t count = 0;
    for (size_t i = 0; i + strlen(sought) <= text.len; i++)
        count += memcmp(text.data + i, sought, strlen(sought)) == 0;
    return count;
}

static void check_statements(struct run *run, const struct attack_request *request,
                             const struct verdict *verdict, struct bytes answer)
{
    size_t refused = 0;
    for (size_t i = 0; i < request->ask_count; i++)
        refused += !verdict->asks[i].allowed;
    size_t got = count_of(answer, "\"Code\":\"AccessDenied\"");
    if (verdict->all_certain && !request->is_broken && got != refused)
        found(run, got < refused ? "a statement is not refused" : "a statement is refused", request,
              answer, (struct bytes){ 0 });
}

/* ListTriggers shows the triggers of the tables that the caller may list, without secrets. */
static void check_list(struct run *run, const struct attack_request *request,
                       const struct verdict *verdict, struct bytes answer)
{
    for (size_t i = 0; i < request->ask_count; i++) {
        size_t table = request->asks[i].table;
        bool wanted = strcmp(request->body, "{}") == 0 ||
                      strstr(request->body, attack_tables[table].name) != NULL;
        bool shown = has(answer, run->world.triggers[table]);
        if (verdict->asks[i].is_certain && !verdict->asks[i].allowed && shown)
            found(run, "a trigger is shown", request, answer, (struct bytes){ 0 });
        if (!request->is_broken && verdict->asks[i].allowed && verdict->asks[i].is_certain &&
            wanted && run->has_trigger[table] && !shown)
            found(run, "a trigger is not shown", request, answer, (struct bytes){ 0 });
    }
    if (has(answer, "topsecret"))
        found(run, "a trigger's token is shown", request, answer, (struct bytes){ 0 });
}

static void check_remove(struct run *run, const struct attack_request *request,
                         const struct verdict *verdict, struct bytes answer)
{
    size_t table = request->asks[0].table;
    if (verdict->any_refused && is_success(answer))
        found(run, "a trigger is removed", request, answer, (struct bytes){ 0 });
    if (verdict->all_certain && !verdict->any_refused && !request->is_broken &&
        run->has_trigger[table] && !is_success(answer))
        found(run, "a trigger is not removed", request, answer, (struct bytes){ 0 });
    if (is_success(answer))
        run->has_trigger[table] = false;
}

static void check_decision(struct run *run, const struct attack_request *request,
                           const struct verdict *verdict, struct bytes answer)
{
    static const struct bytes none = { 0 };
    switch (request->form) {
    case ATTACK_STATEMENTS:
        check_statements(run, request, verdict, answer);
        return;
    case ATTACK_LIST:
        check_list(run, request, verdict, answer);
        return;
    case ATTACK_REMOVE:
        check_remove(run, request, verdict, answer);
        return;
    case ATTACK_WHOLE:
        break;
    }
    if (verdict->any_refused && is_success(answer))
        found(run, "what is refused is done", request, answer, none);
    else if (verdict->any_refused && !request->is_broken && !is_denied(answer) &&
             !is_not_found_rightly(request, verdict, answer))
        found(run, "another error than AccessDenied", request, answer, none);
    else if (verdict->any_refused && is_denied(answer) && verdict->all_certain &&
             !request->is_broken && !is_denied_rightly(request, verdict, answer))
        found(run, "AccessDenied names something else", request, answer, none);
    else if (!verdict->any_refused && verdict->all_certain && is_denied(answer) &&
             !request->is_broken)
        found(run, "what is allowed is refused", request, answer, none);
}

/* --- Markers --- */

static bool is_listed(const struct naive_list *list, const char *text, size_t size)
{
    for (size_t i = 0; i < list->count; i++)
        if (strlen(list->texts[i]) == size && memcmp(list->texts[i], text, size) == 0)
            return true;
    return false;
}

/* May the attribute of that item be seen by what the ask allows? */
static bool may_show(const struct attack_ask *ask, const char *table, size_t table_size,
                     const char *user, size_t user_size, const char *attribute)
{
    const char *name = ask->table < GAMMA ? attack_tables[ask->table].name : "";
    return ask->shows && strlen(name) == table_size && memcmp(name, table, table_size) == 0 &&
           (ask->leading_keys.count == 0 || is_listed(&ask->leading_keys, user, user_size)) &&
           (ask->shown == NULL || strncmp(attribute, ask->shown, strlen(ask->shown)) == 0);
}

static void check_markers(struct run *run, const struct attack_request *request,
                          const struct verdict *verdict, struct bytes answer)
{
    const char *at = (const char *)answer.data;
    const char *end = at + answer.len;
    bool refused = verdict->any_refused && request->form == ATTACK_WHOLE;
    while ((at = memmem(at, (size_t)(end - at), "mk-", 3)) != NULL) {
        bool may = false;
        at += 3;
        const char *user = (const char *)memchr(at, '-', (size_t)(end - at)) + 1;
        const char *attribute = (const char *)memchr(user, '-', (size_t)(end - user)) + 1;
        for (size_t i = 0; i < request->ask_count && !refused; i++)
            may =
                may ||
                ((verdict->asks[i].allowed || !verdict->asks[i].is_certain || request->is_broken) &&
                 may_show(&request->asks[i], at, (size_t)(user - 1 - at), user,
                          (size_t)(attribute - 1 - user), attribute));
        if (!may && !(request->is_broken && !verdict->any_refused)) {
            found(run, "an item leaks", request, answer, (struct bytes){ 0 });
            return;
        }
    }
}

/* --- What is stored --- */

static bool may_write(const struct attack_request *request, const struct verdict *verdict,
                      size_t table)
{
    if (request->form == ATTACK_WHOLE && verdict->any_refused)
        return false;
    for (size_t i = 0; i < request->ask_count; i++)
        if (request->asks[i].table == table && request->asks[i].writes &&
            (verdict->asks[i].allowed || !verdict->asks[i].is_certain))
            return true;
    return false;
}

static void check_stored(struct run *run, const struct attack_request *request,
                         const struct verdict *verdict, struct bytes answer)
{
    for (size_t i = 0; i < GAMMA; i++) {
        uint64_t items = attack_world_items(&run->world, i, run->attacker.arena);
        if (items != run->items[i] && !may_write(request, verdict, i))
            found(run, "an item changes", request, answer, (struct bytes){ 0 });
        run->items[i] = items;
    }
    if (request->is_control && verdict->any_refused && request->form != ATTACK_LIST &&
        attack_world_settings(&run->world, run->attacker.arena) != run->settings)
        found(run, "a setting changes", request, answer, (struct bytes){ 0 });
}

/* --- The twin --- */

static bool is_uuid(const uint8_t *text)
{
    for (size_t i = 0; i < UUID_SIZE; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : strchr("0123456789abcdef", text[i]) == NULL)
            return false;
    }
    return true;
}

/* Without what differs from world to world: UUIDs, iterators, and what the control thread and the
 * triggers have got to. */
static struct bytes masked(struct run *run, struct bytes answer)
{
    static const char *const members[] = { "\"LastProcessingResult\":\"", "\"ShardIterator\":\"",
                                           "\"NextShardIterator\":\"", "\"TimeToLiveStatus\":\"" };
    struct buffer out;
    buffer_init(&out, run->attacker.arena);
    for (size_t i = 0; i < answer.len; i++) {
        if (answer.len - i >= UUID_SIZE && is_uuid(answer.data + i)) {
            i += UUID_SIZE - 1;
            continue;
        }
        for (size_t j = 0; j < COUNT_OF(members); j++) {
            size_t size = strlen(members[j]);
            if (answer.len - i > size && memcmp(answer.data + i, members[j], size) == 0) {
                i += size;
                while (i < answer.len && answer.data[i] != '"')
                    i++;
            }
        }
        if (i < answer.len)
            buffer_append_byte(&out, answer.data[i]);
    }
    return buffer_bytes(&out);
}

/* Triggers of the same time come in the order of their UUIDs, so only their number counts. */
static bool lists_the_same(struct bytes answer, struct bytes other)
{
    static const char *const parts[] = { "\"Alpha\"",    "\"Beta\"",        "\"Secret\"",
                                         "http://owner", "http://attacker", "\"UUID\"" };
    bool same = is_success(other);
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        same = same && count_of(answer, parts[i]) == count_of(other, parts[i]);
    return same;
}

static void check_twin(struct run *run, const struct attack_request *request,
                       const struct verdict *verdict, struct bytes answer)
{
    bool writes_others = false;
    for (size_t i = 0; i < request->ask_count; i++)
        writes_others =
            writes_others || (request->asks[i].table != SECRET && request->asks[i].writes);
    if (verdict->may_see_secret) {
        run->twin_differs = run->twin_differs || writes_others ||
                            strstr(request->body, "ClientRequestToken") != NULL;
        return;
    }
    struct bytes other = attack_world_call(&run->twin, &run->caller, request->operation,
                                           request->body, run->attacker.arena);
    if (run->twin_differs || (request->is_listing && !verdict->any_refused))
        return;
    run->twin_count++;
    bool same = request->form == ATTACK_LIST && is_success(answer)
                    ? lists_the_same(answer, other)
                    : bytes_equal(masked(run, answer), masked(run, other));
    if (!same)
        found(run, "the twin answers otherwise", request, answer, other);
}

/* --- Requests --- */

static void attack(struct run *run)
{
    struct attack_request request;
    struct arena *arena = run->attacker.arena;
    arena_reset(arena);
    attack_make_request(&run->attacker, &request);
    struct verdict verdict = judge_request(run, &request);
    if (request.is_skipped_if_allowed && !verdict.any_refused)
        return;
    run->request_count++;
    run->allowed_count += !verdict.any_refused;
    run->refused_count += verdict.any_refused;
    if (request.is_control && verdict.any_refused)
        run->settings = attack_world_settings(&run->world, arena);
    struct bytes answer =
        attack_world_call(&run->world, &run->caller, request.operation, request.body, arena);
    if (strcmp(request.operation, "AddTrigger") == 0 && !verdict.any_refused)
        run->may_call_out[request.asks[0].table] = true;
    check_decision(run, &request, &verdict, answer);
    check_markers(run, &request, &verdict, answer);
    check_stored(run, &request, &verdict, answer);
    check_twin(run, &request, &verdict, answer);
}

static void use_rights(struct run *run)
{
    static const struct bytes username = BYTES("alice");
    static const struct policy_key keys[] = { { BYTES("aws:username"), &username, 1 } };
    struct arena *keep = run->attacker.keep;
    for (size_t i = 0; i < run->rights.identity_count; i++) {
        struct error err;
        error_init(&err, keep);
        struct bytes json = naive_print(keep, &run->rights.identity[i]);
        run->policies[i] = policy_parse(keep, json, POLICY_OF_IDENTITY, &err);
        if (run->policies[i] == NULL)
            fail_msg("%.*s: %.*s", BYTES_FMT(json), BYTES_FMT(err.message));
    }
    run->caller = (struct caller){ .arn = BYTES(ATTACK_USER),
                                   .account = BYTES(ATTACK_ACCOUNT),
                                   .policies = run->policies,
                                   .policy_count = run->rights.identity_count,
                                   .keys = keys,
                                   .key_count = COUNT_OF(keys) };
}

static void check_triggers(struct run *run)
{
    struct attack_request request = { .operation = "AddTrigger", .body = "" };
    for (size_t i = 0; i < GAMMA; i++)
        if (atomic_load(&called_out[i]) && !run->may_call_out[i])
            found(run, "a trigger calls out", &request, bytes_from_text(attack_tables[i].name),
                  (struct bytes){ 0 });
}

/* One caller and its two worlds. Every fourth world runs its triggers. */
static void run_caller(struct run *run, size_t requests_max)
{
    struct arena *keep = run->attacker.keep;
    arena_reset(keep);
    random_init(&run->attacker.random, run->seed);
    attack_make_rights(&run->attacker, &run->rights);
    for (size_t i = 0; i < ATTACK_TABLES; i++) {
        atomic_store(&called_out[i], false);
        run->may_call_out[i] = false;
        run->has_trigger[i] = attack_tables[i].is_rich;
    }
    run->twin_differs = false;
    attack_world_open(&run->world, ATTACK_ORIGINAL, NULL, &run->rights,
                      attack_chance(&run->attacker, 4) ? &watched : &idle, keep);
    attack_world_open(
        &run->twin, attack_chance(&run->attacker, 2) ? ATTACK_WITHOUT_SECRET : ATTACK_OTHER_SECRET,
        &run->world, &run->rights, &idle, keep);
    use_rights(run);
    for (size_t i = 0; i < GAMMA; i++)
        run->items[i] = attack_world_items(&run->world, i, keep);
    size_t last = run->request_count + REQUESTS_PER_CALLER;
    for (size_t i = 0; i < 2 * REQUESTS_PER_CALLER && run->request_count < last &&
                       run->request_count < requests_max;
         i++)
        attack(run);
    attack_world_close(&run->twin);
    attack_world_close(&run->world);
    check_triggers(run);
}

static void nobody_sees_or_changes_more_than_allowed(void **state)
{
    (void)state;
    static struct run run;
    uint64_t seed = run_length_setting("ATTACKER_SEED", 1);
    size_t requests = (size_t)run_length("ATTACKER_REQUESTS", REQUESTS, REQUESTS_LONG);
    run = (struct run){ .attacker = { .arena = arena_create(), .keep = arena_create() },
                        .reports = getenv("ATTACKER_REPORT") != NULL };
    print_message("ATTACKER_SEED=%llu ATTACKER_REQUESTS=%zu\n", (unsigned long long)seed, requests);
    for (run.seed = seed; run.request_count < requests; run.seed++)
        run_caller(&run, requests);
    print_message("%zu requests: %zu allowed, %zu refused, %zu compared with a twin\n",
                  run.request_count, run.allowed_count, run.refused_count, run.twin_count);
    for (size_t i = 0; i < run.finding_count; i++)
        print_message("%6zu x %s: %s, first by request %zu, ATTACKER_SEED=%llu\n",
                      run.findings[i].count, run.findings[i].operation, run.findings[i].kind,
                      run.findings[i].first_request,
                      (unsigned long long)run.findings[i].first_seed);
    arena_destroy(run.attacker.arena);
    arena_destroy(run.attacker.keep);
    assert_int_equal(run.finding_count, 0);
    /* Otherwise the attack would prove little. */
    assert_true(requests < REQUESTS || run.allowed_count > requests / 10);
    assert_true(requests < REQUESTS || run.refused_count > requests / 4);
    assert_true(requests < REQUESTS || run.twin_count > requests / 4);
}

static int open_network(void **state)
{
    char message[OUTBOUND_MESSAGE_MAX];
    (void)state;
    watched.network = outbound_open(&(struct outbound_options){ 0 }, message);
    return watched.network == NULL;
}

static int close_network(void **state)
{
    (void)state;
    outbound_close(watched.network);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_sees_or_changes_more_than_allowed),
    };
    return cmocka_run_group_tests(tests, open_network, close_network);
}
