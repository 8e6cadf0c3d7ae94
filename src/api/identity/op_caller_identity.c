/* op_caller_identity.c -- STS's GetCallerIdentity: the caller's account, ARN and user id. */
#include "api/operation.h"
#include "api/operation_access.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "json/writer.h"

struct caller_identity_request {
    char unused;
};

static const struct shape request_shape = { .kind = SHAPE_STRUCTURE,
                                            .type_name = "GetCallerIdentityRequest",
                                            .size = sizeof(struct caller_identity_request),
                                            SHAPE_UNBOUNDED };

/* FNV-1a. */
static uint64_t hash(uint64_t state, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        state = (state ^ text.data[i]) * 0x100000001B3;
    return state;
}

/* An id in the form of IAM's, "AIDA" and 17 characters. We keep none, so it is derived from the
 * ARN: a user has the same one for good, and another user another one. */
static struct bytes user_id(struct arena *arena, struct bytes arn)
{
    static const char symbols[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    enum { PREFIX_SIZE = 4, SIZE = 21 };
    char *id = arena_alloc(arena, SIZE);
    uint64_t state = hash(0xCBF29CE484222325, arn);
    memcpy(id, "AIDA", PREFIX_SIZE);
    for (size_t i = PREFIX_SIZE; i < SIZE; i++) {
        state = hash(state, arn);
        id[i] = symbols[state >> 59];
    }
    return bytes_of(id, SIZE);
}

static void run(struct api_call *call, const void *input)
{
    const struct caller *caller = call->caller;
    struct bytes account = bytes_from_text(api_options(call->api)->account_id);
    struct bytes arn =
        caller != NULL ? caller->arn
                       : arena_printf(call->arena, "arn:aws:iam::%.*s:root", BYTES_FMT(account));
    struct json_writer json;
    (void)input;
    operation_asks_nothing(call);
    json_writer_init(&json, &call->response);
    json_open_object(&json);
    json_write_name(&json, "Arn");
    json_write_string(&json, arn);
    json_write_name(&json, "UserId"); /* That of the root user is the account. */
    json_write_string(&json, caller != NULL ? user_id(call->arena, arn) : account);
    json_write_name(&json, "Account");
    json_write_string(&json, account);
    json_close_object(&json);
    operation_succeed(call);
}

const struct operation op_get_caller_identity = { .name = "GetCallerIdentity",
                                                  .service = OPERATION_OF_STS,
                                                  .request = &request_shape,
                                                  .asks = OPERATION_ASKS_ITSELF,
                                                  .run = run };
