/* test_backup.c -- a directory copied with its digests, and back: whole, or nothing of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/backup.h"
#include "base/compiler.h"
#include "scratch.h"

struct folders {
    char scratch[SCRATCH_PATH_MAX];
    char store[SCRATCH_PATH_MAX];  /* A store's files; this layer does not look into them. */
    char target[SCRATCH_PATH_MAX]; /* Does not exist yet. */
    char again[SCRATCH_PATH_MAX];  /* Nor does this. */
};

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool has(const char *folder, const char *name)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, folder, name);
    return access(path, F_OK) == 0;
}

static void assert_content(const char *folder, const char *name, const char *want)
{
    char path[SCRATCH_PATH_MAX], text[64] = "";
    scratch_join(path, folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_int_equal(size, strlen(want));
    assert_string_equal(text, want);
}

static int setup(void **state)
{
    struct folders *folders = malloc(sizeof *folders);
    scratch_create(folders->scratch);
    scratch_join(folders->store, folders->scratch, "store");
    scratch_join(folders->target, folders->scratch, "target");
    scratch_join(folders->again, folders->scratch, "again");
    assert_int_equal(mkdir(folders->store, 0700), 0);
    write_file(folders->store, "CURRENT", "MANIFEST-000001\n");
    write_file(folders->store, "000004.sst", "table");
    write_file(folders->store, "000005.log", "");
    write_file(folders->store, "KEYS", "sealed");
    *state = folders;
    return 0;
}

static int teardown(void **state)
{
    struct folders *folders = *state;
    scratch_destroy(folders->scratch);
    free(folders);
    return 0;
}

static struct backup_options options_of(const struct folders *folders)
{
    return (struct backup_options){ .store = folders->store,
                                    .data_dir = folders->store,
                                    .version = "1.2.3",
                                    .now_ms = 1794744000000 };
}

static void make(const struct folders *folders)
{
    char message[BACKUP_MESSAGE_MAX] = "";
    struct backup_options options = options_of(folders);
    struct backup_result result;
    if (!backup_make(&options, folders->target, &result, message))
        fail_msg("%s", message);
    assert_int_equal(result.file_count, 4);
    assert_int_equal(result.size, strlen("MANIFEST-000001\n") + strlen("table") + strlen("sealed"));
}

static void expect_make_refusal(const struct folders *folders, const char *want)
{
    char message[BACKUP_MESSAGE_MAX] = "";
    struct backup_options options = options_of(folders);
    struct backup_result result;
    assert_false(backup_make(&options, folders->target, &result, message));
    assert_non_null(strstr(message, want));
}

static void expect_restore_refusal(const struct folders *folders, const char *want)
{
    char message[BACKUP_MESSAGE_MAX] = "";
    struct backup_result result;
    assert_false(backup_restore(folders->target, folders->again, NULL, NULL, &result, message));
    if (strstr(message, want) == NULL)
        fail_msg("%s", message);
    assert_int_not_equal(access(folders->again, F_OK), 0); /* Nothing is left of it. */
}

static void count_problem(void *context, const char *line)
{
    assert_null(strchr(line, '\n'));
    ++*(int *)context;
}

static uint64_t verify(const struct folders *folders)
{
    int reported = 0;
    uint64_t problems = backup_verify(folders->target, count_problem, NULL, &reported);
    assert_int_equal(reported, problems);
    return problems;
}

static void a_backup_comes_back_as_it_was(void **state)
{
    struct folders *folders = *state;
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    assert_false(backup_exists(folders->target));
    make(folders);
    assert_true(backup_exists(folders->target));
    assert_int_equal(verify(folders), 0);
    assert_false(has(folders->target, "INCOMPLETE"));
    assert_true(backup_restore(folders->target, folders->again, NULL, NULL, &result, message));
    assert_content(folders->again, "CURRENT", "MANIFEST-000001\n");
    assert_content(folders->again, "000004.sst", "table");
    assert_content(folders->again, "000005.log", "");
    assert_content(folders->again, "KEYS", "sealed");
    assert_false(has(folders->again, "BACKUP"));
    assert_false(has(folders->again, "INCOMPLETE"));
}

static void what_is_no_part_of_a_store_stays_behind(void **state)
{
    static const char *const others[] = { "LOCK",        "LOG",      "LOG.old.1",
                                          "KEYS.lock",   "KEYS.new", "FORMAT.new",
                                          "00001.dbtmp", "RESERVE",  ".hidden" };
    struct folders *folders = *state;
    char path[SCRATCH_PATH_MAX];
    for (size_t i = 0; i < COUNT_OF(others); i++)
        write_file(folders->store, others[i], "x");
    scratch_join(path, folders->store, "dead-letters");
    assert_int_equal(mkdir(path, 0700), 0);
    scratch_join(path, folders->store, "link");
    assert_int_equal(symlink("/etc/passwd", path), 0);
    make(folders);
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_false(has(folders->target, others[i]));
    assert_false(has(folders->target, "dead-letters"));
    assert_false(has(folders->target, "link"));
}

static void keys_come_from_the_data_directory(void **state)
{
    struct folders *folders = *state;
    char message[BACKUP_MESSAGE_MAX], path[SCRATCH_PATH_MAX];
    struct backup_options options = options_of(folders);
    struct backup_result result;
    scratch_join(path, folders->store, "KEYS");
    assert_int_equal(unlink(path), 0);
    options.data_dir = folders->scratch;
    write_file(folders->scratch, "KEYS", "others");
    assert_true(backup_make(&options, folders->target, &result, message));
    assert_content(folders->target, "KEYS", "others");
    assert_int_equal(verify(folders), 0);
}

static void a_directory_that_is_not_empty_is_refused_and_left_alone(void **state)
{
    struct folders *folders = *state;
    assert_int_equal(mkdir(folders->target, 0700), 0);
    write_file(folders->target, "precious", "x");
    expect_make_refusal(folders, "/target: is not empty");
    assert_content(folders->target, "precious", "x");
    assert_false(has(folders->target, "INCOMPLETE"));
}

static void an_empty_directory_will_do(void **state)
{
    struct folders *folders = *state;
    char path[SCRATCH_PATH_MAX];
    assert_int_equal(mkdir(folders->target, 0700), 0);
    scratch_join(path, folders->target, "lost+found");
    assert_int_equal(mkdir(path, 0700), 0);
    make(folders);
    assert_int_equal(verify(folders), 0);
    assert_true(has(folders->target, "lost+found"));
}

static void what_cannot_be_is_refused(void **state)
{
    struct folders *folders = *state;
    struct folders wrong = *folders;
    scratch_join(wrong.target, folders->scratch, "no/such");
    expect_make_refusal(&wrong, "/no/such: the folder above it does not exist");
    scratch_join(wrong.store, folders->scratch, "missing");
    expect_make_refusal(&wrong, "/missing: No such file or directory");
    write_file(folders->scratch, "file", "");
    wrong = *folders;
    scratch_join(wrong.target, folders->scratch, "file");
    expect_make_refusal(&wrong, "/file: Not a directory");
}

static void a_damaged_backup_is_refused_and_nothing_is_left(void **state)
{
    struct folders *folders = *state;
    char path[SCRATCH_PATH_MAX];
    make(folders);
    write_file(folders->target, "000004.sst", "tablE"); /* The size is right. */
    expect_restore_refusal(folders, "/000004.sst: damaged: not what was backed up");
    assert_int_equal(verify(folders), 1);
    write_file(folders->target, "000004.sst", "table and more");
    expect_restore_refusal(folders, "/000004.sst: damaged: not what was backed up");
    scratch_join(path, folders->target, "000004.sst");
    assert_int_equal(unlink(path), 0);
    expect_restore_refusal(folders, "/000004.sst: No such file or directory");
    assert_int_equal(symlink("CURRENT", path), 0);
    expect_restore_refusal(folders, "/000004.sst: ");
    write_file(folders->target, "CURRENT", "");
    assert_int_equal(verify(folders), 2);
}

static void a_damaged_list_is_refused(void **state)
{
    struct folders *folders = *state;
    char path[SCRATCH_PATH_MAX];
    make(folders);
    write_file(folders->target, "BACKUP", "stator backup 1\n");
    expect_restore_refusal(folders, "/BACKUP: damaged, or written by another version");
    assert_int_equal(verify(folders), 1);
    scratch_join(path, folders->target, "BACKUP");
    assert_int_equal(unlink(path), 0);
    expect_restore_refusal(folders, "/target: holds no complete backup");
}

static void a_restore_goes_into_an_empty_directory_only(void **state)
{
    struct folders *folders = *state;
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    make(folders);
    assert_false(backup_restore(folders->target, folders->store, NULL, NULL, &result, message));
    assert_non_null(strstr(message, "/store: is not empty"));
    assert_content(folders->store, "000004.sst", "table");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_backup_comes_back_as_it_was),
        TEST(what_is_no_part_of_a_store_stays_behind),
        TEST(keys_come_from_the_data_directory),
        TEST(a_directory_that_is_not_empty_is_refused_and_left_alone),
        TEST(an_empty_directory_will_do),
        TEST(what_cannot_be_is_refused),
        TEST(a_damaged_backup_is_refused_and_nothing_is_left),
        TEST(a_damaged_list_is_refused),
        TEST(a_restore_goes_into_an_empty_directory_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
