/* api_fuzz.c -- any body for any operation ends exactly once, with JSON, nothing or an exception.
 *
 * The first byte picks the operation, the rest is its body. One store in memory serves all
 * inputs, so tables and items that earlier inputs made are met by later ones.
 */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include "api/api.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "json/reader.h"
#include "reference_engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_call {
    struct api_call call;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    unsigned end_count;
};

static void call_done(struct api_call *api_call)
{
    struct fuzz_call *call =
        (struct fuzz_call *)((char *)api_call - offsetof(struct fuzz_call, call));
    pthread_mutex_lock(&call->mutex);
    call->end_count++;
    pthread_cond_signal(&call->ended);
    pthread_mutex_unlock(&call->mutex);
}

static struct api *open_database(void)
{
    enum engine_status status;
    log_set_level(LOG_ERROR);
    struct engine *engine = reference_engine_create();
    return api_open(&(struct api_options){ .engine = engine,
                                           .clock = &clock_system,
                                           .region = "us-east-1",
                                           .account_id = "000000000000" },
                    &status);
}

static bool is_json(struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, 200);
    json_skip(&reader);
    return json_finish(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct api *api; /* Opened once: opening a store takes longer than most inputs. */
    if (api == NULL)
        api = open_database();
    if (size == 0)
        return 0;
    struct arena *arena = arena_create();
    struct fuzz_call call = {
        .call = { .arena = arena,
                  .operation = operation_at(data[0] % operation_count()),
                  .body = bytes_of(data + 1, size - 1),
                  .done = call_done },
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .ended = PTHREAD_COND_INITIALIZER,
    };
    api_run(api, &call.call);
    pthread_mutex_lock(&call.mutex);
    while (call.end_count == 0)
        pthread_cond_wait(&call.ended, &call.mutex);
    pthread_mutex_unlock(&call.mutex);
    assert(call.end_count == 1);
    if (error_is_set(&call.call.error))
        assert(error_kind(call.call.error.code)->http_status == 400);
    else if (call.call.response.len > 0) /* Some operations answer with an empty body. */
        assert(is_json(arena, buffer_bytes(&call.call.response)));
    arena_destroy(arena);
    return 0;
}
