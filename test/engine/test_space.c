/* test_space.c -- who may write when the disk is nearly full, and what the reserve is for.
 *
 * fstatvfs of this program takes the place of the C library's, so that a test says how much is
 * free; so do fallocate and unlinkat, to tell which threads create and delete the reserve.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine/rocksdb/store_ahead.h"
#include "engine/rocksdb/store_space.h"
#include "engine/rocksdb/store_watch.h"
#include "engine_fixture.h"
#include "store_files.h"

enum { WAIT_MS = 60 * 1000, WAIT_STEP_MS = 5 };

#define MIB (1024 * 1024)
#define RESERVE (STORE_SPACE_BUFFERS * 4 * MIB) /* The fixture's write buffers have 4 MB. */
#define FILE_SYSTEM (STORE_SPACE_PART * (uint64_t)RESERVE)

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place entries = { 8, 1, ENGINE_SPACE_INDEX };
static const struct engine_place stats = { 7, 1, ENGINE_SPACE_STATS };

static struct {
    atomic_uint_fast64_t size;
    atomic_uint_fast64_t free;
} disk = { FILE_SYSTEM, FILE_SYSTEM };

int fstatvfs(int file, struct statvfs *out)
{
    (void)file;
    *out = (struct statvfs){ .f_frsize = 1,
                             .f_blocks = atomic_load(&disk.size),
                             .f_bavail = atomic_load(&disk.free) };
    return 0;
}

static struct {
    pthread_t writer;    /* Of the test. */
    atomic_int made;     /* How often the file was created while `writer` was watched, */
    atomic_int deleted;  /* and deleted; */
    atomic_int in_place; /* how often of these by `writer` itself. */
} reserve;

static void count_reserve(atomic_int *counter)
{
    atomic_fetch_add(counter, 1);
    if (pthread_equal(reserve.writer, pthread_self()))
        atomic_fetch_add(&reserve.in_place, 1);
}

int fallocate(int file, int mode, off_t offset, off_t size)
{
    char link[64], path[SCRATCH_PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    if (length > 7 && memcmp(path + length - 7, "RESERVE", 7) == 0)
        count_reserve(&reserve.made);
    return (int)syscall(SYS_fallocate, file, mode, offset, size);
}

int unlinkat(int folder, const char *name, int flags)
{
    if (strcmp(name, "RESERVE") == 0)
        count_reserve(&reserve.deleted);
    return (int)syscall(SYS_unlinkat, folder, name, flags);
}

/* What the engine last saw of the disk is no longer good. */
static void set_free(uint64_t size)
{
    atomic_store(&disk.free, size);
    usleep((STORE_SPACE_LOOK_MS + 10) * 1000);
}

static int setup(void **state)
{
    struct engine_fixture *fixture = malloc(sizeof *fixture);
    atomic_store(&disk.size, FILE_SYSTEM);
    atomic_store(&disk.free, FILE_SYSTEM);
    engine_fixture_open(fixture, ENGINE_FIXTURE_ROCKSDB_SYNC);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    engine_fixture_close(*state);
    free(*state);
    return 0;
}

static enum engine_status put(struct engine *engine, struct engine_place place)
{
    struct engine_address address = { place, BYTES("key") };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    engine_write_put(write, &address, BYTES("value"));
    return engine_write_commit_wait(write);
}

static enum engine_status remove_item(struct engine *engine)
{
    struct engine_address addresses[] = { { items, BYTES("key") }, { stats, BYTES("shard") } };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, addresses, COUNT_OF(addresses), &write), ENGINE_OK);
    engine_write_delete(write, &addresses[0]);
    engine_write_put(write, &addresses[1], BYTES("0"));
    return engine_write_commit_wait(write);
}

