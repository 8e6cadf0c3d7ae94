/* op_get_parameter.c -- Systems Manager's GetParameter, of the CDK's bootstrap version.
 *
 * A deployment asks whether its account was bootstrapped, i.e. has a bucket, roles and repositories
 * of a certain version. What is needed of them is always here, so the version is a constant.
 */
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/parameter/bootstrap_version.h"
#include "base/arena.h"
#include "json/writer.h"

struct get_parameter_request {
    struct bytes name;
};

static const struct shape name_shape = { .kind = SHAPE_STRING, .min = 1, .max = 2048 };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_parameter_request, name, "Name", &name_shape), .required = true },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct get_parameter_request, fields), .type_name = "GetParameterRequest"
};

/* "/cdk-bootstrap/QUALIFIER/version" */
bool bootstrap_version_is_name(struct bytes name)
{
    static const struct bytes start = BYTES("/cdk-bootstrap/");
    static const struct bytes end = BYTES("/version");
    if (!bytes_starts_with(name, start) || name.len <= start.len + end.len)
        return false;
    struct bytes qualifier = bytes_of(name.data + start.len, name.len - start.len - end.len);
    return memchr(qualifier.data, '/', qualifier.len) == NULL &&
           memcmp(name.data + name.len - end.len, end.data, end.len) == 0;
}

static struct bytes arn_of(struct api_call *call, struct bytes name)
{
    const struct api_options *options = api_options(call->api);
    bool has_slash = name.len > 0 && name.data[0] == '/';
    return arena_printf(call->arena, "arn:aws:ssm:%s:%s:parameter%s%.*s", options->region,
                        options->account_id, has_slash ? "" : "/", BYTES_FMT(name));
}

static bool admits(struct api_call *call, const void *input)
{
    const struct get_parameter_request *request = input;
    return operation_may_use_arn(call, arn_of(call, request->name));
}

static void run(struct api_call *call, const void *input)
{
    const struct get_parameter_request *request = input;
    struct json_writer json;
    if (!bootstrap_version_is_name(request->name)) {
        error_set(&call->error, ERROR_SSM_PARAMETER_NOT_FOUND, "Parameter %.*s not found.",
                  BYTES_FMT(request->name));
        operation_fail(call);
        return;
    }
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Parameter");
    json_open_object(&json);
    json_write_name(&json, "Name");
    json_write_string(&json, request->name);
    json_write_name(&json, "Type");
    json_write_text(&json, "String");
    json_write_name(&json, "Value");
    json_write_text(&json, BOOTSTRAP_VERSION);
    json_write_name(&json, "Version");
    json_write_integer(&json, 1);
    json_write_name(&json, "ARN");
    json_write_string(&json, arn_of(call, request->name));
    json_write_name(&json, "DataType");
    json_write_text(&json, "text");
    json_close_object(&json);
    json_close_object(&json);
    operation_succeed(call);
}

const struct operation op_ssm_get_parameter = { .name = "GetParameter",
                                                .service = OPERATION_OF_SSM,
                                                .request = &request_shape,
                                                .asks = OPERATION_ASKS_ITSELF,
                                                .admits = admits,
                                                .run = run };
