/* op_describe_limits.c -- DescribeLimits: the service's default quotas.
 *
 * They are told, not enforced: a machine of one's own has no account to protect.
 */
#include "api/operation.h"
#include "json/writer.h"

struct describe_limits_request {
    char unused;
};

static const struct shape request_shape = { .kind = SHAPE_STRUCTURE,
                                            .type_name = "DescribeLimitsInput",
                                            .size = sizeof(struct describe_limits_request),
                                            SHAPE_UNBOUNDED };

static const struct {
    const char *name;
    int64_t units;
} limits[] = {
    { "AccountMaxReadCapacityUnits", 80000 },
    { "AccountMaxWriteCapacityUnits", 80000 },
    { "TableMaxReadCapacityUnits", 40000 },
    { "TableMaxWriteCapacityUnits", 40000 },
};

static void run(struct api_call *call, const void *input)
{
    (void)input;
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        json_write_name(&writer, limits[i].name);
        json_write_integer(&writer, limits[i].units);
    }
    json_close_object(&writer);
    operation_succeed(call);
}

const struct operation op_describe_limits = { .name = "DescribeLimits",
                                              .kind = OPERATION_DATA,
                                              .request = &request_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .run = run };
