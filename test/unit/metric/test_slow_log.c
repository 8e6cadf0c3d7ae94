/* test_slow_log.c -- the slowest come first, the oldest go, and no names of absent tables stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "metric/slow_log.h"

static void note(struct slow_log *log, int64_t elapsed_ns)
{
    const struct meter_call call = {
        .operation = 3, .elapsed_ns = elapsed_ns, .queue_ns = elapsed_ns / 4, .request_size = 7
    };
    slow_log_note(log, &call, elapsed_ns / 2, 1, NULL, 0);
}

static void the_slowest_come_first(void **state)
{
    (void)state;
    struct slow_log *log = slow_log_create(1000);
    static struct slow_request found[SLOW_LOG_ENTRIES];
    assert_int_equal(slow_log_threshold_ns(log), 1000);
    assert_int_equal(slow_log_read(log, found, SLOW_LOG_ENTRIES), 0);
    note(log, 2000);
    note(log, 9000);
    note(log, 5000);
    assert_int_equal(slow_log_read(log, found, 2), 2);
    assert_int_equal(found[0].elapsed_ns, 9000);
    assert_int_equal(found[1].elapsed_ns, 5000);
    assert_int_equal(found[0].operation, 3);
    assert_int_equal(found[0].pause_count, 1);
    assert_int_equal(found[0].queue_ns, found[0].elapsed_ns / 4);
    assert_int_equal(found[0].table_count, 0);
    assert_string_equal(found[0].table, "");
    slow_log_destroy(log);
}

static void the_oldest_go(void **state)
{
    (void)state;
    enum { MANY = SLOW_LOG_ENTRIES + 100 };
    struct slow_log *log = slow_log_create(1);
    static struct slow_request found[SLOW_LOG_ENTRIES];
    for (int64_t i = 0; i < MANY; i++)
        note(log, MANY - i);
    assert_int_equal(slow_log_read(log, found, SLOW_LOG_ENTRIES), SLOW_LOG_ENTRIES);
    assert_int_equal(found[0].elapsed_ns, SLOW_LOG_ENTRIES);
    assert_int_equal(found[SLOW_LOG_ENTRIES - 1].elapsed_ns, 1);
    slow_log_destroy(log);
}

static void what_a_request_did_adds_up_over_its_tables(void **state)
{
    (void)state;
    struct slow_log *log = slow_log_create(1);
    static struct slow_request found[1];
    struct index_definition index = { .name = BYTES("by_g") };
    struct table_definition first = { .name = BYTES("Orders"),
                                      .indexes = &index,
                                      .index_count = 1 };
    struct table_definition second = { .name = BYTES("Customers") };
    struct table *held = (struct table *)&first; /* Only compared with NULL. */
    const struct capacity_use uses[] = {
        { .table_name = BYTES("Absent") },
        { .table = held,
          .definition = &first,
          .read_count = 10,
          .returned_count = 4,
          .table_half_units = 1,
          .index_half_units = { 3 } },
        { .table = held, .definition = &second, .read_count = 5, .returned_count = 5 },
    };
    const struct meter_call call = { .elapsed_ns = 10, .error = ERROR_VALIDATION };
    slow_log_note(log, &call, 0, 0, uses, 3);
    assert_int_equal(slow_log_read(log, found, 1), 1);
    assert_string_equal(found->table, "Orders");
    assert_string_equal(found->index, "by_g");
    assert_int_equal(found->table_count, 2);
    assert_int_equal(found->items_read, 15);
    assert_int_equal(found->items_returned, 9);
    assert_int_equal(found->read_half_units, 4);
    assert_int_equal(found->error, ERROR_VALIDATION);
    slow_log_destroy(log);
}

static void no_threshold_keeps_nothing(void **state)
{
    (void)state;
    struct slow_log *log = slow_log_create(0);
    assert_int_equal(slow_log_threshold_ns(log), INT64_MAX);
    slow_log_destroy(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_slowest_come_first),
        cmocka_unit_test(the_oldest_go),
        cmocka_unit_test(what_a_request_did_adds_up_over_its_tables),
        cmocka_unit_test(no_threshold_keeps_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
