/* test_store_ahead.c -- the write-ahead log is filled ahead, and nothing but the sync notices.
 *
 * A copy of the files of an open store is what a kill leaves: the log has its fill. openat of this
 * program takes the place of the C library's, so that a test may refuse the filler the log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine/rocksdb/store_ahead.h"
#include "engine_fixture.h"
#include "numbered_records.h"
#include "store_files.h"

enum {
    RECORD_LOG_SIZE = 405, /* What a record takes in the log, at most. */
    /* Enough for a first chunk; and for several. */
    SOME = STORE_AHEAD_LOG_SIZE_MIN / NUMBERED_RECORDS_VALUE_SIZE +
           2 * STORE_AHEAD_LOOK_SIZE / NUMBERED_RECORDS_VALUE_SIZE,
    MANY = 4 * STORE_AHEAD_CHUNK_SIZE / NUMBERED_RECORDS_VALUE_SIZE,
    FEW = 10,
    BLOCK_SIZE = 32 * 1024, /* Of RocksDB's logs. */
    PAGE_SIZE = 4096,
};

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

/* --- The filler's way to the log --- */

enum fate { OPENS, IS_REFUSED, TAKES_NOTHING };

static struct {
    atomic_int fate;
    atomic_int count; /* How often the filler has opened a log. */
} filler;

int openat(int folder, const char *name, int flags, ...)
{
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if ((flags & O_APPEND) != 0) {
        atomic_fetch_add(&filler.count, 1);
        if (atomic_load(&filler.fate) == IS_REFUSED) {
            errno = EMFILE;
            return -1;
        }
        if (atomic_load(&filler.fate) == TAKES_NOTHING)
            flags = (flags & ~O_ACCMODE) | O_RDONLY;
    }
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

/* --- In the middle of a checkpoint --- */

static struct {
    void (*call)(void *context); /* NULL: nothing happens. */
    void *context;
} when_linked;

/* RocksDB links table files once it has noted the size of the log. */
int link(const char *from, const char *to)
{
    void (*call)(void *context) = when_linked.call;
    when_linked.call = NULL;
    if (call != NULL)
        call(when_linked.context);
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* --- Fixture --- */

struct ahead_test {
    struct engine *engine;
    char scratch[SCRATCH_PATH_MAX];
    char store[SCRATCH_PATH_MAX];
    char copy[SCRATCH_PATH_MAX];
};

static struct engine *open_as(const char *directory, enum engine_durability durability,
                              bool read_only, char *message)
{
    struct engine_options options = engine_fixture_rocksdb_options(directory);
    options.durability = durability;
    options.read_only = read_only;
    return engine_open(&options, message);
}

static struct engine *open_store(const char *directory)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_as(directory, ENGINE_DURABILITY_SYNC, false, message);
    if (engine == NULL)
        fail_msg("%s", message);
    return engine;
}

static int setup(void **state)
{
    struct ahead_test *test = malloc(sizeof *test);
    atomic_store(&filler.fate, OPENS);
    atomic_store(&filler.count, 0);
    scratch_create(test->scratch);
    scratch_join(test->store, test->scratch, "store");
    scratch_join(test->copy, test->scratch, "copy");
    test->engine = open_store(test->store);
    *state = test;
    return 0;
}

static int teardown(void **state)
{
    struct ahead_test *test = *state;
    if (test->engine != NULL)
        engine_close(test->engine);
    scratch_destroy(test->scratch);
    free(test);
    return 0;
}

static struct store_files_log measure(const char *directory)
{
    char path[SCRATCH_PATH_MAX];
    assert_true(store_files_newest_log(directory, path) > 0);
    return store_files_measure_log(path);
}

/* What is there after a kill: `head` records, to be read, checked and written on. */
static void check_opens(const char *directory, uint32_t head)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_as(directory, ENGINE_DURABILITY_SYNC, true, message);
    if (engine == NULL)
        fail_msg("%s", message);
    assert_int_equal(numbered_records_check(engine), head);
    engine_close(engine);
    for (uint32_t more = 0; more < 2; more++) {
        engine = open_store(directory);
        assert_int_equal(numbered_records_check(engine), head + more);
        numbered_records_put(engine, head + more + 1, NULL);
        engine_close(engine);
    }
}

/* --- When --- */

