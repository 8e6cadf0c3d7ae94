/* op_keys.c -- CreateKey, CreateSession, ListKeys, UpdateKey and DeleteKey, our own. */
#include "api/common_shapes.h"
#include "api/key/key_operation.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "auth/key_ring.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "json/writer.h"
#include "model/error.h"

enum { LIST_KEYS_MAX = 1000, LIST_KEYS_DEFAULT = 100, SESSION_SECONDS_DEFAULT = 60 * 60 };

/* --- The JSON of a key --- */

static void write_string(struct json_writer *json, const char *name, struct bytes value)
{
    json_write_name(json, name);
    json_write_string(json, value);
}

static void write_time(struct json_writer *json, const char *name, int64_t time_ms)
{
    json_write_name(json, name);
    json_write_seconds(json, time_ms);
}

/* All but its secret and its policies. */
static void write_members(struct json_writer *json, const struct access_key *key)
{
    write_string(json, "AccessKeyId", key->id);
    write_string(json, "UserName", key->user);
    write_string(json, "Status", key->disabled ? BYTES("Inactive") : BYTES("Active"));
    write_time(json, "CreateDate", key->created_ms);
    if (key->parent.data == NULL)
        return;
    write_string(json, "ParentAccessKeyId", key->parent);
    write_time(json, "Expiration", key->expires_ms);
}

/* The only answer that has the secret. */
static void write_new(struct api_call *call, const struct access_key *key, struct bytes token)
{
    struct json_writer json;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Key");
    json_open_object(&json);
    write_members(&json, key);
    write_string(&json, "SecretAccessKey", key->secret);
    if (token.data != NULL)
        write_string(&json, "SessionToken", token);
    json_close_object(&json);
    json_close_object(&json);
}

/* --- CreateKey and CreateSession --- */

struct create_key_request {
    struct bytes user_name;
};
struct create_session_request {
    struct bytes id; /* Of the key whose rights it gets. */
    struct shape_integer seconds;
};

static const struct shape_field create_fields[] = {
    { SHAPE_FIELD(struct create_key_request, user_name, "UserName", &key_operation_name),
      .required = true },
};
static const struct shape create_shape = {
    SHAPE_STRUCTURE_OF(struct create_key_request, create_fields), .type_name = "CreateKeyInput"
};
static const struct shape seconds_shape = { .kind = SHAPE_INTEGER,
                                            .min = 1,
                                            .max = KEY_SESSION_SECONDS_MAX };
static const struct shape_field session_fields[] = {
    { SHAPE_FIELD(struct create_session_request, id, "AccessKeyId", &key_operation_id),
      .required = true },
    { SHAPE_FIELD(struct create_session_request, seconds, "DurationSeconds", &seconds_shape) },
};
static const struct shape session_shape = { SHAPE_STRUCTURE_OF(struct create_session_request,
                                                               session_fields),
                                            .type_name = "CreateSessionInput" };

struct creation {
    struct bytes user;   /* Of a new key, */
    struct bytes parent; /* or the parent of a temporary one. */
    int64_t seconds;
    int64_t now_ms;
    const struct access_key *key; /* The result. */
    struct bytes token;
};

static bool create(struct arena *arena, struct key_ring *ring, void *context, struct error *err)
{
    struct creation *creation = context;
    creation->key = creation->parent.data == NULL
                        ? key_edit_create(arena, ring, creation->user, creation->now_ms, err)
                        : key_edit_create_session(arena, ring, creation->parent, creation->seconds,
                                                  creation->now_ms, &creation->token, err);
    return creation->key != NULL;
}

static void run_creation(struct api_call *call, struct creation *creation)
{
    creation->now_ms = clock_wall_ms(api_options(call->api)->clock);
    bool ok = key_operation_edit(call, create, creation);
    if (ok) {
        key_operation_note(call, creation->key->id);
        write_new(call, creation->key, creation->token);
    }
    operation_end(call, ok);
}

static void run_create(struct api_call *call, const void *input)
{
    const struct create_key_request *request = input;
    run_creation(call, &(struct creation){ .user = request->user_name });
}

const struct operation op_create_key = { .name = "CreateKey",
                                         .service = OPERATION_OF_STATOR,
                                         .request = &create_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .waits = OPERATION_WAITS,
                                         .is_audited = true,
                                         .run = run_create };

static void run_session(struct api_call *call, const void *input)
{
    const struct create_session_request *request = input;
    int64_t seconds = request->seconds.present ? request->seconds.value : SESSION_SECONDS_DEFAULT;
    key_operation_note(call, request->id);
    run_creation(call, &(struct creation){ .parent = request->id, .seconds = seconds });
}

const struct operation op_create_session = { .name = "CreateSession",
                                             .service = OPERATION_OF_STATOR,
                                             .request = &session_shape,
                                             .asks = OPERATION_ASKS_ACCOUNT,
                                             .waits = OPERATION_WAITS,
                                             .is_audited = true,
                                             .run = run_session };

/* --- ListKeys: in the order of their ids --- */

struct list_keys_request {
    struct shape_integer max_results;
    struct bytes next_token; /* The last id of the page before. */
};

