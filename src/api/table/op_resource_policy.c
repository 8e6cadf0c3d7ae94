/* op_resource_policy.c -- GetResourcePolicy, PutResourcePolicy and DeleteResourcePolicy.
 *
 * A policy is stored as it was given, as part of the table's definition. So is that of the table's
 * latest stream, which the stream's own record holds as well: it outlives the definition.
 */
#include <inttypes.h>
#include "access/access.h"
#include "api/common_shapes.h"
#include "api/operation.h"
#include "api/table/setting_rules.h"
#include "api/table/table_name.h"
#include "api/table/table_operation.h"
#include "auth/caller.h"
#include "auth/policy.h"
#include "auth/policy_document.h"
#include "base/arena.h"
#include "base/clock.h"
#include "control/control.h"
#include "json/writer.h"
#include "model/limits.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

enum { REVISION_SIZE_MAX = 255 };

static const struct shape arn_shape = { .kind = SHAPE_STRING,
                                        .min = 1,
                                        .max = RESOURCE_ARN_SIZE_MAX };
static const struct shape revision_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = REVISION_SIZE_MAX };

/* --- The table or stream of a request --- */

struct policy_resource {
    struct bytes arn;
    struct bytes label;                 /* Of a stream; data NULL: it is a table. */
    struct table_definition definition; /* A copy that may be changed and stored. */
    struct resource_policy *policy;     /* Within the copy. */
};

static bool find_stream(struct api_call *call, struct bytes label, struct policy_resource *resource)
{
    struct table_definition *definition = &resource->definition;
    if (definition->stream_label.data == NULL || !bytes_equal(definition->stream_label, label))
        return error_set(&call->error, ERROR_RESOURCE_NOT_FOUND,
                         "Requested resource not found: Stream: %.*s not found for Table: %.*s",
                         BYTES_FMT(label), BYTES_FMT(definition->name));
    resource->policy = &definition->stream_policy;
    if (!bytes_equal(definition->stream_policy_label, label)) {
        definition->stream_policy = (struct resource_policy){ 0 }; /* It was an earlier stream's. */
        definition->stream_policy_label = definition->stream_label;
    }
    return true;
}

static bool refuse_account(struct api_call *call)
{
    return error_validation(&call->error, "This action is only supported by accounts that match "
                                          "the resource owner\u2019s account.");
}

/* False with the error set if the ARN is no table's or stream's of ours. */
static bool check_arn(struct api_call *call, struct bytes arn)
{
    return table_operation_check_arn(
        call, arn,
        "One or more parameter values were invalid: Invalid resource Arn: ", refuse_account);
}

/* False with the error set if there is no resource of an ARN that passed. */
static bool find_resource(struct api_call *call, struct bytes arn, struct policy_resource *resource)
{
    struct bytes table_arn = arn;
    struct bytes label = { 0 };
    bool of_stream = table_name_split_stream_arn(arn, &table_arn, &label);
    const struct table *table = table_operation_find(call, table_arn);
    if (table == NULL)
        return false;
    *resource = (struct policy_resource){ .arn = arn,
                                          .label = label,
                                          .definition = *table_definition(table) };
    resource->policy = &resource->definition.resource_policy;
    return !of_stream || find_stream(call, label, resource);
}

/* Observed: policies can be changed while a table is UPDATING. */
static bool check_state(struct api_call *call, const struct policy_resource *resource)
{
    return resource->definition.status == TABLE_UPDATING ||
           table_operation_check_idle(call, &resource->definition);
}

/* RevisionId, in the call's arena. */
static struct bytes revision_of(struct api_call *call, const struct resource_policy *policy)
{
    return arena_printf(call->arena, "%" PRId64, policy->revision);
}

#define POLICY_NOT_FOUND "Resource-based policy not found for the provided ResourceArn: "

/* Sets PolicyNotFoundException and returns false. */
static bool refuse_missing(struct api_call *call, const struct policy_resource *resource)
{
    return error_set(&call->error, ERROR_POLICY_NOT_FOUND, POLICY_NOT_FOUND "%.*s",
                     BYTES_FMT(resource->arn));
}

/* ExpectedRevisionId (data NULL: anything): false with PolicyNotFoundException set unless the
 * resource has a policy of that revision. */
static bool check_expected(struct api_call *call, const struct policy_resource *resource,
                           struct bytes expected)
{
    if (expected.data == NULL)
        return true;
    if (resource->policy->text.data == NULL)
        return error_set(&call->error, ERROR_POLICY_NOT_FOUND,
                         POLICY_NOT_FOUND "Requested update for policy with revision id %.*s, but "
                                          "table %.*s has no associated policy.",
                         BYTES_FMT(expected), BYTES_FMT(resource->definition.name));
    struct bytes revision = revision_of(call, resource->policy);
    return bytes_equal(expected, revision) ||
           error_set(&call->error, ERROR_POLICY_NOT_FOUND,
                     POLICY_NOT_FOUND "Requested update for policy with revision id %.*s, but the "
                                      "policy associated to target table %.*s has revision id "
                                      "%.*s.",
                     BYTES_FMT(expected), BYTES_FMT(resource->definition.name),
                     BYTES_FMT(revision));
}

