/* test_rocksdb_open.c -- what a data directory must be, and the one line that says what is wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine/rocksdb/store_directory.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

struct folder {
    char scratch[SCRATCH_PATH_MAX];
    char data[SCRATCH_PATH_MAX]; /* Inside; does not exist yet. */
};

static int setup(void **state)
{
    struct folder *folder = malloc(sizeof *folder);
    scratch_create(folder->scratch);
    scratch_join(folder->data, folder->scratch, "data");
    *state = folder;
    return 0;
}

static int teardown(void **state)
{
    struct folder *folder = *state;
    scratch_destroy(folder->scratch);
    free(folder);
    return 0;
}

static struct engine *open_at(const char *path, char message[ENGINE_MESSAGE_MAX])
{
    struct engine_options options = engine_fixture_rocksdb_options(path);
    return engine_open(&options, message);
}

/* A store with one record, closed again. */
static void make_store(const char *path)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_at(path, message);
    assert_non_null(engine);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    engine_close(engine);
}

static void expect_refusal(const char *path, const char *reason)
{
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    assert_null(open_at(path, message));
    snprintf(want, sizeof want, "cannot use data directory '%s': %s", path, reason);
    assert_string_equal(message, want);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void a_missing_directory_is_created_for_its_owner_alone(void **state)
{
    struct folder *folder = *state;
    struct stat status;
    make_store(folder->data);
    assert_int_equal(stat(folder->data, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
}

static void a_directory_below_a_missing_one_is_refused(void **state)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, ((struct folder *)*state)->data, "below");
    expect_refusal(path, "the folder above it does not exist");
}

static void a_file_is_no_directory(void **state)
{
    struct folder *folder = *state;
    write_file(folder->scratch, "data", "text");
    expect_refusal(folder->data, "not a directory");
}

/* In a process of its own, as a user who may not: root may write anywhere. */
static void expect_refusal_as_nobody(const char *path, const char *reason)
{
    enum { NOBODY = 65534 };
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(2);
        expect_refusal(path, reason);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_directory_without_rights_is_refused(void **state)
{
    struct folder *folder = *state;
    assert_int_equal(chmod(folder->scratch, 0755), 0);
    assert_int_equal(mkdir(folder->data, 0555), 0);
    expect_refusal_as_nobody(folder->data, "no permission to read and write it");
    assert_int_equal(chmod(folder->data, 0000), 0);
    expect_refusal_as_nobody(folder->data, "no permission to read and write it");
    assert_int_equal(rmdir(folder->data), 0);
    assert_int_equal(chmod(folder->scratch, 0555), 0);
    expect_refusal_as_nobody(folder->data, "no permission to read and write it");
    assert_int_equal(chmod(folder->scratch, 0755), 0);
}

/* The other process: holds the store open, says so, and lets go when its input ends. */
static int run_holder(const char *path)
{
    char message[ENGINE_MESSAGE_MAX], byte;
    struct engine *engine = open_at(path, message);
    if (engine == NULL || write(STDOUT_FILENO, "x", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 0)
        return 1;
    engine_close(engine);
    return 0;
}

/* The file system's answer, as the test at hand wants it. */
static uint64_t free_space = UINT64_MAX;

int fstatvfs(int file, struct statvfs *out)
{
    (void)file;
    *out = (struct statvfs){ .f_frsize = 1, .f_bavail = free_space };
    return 0;
}

static void a_full_disk_is_refused_before_anything_is_touched(void **state)
{
    struct folder *folder = *state;
    char path[SCRATCH_PATH_MAX], message[ENGINE_MESSAGE_MAX];
    free_space = STORE_DIRECTORY_SPACE_MIN - 1;
    expect_refusal(folder->data, "no space left on the device");
    scratch_join(path, folder->data, "FORMAT");
    assert_int_not_equal(access(path, F_OK), 0);

    free_space = STORE_DIRECTORY_SPACE_MIN;
    make_store(folder->data);
    expect_refusal(folder->data, "no space left on the device"); /* It has a log now. */
    free_space += 1024;                                          /* More than one record takes. */
    struct engine *engine = open_at(folder->data, message);
    assert_non_null(engine);
    engine_close(engine);
    free_space = UINT64_MAX;
}

static void a_store_in_use_is_refused(void **state)
{
    struct folder *folder = *state;
    int to_child[2], from_child[2];
    char byte;
    assert_int_equal(pipe2(to_child, O_CLOEXEC), 0);
    assert_int_equal(pipe2(from_child, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(to_child[0], STDIN_FILENO);
        dup2(from_child[1], STDOUT_FILENO);
        execl("/proc/self/exe", "test_rocksdb_open", "hold", folder->data, NULL);
        _exit(1);
    }
    close(to_child[0]);
    assert_int_equal(read(from_child[0], &byte, 1), 1);
    expect_refusal(folder->data, "in use by another process");
    close(to_child[1]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(from_child[0]);
    close(from_child[1]);
    make_store(folder->data); /* Free again. */
}

static void a_second_engine_in_one_process_is_refused(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_at(folder->data, message);
    assert_non_null(engine);
    expect_refusal(folder->data, "in use by another process");
    engine_close(engine);
}

static const struct {
    const char *text, *reason;
} format_cases[] = {
    { "stator store, format 2\n",
      "written in format 2 by another version; this one knows format 1" },
    { "stator store, format 10\n",
      "written in format 10 by another version; this one knows format 1" },
    { "stator store, format 0\n", "the store is damaged: FORMAT is unreadable" },
    { "stator store, format 1", "the store is damaged: FORMAT is unreadable" },
    { "stator store, format 1\n\n", "the store is damaged: FORMAT is unreadable" },
    { "stator store, format 99999999999999999999\n", "the store is damaged: FORMAT is unreadable" },
    { "stator store, format \n", "the store is damaged: FORMAT is unreadable" },
    { "something else altogether, longer than any text of ours could ever become\n",
      "the store is damaged: FORMAT is unreadable" },
    { "", "the store is damaged: FORMAT is unreadable" },
};

static void another_format_is_refused_and_left_alone(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX];
    make_store(folder->data);
    for (size_t i = 0; i < COUNT_OF(format_cases); i++) {
        write_file(folder->data, "FORMAT", format_cases[i].text);
        expect_refusal(folder->data, format_cases[i].reason);
    }
    write_file(folder->data, "FORMAT", "stator store, format 1\n");
    struct engine *engine = open_at(folder->data, message);
    assert_non_null(engine);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
    engine_close(engine);
}

static void a_pipe_in_place_of_a_file_does_not_hang(void **state)
{
    struct folder *folder = *state;
    char path[SCRATCH_PATH_MAX];
    assert_int_equal(mkdir(folder->data, 0700), 0);
    scratch_join(path, folder->data, "FORMAT");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_refusal(folder->data, "the store is damaged: FORMAT is unreadable");
}

static void another_programs_rocksdb_is_refused(void **state)
{
    struct folder *folder = *state;
    char path[SCRATCH_PATH_MAX];
    make_store(folder->data);
    scratch_join(path, folder->data, "FORMAT");
    assert_int_equal(unlink(path), 0);
    expect_refusal(folder->data, "holds a RocksDB store that is not stator's");
}

static void expect_read_only_refusal(const char *path, const char *reason);

static void a_copy_that_was_interrupted_is_refused(void **state)
{
    static const char reason[] = "a backup or restore into it is not finished, or was interrupted";
    struct folder *folder = *state;
    make_store(folder->data);
    write_file(folder->data, "INCOMPLETE", "");
    expect_refusal(folder->data, reason);
    expect_read_only_refusal(folder->data, reason);
}

static void a_backup_is_read_and_not_written(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX];
    make_store(folder->data);
    write_file(folder->data, "BACKUP", "");
    expect_refusal(folder->data, "holds a backup; `stator restore` makes a store of it");
    struct engine_options options = engine_fixture_rocksdb_options(folder->data);
    options.read_only = true;
    struct engine *engine = engine_open(&options, message);
    assert_non_null(engine);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
    engine_close(engine);
}

static void a_damaged_store_is_refused(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    make_store(folder->data);
    write_file(folder->data, "CURRENT", "MANIFEST-999999\n");
    assert_null(open_at(folder->data, message));
    snprintf(want, sizeof want, "cannot use data directory '%s': ", folder->data);
    assert_memory_equal(message, want, strlen(want));
    write_file(folder->data, "CURRENT", "nonsense");
    assert_null(open_at(folder->data, message));
    snprintf(want, sizeof want,
             "cannot use data directory '%s': the store is damaged: ", folder->data);
    assert_memory_equal(message, want, strlen(want));
    assert_null(strchr(message, '\n'));
}

static void a_long_path_keeps_the_message_within_its_bounds(void **state)
{
    (void)state;
    char path[2000], message[ENGINE_MESSAGE_MAX];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    memset(message, 1, sizeof message);
    assert_null(open_at(path, message));
    assert_int_equal(strlen(message), sizeof message - 1);
}

static void nothing_is_left_of_a_store_in_memory(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX];
    struct engine_options options = engine_fixture_rocksdb_options(folder->data);
    options.in_memory = true;
    struct engine *engine = engine_open(&options, message);
    assert_non_null(engine);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    engine_close(engine);
    assert_int_not_equal(access(folder->data, F_OK), 0);
    engine = engine_open(&options, message);
    assert_true(engine_fixture_lacks(engine, items, BYTES("a")));
    engine_close(engine);
}

/* --- Read-only --- */

static struct engine *open_read_only(const char *path, char message[ENGINE_MESSAGE_MAX])
{
    struct engine_options options = engine_fixture_rocksdb_options(path);
    options.read_only = true;
    return engine_open(&options, message);
}

static void expect_read_only_refusal(const char *path, const char *reason)
{
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    assert_null(open_read_only(path, message));
    snprintf(want, sizeof want, "cannot use data directory '%s': %s", path, reason);
    assert_string_equal(message, want);
}

/* Names, sizes and times of change of a folder's files, as text. */
static void describe_folder(const char *path, char *out, size_t out_size)
{
    char command[SCRATCH_PATH_MAX + 100];
    snprintf(command, sizeof command, "cd '%s' && stat -c '%%n %%s %%y %%z' . *", path);
    FILE *listing = popen(command, "r");
    assert_non_null(listing);
    out[fread(out, 1, out_size - 1, listing)] = '\0';
    assert_int_equal(pclose(listing), 0);
}

static void a_read_only_store_shows_everything_and_stays_as_it_is(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX], before[8192], after[8192];
    make_store(folder->data);
    describe_folder(folder->data, before, sizeof before);
    struct engine *engine = open_read_only(folder->data, message);
    assert_non_null(engine);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_UNSUPPORTED);
    char second[ENGINE_MESSAGE_MAX];
    assert_null(open_at(folder->data, second)); /* Nobody writes while somebody reads. */
    engine_close(engine);
    describe_folder(folder->data, after, sizeof after);
    assert_string_equal(before, after);
}

