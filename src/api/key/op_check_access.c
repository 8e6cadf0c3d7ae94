/* op_check_access.c -- CheckAccess, our own: may the caller, or another key, do these things?
 *
 * The console asks before it offers a button. The answers come from the same decision as those of
 * requests; nothing is read but policies and definitions of tables.
 *
 * A question need not say everything that a request would. So an answer also names the lists that
 * decide and that the question left out: a refusal that depends on the partition key may be a
 * permission for some keys.
 */
#include <string.h>
#include "access/access.h"
#include "api/common_shapes.h"
#include "api/key/key_operation.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "auth/caller.h"
#include "auth/key_ring.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/value.h"
#include "table/catalogue.h"

enum {
    CHECK_QUESTIONS_MAX = 50,
    CHECK_KEYS_MAX = 100, /* Of a question; so are its attributes. */
    CHECK_ACTION_SIZE_MAX = 128,
    CHECK_TEXT_SIZE_MAX = 2048, /* Of a resource and of a key. */
};

/* --- The request --- */

struct question_request {
    struct bytes action;
    struct bytes resource;
    struct shape_list leading_keys; /* of struct bytes; as policies write keys */
    struct shape_list attributes;   /* of struct bytes */
    struct shape_boolean all_attributes;
    struct bytes select;
    struct bytes return_values;
    struct shape_boolean full_table_scan;
};
struct check_access_request {
    struct bytes id;             /* Of another key; data NULL: the caller's. */
    struct shape_list questions; /* of struct question_request * */
};

static const struct shape action_shape = { .kind = SHAPE_STRING,
                                           .min = 3,
                                           .max = CHECK_ACTION_SIZE_MAX };
static const struct shape text_shape = { .kind = SHAPE_STRING,
                                         .min = 1,
                                         .max = CHECK_TEXT_SIZE_MAX };
static const struct shape key_shape = { .kind = SHAPE_STRING,
                                        .min = 0,
                                        .max = CHECK_TEXT_SIZE_MAX };
static const struct shape keys_shape = {
    .kind = SHAPE_LIST, .element = &key_shape, .min = 0, .max = CHECK_KEYS_MAX
};
static const struct shape_field question_fields[] = {
    { SHAPE_FIELD(struct question_request, action, "Action", &action_shape), .required = true },
    { SHAPE_FIELD(struct question_request, resource, "Resource", &text_shape) },
    { SHAPE_FIELD(struct question_request, leading_keys, "LeadingKeys", &keys_shape) },
    { SHAPE_FIELD(struct question_request, attributes, "Attributes", &keys_shape) },
    { SHAPE_FIELD(struct question_request, all_attributes, "AllAttributes", &common_boolean) },
    { SHAPE_FIELD(struct question_request, select, "Select", &text_shape) },
    { SHAPE_FIELD(struct question_request, return_values, "ReturnValues", &text_shape) },
    { SHAPE_FIELD(struct question_request, full_table_scan, "FullTableScan", &common_boolean) },
};
static const struct shape question_shape = {
    SHAPE_STRUCTURE_OF(struct question_request, question_fields), .type_name = "AccessQuestion"
};
static const struct shape questions_shape = {
    .kind = SHAPE_LIST, .element = &question_shape, .min = 1, .max = CHECK_QUESTIONS_MAX
};
static const struct shape_field check_fields[] = {
    { SHAPE_FIELD(struct check_access_request, id, "AccessKeyId", &key_operation_id) },
    { SHAPE_FIELD(struct check_access_request, questions, "Questions", &questions_shape),
      .required = true },
};
static const struct shape check_shape = {
    SHAPE_STRUCTURE_OF(struct check_access_request, check_fields), .type_name = "CheckAccessInput"
};

/* --- Questions --- */

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Splits "dynamodb:GetItem" into texts that end with a zero. Patterns are not allowed: a question
 * is about one action. */
static bool split_action(struct api_call *call, struct bytes action, const char **service,
                         const char **name)
{
    char *text = arena_alloc(call->arena, action.len + 1);
    size_t colon = 0;
    memcpy(text, action.data, action.len);
    text[action.len] = '\0';
    while (colon < action.len && is_letter(action.data[colon]))
        colon++;
    size_t end = colon + 1;
    while (end < action.len && is_letter(action.data[end]))
        end++;
    if (colon == 0 || colon >= action.len - 1 || text[colon] != ':' || end != action.len)
        return error_validation(&call->error,
                                "Action is the prefix of a service, a colon and the name of an "
                                "action, such as dynamodb:GetItem");
    text[colon] = '\0';
    *service = text;
    *name = text + colon + 1;
    return true;
}

/* The part of an ARN of ours behind "table/", or a table's name; data NULL: neither. */
static struct bytes table_part(struct api_call *call, struct bytes resource)
{
    struct bytes prefix = operation_table_arn(call, BYTES(""));
    if (bytes_starts_with(resource, prefix))
        return bytes_of(resource.data + prefix.len, resource.len - prefix.len);
    bool is_name = memchr(resource.data, ':', resource.len) == NULL &&
                   memchr(resource.data, '*', resource.len) == NULL;
    return is_name ? resource : (struct bytes){ 0 };
}

