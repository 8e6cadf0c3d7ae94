/* test_group_commit.c -- what is visible and what is answered while the disk is still busy.
 *
 * fdatasync and write of this program take the place of the C library's, for RocksDB too, so that
 * a test can hold a sync back, count syncs, or make the disk fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine_fixture.h"

enum { TIMEOUT_S = 120 };

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

/* --- The disk --- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool held;   /* Syncs wait. Guarded by mutex. */
    int passes;  /* So many may go all the same. Guarded by mutex. */
    int waiting; /* How many do. Guarded by mutex. */
    int syncs;   /* How many went through. Guarded by mutex. */
    atomic_int sync_error;
    atomic_int write_error; /* For the write-ahead log only. */
} disk = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

int fdatasync(int file)
{
    pthread_mutex_lock(&disk.mutex);
    disk.waiting++;
    pthread_cond_broadcast(&disk.changed);
    while (disk.held && disk.passes == 0)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    if (disk.held)
        disk.passes--;
    disk.waiting--;
    disk.syncs++;
    pthread_mutex_unlock(&disk.mutex);
    errno = atomic_load(&disk.sync_error);
    return errno != 0 ? -1 : (int)syscall(SYS_fdatasync, file);
}

static bool is_write_ahead_log(int file)
{
    char link[64], path[SCRATCH_PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path);
    return length > 4 && memcmp(path + length - 4, ".log", 4) == 0;
}

ssize_t write(int file, const void *data, size_t size)
{
    int error = atomic_load(&disk.write_error);
    if (error != 0 && is_write_ahead_log(file)) {
        errno = error;
        return -1;
    }
    return syscall(SYS_write, file, data, size);
}

static void hold_syncs(void)
{
    pthread_mutex_lock(&disk.mutex);
    disk.held = true;
    disk.syncs = 0;
    pthread_mutex_unlock(&disk.mutex);
}

static void wait_for_a_held_sync(void)
{
    pthread_mutex_lock(&disk.mutex);
    while (disk.waiting == 0)
        pthread_cond_wait(&disk.changed, &disk.mutex);
    pthread_mutex_unlock(&disk.mutex);
}

