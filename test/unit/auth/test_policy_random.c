/* test_policy_random.c -- random policies and requests, decided a second time by naive_policy.h.
 *
 * Each round has policies of the caller, often one of the resource, and some requests. POLICY_SEED
 * repeats a round: the message of a failure names it. POLICY_ROUNDS sets their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "model/error.h"
#include "naive_policy.h"

enum { ROUNDS = 20000, REQUESTS = 6, IDENTITY_MAX = 2, VALUES_MAX = 3 };

#define ACCOUNT "000000000000"
#define OTHER_ACCOUNT "111111111111"
#define ALICE "arn:aws:iam::" ACCOUNT ":user/alice"
#define BOB "arn:aws:iam::" ACCOUNT ":user/bob"
#define ARN_START "arn:aws:dynamodb:us-east-1:" ACCOUNT ":table/"

struct maker {
    struct random random;
    struct arena *arena;
};

static size_t below(struct maker *maker, size_t bound)
{
    return (size_t)random_below(&maker->random, bound);
}

static bool chance(struct maker *maker, size_t one_in)
{
    return below(maker, one_in) == 0;
}

/* --- Texts --- */

static void append_letter(struct maker *maker, struct buffer *out, const char *letters)
{
    static const char *const variables[] = {
        "${aws:username}",     "${aws:UserAgent}", "${aws:useragent, 'a'}", "${*}", "${?}",
        "${AWS:Username, 'b'}"
    };
    char letter = letters[below(maker, strlen(letters))];
    if (letter == 'V')
        buffer_append_bytes(out, bytes_from_text(variables[below(maker, COUNT_OF(variables))]));
    else
        buffer_append_byte(out, (uint8_t)letter);
}

/* `start`, then up to four of the letters. V stands for a variable. */
static const char *make_text(struct maker *maker, const char *start, const char *letters,
                             size_t size_min)
{
    struct buffer out;
    buffer_init(&out, maker->arena);
    buffer_append_bytes(&out, bytes_from_text(start));
    size_t size = size_min + below(maker, 4);
    for (size_t i = 0; i < size; i++)
        append_letter(maker, &out, letters);
    buffer_append_byte(&out, 0);
    return (const char *)out.data;
}

static void make_list(struct maker *maker, const char *start, const char *letters, size_t size_min,
                      struct naive_list *out)
{
    out->count = 1 + below(maker, VALUES_MAX);
    for (size_t i = 0; i < out->count; i++)
        out->texts[i] = make_text(maker, start, letters, size_min);
}

/* --- Conditions --- */

/* A context key with the operators that policies use for it, and values that often meet. */
struct family {
    const char *const operators[12];
    const char *const keys[6];   /* Any may be absent from a request. */
    const char *const wanted[8]; /* NULL first: texts are made. */
    const char *const given[8];
};

