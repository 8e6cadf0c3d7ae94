/* bench_api.c -- whole requests without a network: api_run from a body to its answer.
 *
 * `bench_api DIRECTORY` fills a store in DIRECTORY, which must be empty, and prints one line per
 * measure, see measure.h. `bench_api DIRECTORY NAME CALLS` runs one measure so many times instead,
 * for a profiler. For example,
 *
 *   valgrind --tool=callgrind --toggle-collect=run_measured bench_api DIRECTORY api_query_10 1000
 *
 * counts the instructions of 1,000 requests; on a busy machine these say more than any time.
 *
 * The store is one that was restarted twice: one table file with the items that are read one by
 * one, another with those that are queried, and a memtable with newer versions of some of the
 * former.
 */
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/random.h"
#include "engine/engine.h"
#include "model/rendered_item.h"
#include "measure.h"

enum {
    ITEMS = 10000, /* Of each table. */
    PER_KEY = 10,  /* Items of each partition key of the queried table. */
    NEWER = 1000,  /* Items that are in the memtable as well. */
    ITEM_CACHE_SIZE = 64 * 1024 * 1024,
    GROUP_SIZE = 16,
    STRIDE = 97,        /* Between keys of one request; no divisor of ITEMS. */
    WARM_UP_ROUNDS = 8, /* More than an item must be read to be kept with its form. */
    NOTE_SIZE = 197     /* Makes an item of 300 bytes, names and values. */
};

struct bench {
    struct engine_options options;
    struct engine *engine;
    struct api *api;
    struct txn_group *group;
    struct arena *arena; /* Reset after every call. */
    struct random random;
    bool has_refusing_table;
    bool has_model;
    bool has_recovery; /* Of the table "bench". */
    uint64_t new_items, changes;
};

/* --- Requests --- */

struct waiting_call {
    struct api_call base;
    sem_t ended;
};

static void call_done(struct api_call *call)
{
    sem_post(&((struct waiting_call *)call)->ended);
}

static void start(struct bench *bench, struct bytes operation, struct bytes body,
                  struct txn_group *group, struct waiting_call *call)
{
    *call = (struct waiting_call){
        .base = { .arena = bench->arena,
                  .operation = operation_find_action(operation),
                  .body = body,
                  .group = group,
                  .done = call_done },
    };
    sem_init(&call->ended, 0, 0);
    api_run(bench->api, &call->base);
}

/* Returns the size of the answer. */
static size_t wait_for(struct waiting_call *call)
{
    while (sem_wait(&call->ended) != 0)
        continue;
    sem_destroy(&call->ended);
    if (error_is_set(&call->base.error)) {
        fprintf(stderr, "bench_api: %.*s\n", BYTES_FMT(call->base.error.message));
        exit(1);
    }
    return call->base.response.len;
}

static size_t run(struct bench *bench, struct bytes operation, struct bytes body)
{
    struct waiting_call call;
    start(bench, operation, body, NULL, &call);
    return wait_for(&call);
}

/* The name that a profiler is told. Writes of more than one body are carried out together, as those
 * of one turn of a server's loop. */
__attribute__((noinline)) static size_t run_measured(struct bench *bench, struct bytes operation,
                                                     const struct bytes *bodies, size_t count)
{
    struct waiting_call calls[GROUP_SIZE];
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        start(bench, operation, bodies[i], count > 1 ? bench->group : NULL, &calls[i]);
    if (count > 1)
        api_group_run(bench->group);
    for (size_t i = 0; i < count; i++)
        size += wait_for(&calls[i]);
    return size;
}

/* --- The store --- */

static void open_store(struct bench *bench)
{
    char message[ENGINE_MESSAGE_MAX];
    enum engine_status status;
    bench->engine = engine_open(&bench->options, message);
    if (bench->engine == NULL) {
        fprintf(stderr, "bench_api: %s\n", message);
        exit(1);
    }
    bench->api = api_open(&(struct api_options){ .engine = bench->engine,
                                                 .clock = &clock_system,
                                                 .region = "us-east-1",
                                                 .account_id = "000000000000" },
                          &status);
    if (bench->api == NULL)
        exit(1);
}

static void close_store(struct bench *bench)
{
    api_close(bench->api);
    engine_close(bench->engine);
}

