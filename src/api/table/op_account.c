/* op_account.c -- DescribeEndpoints and DescribeLimits, which are about no table. */
#include <ctype.h>
#include "api/operation.h"
#include "json/writer.h"

/* --- DescribeEndpoints --- */

enum { CACHE_PERIOD_MINUTES = 1440 };

struct describe_endpoints_request {
    char unused;
};

static const struct shape endpoints_shape = { .kind = SHAPE_STRUCTURE,
                                              .type_name = "DescribeEndpointsRequest",
                                              .size = sizeof(struct describe_endpoints_request),
                                              SHAPE_UNBOUNDED };

/* A header may hold bytes that no host name has; they are not repeated. */
static bool is_host(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!isalnum(text.data[i]) && memchr(".-:[]_", text.data[i], 6) == NULL)
            return false;
    return text.len > 0;
}

static void run_endpoints(struct api_call *call, const void *input)
{
    (void)input;
    struct bytes address = is_host(call->host) ? call->host : BYTES("localhost");
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Endpoints");
    json_open_array(&writer);
    json_open_object(&writer);
    json_write_name(&writer, "Address");
    json_write_string(&writer, address);
    json_write_name(&writer, "CachePeriodInMinutes");
    json_write_integer(&writer, CACHE_PERIOD_MINUTES);
    json_close_object(&writer);
    json_close_array(&writer);
    json_close_object(&writer);
    operation_succeed(call);
}

const struct operation op_describe_endpoints = { .name = "DescribeEndpoints",
                                                 .kind = OPERATION_DATA,
                                                 .request = &endpoints_shape,
                                                 .asks = OPERATION_ASKS_ACCOUNT,
                                                 .run = run_endpoints };

/* --- DescribeLimits --- */

struct describe_limits_request {
    char unused;
};

static const struct shape limits_shape = { .kind = SHAPE_STRUCTURE,
                                           .type_name = "DescribeLimitsInput",
                                           .size = sizeof(struct describe_limits_request),
                                           SHAPE_UNBOUNDED };

static void run_limits(struct api_call *call, const void *input)
{
    (void)input;
    const struct api_quotas *quotas = &api_options(call->api)->quotas;
    const struct {
        const char *name;
        int64_t units;
    } limits[] = {
        { "AccountMaxReadCapacityUnits", quotas->account_read_units },
        { "AccountMaxWriteCapacityUnits", quotas->account_write_units },
        { "TableMaxReadCapacityUnits", quotas->table_read_units },
        { "TableMaxWriteCapacityUnits", quotas->table_write_units },
    };
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
                                              .request = &limits_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .run = run_limits };
