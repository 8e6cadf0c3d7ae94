/* stack_calls.c -- see stack_calls.h. */
#include "api/cloudformation/stack_calls.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "api/operation.h"
#include "api/stored_caller.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "cloudformation/stack_status.h"
#include "cloudformation/stacks.h"
#include "jobs/job.h"
#include "json/base64.h"
#include "json/writer.h"
#include "model/error.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

#define TAG_PREFIX "aws:cloudformation:"
/* How long a request is repeated that meets a table in a transient status, or a full queue. */
#define REFUSED_MAX_NS (10 * INT64_C(1000000000))

/* --- One request --- */

struct sync_call {
    struct api_call base;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool has_ended;
};

static void end_call(struct api_call *base)
{
    struct sync_call *call = (struct sync_call *)base;
    pthread_mutex_lock(&call->mutex);
    call->has_ended = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->mutex);
}

/* What only the driver can say of a table. */
struct stack_identity {
    const struct tag_list *tags; /* To create it with; NULL: none. */
    struct bytes table_id;       /* To delete no other one of that name; data NULL: any. */
};

/* `caller` NULL: everything is allowed. */
static bool run_call(const struct stack_calls *calls, const struct caller *caller,
                     const struct plan_step *step, const struct stack_identity *own,
                     struct bytes *response, struct error *err)
{
    struct sync_call call = {
        .base = { .arena = calls->arena,
                  .operation = operation_find_action(bytes_from_text(step->operation)),
                  .body = step->body,
                  .caller = caller,
                  .own_tags = own == NULL ? NULL : own->tags,
                  .own_table_id = own == NULL ? (struct bytes){ 0 } : own->table_id,
                  .done = end_call },
    };
    if (call.base.operation == NULL)
        return error_set(err, ERROR_UNKNOWN_OPERATION, "stator does not have the operation %s",
                         step->operation);
    pthread_mutex_init(&call.mutex, NULL);
    pthread_cond_init(&call.changed, NULL);
    api_run(calls->api, &call.base);
    pthread_mutex_lock(&call.mutex);
    while (!call.has_ended)
        pthread_cond_wait(&call.changed, &call.mutex);
    pthread_mutex_unlock(&call.mutex);
    pthread_cond_destroy(&call.changed);
    pthread_mutex_destroy(&call.mutex);
    *err = call.base.error;
    *response = buffer_bytes(&call.base.response);
    return !error_is_set(err);
}

static bool ask(const struct stack_calls *calls, const char *operation, struct bytes body,
                struct bytes *response, struct error *err)
{
    const struct plan_step step = { .operation = operation, .body = body };
    return run_call(calls, NULL, &step, NULL, response, err);
}

void stack_calls_find_caller(struct stack_calls *calls)
{
    struct bytes stored = calls->stack->caller;
    size_t size;
    calls->asks = api_options(calls->api)->keys != NULL && (stored.data == NULL || stored.len > 0);
    if (!calls->asks || stored.data == NULL)
        return;
    uint8_t *decoded = arena_alloc(calls->arena, base64_decoded_max(stored.len));
    if (base64_decode(stored, decoded, &size))
        calls->caller = stored_caller_decode(calls->arena, bytes_of(decoded, size));
}

static bool refuse_unknown(const struct stack_calls *calls, const char *operation,
                           struct error *err)
{
    if (calls->caller == NULL)
        return error_set(err, ERROR_ACCESS_DENIED,
                         "It is not known who began the operation: an earlier version of the "
                         "server did not store it. Begin it again.");
    return error_set(err, ERROR_ACCESS_DENIED,
                     "User: %.*s is not authorized to perform: %s because the access key that "
                     "began the operation was deleted or disabled",
                     BYTES_FMT(stored_caller_arn(calls->caller)), operation);
}

/* A request that changes something. */
static bool change(const struct stack_calls *calls, const struct plan_step *step,
                   const struct stack_identity *own, struct bytes *response, struct error *err)
{
    const struct api_options *options = api_options(calls->api);
    if (!calls->asks)
        return run_call(calls, NULL, step, own, response, err);
    int64_t now_ms = clock_wall_ms(options->clock);
    struct live_ring *ring = live_keys_acquire(options->keys);
    const struct caller *caller =
        calls->caller == NULL ? NULL : stored_caller_now(calls->arena, calls->caller, ring, now_ms);
    bool ok = caller != NULL ? run_call(calls, caller, step, own, response, err)
                             : refuse_unknown(calls, step->operation, err);
    live_keys_release(ring);
    return ok;
}

