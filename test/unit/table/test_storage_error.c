/* test_storage_error.c -- what clients are told of an engine's failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>
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
    { ENGINE_BUSY, ERROR_THROTTLING,
      "Other writes kept the item busy for too long, and nothing was written. Please try again "
      "shortly" },
    { ENGINE_CONFLICT, ERROR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item" },
};

static void expect(bool (*set)(struct error *, enum engine_status, const char *),
                   enum engine_status status, enum error_code code, const char *text)
{
    struct arena *arena = arena_create();
    struct error error;
    error_init(&error, arena);
    assert_false(set(&error, status, "a test"));
    assert_int_equal(error.code, code);
    assert_true(bytes_equal(error.message, bytes_from_text(text)));
    arena_destroy(arena);
}

static void each_failure_has_its_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect(storage_error_set, cases[i].status, cases[i].code, cases[i].text);
}

static void a_change_of_a_table_is_no_transaction(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        expect(storage_error_set_for_table, cases[i].status, ERROR_INTERNAL,
               cases[i].code == ERROR_INTERNAL ? cases[i].text : "Internal server error");
}

/* How many lines `count` failures leave in the log. */
static size_t log_failures(size_t count)
{
    FILE *log = tmpfile();
    int standard_error = dup(STDERR_FILENO);
    size_t lines = 0;
    assert_non_null(log);
    assert_int_equal(dup2(fileno(log), STDERR_FILENO), STDERR_FILENO);
    for (size_t i = 0; i < count; i++)
        expect(storage_error_set, ENGINE_IO, ERROR_INTERNAL, "Internal server error");
    assert_int_equal(dup2(standard_error, STDERR_FILENO), STDERR_FILENO);
    close(standard_error);
    rewind(log);
    for (int byte; (byte = fgetc(log)) != EOF;)
        lines += byte == '\n';
    fclose(log);
    return lines;
}

static void a_disk_that_fails_every_request_does_not_flood_the_log(void **state)
{
    enum { FAILURES = 5000, LINES_MAX = 1000 }; /* A burst, and some seconds at the rate. */
    (void)state;
    size_t lines = log_failures(FAILURES);
    assert_true(lines > 0 && lines < LINES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failure_has_its_answer),
        cmocka_unit_test(a_change_of_a_table_is_no_transaction),
        cmocka_unit_test(a_disk_that_fails_every_request_does_not_flood_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
