/* op_triggers.c -- AddTrigger, ListTriggers and RemoveTrigger.
 *
 * They are our own operations. Words and bounds are those of Lambda's event source mappings where
 * it has them.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/stream/stream_operation.h"
#include "api/table/table_operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/storage_error.h"
#include "trigger/event_filter.h"
#include "trigger/trigger_definition.h"
#include "trigger/triggers.h"

/* --- The JSON of a trigger --- */

struct trigger_state {
    const char *name;    /* "Enabled", or "Ended": its stream has ended and all was delivered. */
    struct bytes result; /* Of the last call of its function. */
    const struct trigger_statistics *statistics; /* NULL: it is new. */
};

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_string(json, value);
}

static void write_integer(struct json_writer *json, const char *name, int64_t value)
{
    json_write_name(json, name);
    json_write_integer(json, value);
}

static void write_filters(struct json_writer *json, const struct trigger_definition *definition)
{
    if (definition->filter_count == 0)
        return;
    json_write_name(json, "FilterCriteria");
    json_open_object(json);
    json_write_name(json, "Filters");
    json_open_array(json);
    for (size_t i = 0; i < definition->filter_count; i++) {
        json_open_object(json);
        write_string(json, "Pattern", definition->filters[i]);
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static void write_response_types(struct json_writer *json,
                                 const struct trigger_definition *definition)
{
    if (!definition->reports_failures)
        return;
    json_write_name(json, "FunctionResponseTypes");
    json_open_array(json);
    json_write_text(json, "ReportBatchItemFailures");
    json_close_array(json);
}

/* Since the server's start. The age has the name of Lambda's metric. */
static void write_statistics(struct json_writer *json, const struct trigger_statistics *statistics)
{
    json_write_name(json, "Statistics");
    json_open_object(json);
    write_integer(json, "IteratorAgeMilliseconds", statistics->lag_ms);
    write_integer(json, "RecordsDelivered", (int64_t)statistics->records_delivered);
    write_integer(json, "RecordsGivenUp", (int64_t)statistics->records_given_up);
    write_integer(json, "DeadLetters", (int64_t)statistics->dead_letters);
    write_integer(json, "RecordsLost", (int64_t)statistics->records_lost);
    write_integer(json, "Failures", (int64_t)statistics->failures);
    json_close_object(json);
}

static void write_trigger(struct api_call *call, struct json_writer *json,
                          const struct trigger_definition *definition,
                          const struct trigger_state *state)
{
    json_open_object(json);
    write_string(json, "UUID", definition->uuid);
    write_string(json, "TableName", definition->table_name);
    write_string(json, "EventSourceArn",
                 stream_operation_arn(call, definition->table_name, definition->label));
    write_string(json, "Url", trigger_definition_shown_url(call->arena, definition));
    write_string(json, "StartingPosition",
                 definition->from_latest ? BYTES("LATEST") : BYTES("TRIM_HORIZON"));
    write_integer(json, "BatchSize", definition->batch_size);
    write_integer(json, "MaximumBatchingWindowInSeconds", definition->window_s);
    write_integer(json, "MaximumRetryAttempts", definition->retries_max);
    write_integer(json, "MaximumRecordAgeInSeconds", definition->age_max_s);
    json_write_name(json, "BisectBatchOnFunctionError");
    json_write_bool(json, definition->bisect);
    write_response_types(json, definition);
    write_integer(json, "TimeoutInSeconds", definition->timeout_s);
    if (definition->dead_letter_file.len > 0)
        write_string(json, "DeadLetterFile", definition->dead_letter_file);
    write_filters(json, definition);
    json_write_name(json, "CreationDateTime");
    json_write_seconds(json, definition->created_ms);
    json_write_name(json, "State");
    json_write_text(json, state->name);
    write_string(json, "LastProcessingResult", state->result);
    if (state->statistics != NULL)
        write_statistics(json, state->statistics);
    json_close_object(json);
}

/* --- AddTrigger: from now on a function is called with the changes of a table --- */

struct filter_request {
    struct bytes pattern;
};
struct filter_criteria_request {
    struct shape_list filters; /* of struct filter_request * */
};
struct add_trigger_request {
    struct bytes table_name;
    struct bytes url;
    struct bytes starting_position;
    struct shape_integer batch_size;
    struct shape_integer window;
    struct shape_integer retries;
    struct shape_integer age;
    struct shape_integer timeout;
    struct shape_boolean bisect;
    struct shape_list response_types; /* of struct bytes */
    struct bytes dead_letter_file;
    struct filter_criteria_request *filter_criteria;
};

static const char *const positions[] = { "TRIM_HORIZON", "LATEST", NULL };
static const struct shape position_shape = { .kind = SHAPE_STRING,
                                             .enum_values = positions,
                                             SHAPE_UNBOUNDED };
static const struct shape batch_size_shape = { .kind = SHAPE_INTEGER,
                                               .min = 1,
                                               .max = TRIGGER_BATCH_SIZE_MAX };
static const struct shape window_shape = { .kind = SHAPE_INTEGER,
                                           .min = 0,
                                           .max = TRIGGER_WINDOW_S_MAX };
static const struct shape retries_shape = { .kind = SHAPE_INTEGER,
                                            .min = TRIGGER_UNLIMITED,
                                            .max = TRIGGER_RETRIES_MAX };
static const struct shape age_shape = { .kind = SHAPE_INTEGER,
                                        .min = TRIGGER_UNLIMITED,
                                        .max = TRIGGER_AGE_S_MAX };
static const struct shape timeout_shape = { .kind = SHAPE_INTEGER,
                                            .min = 1,
                                            .max = TRIGGER_TIMEOUT_S_MAX };
static const char *const response_types[] = { "ReportBatchItemFailures", NULL };
static const struct shape response_type_shape = { .kind = SHAPE_STRING,
                                                  .enum_values = response_types,
                                                  SHAPE_UNBOUNDED };
static const struct shape response_types_shape = {
    .kind = SHAPE_LIST, .element = &response_type_shape, .min = 0, .max = 1
};
static const struct shape pattern_shape = { .kind = SHAPE_STRING,
                                            .min = 0,
                                            .max = EVENT_FILTER_SIZE_MAX };
static const struct shape_field filter_fields[] = {
    { SHAPE_FIELD(struct filter_request, pattern, "Pattern", &pattern_shape), .required = true },
};
static const struct shape filter_shape = { SHAPE_STRUCTURE_OF(struct filter_request, filter_fields),
                                           .type_name = "Filter" };
static const struct shape filters_shape = {
    .kind = SHAPE_LIST, .element = &filter_shape, .min = 0, .max = TRIGGER_FILTERS_MAX
};
static const struct shape_field filter_criteria_fields[] = {
    { SHAPE_FIELD(struct filter_criteria_request, filters, "Filters", &filters_shape) },
};
static const struct shape filter_criteria_shape = {
    SHAPE_STRUCTURE_OF(struct filter_criteria_request, filter_criteria_fields),
    .type_name = "FilterCriteria",
};
static const struct shape_field add_fields[] = {
    { SHAPE_FIELD(struct add_trigger_request, table_name, "TableName", &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct add_trigger_request, url, "Url", &common_string), .required = true },
    { SHAPE_FIELD(struct add_trigger_request, starting_position, "StartingPosition",
                  &position_shape) },
    { SHAPE_FIELD(struct add_trigger_request, batch_size, "BatchSize", &batch_size_shape) },
    { SHAPE_FIELD(struct add_trigger_request, window, "MaximumBatchingWindowInSeconds",
                  &window_shape) },
    { SHAPE_FIELD(struct add_trigger_request, retries, "MaximumRetryAttempts", &retries_shape) },
    { SHAPE_FIELD(struct add_trigger_request, age, "MaximumRecordAgeInSeconds", &age_shape) },
    { SHAPE_FIELD(struct add_trigger_request, timeout, "TimeoutInSeconds", &timeout_shape) },
    { SHAPE_FIELD(struct add_trigger_request, bisect, "BisectBatchOnFunctionError",
                  &common_boolean) },
    { SHAPE_FIELD(struct add_trigger_request, response_types, "FunctionResponseTypes",
                  &response_types_shape) },
    { SHAPE_FIELD(struct add_trigger_request, dead_letter_file, "DeadLetterFile", &common_string) },
    { SHAPE_FIELD(struct add_trigger_request, filter_criteria, "FilterCriteria",
                  &filter_criteria_shape) },
};
static const struct shape add_shape = { SHAPE_STRUCTURE_OF(struct add_trigger_request, add_fields),
                                        .type_name = "AddTriggerInput" };

/* --- AddTrigger: rules --- */

static bool draft_filters(struct api_call *call, const struct filter_criteria_request *criteria,
                          struct trigger_definition *draft)
{
    if (criteria == NULL)
        return true;
    struct filter_request *const *filters = criteria->filters.elements;
    for (size_t i = 0; i < criteria->filters.count; i++) {
        if (event_filter_parse(call->arena, filters[i]->pattern, &call->error) == NULL)
            return false;
        draft->filters[draft->filter_count++] = filters[i]->pattern;
    }
    return true;
}

static bool draft_dead_letters(struct api_call *call, struct bytes file,
                               struct trigger_definition *draft)
{
    const struct trigger_outside *outside = api_options(call->api)->trigger_outside;
    if (file.data == NULL)
        return true;
    if (!trigger_definition_is_file_name(file))
        return error_validation(&call->error,
                                "DeadLetterFile is the name of a file, without a folder: 1 to %d "
                                "letters, digits, '.', '_' and '-', not beginning with '.'",
                                TRIGGER_DEAD_LETTER_FILE_SIZE_MAX);
    if (outside == NULL || outside->dead_letter_dir == NULL)
        return error_validation(&call->error, "DeadLetterFile: a server that keeps its data in "
                                              "memory has no folder for it");
    draft->dead_letter_file = file;
    return true;
}

static int64_t value_or(const struct shape_integer *given, int64_t otherwise)
{
    return given->present ? given->value : otherwise;
}

static bool make_draft(struct api_call *call, const struct add_trigger_request *request,
                       struct trigger_definition *draft)
{
    *draft = (struct trigger_definition){
        .uuid = uuid_create(call->arena),
        .url = request->url,
        .created_ms = clock_wall_ms(api_options(call->api)->clock),
        .batch_size = value_or(&request->batch_size, TRIGGER_BATCH_SIZE_DEFAULT),
        .window_s = value_or(&request->window, 0),
        .timeout_s = value_or(&request->timeout, TRIGGER_TIMEOUT_S_DEFAULT),
        .retries_max = value_or(&request->retries, TRIGGER_UNLIMITED),
        .age_max_s = value_or(&request->age, TRIGGER_UNLIMITED),
        .from_latest = request->starting_position.data != NULL &&
                       bytes_equal_text(request->starting_position, "LATEST"),
        .bisect = request->bisect.value,
        .reports_failures = request->response_types.count > 0,
    };
    const char *problem = trigger_definition_url_problem(request->url);
    if (problem != NULL)
        return error_validation(&call->error, "Invalid Url: %s", problem);
    if (draft->age_max_s == 0)
        return error_validation(&call->error, "MaximumRecordAgeInSeconds is -1 or at least 1");
    return draft_dead_letters(call, request->dead_letter_file, draft) &&
           draft_filters(call, request->filter_criteria, draft);
}

/* --- AddTrigger: the trigger --- */

/* A trigger hands its caller every record of the stream, so whoever adds one must be allowed to
 * read them. That it may add triggers to the table was asked before. */
static bool may_read_stream(struct api_call *call, const struct table *table, struct bytes label)
{
    static const char *const actions[] = { "DescribeStream", "GetShardIterator", "GetRecords" };
    struct bytes name = table_definition(table)->name;
    for (size_t i = 0; call->caller != NULL && i < COUNT_OF(actions); i++) {
        struct access_question question =
            operation_stream_question(call, actions[i], name, label, table);
        if (!operation_may(call, &question))
            return false;
    }
    return true;
}

/* The stream that the table has now; the caller owes a stream_release. */
static struct stream *find_stream(struct api_call *call, struct bytes name_or_arn)
{
    struct table *table = table_operation_find(call, name_or_arn);
    struct stream *stream = NULL;
    if (table == NULL)
        return NULL;
    const struct table_definition *definition = table_definition(table);
    bool may_read =
        !definition->stream_enabled || may_read_stream(call, table, definition->stream_label);
    if (definition->stream_enabled && may_read)
        stream = streams_find(api_streams(call->api), definition->name, definition->stream_label);
    if (stream == NULL && may_read)
        error_validation(&call->error,
                         "Table %.*s has no stream to take records from: enable one first, with "
                         "StreamSpecification of UpdateTable",
                         BYTES_FMT(definition->name));
    return stream;
}

static bool add(struct api_call *call, struct trigger_definition *draft,
                const struct stream_definition *stream)
{
    struct triggers *triggers = api_triggers(call->api);
    if (triggers_is_full(triggers))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED, "There may be %d triggers at most",
                         TRIGGERS_MAX);
    draft->table_name = stream->table_name;
    draft->label = stream->label;
    draft->log_id = stream->log_id;
    enum engine_status status = triggers_add(triggers, call->arena, draft, stream);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "AddTrigger");
    struct json_writer json;
    json_writer_init(&json, &call->response);
    write_trigger(
        call, &json, draft,
        &(struct trigger_state){ .name = "Enabled", .result = BYTES("No records processed") });
    return true;
}

