/* test_latch_wait.c -- a write waits for those that have its addresses, but not for ever. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include "base/compiler.h"
#include "engine_fixture.h"

enum { SHORT_WAIT_MS = 20, LONG_WAIT_MS = 60 * 1000 };

static const struct engine_place place = { .owner = 5,
                                           .partition = 1,
                                           .space = ENGINE_SPACE_ITEMS };

static struct engine *open_engine(unsigned write_wait_ms)
{
    struct engine_options options = engine_fixture_rocksdb_options(NULL);
    char message[ENGINE_MESSAGE_MAX];
    options.in_memory = true;
    options.write_wait_ms = write_wait_ms;
    struct engine *engine = engine_open(&options, message);
    assert_non_null(engine);
    return engine;
}

/* Begins a write of the keys, on a thread of its own: one thread has one write at a time. */
struct begun {
    struct engine *engine;
    struct engine_address addresses[2];
    enum engine_status status;
};

static void *begin_and_abandon(void *context)
{
    struct begun *begun = context;
    struct engine_write *write;
    begun->status =
        engine_write_begin(begun->engine, begun->addresses, COUNT_OF(begun->addresses), &write);
    if (begun->status == ENGINE_OK)
        engine_write_abandon(write);
    return NULL;
}

static pthread_t begin_elsewhere(struct begun *begun, struct engine *engine, const char *first,
                                 const char *second)
{
    pthread_t thread;
    *begun = (struct begun){
        .engine = engine,
        .addresses = { engine_fixture_address(place, bytes_from_text(first)),
                       engine_fixture_address(place, bytes_from_text(second)) },
    };
    assert_int_equal(pthread_create(&thread, NULL, begin_and_abandon, begun), 0);
    return thread;
}

static void a_write_gives_up_and_leaves_nothing_held(void **state)
{
    struct engine *engine = open_engine(SHORT_WAIT_MS);
    struct engine_address held = engine_fixture_address(place, BYTES("held"));
    struct engine_write *write;
    struct begun begun;
    (void)state;
    assert_int_equal(engine_write_begin(engine, &held, 1, &write), ENGINE_OK);
    pthread_join(begin_elsewhere(&begun, engine, "held", "free"), NULL);
    assert_int_equal(begun.status, ENGINE_BUSY);
    pthread_join(begin_elsewhere(&begun, engine, "free", "free"), NULL);
    assert_int_equal(begun.status, ENGINE_OK);
    engine_write_abandon(write);
    pthread_join(begin_elsewhere(&begun, engine, "held", "free"), NULL);
    assert_int_equal(begun.status, ENGINE_OK);
    engine_close(engine);
}

static void a_write_waits_for_its_turn(void **state)
{
    struct engine *engine = open_engine(LONG_WAIT_MS);
    struct engine_address held = engine_fixture_address(place, BYTES("held"));
    struct engine_write *write;
    struct begun begun;
    (void)state;
    assert_int_equal(engine_write_begin(engine, &held, 1, &write), ENGINE_OK);
    pthread_t thread = begin_elsewhere(&begun, engine, "held", "free");
    engine_write_abandon(write); /* Before or while the other one waits. */
    pthread_join(thread, NULL);
    assert_int_equal(begun.status, ENGINE_OK);
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_gives_up_and_leaves_nothing_held),
        cmocka_unit_test(a_write_waits_for_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