static const struct family families[] = {
    { { "StringEquals", "StringNotEquals", "StringEqualsIgnoreCase", "StringNotEqualsIgnoreCase",
        "StringLike", "StringNotLike" },
      { "dynamodb:LeadingKeys", "dynamodb:Attributes", "dynamodb:Select", "aws:ResourceTag/team",
        "DynamoDB:leadingkeys" },
      { NULL },
      { NULL } },
    { { "NumericEquals", "NumericNotEquals", "NumericLessThan", "NumericLessThanEquals",
        "NumericGreaterThan", "NumericGreaterThanEquals" },
      { "aws:ResourceTag/size" },
      { "1", "2", "1.5", "-3", "10", "1e1", "0" },
      { "1", "2", "1.50", "-3", "10", "x", "0.0" } },
    { { "DateEquals", "DateNotEquals", "DateLessThan", "DateLessThanEquals", "DateGreaterThan",
        "DateGreaterThanEquals" },
      { "aws:CurrentTime", "aws:TokenIssueTime" },
      { "2026-11-16T04:00:00Z", "2026-02-28", "1794801600", "2000-03-01T00:00:00Z", "951868800" },
      { "2026-11-16T04:00:00Z", "2026-02-28T00:00:00Z", "2026-11-16", "2000-03-01", "x" } },
    { { "Bool" },
      { "aws:SecureTransport", "dynamodb:FullTableScan" },
      { "true", "false" },
      { "true", "false", "True", "x" } },
    { { "IpAddress", "NotIpAddress" },
      { "aws:SourceIp" },
      { "10.0.0.0/8", "10.1.2.3", "192.168.1.128/25", "0.0.0.0/0", "2001:db8::/33", "::1" },
      { "10.1.2.3", "192.168.1.127", "192.168.1.128", "2001:db8:8000::1", "2001:db8::1", "::1",
        "x" } },
    { { "ArnEquals", "ArnLike", "ArnNotEquals", "ArnNotLike" },
      { "aws:PrincipalArn" },
      { ALICE, "arn:aws:iam::*:user/*", "arn:*:iam::" ACCOUNT ":*", "arn:aws:s3:::x",
        "arn:aws:iam::?:user/alice", "arn:aws:iam::" ACCOUNT ":user/${aws:username}" },
      { ALICE, BOB, "arn:aws:iam::1:user/alice", "x:y", "arn:aws:iam::" ACCOUNT ":role:x" } },
    { { "Null" },
      { "dynamodb:LeadingKeys", "aws:SourceIp", "dynamodb:Select", "aws:TokenIssueTime" },
      { "true", "false" },
      { NULL } },
};

static const char *pick(struct maker *maker, const char *const *texts, size_t max)
{
    size_t count = 0;
    while (count < max && texts[count] != NULL)
        count++;
    return texts[below(maker, count)];
}

static void make_test(struct maker *maker, const struct family *family, struct naive_test *out)
{
    bool is_null = strcmp(family->operators[0], "Null") == 0;
    out->operator= pick(maker, family->operators, COUNT_OF(family->operators));
    out->quantifier = is_null ? NAIVE_SINGLE : (enum naive_quantifier)below(maker, 3);
    out->if_exists = !is_null && chance(maker, 4);
    out->key = pick(maker, family->keys, COUNT_OF(family->keys));
    if (family->wanted[0] == NULL) {
        make_list(maker, "", "aabB*?V", 0, &out->values);
        return;
    }
    out->values.count = 1 + below(maker, VALUES_MAX);
    for (size_t i = 0; i < out->values.count; i++)
        out->values.texts[i] = pick(maker, family->wanted, COUNT_OF(family->wanted));
}

/* Each test of its own family, so that no operator comes twice. */
static void make_tests(struct maker *maker, struct naive_statement *out)
{
    size_t first = below(maker, COUNT_OF(families));
    out->test_count = chance(maker, 3) ? 0 : below(maker, NAIVE_TESTS_MAX + 1);
    for (size_t i = 0; i < out->test_count; i++)
        make_test(maker, &families[(first + i * 2) % COUNT_OF(families)], &out->tests[i]);
}

/* --- Documents --- */

static void make_principals(struct maker *maker, struct naive_statement *out)
{
    static const char *const principals[] = {
        "*", ALICE, BOB, ACCOUNT, "service", "arn:aws:iam::" ACCOUNT ":root", OTHER_ACCOUNT, ALICE
    };
    out->has_principals = out->deny && chance(maker, 3) ? NAIVE_NOT_PRINCIPAL : NAIVE_PRINCIPAL;
    out->principals.count = 1 + below(maker, VALUES_MAX);
    for (size_t i = 0; i < out->principals.count; i++)
        out->principals.texts[i] = principals[below(maker, COUNT_OF(principals))];
}

static void make_document(struct maker *maker, bool of_resource, struct naive_document *out)
{
    *out = (struct naive_document){ .count = 1 + below(maker, NAIVE_STATEMENTS_MAX) };
    for (size_t i = 0; i < out->count; i++) {
        struct naive_statement *statement = &out->statements[i];
        statement->deny = chance(maker, 4);
        statement->not_action = chance(maker, 6);
        statement->not_resource = chance(maker, 6);
        make_list(maker, "dynamodb:", "aB*?*", 1, &statement->actions);
        make_list(maker, ARN_START, "ab*?*V", 1, &statement->resources);
        if (of_resource)
            make_principals(maker, statement);
        make_tests(maker, statement);
    }
}