static bool may_pass(enum error_code code)
{
    return code == ERROR_RESOURCE_IN_USE || code == ERROR_LIMIT_EXCEEDED ||
           code == ERROR_THROTTLING || code == ERROR_SERVICE_UNAVAILABLE;
}

static const char *handler_code(enum error_code code)
{
    switch (code) {
    case ERROR_ACCESS_DENIED:
        return "AccessDenied";
    case ERROR_RESOURCE_NOT_FOUND:
        return "NotFound";
    case ERROR_RESOURCE_IN_USE:
        return "ResourceConflict";
    case ERROR_LIMIT_EXCEEDED:
        return "ServiceLimitExceeded";
    case ERROR_INTERNAL:
    case ERROR_SERVICE_UNAVAILABLE:
        return "ServiceInternalError";
    default:
        return "InvalidRequest";
    }
}

static struct bytes message_of(const struct stack_calls *calls, const struct error *err)
{
    struct bytes token = uuid_create(calls->arena);
    return arena_printf(calls->arena,
                        "Resource handler returned message: \"%.*s\" (RequestToken: %.*s, "
                        "HandlerErrorCode: %s)",
                        BYTES_FMT(err->message), BYTES_FMT(token), handler_code(err->code));
}

/* --- What is not ready yet --- */

static bool indexes_are_ready(const struct table_definition *definition)
{
    for (size_t i = 0; i < definition->index_count; i++)
        if (definition->indexes[i].global && definition->indexes[i].status != INDEX_ACTIVE)
            return false;
    return true;
}

static bool is_over(const struct stack_calls *calls, enum plan_wait wait, struct bytes name)
{
    struct table *table = catalogue_borrow(api_catalogue(calls->api), name);
    if (table == NULL)
        return true;
    const struct table_definition *definition = table_definition(table);
    assert(wait != PLAN_WAIT_GONE); /* See stack_calls_delete_table. */
    bool over = definition->status == TABLE_ACTIVE &&
                (wait != PLAN_WAIT_INDEXES || indexes_are_ready(definition));
    table_release(table);
    return over;
}

static bool ttl_is_settled(const struct stack_calls *calls, struct bytes name)
{
    struct bytes response;
    struct error err;
    struct bytes body = arena_printf(calls->arena, "{\"TableName\":\"%.*s\"}", BYTES_FMT(name));
    error_init(&err, calls->arena);
    return !ask(calls, "DescribeTimeToLive", body, &response, &err) ||
           (memmem(response.data, response.len, "\"ENABLING\"", 10) == NULL &&
            memmem(response.data, response.len, "\"DISABLING\"", 11) == NULL);
}

/* False: not yet. */
static bool is_ready(const struct stack_calls *calls, enum plan_wait wait, struct bytes name)
{
    if (wait == PLAN_WAIT_NOTHING || name.data == NULL ||
        (is_over(calls, wait, name) && (wait != PLAN_WAIT_TTL || ttl_is_settled(calls, name))))
        return true;
    calls->patience->waits = true;
    return false;
}

/* --- Steps --- */

static void add_tag(struct tag_list *tags, struct bytes key, struct bytes value)
{
    size_t at = tags->count++;
    while (at > 0 && bytes_compare(tags->elements[at - 1].key, key) > 0) {
        tags->elements[at] = tags->elements[at - 1];
        at--;
    }
    tags->elements[at] = (struct tag){ key, value };
}

static const struct shape_list *stack_tags(const struct stack_calls *calls)
{
    const struct stack *stack = calls->stack;
    return stack->next != NULL ? &stack->next->tags : &stack->settings->tags;
}

static struct tag_list tags_of_stack(const struct stack_calls *calls, struct bytes logical_id)
{
    const struct shape_list *list = stack_tags(calls);
    const struct stack_pair *const *pairs = list->elements;
    struct tag_list tags = { .elements =
                                 arena_alloc(calls->arena, (list->kept + 3) * sizeof(struct tag)) };
    for (size_t i = 0; i < list->kept; i++)
        add_tag(&tags, pairs[i]->key, pairs[i]->value);
    add_tag(&tags, BYTES(TAG_PREFIX "logical-id"), logical_id);
    add_tag(&tags, BYTES(TAG_PREFIX "stack-id"), calls->stack_id);
    add_tag(&tags, BYTES(TAG_PREFIX "stack-name"), calls->stack->name);
    return tags;
}

