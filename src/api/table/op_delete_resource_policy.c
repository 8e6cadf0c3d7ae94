/* op_delete_resource_policy.c -- DeleteResourcePolicy. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/resource_policy.h"
#include "api/table/table_operation.h"
#include "table/catalogue.h"

struct delete_resource_policy_request {
    struct bytes resource_arn;
    struct bytes expected_revision_id;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct delete_resource_policy_request, resource_arn, "ResourceArn",
                  &resource_policy_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct delete_resource_policy_request, expected_revision_id, "ExpectedRevisionId",
                  &resource_policy_revision_shape) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct delete_resource_policy_request, fields),
    .type_name = "DeleteResourcePolicyInput",
};

static bool remove_policy(struct api_call *call, struct bytes expected,
                          struct policy_resource *resource)
{
    struct resource_policy *policy = resource->policy;
    if (!table_operation_check_idle(call, &resource->definition) ||
        !resource_policy_expect(call, resource, expected))
        return false;
    if (policy->text.data == NULL) { /* No error, and no revision to tell of. */
        resource_policy_answer(call, NULL, (struct bytes){ 0 });
        return true;
    }
    resource_policy_answer(call, NULL, resource_policy_revision(call, policy));
    policy->text = (struct bytes){ 0 }; /* The revision stays, so that it is not given again. */
    return table_operation_store(call, &resource->definition, "DeleteResourcePolicy");
}

static void run(struct api_call *call, const void *input)
{
    const struct delete_resource_policy_request *request = input;
    struct table *table;
    struct policy_resource resource;
    bool ok = resource_policy_find(call, request->resource_arn, &table, &resource) &&
              remove_policy(call, request->expected_revision_id, &resource);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_delete_resource_policy = { .name = "DeleteResourcePolicy",
                                                     .kind = OPERATION_CONTROL,
                                                     .request = &request_shape,
                                                     .asks = OPERATION_ASKS_RESOURCE,
                                                     .run = run };
