/* op_destinations.c -- Enable-, Disable-, Update- and DescribeKinesisStreamingDestination.
 *
 * Observed: the service looks at the table and at the state of its destinations, and never at the
 * Kinesis stream before it has answered. A stream that cannot be used makes the destination
 * ENABLE_FAILED a little later.
 */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/table_operation.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "json/writer.h"
#include "kinesis/destinations.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

#define INVALID_STATE "Table is not in a valid state to enable Kinesis Streaming Destination: "

/* --- Requests --- */

struct configuration_request {
    struct bytes precision;
};

/* Of all three that change a destination. */
struct destination_request {
    struct bytes table_name;
    struct bytes stream_arn;
    struct configuration_request *enable;
    struct configuration_request *update;
};

static const char *const precisions[] = { "MILLISECOND", "MICROSECOND", NULL };
static const struct shape precision_shape = { .kind = SHAPE_STRING,
                                              .enum_values = precisions,
                                              SHAPE_UNBOUNDED };
static const struct shape_field configuration_fields[] = {
    { SHAPE_FIELD(struct configuration_request, precision, "ApproximateCreationDateTimePrecision",
                  &precision_shape) },
};
static const struct shape enable_configuration_shape = {
    SHAPE_STRUCTURE_OF(struct configuration_request, configuration_fields),
    .type_name = "EnableKinesisStreamingConfiguration",
};
static const struct shape update_configuration_shape = {
    SHAPE_STRUCTURE_OF(struct configuration_request, configuration_fields),
    .type_name = "UpdateKinesisStreamingConfiguration",
};
static const struct shape stream_arn_shape = { .kind = SHAPE_STRING,
                                               .min = DESTINATION_ARN_SIZE_MIN,
                                               .max = DESTINATION_ARN_SIZE_MAX };
static const struct shape_field enable_fields[] = {
    { SHAPE_FIELD(struct destination_request, table_name, "TableName", &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct destination_request, stream_arn, "StreamArn", &stream_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct destination_request, enable, "EnableKinesisStreamingConfiguration",
                  &enable_configuration_shape) },
};
static const struct shape enable_shape = { SHAPE_STRUCTURE_OF(struct destination_request,
                                                              enable_fields),
                                           .type_name = "EnableKinesisStreamingDestinationInput" };
static const struct shape disable_shape = {
    SHAPE_STRUCTURE_OF(struct destination_request, enable_fields),
    .type_name = "DisableKinesisStreamingDestinationInput"
};
static const struct shape_field update_fields[] = {
    { SHAPE_FIELD(struct destination_request, table_name, "TableName", &common_existing_table_name),
      .required = true },
    { SHAPE_FIELD(struct destination_request, stream_arn, "StreamArn", &stream_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct destination_request, update, "UpdateKinesisStreamingConfiguration",
                  &update_configuration_shape) },
};
static const struct shape update_shape = { SHAPE_STRUCTURE_OF(struct destination_request,
                                                              update_fields),
                                           .type_name = "UpdateKinesisStreamingDestinationInput" };

static enum destination_precision precision_of(const struct configuration_request *configuration)
{
    if (configuration == NULL || configuration->precision.data == NULL)
        return DESTINATION_PRECISION_DEFAULT;
    return bytes_equal_text(configuration->precision, "MICROSECOND") ? DESTINATION_MICROSECOND
                                                                     : DESTINATION_MILLISECOND;
}

/* --- Answers --- */

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_string(json, value);
}

static void write_precision(struct json_writer *json, enum destination_precision precision)
{
    if (precision == DESTINATION_PRECISION_DEFAULT)
        return;
    json_write_name(json, "ApproximateCreationDateTimePrecision");
    json_write_text(json, destination_precision_name(precision));
}

