/* test_folder.c -- what folder_create makes and refuses; every name in a folder once, until the
 * visitor has enough. That the sync of a new folder is the right one is proved by
 * test/crash/test_first_start.py. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/folder.h"
#include "scratch.h"

static int setup(void **state)
{
    static char scratch[SCRATCH_PATH_MAX];
    scratch_create(scratch);
    *state = scratch;
    return 0;
}

static int teardown(void **state)
{
    scratch_destroy(*state);
    return 0;
}

static void a_new_folder_is_for_its_owner_alone(void **state)
{
    char path[SCRATCH_PATH_MAX];
    struct stat status;
    scratch_join(path, *state, "folder");
    assert_true(folder_create(path));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode, S_IFDIR | 0700);
}

static void one_that_is_there_is_left_as_it_is(void **state)
{
    char path[SCRATCH_PATH_MAX];
    struct stat status;
    scratch_join(path, *state, "folder");
    assert_int_equal(mkdir(path, 0750), 0);
    assert_true(folder_create(path));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0750);
}

static void a_file_in_its_place_is_refused(void **state)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, *state, "file");
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    close(file);
    assert_false(folder_create(path));
    assert_int_equal(errno, ENOTDIR);
}

static void the_folder_above_is_not_made(void **state)
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, *state, "missing/folder");
    assert_false(folder_create(path));
    assert_int_equal(errno, ENOENT);
}

enum { FILES = 300 };

struct seen {
    int times[FILES];
    int count;
    int count_max;
};

static bool visit(int folder, const char *name, void *context)
{
    struct seen *seen = context;
    int number = -1;
    assert_true(folder >= 0);
    assert_int_equal(sscanf(name, "file-%d", &number), 1);
    assert_in_range(number, 0, FILES - 1);
    seen->times[number]++;
    errno = EINTR;
    return ++seen->count < seen->count_max;
}

static void each_name_is_visited_once_until_the_visitor_has_enough(void **state)
{
    char path[SCRATCH_PATH_MAX], name[32], file[SCRATCH_PATH_MAX];
    (void)state;
    scratch_create(path);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "file-%d", i);
        scratch_join(file, path, name);
        close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int round = 0; round < 2; round++) { /* The descriptor is as it was. */
        struct seen all = { .count_max = FILES + 1 };
        assert_true(folder_visit(folder, visit, &all));
        for (int i = 0; i < FILES; i++)
            assert_int_equal(all.times[i], 1);
    }
    struct seen few = { .count_max = 5 };
    assert_false(folder_visit(folder, visit, &few));
    assert_int_equal(errno, EINTR); /* The visitor's. */
    assert_int_equal(few.count, 5);
    close(folder);
    scratch_destroy(path);
}

static void what_is_no_folder_is_refused(void **state)
{
    struct seen none = { .count_max = 1 };
    (void)state;
    assert_false(folder_visit(-1, visit, &none));
    assert_int_equal(errno, EBADF);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_false(folder_visit(file, visit, &none));
    assert_int_equal(errno, ENOTDIR);
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_folder_is_for_its_owner_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_there_is_left_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_in_its_place_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_folder_above_is_not_made, setup, teardown),
        cmocka_unit_test(each_name_is_visited_once_until_the_visitor_has_enough),
        cmocka_unit_test(what_is_no_folder_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
