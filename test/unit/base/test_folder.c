/* test_folder.c -- what folder_create makes and refuses. That its sync is the right one is proved
 * by test/crash/test_first_start.py. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_new_folder_is_for_its_owner_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_is_there_is_left_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_in_its_place_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(the_folder_above_is_not_made, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
