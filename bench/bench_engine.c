/* bench_engine.c -- what the storage engine costs, and what RocksDB itself reaches here.
 *
 * `bench_engine DIRECTORY` works in new folders below DIRECTORY and removes them. The raw figure is
 * the yardstick for the other one: the same records, 64 to a batch, each batch synced.
 */
#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <rocksdb/c.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/rocksdb/store.h"

enum {
    VALUE_SIZE = 300,
    KEY_SIZE = 24,
    RUN_MS = 3000,
    IN_FLIGHT = 64,
    THREADS = 2,
    RECORDS = 100000, /* For reads; with keys, about 32 MB: all of it fits into the cache. */
    PATH_SIZE_MAX = 512,
};

static const struct engine_place place = { 7, 1, ENGINE_SPACE_ITEMS };

struct bench {
    struct engine_options options;
    char directory[PATH_SIZE_MAX];
    uint8_t value[VALUE_SIZE];
};

static void begin(struct bench *bench, const char *parent)
{
    struct random random;
    random_init(&random, 1);
    random_fill(&random, bench->value, sizeof bench->value);
    int length =
        snprintf(bench->directory, sizeof bench->directory, "%s/bench-engine-XXXXXX", parent);
    if (length < 0 || (size_t)length >= sizeof bench->directory ||
        mkdtemp(bench->directory) == NULL) {
        perror(parent);
        exit(1);
    }
    bench->options = (struct engine_options){
        .directory = bench->directory,
        .durability = ENGINE_DURABILITY_SYNC,
        .block_cache_size = 64 * 1024 * 1024,
        .write_buffer_size = 32 * 1024 * 1024,
    };
}

/* RocksDB removes its own files; these are the engine's. */
static void end(struct bench *bench)
{
    static const char *const own_files[] = { "FORMAT", "SYNCED", "RESERVE", "" };
    struct store_options *options = store_options_create(&bench->options);
    char *error = NULL;
    rocksdb_destroy_db(options->db, bench->directory, &error);
    rocksdb_free(error);
    store_options_destroy(options);
    for (size_t i = 0; i < COUNT_OF(own_files); i++) {
        char path[PATH_SIZE_MAX + 16];
        snprintf(path, sizeof path, "%s/%s", bench->directory, own_files[i]);
        remove(path);
    }
}

static struct engine *open_engine(const struct engine_options *options)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(options, message);
    if (engine == NULL) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    return engine;
}

/* Keys as items have them: a hash, then something readable. */
static struct bytes make_key(uint64_t number, char space[KEY_SIZE + 1])
{
    snprintf(space, KEY_SIZE + 1, "%016" PRIx64 "%08" PRIu64, number * 0x9E3779B97F4A7C15u,
             number % 100000000);
    return bytes_of(space, KEY_SIZE);
}

static void print_rate(const char *name, uint64_t count, int64_t elapsed_ns)
{
    printf("%-28s %10.0f per s\n", name, (double)count * 1e9 / (double)elapsed_ns);
}

/* Reads wait for nothing, so the thread's own time is their cost, whatever else the machine does.
 */
static int64_t thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void print_cost(const char *name, uint64_t count, int64_t elapsed_ns)
{
    printf("%-28s %10.0f ns\n", name, (double)elapsed_ns / (double)count);
}

/* --- Durable puts --- */

struct put {
    struct engine_completion base;
    struct put_thread *thread;
    struct put *next;
};

struct put_thread {
    const struct bench *bench;
    struct engine *engine;
    uint64_t first_number;
    size_t in_flight;
    int64_t end_ns;
    uint64_t count;
    sem_t free_count;
    pthread_mutex_t mutex;
    struct put *free; /* Guarded by mutex. */
    struct put puts[IN_FLIGHT];
};