/* Of the file RESERVE; -1: there is none. */
static int64_t reserve_size(const struct engine_fixture *fixture)
{
    char path[SCRATCH_PATH_MAX];
    struct stat status;
    scratch_join(path, fixture->directory, "RESERVE");
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* The watch has a round at least every so often: it had one that began after this was called. */
static void wait_for_watch(void)
{
    usleep(2 * STORE_WATCH_IDLE_MS * 1000);
}

static void wait_for_reserve_size(const struct engine_fixture *fixture, int64_t size)
{
    for (int ms = 0; reserve_size(fixture) != size; ms += WAIT_STEP_MS) {
        if (ms >= WAIT_MS)
            fail_msg("RESERVE has %lld bytes", (long long)reserve_size(fixture));
        usleep(WAIT_STEP_MS * 1000);
    }
}

static void below_the_reserve_only_deletions_go_on(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    set_free(RESERVE);
    assert_int_equal(put(engine, items), ENGINE_OK);
    assert_int_equal(put(engine, entries), ENGINE_OK);
    set_free(RESERVE - 1);
    assert_int_equal(put(engine, items), ENGINE_FULL);
    assert_int_equal(put(engine, entries), ENGINE_FULL);
    assert_int_equal(put(engine, stats), ENGINE_OK);
    assert_true(engine_fixture_has(engine, items, BYTES("key"), BYTES("value")));
    assert_int_equal(remove_item(engine), ENGINE_OK);
    assert_true(engine_fixture_lacks(engine, items, BYTES("key")));
}

static void items_are_stored_again_once_there_is_half_a_reserve_more(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    set_free(RESERVE - 1);
    assert_int_equal(put(engine, items), ENGINE_FULL);
    set_free(RESERVE + RESERVE / 2 - 1);
    assert_int_equal(put(engine, items), ENGINE_FULL);
    set_free(RESERVE + RESERVE / 2);
    assert_int_equal(put(engine, items), ENGINE_OK);
}

static void the_file_is_given_up_for_a_deletion_and_made_again(void **state)
{
    struct engine_fixture *fixture = *state;
    assert_int_equal(reserve_size(fixture), RESERVE);
    set_free(0);
    assert_int_equal(put(fixture->engine, items), ENGINE_FULL); /* Not worth it. */
    set_free(RESERVE / 2);
    assert_int_equal(remove_item(fixture->engine), ENGINE_OK);
    wait_for_watch();
    assert_int_equal(reserve_size(fixture), RESERVE);
    set_free(RESERVE / 2 - 1);
    assert_int_equal(remove_item(fixture->engine), ENGINE_OK);
    wait_for_reserve_size(fixture, -1);
    set_free(3 * RESERVE - 1); /* There would be too little left beside the file. */
    assert_int_equal(put(fixture->engine, items), ENGINE_FULL);
    wait_for_watch();
    assert_int_equal(reserve_size(fixture), -1);
    set_free(3 * RESERVE);
    assert_int_equal(put(fixture->engine, items), ENGINE_OK);
    wait_for_reserve_size(fixture, RESERVE);
}

/* Whoever writes may be a loop. */
static void the_file_is_neither_made_nor_deleted_by_a_writer(void **state)
{
    struct engine_fixture *fixture = *state;
    reserve.writer = pthread_self();
    atomic_store(&reserve.made, 0);
    atomic_store(&reserve.deleted, 0);
    atomic_store(&reserve.in_place, 0);
    set_free(0);
    assert_int_equal(remove_item(fixture->engine), ENGINE_OK);
    wait_for_reserve_size(fixture, -1);
    set_free(FILE_SYSTEM);
    assert_int_equal(put(fixture->engine, items), ENGINE_OK);
    wait_for_reserve_size(fixture, RESERVE);
    assert_int_equal(atomic_load(&reserve.deleted), 1);
    assert_int_equal(atomic_load(&reserve.made), 1);
    assert_int_equal(atomic_load(&reserve.in_place), 0);
}

static void health_follows_the_disk_without_a_write(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    assert_int_equal(engine_health(engine), ENGINE_HEALTH_OK);
    atomic_store(&disk.free, RESERVE - 1);
    for (int ms = 0; engine_health(engine) != ENGINE_HEALTH_FULL; ms += WAIT_STEP_MS) {
        assert_true(ms < WAIT_MS);
        usleep(WAIT_STEP_MS * 1000);
    }
    atomic_store(&disk.free, FILE_SYSTEM);
    for (int ms = 0; engine_health(engine) != ENGINE_HEALTH_OK; ms += WAIT_STEP_MS) {
        assert_true(ms < WAIT_MS);
        usleep(WAIT_STEP_MS * 1000);
    }
    assert_int_equal(put(engine, items), ENGINE_OK);
}

static void a_small_file_system_has_a_small_reserve(void **state)
{
    struct engine_fixture *fixture = *state;
    atomic_store(&disk.size, 16 * MIB);
    atomic_store(&disk.free, 16 * MIB);
    engine_fixture_reopen(fixture);
    assert_int_equal(reserve_size(fixture), MIB);
    set_free(MIB);
    assert_int_equal(put(fixture->engine, items), ENGINE_OK);
    set_free(MIB - 1);
    assert_int_equal(put(fixture->engine, items), ENGINE_FULL);
}

static void a_start_with_little_room_makes_no_file(void **state)
{
    struct engine_fixture *fixture = *state;
    atomic_store(&disk.free, 3 * RESERVE - 1);
    engine_fixture_reopen(fixture);
    assert_int_equal(reserve_size(fixture), -1); /* The one from before is gone as well. */
    assert_int_equal(put(fixture->engine, items), ENGINE_OK);
}

static void much_that_is_written_is_looked_at_sooner(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    static char large[RESERVE / STORE_SPACE_LOOKS];
    struct engine_address address = { items, BYTES("large") };
    struct engine_write *write;
    set_free(FILE_SYSTEM);
    assert_int_equal(put(engine, items), ENGINE_OK);
    atomic_store(&disk.free, 0); /* Within the time that the look is good for, or not. */
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    engine_write_put(write, &address, bytes_of(large, sizeof large));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_FULL);
}

/* How much of the log is filled ahead once statistics were written, which a short disk still takes.
 */
static size_t fill_behind_stats(struct engine_fixture *fixture)
{
    static char value[STORE_AHEAD_LOOK_SIZE];
    char path[SCRATCH_PATH_MAX];
    for (int i = 0; i < 2 * STORE_AHEAD_LOG_SIZE_MIN / STORE_AHEAD_LOOK_SIZE; i++)
        engine_fixture_put(fixture->engine, stats, BYTES("key"), bytes_of(value, sizeof value));
    assert_true(store_files_newest_log(fixture->directory, path) > 0);
    return store_files_measure_log(path).filled;
}

static void a_log_is_not_filled_ahead_while_space_is_short(void **state)
{
    set_free(RESERVE - 1);
    assert_int_equal(fill_behind_stats(*state), 0);
    set_free(FILE_SYSTEM);
    assert_true(fill_behind_stats(*state) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(below_the_reserve_only_deletions_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(items_are_stored_again_once_there_is_half_a_reserve_more,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(the_file_is_given_up_for_a_deletion_and_made_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_file_is_neither_made_nor_deleted_by_a_writer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(health_follows_the_disk_without_a_write, setup, teardown),
        cmocka_unit_test_setup_teardown(a_small_file_system_has_a_small_reserve, setup, teardown),
        cmocka_unit_test_setup_teardown(a_start_with_little_room_makes_no_file, setup, teardown),
        cmocka_unit_test_setup_teardown(much_that_is_written_is_looked_at_sooner, setup, teardown),
        cmocka_unit_test_setup_teardown(a_log_is_not_filled_ahead_while_space_is_short, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