/* What follows `mark` behind the name of a table, "Tab/index/Ind"; data NULL: something else. */
static struct bytes behind(struct bytes part, size_t name_size, struct bytes mark)
{
    struct bytes rest = bytes_of(part.data + name_size, part.len - name_size);
    if (!bytes_starts_with(rest, mark) || rest.len == mark.len)
        return (struct bytes){ 0 };
    return bytes_of(rest.data + mark.len, rest.len - mark.len);
}

/* With the policy and the tags of its table, which `*table` keeps; NULL: there is none. */
static struct access_question question_about(struct api_call *call, struct bytes resource,
                                             const char *action, struct table **table)
{
    struct bytes part = table_part(call, resource);
    *table = NULL;
    if (part.data == NULL)
        return (struct access_question){ .arn = resource };
    const uint8_t *slash = memchr(part.data, '/', part.len);
    size_t name_size = slash == NULL ? part.len : (size_t)(slash - part.data);
    struct bytes name = bytes_of(part.data, name_size);
    struct bytes index = behind(part, name_size, BYTES("/index/"));
    struct bytes label = behind(part, name_size, BYTES("/stream/"));
    *table = catalogue_borrow(api_catalogue(call->api), name);
    if (label.data != NULL)
        return operation_stream_question(call, action, name, label, *table);
    if (slash == NULL || index.data != NULL)
        return operation_question(call, action, name, index, *table);
    return (struct access_question){ .arn = resource }; /* Backups and others. */
}

static void add_lists(struct api_call *call, const struct question_request *from,
                      struct access_question *question)
{
    const struct bytes *keys = from->leading_keys.elements;
    struct value *values =
        arena_alloc_zeroed(call->arena, (from->leading_keys.count + 1) * sizeof *values);
    const struct value **pointers =
        arena_alloc(call->arena, (from->leading_keys.count + 1) * sizeof *pointers);
    for (size_t i = 0; i < from->leading_keys.count; i++) {
        /* The text is the one that policies have for the key, whatever its type is. */
        values[i] = (struct value){ .type = VALUE_S, .data = keys[i] };
        pointers[i] = &values[i];
    }
    access_reserve(call->arena, question, 2);
    access_add(question, (struct access_part){ .kind = ACCESS_KEY_VALUES,
                                               .values = pointers,
                                               .count = from->leading_keys.count });
    access_add(question, (struct access_part){ .kind = ACCESS_NAMES,
                                               .names = from->attributes.elements,
                                               .count = from->attributes.count });
}

static void add_context(const struct question_request *from, struct access_question *question)
{
    question->shows_unnamed |= from->all_attributes.value;
    question->select = from->select;
    if (from->full_table_scan.present)
        question->full_table_scan = from->full_table_scan.value ? BYTES("true") : BYTES("false");
    if (from->return_values.data != NULL)
        access_add_return_values(question, from->return_values);
}

/* --- The caller that is asked about --- */

enum { OWN_KEYS = 3 };

/* The context keys of requests that another key would send from where this caller is: the caller's,
 * with those replaced that tell who it is. */
static void fill_context(struct api_call *call, const struct access_key *key, struct bytes user,
                         struct caller *other)
{
    static const struct bytes names[OWN_KEYS] = { BYTES("aws:username"), BYTES("aws:PrincipalArn"),
                                                  BYTES("aws:TokenIssueTime") };
    size_t count = 0, asking_count = call->caller == NULL ? 0 : call->caller->key_count;
    struct policy_key *keys = arena_alloc(call->arena, (asking_count + OWN_KEYS) * sizeof *keys);
    struct bytes *texts = arena_alloc_zeroed(call->arena, OWN_KEYS * sizeof *texts);
    for (size_t i = 0; i < asking_count; i++) {
        bool is_own = false;
        for (size_t j = 0; j < OWN_KEYS; j++)
            is_own |= bytes_equal(call->caller->keys[i].name, names[j]);
        if (!is_own)
            keys[count++] = call->caller->keys[i];
    }
    texts[0] = user;
    texts[1] = other->arn;
    if (key->parent.data != NULL) {
        char *issued = arena_alloc(call->arena, CLOCK_TEXT_SIZE);
        clock_format_utc(key->created_ms, issued);
        texts[2] = bytes_from_text(issued);
    }
    for (size_t i = 0; i < OWN_KEYS; i++)
        keys[count++] = (struct policy_key){ names[i], &texts[i], texts[i].data != NULL };
    other->keys = keys;
    other->key_count = count;
}