static void put_done(struct engine_completion *completion, enum engine_status status)
{
    struct put *put = (struct put *)completion;
    if (status != ENGINE_OK) {
        fprintf(stderr, "put: %s\n", engine_status_name(status));
        exit(1);
    }
    struct put_thread *thread = put->thread;
    pthread_mutex_lock(&thread->mutex);
    put->next = thread->free;
    thread->free = put;
    pthread_mutex_unlock(&thread->mutex);
    sem_post(&thread->free_count);
}

static void put_one(struct put_thread *thread, uint64_t number)
{
    char space[KEY_SIZE + 1];
    struct engine_address address = { place, make_key(number, space) };
    struct engine_write *write;
    sem_wait(&thread->free_count);
    pthread_mutex_lock(&thread->mutex);
    struct put *put = thread->free;
    thread->free = put->next;
    pthread_mutex_unlock(&thread->mutex);
    if (engine_write_begin(thread->engine, &address, 1, &write) != ENGINE_OK)
        exit(1);
    engine_write_put(write, &address, bytes_of(thread->bench->value, VALUE_SIZE));
    engine_write_commit(write, &put->base);
}

static void *run_puts(void *argument)
{
    struct put_thread *thread = argument;
    sem_init(&thread->free_count, 0, 0);
    pthread_mutex_init(&thread->mutex, NULL);
    for (size_t i = 0; i < thread->in_flight; i++) {
        thread->puts[i] = (struct put){ .base.done = put_done, .thread = thread };
        put_done(&thread->puts[i].base, ENGINE_OK);
    }
    while (clock_monotonic_ns() < thread->end_ns)
        put_one(thread, thread->first_number + thread->count++);
    for (size_t i = 0; i < thread->in_flight; i++)
        sem_wait(&thread->free_count);
    return NULL;
}

static void bench_put(const char *name, struct bench *bench, size_t thread_count, size_t in_flight)
{
    static struct put_thread threads[THREADS];
    pthread_t ids[THREADS];
    assert(thread_count <= THREADS && in_flight <= IN_FLIGHT);
    struct engine *engine = open_engine(&bench->options);
    int64_t start_ns = clock_monotonic_ns();
    uint64_t count = 0;
    for (size_t i = 0; i < thread_count; i++) {
        threads[i] = (struct put_thread){
            .bench = bench,
            .engine = engine,
            .first_number = i << 32,
            .in_flight = in_flight / thread_count,
            .end_ns = start_ns + RUN_MS * INT64_C(1000000),
        };
        if (pthread_create(&ids[i], NULL, run_puts, &threads[i]) != 0)
            exit(1);
    }
    for (size_t i = 0; i < thread_count; i++) {
        pthread_join(ids[i], NULL);
        count += threads[i].count;
    }
    print_rate(name, count, clock_monotonic_ns() - start_ns);
    engine_close(engine);
}

static void bench_raw_put(const char *name, struct bench *bench, int batch_size)
{
    struct store_options *options = store_options_create(&bench->options);
    rocksdb_writeoptions_t *write_options = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    char *error = NULL;
    rocksdb_writeoptions_set_sync(write_options, 1);
    rocksdb_t *db = rocksdb_open(options->db, bench->directory, &error);
    int64_t start_ns = clock_monotonic_ns();
    uint64_t count = 0;
    while (error == NULL && clock_monotonic_ns() < start_ns + RUN_MS * INT64_C(1000000)) {
        for (int i = 0; i < batch_size; i++) {
            char space[KEY_SIZE + 1];
            struct bytes key = make_key(count++, space);
            rocksdb_writebatch_put(batch, (const char *)key.data, key.len,
                                   (const char *)bench->value, VALUE_SIZE);
        }
        rocksdb_write(db, write_options, batch, &error);
        rocksdb_writebatch_clear(batch);
    }
    if (error != NULL) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    print_rate(name, count, clock_monotonic_ns() - start_ns);
    rocksdb_close(db);
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(write_options);
    store_options_destroy(options);
}