static void a_log_is_filled_once_it_has_some_size(void **state)
{
    struct ahead_test *test = *state;
    size_t small_max = STORE_AHEAD_LOG_SIZE_MIN / RECORD_LOG_SIZE;
    numbered_records_put_all(test->engine, 1, (uint32_t)small_max);
    assert_true(measure(test->store).used < STORE_AHEAD_LOG_SIZE_MIN);
    assert_int_equal(measure(test->store).filled, 0);
    numbered_records_put_all(test->engine, (uint32_t)small_max + 1, SOME);
    assert_true(measure(test->store).filled > 0);
}

static void the_fill_stays_ahead_and_is_bounded(void **state)
{
    struct ahead_test *test = *state;
    numbered_records_put_all(test->engine, 1, SOME);
    for (uint32_t number = SOME + 1; number <= MANY; number++) {
        numbered_records_put(test->engine, number, NULL);
        struct store_files_log log = measure(test->store);
        if (log.filled < STORE_AHEAD_LEFT_MIN - 2 * STORE_AHEAD_LOOK_SIZE ||
            log.filled > STORE_AHEAD_LEFT_MIN + STORE_AHEAD_CHUNK_SIZE)
            fail_msg("%zu bytes of fill behind record %u", log.filled, number);
    }
    assert_true(measure(test->store).used > 3 * STORE_AHEAD_CHUNK_SIZE);
}

static void a_log_that_follows_another_is_filled_too(void **state)
{
    struct ahead_test *test = *state;
    char before[SCRATCH_PATH_MAX], after[SCRATCH_PATH_MAX];
    numbered_records_put_all(test->engine, 1, SOME);
    store_files_newest_log(test->store, before);
    assert_int_equal(engine_checkpoint(test->engine, test->copy), ENGINE_OK); /* Changes logs. */
    numbered_records_put_all(test->engine, SOME + 1, 2 * SOME);
    store_files_newest_log(test->store, after);
    assert_string_not_equal(before, after);
    assert_true(store_files_measure_log(after).filled > 0);
}

static void large_syncs_are_not_worth_a_fill(void **state)
{
    static const struct {
        size_t size;
        bool is_filled;
    } cases[] = { { STORE_AHEAD_SYNC_SIZE_MAX - 256, true }, { STORE_AHEAD_SYNC_SIZE_MAX, false } };
    struct ahead_test *test = *state;
    static uint8_t value[STORE_AHEAD_SYNC_SIZE_MAX];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        engine_close(test->engine);
        scratch_destroy(test->store);
        test->engine = open_store(test->store);
        for (int j = 0; j < FEW; j++)
            engine_fixture_put(test->engine, items, BYTES("key"), bytes_of(value, cases[i].size));
        assert_int_equal(measure(test->store).filled > 0, cases[i].is_filled);
    }
}

static void a_store_that_leaves_syncing_to_the_system_has_no_fill(void **state)
{
    struct ahead_test *test = *state;
    char message[ENGINE_MESSAGE_MAX];
    engine_close(test->engine);
    test->engine = open_as(test->store, ENGINE_DURABILITY_OS, false, message);
    assert_non_null(test->engine);
    numbered_records_put_all(test->engine, 1, SOME);
    assert_int_equal(measure(test->store).filled, 0);
}

static void a_store_that_was_told_not_to_has_no_fill(void **state)
{
    struct ahead_test *test = *state;
    char message[ENGINE_MESSAGE_MAX];
    engine_close(test->engine);
    struct engine_options options = engine_fixture_rocksdb_options(test->store);
    options.leaves_log_alone = true;
    test->engine = engine_open(&options, message);
    assert_non_null(test->engine);
    numbered_records_put_all(test->engine, 1, SOME);
    assert_int_equal(measure(test->store).filled, 0);
    assert_int_equal(atomic_load(&filler.count), 0);
}

/* --- Versions --- */