/* Copies the policy of a stream to the stream's own record, before a later operation can remove it
 * from the definition. */
static bool keep_in_stream(struct api_call *call, const struct policy_resource *resource,
                           const char *operation)
{
    if (resource->label.data == NULL)
        return true;
    enum engine_status status = control_keep_policies(api_control(call->api), call->arena);
    return status == ENGINE_OK || storage_error_set_for_table(&call->error, status, operation);
}

static bool store(struct api_call *call, struct policy_resource *resource, const char *operation)
{
    return table_operation_store(call, &resource->definition, operation) &&
           keep_in_stream(call, resource, operation);
}

/* The operations' common answer: {"RevisionId":...}, with the policy before it if `shown`. */
static void answer(struct api_call *call, const struct resource_policy *shown,
                   struct bytes revision)
{
    struct json_writer writer;
    json_writer_init(&writer, &call->response);
    json_open_object(&writer);
    if (shown != NULL) {
        json_write_name(&writer, "Policy");
        json_write_string(&writer, policy_document_canonical(call->arena, shown->text, true));
    }
    if (revision.data != NULL) {
        json_write_name(&writer, "RevisionId");
        json_write_string(&writer, revision);
    }
    json_close_object(&writer);
}

/* --- GetResourcePolicy --- */

struct get_resource_policy_request {
    struct bytes resource_arn;
};

static const struct shape_field get_fields[] = {
    { SHAPE_FIELD(struct get_resource_policy_request, resource_arn, "ResourceArn", &arn_shape),
      .required = true },
};
static const struct shape get_shape = {
    SHAPE_STRUCTURE_OF(struct get_resource_policy_request, get_fields),
    .type_name = "GetResourcePolicyInput",
};

static bool get(struct api_call *call, const struct policy_resource *resource)
{
    if (resource->policy->text.data == NULL)
        return refuse_missing(call, resource);
    answer(call, resource->policy, revision_of(call, resource->policy));
    return true;
}

static void run_get(struct api_call *call, const void *input)
{
    const struct get_resource_policy_request *request = input;
    struct policy_resource resource;
    bool ok = check_arn(call, request->resource_arn) &&
              find_resource(call, request->resource_arn, &resource) && get(call, &resource);
    operation_end(call, ok);
}

const struct operation op_get_resource_policy = { .name = "GetResourcePolicy",
                                                  .kind = OPERATION_DATA,
                                                  .request = &get_shape,
                                                  .asks = OPERATION_ASKS_RESOURCE,
                                                  .run = run_get };

/* --- PutResourcePolicy --- */

struct put_resource_policy_request {
    struct bytes resource_arn;
    struct bytes policy;
    struct bytes expected_revision_id;
    /* Without it, callers cannot shut themselves out. */
    struct shape_boolean confirm_remove_self_resource_access;
};

static const struct shape_field put_fields[] = {
    { SHAPE_FIELD(struct put_resource_policy_request, resource_arn, "ResourceArn", &arn_shape),
      .required = true },
    { SHAPE_FIELD(struct put_resource_policy_request, policy, "Policy", &common_string),
      .required = true },
    { SHAPE_FIELD(struct put_resource_policy_request, expected_revision_id, "ExpectedRevisionId",
                  &revision_shape) },
    { SHAPE_FIELD(struct put_resource_policy_request, confirm_remove_self_resource_access,
                  "ConfirmRemoveSelfResourceAccess", &common_boolean) },
};
static const struct shape put_shape = {
    SHAPE_STRUCTURE_OF(struct put_resource_policy_request, put_fields),
    .type_name = "PutResourcePolicyInput",
};

/* "To conditionally attach a policy when no policy exists for the resource, specify NO_POLICY." */
static bool check_revision(struct api_call *call, const struct policy_resource *resource,
                           struct bytes expected)
{
    if (!bytes_equal_text(expected, "NO_POLICY"))
        return check_expected(call, resource, expected);
    return resource->policy->text.data == NULL ||
           error_set(&call->error, ERROR_POLICY_NOT_FOUND,
                     POLICY_NOT_FOUND "Requested policy update expecting none to be present for "
                                      "table %.*s, but a policy exists with revision id %.*s.",
                     BYTES_FMT(resource->definition.name),
                     BYTES_FMT(revision_of(call, resource->policy)));
}

/* Revisions are times, as the service's; one is never given twice, even if the clock goes back. */
static int64_t next_revision(const struct resource_policy *policy, int64_t now_ms)
{
    return now_ms > policy->revision ? now_ms : policy->revision + 1;
}

/* Would the new policy let its caller put another one? Where requests are not authenticated, the
 * caller is the account's root. */
