/* model_server.c -- see model_server.h. */
#include "command/model_server.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "model/error.h"

enum { CACHE_SIZE = 8 * 1024 * 1024 };

struct model_server {
    struct clock clock;
    struct commit_clock commits;
    struct engine *engine;
    struct api *api;
};

struct model_server *model_server_open(void)
{
    char message[ENGINE_MESSAGE_MAX];
    enum engine_status status;
    struct model_server *server = memory_checked(calloc(1, sizeof *server));
    server->clock = clock_resume(1, 1);
    server->clock.commits = &server->commits;
    server->engine = engine_open(&(struct engine_options){ .in_memory = true,
                                                           .durability = ENGINE_DURABILITY_OS,
                                                           .block_cache_size = CACHE_SIZE,
                                                           .write_buffer_size = CACHE_SIZE },
                                 message);
    if (server->engine == NULL) {
        fprintf(stderr, "stator: model: %s\n", message);
        model_server_close(server);
        return NULL;
    }
    server->api = api_open(&(struct api_options){ .engine = server->engine,
                                                  .clock = &server->clock,
                                                  .region = "us-east-1",
                                                  .account_id = "000000000000",
                                                  .capacity = CAPACITY_ACCOUNT },
                           &status);
    if (server->api == NULL) {
        fprintf(stderr, "stator: model: the database in memory does not open\n");
        model_server_close(server);
        return NULL;
    }
    return server;
}

void model_server_close(struct model_server *server)
{
    if (server == NULL)
        return;
    api_close(server->api);
    engine_close(server->engine);
    free(server);
}

struct waiting_call {
    struct api_call call;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool is_done;
};

static void done(struct api_call *call)
{
    struct waiting_call *waiting =
        (struct waiting_call *)((char *)call - offsetof(struct waiting_call, call));
    pthread_mutex_lock(&waiting->mutex);
    waiting->is_done = true;
    pthread_cond_signal(&waiting->ended);
    pthread_mutex_unlock(&waiting->mutex);
}

bool model_server_call(struct model_server *server, struct arena *arena, const char *operation,
                       struct bytes body, struct bytes *answer)
{
    struct waiting_call waiting = {
        .call = { .arena = arena,
                  .operation = operation_find_action(bytes_from_text(operation)),
                  .body = body,
                  .done = done },
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .ended = PTHREAD_COND_INITIALIZER,
    };
    assert(waiting.call.operation != NULL);
    api_run(server->api, &waiting.call);
    pthread_mutex_lock(&waiting.mutex);
    while (!waiting.is_done)
        pthread_cond_wait(&waiting.ended, &waiting.mutex);
    pthread_mutex_unlock(&waiting.mutex);
    if (!error_is_set(&waiting.call.error)) {
        *answer = buffer_bytes(&waiting.call.response);
        return true;
    }
    struct bytes name = error_short_name(waiting.call.error.code);
    *answer =
        arena_printf(arena, "%.*s: %.*s", BYTES_FMT(name), BYTES_FMT(waiting.call.error.message));
    return false;
}
