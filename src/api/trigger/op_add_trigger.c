/* op_add_trigger.c -- AddTrigger: from now on a function is called with the changes of a table.
 *
 * Our own operation. The words and bounds are those of Lambda's CreateEventSourceMapping where it
 * has them.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/table/table_operation.h"
#include "api/trigger/trigger_description.h"
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
static const struct shape_field fields[] = {
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
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct add_trigger_request, fields),
                                            .type_name = "AddTriggerInput" };

/* --- Rules --- */

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

/* --- The trigger --- */

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
    table_release(table);
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
    trigger_description_write(
        call, &json, draft,
        &(struct trigger_state){ .name = "Enabled", .result = BYTES("No records processed") });
    return true;
}

static void run(struct api_call *call, const void *input)
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
                                          .kind = OPERATION_CONTROL,
                                          .request = &request_shape,
                                          .asks = OPERATION_ASKS_RESOURCE,
                                          .run = run };
