/* test_stalls.c -- while RocksDB makes writers wait, nobody who commits does.
 *
 * RocksDB stops writers once its write buffers are full and none was flushed. Without threads in
 * the background nothing is flushed, for as long as a test likes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <rocksdb/c.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_writer.h"
#include "engine_fixture.h"

enum {
    WRITE_BUFFER_SIZE = 64 * 1024,
    VALUE_SIZE = 32 * 1024,
    WRITES_MAX = 64, /* Far more than two buffers take. */
    KEY_SIZE = 8,
    LATCH_WAIT_MS = 20,
};

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static rocksdb_env_t *env;

static void set_background_threads(int count)
{
    rocksdb_env_set_background_threads(env, count);
    rocksdb_env_set_high_priority_background_threads(env, count);
    rocksdb_env_set_low_priority_background_threads(env, count);
    rocksdb_env_set_bottom_priority_background_threads(env, count);
}

struct fixture {
    struct engine *engine;
    char directory[SCRATCH_PATH_MAX];
};

static int open_with(void **state, enum engine_durability durability, unsigned write_wait_ms)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char message[ENGINE_MESSAGE_MAX];
    scratch_create(fixture->directory);
    struct engine_options options = engine_fixture_rocksdb_options(fixture->directory);
    options.durability = durability;
    options.write_buffer_size = WRITE_BUFFER_SIZE;
    options.write_wait_ms = write_wait_ms;
    options.stuck_ms = 1; /* Only health depends on it. */
    fixture->engine = engine_open(&options, message);
    env = rocksdb_create_default_env();
    set_background_threads(0);
    *state = fixture;
    return fixture->engine == NULL ? -1 : 0;
}

static int set_up(void **state)
{
    return open_with(state, ENGINE_DURABILITY_SYNC, 0);
}

static int set_up_os(void **state)
{
    return open_with(state, ENGINE_DURABILITY_OS, 0);
}

static int set_up_impatient(void **state)
{
    return open_with(state, ENGINE_DURABILITY_SYNC, LATCH_WAIT_MS);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    set_background_threads(1);
    engine_close(fixture->engine);
    scratch_destroy(fixture->directory);
    rocksdb_env_destroy(env);
    free(fixture);
    return 0;
}

static struct engine *engine_of(void **state)
{
    return ((struct fixture *)*state)->engine;
}

static struct store_writer *writer_of(void **state)
{
    return ((struct store *)engine_of(state))->writer;
}

/* --- Writes --- */

struct put {
    struct engine_completion completion;
    struct engine_wait wait;
    char key[KEY_SIZE];
    atomic_int done;
    atomic_int status;
    atomic_int begun; /* By `wait`. */
    struct engine_write *write;
};

static struct put some[WRITES_MAX];
static uint8_t value[VALUE_SIZE];

static void note_done(struct engine_completion *completion, enum engine_status status)
{
    struct put *put = (struct put *)completion;
    put->status = (int)status;
    put->done++;
}

static void note_ready(struct engine_wait *wait, enum engine_status status,
                       struct engine_write *write)
{
    struct put *put = (struct put *)((char *)wait - offsetof(struct put, wait));
    put->status = (int)status;
    put->write = write;
    put->begun++;
}

static struct engine_address address_of(const struct put *put)
{
    return engine_fixture_address(items, bytes_from_text(put->key));
}

static enum engine_status begin(struct engine *engine, struct put *put, unsigned key)
{
    memset(put, 0, sizeof *put);
    put->completion.done = note_done;
    put->wait.ready = note_ready;
    snprintf(put->key, KEY_SIZE, "%u", key);
    struct engine_address address = address_of(put);
    return engine_write_begin_later(engine, &address, 1, &put->wait, &put->write);
}

static void commit(struct put *put)
{
    struct engine_address address = address_of(put);
    engine_write_put(put->write, &address, bytes_of(value, VALUE_SIZE));
    engine_write_commit(put->write, &put->completion);
}

/* Until RocksDB takes no more. Returns how many were written or wait: the last one waits. */
static unsigned write_until_stalled(void **state)
{
    for (unsigned i = 0; i < WRITES_MAX; i++) {
        assert_int_equal(begin(engine_of(state), &some[i], i), ENGINE_OK);
        commit(&some[i]);
        if (store_writer_is_stalled(writer_of(state)))
            return i + 1;
    }
    fail_msg("RocksDB did not stop writers");
    return 0;
}