static void run_add(struct api_call *call, const void *input)
{
    const struct add_trigger_request *request = input;
    struct trigger_definition draft;
    struct stream *stream = NULL;
    bool ok = make_draft(call, request, &draft) &&
              (stream = find_stream(call, request->table_name)) != NULL &&
              add(call, &draft, stream_definition(stream));
    stream_release(stream);
    operation_end(call, ok);
}

const struct operation op_add_trigger = { .name = "AddTrigger",
                                          .service = OPERATION_OF_STATOR,
                                          .actions_of =
                                              "dynamodb", /* In policies since triggers exist. */
                                          .kind = OPERATION_CONTROL,
                                          .request = &add_shape,
                                          .asks = OPERATION_ASKS_RESOURCE,
                                          .run = run_add };

/* --- ListTriggers ---
 *
 * All on one page: there are at most TRIGGERS_MAX. Shows the triggers of the tables on which the
 * caller may list them. A caller that sees none, and may not list triggers in general, is refused.
 */

struct list_triggers_request {
    struct bytes table_name;
};

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_triggers_request, table_name, "TableName",
                  &common_existing_table_name) },
};
static const struct shape list_shape = {
    SHAPE_STRUCTURE_OF(struct list_triggers_request, list_fields), .type_name = "ListTriggersInput"
};

