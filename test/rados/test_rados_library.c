/* test_rados_library.c -- librados is opened at run time, and what is missing is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "engine/rados/rados_library.h"

static void a_missing_library_is_named_with_its_package(void **state)
{
    (void)state;
    struct rados_library library;
    char message[512];
    assert_false(rados_library_load(&library, "libnosuch.so.2", message, sizeof message));
    assert_string_equal(message, "libnosuch.so.2: cannot open shared object file: No such file or "
                                 "directory; install librados2 to use a Ceph cluster");
}

static void a_library_without_a_function_is_refused(void **state)
{
    (void)state;
    struct rados_library library;
    char message[512];
    assert_false(rados_library_load(&library, "libc.so.6", message, sizeof message));
    assert_non_null(strstr(message, "undefined symbol: rados_"));
}

static void every_function_is_found(void **state)
{
    (void)state;
    struct rados_library library;
    char message[512];
    assert_true(rados_library_load(&library, RADOS_LIBRARY_FILE, message, sizeof message));
#define EXPECT(name) assert_non_null(library.name);
    RADOS_LIBRARY_FUNCTIONS(EXPECT)
#undef EXPECT
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_library_is_named_with_its_package),
        cmocka_unit_test(a_library_without_a_function_is_refused),
        cmocka_unit_test(every_function_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