static void let_syncs_go(void)
{
    pthread_mutex_lock(&disk.mutex);
    disk.held = false;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

static void let_one_sync_go(void)
{
    pthread_mutex_lock(&disk.mutex);
    disk.passes++;
    pthread_cond_broadcast(&disk.changed);
    pthread_mutex_unlock(&disk.mutex);
}

static int sync_count(void)
{
    pthread_mutex_lock(&disk.mutex);
    int syncs = disk.syncs;
    pthread_mutex_unlock(&disk.mutex);
    return syncs;
}

/* --- Fixture --- */

static int setup(void **state)
{
    struct engine_fixture *fixture = malloc(sizeof *fixture);
    engine_fixture_open(fixture, ENGINE_FIXTURE_ROCKSDB_SYNC);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    let_syncs_go(); /* A test that failed may have left them held. */
    engine_fixture_close(*state);
    free(*state);
    return 0;
}

struct counting_completion {
    struct engine_completion base;
    atomic_int calls;
    atomic_int status;
};

static void count_done(struct engine_completion *base, enum engine_status status)
{
    struct counting_completion *completion = (struct counting_completion *)base;
    atomic_store(&completion->status, (int)status);
    atomic_fetch_add(&completion->calls, 1);
}

static void wait_done(struct counting_completion *completion)
{
    while (atomic_load(&completion->calls) == 0)
        usleep(100);
}

/* A write of `key` if it is not NULL, else a refusal that has read "a". */
static void commit(struct engine *engine, const char *key, struct counting_completion *completion)
{
    struct engine_address address = { items, bytes_from_text(key == NULL ? "a" : key) };
    struct engine_write *write;
    *completion = (struct counting_completion){ .base.done = count_done };
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    if (key != NULL)
        engine_write_put(write, &address, BYTES("1"));
    engine_write_commit(write, &completion->base);
}

/* --- Tests --- */

static void nothing_is_visible_or_answered_before_it_is_synced(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    struct counting_completion first, refusal;
    struct engine_address address = { items, BYTES("a") };
    struct engine_write *write;
    struct engine_value value;
    hold_syncs();
    commit(engine, "a", &first);
    wait_for_a_held_sync();
    assert_int_equal(engine_write_begin(engine, &address, 1, &write), ENGINE_OK);
    assert_int_equal(engine_write_get(write, &address, &value), ENGINE_OK); /* Writes see it, */
    engine_value_release(&value);
    engine_write_abandon(write);
    assert_true(engine_fixture_lacks(engine, items, BYTES("a"))); /* views do not, */
    commit(engine, NULL, &refusal); /* nor may a refusal that has read it be answered. */
    usleep(20 * 1000);
    assert_int_equal(atomic_load(&first.calls), 0);
    assert_int_equal(atomic_load(&refusal.calls), 0);
    struct engine_view *before = engine_fixture_view(engine);

    let_syncs_go();
    wait_done(&first);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
    assert_false(engine_fixture_view_has(before, items, BYTES("a"), BYTES("1")));
    engine_view_close(before);
    wait_done(&refusal);
    assert_int_equal(atomic_load(&refusal.status), ENGINE_OK);
}

static void a_sync_publishes_only_what_came_before_it(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    struct counting_completion before, after;
    hold_syncs();
    commit(engine, "before", &before);
    wait_for_a_held_sync();
    commit(engine, "after", &after); /* While the sync runs: the next one covers it. */
    let_one_sync_go();
    wait_done(&before);
    assert_true(engine_fixture_has(engine, items, BYTES("before"), BYTES("1")));
    assert_true(engine_fixture_lacks(engine, items, BYTES("after")));
    wait_for_a_held_sync();
    assert_int_equal(atomic_load(&after.calls), 0);
    let_syncs_go();
    wait_done(&after);
    assert_true(engine_fixture_has(engine, items, BYTES("after"), BYTES("1")));
}

static void one_sync_covers_all_that_queued_behind_another(void **state)
{
    enum { WRITES = 20 };
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    struct counting_completion first, rest[WRITES];
    hold_syncs();
    commit(engine, "first", &first);
    wait_for_a_held_sync();
    for (int i = 0; i < WRITES; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        commit(engine, key, &rest[i]);
    }
    let_syncs_go();
    for (int i = 0; i < WRITES; i++)
        wait_done(&rest[i]);
    assert_int_equal(sync_count(), 2);
}

static void a_refusal_waits_for_nothing_when_all_is_synced(void **state)
{
    struct engine *engine = ((struct engine_fixture *)*state)->engine;
    struct counting_completion refusal;
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    hold_syncs();
    commit(engine, NULL, &refusal);
    assert_int_equal(atomic_load(&refusal.calls), 1);
    let_syncs_go();
    assert_int_equal(sync_count(), 0);
}

static void expect_health(const struct engine *engine, enum engine_health wanted)
{
    while (engine_health(engine) != wanted)
        usleep(100); /* For as long as alarm() lets it. */
}

static void a_sync_that_takes_too_long_is_bad_health(void **state)
{
    struct engine_fixture *fixture = *state;
    char message[ENGINE_MESSAGE_MAX];
    struct engine_options options = engine_fixture_rocksdb_options(fixture->directory);
    struct counting_completion put;
    for (unsigned stuck_ms = 0; stuck_ms < 2; stuck_ms++) { /* 0: ENGINE_STUCK_MS. */
        engine_close(fixture->engine);
        options.stuck_ms = stuck_ms;
        fixture->engine = engine_open(&options, message);
        assert_non_null(fixture->engine);
        assert_int_equal(engine_health(fixture->engine), ENGINE_HEALTH_OK);
        hold_syncs();
        commit(fixture->engine, "a", &put);
        wait_for_a_held_sync();
        expect_health(fixture->engine, stuck_ms == 0 ? ENGINE_HEALTH_OK : ENGINE_HEALTH_STUCK);
        let_syncs_go();
        wait_done(&put);
        expect_health(fixture->engine, ENGINE_HEALTH_OK);
    }
}

static void closing_waits_for_the_sync(void **state)
{
    struct engine_fixture *fixture = *state;
    struct counting_completion completion;
    hold_syncs();
    commit(fixture->engine, "a", &completion);
    wait_for_a_held_sync();
    let_syncs_go();
    engine_fixture_reopen(fixture);
    assert_int_equal(atomic_load(&completion.calls), 1);
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("a"), BYTES("1")));
}