static void wait_for(const struct put *put)
{
    while (put->done == 0)
        usleep(1000);
    assert_int_equal(put->done, 1);
    assert_int_equal(put->status, ENGINE_OK);
}

static bool is_stored(void **state, const struct put *put)
{
    return engine_fixture_has(engine_of(state), items, bytes_from_text(put->key),
                              bytes_of(value, VALUE_SIZE));
}

/* --- Tests --- */

static void commits_return_and_end_when_the_stall_does(void **state)
{
    unsigned count = write_until_stalled(state);
    for (unsigned i = 0; i < 10; i++) { /* Those go to the queue without asking RocksDB. */
        assert_int_equal(begin(engine_of(state), &some[count], count), ENGINE_OK);
        commit(&some[count++]);
    }
    for (unsigned i = 0; i + 11 < count; i++)
        wait_for(&some[i]);
    for (unsigned i = count - 11; i < count; i++) {
        assert_int_equal(some[i].done, 0);
        assert_false(is_stored(state, &some[i]));
    }
    assert_true(is_stored(state, &some[0])); /* Reads go on. */
    set_background_threads(1);
    for (unsigned i = 0; i < count; i++) {
        wait_for(&some[i]);
        assert_true(is_stored(state, &some[i]));
    }
    /* And it is as before. */
    assert_int_equal(begin(engine_of(state), &some[0], 0), ENGINE_OK);
    commit(&some[0]);
    wait_for(&some[0]);
    assert_false(store_writer_is_stalled(writer_of(state)));
}

static void a_batch_that_waits_for_too_long_is_bad_health(void **state)
{
    assert_int_equal(engine_health(engine_of(state)), ENGINE_HEALTH_OK);
    unsigned count = write_until_stalled(state);
    while (engine_health(engine_of(state)) != ENGINE_HEALTH_STUCK)
        usleep(1000);
    set_background_threads(1);
    for (unsigned i = 0; i < count; i++)
        wait_for(&some[i]);
    while (engine_health(engine_of(state)) != ENGINE_HEALTH_OK)
        usleep(1000);
}

static void what_waits_keeps_its_latches(void **state)
{
    struct engine_value found;
    unsigned count = write_until_stalled(state);
    struct put *second = &some[count];
    assert_int_equal(begin(engine_of(state), second, count - 1), ENGINE_WAITING);
    assert_int_equal(second->begun, 0);
    set_background_threads(1);
    while (second->begun == 0)
        usleep(1000);
    assert_int_equal(second->status, ENGINE_OK);
    struct engine_address address = address_of(second);
    assert_int_equal(engine_write_get(second->write, &address, &found), ENGINE_OK);
    assert_true(bytes_equal(found.bytes, bytes_of(value, VALUE_SIZE)));
    engine_value_release(&found);
    engine_write_abandon(second->write);
    wait_for(&some[count - 1]);
}

static void who_waits_for_the_stall_for_too_long_is_refused(void **state)
{
    unsigned count = write_until_stalled(state);
    struct put *second = &some[count];
    assert_int_equal(begin(engine_of(state), second, count - 1), ENGINE_WAITING);
    while (second->begun == 0)
        usleep(1000);
    assert_int_equal(second->status, ENGINE_BUSY);
    assert_null(second->write);
    set_background_threads(1);
    wait_for(&some[count - 1]); /* What was decided is written. */
}

/* A value that was read often is in the cache, unless its key is very short: it is taken out, and
 * the new one is found. */
static void a_hot_item_is_never_stale(void **state)
{
    struct engine_address address =
        engine_fixture_address(items, BYTES("a hot item has a key of some length"));
    for (int i = 0; i < 20; i++) {
        engine_fixture_put(engine_of(state), items, address.key, BYTES("old"));
        assert_true(engine_fixture_has(engine_of(state), items, address.key, BYTES("old")));
    }
    write_until_stalled(state);
    struct engine_write *write;
    struct engine_value found;
    struct put hot = { .completion.done = note_done };
    assert_int_equal(engine_write_begin(engine_of(state), &address, 1, &write), ENGINE_OK);
    assert_int_equal(engine_write_get(write, &address, &found), ENGINE_OK);
    engine_value_release(&found);
    engine_write_put(write, &address, BYTES("new"));
    engine_write_commit(write, &hot.completion);
    for (int i = 0; i < 20; i++)
        assert_true(engine_fixture_has(engine_of(state), items, address.key, BYTES("old")));
    set_background_threads(1);
    wait_for(&hot);
    for (int i = 0; i < 20; i++)
        assert_true(engine_fixture_has(engine_of(state), items, address.key, BYTES("new")));
}

