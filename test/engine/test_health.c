/* test_health.c -- a store says whether it takes writes, and acknowledges none once it is lost.
 *
 * write of this program takes the place of the C library's, for RocksDB too, so that a test can
 * make the disk refuse what is written to a log or to a table file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine_fixture.h"
#include "store_files.h"

enum { WAIT_MS = 60 * 1000, WAIT_STEP_MS = 5, VALUE_SIZE = 100 * 1024, LOGS = 3 };

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

/* --- The disk --- */

static struct {
    atomic_int error;                  /* 0: none. */
    _Atomic(const char *) file_suffix; /* Of the files that have it. */
} disk;

ssize_t write(int file, const void *data, size_t size)
{
    char link[64], path[SCRATCH_PATH_MAX];
    int error = atomic_load(&disk.error);
    if (error == 0)
        return syscall(SYS_write, file, data, size);
    const char *suffix = atomic_load(&disk.file_suffix);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    ssize_t suffix_length = (ssize_t)strlen(suffix);
    if (length < suffix_length ||
        memcmp(path + length - suffix_length, suffix, (size_t)suffix_length) != 0)
        return syscall(SYS_write, file, data, size);
    errno = error;
    return -1;
}

static void fail_writes(const char *file_suffix, int error)
{
    atomic_store(&disk.file_suffix, file_suffix);
    atomic_store(&disk.error, error);
}

/* --- Fixture --- */

struct health_test {
    struct engine *engine;
    char scratch[SCRATCH_PATH_MAX];
    char store[SCRATCH_PATH_MAX];
    char aside[SCRATCH_PATH_MAX];
};

static int setup_as(void **state, enum engine_durability durability)
{
    char message[ENGINE_MESSAGE_MAX];
    struct health_test *test = malloc(sizeof *test);
    scratch_create(test->scratch);
    scratch_join(test->store, test->scratch, "store");
    scratch_join(test->aside, test->scratch, "aside");
    struct engine_options options = engine_fixture_rocksdb_options(test->store);
    options.durability = durability;
    test->engine = engine_open(&options, message);
    assert_non_null(test->engine);
    *state = test;
    return 0;
}

static int setup(void **state)
{
    return setup_as(state, ENGINE_DURABILITY_SYNC);
}

static int setup_os(void **state)
{
    return setup_as(state, ENGINE_DURABILITY_OS);
}

static int teardown(void **state)
{
    struct health_test *test = *state;
    fail_writes("", 0);
    engine_close(test->engine);
    scratch_destroy(test->scratch);
    free(test);
    return 0;
}

static enum engine_status put(struct engine *engine, const char *key, size_t value_size)
{
    static char value[VALUE_SIZE];
    struct engine_address address = { items, bytes_from_text(key) };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    engine_write_put(write, &address, bytes_of(value, value_size));
    return engine_write_commit_wait(write);
}

/* A write that finds a reason to change nothing. */
static enum engine_status refuse(struct engine *engine, const char *key)
{
    struct engine_address address = { items, bytes_from_text(key) };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    return engine_write_commit_wait(write);
}

static void wait_for_health(struct engine *engine, enum engine_health wanted)
{
    for (int ms = 0; engine_health(engine) != wanted; ms += WAIT_STEP_MS) {
        if (ms >= WAIT_MS)
            fail_msg("the store's health is %d, not %d", (int)engine_health(engine), (int)wanted);
        usleep(WAIT_STEP_MS * 1000);
    }
}

static void remove_file(const struct health_test *test, const char *name)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, test->store, name);
    assert_int_equal(unlink(path), 0);
}

static void remove_log(const struct health_test *test)
{
    char path[SCRATCH_PATH_MAX];
    assert_true(store_files_newest_log(test->store, path) > 0);
    assert_int_equal(unlink(path), 0);
}

static void assert_lost(struct health_test *test)
{
    assert_int_equal(put(test->engine, "late", 1), ENGINE_LOST);
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_LOST);
    assert_int_equal(put(test->engine, "later", 1), ENGINE_LOST);
    assert_true(engine_fixture_has(test->engine, items, BYTES("early"), bytes_of("", 1)));
    assert_true(engine_fixture_lacks(test->engine, items, BYTES("late")));
    assert_true(engine_fixture_lacks(test->engine, items, BYTES("later")));
}

/* --- A log that fails --- */

static void a_log_that_failed_is_told_at_once_and_for_good(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "key", 1), ENGINE_OK);
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_OK);
    fail_writes(".log", EIO);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_IO);
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_FAILED);
    fail_writes("", 0); /* RocksDB goes on refusing. */
    assert_int_equal(put(test->engine, "key", 1), ENGINE_IO);
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_FAILED);
}

static void a_table_file_that_failed_is_told_without_a_write(void **state)
{
    struct health_test *test = *state;
    fail_writes(".sst", EIO);
    for (int i = 0; i < 60; i++) /* Beyond a write buffer of 4 MB, which is then flushed. */
        if (put(test->engine, "key", VALUE_SIZE) != ENGINE_OK)
            break;
    wait_for_health(test->engine, ENGINE_HEALTH_FAILED);
    fail_writes("", 0);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_IO);
}