/* Opening a store moves what its log holds into a table file. */
static void restart(struct bench *bench)
{
    close_store(bench);
    open_store(bench);
}

static void create_table(struct bench *bench, const char *name, bool has_sort_key)
{
    run(bench, BYTES("CreateTable"),
        arena_printf(bench->arena,
                     "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\","
                     "\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}%s],"
                     "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":"
                     "\"S\"}%s]}",
                     name, has_sort_key ? ",{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}" : "",
                     has_sort_key ? ",{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"}" : ""));
    arena_reset(bench->arena);
}

/* An item as bench/run has them. */
static struct bytes put_item_of(struct bench *bench, const char *table, uint64_t partition,
                                uint64_t sort, uint64_t visits)
{
    char note[NOTE_SIZE + 1];
    memset(note, 'n', NOTE_SIZE);
    note[NOTE_SIZE] = '\0';
    return arena_printf(bench->arena,
                        "{\"TableName\":\"%s\",\"Item\":{\"pk\":{\"S\":\"%08" PRIu64 "\"},"
                        "\"sk\":{\"N\":\"%" PRIu64 "\"},\"name\":{\"S\":\"Grace Hopper\"},"
                        "\"email\":{\"S\":\"grace@example.com\"},\"visits\":{\"N\":\"%" PRIu64
                        "\"},"
                        "\"active\":{\"BOOL\":true},\"notes\":{\"S\":\"%s\"}}}",
                        table, partition, sort, visits, note);
}

static struct bytes put_item_body(struct bench *bench, const char *table, uint64_t partition,
                                  uint64_t sort)
{
    enum { VISITS = 1906 };
    return put_item_of(bench, table, partition, sort, VISITS);
}

/* `per_key` items for each partition key. */
static void put_items(struct bench *bench, const char *table, uint64_t count, uint64_t per_key)
{
    for (uint64_t number = 0; number < count; number++) {
        run(bench, BYTES("PutItem"),
            put_item_body(bench, table, number / per_key, number % per_key));
        arena_reset(bench->arena);
    }
}

static void fill_store(struct bench *bench)
{
    create_table(bench, "bench", false);
    create_table(bench, "bench-query", true);
    put_items(bench, "bench", ITEMS, 1);
    restart(bench);
    put_items(bench, "bench-query", ITEMS, PER_KEY);
    restart(bench);
    put_items(bench, "bench", NEWER, 1);
}

/* A table whose throughput is used up for minutes: whatever asks it is refused. */
static void create_refusing_table(struct bench *bench)
{
    enum { LARGE = 399 * 1024 };
    bench->has_refusing_table = true;
    run(bench, BYTES("CreateTable"),
        BYTES("{\"TableName\":\"bench-refused\",\"KeySchema\":[{\"AttributeName\":\"pk\","
              "\"KeyType\":\"HASH\"}],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","
              "\"AttributeType\":\"S\"}],\"ProvisionedThroughput\":{\"ReadCapacityUnits\":1,"
              "\"WriteCapacityUnits\":1},\"Tags\":[{\"Key\":\"stator:capacity\",\"Value\":"
              "\"enforce\"}]}"));
    char *large = arena_alloc(bench->arena, LARGE + 1);
    memset(large, 'x', LARGE);
    large[LARGE] = '\0';
    run(bench, BYTES("PutItem"),
        arena_printf(bench->arena,
                     "{\"TableName\":\"bench-refused\",\"Item\":{\"pk\":{\"S\":\"00000000\"},"
                     "\"v\":{\"S\":\"%s\"}}}",
                     large));
    for (int i = 0; i < 4; i++)
        run(bench, BYTES("GetItem"),
            BYTES("{\"TableName\":\"bench-refused\",\"Key\":{\"pk\":{\"S\":\"00000000\"}},"
                  "\"ConsistentRead\":true}"));
    arena_reset(bench->arena);
}

/* Ten entities; the items are of the last one. */
static void put_model(struct bench *bench)
{
    struct buffer text;
    buffer_init(&text, bench->arena);
    for (int i = 0; i < 9; i++)
        buffer_append_bytes(
            &text,
            arena_printf(bench->arena,
                         "{\\\"Name\\\":\\\"E%d\\\",\\\"Keys\\\":[{\\\"PartitionKey\\\":"
                         "\\\"%08d#<id>\\\"}],\\\"Attributes\\\":[{\\\"Name\\\":\\\"name\\\","
                         "\\\"Required\\\":true}]},",
                         i, i));
    run(bench, BYTES("PutModel"),
        arena_printf(bench->arena,
                     "{\"TableName\":\"bench\",\"Mode\":\"ENFORCE\",\"Model\":\"{\\\"Entities\\\":["
                     "%.*s{\\\"Name\\\":\\\"User\\\",\\\"Keys\\\":[{\\\"PartitionKey\\\":"
                     "\\\"<id>\\\"}],\\\"Attributes\\\":[{\\\"Name\\\":\\\"name\\\",\\\"Type\\\":"
                     "\\\"S\\\",\\\"Required\\\":true},{\\\"Name\\\":\\\"email\\\",\\\"Type\\\":"
                     "\\\"S\\\",\\\"Required\\\":true},{\\\"Name\\\":\\\"visits\\\",\\\"Type\\\":"
                     "\\\"N\\\"},{\\\"Name\\\":\\\"active\\\",\\\"Type\\\":\\\"BOOL\\\"}]}]}\"}",
                     BYTES_FMT(buffer_bytes(&text))));
    arena_reset(bench->arena);
}

/* --- Measures --- */

static struct bytes get_item_body(struct bench *bench, uint64_t number)
{
    return arena_printf(bench->arena,
                        "{\"TableName\":\"bench\",\"Key\":{\"pk\":{\"S\":\"%08" PRIu64 "\"}}}",
                        number);
}

static struct bytes query_body(struct bench *bench, uint64_t number)
{
    return arena_printf(bench->arena,
                        "{\"TableName\":\"bench-query\",\"KeyConditionExpression\":\"pk = :pk\","
                        "\"ExpressionAttributeValues\":{\":pk\":{\"S\":\"%08" PRIu64 "\"}}}",
                        number);
}

static size_t get_item(void *context)
{
    struct bench *bench = context;
    struct bytes body = get_item_body(bench, random_below(&bench->random, ITEMS));
    return run_measured(bench, BYTES("GetItem"), &body, 1);
}

static size_t run_refused(struct bench *bench, struct bytes operation, struct bytes body)
{
    struct waiting_call call;
    start(bench, operation, body, NULL, &call);
    while (sem_wait(&call.ended) != 0)
        continue;
    sem_destroy(&call.ended);
    if (call.base.error.code != ERROR_PROVISIONED_THROUGHPUT_EXCEEDED) {
        fprintf(stderr, "bench_api: not refused\n");
        exit(1);
    }
    return call.base.error.message.len;
}

/* A page of 1 MB of 300-byte items. */
static size_t scan(void *context)
{
    struct bench *bench = context;
    struct bytes body = BYTES("{\"TableName\":\"bench-query\"}");
    return run_measured(bench, BYTES("Scan"), &body, 1);
}

/* Those of a table that is read through once never come into the item cache. */
static size_t batch_get(void *context)
{
    enum { KEYS = 100 };
    struct bench *bench = context;
    struct buffer text;
    buffer_init(&text, bench->arena);
    uint64_t first = random_below(&bench->random, ITEMS);
    for (uint64_t i = 0; i < KEYS; i++)
        buffer_append_bytes(&text,
                            arena_printf(bench->arena, "%s{\"pk\":{\"S\":\"%08" PRIu64 "\"}}",
                                         i == 0 ? "" : ",", (first + i * STRIDE) % ITEMS));
    struct bytes body =
        arena_printf(bench->arena, "{\"RequestItems\":{\"bench\":{\"Keys\":[%.*s]}}}",
                     BYTES_FMT(buffer_bytes(&text)));
    return run_measured(bench, BYTES("BatchGetItem"), &body, 1);
}

static size_t refused_get(void *context)
{
    struct bench *bench = context;
    return run_refused(bench, BYTES("GetItem"),
                       BYTES("{\"TableName\":\"bench-refused\",\"Key\":{\"pk\":{\"S\":"
                             "\"00000001\"}}}"));
}

static size_t refused_put(void *context)
{
    struct bench *bench = context;
    return run_refused(
        bench, BYTES("PutItem"),
        put_item_body(bench, "bench-refused", random_below(&bench->random, ITEMS), 0));
}

static size_t query(void *context)
{
    struct bench *bench = context;
    struct bytes body = query_body(bench, random_below(&bench->random, ITEMS / PER_KEY));
    return run_measured(bench, BYTES("Query"), &body, 1);
}

static struct bytes transaction_body(struct bench *bench)
{
    uint64_t first = random_below(&bench->random, ITEMS);
    struct bytes puts[2];
    for (uint64_t i = 0; i < COUNT_OF(puts); i++)
        puts[i] = put_item_body(bench, "bench", (first + i * STRIDE) % ITEMS, 0);
    return arena_printf(bench->arena, "{\"TransactItems\":[{\"Put\":%.*s},{\"Put\":%.*s}]}",
                        BYTES_FMT(puts[0]), BYTES_FMT(puts[1]));
}

static struct bytes any_put_item_body(struct bench *bench)
{
    return put_item_body(bench, "bench", random_below(&bench->random, ITEMS), 0);
}

static struct bytes any_update_item_body(struct bench *bench)
{
    return arena_printf(
        bench->arena,
        "{\"TableName\":\"bench\",\"Key\":{\"pk\":{\"S\":\"%08" PRIu64 "\"}},"
        "\"UpdateExpression\":\"SET visits = visits + :one, active = :yes\","
        "\"ConditionExpression\":\"attribute_exists(pk) AND visits >= :zero AND active = :yes\","
        "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"},\":zero\":{\"N\":\"0\"},"
        "\":yes\":{\"BOOL\":true}}}",
        random_below(&bench->random, ITEMS));
}

