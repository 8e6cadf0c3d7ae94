/* op_dashboards.c -- PutDashboard, GetDashboard, ListDashboards and DeleteDashboards. */
#include "api/cloudwatch/alarm_request.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/dashboards.h"
#include "json/writer.h"

enum { PAGE_MAX = 1000, NAMES_MAX = 100 };

static bool check_name(struct api_call *call, struct bytes name)
{
    if (dashboard_is_name(name))
        return true;
    if (name.len == 0 || name.len > DASHBOARD_NAME_SIZE_MAX)
        return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE,
                         "The field DashboardName must have 1 to %d characters.",
                         DASHBOARD_NAME_SIZE_MAX);
    return error_set(&call->error, ERROR_CW_INVALID_PARAMETER_VALUE,
                     "The value %.*s for field DashboardName contains invalid characters. It can "
                     "only contain alphanumerics, dash (-) and underscore (_).\n",
                     BYTES_FMT(name));
}

static bool not_found(struct api_call *call, struct bytes name)
{
    return error_set(&call->error, ERROR_CW_RESOURCE_NOT_FOUND, "Dashboard %.*s does not exist",
                     BYTES_FMT(name));
}

/* --- PutDashboard --- */

struct put_request {
    struct bytes name;
    struct bytes body;
    struct shape_list tags; /* of struct alarm_tag * */
};
static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_request, name, "DashboardName", &alarm_request_string),
      .required = true },
    { SHAPE_FIELD(struct put_request, body, "DashboardBody", &alarm_request_string),
      .required = true },
    { SHAPE_FIELD(struct put_request, tags, "Tags", &alarm_tags_shape) },
};
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct put_request, put_fields),
                                        .type_name = "PutDashboardInput" };

static bool admits_put(struct api_call *call, const void *input)
{
    const struct put_request *request = input;
    struct bytes arn = alarm_request_dashboard_arn(call, request->name);
    return alarm_request_may_do(call, "PutDashboard", arn) &&
           (request->tags.count == 0 || alarm_request_may_do(call, "TagResource", arn));
}

/* The exception's own list of what is wrong. */
static struct bytes messages_json(struct arena *arena, const struct dashboard_messages *messages)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, arena);
    json_writer_init(&json, &text);
    json_open_object(&json);
    json_write_name(&json, "dashboardValidationMessages");
    json_open_array(&json);
    for (size_t i = 0; i < messages->count; i++) {
        json_open_object(&json);
        json_write_name(&json, "DataPath");
        json_write_string(&json, messages->list[i].path);
        json_write_name(&json, "Message");
        json_write_string(&json, messages->list[i].message);
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    return buffer_bytes(&text);
}

static bool refuse_body(struct api_call *call, const struct dashboard_messages *messages)
{
    struct buffer text;
    buffer_init(&text, call->arena);
    buffer_append_bytes(&text, arena_printf(call->arena,
                                            "The dashboard body is invalid, there are %zu "
                                            "validation errors:\n[\n",
                                            messages->count));
    for (size_t i = 0; i < messages->count; i++) {
        struct json_writer json;
        buffer_append_bytes(&text, BYTES("  {\n    \"dataPath\": "));
        json_writer_init(&json, &text);
        json_write_string(&json, messages->list[i].path);
        buffer_append_bytes(&text, BYTES(",\n    \"message\": "));
        json_writer_init(&json, &text);
        json_write_string(&json, messages->list[i].message);
        buffer_append_bytes(&text, i + 1 < messages->count ? BYTES("\n  },\n") : BYTES("\n  }\n"));
    }
    buffer_append_bytes(&text, BYTES("]"));
    call->error.members_json = messages_json(call->arena, messages);
    return error_set_bytes(&call->error, ERROR_CW_DASHBOARD_INVALID, buffer_bytes(&text));
}

static bool put(struct api_call *call, const struct put_request *request)
{
    struct dashboard_messages messages;
    if (!check_name(call, request->name) || !alarm_tags_check(&request->tags, &call->error))
        return false;
    if (request->body.len > DASHBOARD_BODY_SIZE_MAX)
        return error_set(&call->error, ERROR_CW_DASHBOARD_INVALID,
                         "The field DashboardBody must have at most %d bytes.",
                         DASHBOARD_BODY_SIZE_MAX);
    if (!dashboard_check_body(call->arena, request->body, &messages))
        return refuse_body(call, &messages);
    enum engine_status status =
        dashboards_put(api_dashboards(call->api), call->arena, request->name, request->body,
                       request->tags.present ? &request->tags : NULL);
    if (status == ENGINE_TOO_LARGE)
        return error_set(&call->error, ERROR_CW_LIMIT_EXCEEDED,
                         "There is no room for more dashboards: delete some, or raise "
                         "dashboards-max");
    if (status != ENGINE_OK)
        return alarm_request_failed(call, status);
    buffer_append_bytes(&call->response, BYTES("{\"DashboardValidationMessages\":[]}"));
    return true;
}

static void run_put(struct api_call *call, const void *input)
{
    operation_end(call, put(call, input));
}

const struct operation op_put_dashboard = { .name = "PutDashboard",
                                            .service = OPERATION_OF_CLOUDWATCH,
                                            .kind = OPERATION_DATA,
                                            .request = &put_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits_put,
                                            .waits = OPERATION_WAITS,
                                            .is_audited = true,
                                            .run = run_put };

/* --- GetDashboard --- */

struct get_request {
    struct bytes name;
};
static const struct shape_field get_fields[] = {
    { SHAPE_FIELD(struct get_request, name, "DashboardName", &alarm_request_string),
      .required = true },
};
static const struct shape get_shape = { SHAPE_STRUCTURE_OF(struct get_request, get_fields),
                                        .type_name = "GetDashboardInput" };

