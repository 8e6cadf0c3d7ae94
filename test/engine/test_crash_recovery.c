/* test_crash_recovery.c -- what a store is after a crash.
 *
 * A child process writes numbered records, several commits under way at once, and reports each
 * completion through a pipe; it is killed at a random moment. What it reported must be there, and
 * what is there must be an unbroken beginning of what it wrote. A power cut is imitated on copies
 * of a store, by damaging the end of the write-ahead log that was not synced, or the part that was.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine_fixture.h"
#include "numbered_records.h"
#include "store_files.h"

enum {
    IN_FLIGHT = 32,
    RECORDS_MAX = 1000000,
};

/* A small write buffer, so that a run changes logs and writes table files too. */
static struct engine *open_store(const char *directory, enum engine_durability durability,
                                 char message[ENGINE_MESSAGE_MAX])
{
    struct engine_options options = engine_fixture_rocksdb_options(directory);
    options.durability = durability;
    options.write_buffer_size = 128 * 1024;
    return engine_open(&options, message);
}

/* --- Killed at a random moment --- */

struct reported_write {
    struct engine_completion base;
    uint32_t number;
    atomic_bool free;
};

static void report(struct engine_completion *base, enum engine_status status)
{
    struct reported_write *reported = (struct reported_write *)base;
    if (status != ENGINE_OK || write(STDOUT_FILENO, &reported->number, sizeof reported->number) < 0)
        abort();
    atomic_store(&reported->free, true);
}

static int run_writer(const char *directory, enum engine_durability durability)
{
    static struct reported_write writes[IN_FLIGHT];
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_store(directory, durability, message);
    if (engine == NULL)
        return 1;
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        writes[i].base.done = report;
        atomic_store(&writes[i].free, true);
    }
    for (uint32_t number = numbered_records_head(engine) + 1; number < RECORDS_MAX; number++) {
        struct reported_write *reported = &writes[number % IN_FLIGHT];
        while (!atomic_load(&reported->free))
            usleep(10);
        atomic_store(&reported->free, false);
        reported->number = number;
        numbered_records_put(engine, number, &reported->base);
    }
    return 1; /* It should have been killed long since. */
}