/* --- Reads --- */

static void load(struct bench *bench)
{
    struct engine_options quick = bench->options;
    quick.durability = ENGINE_DURABILITY_OS;
    struct engine *engine = open_engine(&quick);
    for (uint64_t number = 0; number < RECORDS; number++) {
        char space[KEY_SIZE + 1];
        struct engine_address address = { place, make_key(number, space) };
        struct engine_write *write;
        if (engine_write_begin(engine, &address, 1, &write) != ENGINE_OK)
            exit(1);
        engine_write_put(write, &address, bytes_of(bench->value, VALUE_SIZE));
        if (engine_write_commit_wait(write) != ENGINE_OK)
            exit(1);
    }
    engine_close(engine); /* Opening it again moves what is left in the log into tables. */
}

/* Random gets, each at a view of its own, as a request does it. */
static int64_t time_gets(struct engine *engine, uint64_t first_number, enum engine_status expected)
{
    struct random random;
    random_init(&random, 2);
    int64_t start_ns = thread_ns();
    for (uint64_t i = 0; i < RECORDS; i++) {
        char space[KEY_SIZE + 1];
        struct engine_address address = {
            place, make_key(first_number + random_below(&random, RECORDS), space)
        };
        struct engine_view *view;
        struct engine_value value;
        if (engine_view_open(engine, ENGINE_STRONG, &view) != ENGINE_OK ||
            engine_view_get(view, &address, &value) != expected)
            exit(1);
        engine_value_release(&value);
        engine_view_close(view);
    }
    return thread_ns() - start_ns;
}

static int64_t time_scan(struct engine *engine, bool reverse)
{
    struct engine_range range = { .place = place, .reverse = reverse };
    struct engine_view *view;
    struct engine_scan *scan;
    struct engine_entry entry;
    int64_t start_ns = thread_ns();
    if (engine_view_open(engine, ENGINE_STRONG, &view) != ENGINE_OK ||
        engine_scan_open(view, &range, &scan) != ENGINE_OK)
        exit(1);
    for (uint64_t i = 0; i < RECORDS; i++)
        if (engine_scan_next(scan, &entry) != ENGINE_OK)
            exit(1);
    engine_scan_close(scan);
    engine_view_close(view);
    return thread_ns() - start_ns;
}

static void bench_reads(struct bench *bench)
{
    load(bench);
    struct engine *engine = open_engine(&bench->options);
    time_gets(engine, 0, ENGINE_OK); /* Fills the cache. */
    print_cost("engine_get_cached", RECORDS, time_gets(engine, 0, ENGINE_OK));
    print_cost("engine_get_missing", RECORDS, time_gets(engine, RECORDS, ENGINE_NOT_FOUND));
    print_cost("engine_scan_entry", RECORDS, time_scan(engine, false));
    print_cost("engine_scan_entry_reverse", RECORDS, time_scan(engine, true));
    engine_close(engine);
}

static void bench_open(struct bench *bench)
{
    int64_t start_ns = clock_monotonic_ns();
    struct engine *engine = open_engine(&bench->options);
    print_cost("engine_open_empty", 1, clock_monotonic_ns() - start_ns);
    engine_close(engine);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: bench_engine DIRECTORY\n");
        return 2;
    }
    struct bench bench;
    begin(&bench, argv[1]);
    bench_open(&bench);
    end(&bench);
    begin(&bench, argv[1]);
    bench_raw_put("rocksdb_raw_put_sync_64", &bench, IN_FLIGHT);
    end(&bench);
    begin(&bench, argv[1]);
    bench_put("engine_put_sync_64", &bench, THREADS, IN_FLIGHT);
    end(&bench);
    begin(&bench, argv[1]);
    bench_put("engine_put_sync_1", &bench, 1, 1);
    end(&bench);
    begin(&bench, argv[1]);
    bench_reads(&bench);
    end(&bench);
    return 0;
}