static void no_write_begins_while_too_many_wait(void **state)
{
    static struct put many[STORE_WRITER_QUEUE_MAX];
    struct engine_address free_one = engine_fixture_address(items, BYTES("free"));
    struct engine_write *write;
    bool busy;
    unsigned count = write_until_stalled(state);
    for (unsigned i = 0; i < STORE_WRITER_QUEUE_MAX - 1; i++) {
        /* Without latches, of which so many would meet. */
        many[i] = (struct put){ .completion.done = note_done, .wait.ready = note_ready };
        assert_int_equal(
            engine_write_begin_later(engine_of(state), NULL, 0, &many[i].wait, &many[i].write),
            ENGINE_OK);
        engine_write_put(many[i].write, &free_one, BYTES("small"));
        engine_write_commit(many[i].write, &many[i].completion);
    }
    assert_int_equal(begin(engine_of(state), &many[STORE_WRITER_QUEUE_MAX - 1], 1), ENGINE_BUSY);
    assert_int_equal(engine_write_try(engine_of(state), &free_one, 1, &busy, &write), ENGINE_BUSY);
    assert_false(busy);
    /* Of threads that wait there are few. */
    assert_int_equal(engine_write_begin(engine_of(state), &free_one, 1, &write), ENGINE_OK);
    engine_write_abandon(write);
    set_background_threads(1);
    for (unsigned i = 0; i < STORE_WRITER_QUEUE_MAX - 1; i++)
        wait_for(&many[i]);
    wait_for(&some[count - 1]);
    assert_int_equal(begin(engine_of(state), &some[0], 0), ENGINE_OK);
    engine_write_abandon(some[0].write);
}

static void no_write_begins_while_those_that_wait_take_too_much_memory(void **state)
{
    enum { LARGE = 4 * 1024 * 1024, COUNT = STORE_WRITER_BYTES_MAX / LARGE };
    static struct put large[COUNT];
    static uint8_t large_value[LARGE];
    unsigned count = write_until_stalled(state); /* That one is a little more. */
    for (unsigned i = 0; i < COUNT; i++) {
        enum engine_status status = begin(engine_of(state), &large[i], 1000 + i);
        assert_int_equal(status, ENGINE_OK);
        struct engine_address address = address_of(&large[i]);
        engine_write_put(large[i].write, &address, bytes_of(large_value, LARGE));
        engine_write_commit(large[i].write, &large[i].completion);
    }
    assert_int_equal(begin(engine_of(state), &some[count], 2000), ENGINE_BUSY);
    set_background_threads(1);
    for (unsigned i = 0; i < COUNT; i++)
        wait_for(&large[i]);
    assert_int_equal(begin(engine_of(state), &some[count], 2000), ENGINE_OK);
    engine_write_abandon(some[count].write);
}

static void *end_the_stall(void *unused)
{
    (void)unused;
    usleep(20 * 1000);
    set_background_threads(1);
    return NULL;
}

static void closing_writes_what_waits(void **state)
{
    struct fixture *fixture = *state;
    char message[ENGINE_MESSAGE_MAX];
    unsigned count = write_until_stalled(state);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, end_the_stall, NULL), 0);
    engine_close(fixture->engine);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(some[i].done, 1);
    struct engine_options options = engine_fixture_rocksdb_options(fixture->directory);
    fixture->engine = engine_open(&options, message);
    assert_non_null(fixture->engine);
    assert_true(is_stored(state, &some[count - 1]));
}

int main(void)
{
#define TEST(name, with) cmocka_unit_test_setup_teardown(name, with, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(commits_return_and_end_when_the_stall_does, set_up),
        TEST(commits_return_and_end_when_the_stall_does, set_up_os),
        TEST(a_batch_that_waits_for_too_long_is_bad_health, set_up_os),
        TEST(what_waits_keeps_its_latches, set_up),
        TEST(who_waits_for_the_stall_for_too_long_is_refused, set_up_impatient),
        TEST(a_hot_item_is_never_stale, set_up),
        TEST(no_write_begins_while_too_many_wait, set_up),
        TEST(no_write_begins_while_those_that_wait_take_too_much_memory, set_up),
        TEST(closing_writes_what_waits, set_up),
        TEST(closing_writes_what_waits, set_up_os),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