static void logs_are_filled_with_the_version_that_was_proved_only(void **state)
{
    (void)state;
    static const struct {
        const char *compiled, *running;
        bool is_proved;
    } cases[] = {
        { STORE_AHEAD_PROVED_VERSION, STORE_AHEAD_PROVED_VERSION, true },
        { STORE_AHEAD_PROVED_VERSION, "7.8.4", false },
        { STORE_AHEAD_PROVED_VERSION, "8.0.0", false },
        { STORE_AHEAD_PROVED_VERSION, "", false },
        { STORE_AHEAD_PROVED_VERSION, NULL, false },
        { "7.9.0", STORE_AHEAD_PROVED_VERSION, false },
        { "7.9.0", "7.9.0", false },
        { "", STORE_AHEAD_PROVED_VERSION, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(store_ahead_is_proved(cases[i].compiled, cases[i].running),
                         cases[i].is_proved);
}

static void write_options_file(const struct ahead_test *test, const char *name, const char *text)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, test->scratch, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void the_running_version_is_in_the_newest_options_file(void **state)
{
    const struct ahead_test *test = *state;
    char version[STORE_AHEAD_VERSION_MAX];
    int store = open(test->store, O_RDONLY | O_DIRECTORY);
    int folder = open(test->scratch, O_RDONLY | O_DIRECTORY);
    assert_true(store_ahead_running_version(store, version));
    assert_string_equal(version, store_ahead_compiled_version()); /* Both come from one package. */
    assert_string_equal(version, STORE_AHEAD_PROVED_VERSION);     /* Else nothing here is tested. */
    assert_false(store_ahead_running_version(folder, version));
    write_options_file(test, "OPTIONS-000009", "[Version]\n  rocksdb_version=7.8.3\n");
    write_options_file(test, "OPTIONS-000010", "# text\n[Version]\n  rocksdb_version=9.1.0\n");
    write_options_file(test, "OPTIONS-000011.dbtmp", "[Version]\n  rocksdb_version=1.1.1\n");
    assert_true(store_ahead_running_version(folder, version));
    assert_string_equal(version, "9.1.0");
    write_options_file(test, "OPTIONS-000012", "[Version]\n");
    assert_false(store_ahead_running_version(folder, version));
    close(folder);
    close(store);
}

static void a_log_that_cannot_be_filled_is_left_alone(void **state)
{
    static const enum fate fates[] = { IS_REFUSED, TAKES_NOTHING };
    struct ahead_test *test = *state;
    for (size_t i = 0; i < COUNT_OF(fates); i++) {
        engine_close(test->engine);
        scratch_destroy(test->store);
        scratch_destroy(test->copy);
        test->engine = open_store(test->store);
        atomic_store(&filler.fate, fates[i]);
        numbered_records_put_all(test->engine, 1, SOME);
        int tried = atomic_load(&filler.count);
        numbered_records_put_all(test->engine, SOME + 1, 2 * SOME);
        assert_int_equal(measure(test->store).filled, 0);
        assert_true(tried > 0);
        assert_int_equal(atomic_load(&filler.count), tried);
        /* The next one is tried again. */
        atomic_store(&filler.fate, OPENS);
        assert_int_equal(engine_checkpoint(test->engine, test->copy), ENGINE_OK);
        numbered_records_put_all(test->engine, 2 * SOME + 1, 3 * SOME);
        assert_true(measure(test->store).filled > 0);
        assert_int_equal(numbered_records_check(test->engine), 3 * SOME);
    }
}

/* --- What is left --- */

static void a_closed_store_has_no_fill(void **state)
{
    struct ahead_test *test = *state;
    char path[SCRATCH_PATH_MAX];
    numbered_records_put_all(test->engine, 1, SOME);
    assert_true(measure(test->store).filled > 0);
    engine_close(test->engine);
    test->engine = NULL;
    assert_int_equal(store_files_newest_log(test->store, path), 1);
    assert_int_equal(store_files_measure_log(path).filled, 0);
    check_opens(test->store, SOME);
}

static void a_killed_store_opens_with_all_its_records(void **state)
{
    struct ahead_test *test = *state;
    uint32_t head = SOME;
    numbered_records_put_all(test->engine, 1, head);
    /* The end of the last record, and that of the fill, at many places of RocksDB's blocks. */
    for (int turn = 0; turn < 40; turn++) {
        uint32_t next = head + 1 + (uint32_t)turn % 7;
        numbered_records_put_all(test->engine, head + 1, next);
        head = next;
        store_files_copy(test->store, test->copy);
        struct store_files_log log = measure(test->copy);
        char path[SCRATCH_PATH_MAX];
        store_files_newest_log(test->copy, path);
        assert_true(log.filled > 0);
        /* A short append, too: from no fill at all to all of it. */
        size_t kept = turn < 20 ? (size_t)turn : log.filled;
        assert_int_equal(truncate(path, (off_t)(log.used + kept)), 0);
        check_opens(test->copy, head);
    }
}

/* Makes `copy` a store with two logs, both with a fill: one with the records up to SOME, and one
 * with as many again. `first` is the path of the first one. */
static void copy_with_two_logs(struct ahead_test *test, char first[SCRATCH_PATH_MAX])
{
    char path[SCRATCH_PATH_MAX], target[SCRATCH_PATH_MAX], other[SCRATCH_PATH_MAX];
    scratch_join(other, test->scratch, "other");
    numbered_records_put_all(test->engine, 1, SOME);
    store_files_copy(test->store, test->copy);
    store_files_newest_log(test->copy, first);
    assert_true(store_files_measure_log(first).filled > 0);
    assert_int_equal(engine_checkpoint(test->engine, other), ENGINE_OK); /* Changes logs. */
    numbered_records_put_all(test->engine, SOME + 1, 2 * SOME);
    store_files_newest_log(test->store, path);
    scratch_join(target, test->copy, strrchr(path, '/') + 1);
    store_files_copy_file(path, target);
    assert_int_equal(store_files_newest_log(test->copy, path), 2);
    assert_true(store_files_measure_log(path).filled > 0);
}

static void a_later_log_goes_on_behind_a_fill(void **state)
{
    struct ahead_test *test = *state;
    char first[SCRATCH_PATH_MAX];
    copy_with_two_logs(test, first);
    check_opens(test->copy, 2 * SOME);
}

/* Puts fill in the place of pages that were written and did not reach the disk. */
static void lose(const char *path, size_t offset, size_t size)
{
    uint8_t pages[BLOCK_SIZE];
    assert_true(size <= sizeof pages);
    memset(pages, STORE_AHEAD_FILL, size);
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, pages, size, (off_t)offset), size);
    close(file);
}

