/* test_backfill_writers.c -- writers on several threads while indexes are created and deleted; what
 * is stored in the end is whole. `make tsan` runs it too. */
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

enum { WRITERS = 4, KEYS = 300, GROUPS = 7, LIVES = 4, WAIT_MS = 60000 };

static struct api_fixture db;
static atomic_bool stopping;

struct writer {
    pthread_t thread;
    struct api_fixture view; /* The same database; the calls of one thread. */
    struct random random;
    unsigned failures;
    unsigned writes;
};

static int below(struct writer *writer, int bound)
{
    return (int)random_below(&writer->random, (uint64_t)bound);
}

static const char *make_write(struct writer *writer, char *body, size_t size)
{
    int key = below(writer, KEYS), group = below(writer, GROUPS);
    switch (below(writer, 4)) {
    case 0:
        snprintf(body, size, "{'TableName':'table','Key':{'p':{'S':'%d'}}}", key);
        return "DeleteItem";
    case 1:
        snprintf(body, size,
                 "{'TableName':'table','Key':{'p':{'S':'%d'}},'UpdateExpression':'SET g = :g',"
                 "'ExpressionAttributeValues':{':g':{'S':'%d'}}}",
                 key, group);
        return "UpdateItem";
    default:
        snprintf(body, size, "{'TableName':'table','Item':{'p':{'S':'%d'},'%s':{'S':'%d'}}}", key,
                 below(writer, 4) == 0 ? "other" : "g", group);
        return "PutItem";
    }
}

static void *write_on(void *context)
{
    struct writer *writer = context;
    char body[256];
    while (!atomic_load(&stopping)) {
        const char *operation = make_write(writer, body, sizeof body);
        writer->failures += !api_fixture_call(&writer->view, operation, body);
        writer->writes++;
    }
    return NULL;
}

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n%.*s", operation, body, BYTES_FMT(db.error.message));
}

static void wait_until(bool shown, const char *text)
{
    for (int i = 0; i < WAIT_MS; i++) {
        call("DescribeTable", "{'TableName':'table'}");
        if (api_fixture_shows(&db, text) == shown)
            return;
        usleep(1000);
    }
    fail_msg("%s: %.*s", text, BYTES_FMT(db.response));
}

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

static void indexes_come_and_go_under_writers(void **state)
{
    (void)state;
    struct engine_fixture engine;
    static struct writer writers[WRITERS];
    engine_fixture_open(&engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    api_fixture_open_on(&db, engine.engine, 0);
    call("CreateTable", "{'TableName':'table','BillingMode':'PAY_PER_REQUEST',"
                        "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],"
                        "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}");
    atomic_init(&stopping, false);
    for (size_t i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){ .view = db };
        writers[i].view.arena = arena_create();
        random_init(&writers[i].random, i + 1);
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (int life = 0; life < LIVES; life++) {
        usleep(20000);
        call("UpdateTable", "{'TableName':'table','AttributeDefinitions':["
                            "{'AttributeName':'g','AttributeType':'S'}],"
                            "'GlobalSecondaryIndexUpdates':[{'Create':{'IndexName':'index',"
                            "'KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],"
                            "'Projection':{'ProjectionType':'ALL'}}}]}");
        wait_until(true, "'IndexStatus':'ACTIVE'");
        usleep(20000);
        if (life == LIVES - 1)
            break;
        call("UpdateTable", "{'TableName':'table','GlobalSecondaryIndexUpdates':["
                            "{'Delete':{'IndexName':'index'}}]}");
        wait_until(false, "'IndexName':'index'");
    }
    atomic_store(&stopping, true);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(writers[i].thread, NULL);
        arena_destroy(writers[i].view.arena);
        assert_int_equal(writers[i].failures, 0);
        assert_true(writers[i].writes > 0);
    }
    struct check_result result = check_store(engine.engine, fail_on_problem, NULL);
    assert_true(result.entry_count > 0);
    api_fixture_close(&db); /* The engine too. */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(indexes_come_and_go_under_writers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
