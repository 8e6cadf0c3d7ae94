/* trigger_description.c -- see trigger_description.h. */
#include "api/trigger/trigger_description.h"
#include "api/operation.h"
#include "api/stream/stream_operation.h"
#include "json/writer.h"
#include "trigger/trigger_definition.h"

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

void trigger_description_write(struct api_call *call, struct json_writer *json,
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
    json_close_object(json);
}