static void the_mark_refuses(const struct ahead_test *test)
{
    char message[ENGINE_MESSAGE_MAX];
    assert_null(open_as(test->copy, ENGINE_DURABILITY_SYNC, false, message));
    assert_non_null(strstr(message, "that were synced cannot be read back"));
}

/* Returns the head of what comes back if the records had not been synced. */
static uint32_t check_unsynced(const struct ahead_test *test)
{
    char mark[SCRATCH_PATH_MAX];
    scratch_join(mark, test->copy, "SYNCED");
    assert_int_equal(unlink(mark), 0);
    struct engine *engine = open_store(test->copy);
    uint32_t head = numbered_records_check(engine);
    engine_close(engine);
    return head;
}

static void a_later_log_does_not_hide_that_a_page_was_lost(void **state)
{
    struct ahead_test *test = *state;
    char first[SCRATCH_PATH_MAX];
    copy_with_two_logs(test, first);
    size_t used = store_files_measure_log(first).used;
    lose(first, used - PAGE_SIZE, PAGE_SIZE); /* The last records, and what is left is fill. */
    the_mark_refuses(test);
    uint32_t head = check_unsynced(test);
    assert_true(head < SOME && head >= SOME - PAGE_SIZE / NUMBERED_RECORDS_VALUE_SIZE - 1);
}

static void nothing_comes_back_behind_a_page_that_was_lost(void **state)
{
    static const size_t offsets[] = { 0, PAGE_SIZE, BLOCK_SIZE - PAGE_SIZE, BLOCK_SIZE,
                                      BLOCK_SIZE + PAGE_SIZE };
    struct ahead_test *test = *state;
    char path[SCRATCH_PATH_MAX];
    numbered_records_put_all(test->engine, 1, SOME);
    for (size_t i = 0; i < COUNT_OF(offsets); i++) {
        store_files_copy(test->store, test->copy);
        store_files_newest_log(test->copy, path);
        lose(path, offsets[i], PAGE_SIZE);
        the_mark_refuses(test);
        uint32_t head = check_unsynced(test);
        assert_true(head <= offsets[i] / NUMBERED_RECORDS_VALUE_SIZE);
        assert_true(head + 1 >= offsets[i] / RECORD_LOG_SIZE);
    }
}

