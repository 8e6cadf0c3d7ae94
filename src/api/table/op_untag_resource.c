/* op_untag_resource.c -- UntagResource. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/table/table_shapes.h"
#include "api/table/tag_operation.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

struct untag_resource_request {
    struct bytes resource_arn;
    struct shape_list tag_keys; /* of struct bytes */
};

static const struct shape tag_keys_shape = { .kind = SHAPE_LIST,
                                             .element = &tag_key_shape,
                                             SHAPE_UNBOUNDED };
static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct untag_resource_request, resource_arn, "ResourceArn",
                  &tag_operation_arn_shape) },
    { SHAPE_FIELD(struct untag_resource_request, tag_keys, "TagKeys", &tag_keys_shape) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct untag_resource_request, fields), .type_name = "UntagResourceInput"
};

static bool check(struct api_call *call, const struct untag_resource_request *request)
{
    if (!tag_operation_check(call, request->resource_arn))
        return false;
    if (request->tag_keys.count == 0)
        return error_validation(&call->error, "Atleast one Tag Key needs to be provided as Input.");
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct untag_resource_request *request = input;
    struct table *table = NULL;
    if (check(call, request))
        table = tag_operation_find(call, request->resource_arn);
    if (table == NULL) {
        operation_fail(call);
        return;
    }
    struct table_definition changed = *table_definition(table);
    setting_rules_remove_tags(call->arena, &request->tag_keys, &changed);
    tag_operation_store(call, &changed);
    table_release(table);
}

const struct operation op_untag_resource = { .name = "UntagResource",
                                             .kind = OPERATION_CONTROL,
                                             .request = &request_shape,
                                             .asks = OPERATION_ASKS_RESOURCE,
                                             .run = run };