static const struct shape max_results_shape = { .kind = SHAPE_INTEGER,
                                                .min = 1,
                                                .max = LIST_KEYS_MAX };
static const struct shape_field list_fields[] = {
    { SHAPE_FIELD(struct list_keys_request, max_results, "MaxResults", &max_results_shape) },
    { SHAPE_FIELD(struct list_keys_request, next_token, "NextToken", &key_operation_id) },
};
static const struct shape list_shape = { SHAPE_STRUCTURE_OF(struct list_keys_request, list_fields),
                                         .type_name = "ListKeysInput" };

static void write_listed(struct json_writer *json, const struct key_ring *ring,
                         const struct access_key *key, int64_t now_ms)
{
    json_open_object(json);
    write_members(json, key);
    json_write_name(json, "Usable");
    json_write_bool(json, key_ring_grantor(ring, key, now_ms) != NULL);
    json_write_name(json, "PolicyNames");
    json_open_array(json);
    for (size_t i = 0; i < key->policy_count; i++)
        json_write_string(json, key->policies[i].name);
    json_close_array(json);
    json_close_object(json);
}

static void list(struct api_call *call, const struct list_keys_request *request,
                 const struct key_ring *ring)
{
    int64_t now_ms = clock_wall_ms(api_options(call->api)->clock);
    size_t max =
        request->max_results.present ? (size_t)request->max_results.value : LIST_KEYS_DEFAULT;
    size_t at = 0, count = 0;
    struct json_writer json;
    while (request->next_token.data != NULL && at < ring->count &&
           bytes_compare(ring->keys[at].id, request->next_token) <= 0)
        at++;
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Keys");
    json_open_array(&json);
    for (; at < ring->count && count < max; at++, count++)
        write_listed(&json, ring, &ring->keys[at], now_ms);
    json_close_array(&json);
    if (at < ring->count)
        write_string(&json, "NextToken", ring->keys[at - 1].id);
    json_close_object(&json);
}

static void run_list(struct api_call *call, const void *input)
{
    bool ok = key_operation_check(call);
    if (ok) {
        struct live_ring *ring = key_operation_read(call);
        list(call, input, &ring->ring);
        live_keys_release(ring);
    }
    operation_end(call, ok);
}

const struct operation op_list_keys = { .name = "ListKeys",
                                        .service = OPERATION_OF_STATOR,
                                        .request = &list_shape,
                                        .asks = OPERATION_ASKS_ACCOUNT,
                                        .waits =
                                            OPERATION_WAITS, /* A long list takes milliseconds. */
                                        .run = run_list };

/* --- UpdateKey and DeleteKey --- */

struct update_key_request {
    struct bytes id;
    struct bytes status;
};
struct delete_key_request {
    struct bytes id;
};

static const char *const statuses[] = { "Active", "Inactive", NULL };
static const struct shape status_shape = { .kind = SHAPE_STRING,
                                           .enum_values = statuses,
                                           SHAPE_UNBOUNDED };
static const struct shape_field update_fields[] = {
    { SHAPE_FIELD(struct update_key_request, id, "AccessKeyId", &key_operation_id),
      .required = true },
    { SHAPE_FIELD(struct update_key_request, status, "Status", &status_shape), .required = true },
};
static const struct shape update_shape = {
    SHAPE_STRUCTURE_OF(struct update_key_request, update_fields), .type_name = "UpdateKeyInput"
};
static const struct shape_field delete_fields[] = {
    { SHAPE_FIELD(struct delete_key_request, id, "AccessKeyId", &key_operation_id),
      .required = true },
};
static const struct shape delete_shape = {
    SHAPE_STRUCTURE_OF(struct delete_key_request, delete_fields), .type_name = "DeleteKeyInput"
};

static bool update(struct arena *arena, struct key_ring *ring, void *context, struct error *err)
{
    const struct update_key_request *request = context;
    (void)arena;
    return key_edit_disable(ring, request->id, bytes_equal_text(request->status, "Inactive"), err);
}

static void run_update(struct api_call *call, const void *input)
{
    struct update_key_request request = *(const struct update_key_request *)input;
    key_operation_note(call, request.id);
    key_operation_end(call, key_operation_edit(call, update, &request));
}

const struct operation op_update_key = { .name = "UpdateKey",
                                         .service = OPERATION_OF_STATOR,
                                         .request = &update_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .waits = OPERATION_WAITS,
                                         .is_audited = true,
                                         .run = run_update };

static bool delete_key(struct arena *arena, struct key_ring *ring, void *context, struct error *err)
{
    const struct delete_key_request *request = context;
    (void)arena;
    return key_edit_delete(ring, request->id, err);
}

static void run_delete(struct api_call *call, const void *input)
{
    struct delete_key_request request = *(const struct delete_key_request *)input;
    key_operation_note(call, request.id);
    key_operation_end(call, key_operation_edit(call, delete_key, &request));
}

const struct operation op_delete_key = { .name = "DeleteKey",
                                         .service = OPERATION_OF_STATOR,
                                         .request = &delete_shape,
                                         .asks = OPERATION_ASKS_ACCOUNT,
                                         .waits = OPERATION_WAITS,
                                         .is_audited = true,
                                         .run = run_delete };
