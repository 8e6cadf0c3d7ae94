/* test_storage_error.c -- what clients are told of an engine's failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"
#include "table/storage_error.h"

static const struct {
    enum engine_status status;
    enum error_code code;
    const char *text;
} cases[] = {
    { ENGINE_IO, ERROR_INTERNAL, "Internal server error" },
    { ENGINE_CORRUPT, ERROR_INTERNAL, "Internal server error" },
    { ENGINE_UNKNOWN, ERROR_INTERNAL, "Internal server error" },
    { ENGINE_FULL, ERROR_INTERNAL,
      "The disk is full: items can be read and deleted, but not written" },
    { ENGINE_BUSY, ERROR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item" },
    { ENGINE_CONFLICT, ERROR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item" },
};

static void each_failure_has_its_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create();
        struct error error;
        error_init(&error, arena);
        assert_false(storage_error_set(&error, cases[i].status, "a test"));
        assert_int_equal(error.code, cases[i].code);
        assert_true(bytes_equal(error.message, bytes_from_text(cases[i].text)));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_has_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
