/* table_operation.c -- see table_operation.h. */
#include "api/table/table_operation.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_name.h"
#include "api/table/update_answer.h"
#include "base/clock.h"
#include "json/writer.h"
#include "model/arn.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

static const struct shape_field table_name_request_fields[] = {
    { SHAPE_FIELD(struct table_name_request, table_name, "TableName", &common_existing_table_name),
      .required = true, .alone = true, .absent_text = common_table_name_absent_text },
};
const struct shape table_name_request_shape = {
    SHAPE_STRUCTURE_OF(struct table_name_request, table_name_request_fields),
    .type_name = "DescribeTableInput",
};

/* "<a table's ARN>/index/<name>" */
static bool is_index_arn(struct bytes arn)
{
    static const char kind[] = "/index/";
    const uint8_t *found = memmem(arn.data, arn.len, kind, sizeof kind - 1);
    return found != NULL && table_name_is_arn(bytes_of(arn.data, (size_t)(found - arn.data)));
}

bool table_operation_check_arn(struct api_call *call, struct bytes arn, const char *region_text,
                               bool (*refuse_account)(struct api_call *))
{
    struct bytes table_arn, label;
    if (!bytes_starts_with(arn, BYTES("arn:")))
        return error_validation(&call->error, INVALID_VALUES "ARNs must start with 'arn:': %.*s",
                                BYTES_FMT(arn));
    if (is_index_arn(arn))
        return error_validation(&call->error,
                                INVALID_VALUES "Invalid resource arn provided, only table or "
                                               "stream is accepted. Provided resource arn: %.*s",
                                BYTES_FMT(arn));
    if (!table_name_is_arn(arn) && !table_name_split_stream_arn(arn, &table_arn, &label))
        return error_validation(&call->error,
                                INVALID_VALUES "Provided Arn is not a DynamoDB resource arn: %.*s",
                                BYTES_FMT(arn));
    const struct api_options *options = api_options(call->api);
    switch (arn_owner_of(arn, options->region, options->account_id)) {
    case ARN_OWN:
        return true;
    case ARN_OF_OTHER_ACCOUNT:
        return refuse_account(call);
    default:
        return error_validation(&call->error, "%s%.*s", region_text, BYTES_FMT(arn));
    }
}

bool table_operation_is_restoring(const struct table *table)
{
    enum table_origin kind = table_definition(table)->origin.kind;
    return kind == TABLE_ORIGIN_BACKUP || kind == TABLE_ORIGIN_TIME;
}

static void refuse_missing(struct api_call *call, struct bytes name_or_arn)
{
    struct bytes name = operation_table_name(name_or_arn);
    if (operation_is_own(call))
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: Table: %.*s not found", BYTES_FMT(name));
}

struct table *table_operation_find_any(struct api_call *call, struct bytes name_or_arn)
{
    struct table *table = operation_find_table(call, name_or_arn);
    if (table == NULL)
        refuse_missing(call, name_or_arn);
    return table;
}

struct table *table_operation_find(struct api_call *call, struct bytes name_or_arn)
{
    struct table *table = table_operation_find_any(call, name_or_arn);
    bool is_made =
        table != NULL && (table_operation_is_restoring(table) ||
                          table_definition(table)->replicas.own.status == REPLICA_CREATING);
    if (!is_made)
        return table;
    refuse_missing(call, name_or_arn);
    return NULL;
}

bool table_operation_check_idle(struct api_call *call, const struct table_definition *definition)
{
    static const char *const doing[TABLE_STATUS_COUNT] = {
        [TABLE_CREATING] = "created",
        [TABLE_UPDATING] = "updated",
        [TABLE_DELETING] = "deleted",
    };
    if (definition->status == TABLE_ACTIVE)
        return true;
    return error_set(&call->error, ERROR_RESOURCE_IN_USE,
                     "Attempt to change a resource which is still in use: Table is being %s: %.*s",
                     doing[definition->status], BYTES_FMT(definition->name));
}

struct table_life_pace table_operation_pace(const struct api_call *call)
{
    const struct api_options *options = api_options(call->api);
    return (struct table_life_pace){ .now_ms = clock_wall_ms(options->clock),
                                     .transition_ms = options->transition_ms };
}

bool table_operation_store(struct api_call *call, struct table_definition *changed,
                           const char *doing)
{
    enum engine_status status = catalogue_update(api_catalogue(call->api), call->arena, changed);
    return status == ENGINE_OK || storage_error_set_for_table(&call->error, status, doing);
}

bool table_operation_answer(struct api_call *call, const struct table_answer *answer)
{
    const struct api_options *options = api_options(call->api);
    struct table_description description;
    table_description_init(&description, answer->kind, answer->definition, answer->status);
    description.now_ms = clock_wall_ms(options->clock);
    description.region = options->region;
    description.account_id = options->account_id;
    description.hidden_replica = answer->hidden_replica;
    if (answer->update != NULL)
        update_answer_apply(answer->update, answer->before, &description);
    if (answer->stats != NULL &&
        !operation_table_stats(call, answer->stats, &description.stats, description.index_stats))
        return false;
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, answer->member);
    table_description_write(&writer, call->arena, &description);
    json_close_object(&writer);
    return true;
}

bool table_operation_check_token(struct api_call *call, struct bytes token)
{
    return token.data == NULL || error_validation(&call->error, "Invalid NextToken");
}