/* `configuration` names the member that echoes the request's. */
static void answer(struct api_call *call, const struct destination_request *request,
                   struct bytes table_name, enum destination_status status,
                   const char *configuration, enum destination_precision precision)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_string(&json, "TableName", table_name);
    write_string(&json, "StreamArn", request->stream_arn);
    write_string(&json, "DestinationStatus", bytes_from_text(destination_status_name(status)));
    if (configuration != NULL) {
        json_write_name(&json, configuration);
        json_open_object(&json);
        write_precision(&json, precision);
        json_close_object(&json);
    }
    json_close_object(&json);
}

static bool stored(struct api_call *call, enum engine_status status, const char *doing)
{
    return status == ENGINE_OK || storage_error_set_for_table(&call->error, status, doing);
}

/* --- Enable --- */

static bool enable(struct api_call *call, const struct destination_request *request,
                   const struct table_definition *table)
{
    struct destinations *destinations = api_destinations(call->api);
    size_t live = destinations_find_live(destinations, table->uuid);
    if (live < destinations_count(destinations))
        return error_validation(&call->error, INVALID_STATE
                                "EnableKinesisStreamingDestination must be DISABLED or "
                                "ENABLE_FAILED to perform ENABLE operation.");
    if (destinations_is_full(destinations))
        return error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                         "Subscriber limit exceeded: There may be %d Kinesis streaming "
                         "destinations at most",
                         DESTINATIONS_LIVE_MAX);
    struct destination_definition draft = {
        .uuid = uuid_create(call->arena),
        .table_name = table->name,
        .table_uuid = table->uuid,
        .stream_arn = request->stream_arn,
        .status = DESTINATION_ENABLING,
        .precision = precision_of(request->enable),
        .created_ms = clock_wall_ms(api_options(call->api)->clock),
    };
    if (!stored(call, destinations_add(destinations, call->arena, &draft),
                "EnableKinesisStreamingDestination"))
        return false;
    answer(call, request, table->name, DESTINATION_ENABLING, "EnableKinesisStreamingConfiguration",
           draft.precision);
    return true;
}

