/* op_get_resource_policy.c -- GetResourcePolicy. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/resource_policy.h"
#include "api/table/table_operation.h"
#include "table/catalogue.h"

struct get_resource_policy_request {
    struct bytes resource_arn;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct get_resource_policy_request, resource_arn, "ResourceArn",
                  &resource_policy_arn_shape),
      .required = true },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct get_resource_policy_request, fields),
    .type_name = "GetResourcePolicyInput",
};

static bool get(struct api_call *call, const struct policy_resource *resource)
{
    if (resource->policy->text.data == NULL)
        return resource_policy_refuse(call, resource);
    resource_policy_answer(call, resource->policy,
                           resource_policy_revision(call, resource->policy));
    return true;
}

static void run(struct api_call *call, const void *input)
{
    const struct get_resource_policy_request *request = input;
    struct table *table;
    struct policy_resource resource;
    bool ok = resource_policy_find(call, request->resource_arn, &table, &resource) &&
              get(call, &resource);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_get_resource_policy = { .name = "GetResourcePolicy",
                                                  .kind = OPERATION_DATA,
                                                  .request = &request_shape,
                                                  .asks = OPERATION_ASKS_RESOURCE,
                                                  .run = run };