static bool check_lockout(struct api_call *call, const struct policy_resource *resource,
                          struct bytes text)
{
    const char *account_id = api_options(call->api)->account_id;
    struct error ignored;
    error_init(&ignored, call->arena);
    const struct policy *everything =
        policy_parse(call->arena,
                     BYTES("{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"*\","
                           "\"Resource\":\"*\"}}"),
                     POLICY_OF_IDENTITY, &ignored);
    const struct caller root = {
        .arn = arena_printf(call->arena, "arn:aws:iam::%s:root", account_id),
        .account = bytes_from_text(account_id),
        .policies = &everything,
        .policy_count = 1,
    };
    struct access_question question = {
        .service = operation_action_prefix(call->operation),
        .action = "PutResourcePolicy",
        .arn = resource->arn,
        .table = &resource->definition,
        .policy = access_compile_policy(call->arena, text),
    };
    const struct caller *caller = call->caller != NULL ? call->caller : &root;
    return access_decide(call->arena, caller, &question, &ignored) ||
           error_set(&call->error, ERROR_ACCESS_DENIED,
                     "The new resource policy will not allow you to update the resource policy in "
                     "the future.");
}

/* "... using the same policy document will return the same revision ID." Observed: the same in its
 * canonical form. */
static bool is_same(struct api_call *call, const struct resource_policy *policy, struct bytes text)
{
    return policy->text.data != NULL &&
           bytes_equal(policy_document_canonical(call->arena, policy->text, false),
                       policy_document_canonical(call->arena, text, false));
}

static bool put(struct api_call *call, const struct put_resource_policy_request *request,
                struct policy_resource *resource)
{
    struct resource_policy *policy = resource->policy;
    if (!check_state(call, resource) ||
        !check_revision(call, resource, request->expected_revision_id) ||
        (!request->confirm_remove_self_resource_access.value &&
         !check_lockout(call, resource, request->policy)))
        return false;
    bool same = is_same(call, policy, request->policy);
    if (!same) {
        policy->revision = next_revision(policy, clock_wall_ms(api_options(call->api)->clock));
        policy->text = request->policy;
    }
    answer(call, NULL, revision_of(call, policy));
    return same ? keep_in_stream(call, resource, "PutResourcePolicy")
                : store(call, resource, "PutResourcePolicy");
}

static enum policy_subject subject_of(struct bytes arn)
{
    struct bytes table_arn, label;
    return table_name_split_stream_arn(arn, &table_arn, &label) ? POLICY_SUBJECT_STREAM
                                                                : POLICY_SUBJECT_TABLE;
}

/* Observed: the document is judged before the resource is looked up. */
static void run_put(struct api_call *call, const void *input)
{
    const struct put_resource_policy_request *request = input;
    struct bytes arn = request->resource_arn;
    struct policy_resource resource;
    bool ok =
        check_arn(call, arn) &&
        setting_rules_check_policy(call->arena, request->policy, subject_of(arn), &call->error) &&
        find_resource(call, arn, &resource) && put(call, request, &resource);
    operation_end(call, ok);
}

const struct operation op_put_resource_policy = { .name = "PutResourcePolicy",
                                                  .kind = OPERATION_CONTROL,
                                                  .request = &put_shape,
                                                  .asks = OPERATION_ASKS_RESOURCE,
                                                  .run = run_put };

/* --- DeleteResourcePolicy --- */

struct delete_resource_policy_request {
    struct bytes resource_arn;
    struct bytes expected_revision_id;
};

static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct delete_resource_policy_request, resource_arn, "ResourceArn", &arn_shape),
      .required = true },
    { SHAPE_FIELD(struct delete_resource_policy_request, expected_revision_id, "ExpectedRevisionId",
                  &revision_shape) },
};
static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct delete_resource_policy_request, delete_fields),
    .type_name = "DeleteResourcePolicyInput",
};

/* Observed: the deletion is a revision of its own, which a further deletion answers with. */
static bool remove_policy(struct api_call *call, struct bytes expected,
                          struct policy_resource *resource)
{
    struct resource_policy *policy = resource->policy;
    if (!check_state(call, resource) || !check_expected(call, resource, expected))
        return false;
    bool ever = policy->revision != 0;
    answer(call, NULL, ever ? revision_of(call, policy) : (struct bytes){ 0 });
    if (policy->text.data == NULL)
        return true;
    policy->text = (struct bytes){ 0 };
    policy->revision = next_revision(policy, clock_wall_ms(api_options(call->api)->clock));
    return store(call, resource, "DeleteResourcePolicy");
}

static void run_delete(struct api_call *call, const void *input)
{
    const struct delete_resource_policy_request *request = input;
    struct policy_resource resource;
    bool ok = check_arn(call, request->resource_arn) &&
              find_resource(call, request->resource_arn, &resource) &&
              remove_policy(call, request->expected_revision_id, &resource);
    operation_end(call, ok);
}

const struct operation op_delete_resource_policy = { .name = "DeleteResourcePolicy",
                                                     .kind = OPERATION_CONTROL,
                                                     .request = &delete_shape,
                                                     .asks = OPERATION_ASKS_RESOURCE,
                                                     .run = run_delete };