static void put_block(struct engine *engine, uint32_t number, size_t value_size)
{
    static uint8_t value[BLOCK_SIZE];
    memset(value, (int)number, sizeof value);
    engine_fixture_put(engine, items, bytes_of(&number, sizeof number),
                       bytes_of(value, value_size));
}

/* Here no record is torn, so that only the fill tells that something is missing: RocksDB passes
 * over a block of zeros. */
static void nor_behind_records_that_were_lost_as_a_whole(void **state)
{
    enum { RECORDS = 6, LOST = 3, TRIED_SIZE = BLOCK_SIZE - 1024 };
    struct ahead_test *test = *state;
    char path[SCRATCH_PATH_MAX], mark[SCRATCH_PATH_MAX];
    put_block(test->engine, 1, TRIED_SIZE);
    size_t value_size = TRIED_SIZE + BLOCK_SIZE - measure(test->store).used;
    engine_close(test->engine);
    scratch_destroy(test->store);
    test->engine = open_store(test->store);
    for (uint32_t number = 1; number <= RECORDS; number++)
        put_block(test->engine, number, value_size);
    struct store_files_log log = measure(test->store);
    assert_int_equal(log.used, RECORDS * BLOCK_SIZE);
    assert_true(log.filled > 0);

    store_files_copy(test->store, test->copy);
    store_files_newest_log(test->copy, path);
    lose(path, (LOST - 1) * BLOCK_SIZE, BLOCK_SIZE);
    the_mark_refuses(test);
    scratch_join(mark, test->copy, "SYNCED");
    assert_int_equal(unlink(mark), 0);
    struct engine *engine = open_store(test->copy);
    for (uint32_t number = 1; number <= RECORDS; number++)
        assert_int_equal(engine_fixture_lacks(engine, items, bytes_of(&number, sizeof number)),
                         number >= LOST);
    engine_close(engine);
}

static void a_checkpoint_of_a_filled_store_holds_its_records(void **state)
{
    struct ahead_test *test = *state;
    numbered_records_put_all(test->engine, 1, SOME);
    assert_true(measure(test->store).filled > 0);
    assert_int_equal(engine_checkpoint(test->engine, test->copy), ENGINE_OK);
    check_opens(test->copy, SOME);
}

static void write_on(void *context)
{
    struct ahead_test *test = context;
    numbered_records_put_all(test->engine, SOME + 1, 2 * SOME);
    assert_int_equal(measure(test->store).filled, 0);
}

/* RocksDB would not find the log as long as it was, if that was closed meanwhile. */
static void while_a_checkpoint_is_made_no_log_is_filled(void **state)
{
    struct ahead_test *test = *state;
    numbered_records_put_all(test->engine, 1, SOME);
    when_linked.context = test;
    when_linked.call = write_on;
    assert_int_equal(engine_checkpoint(test->engine, test->copy), ENGINE_OK);
    assert_null(when_linked.call);
    assert_int_equal(measure(test->store).filled, 0);
    numbered_records_put_all(test->engine, 2 * SOME + 1, 3 * SOME);
    assert_true(measure(test->store).filled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_log_is_filled_once_it_has_some_size, setup, teardown),
        cmocka_unit_test_setup_teardown(the_fill_stays_ahead_and_is_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_log_that_follows_another_is_filled_too, setup, teardown),
        cmocka_unit_test_setup_teardown(large_syncs_are_not_worth_a_fill, setup, teardown),
        cmocka_unit_test_setup_teardown(a_store_that_leaves_syncing_to_the_system_has_no_fill,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_store_that_was_told_not_to_has_no_fill, setup, teardown),
        cmocka_unit_test(logs_are_filled_with_the_version_that_was_proved_only),
        cmocka_unit_test_setup_teardown(the_running_version_is_in_the_newest_options_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_log_that_cannot_be_filled_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_closed_store_has_no_fill, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_store_opens_with_all_its_records, setup, teardown),
        cmocka_unit_test_setup_teardown(a_later_log_goes_on_behind_a_fill, setup, teardown),
        cmocka_unit_test_setup_teardown(a_later_log_does_not_hide_that_a_page_was_lost, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nothing_comes_back_behind_a_page_that_was_lost, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(nor_behind_records_that_were_lost_as_a_whole, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_checkpoint_of_a_filled_store_holds_its_records, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(while_a_checkpoint_is_made_no_log_is_filled, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
