/* test_read_page.c -- pages read without a call: limits, filters, pauses and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "expr/ast.h"
#include "failing_engine.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/rendered_item.h"
#include "read/read_page.h"
#include "read/read_range.h"
#include "read/read_source.h"
#include "reference_engine.h"
#include "table/item_address.h"
#include "table/item_range.h"

enum { ITEM_COUNT = 200 };

struct fixture {
    struct arena *arena;
    struct engine *engine;
    struct error error;
    unsigned shown[ITEM_COUNT]; /* How often each item was. */
    size_t shown_count;
    uint64_t show_work; /* What showing an item is said to take. */
    bool pauses;
    size_t pause_count;
    struct read_page_end end;
};

static void put(struct fixture *fixture, unsigned number)
{
    char text[160];
    struct item_address place;
    snprintf(text, sizeof text, "{'p':{'S':'p%u'},'s':{'N':'%u'},'x':{'S':'%s'},'n':{'S':'%03u'}}",
             number % 7, number, number % 2 == 0 ? "even" : "odd", number);
    struct item item = item_fixture_read(fixture->arena, text);
    assert_true(
        item_address_of_item(fixture->arena, &index_fixture_table, &item, &place, &fixture->error));
    engine_fixture_put(fixture->engine, place.address.place, place.address.key, item.encoded);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->arena = arena_create();
    error_init(&fixture->error, fixture->arena);
    fixture->engine = failing_engine_create(reference_engine_create());
    for (unsigned i = 0; i < ITEM_COUNT; i++)
        put(fixture, i);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static uint64_t show(void *context, const struct shown_item *item)
{
    struct fixture *fixture = context;
    struct value value;
    assert_true(item_find(&item->item, BYTES("n"), &value) && value.data.len == 3);
    unsigned index = 0;
    for (size_t i = 0; i < value.data.len; i++)
        index = index * 10 + (unsigned)(value.data.data[i] - '0');
    assert_in_range(index, 0, ITEM_COUNT - 1);
    fixture->shown[index]++;
    fixture->shown_count++;
    return fixture->show_work;
}

static bool is_pause_due(const void *context, int64_t now_ns)
{
    const struct fixture *fixture = context;
    assert_true(now_ns > 0);
    return fixture->pauses;
}

/* Reads one page of all items, from behind `start` if it is not NULL. */
static enum read_page_status read_one(struct fixture *fixture, const struct item *start,
                                      const struct read_page_request *options)
{
    static const struct item_range_segment all = { .index = 0, .total = 1 };
    static const struct read_source_name whole_table = { .consistent = true };
    struct read_source source;
    struct item_range *ranges;
    assert_true(read_source_find(fixture->arena, &index_fixture_table, &whole_table, &source,
                                 &fixture->error));
    size_t count = item_range_of_segment(fixture->arena, &index_fixture_table, NULL, &all, &ranges);
    if (start != NULL) {
        struct item_address place;
        assert_true(read_source_locate(fixture->arena, &source, start, &place, &fixture->error));
        read_range_start_behind(fixture->arena, &ranges, &count, place.address.key);
    }
    struct read_page_request request = *options;
    request.arena = fixture->arena;
    request.engine = fixture->engine;
    request.purpose = "test";
    request.source = &source;
    request.ranges = ranges;
    request.range_count = count;
    request.consistent = true;
    request.show = show;
    request.is_pause_due = is_pause_due;
    request.context = fixture;
    struct read_page *page = read_page_open(&request, &fixture->error);
    if (page == NULL)
        return READ_PAGE_FAILED;
    enum read_page_status status = read_page_run(page, &fixture->error);
    for (; status == READ_PAGE_PAUSED; status = read_page_run(page, &fixture->error)) {
        fixture->pause_count++;
        put(fixture, 0); /* The page goes on in its own view. */
    }
    if (status == READ_PAGE_ENDED)
        fixture->end = *read_page_end(page);
    read_page_close(page);
    return status;
}

static void expect_each_once(const struct fixture *fixture)
{
    for (unsigned i = 0; i < ITEM_COUNT; i++)
        assert_int_equal(fixture->shown[i], 1);
}

static void pages_of_any_size_show_each_item_once(void **state)
{
    struct fixture *fixture = *state;
    static const size_t sizes[] = { 1, 2, 7, ITEM_COUNT - 1, ITEM_COUNT, ITEM_COUNT + 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct read_page_request options = { .count_max = sizes[i] };
        struct item start;
        size_t page_count = 0;
        memset(fixture->shown, 0, sizeof fixture->shown);
        do {
            start = fixture->end.last_key;
            assert_int_equal(read_one(fixture, page_count == 0 ? NULL : &start, &options),
                             READ_PAGE_ENDED);
            page_count++;
        } while (fixture->end.is_full);
        expect_each_once(fixture);
        assert_int_equal(page_count, ITEM_COUNT / sizes[i] + 1);
    }
}

static void a_filter_counts_what_it_refuses_as_scanned(void **state)
{
    struct fixture *fixture = *state;
    struct buffer encoded;
    buffer_init(&encoded, fixture->arena);
    value_append_string(&encoded, BYTES("odd"));
    const struct path_step step = { .name = BYTES("x") };
    const struct operand operands[] = {
        { .type = OPERAND_PATH, .path = { .steps = &step, .step_count = 1 } },
        { .type = OPERAND_VALUE, .value = value_view(buffer_bytes(&encoded)) },
    };
    const struct condition filter = { .type = CONDITION_COMPARE,
                                      .comparator = COMPARE_EQUAL,
                                      .operands = operands,
                                      .operand_count = 2 };
    const struct read_page_request options = { .count_max = SIZE_MAX, .filter = &filter };
    assert_int_equal(read_one(fixture, NULL, &options), READ_PAGE_ENDED);
    assert_int_equal(fixture->end.scanned_count, ITEM_COUNT);
    assert_int_equal(fixture->end.count, ITEM_COUNT / 2);
    assert_int_equal(fixture->shown_count, ITEM_COUNT / 2);
    assert_false(fixture->end.is_full);
    for (unsigned i = 0; i < ITEM_COUNT; i++)
        assert_int_equal(fixture->shown[i], i % 2);
}

static void a_pause_shows_in_nothing(void **state)
{
    struct fixture *fixture = *state;
    const struct read_page_request options = { .count_max = SIZE_MAX };
    fixture->pauses = true;
    assert_int_equal(read_one(fixture, NULL, &options), READ_PAGE_ENDED);
    expect_each_once(fixture);
    assert_int_equal(fixture->end.scanned_count, ITEM_COUNT);
    assert_true(fixture->pause_count > 0);
}

static void a_page_ends_behind_the_item_that_reaches_its_work(void **state)
{
    struct fixture *fixture = *state;
    const struct read_page_request options = { .count_max = SIZE_MAX, .work_max = 50 };
    fixture->show_work = 10;
    assert_int_equal(read_one(fixture, NULL, &options), READ_PAGE_ENDED);
    assert_int_equal(fixture->end.scanned_count, 5);
    assert_true(fixture->end.is_full);
}

static void every_engine_failure_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    const struct read_page_request options = { .count_max = 20 };
    uint64_t call = 0;
    fixture->pauses = true;
    do {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = ++call, .status = ENGINE_IO });
        error_init(&fixture->error, fixture->arena);
        enum read_page_status status = read_one(fixture, NULL, &options);
        bool struck = failing_engine_struck(fixture->engine);
        assert_int_equal(status, struck ? READ_PAGE_FAILED : READ_PAGE_ENDED);
        assert_int_equal(error_is_set(&fixture->error), struck);
    } while (failing_engine_struck(fixture->engine));
    assert_true(call > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_of_any_size_show_each_item_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_filter_counts_what_it_refuses_as_scanned, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_pause_shows_in_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_page_ends_behind_the_item_that_reaches_its_work, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_engine_failure_is_an_error, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
