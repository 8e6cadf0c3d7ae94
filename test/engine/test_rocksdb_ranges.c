/* test_rocksdb_ranges.c -- deleted ranges do not gather in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <sched.h>
#include "engine/engine.h"
#include "engine/rocksdb/store.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

/* How many files RocksDB has flushed what was written to. */
static size_t count_files(const char *directory)
{
    char pattern[SCRATCH_PATH_MAX];
    glob_t found;
    scratch_join(pattern, directory, "*.sst");
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return count;
}

static void delete_owners(struct engine *engine, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct engine_write *write;
        assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
        engine_write_delete_owner(write, 100 + i);
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    }
}

static void many_deleted_ranges_are_flushed(void **state)
{
    (void)state;
    struct engine_fixture fixture;
    engine_fixture_open(&fixture, ENGINE_FIXTURE_ROCKSDB_SYNC);
    engine_fixture_put(fixture.engine, items, BYTES("a"), BYTES("1"));
    delete_owners(fixture.engine, STORE_RANGES_MAX - 1);
    assert_int_equal(count_files(fixture.directory), 0);
    delete_owners(fixture.engine, 1);
    while (count_files(fixture.directory) == 0) /* Nobody waits for it but us. */
        sched_yield();
    assert_true(engine_fixture_has(fixture.engine, items, BYTES("a"), BYTES("1")));
    engine_fixture_reopen(&fixture);
    assert_true(engine_fixture_has(fixture.engine, items, BYTES("a"), BYTES("1")));
    engine_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_deleted_ranges_are_flushed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
