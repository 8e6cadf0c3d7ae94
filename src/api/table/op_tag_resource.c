/* op_tag_resource.c -- TagResource. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/table/table_shapes.h"
#include "api/table/tag_operation.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

struct tag_resource_request {
    struct bytes resource_arn;
    struct shape_list tags; /* of struct tag_request * */
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct tag_resource_request, resource_arn, "ResourceArn",
                  &tag_operation_arn_shape) },
    { SHAPE_FIELD(struct tag_resource_request, tags, "Tags", &tag_list_shape) },
};
static const struct shape request_shape = { SHAPE_STRUCTURE_OF(struct tag_resource_request, fields),
                                            .type_name = "TagResourceInput" };

static bool check(struct api_call *call, const struct tag_resource_request *request)
{
    if (!tag_operation_check(call, request->resource_arn))
        return false;
    if (request->tags.count == 0)
        return error_validation(&call->error, "Atleast one Tag needs to be provided as Input.");
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct tag_resource_request *request = input;
    struct table *table = NULL;
    struct table_definition changed;
    bool ok =
        check(call, request) && (table = tag_operation_find(call, request->resource_arn)) != NULL;
    if (ok) {
        changed = *table_definition(table);
        ok = setting_rules_add_tags(call->arena, &request->tags, &changed, &call->error);
    }
    if (ok)
        tag_operation_store(call, &changed);
    else
        operation_fail(call);
    table_release(table);
}

const struct operation op_tag_resource = { .name = "TagResource",
                                           .kind = OPERATION_CONTROL,
                                           .request = &request_shape,
                                           .asks = OPERATION_ASKS_RESOURCE,
                                           .run = run };
