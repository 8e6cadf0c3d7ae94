/* op_tags.c -- TagResource, UntagResource and ListTagsOfResource. Only tables have tags. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "api/table/table_shapes.h"
#include "json/writer.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* Required, but the service has words of its own for a missing one: see check_arn. */
static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = SHAPE_NO_MIN,
                                        .max = RESOURCE_ARN_SIZE_MAX };

static bool refuse_account(struct api_call *call)
{
    return error_set(&call->error, ERROR_ACCESS_DENIED, "Access is denied");
}

/* False with the error set unless the ARN is a table's or a stream's. */
static bool check_arn(struct api_call *call, struct bytes arn)
{
    if (arn.len == 0)
        return error_validation(&call->error, "Invalid TableArn");
    return table_operation_check_arn(
        call, arn, "Invalid TableArn: Invalid ResourceArn provided as input ", refuse_account);
}

/* The table of a checked ARN. NULL with the error set, also for streams, which have no tags. */
static struct table *find_table(struct api_call *call, struct bytes arn)
{
    struct table *table = table_name_is_arn(arn) ? operation_find_table(call, arn) : NULL;
    if (table == NULL)
        error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                  "Requested resource not found: ResourceArn: %.*s not found", BYTES_FMT(arn));
    return table;
}

/* Observed: the tags of a table that is CREATING can be removed, but none can be added. */
static bool check_state(struct api_call *call, const struct table_definition *definition, bool adds)
{
    bool refused =
        definition->status == TABLE_DELETING || (adds && definition->status == TABLE_CREATING);
    return !refused || table_operation_check_idle(call, definition);
}

static void store_tags(struct api_call *call, struct table_definition *changed)
{
    /* The answer has an empty body, as the service's. */
    operation_end(call, table_operation_store(call, changed, "table tags"));
}

/* --- TagResource --- */

struct tag_resource_request {
    struct bytes resource_arn;
    struct shape_list tags; /* of struct tag_request * */
};

static const struct shape_field tag_fields[] = {
    { SHAPE_FIELD(struct tag_resource_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct tag_resource_request, tags, "Tags", &tag_list_shape) },
};
static const struct shape tag_shape = { SHAPE_STRUCTURE_OF(struct tag_resource_request, tag_fields),
                                        .type_name = "TagResourceInput" };

static bool check_tag(struct api_call *call, const struct tag_resource_request *request)
{
    if (!check_arn(call, request->resource_arn))
        return false;
    if (request->tags.count == 0)
        return error_validation(&call->error, "Atleast one Tag needs to be provided as Input.");
    return setting_rules_check_tags(&request->tags, &call->error);
}

static void run_tag(struct api_call *call, const void *input)
{
    const struct tag_resource_request *request = input;
    struct table *table = NULL;
    struct table_definition changed;
    bool ok = check_tag(call, request) && (table = find_table(call, request->resource_arn)) != NULL;
    if (ok) {
        changed = *table_definition(table);
        ok = check_state(call, &changed, true) &&
             setting_rules_add_tags(call->arena, &request->tags, &changed, &call->error);
    }
    if (ok)
        store_tags(call, &changed);
    else
        operation_fail(call);
}

const struct operation op_tag_resource = { .name = "TagResource",
                                           .kind = OPERATION_CONTROL,
                                           .request = &tag_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run_tag };

/* --- UntagResource --- */

struct untag_resource_request {
    struct bytes resource_arn;
    struct shape_list tag_keys; /* of struct bytes */
};

static const struct shape tag_keys_shape = { .kind = SHAPE_LIST,
                                             .element = &common_string,
                                             SHAPE_UNBOUNDED };
static const struct shape_field untag_fields[] = {
    { SHAPE_FIELD(struct untag_resource_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct untag_resource_request, tag_keys, "TagKeys", &tag_keys_shape) },
};
static const struct shape untag_shape = { SHAPE_STRUCTURE_OF(struct untag_resource_request,
                                                             untag_fields),
                                          .type_name = "UntagResourceInput" };

static bool check_untag(struct api_call *call, const struct untag_resource_request *request)
{
    if (!check_arn(call, request->resource_arn))
        return false;
    if (request->tag_keys.count == 0)
        return error_validation(&call->error, "Atleast one Tag Key needs to be provided as Input.");
    return setting_rules_check_tag_keys(&request->tag_keys, &call->error);
}

static void run_untag(struct api_call *call, const void *input)
{
    const struct untag_resource_request *request = input;
    struct table *table = NULL;
    if (check_untag(call, request)) {
        table = table_name_is_arn(request->resource_arn)
                    ? operation_find_table(call, request->resource_arn)
                    : NULL;
        if (table == NULL) /* Observed: without the ARN, which the others show. */
            error_set(&call->error, ERROR_RESOURCE_NOT_FOUND, "Requested resource not found");
    }
    if (table == NULL) {
        operation_fail(call);
        return;
    }
    struct table_definition changed = *table_definition(table);
    if (!check_state(call, &changed, false)) {
        operation_fail(call);
        return;
    }
    setting_rules_remove_tags(call->arena, &request->tag_keys, &changed);
    store_tags(call, &changed);
}

const struct operation op_untag_resource = { .name = "UntagResource",
                                             .kind = OPERATION_CONTROL,
                                             .request = &untag_shape,
                                             .asks = OPERATION_ASKS_RESOURCE,
                                             .run = run_untag };

/* --- ListTagsOfResource --- */

struct list_tags_request {
    struct bytes resource_arn;
    struct bytes next_token;
};

static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_tags_request, resource_arn, "ResourceArn", &arn_shape) },
    { SHAPE_FIELD(struct list_tags_request, next_token, "NextToken", &common_string) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct list_tags_request, list_fields),
                                         .type_name = "ListTagsOfResourceInput" };

static void answer(struct api_call *call, const struct table_definition *definition)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    json_write_name(&writer, "Tags");
    json_open_array(&writer);
    for (size_t i = 0; i < definition->tag_count; i++) {
        json_open_object(&writer);
        json_write_name(&writer, "Key");
        json_write_string(&writer, definition->tags[i].key);
        json_write_name(&writer, "Value");
        json_write_string(&writer, definition->tags[i].value);
        json_close_object(&writer);
    }
    json_close_array(&writer);
    json_close_object(&writer);
}

static void run_list(struct api_call *call, const void *input)
{
    const struct list_tags_request *request = input;
    struct table *table = NULL;
    if (check_arn(call, request->resource_arn)) /* Observed: any NextToken is ignored. */
        table = find_table(call, request->resource_arn);
    if (table == NULL) {
        operation_fail(call);
        return;
    }
    answer(call, table_definition(table));
    operation_succeed(call);
}

const struct operation op_list_tags_of_resource = { .name = "ListTagsOfResource",
                                                    .kind = OPERATION_DATA,
                                                    .request = &list_shape,
                                                    .asks = OPERATION_ASKS_RESOURCE,
                                                    .run = run_list };