/* Whether the caller sees a trigger, of those with that UUID if it is given. */
static bool sees_trigger(struct api_call *call, struct bytes uuid)
{
    struct trigger_name names[TRIGGERS_MAX];
    size_t count = triggers_names(api_triggers(call->api), call->arena, names);
    for (size_t i = 0; i < count; i++) {
        if ((uuid.data == NULL || bytes_equal(names[i].uuid, uuid)) &&
            operation_sees_table(call, names[i].table_name))
            return true;
    }
    return false;
}

static bool admits_list(struct api_call *call, const void *input)
{
    const struct list_triggers_request *request = input;
    if (request->table_name.data != NULL)
        return operation_may_use(call, request->table_name);
    return sees_trigger(call, (struct bytes){ 0 }) || operation_may_use_account(call);
}

/* What all triggers have done. */
struct all_statistics {
    struct trigger_statistics *triggers;
    size_t count;
};

static struct all_statistics read_statistics(struct api_call *call)
{
    struct all_statistics all = { .triggers = arena_alloc(call->arena,
                                                          TRIGGERS_MAX * sizeof *all.triggers) };
    all.count = triggers_read_statistics(api_triggers(call->api), call->arena, all.triggers);
    return all;
}

static void write_listed(struct api_call *call, struct json_writer *json, size_t index,
                         const struct all_statistics *all)
{
    struct triggers *triggers = api_triggers(call->api);
    struct trigger_runner_report report = triggers_report(triggers, index, call->arena);
    struct trigger_state state = { .name = report.ended ? "Ended" : "Enabled",
                                   .result = report.result };
    for (size_t i = 0; i < all->count && state.statistics == NULL; i++)
        if (bytes_equal(all->triggers[i].uuid, triggers_at(triggers, index)->uuid))
            state.statistics = &all->triggers[i];
    write_trigger(call, json, triggers_at(triggers, index), &state);
}