static bool admits_get(struct api_call *call, const void *input)
{
    const struct get_request *request = input;
    return operation_may_use_arn(call, alarm_request_dashboard_arn(call, request->name));
}

static bool get(struct api_call *call, const struct get_request *request)
{
    struct dashboard dashboard;
    struct json_writer json;
    if (!check_name(call, request->name))
        return false;
    enum engine_status status =
        dashboards_get(api_dashboards(call->api), call->arena, request->name, &dashboard);
    if (status == ENGINE_NOT_FOUND)
        return not_found(call, request->name);
    if (status != ENGINE_OK)
        return alarm_request_failed(call, status);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "DashboardArn");
    json_write_string(&json, alarm_request_dashboard_arn(call, request->name));
    json_write_name(&json, "DashboardBody");
    json_write_string(&json, dashboard.body);
    json_write_name(&json, "DashboardName");
    json_write_string(&json, request->name);
    json_close_object(&json);
    return true;
}

static void run_get(struct api_call *call, const void *input)
{
    operation_end(call, get(call, input));
}

const struct operation op_get_dashboard = { .name = "GetDashboard",
                                            .service = OPERATION_OF_CLOUDWATCH,
                                            .kind = OPERATION_DATA,
                                            .request = &get_shape,
                                            .asks = OPERATION_ASKS_ITSELF,
                                            .admits = admits_get,
                                            .waits = OPERATION_WAITS,
                                            .run = run_get };

/* --- ListDashboards --- */

struct list_request {
    struct bytes prefix;
    struct bytes next_token;
};
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_request, prefix, "DashboardNamePrefix", &alarm_request_string) },
    { SHAPE_FIELD(struct list_request, next_token, "NextToken", &alarm_request_string) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct list_request, list_fields),
                                         .type_name = "ListDashboardsInput" };

static void write_entry(struct api_call *call, struct json_writer *json,
                        const struct dashboard_summary *summary)
{
    json_open_object(json);
    json_write_name(json, "DashboardName");
    json_write_string(json, summary->name);
    json_write_name(json, "DashboardArn");
    json_write_string(json, alarm_request_dashboard_arn(call, summary->name));
    json_write_name(json, "LastModified");
    json_write_seconds(json, summary->modified_ms);
    json_write_name(json, "Size");
    json_write_integer(json, (int64_t)summary->size);
    json_close_object(json);
}

static bool list(struct api_call *call, const struct list_request *request)
{
    struct dashboard_summary summary;
    struct bytes after;
    struct json_writer json;
    size_t count = 0;
    bool more = false;
    if (!alarm_request_read_token(call, request->next_token, &after))
        return false;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "DashboardEntries");
    json_open_array(&json);
    while (dashboards_next(api_dashboards(call->api), call->arena, after, &summary)) {
        bool matches =
            request->prefix.data == NULL || bytes_starts_with(summary.name, request->prefix);
        more = matches && count == PAGE_MAX;
        if (more)
            break;
        if (matches) {
            write_entry(call, &json, &summary);
            count++;
        }
        after = summary.name;
    }
    json_close_array(&json);
    if (more) {
        json_write_name(&json, "NextToken");
        json_write_string(&json, alarm_request_token(call, after));
    }
    json_close_object(&json);
    return true;
}

static void run_list(struct api_call *call, const void *input)
{
    operation_end(call, list(call, input));
}

const struct operation op_list_dashboards = { .name = "ListDashboards",
                                              .service = OPERATION_OF_CLOUDWATCH,
                                              .kind = OPERATION_DATA,
                                              .request = &list_shape,
                                              .asks = OPERATION_ASKS_ACCOUNT,
                                              .waits = OPERATION_WAITS,
                                              .run = run_list };

/* --- DeleteDashboards --- */

struct delete_request {
    struct shape_list names; /* of struct bytes */
};
static const struct shape delete_names_shape = {
    .kind = SHAPE_LIST, .element = &alarm_request_string, .min = 1, .max = NAMES_MAX
};
static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct delete_request, names, "DashboardNames", &delete_names_shape),
      .required = true },
};
static const struct shape delete_shape = { SHAPE_STRUCTURE_OF(struct delete_request, delete_fields),
                                           .type_name = "DeleteDashboardsInput" };

static bool admits_delete(struct api_call *call, const void *input)
{
    const struct delete_request *request = input;
    const struct bytes *names = request->names.elements;
    for (size_t i = 0; i < request->names.kept; i++)
        if (!operation_may_use_arn(call, alarm_request_dashboard_arn(call, names[i])))
            return false;
    return true;
}

static bool delete_dashboards(struct api_call *call, const struct delete_request *request)
{
    const struct bytes *names = request->names.elements;
    size_t missing;
    for (size_t i = 0; i < request->names.kept; i++)
        if (!check_name(call, names[i]))
            return false;
    enum engine_status status = dashboards_delete(api_dashboards(call->api), call->arena, names,
                                                  request->names.kept, &missing);
    if (status == ENGINE_NOT_FOUND)
        return not_found(call, names[missing]);
    if (status != ENGINE_OK)
        return alarm_request_failed(call, status);
    alarm_request_answer_nothing(call);
    return true;
}

static void run_delete(struct api_call *call, const void *input)
{
    operation_end(call, delete_dashboards(call, input));
}

const struct operation op_delete_dashboards = { .name = "DeleteDashboards",
                                                .service = OPERATION_OF_CLOUDWATCH,
                                                .kind = OPERATION_DATA,
                                                .request = &delete_shape,
                                                .asks = OPERATION_ASKS_ITSELF,
                                                .admits = admits_delete,
                                                .waits = OPERATION_WAITS,
                                                .is_audited = true,
                                                .run = run_delete };