/* Whether the request may be repeated in a later turn. */
static bool is_patient(const struct stack_calls *calls, enum error_code code)
{
    struct stack_patience *patience = calls->patience;
    int64_t now_ns = clock_monotonic_ns();
    if (patience->refused_since_ns == 0)
        patience->refused_since_ns = now_ns;
    bool repeats = may_pass(code) && now_ns - patience->refused_since_ns < REFUSED_MAX_NS;
    patience->waits = patience->waits || repeats;
    return repeats;
}

static bool run_step(const struct stack_calls *calls, const struct plan_step *step,
                     const struct stack_identity *own, bool deletes, struct bytes *message)
{
    struct bytes response;
    struct error err;
    bool creates = strcmp(step->operation, "CreateTable") == 0;
    *message = (struct bytes){ 0 };
    if (job_thread_is_stopping(calls->thread))
        return false;
    error_init(&err, calls->arena);
    if (!change(calls, step, creates || deletes ? own : NULL, &response, &err)) {
        bool is_gone = err.code == ERROR_RESOURCE_NOT_FOUND ||
                       err.code == ERROR_SCALING_OBJECT_NOT_FOUND ||
                       err.code == ERROR_CW_RESOURCE_NOT_FOUND;
        if (deletes && is_gone)
            return true;
        if (creates || !is_patient(calls, err.code))
            *message = message_of(calls, &err);
        return false;
    }
    calls->patience->refused_since_ns = 0;
    return is_ready(calls, step->wait, step->table);
}

bool stack_calls_run(const struct stack_calls *calls, struct bytes logical_id,
                     const struct plan_step *steps, size_t count, struct bytes *message)
{
    struct tag_list tags = tags_of_stack(calls, logical_id);
    const struct stack_identity own = { .tags = &tags };
    for (size_t i = 0; i < count; i++)
        if (!run_step(calls, &steps[i], &own, false, message))
            return false;
    return true;
}

bool stack_calls_delete(const struct stack_calls *calls, const struct plan_step *steps,
                        size_t count, struct bytes *message)
{
    for (size_t i = 0; i < count; i++)
        if (!run_step(calls, &steps[i], NULL, true, message))
            return false;
    return true;
}

/* --- Tables --- */

static struct bytes find_tag(const struct table_definition *definition, const char *key)
{
    for (size_t i = 0; i < definition->tags.count; i++)
        if (bytes_equal_text(definition->tags.elements[i].key, key))
            return definition->tags.elements[i].value;
    return (struct bytes){ 0 };
}

static bool is_own(const struct stack_calls *calls, const struct table_definition *definition,
                   struct bytes logical_id)
{
    return bytes_equal(find_tag(definition, TAG_PREFIX "stack-id"), calls->stack_id) &&
           bytes_equal(find_tag(definition, TAG_PREFIX "logical-id"), logical_id);
}

enum stack_table stack_calls_find(const struct stack_calls *calls, struct bytes logical_id,
                                  struct bytes name)
{
    struct table *table = catalogue_borrow(api_catalogue(calls->api), name);
    if (table == NULL)
        return STACK_TABLE_ABSENT;
    bool owns = is_own(calls, table_definition(table), logical_id);
    table_release(table);
    return owns ? STACK_TABLE_OWN : STACK_TABLE_OF_OTHERS;
}

static bool is_stack_tag(const struct stack_calls *calls, struct bytes key)
{
    const struct stack_settings *sets[] = { calls->stack->settings, calls->stack->next };
    if (bytes_starts_with(key, BYTES("aws:")))
        return true;
    for (size_t i = 0; i < COUNT_OF(sets); i++) {
        const struct stack_pair *const *pairs = sets[i] == NULL ? NULL : sets[i]->tags.elements;
        for (size_t j = 0; sets[i] != NULL && j < sets[i]->tags.kept; j++)
            if (bytes_equal(pairs[j]->key, key))
                return true;
    }
    return false;
}