static size_t write_items(struct bench *bench, struct bytes operation,
                          struct bytes (*make_body)(struct bench *bench), size_t count)
{
    struct bytes bodies[GROUP_SIZE];
    for (size_t i = 0; i < count; i++)
        bodies[i] = make_body(bench);
    return 1 + run_measured(bench, operation, bodies, count);
}

static size_t put_item(void *context)
{
    return write_items(context, BYTES("PutItem"), any_put_item_body, 1);
}

static size_t put_items_together(void *context)
{
    return write_items(context, BYTES("PutItem"), any_put_item_body, GROUP_SIZE);
}

static struct bytes new_put_item_body(struct bench *bench)
{
    return put_item_body(bench, "bench", ITEMS + bench->new_items++, 0);
}

static size_t put_new_items_together(void *context)
{
    return write_items(context, BYTES("PutItem"), new_put_item_body, GROUP_SIZE);
}

/* Other than it was: what does not change leaves nothing in a history. */
static struct bytes changed_put_item_body(struct bench *bench)
{
    return put_item_of(bench, "bench", random_below(&bench->random, ITEMS), 0,
                       1000 + ++bench->changes % 9000);
}

static size_t put_changed_items_together(void *context)
{
    return write_items(context, BYTES("PutItem"), changed_put_item_body, GROUP_SIZE);
}