static bool list(struct api_call *call, struct bytes table_name)
{
    struct triggers *triggers = api_triggers(call->api);
    struct json_writer json;
    size_t shown = 0;
    if (table_name.data != NULL && !operation_may_use(call, table_name))
        return false;
    struct all_statistics all = read_statistics(call);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Triggers");
    json_open_array(&json);
    for (size_t i = 0; i < triggers_count(triggers); i++) {
        const struct trigger_definition *trigger = triggers_at(triggers, i);
        bool asked_for = table_name.data == NULL ||
                         bytes_equal(trigger->table_name, operation_table_name(table_name));
        if (asked_for && operation_sees_table(call, trigger->table_name)) {
            write_listed(call, &json, i, &all);
            shown++;
        }
    }
    json_close_array(&json);
    json_close_object(&json);
    if (shown > 0 || table_name.data != NULL) {
        operation_asks_nothing(call); /* Each that is shown was asked about. */
        return true;
    }
    return operation_may_use_account(call);
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_triggers_request *request = input;
    operation_end(call, list(call, request->table_name));
}

const struct operation op_list_triggers = { .name = "ListTriggers",
                                            .service = OPERATION_OF_STATOR,
                                            .actions_of =
                                                "dynamodb", /* In policies since triggers exist. */
                                            .kind = OPERATION_CONTROL,
                                            .request = &list_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits_list,
                                            .only_lists = true,
                                            .run = run_list };