/* NULL if the key is of no use: it is disabled, expired, or has a policy that cannot be read. */
static const struct caller *other_caller(struct api_call *call, const struct key_ring *ring,
                                         const struct access_key *key)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    const struct access_key *grantor = key_ring_grantor(ring, key, now_ms);
    if (grantor == NULL)
        return NULL;
    struct caller *other = arena_alloc_zeroed(call->arena, sizeof *other);
    const struct policy **policies =
        arena_alloc(call->arena, (grantor->policy_count + 1) * sizeof(*policies));
    for (size_t i = 0; i < grantor->policy_count; i++)
        policies[i] = grantor->policies[i].policy;
    other->key_id = key->id;
    other->account = bytes_from_text(api_options(call->api)->account_id);
    other->arn = arena_printf(call->arena, "arn:aws:iam::%.*s:user/%.*s", BYTES_FMT(other->account),
                              BYTES_FMT(grantor->user));
    other->policies = policies;
    other->policy_count = grantor->policy_count;
    fill_context(call, key, grantor->user, other);
    return other;
}

/* --- Answers --- */

/* Whom a question is about. */
enum who {
    WHO_EVERYBODY, /* Requests are not authenticated: everything is allowed. */
    WHO_CALLER,
    WHO_NOBODY, /* A key that is of no use: nothing is allowed. */
};

static void write_lists(struct json_writer *json, const struct question_request *request,
                        unsigned needed)
{
    json_write_name(json, "DependsOn");
    json_open_array(json);
    if ((needed & POLICY_LEADING_KEYS) != 0 && !request->leading_keys.present)
        json_write_text(json, "LeadingKeys");
    if ((needed & POLICY_ATTRIBUTES) != 0 && !request->attributes.present)
        json_write_text(json, "Attributes");
    json_close_array(json);
}

static void write_answer(struct json_writer *json, const struct question_request *request,
                         struct bytes arn, bool allowed, struct bytes message, unsigned needed)
{
    json_open_object(json);
    json_write_name(json, "Action");
    json_write_string(json, request->action);
    json_write_name(json, "Resource");
    json_write_string(json, arn);
    json_write_name(json, "Allowed");
    json_write_bool(json, allowed);
    if (!allowed) {
        json_write_name(json, "Message");
        json_write_string(json, message);
    }
    write_lists(json, request, needed);
    json_close_object(json);
}

static bool answer(struct api_call *call, struct json_writer *json, const struct caller *caller,
                   enum who who, const struct question_request *request)
{
    struct bytes resource = request->resource.data == NULL ? BYTES("*") : request->resource;
    struct error refusal;
    struct table *table;
    const char *service = NULL, *action = NULL;
    unsigned needed = 0;
    if (!split_action(call, request->action, &service, &action))
        return false;
    struct access_question question = question_about(call, resource, action, &table);
    question.service = service;
    question.action = action;
    add_lists(call, request, &question);
    add_context(request, &question);
    error_init(&refusal, call->arena);
    bool allowed = who == WHO_EVERYBODY ||
                   (who == WHO_CALLER && access_decide(call->arena, caller, &question, &refusal));
    if (who == WHO_CALLER)
        needed = access_lists_needed(call->arena, caller, &question);
    table_release(table);
    write_answer(json, request, question.arn, allowed,
                 who == WHO_NOBODY ? BYTES("The access key is disabled or expired, or has a policy "
                                           "that cannot be read")
                                   : refusal.message,
                 needed);
    return true;
}

static bool answer_all(struct api_call *call, const struct caller *caller, enum who who,
                       const struct shape_list *questions)
{
    struct question_request *const *all = questions->elements;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Answers");
    json_open_array(&json);
    for (size_t i = 0; i < questions->count; i++)
        if (!answer(call, &json, caller, who, all[i]))
            return false;
    json_close_array(&json);
    json_close_object(&json);
    return true;
}

static bool answer_about(struct api_call *call, const struct check_access_request *request)
{
    if (!operation_may_use_account(call) || !key_operation_check(call))
        return false;
    struct live_ring *ring = key_operation_read(call);
    const struct access_key *key = key_edit_find(&ring->ring, request->id, &call->error);
    bool ok = key != NULL;
    if (ok) {
        const struct caller *other = other_caller(call, &ring->ring, key);
        ok = answer_all(call, other, other == NULL ? WHO_NOBODY : WHO_CALLER, &request->questions);
    }
    live_keys_release(ring);
    return ok;
}

static void run_check(struct api_call *call, const void *input)
{
    const struct check_access_request *request = input;
    const struct caller *caller = call->caller;
    bool is_own =
        request->id.data == NULL || (caller != NULL && bytes_equal(request->id, caller->key_id));
    if (is_own)
        operation_asks_nothing(call);
    operation_end(call, is_own
                            ? answer_all(call, caller, caller == NULL ? WHO_EVERYBODY : WHO_CALLER,
                                         &request->questions)
                            : answer_about(call, request));
}

const struct operation op_check_access = {
    .name = "CheckAccess",
    .service = OPERATION_OF_STATOR,
    .request = &check_shape,
    .asks = OPERATION_ASKS_ITSELF,
    .waits = OPERATION_WAITS, /* Its work is that of many requests. */
    .run = run_check
};