/* ListTagsOfResource's answer, without the tags of the stack. */
static struct bytes template_tags(const struct stack_calls *calls, struct bytes name)
{
    struct buffer text;
    struct json_writer json;
    struct table *table = catalogue_borrow(api_catalogue(calls->api), name);
    buffer_init(&text, calls->arena);
    json_writer_init(&json, &text);
    json_open_object(&json);
    json_write_name(&json, "Tags");
    json_open_array(&json);
    for (size_t i = 0; table != NULL && i < table_definition(table)->tags.count; i++) {
        const struct tag *tag = &table_definition(table)->tags.elements[i];
        if (is_stack_tag(calls, tag->key))
            continue;
        json_open_object(&json);
        json_write_name(&json, "Key");
        json_write_string(&json, tag->key);
        json_write_name(&json, "Value");
        json_write_string(&json, tag->value);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    table_release(table);
    return buffer_bytes(&text);
}

static struct bytes table_arn(const struct stack_calls *calls, struct bytes name)
{
    const struct api_options *options = api_options(calls->api);
    return arena_printf(calls->arena, "arn:aws:dynamodb:%s:%s:table/%.*s", options->region,
                        options->account_id, BYTES_FMT(name));
}

bool stack_calls_read(const struct stack_calls *calls, struct bytes logical_id, struct bytes name,
                      struct plan_before *out, struct bytes *message)
{
    struct arena *arena = calls->arena;
    struct plan_live_table live = { 0 };
    struct bytes by_name = arena_printf(arena, "{\"TableName\":\"%.*s\"}", BYTES_FMT(name));
    struct bytes arn = table_arn(calls, name);
    struct bytes by_arn = arena_printf(arena, "{\"ResourceArn\":\"%.*s\"}", BYTES_FMT(arn));
    const struct {
        const char *operation;
        struct bytes body;
        struct bytes *answer;
    } questions[] = {
        { "DescribeTable", by_name, &live.describe_table },
        { "DescribeTimeToLive", by_name, &live.describe_time_to_live },
        { "DescribeContinuousBackups", by_name, &live.describe_continuous_backups },
        { "ListContributorInsights", by_name, &live.list_contributor_insights },
        { "DescribeKinesisStreamingDestination", by_name,
          &live.describe_kinesis_streaming_destination },
        { "GetResourcePolicy", by_arn, &live.get_resource_policy },
    };
    *message = (struct bytes){ 0 };
    if (!is_ready(calls, PLAN_WAIT_INDEXES, name) || !is_ready(calls, PLAN_WAIT_TTL, name))
        return false;
    for (size_t i = 0; i < COUNT_OF(questions); i++) {
        struct error err;
        struct bytes response;
        error_init(&err, arena);
        if (ask(calls, questions[i].operation, questions[i].body, &response, &err))
            *questions[i].answer = response;
        else if (err.code == ERROR_POLICY_NOT_FOUND)
            *questions[i].answer = BYTES("{}");
    }
    live.list_tags_of_resource = template_tags(calls, name);
    if (live.describe_table.data == NULL || !plan_table_state(arena, &live, out)) {
        *message = arena_printf(arena, "The table %.*s cannot be described", BYTES_FMT(name));
        return false;
    }
    out->logical_id = logical_id;
    return true;
}

/* Whether the name is still that of the stack's own table, and of which one; one that others have
 * made since does not count. */
static bool is_still_there(const struct stack_calls *calls, struct bytes logical_id,
                           struct bytes name, bool *is_deleting, struct bytes *id)
{
    struct table *table = catalogue_borrow(api_catalogue(calls->api), name);
    if (table == NULL)
        return false;
    const struct table_definition *definition = table_definition(table);
    bool owns = is_own(calls, definition, logical_id);
    *is_deleting = definition->status == TABLE_DELETING;
    *id = arena_copy(calls->arena, definition->uuid);
    table_release(table);
    return owns;
}

bool stack_calls_delete_table(const struct stack_calls *calls, struct bytes logical_id,
                              struct bytes name, struct bytes *message)
{
    const struct plan_step step = {
        .operation = "DeleteTable",
        .body = arena_printf(calls->arena, "{\"TableName\":\"%.*s\"}", BYTES_FMT(name)),
        .wait = PLAN_WAIT_NOTHING,
    };
    struct stack_identity own = { 0 };
    bool is_deleting;
    *message = (struct bytes){ 0 };
    if (!is_still_there(calls, logical_id, name, &is_deleting, &own.table_id))
        return true;
    if (!is_deleting && !run_step(calls, &step, &own, true, message))
        return false;
    calls->patience->waits = true;
    return !is_still_there(calls, logical_id, name, &is_deleting, &own.table_id);
}

/* --- Other resources --- */

static bool is_alarm(struct bytes type)
{
    return bytes_equal_text(type, "AWS::CloudWatch::Alarm") ||
           bytes_equal_text(type, "AWS::CloudWatch::CompositeAlarm");
}

/* Whether the record is of that alarm, dashboard, target or policy. All alarms share their names.
 */
static bool stands_for(const struct stack_resource *record, struct bytes type, struct bytes name)
{
    enum stack_status status = stack_status_of(record->status_name);
    return status != STACK_DELETE_COMPLETE && status != STACK_DELETE_SKIPPED &&
           (bytes_equal(record->type, type) || (is_alarm(record->type) && is_alarm(type))) &&
           (bytes_equal(record->physical_id, name) || bytes_equal(record->old_physical_id, name));
}

static bool has_record(const struct stack_calls *calls, const struct stack_resource *resource,
                       struct bytes name)
{
    struct stacks *stacks = api_stacks(calls->api);
    bool found = false;
    stacks_lock(stacks);
    for (size_t s = 0; s < stacks_count(stacks) && !found; s++) {
        struct bytes uid = stacks_at(stacks, s)->head.stack_uid;
        size_t first;
        size_t count = stacks_of(stacks, STACK_RESOURCE, uid, &first);
        for (size_t i = first; i < first + count && !found; i++) {
            const struct stack_resource *record = stacks_object(stacks, STACK_RESOURCE, i);
            bool is_own = bytes_equal(uid, resource->head.stack_uid) &&
                          bytes_equal(record->head.id, resource->head.id);
            found = !is_own && stands_for(record, resource->type, name);
        }
    }
    stacks_unlock(stacks);
    return found;
}

/* Whether CloudWatch has an alarm or a dashboard of that name. */
static bool is_in_cloudwatch(const struct stack_calls *calls, struct bytes type, struct bytes name)
{
    static const char member[] = "\"AlarmName\"";
    bool asks_alarms = is_alarm(type);
    struct buffer body;
    struct json_writer json;
    struct bytes response;
    struct error err;
    if (!asks_alarms && !bytes_equal_text(type, "AWS::CloudWatch::Dashboard"))
        return false;
    error_init(&err, calls->arena);
    buffer_init(&body, calls->arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, asks_alarms ? "AlarmNames" : "DashboardName");
    if (asks_alarms)
        json_open_array(&json);
    json_write_string(&json, name);
    if (asks_alarms)
        json_close_array(&json);
    json_close_object(&json);
    bool ok = ask(calls, asks_alarms ? "cloudwatch:DescribeAlarms" : "cloudwatch:GetDashboard",
                  buffer_bytes(&body), &response, &err);
    return ok &&
           (!asks_alarms || memmem(response.data, response.len, member, sizeof member - 1) != NULL);
}

bool stack_calls_is_taken(const struct stack_calls *calls, const struct stack_resource *resource,
                          struct bytes name)
{
    return has_record(calls, resource, name) || is_in_cloudwatch(calls, resource->type, name);
}

/* --- Tags --- */

/* The tags of `list` that `other` does not have, or has with another value. Returns how many. */
static size_t write_tags(struct json_writer *json, const struct shape_list *list,
                         const struct shape_list *other, bool only_keys)
{
    const struct stack_pair *const *pairs = list->elements;
    size_t count = 0;
    json_open_array(json);
    for (size_t i = 0; i < list->kept; i++) {
        const struct stack_pair *known = stack_find_pair(other, pairs[i]->key);
        if (known != NULL && (only_keys || bytes_equal(known->value, pairs[i]->value)))
            continue;
        count++;
        if (only_keys) {
            json_write_string(json, pairs[i]->key);
            continue;
        }
        json_open_object(json);
        json_write_name(json, "Key");
        json_write_string(json, pairs[i]->key);
        json_write_name(json, "Value");
        json_write_string(json, pairs[i]->value);
        json_close_object(json);
    }
    json_close_array(json);
    return count;
}

static bool change_tags(const struct stack_calls *calls, struct bytes name, bool removes,
                        const struct shape_list *list, const struct shape_list *other,
                        struct bytes *message)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, calls->arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "ResourceArn");
    json_write_string(&json, table_arn(calls, name));
    json_write_name(&json, removes ? "TagKeys" : "Tags");
    size_t count = write_tags(&json, list, other, removes);
    json_close_object(&json);
    const struct plan_step step = { .operation = removes ? "UntagResource" : "TagResource",
                                    .body = buffer_bytes(&body),
                                    .wait = PLAN_WAIT_NOTHING };
    return count == 0 || run_step(calls, &step, NULL, false, message);
}

bool stack_calls_tag(const struct stack_calls *calls, struct bytes name,
                     const struct shape_list *before, const struct shape_list *after,
                     struct bytes *message)
{
    return change_tags(calls, name, true, before, after, message) &&
           change_tags(calls, name, false, after, before, message);
}