/* --- Requests --- */

static void make_key(struct maker *maker, const char *name, const char *const *given, size_t max,
                     struct naive_request *out)
{
    const char **values = arena_alloc(maker->arena, VALUES_MAX * sizeof *values);
    size_t count = below(maker, VALUES_MAX + 1);
    for (size_t i = 0; i < count; i++)
        values[i] = given[0] == NULL ? make_text(maker, "", "abB*", 0) : pick(maker, given, max);
    bool is_list =
        strcmp(name, "dynamodb:LeadingKeys") == 0 || strcmp(name, "dynamodb:Attributes") == 0;
    out->keys[out->key_count++] =
        (struct naive_key){ name, values, count, is_list && chance(maker, 4) };
}

static void make_request(struct maker *maker, struct naive_request *out)
{
    *out = (struct naive_request){ .action = make_text(maker, "dynamodb:", "Ab", 1),
                                   .resource = make_text(maker, ARN_START, "ab", 1),
                                   .principal = chance(maker, 4) ? BOB : ALICE,
                                   .account = chance(maker, 8) ? OTHER_ACCOUNT : ACCOUNT };
    for (size_t i = 0; i + 1 < COUNT_OF(families); i++)
        for (size_t j = 0; families[i].keys[j] != NULL; j++)
            if (strncmp(families[i].keys[j], "Dyn", 3) != 0)
                make_key(maker, families[i].keys[j], families[i].given, COUNT_OF(families[i].given),
                         out);
    const char **names = arena_alloc(maker->arena, 2 * sizeof *names);
    names[0] = make_text(maker, "", "ab*", 1);
    names[1] = make_text(maker, "", "ab?", 1);
    out->keys[out->key_count++] = (struct naive_key){ "aws:username", &names[0], 1, false };
    out->keys[out->key_count++] =
        (struct naive_key){ "aws:UserAgent", &names[1], (size_t)chance(maker, 2), false };
    assert_true(out->key_count <= NAIVE_KEYS_MAX);
}

static enum policy_decision ask(struct arena *arena, const struct policy_set *set,
                                const struct naive_request *from)
{
    struct policy_key *keys = arena_alloc(arena, from->key_count * sizeof *keys);
    for (size_t i = 0; i < from->key_count; i++) {
        struct bytes *values = arena_alloc(arena, (from->keys[i].count + 1) * sizeof *values);
        for (size_t j = 0; j < from->keys[i].count; j++)
            values[j] = bytes_from_text(from->keys[i].values[j]);
        keys[i] =
            (struct policy_key){ bytes_from_text(from->keys[i].name), values, from->keys[i].count };
    }
    unsigned unknown = 0;
    for (size_t i = 0; i < from->key_count; i++)
        if (from->keys[i].has_unknown)
            unknown |= strstr(from->keys[i].name, "Leading") != NULL ? POLICY_LEADING_KEYS
                                                                     : POLICY_ATTRIBUTES;
    struct policy_request request = {
        .action = bytes_from_text(from->action),
        .resource = bytes_from_text(from->resource),
        .principal = bytes_from_text(from->principal),
        .account = bytes_from_text(from->account),
        .keys = keys,
        .key_count = from->key_count,
        .lists_with_unknown_values = unknown,
    };
    return policy_decide(arena, set, &request);
}

/* --- The comparison --- */

/* One whom nothing allows need not hear that a resource policy denies as well. */
static bool is_same(enum policy_decision got, const struct naive_decision *want)
{
    if (want->allowed)
        return got == POLICY_ALLOWED;
    if (want->denied_by_identity)
        return got == POLICY_DENIED_BY_IDENTITY;
    if (want->denied_by_resource)
        return got == POLICY_DENIED_BY_RESOURCE ||
               (got == POLICY_NOT_ALLOWED && !want->identity_allows);
    return got == POLICY_NOT_ALLOWED;
}