static size_t update_item(void *context)
{
    return write_items(context, BYTES("UpdateItem"), any_update_item_body, 1);
}

static size_t update_items_together(void *context)
{
    return write_items(context, BYTES("UpdateItem"), any_update_item_body, GROUP_SIZE);
}

static size_t transaction(void *context)
{
    return write_items(context, BYTES("TransactWriteItems"), transaction_body, 1);
}

static size_t transactions_together(void *context)
{
    return write_items(context, BYTES("TransactWriteItems"), transaction_body, GROUP_SIZE);
}

/* Reads everything often enough for the item cache to keep it. */
static void warm_up(struct bench *bench)
{
    for (int round = 0; round < WARM_UP_ROUNDS; round++) {
        for (uint64_t number = 0; number < ITEMS; number++) {
            run(bench, BYTES("GetItem"), get_item_body(bench, number));
            if (number % PER_KEY == 0)
                run(bench, BYTES("Query"), query_body(bench, number / PER_KEY));
            arena_reset(bench->arena);
        }
    }
}

static const struct measured {
    const char *name;
    size_t (*work)(void *context);
    size_t item_cache_size;
} measures[] = {
    { "api_get_item", get_item, ITEM_CACHE_SIZE },
    { "api_query_10", query, ITEM_CACHE_SIZE },
    { "api_get_item_not_cached", get_item, 0 },
    { "api_query_10_not_cached", query, 0 },
    { "api_scan_not_cached", scan, 0 },
    { "api_batch_get_100_not_cached", batch_get, 0 },
    { "api_scan", scan, ITEM_CACHE_SIZE },
    { "api_batch_get_100", batch_get, ITEM_CACHE_SIZE },
    { "api_put_item", put_item, ITEM_CACHE_SIZE },
    { "api_put_item_16", put_items_together, ITEM_CACHE_SIZE },
    { "api_put_item_16_changed", put_changed_items_together, ITEM_CACHE_SIZE },
    { "api_put_item_16_new", put_new_items_together, ITEM_CACHE_SIZE },
    { "api_update_item", update_item, ITEM_CACHE_SIZE },
    { "api_update_item_16", update_items_together, ITEM_CACHE_SIZE },
    { "api_transaction_2", transaction, ITEM_CACHE_SIZE },
    { "api_transaction_2_16", transactions_together, ITEM_CACHE_SIZE },
    { "api_get_item_refused", refused_get, ITEM_CACHE_SIZE },
    { "api_put_item_refused", refused_put, ITEM_CACHE_SIZE },
    { "api_put_item_model", put_item, ITEM_CACHE_SIZE },
    /* The last ones: recovery stays enabled. */
    { "api_put_item_16_changed_recovery", put_changed_items_together, ITEM_CACHE_SIZE },
    { "api_put_item_16_new_recovery", put_new_items_together, ITEM_CACHE_SIZE },
};

