/* op_describe_endpoints.c -- DescribeEndpoints: this server, for clients that ask where to go. */
#include "api/operation.h"
#include <ctype.h>
#include "json/writer.h"

enum { CACHE_PERIOD_MINUTES = 1440 };

struct describe_endpoints_request {
    char unused;
};

static const struct shape request_shape = { .kind = SHAPE_STRUCTURE,
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

static void run(struct api_call *call, const void *input)
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
                                                 .request = &request_shape,
                                                 .asks = OPERATION_ASKS_ACCOUNT,
                                                 .run = run };
