/* test_checkpoint.c -- copies of a store while it is in use: engine_checkpoint on every engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compiler.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place other = { 8, 2, ENGINE_SPACE_INDEX };

struct checkpoint_test {
    struct engine_fixture fixture;
    char scratch[SCRATCH_PATH_MAX];
    char path[SCRATCH_PATH_MAX]; /* Where the copy goes. */
};

static int setup(void **state)
{
    enum engine_fixture_kind kind = *(const enum engine_fixture_kind *)*state;
    struct checkpoint_test *test = malloc(sizeof *test);
    engine_fixture_open(&test->fixture, kind);
    scratch_create(test->scratch);
    scratch_join(test->path, test->scratch, "copy");
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct checkpoint_test *test = *state;
    engine_fixture_close(&test->fixture);
    scratch_destroy(test->scratch);
    free(test);
    return 0;
}

static struct engine *open_copy(const struct checkpoint_test *test, bool read_only)
{
    struct engine_options options = engine_fixture_rocksdb_options(test->path);
    char message[ENGINE_MESSAGE_MAX];
    options.read_only = read_only;
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL)
        fail_msg("%s", message);
    return engine;
}

/* A store in files. A cluster's content outlives the engine too, but nothing copies it. */
static bool is_copied(const struct engine_fixture *fixture)
{
    return engine_fixture_is_persistent(fixture) && fixture->kind != ENGINE_FIXTURE_RADOS;
}

static void an_engine_that_cannot_says_so(void **state)
{
    struct checkpoint_test *test = *state;
    enum engine_status want = is_copied(&test->fixture) ? ENGINE_OK : ENGINE_UNSUPPORTED;
    assert_int_equal(engine_checkpoint(test->fixture.engine, test->path), want);
}

static void a_copy_holds_what_was_there_and_is_a_store_of_its_own(void **state)
{
    struct checkpoint_test *test = *state;
    struct engine *engine = test->fixture.engine;
    engine_fixture_put(engine, items, BYTES("before"), BYTES("1"));
    engine_fixture_put(engine, items, BYTES("gone"), BYTES("1"));
    engine_fixture_delete(engine, items, BYTES("gone"));
    assert_int_equal(engine_checkpoint(engine, test->path), ENGINE_OK);
    engine_fixture_put(engine, items, BYTES("after"), BYTES("1"));
    struct engine *copy = open_copy(test, false);
    assert_true(engine_fixture_has(copy, items, BYTES("before"), BYTES("1")));
    assert_true(engine_fixture_lacks(copy, items, BYTES("gone")));
    assert_true(engine_fixture_lacks(copy, items, BYTES("after")));
    engine_fixture_put(copy, items, BYTES("before"), BYTES("changed"));
    engine_close(copy);
    assert_true(engine_fixture_has(engine, items, BYTES("before"), BYTES("1")));
    assert_true(engine_fixture_has(engine, items, BYTES("after"), BYTES("1")));
}

static void a_place_that_is_taken_or_cannot_be_is_refused(void **state)
{
    struct checkpoint_test *test = *state;
    char missing[SCRATCH_PATH_MAX];
    assert_int_equal(engine_checkpoint(test->fixture.engine, test->path), ENGINE_OK);
    assert_int_equal(engine_checkpoint(test->fixture.engine, test->path), ENGINE_IO);
    scratch_join(missing, test->scratch, "no/such/folder");
    assert_int_equal(engine_checkpoint(test->fixture.engine, missing), ENGINE_IO);
    /* And the store goes on. */
    engine_fixture_put(test->fixture.engine, items, BYTES("a"), BYTES("1"));
    assert_true(engine_fixture_has(test->fixture.engine, items, BYTES("a"), BYTES("1")));
}

static void a_store_opened_for_reading_is_not_copied(void **state)
{
    struct checkpoint_test *test = *state;
    char second[SCRATCH_PATH_MAX];
    assert_int_equal(engine_checkpoint(test->fixture.engine, test->path), ENGINE_OK);
    struct engine *copy = open_copy(test, true);
    scratch_join(second, test->scratch, "second");
    assert_int_equal(engine_checkpoint(copy, second), ENGINE_UNSUPPORTED);
    engine_close(copy);
}

/* --- Under load --- */

enum { WRITERS = 3, COPIES = 5 };