/* From here on every change of the table keeps what was before. */
static void enable_recovery(struct bench *bench)
{
    bench->has_recovery = true;
    run(bench, BYTES("UpdateContinuousBackups"),
        BYTES("{\"TableName\":\"bench\",\"PointInTimeRecoverySpecification\":"
              "{\"PointInTimeRecoveryEnabled\":true}}"));
    arena_reset(bench->arena);
}

static void prepare(struct bench *bench, const struct measured *measured)
{
    if (bench->options.item_cache_size != measured->item_cache_size) {
        bench->options.item_cache_size = measured->item_cache_size;
        restart(bench);
    }
    if (measured->item_cache_size > 0)
        warm_up(bench);
    if (strstr(measured->name, "refused") != NULL && !bench->has_refusing_table)
        create_refusing_table(bench);
    if (strstr(measured->name, "recovery") != NULL && !bench->has_recovery)
        enable_recovery(bench);
    bool needs_model = strstr(measured->name, "model") != NULL;
    if (needs_model)
        put_model(bench);
    else if (bench->has_model)
        run(bench, BYTES("DeleteModel"), BYTES("{\"TableName\":\"bench\"}"));
    bench->has_model = needs_model;
}

static void run_calls(struct bench *bench, const char *name, long count)
{
    for (size_t i = 0; i < COUNT_OF(measures); i++) {
        if (strcmp(measures[i].name, name) != 0)
            continue;
        prepare(bench, &measures[i]);
        for (long call = 0; call < count; call++) {
            measures[i].work(bench);
            arena_reset(bench->arena);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: bench_api DIRECTORY [NAME CALLS]\n");
        return 2;
    }
    struct bench bench = {
        .options = { .directory = argv[1],
                     .durability = ENGINE_DURABILITY_OS,
                     .item_cache_size = ITEM_CACHE_SIZE,
                     .render = rendered_item_make,
                     .block_cache_size = 64 * 1024 * 1024,
                     .write_buffer_size = 32 * 1024 * 1024 },
        .group = api_group_create(NULL, NULL),
        .arena = arena_create(),
    };
    log_set_level(LOG_ERROR);
    random_init(&bench.random, 1);
    open_store(&bench);
    fill_store(&bench);
    if (argc == 4)
        run_calls(&bench, argv[2], strtol(argv[3], NULL, 10));
    else
        for (size_t i = 0; i < COUNT_OF(measures); i++) {
            if (measures[i].work == scan) /* Thousands of items in each call. */
                continue;
            prepare(&bench, &measures[i]);
            measure(measures[i].name, bench.arena, measures[i].work, &bench);
        }
    close_store(&bench);
    api_group_destroy(bench.group);
    arena_destroy(bench.arena);
    return 0;
}
