/* op_put_resource_policy.c -- PutResourcePolicy. */
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/resource_policy.h"
#include "api/table/table_operation.h"
#include "base/clock.h"
#include "table/catalogue.h"

struct put_resource_policy_request {
    struct bytes resource_arn;
    struct bytes policy;
    struct bytes expected_revision_id;
    /* Confirms that the caller shuts itself out, which it is let do in any case. */
    struct shape_boolean confirm_remove_self_resource_access;
};

static const struct shape_field fields[] = {
    { SHAPE_FIELD(struct put_resource_policy_request, resource_arn, "ResourceArn",
                  &resource_policy_arn_shape),
      .required = true },
    { SHAPE_FIELD(struct put_resource_policy_request, policy, "Policy", &common_string),
      .required = true },
    { SHAPE_FIELD(struct put_resource_policy_request, expected_revision_id, "ExpectedRevisionId",
                  &resource_policy_revision_shape) },
    { SHAPE_FIELD(struct put_resource_policy_request, confirm_remove_self_resource_access,
                  "ConfirmRemoveSelfResourceAccess", &common_boolean) },
};
static const struct shape request_shape = {
    SHAPE_STRUCTURE_OF(struct put_resource_policy_request, fields),
    .type_name = "PutResourcePolicyInput",
};

/* "To conditionally attach a policy when no policy exists for the resource, specify NO_POLICY." */
static bool check_revision(struct api_call *call, const struct policy_resource *resource,
                           struct bytes expected)
{
    if (bytes_equal_text(expected, "NO_POLICY"))
        return resource->policy->text.data == NULL || resource_policy_refuse(call, resource);
    return resource_policy_expect(call, resource, expected);
}

/* Revisions are times, as the service's; one is never given twice, even if the clock goes back. */
static int64_t next_revision(const struct resource_policy *policy, int64_t now_ms)
{
    return now_ms > policy->revision ? now_ms : policy->revision + 1;
}

static bool put(struct api_call *call, const struct put_resource_policy_request *request,
                struct policy_resource *resource)
{
    struct resource_policy *policy = resource->policy;
    if (!table_operation_check_idle(call, &resource->definition) ||
        !check_revision(call, resource, request->expected_revision_id))
        return false;
    /* "... using the same policy document will return the same revision ID." */
    bool same = policy->text.data != NULL && bytes_equal(policy->text, request->policy);
    if (!same) {
        policy->revision = next_revision(policy, clock_wall_ms(api_options(call->api)->clock));
        policy->text = request->policy;
    }
    resource_policy_answer(call, NULL, resource_policy_revision(call, policy));
    return same || table_operation_store(call, &resource->definition, "PutResourcePolicy");
}

static void run(struct api_call *call, const void *input)
{
    const struct put_resource_policy_request *request = input;
    struct table *table = NULL;
    struct policy_resource resource;
    bool ok = resource_policy_check(call->arena, request->policy, &call->error) &&
              resource_policy_find(call, request->resource_arn, &table, &resource) &&
              resource_policy_check_meaning(call->arena, request->policy, &call->error) &&
              put(call, request, &resource);
    table_release(table);
    operation_end(call, ok);
}

const struct operation op_put_resource_policy = { .name = "PutResourcePolicy",
                                                  .kind = OPERATION_CONTROL,
                                                  .request = &request_shape,
                                                  .asks = OPERATION_ASKS_RESOURCE,
                                                  .run = run };
