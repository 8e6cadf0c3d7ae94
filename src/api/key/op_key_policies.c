/* op_key_policies.c -- PutKeyPolicy, GetKeyPolicy, ListKeyPolicies and DeleteKeyPolicy, our own. */
#include "api/common_shapes.h"
#include "api/key/key_operation.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "auth/key_ring.h"
#include "auth/policy.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"

struct key_policy_request {
    struct bytes id;
    struct bytes name;
    struct bytes document; /* PutKeyPolicy */
};

/* Policies may have so many bytes; what has more characters has more bytes, too. */
static const struct shape document_shape = { .kind = SHAPE_STRING,
                                             .min = 1,
                                             .max = POLICY_SIZE_MAX };
#define ID                                                                                         \
    {                                                                                              \
        SHAPE_FIELD(struct key_policy_request, id, "AccessKeyId", &key_operation_id),              \
            .required = true                                                                       \
    }
#define NAME                                                                                       \
    {                                                                                              \
        SHAPE_FIELD(struct key_policy_request, name, "PolicyName", &key_operation_name),           \
            .required = true                                                                       \
    }
static const struct shape_field put_fields[] = {
    ID,
    NAME,
    { SHAPE_FIELD(struct key_policy_request, document, "PolicyDocument", &document_shape),
      .required = true },
};
static const struct shape_field named_fields[] = { ID, NAME };
static const struct shape_field list_fields[] = { ID };
static const struct shape put_shape = { SHAPE_STRUCTURE_OF(struct key_policy_request, put_fields),
                                        .type_name = "PutKeyPolicyInput" };
static const struct shape get_shape = { SHAPE_STRUCTURE_OF(struct key_policy_request, named_fields),
                                        .type_name = "GetKeyPolicyInput" };
static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct key_policy_request, named_fields), .type_name = "DeleteKeyPolicyInput"
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct key_policy_request, list_fields),
                                         .type_name = "ListKeyPoliciesInput" };

/* --- PutKeyPolicy and DeleteKeyPolicy --- */

static bool put(struct arena *arena, struct key_ring *ring, void *context, struct error *err)
{
    const struct key_policy_request *request = context;
    return key_edit_put_policy(arena, ring, request->id, request->name, request->document, err);
}

static bool delete_policy(struct arena *arena, struct key_ring *ring, void *context,
                          struct error *err)
{
    const struct key_policy_request *request = context;
    (void)arena;
    return key_edit_delete_policy(ring, request->id, request->name, err);
}

static void run_change(struct api_call *call, const void *input, live_keys_change *change)
{
    struct key_policy_request request = *(const struct key_policy_request *)input;
    key_operation_note(call, request.id);
    key_operation_end(call, key_operation_edit(call, change, &request));
}

static void run_put(struct api_call *call, const void *input)
{
    run_change(call, input, put);
}

const struct operation op_put_key_policy = { .name = "PutKeyPolicy",
                                             .service = OPERATION_OF_STATOR,
                                             .request = &put_shape,
                                             .asks = OPERATION_ASKS_ACCOUNT,
                                             .waits = OPERATION_WAITS,
                                             .is_audited = true,
                                             .run = run_put };

static void run_delete(struct api_call *call, const void *input)
{
    run_change(call, input, delete_policy);
}

const struct operation op_delete_key_policy = { .name = "DeleteKeyPolicy",
                                                .service = OPERATION_OF_STATOR,
                                                .request = &delete_shape,
                                                .asks = OPERATION_ASKS_ACCOUNT,
                                                .waits = OPERATION_WAITS,
                                                .is_audited = true,
                                                .run = run_delete };

/* --- GetKeyPolicy and ListKeyPolicies --- */

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_string(json, value);
}

static bool get(struct api_call *call, const struct key_policy_request *request,
                const struct key_ring *ring)
{
    const struct key_policy *policy =
        key_edit_find_policy(ring, request->id, request->name, &call->error);
    if (policy == NULL)
        return false;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    write_string(&json, "AccessKeyId", request->id);
    write_string(&json, "PolicyName", policy->name);
    write_string(&json, "PolicyDocument", policy->text);
    json_close_object(&json);
    return true;
}

static bool list(struct api_call *call, const struct key_policy_request *request,
                 const struct key_ring *ring)
{
    const struct access_key *key = key_edit_find(ring, request->id, &call->error);
    if (key == NULL)
        return false;
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "PolicyNames");
    json_open_array(&json);
    for (size_t i = 0; i < key->policy_count; i++)
        json_write_string(&json, key->policies[i].name);
    json_close_array(&json);
    json_close_object(&json);
    return true;
}

static void run_read(struct api_call *call, const void *input,
                     bool (*read)(struct api_call *call, const struct key_policy_request *request,
                                  const struct key_ring *ring))
{
    bool ok = key_operation_check(call);
    if (ok) {
        struct live_ring *ring = key_operation_read(call);
        ok = read(call, input, &ring->ring);
        live_keys_release(ring);
    }
    operation_end(call, ok);
}

static void run_get(struct api_call *call, const void *input)
{
    run_read(call, input, get);
}

const struct operation op_get_key_policy = { .name = "GetKeyPolicy",
                                             .service = OPERATION_OF_STATOR,
                                             .request = &get_shape,
                                             .asks = OPERATION_ASKS_ACCOUNT,
                                             .run = run_get };

static void run_list(struct api_call *call, const void *input)
{
    run_read(call, input, list);
}

const struct operation op_list_key_policies = { .name = "ListKeyPolicies",
                                                .service = OPERATION_OF_STATOR,
                                                .request = &list_shape,
                                                .asks = OPERATION_ASKS_ACCOUNT,
                                                .run = run_list };
