/* key_operation.c -- see key_operation.h. */
#include "api/key/key_operation.h"
#include <assert.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "json/writer.h"
#include "model/error.h"

const struct shape key_operation_id = { .kind = SHAPE_STRING, .min = 1, .max = KEY_NAME_SIZE_MAX };
const struct shape key_operation_name = { .kind = SHAPE_STRING,
                                          .min = 1,
                                          .max = KEY_NAME_SIZE_MAX };

bool key_operation_check(struct api_call *call)
{
    return api_options(call->api)->keys != NULL ||
           error_validation(&call->error, "There are no access keys here, because requests are not "
                                          "authenticated. Start the server with auth = true");
}

struct live_ring *key_operation_read(struct api_call *call)
{
    const struct api_options *options = api_options(call->api);
    assert(options->keys != NULL);
    return live_keys_acquire(options->keys);
}

bool key_operation_edit(struct api_call *call, live_keys_change *change, void *context)
{
    const struct api_options *options = api_options(call->api);
    return key_operation_check(call) &&
           live_keys_edit(options->keys, call->arena, clock_wall_ms(options->clock), change,
                          context, &call->error);
}

void key_operation_note(struct api_call *call, struct bytes id)
{
    if (call->caller != NULL)
        call->resource = arena_printf(call->arena, "arn:aws:iam::%s:access-key/%.*s",
                                      api_options(call->api)->account_id, BYTES_FMT(id));
}

void key_operation_end(struct api_call *call, bool ok)
{
    struct json_writer json;
    if (ok) {
        json_writer_init(&json, &call->response);
        json_open_object(&json);
        json_close_object(&json);
    }
    operation_end(call, ok);
}