static void health_returns_without_a_write_once_there_is_space_again(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "key", 1), ENGINE_OK);
    fail_writes(".log", ENOSPC);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_FULL);
    assert_int_not_equal(engine_health(test->engine), ENGINE_HEALTH_OK);
    fail_writes("", 0);
    wait_for_health(test->engine, ENGINE_HEALTH_OK);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_OK);
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_OK);
}

/* --- A directory that is removed --- */

static void no_write_is_acknowledged_once_the_directory_is_renamed(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    assert_int_equal(rename(test->store, test->aside), 0);
    assert_lost(test);
}

static void no_write_is_acknowledged_once_the_directory_is_removed(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    scratch_destroy(test->store);
    assert_lost(test);
}

static void no_write_is_acknowledged_once_another_directory_is_in_its_place(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    assert_int_equal(rename(test->store, test->aside), 0);
    store_files_copy(test->aside, test->store);
    assert_lost(test);
}

static void no_write_is_acknowledged_once_the_log_is_removed(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    remove_log(test);
    assert_lost(test);
}

static void a_refusal_that_read_a_lost_write_is_not_answered(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    remove_log(test);
    assert_int_equal(put(test->engine, "late", 1), ENGINE_LOST);
    assert_int_equal(refuse(test->engine, "late"), ENGINE_LOST);
}

static void a_lost_store_stays_lost_when_the_directory_is_back(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    assert_int_equal(rename(test->store, test->aside), 0);
    assert_int_equal(put(test->engine, "late", 1), ENGINE_LOST);
    assert_int_equal(rename(test->aside, test->store), 0);
    assert_lost(test);
}

static void what_nobody_writes_to_is_missed_too(void **state)
{
    static const char *const names[] = { "CURRENT", "FORMAT", "SYNCED" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct health_test *test = *state;
        assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
        remove_file(test, names[i]);
        wait_for_health(test->engine, ENGINE_HEALTH_LOST);
        assert_lost(test);
        teardown(state);
        setup(state);
    }
}

static void a_store_that_does_not_sync_is_missed_as_well(void **state)
{
    struct health_test *test = *state;
    assert_int_equal(put(test->engine, "early", 1), ENGINE_OK);
    assert_int_equal(rename(test->store, test->aside), 0);
    wait_for_health(test->engine, ENGINE_HEALTH_LOST);
    assert_lost(test);
}

/* RocksDB deletes logs that it no longer needs. */
static void a_log_that_rocksdb_replaced_is_not_missed(void **state)
{
    struct health_test *test = *state;
    char known[SCRATCH_PATH_MAX], newest[SCRATCH_PATH_MAX];
    assert_true(store_files_newest_log(test->store, known) > 0);
    for (int logs = 0; logs < LOGS;) {
        assert_int_equal(put(test->engine, "key", VALUE_SIZE), ENGINE_OK);
        assert_true(store_files_newest_log(test->store, newest) > 0);
        logs += strcmp(newest, known) != 0;
        memcpy(known, newest, sizeof known);
    }
    assert_int_equal(engine_health(test->engine), ENGINE_HEALTH_OK);
}

/* It may happen while the directory is looked at. */
static void a_log_is_not_missed_while_there_is_a_newer_one(void **state)
{
    struct health_test *test = *state;
    char log[SCRATCH_PATH_MAX], newer[SCRATCH_PATH_MAX];
    assert_int_equal(put(test->engine, "key", 1), ENGINE_OK);
    assert_true(store_files_newest_log(test->store, log) > 0);
    scratch_join(newer, test->store, "900000.log");
    fclose(fopen(newer, "w"));
    assert_int_equal(unlink(log), 0);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_OK);
    assert_int_equal(unlink(newer), 0);
    assert_int_equal(put(test->engine, "key", 1), ENGINE_LOST);
}

#define HEALTH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HEALTH_TEST(a_log_that_failed_is_told_at_once_and_for_good),
        HEALTH_TEST(a_table_file_that_failed_is_told_without_a_write),
        HEALTH_TEST(health_returns_without_a_write_once_there_is_space_again),
        HEALTH_TEST(no_write_is_acknowledged_once_the_directory_is_renamed),
        HEALTH_TEST(no_write_is_acknowledged_once_the_directory_is_removed),
        HEALTH_TEST(no_write_is_acknowledged_once_another_directory_is_in_its_place),
        HEALTH_TEST(no_write_is_acknowledged_once_the_log_is_removed),
        HEALTH_TEST(a_refusal_that_read_a_lost_write_is_not_answered),
        HEALTH_TEST(a_lost_store_stays_lost_when_the_directory_is_back),
        HEALTH_TEST(what_nobody_writes_to_is_missed_too),
        HEALTH_TEST(a_log_that_rocksdb_replaced_is_not_missed),
        HEALTH_TEST(a_log_is_not_missed_while_there_is_a_newer_one),
        cmocka_unit_test_setup_teardown(a_store_that_does_not_sync_is_missed_as_well, setup_os,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