struct writer {
    struct engine *engine;
    int number;
    pthread_t thread;
    atomic_bool stopping;
    atomic_uint_fast64_t completed; /* The last value whose write was completed. */
};

/* Each write puts one number in two places, of different owners. */
static void *write_pairs(void *context)
{
    struct writer *writer = context;
    struct bytes key = bytes_of(&writer->number, sizeof writer->number);
    const struct engine_address addresses[] = { { items, key }, { other, key } };
    for (uint64_t value = 1; !atomic_load(&writer->stopping); value++) {
        struct engine_write *write;
        if (engine_write_begin(writer->engine, addresses, COUNT_OF(addresses), &write) != ENGINE_OK)
            abort();
        for (size_t i = 0; i < COUNT_OF(addresses); i++)
            engine_write_put(write, &addresses[i], bytes_of(&value, sizeof value));
        if (engine_write_commit_wait(write) != ENGINE_OK)
            abort();
        atomic_store(&writer->completed, value);
    }
    return NULL;
}

/* 0 if there is none. */
static uint64_t read_number(struct engine *engine, struct engine_place place, int key)
{
    struct engine_address address = { place, bytes_of(&key, sizeof key) };
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_value value;
    uint64_t number = 0;
    enum engine_status status = engine_view_get(view, &address, &value);
    if (status == ENGINE_OK)
        memcpy(&number, value.bytes.data, sizeof number);
    else
        assert_int_equal(status, ENGINE_NOT_FOUND);
    engine_value_release(&value);
    engine_view_close(view);
    return number;
}

static void assert_copy_is_whole(struct checkpoint_test *test, const uint64_t *completed)
{
    struct engine *copy = open_copy(test, true);
    for (int i = 0; i < WRITERS; i++) {
        uint64_t number = read_number(copy, items, i);
        assert_true(number >= completed[i]);
        assert_int_equal(number, read_number(copy, other, i));
    }
    engine_close(copy);
    scratch_destroy(test->path);
}

static void a_copy_under_load_has_each_write_whole_and_all_that_were_completed(void **state)
{
    struct checkpoint_test *test = *state;
    struct writer writers[WRITERS] = { 0 };
    for (int i = 0; i < WRITERS; i++) {
        writers[i].engine = test->fixture.engine;
        writers[i].number = i;
        pthread_create(&writers[i].thread, NULL, write_pairs, &writers[i]);
    }
    for (int copy = 0; copy < COPIES; copy++) {
        uint64_t completed[WRITERS];
        for (int i = 0; i < WRITERS; i++)
            completed[i] = atomic_load(&writers[i].completed);
        assert_int_equal(engine_checkpoint(test->fixture.engine, test->path), ENGINE_OK);
        assert_copy_is_whole(test, completed);
    }
    for (int i = 0; i < WRITERS; i++) {
        atomic_store(&writers[i].stopping, true);
        pthread_join(writers[i].thread, NULL);
    }
}

#define ON(test, kind) cmocka_unit_test_prestate_setup_teardown(test, setup, teardown, kind)

static int run_on(enum engine_fixture_kind kind)
{
    const struct CMUnitTest tests[] = {
        ON(an_engine_that_cannot_says_so, &kind),
    };
    const struct CMUnitTest persistent_tests[] = {
        ON(a_copy_holds_what_was_there_and_is_a_store_of_its_own, &kind),
        ON(a_place_that_is_taken_or_cannot_be_is_refused, &kind),
        ON(a_store_opened_for_reading_is_not_copied, &kind),
        ON(a_copy_under_load_has_each_write_whole_and_all_that_were_completed, &kind),
    };
    struct engine_fixture any = { .kind = kind };
    printf("engine: %s\n", engine_fixture_kind_name(kind));
    int failures = cmocka_run_group_tests_name(engine_fixture_kind_name(kind), tests, NULL, NULL);
    if (is_copied(&any))
        failures += cmocka_run_group_tests_name("copies", persistent_tests, NULL, NULL);
    return failures;
}

int main(void)
{
    int failures = 0;
    for (int kind = 0; kind < ENGINE_FIXTURE_KIND_COUNT; kind++)
        if (engine_fixture_is_chosen((enum engine_fixture_kind)kind))
            failures += run_on((enum engine_fixture_kind)kind);
    return failures == 0 ? 0 : 1;
}