static void run_enable(struct api_call *call, const void *input)
{
    const struct destination_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    /* Observed: a table that is UPDATING may get one. */
    bool ok = table != NULL &&
              (table_definition(table)->status == TABLE_UPDATING ||
               table_operation_check_idle(call, table_definition(table))) &&
              enable(call, request, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_enable_kinesis_streaming_destination = {
    .name = "EnableKinesisStreamingDestination",
    .kind = OPERATION_CONTROL,
    .request = &enable_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_enable,
};

/* --- Disable --- */

static bool disable(struct api_call *call, const struct destination_request *request,
                    const struct table_definition *table)
{
    struct destinations *destinations = api_destinations(call->api);
    size_t found = destinations_find(destinations, table->uuid, request->stream_arn);
    enum destination_status status = found < destinations_count(destinations)
                                         ? destinations_at(destinations, found)->status
                                         : DESTINATION_DISABLED;
    if (status != DESTINATION_ACTIVE && status != DESTINATION_DISABLING)
        return error_validation(&call->error, INVALID_STATE
                                "KinesisStreamingDestination must be ACTIVE to perform DISABLE "
                                "operation.");
    if (status == DESTINATION_ACTIVE &&
        !stored(
            call,
            destinations_set_status(destinations, call->arena, found, DESTINATION_DISABLING, NULL),
            "DisableKinesisStreamingDestination"))
        return false;
    answer(call, request, table->name, DESTINATION_DISABLING, NULL, DESTINATION_PRECISION_DEFAULT);
    return true;
}

static void run_disable(struct api_call *call, const void *input)
{
    const struct destination_request *request = input;
    bool ok = precision_of(request->enable) == DESTINATION_PRECISION_DEFAULT ||
              error_validation(&call->error, "Stream cannot be disabled using "
                                             "EnableKinesisStreamingConfiguration parameters");
    struct table *table = ok ? table_operation_find(call, request->table_name) : NULL;
    ok = table != NULL && disable(call, request, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_disable_kinesis_streaming_destination = {
    .name = "DisableKinesisStreamingDestination",
    .kind = OPERATION_CONTROL,
    .request = &disable_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_disable,
};

/* --- Update --- */

static bool update(struct api_call *call, const struct destination_request *request,
                   const struct table_definition *table)
{
    struct destinations *destinations = api_destinations(call->api);
    size_t found = destinations_find(destinations, table->uuid, request->stream_arn);
    enum destination_precision precision = precision_of(request->update);
    const struct destination_definition *definition =
        found < destinations_count(destinations) ? destinations_at(destinations, found) : NULL;
    if (definition == NULL)
        return error_validation(&call->error,
                                INVALID_STATE "No streaming destination with streamArn: %.*s is "
                                              "enabled for the table: %.*s",
                                BYTES_FMT(request->stream_arn), BYTES_FMT(table->name));
    if (definition->status != DESTINATION_ACTIVE)
        return error_validation(&call->error,
                                INVALID_STATE "Kinesis streaming is not in ACTIVE state. Updates "
                                              "are only allowed in ACTIVE state. TableName: %.*s, "
                                              "kdsArn: %.*s",
                                BYTES_FMT(table->name), BYTES_FMT(request->stream_arn));
    bool is_micro = definition->precision == DESTINATION_MICROSECOND;
    if (is_micro == (precision == DESTINATION_MICROSECOND))
        return error_validation(&call->error,
                                "Invalid Request: Precision is already set to the desired value "
                                "of %s for tableId: %.*s, kdsArn: %.*s",
                                destination_precision_name(precision), BYTES_FMT(table->uuid),
                                BYTES_FMT(request->stream_arn));
    if (!stored(call, destinations_set_precision(destinations, call->arena, found, precision),
                "UpdateKinesisStreamingDestination"))
        return false;
    answer(call, request, table->name, DESTINATION_UPDATING, "UpdateKinesisStreamingConfiguration",
           precision);
    return true;
}

static void run_update(struct api_call *call, const void *input)
{
    const struct destination_request *request = input;
    bool ok = precision_of(request->update) != DESTINATION_PRECISION_DEFAULT ||
              error_validation(&call->error,
                               "Streaming destination cannot be updated with given parameters: "
                               "UpdateKinesisStreamingConfiguration cannot be null or contain "
                               "only null values");
    struct table *table = ok ? table_operation_find(call, request->table_name) : NULL;
    ok = table != NULL && update(call, request, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_update_kinesis_streaming_destination = {
    .name = "UpdateKinesisStreamingDestination",
    .kind = OPERATION_CONTROL,
    .request = &update_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_update,
};

/* --- Describe --- */

static void describe(struct api_call *call, const struct table_definition *table)
{
    struct destination_definition found[DESTINATIONS_PER_TABLE_MAX];
    size_t count =
        destinations_of_table(api_destinations(call->api), call->arena, table->uuid, found);
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_string(&json, "TableName", table->name);
    json_write_name(&json, "KinesisDataStreamDestinations");
    json_open_array(&json);
    for (size_t i = count; i-- > 0;) { /* Observed: the newest first. */
        json_open_object(&json);
        write_string(&json, "StreamArn", found[i].stream_arn);
        write_string(&json, "DestinationStatus",
                     bytes_from_text(destination_status_name(found[i].status)));
        if (found[i].description.len > 0)
            write_string(&json, "DestinationStatusDescription", found[i].description);
        write_precision(&json, found[i].precision);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
}

static void run_describe(struct api_call *call, const void *input)
{
    const struct table_name_request *request = input;
    struct table *table = table_operation_find(call, request->table_name);
    bool ok = table != NULL;
    if (ok)
        describe(call, table_definition(table));
    operation_end(call, ok);
}

const struct operation op_describe_kinesis_streaming_destination = {
    .name = "DescribeKinesisStreamingDestination",
    .kind = OPERATION_DATA,
    .request = &table_name_request_shape,
    .asks = OPERATION_ASKS_RESOURCE,
    .run = run_describe,
};
