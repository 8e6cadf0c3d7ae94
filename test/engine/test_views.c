/* test_views.c -- how the embedded engine holds the snapshots that views show. What views show is
 * the matter of test_engine.c. */
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
#include "base/hazard.h"
#include "engine/rocksdb/store.h"
#include "engine_fixture.h"

enum { WRITES = 200 };

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const enum engine_fixture_kind kinds[] = { ENGINE_FIXTURE_ROCKSDB_MEMORY,
                                                  ENGINE_FIXTURE_ROCKSDB_OS,
                                                  ENGINE_FIXTURE_ROCKSDB_SYNC };

static struct bytes numbered(unsigned number)
{
    static char text[16];
    return bytes_of(text, (size_t)snprintf(text, sizeof text, "%u", number));
}

static void put(struct engine_fixture *fixture, unsigned number)
{
    engine_fixture_put(fixture->engine, items, BYTES("key"), numbered(number));
}

static bool shows(struct engine_view *view, unsigned number)
{
    return engine_fixture_view_has(view, items, BYTES("key"), numbered(number));
}

static int snapshot_count(struct engine_fixture *fixture)
{
    char *text =
        rocksdb_property_value(((struct store *)fixture->engine)->db, "rocksdb.num-snapshots");
    int count = atoi(text);
    rocksdb_free(text);
    return count;
}

static void a_view_that_stays_open_keeps_its_snapshot_and_no_later_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct engine_fixture fixture;
        engine_fixture_open(&fixture, kinds[i]);
        put(&fixture, 0);
        struct engine_view *view = engine_fixture_view(fixture.engine);
        for (unsigned number = 1; number < WRITES; number++) {
            put(&fixture, number);
            assert_true(snapshot_count(&fixture) <= 2); /* Its own and the published one. */
        }
        assert_true(shows(view, 0));
        engine_view_close(view);
        put(&fixture, WRITES);
        assert_int_equal(snapshot_count(&fixture), 1);
        engine_fixture_close(&fixture);
    }
}

static void a_thread_may_have_more_views_than_hazards(void **state)
{
    enum { VIEWS = 2 * HAZARDS_PER_THREAD };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct engine_view *views[VIEWS];
        struct engine_fixture fixture;
        engine_fixture_open(&fixture, kinds[i]);
        for (unsigned v = 0; v < VIEWS; v++) {
            put(&fixture, v / 2); /* Some views have the same snapshot. */
            views[v] = engine_fixture_view(fixture.engine);
        }
        for (unsigned v = 0; v < VIEWS; v++) {
            assert_true(shows(views[v], v / 2));
            engine_view_close(views[v]);
        }
        put(&fixture, VIEWS);
        assert_int_equal(snapshot_count(&fixture), 1);
        engine_fixture_close(&fixture);
    }
}

static void *close_view(void *view)
{
    assert_true(shows(view, 1));
    engine_view_close(view);
    return NULL;
}

static void a_shared_view_is_closed_by_another_thread_and_its_snapshot_goes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct engine_fixture fixture;
        pthread_t thread;
        engine_fixture_open(&fixture, kinds[i]);
        put(&fixture, 1);
        struct engine_view *view = engine_fixture_view(fixture.engine);
        struct engine_view *shared = engine_view_share(view);
        engine_view_close(view);
        put(&fixture, 2);
        assert_int_equal(snapshot_count(&fixture), 2);
        assert_int_equal(pthread_create(&thread, NULL, close_view, shared), 0);
        pthread_join(thread, NULL);
        assert_int_equal(snapshot_count(&fixture), 1); /* Without another write. */
        engine_fixture_close(&fixture);
    }
}

/* --- All at once --- */

enum { READERS = 3, PUBLICATIONS = 3000 };

struct race {
    struct engine *engine;
    atomic_uint acknowledged;
    atomic_bool over;
};

static unsigned number_of(struct engine_view *view)
{
    struct engine_address address = engine_fixture_address(items, BYTES("key"));
    struct engine_value value = { 0 };
    char text[16] = "";
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    memcpy(text, value.bytes.data, value.bytes.len);
    engine_value_release(&value);
    return (unsigned)atoi(text);
}

static void *read_views(void *argument)
{
    struct race *race = argument;
    while (!atomic_load(&race->over)) {
        unsigned acknowledged = atomic_load(&race->acknowledged);
        struct engine_view *view = engine_fixture_view(race->engine);
        unsigned number = number_of(view);
        assert_true(number >= acknowledged);
        struct engine_view *shared = engine_view_share(view);
        engine_view_close(view);
        assert_int_equal(number_of(shared), number);
        engine_view_close(shared);
    }
    return NULL;
}

static void views_are_opened_and_closed_while_others_are_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        struct engine_fixture fixture;
        pthread_t readers[READERS];
        engine_fixture_open(&fixture, kinds[i]);
        struct race race = { .engine = fixture.engine };
        put(&fixture, 0);
        for (size_t r = 0; r < READERS; r++)
            assert_int_equal(pthread_create(&readers[r], NULL, read_views, &race), 0);
        for (unsigned number = 1; number < PUBLICATIONS; number++) {
            put(&fixture, number);
            atomic_store(&race.acknowledged, number);
            assert_true(snapshot_count(&fixture) <= 2 + 2 * READERS);
        }
        atomic_store(&race.over, true);
        for (size_t r = 0; r < READERS; r++)
            pthread_join(readers[r], NULL);
        put(&fixture, PUBLICATIONS);
        assert_int_equal(snapshot_count(&fixture), 1);
        engine_fixture_close(&fixture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_that_stays_open_keeps_its_snapshot_and_no_later_one),
        cmocka_unit_test(a_thread_may_have_more_views_than_hazards),
        cmocka_unit_test(a_shared_view_is_closed_by_another_thread_and_its_snapshot_goes),
        cmocka_unit_test(views_are_opened_and_closed_while_others_are_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