static void a_read_only_store_must_be_there(void **state)
{
    struct folder *folder = *state;
    expect_read_only_refusal(folder->data, "it does not exist");
    assert_int_not_equal(access(folder->data, F_OK), 0);
    assert_int_equal(mkdir(folder->data, 0700), 0);
    expect_read_only_refusal(folder->data, "holds no store");
    assert_int_equal(rmdir(folder->data), 0); /* It is still empty. */
    write_file(folder->scratch, "data", "text");
    expect_read_only_refusal(folder->data, "not a directory");
}

static void a_store_that_lost_synced_changes_is_not_read(void **state)
{
    struct folder *folder = *state;
    char message[ENGINE_MESSAGE_MAX];
    make_store(folder->data);
    struct store_directory directory;
    struct store_manifest manifest;
    uint64_t sequence;
    assert_true(store_directory_open(&directory, folder->data, message));
    assert_int_equal(store_synced_read(&directory.synced, &sequence, &manifest), STORE_SYNCED_READ);
    store_synced_advance(&directory.synced, sequence + 3);
    store_directory_close(&directory);
    expect_read_only_refusal(
        folder->data, "the store is damaged: 3 changes that were synced cannot be read back");
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "hold") == 0)
        return run_holder(argv[2]);
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_missing_directory_is_created_for_its_owner_alone),
        IN_FOLDER(a_directory_below_a_missing_one_is_refused),
        IN_FOLDER(a_file_is_no_directory),
        IN_FOLDER(a_directory_without_rights_is_refused),
        IN_FOLDER(a_full_disk_is_refused_before_anything_is_touched),
        IN_FOLDER(a_store_in_use_is_refused),
        IN_FOLDER(a_second_engine_in_one_process_is_refused),
        IN_FOLDER(another_format_is_refused_and_left_alone),
        IN_FOLDER(a_pipe_in_place_of_a_file_does_not_hang),
        IN_FOLDER(another_programs_rocksdb_is_refused),
        IN_FOLDER(a_copy_that_was_interrupted_is_refused),
        IN_FOLDER(a_backup_is_read_and_not_written),
        IN_FOLDER(a_damaged_store_is_refused),
        IN_FOLDER(a_long_path_keeps_the_message_within_its_bounds),
        IN_FOLDER(nothing_is_left_of_a_store_in_memory),
        IN_FOLDER(a_read_only_store_shows_everything_and_stays_as_it_is),
        IN_FOLDER(a_read_only_store_must_be_there),
        IN_FOLDER(a_store_that_lost_synced_changes_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
