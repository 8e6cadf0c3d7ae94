/* op_assume_role.c -- STS's AssumeRole, which deployment tools call before anything else.
 *
 * Without `auth` any credentials are as good as any others, so a role's are made up. With `auth`
 * there are no roles: the call is refused, and the tools continue with the credentials they have.
 */
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "json/writer.h"

enum { DURATION_DEFAULT_S = 3600 };

struct assume_role_request {
    struct bytes role_arn;
    struct bytes session_name;
    struct shape_integer duration_s;
};

static const struct shape arn_shape = { .kind = SHAPE_STRING, .min = 20, .max = 2048 };
static const struct shape name_shape = { .kind = SHAPE_STRING, .min = 2, .max = 64 };
static const struct shape duration_shape = { .kind = SHAPE_INTEGER, .min = 900, .max = 43200 };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct assume_role_request, role_arn, "RoleArn", &arn_shape), .required = true },
    { SHAPE_FIELD(struct assume_role_request, session_name, "RoleSessionName", &name_shape),
      .required = true },
    { SHAPE_FIELD(struct assume_role_request, duration_s, "DurationSeconds", &duration_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct assume_role_request, fields),
                                            .type_name = "AssumeRoleRequest" };

static bool admits(struct api_call *call, const void *input)
{
    const struct assume_role_request *request = input;
    return operation_may_use_arn(call, request->role_arn);
}

/* "role/NAME" of a role's ARN; empty if it has another form. */
static struct bytes role_name(struct bytes arn)
{
    const uint8_t *slash = memrchr(arn.data, '/', arn.len);
    return slash == NULL ? BYTES("role")
                         : bytes_of(slash + 1, (size_t)(arn.data + arn.len - slash - 1));
}

static void write_credentials(struct api_call *call, struct json_writer *json,
                              const struct assume_role_request *request)
{
    int64_t duration_s =
        request->duration_s.present ? request->duration_s.value : DURATION_DEFAULT_S;
    struct bytes random = uuid_create(call->arena);
    json_write_name(json, "Credentials");
    json_open_object(json);
    json_write_name(json, "AccessKeyId");
    json_write_text(json, "ASIAIOSFODNN7EXAMPLE");
    json_write_name(json, "SecretAccessKey");
    json_write_string(json, random);
    json_write_name(json, "SessionToken");
    json_write_string(json, random);
    json_write_name(json, "Expiration");
    json_write_seconds(json, clock_wall_ms(api_options(call->api)->clock) / 1000 * 1000 +
                                 duration_s * 1000);
    json_close_object(json);
}

static void run(struct api_call *call, const void *input)
{
    const struct assume_role_request *request = input;
    struct json_writer json;
    if (call->caller != NULL) {
        error_validation(&call->error, "stator has no roles: use the credentials of a key");
        operation_fail(call);
        return;
    }
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_credentials(call, &json, request);
    json_write_name(&json, "AssumedRoleUser");
    json_open_object(&json);
    json_write_name(&json, "AssumedRoleId");
    json_write_string(&json, arena_printf(call->arena, "AROAIOSFODNN7EXAMPLE1:%.*s",
                                          BYTES_FMT(request->session_name)));
    struct bytes role = role_name(request->role_arn);
    json_write_name(&json, "Arn");
    json_write_string(&json, arena_printf(call->arena, "arn:aws:sts::%s:assumed-role/%.*s/%.*s",
                                          api_options(call->api)->account_id, BYTES_FMT(role),
                                          BYTES_FMT(request->session_name)));
    json_close_object(&json);
    json_close_object(&json);
    operation_succeed(call);
}

const struct operation op_assume_role = { .name = "AssumeRole",
                                          .service = OPERATION_OF_STS,
                                          .request = &request_shape,
                                          .asks = OPERATION_ASKS_ITSELF,
                                          .admits = admits,
                                          .run = run };