static const struct {
    int error;
    enum engine_status status;
} write_cases[] = { { ENOSPC, ENGINE_FULL }, { EIO, ENGINE_IO } };

static void a_write_that_the_log_refuses_fails_and_stays_invisible(void **state)
{
    struct engine_fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(write_cases); i++) {
        struct counting_completion completion;
        engine_fixture_put(fixture->engine, items, BYTES("kept"), BYTES("1"));
        atomic_store(&disk.write_error, write_cases[i].error);
        commit(fixture->engine, "lost", &completion);
        assert_int_equal(atomic_load(&completion.calls), 1);
        assert_int_equal(atomic_load(&completion.status), write_cases[i].status);
        assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("lost")));
        assert_true(engine_fixture_has(fixture->engine, items, BYTES("kept"), BYTES("1")));
        atomic_store(&disk.write_error, 0);
        engine_fixture_reopen(fixture);
        assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("lost")));
        assert_true(engine_fixture_has(fixture->engine, items, BYTES("kept"), BYTES("1")));
    }
}

static void writing_goes_on_once_there_is_space_again(void **state)
{
    struct engine_fixture *fixture = *state;
    struct counting_completion synced, queued, refused, retried;
    hold_syncs();
    commit(fixture->engine, "synced", &synced);
    wait_for_a_held_sync();
    commit(fixture->engine, "queued", &queued);
    atomic_store(&disk.write_error, ENOSPC);
    commit(fixture->engine, "refused", &refused);
    let_syncs_go();
    wait_done(&queued); /* What the log had taken before is not drawn into it. */
    assert_int_equal(atomic_load(&synced.status), ENGINE_OK);
    assert_int_equal(atomic_load(&queued.status), ENGINE_OK);
    assert_int_equal(atomic_load(&refused.status), ENGINE_FULL);

    atomic_store(&disk.write_error, 0);
    for (;;) { /* RocksDB looks for space again within a second or so. */
        commit(fixture->engine, "retried", &retried);
        wait_done(&retried);
        if (atomic_load(&retried.status) == ENGINE_OK)
            break;
        assert_int_equal(atomic_load(&retried.status), ENGINE_FULL);
        usleep(20 * 1000);
    }
    engine_fixture_reopen(fixture);
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("queued"), BYTES("1")));
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("retried"), BYTES("1")));
    assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("refused")));
}

/* A process of its own: it must die. */
static int run_failing_sync(const char *directory)
{
    struct engine_options options = engine_fixture_rocksdb_options(directory);
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(&options, message);
    struct counting_completion completion;
    engine_fixture_put(engine, items, BYTES("kept"), BYTES("1"));
    atomic_store(&disk.sync_error, EIO);
    commit(engine, "a", &completion);
    wait_done(&completion);
    return 0;
}

static void a_failed_sync_stops_the_process_without_an_answer(void **state)
{
    struct engine_fixture *fixture = *state;
    engine_close(fixture->engine);
    fixture->engine = NULL;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "test_group_commit", "failing-sync", fixture->directory, NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    char message[ENGINE_MESSAGE_MAX];
    struct engine_options options = engine_fixture_rocksdb_options(fixture->directory);
    fixture->engine = engine_open(&options, message);
    assert_non_null(fixture->engine);
    assert_true(engine_fixture_has(fixture->engine, items, BYTES("kept"), BYTES("1")));
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "failing-sync") == 0)
        return run_failing_sync(argv[2]);
    alarm(TIMEOUT_S); /* A sync that never comes would be waited for without end. */
    const struct CMUnitTest tests[] = {
        ON_DISK(nothing_is_visible_or_answered_before_it_is_synced),
        ON_DISK(a_sync_publishes_only_what_came_before_it),
        ON_DISK(one_sync_covers_all_that_queued_behind_another),
        ON_DISK(a_refusal_waits_for_nothing_when_all_is_synced),
        ON_DISK(a_sync_that_takes_too_long_is_bad_health),
        ON_DISK(closing_waits_for_the_sync),
        ON_DISK(a_write_that_the_log_refuses_fails_and_stays_invisible),
        ON_DISK(writing_goes_on_once_there_is_space_again),
        ON_DISK(a_failed_sync_stops_the_process_without_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
