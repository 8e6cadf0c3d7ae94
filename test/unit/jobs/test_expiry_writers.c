/* test_expiry_writers.c -- writers on several threads while time to live comes and goes and items
 * expire; what is stored in the end is whole, and nothing went before its time. `make tsan` runs it
 * too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/random.h"
#include "check/check.h"
#include "engine_fixture.h"

enum { WRITERS = 4, KEYS = 100, LIVES = 4, NOW = 1700000000, SECONDS = 40, WAIT_MS = 60000 };

static struct api_fixture db;
static atomic_bool stopping;
static atomic_int second; /* That the clock has come to. */

struct writer {
    pthread_t thread;
    struct api_fixture view; /* The same database; the calls of one thread. */
    struct random random;
    unsigned number;
    unsigned failures;
    unsigned writes;
    unsigned lost;
    /* When the items of this writer expire; 0: they do not, or were deleted. */
    int expires[KEYS];
};

static int below(struct writer *writer, int bound)
{
    return (int)random_below(&writer->random, (uint64_t)bound);
}

/* No other writer has the key: whether the item is there is up to this one and the job. */
static void check_key(struct writer *writer, int key)
{
    char body[128];
    int latest = writer->expires[key];
    snprintf(body, sizeof body, "{'TableName':'table','Key':{'p':{'S':'%u-%d'}}}", writer->number,
             key);
    writer->failures += !api_fixture_call(&writer->view, "GetItem", body);
    bool is_there = api_fixture_shows(&writer->view, "'Item'");
    /* The clock is read behind the item: what is not there expired no later. */
    if (latest > atomic_load(&second) && !is_there)
        writer->lost++;
}

static void write_key(struct writer *writer, int key)
{
    char body[256];
    int at = NOW + below(writer, SECONDS);
    switch (below(writer, 4)) {
    case 0:
        snprintf(body, sizeof body, "{'TableName':'table','Key':{'p':{'S':'%u-%d'}}}",
                 writer->number, key);
        writer->failures += !api_fixture_call(&writer->view, "DeleteItem", body);
        writer->expires[key] = 0;
        break;
    case 1:
        snprintf(body, sizeof body,
                 "{'TableName':'table','Key':{'p':{'S':'%u-%d'}},'UpdateExpression':'SET t = :t',"
                 "'ExpressionAttributeValues':{':t':{'N':'%d'}}}",
                 writer->number, key, at);
        writer->failures += !api_fixture_call(&writer->view, "UpdateItem", body);
        writer->expires[key] = at;
        break;
    default:
        snprintf(body, sizeof body,
                 "{'TableName':'table','Item':{'p':{'S':'%u-%d'},'t':{'N':'%d'}}}", writer->number,
                 key, at);
        writer->failures += !api_fixture_call(&writer->view, "PutItem", body);
        writer->expires[key] = at;
    }
    writer->writes++;
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    while (!atomic_load(&stopping)) {
        write_key(writer, below(writer, KEYS));
        check_key(writer, below(writer, KEYS));
    }
    return NULL;
}

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n%.*s", operation, body, BYTES_FMT(db.error.message));
}

static void wait_for(const char *text)
{
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTimeToLive", "{'TableName':'table'}");
        if (api_fixture_shows(&db, text))
            return;
        usleep(1000);
    }
    fail_msg("%s: %.*s", text, BYTES_FMT(db.response));
}

static void set_time_to_live(const char *enabled)
{
    char body[128];
    snprintf(body, sizeof body,
             "{'TableName':'table','TimeToLiveSpecification':{'Enabled':%s,'AttributeName':'t'}}",
             enabled);
    call("UpdateTimeToLive", body);
}

/* The writers' bound goes first, so that they never take an item for lost that went in time. */
static void pass_time(int seconds)
{
    for (int i = 0; i < seconds; i++) {
        atomic_fetch_add(&second, 1);
        atomic_fetch_add(&db.clock.fixed_ms, 1000);
        usleep(5000);
    }
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void time_to_live_comes_and_goes_under_writers(void **state)
{
    (void)state;
    struct engine_fixture engine;
    static struct writer writers[WRITERS];
    engine_fixture_open(&engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    api_fixture_open_with(
        &db, &(struct api_options){ .engine = engine.engine, .expiry_interval_ms = 1 });
    call("CreateTable", "{'TableName':'table','BillingMode':'PAY_PER_REQUEST',"
                        "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}");
    atomic_init(&stopping, false);
    atomic_init(&second, NOW);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .view = db, .number = i };
        writers[i].view.arena = arena_create();
        random_init(&writers[i].random, i + 1);
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (int life = 0; life < LIVES; life++) {
        usleep(20000);
        set_time_to_live("true");
        wait_for("'ENABLED'");
        pass_time(SECONDS / LIVES);
        if (life == LIVES - 1)
            break;
        set_time_to_live("false");
        wait_for("'DISABLED'");
    }
    atomic_store(&stopping, true);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        arena_destroy(writers[i].view.arena);
        assert_int_equal(writers[i].failures, 0);
        assert_int_equal(writers[i].lost, 0);
        assert_true(writers[i].writes > 0);
    }
    /* Every item has expired by now. */
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTable", "{'TableName':'table'}");
        if (api_fixture_shows(&db, "'ItemCount':0,"))
            break;
        usleep(1000);
    }
    assert_true(api_fixture_shows(&db, "'ItemCount':0,"));
    check_store(engine.engine, fail_on_problem, NULL);
    api_fixture_close(&db); /* The engine too. */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        time_to_live_comes_and_goes_under_writers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