struct count {
    size_t allowed;
    size_t allowed_by_resource_alone;
    size_t not_allowed;
    size_t denied_by_identity;
    size_t denied_by_resource;
};

static void count_decision(struct count *count, const struct naive_decision *decision)
{
    count->allowed += decision->allowed;
    count->allowed_by_resource_alone += decision->allowed && !decision->identity_allows;
    count->denied_by_identity += decision->denied_by_identity;
    count->denied_by_resource += decision->denied_by_resource && !decision->denied_by_identity;
    count->not_allowed +=
        !decision->allowed && !decision->denied_by_identity && !decision->denied_by_resource;
}

static const struct policy *parse(struct maker *maker, const struct naive_document *document,
                                  enum policy_kind kind, uint64_t seed)
{
    struct error err;
    error_init(&err, maker->arena);
    struct bytes json = naive_print(maker->arena, document);
    const struct policy *policy = policy_parse(maker->arena, json, kind, &err);
    if (policy == NULL)
        fail_msg("seed %llu: %.*s: %.*s", (unsigned long long)seed, BYTES_FMT(json),
                 BYTES_FMT(err.message));
    return policy;
}

static void run_round(struct maker *maker, uint64_t seed, struct count *count)
{
    struct naive_document documents[IDENTITY_MAX + 1];
    const struct policy *policies[IDENTITY_MAX];
    struct policy_set set = { .identity = policies };
    random_init(&maker->random, seed);
    set.identity_count = below(maker, IDENTITY_MAX + 1);
    for (size_t i = 0; i < set.identity_count; i++) {
        make_document(maker, false, &documents[i]);
        policies[i] = parse(maker, &documents[i], POLICY_OF_IDENTITY, seed);
    }
    struct naive_document *of_resource = chance(maker, 4) ? NULL : &documents[IDENTITY_MAX];
    if (of_resource != NULL) {
        make_document(maker, true, of_resource);
        set.resource = parse(maker, of_resource, POLICY_OF_RESOURCE, seed);
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        struct naive_request request;
        make_request(maker, &request);
        struct naive_decision want =
            naive_decide(documents, set.identity_count, of_resource, &request);
        enum policy_decision got = ask(maker->arena, &set, &request);
        count_decision(count, &want);
        if (!is_same(got, &want))
            fail_msg("POLICY_SEED=%llu, request %zu: decision %d; allowed %d, denied %d %d",
                     (unsigned long long)seed, i, (int)got, want.allowed, want.denied_by_identity,
                     want.denied_by_resource);
    }
    arena_reset(maker->arena);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void random_policies_are_decided_as_by_a_naive_evaluator(void **state)
{
    (void)state;
    struct count count = { 0 };
    struct maker maker = { .arena = arena_create() };
    uint64_t first = setting("POLICY_SEED", 1);
    uint64_t rounds = setting("POLICY_ROUNDS", getenv("POLICY_SEED") == NULL ? ROUNDS : 1);
    for (uint64_t seed = first; seed < first + rounds; seed++)
        run_round(&maker, seed, &count);
    arena_destroy(maker.arena);
    size_t decisions = (size_t)rounds * REQUESTS;
    print_message("%zu decisions from POLICY_SEED=%llu: %zu allowed (%zu by the resource alone), "
                  "%zu not allowed, %zu and %zu denied\n",
                  decisions, (unsigned long long)first, count.allowed,
                  count.allowed_by_resource_alone, count.not_allowed, count.denied_by_identity,
                  count.denied_by_resource);
    if (rounds < ROUNDS)
        return;
    /* Otherwise the comparison would prove little. */
    assert_true(count.allowed > decisions / 20);
    assert_true(count.allowed_by_resource_alone > decisions / 100);
    assert_true(count.not_allowed > decisions / 10);
    assert_true(count.denied_by_identity > decisions / 50);
    assert_true(count.denied_by_resource > decisions / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_policies_are_decided_as_by_a_naive_evaluator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