/* Runs the writer for `run_ms` after its first report; returns the highest number it reported. */
static uint32_t run_and_kill(const char *directory, const char *mode, int64_t run_ms)
{
    int reports[2];
    assert_int_equal(pipe2(reports, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(reports[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_crash_recovery", mode, directory, NULL);
        _exit(1);
    }
    close(reports[1]);
    uint32_t number, highest = 0;
    int64_t end_ns = INT64_MAX;
    bool killed = false;
    while (read(reports[0], &number, sizeof number) == sizeof number) {
        if (end_ns == INT64_MAX)
            end_ns = clock_monotonic_ns() + run_ms * 1000000;
        if (number > highest)
            highest = number;
        if (!killed && clock_monotonic_ns() >= end_ns) {
            kill(child, SIGKILL);
            killed = true; /* What is in the pipe was reported before: read on. */
        }
    }
    close(reports[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    return highest;
}

static void check_kills(const char *mode, enum engine_durability durability)
{
    enum { ROUNDS = 10, RUN_MS_MAX = 60 };
    char directory[SCRATCH_PATH_MAX], message[ENGINE_MESSAGE_MAX];
    struct random random;
    random_init_from_system(&random);
    scratch_create(directory);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t reported =
            run_and_kill(directory, mode, (int64_t)random_below(&random, RUN_MS_MAX));
        struct engine *engine = open_store(directory, durability, message);
        if (engine == NULL)
            fail_msg("%s", message);
        uint32_t head = numbered_records_check(engine);
        assert_true(head >= reported);
        assert_true(head <= reported + IN_FLIGHT);
        engine_close(engine);
    }
    scratch_destroy(directory);
}

static void a_killed_process_loses_nothing_it_reported(void **state)
{
    (void)state;
    check_kills("write-sync", ENGINE_DURABILITY_SYNC);
}

static void nor_does_one_that_leaves_syncing_to_the_system(void **state)
{
    (void)state;
    check_kills("write-os", ENGINE_DURABILITY_OS);
}

/* --- Power cuts --- */

/* The path and size of the only write-ahead log of a store. */
static size_t find_log(const char *directory, char path[SCRATCH_PATH_MAX])
{
    assert_int_equal(store_files_newest_log(directory, path), 1);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_size;
}

enum damage { CUT_OFF, ZEROES, GARBAGE, ONE_BIT, DAMAGE_COUNT };

/* Damages the log from `offset` on. */
static void damage_log(const char *directory, size_t offset, enum damage damage)
{
    char path[SCRATCH_PATH_MAX];
    size_t size = find_log(directory, path);
    assert_true(offset < size);
    if (damage == CUT_OFF) {
        assert_int_equal(truncate(path, (off_t)offset), 0);
        return;
    }
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)offset, SEEK_SET);
    int bit_flipped = damage == ONE_BIT ? fgetc(file) ^ 1 : 0;
    fseek(file, (long)offset, SEEK_SET);
    size_t end = damage == ONE_BIT ? offset + 1 : size;
    for (size_t i = offset; i < end; i++)
        fputc(damage == ONE_BIT ? bit_flipped : damage == ZEROES ? 0 : (int)(i * 37 + 11), file);
    fclose(file);
}

enum {
    SYNCED = 40,
    UNSYNCED = 20,
    TORN_STEP = 353, /* Less than a record takes in the log, so that each is torn. */
};

struct power_cut {
    char scratch[SCRATCH_PATH_MAX];
    char store[SCRATCH_PATH_MAX];
    char copy[SCRATCH_PATH_MAX];
};

static int setup(void **state)
{
    struct power_cut *cut = malloc(sizeof *cut);
    scratch_create(cut->scratch);
    scratch_join(cut->store, cut->scratch, "store");
    scratch_join(cut->copy, cut->scratch, "copy");
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_store(cut->store, ENGINE_DURABILITY_SYNC, message);
    numbered_records_put_all(engine, 1, SYNCED);
    engine_close(engine);
    *state = cut;
    return 0;
}

static int teardown(void **state)
{
    struct power_cut *cut = *state;
    scratch_destroy(cut->scratch);
    free(cut);
    return 0;
}

static void a_torn_end_that_was_never_synced_is_dropped(void **state)
{
    struct power_cut *cut = *state;
    char message[ENGINE_MESSAGE_MAX], path[SCRATCH_PATH_MAX], torn[SCRATCH_PATH_MAX];
    struct engine *engine = open_store(cut->store, ENGINE_DURABILITY_OS, message);
    numbered_records_put_all(engine, SYNCED + 1, SYNCED + UNSYNCED);
    store_files_copy(cut->store, cut->copy); /* As a power cut would find it. */
    engine_close(engine);
    scratch_join(torn, cut->scratch, "torn");

    size_t size = find_log(cut->copy, path);
    uint32_t heads_seen = 0;
    int turn = 0;
    for (size_t offset = size - 1; offset < size; offset -= TORN_STEP) { /* Until it wraps. */
        store_files_copy(cut->copy, torn);
        damage_log(torn, offset, (enum damage)(turn++ % DAMAGE_COUNT));
        engine = open_store(torn, ENGINE_DURABILITY_SYNC, message);
        if (engine == NULL)
            fail_msg("at %zu of %zu: %s", offset, size, message);
        uint32_t head = numbered_records_check(engine);
        assert_true(head >= SYNCED && head < SYNCED + UNSYNCED);
        heads_seen |= 1u << (head - SYNCED);
        /* The store is whole: it takes writes and opens again. */
        numbered_records_put(engine, head + 1, NULL);
        engine_close(engine);
        engine = open_store(torn, ENGINE_DURABILITY_SYNC, message);
        assert_non_null(engine);
        assert_int_equal(numbered_records_check(engine), head + 1);
        engine_close(engine);
    }
    assert_int_equal(heads_seen, (1u << UNSYNCED) - 1); /* Every place to tear was met. */
}

static void damage_to_what_was_synced_is_refused(void **state)
{
    struct power_cut *cut = *state;
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    char path[SCRATCH_PATH_MAX];
    size_t size = find_log(cut->store, path);
    snprintf(want, sizeof want,
             "cannot use data directory '%s': the store is damaged: ", cut->copy);
    int turn = 0;
    for (size_t offset = size - 1; offset < size; offset -= TORN_STEP) {
        store_files_copy(cut->store, cut->copy);
        damage_log(cut->copy, offset, (enum damage)(turn++ % DAMAGE_COUNT));
        for (int attempt = 0; attempt < 2; attempt++) { /* The first must not hide it. */
            assert_null(open_store(cut->copy, ENGINE_DURABILITY_SYNC, message));
            assert_memory_equal(message, want, strlen(want));
        }
    }
}

static void the_refusal_says_how_much_is_missing_and_changes_nothing(void **state)
{
    struct power_cut *cut = *state;
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    char path[SCRATCH_PATH_MAX];
    store_files_copy(cut->store, cut->copy);
    size_t size = find_log(cut->copy, path);
    damage_log(cut->copy, size - 1, ONE_BIT);
    assert_null(open_store(cut->copy, ENGINE_DURABILITY_SYNC, message));
    snprintf(want, sizeof want,
             "cannot use data directory '%s': the store is damaged: "
             "2 changes that were synced cannot be read back",
             cut->copy);
    assert_string_equal(message, want);
    damage_log(cut->copy, size - 1, ONE_BIT); /* Flipped back. */
    struct engine *engine = open_store(cut->copy, ENGINE_DURABILITY_SYNC, message);
    assert_non_null(engine);
    assert_int_equal(numbered_records_check(engine), SYNCED);
    engine_close(engine);
}

static void a_mark_that_cannot_be_trusted_is_not_used(void **state)
{
    static const struct {
        const char *name;
        size_t size;
    } cases[] = { { "empty", 0 }, { "short", 11 }, { "wrong checksum", 12 }, { "longer", 40 } };
    struct power_cut *cut = *state;
    char message[ENGINE_MESSAGE_MAX], path[SCRATCH_PATH_MAX];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        store_files_copy(cut->store, cut->copy);
        scratch_join(path, cut->copy, "SYNCED");
        FILE *file = fopen(path, "wb");
        for (size_t j = 0; j < cases[i].size; j++)
            fputc(0xFF, file);
        fclose(file);
        struct engine *engine = open_store(cut->copy, ENGINE_DURABILITY_SYNC, message);
        if (engine == NULL)
            fail_msg("%s: %s", cases[i].name, message);
        assert_int_equal(numbered_records_check(engine), SYNCED);
        engine_close(engine);
    }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write-sync") == 0)
        return run_writer(argv[2], ENGINE_DURABILITY_SYNC);
    if (argc == 3 && strcmp(argv[1], "write-os") == 0)
        return run_writer(argv[2], ENGINE_DURABILITY_OS);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_process_loses_nothing_it_reported),
        cmocka_unit_test(nor_does_one_that_leaves_syncing_to_the_system),
        cmocka_unit_test_setup_teardown(a_torn_end_that_was_never_synced_is_dropped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(damage_to_what_was_synced_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_refusal_says_how_much_is_missing_and_changes_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_mark_that_cannot_be_trusted_is_not_used, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
