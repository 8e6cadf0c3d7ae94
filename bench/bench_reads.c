/* bench_reads.c -- what a hot GetItem costs when several cores do nothing else.
 *
 * `bench_reads [THREADS]` reads a few items that are in the item cache, through api_run, by one
 * thread and by so many at once (2), and prints processor time per request of both. If reads write
 * no memory that other cores write, the two are the same.
 *
 * Rounds in which the threads did not run side by side, since the machine was busy, tell nothing
 * and are not counted. The median of the others is printed.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/engine.h"
#include "model/rendered_item.h"

enum {
    ITEMS = 16, /* So few that all threads read the same ones. */
    THREADS_MAX = 64,
    CALLS = 1000, /* Of each thread in each round. */
    ROUNDS = 10000,
    ROUNDS_WANTED = 50,
};

struct reader {
    struct api *api;
    pthread_barrier_t *start;
    uint64_t seed;
    pthread_t thread;
    int64_t cpu_ns;
    int64_t start_ns, end_ns; /* On the monotonic clock. */
};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- Requests --- */

struct ended_call {
    struct api_call base;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ended;
};

static void wake(struct api_call *base)
{
    struct ended_call *call = (struct ended_call *)base;
    pthread_mutex_lock(&call->mutex);
    call->ended = true;
    pthread_cond_signal(&call->changed);
    pthread_mutex_unlock(&call->mutex);
}

static void check(const struct api_call *call)
{
    if (!error_is_set(&call->error))
        return;
    fprintf(stderr, "bench_reads: %.*s\n", BYTES_FMT(call->error.message));
    exit(1);
}

static void run_and_wait(struct api *api, struct arena *arena, struct bytes operation,
                         struct bytes body)
{
    struct ended_call call = { .base = { .arena = arena,
                                         .operation = operation_find_action(operation),
                                         .body = body,
                                         .done = wake },
                               .mutex = PTHREAD_MUTEX_INITIALIZER,
                               .changed = PTHREAD_COND_INITIALIZER };
    api_run(api, &call.base);
    pthread_mutex_lock(&call.mutex);
    while (!call.ended)
        pthread_cond_wait(&call.changed, &call.mutex);
    pthread_mutex_unlock(&call.mutex);
    check(&call.base);
    arena_reset(arena);
}

static struct bytes get_item_body(struct arena *arena, uint64_t number)
{
    return arena_printf(arena, "{\"TableName\":\"bench\",\"Key\":{\"pk\":{\"S\":\"%" PRIu64 "\"}}}",
                        number);
}

static void fill(struct api *api)
{
    struct arena *arena = arena_create();
    run_and_wait(api, arena, BYTES("CreateTable"),
                 BYTES("{\"TableName\":\"bench\",\"BillingMode\":\"PAY_PER_REQUEST\","
                       "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
                       "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","
                       "\"AttributeType\":\"S\"}]}"));
    for (uint64_t number = 0; number < ITEMS; number++)
        run_and_wait(api, arena, BYTES("PutItem"),
                     arena_printf(arena,
                                  "{\"TableName\":\"bench\",\"Item\":{\"pk\":{\"S\":\"%" PRIu64
                                  "\"},\"name\":{\"S\":\"Grace Hopper\"}}}",
                                  number));
    arena_destroy(arena);
}

/* --- Rounds --- */

static void ended(struct api_call *call)
{
    check(call);
}

static void *read_items(void *argument)
{
    struct reader *reader = argument;
    struct arena *arena = arena_create();
    const struct operation *operation = operation_find_action(BYTES("GetItem"));
    struct random random;
    random_init(&random, reader->seed);
    pthread_barrier_wait(reader->start);
    reader->start_ns = now_ns(CLOCK_MONOTONIC);
    int64_t start_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < CALLS; i++) {
        struct api_call call = { .arena = arena,
                                 .operation = operation,
                                 .body = get_item_body(arena, random_below(&random, ITEMS)),
                                 .done = ended };
        api_run(reader->api, &call); /* A read ends before this returns. */
        arena_reset(arena);
    }
    reader->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
    reader->end_ns = now_ns(CLOCK_MONOTONIC);
    arena_destroy(arena);
    return NULL;
}

/* Whether all ran for nearly all of the time from the first start to the last end. */
static bool ran_side_by_side(const struct reader *readers, size_t count)
{
    int64_t first_ns = INT64_MAX, last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        first_ns = readers[i].start_ns < first_ns ? readers[i].start_ns : first_ns;
        last_ns = readers[i].end_ns > last_ns ? readers[i].end_ns : last_ns;
    }
    for (size_t i = 0; i < count; i++)
        if (readers[i].cpu_ns < (last_ns - first_ns) * 4 / 5)
            return false;
    return true;
}

/* Processor time per request; 0 if the threads did not run side by side. */
static int64_t run_round(struct api *api, size_t thread_count)
{
    struct reader readers[THREADS_MAX];
    pthread_barrier_t start;
    int64_t cpu_ns = 0;
    pthread_barrier_init(&start, NULL, (unsigned)thread_count);
    for (size_t i = 0; i < thread_count; i++) {
        readers[i] = (struct reader){ .api = api, .start = &start, .seed = i };
        if (pthread_create(&readers[i].thread, NULL, read_items, &readers[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < thread_count; i++) {
        pthread_join(readers[i].thread, NULL);
        cpu_ns += readers[i].cpu_ns;
    }
    pthread_barrier_destroy(&start);
    return ran_side_by_side(readers, thread_count) ? cpu_ns / (int64_t)thread_count / CALLS : 0;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void report(const char *threads, int64_t *rounds_ns, size_t count)
{
    if (count == 0) {
        fprintf(stderr, "bench_reads: the machine was too busy for %s\n", threads);
        return;
    }
    qsort(rounds_ns, count, sizeof rounds_ns[0], compare);
    printf("api_get_item_hot_%s  %" PRId64 " ns\n", threads, rounds_ns[count / 2]);
}

int main(int argc, char **argv)
{
    static int64_t alone_ns[ROUNDS], together_ns[ROUNDS];
    size_t alone = 0, together = 0;
    char message[ENGINE_MESSAGE_MAX], name[32];
    enum engine_status status;
    size_t thread_count = argc > 1 ? strtoul(argv[1], NULL, 10) : 2;
    if (thread_count == 0 || thread_count > THREADS_MAX)
        return 2;
    log_set_level(LOG_ERROR);
    struct engine *engine =
        engine_open(&(struct engine_options){ .in_memory = true,
                                              .item_cache_size = 64 * 1024 * 1024,
                                              .render = rendered_item_make,
                                              .block_cache_size = 64 * 1024 * 1024,
                                              .write_buffer_size = 32 * 1024 * 1024 },
                    message);
    if (engine == NULL)
        return 1;
    struct api *api = api_open(&(struct api_options){ .engine = engine,
                                                      .clock = &clock_system,
                                                      .region = "us-east-1",
                                                      .account_id = "000000000000" },
                               &status);
    if (api == NULL)
        return 1;
    fill(api);
    run_round(api, 1);
    for (int i = 0; i < ROUNDS && (alone < ROUNDS_WANTED || together < ROUNDS_WANTED); i++) {
        alone_ns[alone] = run_round(api, 1);
        alone += alone_ns[alone] > 0;
        together_ns[together] = run_round(api, thread_count);
        together += together_ns[together] > 0;
    }
    report("1_thread", alone_ns, alone);
    snprintf(name, sizeof name, "%zu_threads", thread_count);
    report(name, together_ns, together);
    api_close(api);
    engine_close(engine);
    return 0;
}