/* --- RemoveTrigger ---
 *
 * No call of the function begins after the answer. Asks about the table of the trigger. A trigger
 * that the caller may not remove is answered like one that does not exist: as not found, or, to a
 * caller that may not remove triggers in general, as denied.
 */

struct remove_trigger_request {
    struct bytes uuid;
};

static const struct shape_field remove_fields[] = {
    { SHAPE_FIELD(struct remove_trigger_request, uuid, "UUID", &common_string), .required = true },
};
static const struct shape remove_shape = { SHAPE_STRUCTURE_OF(struct remove_trigger_request,
                                                              remove_fields),
                                           .type_name = "RemoveTriggerInput" };

static const struct trigger_definition *find(const struct triggers *triggers, struct bytes uuid)
{
    for (size_t i = 0; i < triggers_count(triggers); i++)
        if (bytes_equal(triggers_at(triggers, i)->uuid, uuid))
            return triggers_at(triggers, i);
    return NULL;
}

/* Whether there is such a trigger for this caller. */
static bool may_remove(struct api_call *call, const struct trigger_definition *trigger)
{
    if (trigger == NULL || !operation_sees_table(call, trigger->table_name))
        return false;
    call->asked = true;
    call->resource = operation_table_arn(call, trigger->table_name);
    return true;
}

static bool admits_remove(struct api_call *call, const void *input)
{
    const struct remove_trigger_request *request = input;
    return sees_trigger(call, request->uuid) || operation_may_use_account(call);
}

static void run_remove(struct api_call *call, const void *input)
{
    const struct remove_trigger_request *request = input;
    struct triggers *triggers = api_triggers(call->api);
    enum engine_status status = ENGINE_NOT_FOUND;
    if (may_remove(call, find(triggers, request->uuid)))
        status = triggers_remove(triggers, call->arena, request->uuid);
    else if (!operation_may_use_account(call)) {
        operation_fail(call);
        return;
    }
    if (status == ENGINE_OK) {
        struct json_writer json;
        json_writer_init(&json, &call->response);
        json_open_object(&json);
        json_close_object(&json);
        operation_succeed(call);
        return;
    }
    if (status == ENGINE_NOT_FOUND)
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: Trigger: %.*s not found",
                  BYTES_FMT(request->uuid));
    else
        storage_error_set_for_table(&call->error, status, "RemoveTrigger");
    operation_fail(call);
}

const struct operation op_remove_trigger = { .name = "RemoveTrigger",
                                             .service = OPERATION_OF_STATOR,
                                             .actions_of =
                                                 "dynamodb", /* In policies since triggers exist. */
                                             .kind = OPERATION_CONTROL,
                                             .request = &remove_shape,
                                             .asks = OPERATION_ASKS_ITSELF,
                                             .admits = admits_remove,
                                             .run = run_remove };
