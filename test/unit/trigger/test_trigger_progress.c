/* test_trigger_progress.c -- what is tried again, when, and what is given up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "base/random.h"
#include "trigger/trigger_batch.h"
#include "trigger/trigger_definition.h"
#include "trigger/trigger_progress.h"

enum { RECORDS_MAX = TRIGGER_BATCH_SIZE_MAX, FIRST = 2 };

static struct trigger_batch_record records[RECORDS_MAX];
static struct random chance;

static int set_up(void **state)
{
    (void)state;
    random_init(&chance, 1);
    return 0;
}

/* The records from `first` on, up to where the progress says. */
static struct trigger_batch batch_of(const struct trigger_progress *progress, size_t count_max,
                                     uint64_t log_end)
{
    uint64_t end = trigger_progress_end(progress);
    struct trigger_batch batch = { .records = records, .first = progress->at.next };
    if (end == 0 || end > log_end)
        end = log_end;
    for (uint64_t at = progress->at.next; at < end && batch.count < count_max; at++)
        records[batch.count++] = (struct trigger_batch_record){ .sequence = at, .server_ms = 1000 };
    batch.next = progress->at.next + batch.count;
    batch.full = batch.count == count_max;
    return batch;
}

static struct trigger_definition definition_of(int64_t retries_max, bool bisect)
{
    return (struct trigger_definition){ .batch_size = TRIGGER_BATCH_SIZE_MAX,
                                        .retries_max = retries_max,
                                        .age_max_s = TRIGGER_UNLIMITED,
                                        .bisect = bisect };
}

static size_t gives_up(const struct trigger_progress *progress,
                       const struct trigger_definition *definition,
                       const struct trigger_batch *batch)
{
    enum trigger_give_up reason;
    const struct clock clock = clock_fixed(1000);
    return trigger_progress_give_up(progress, definition, batch, &clock, &reason);
}

static void a_batch_that_is_tried_again_is_the_same(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(TRIGGER_UNLIMITED, false);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 3);
    trigger_progress_fail(&progress, &definition, &batch, 0, 50, &chance);
    assert_true(progress.at.due_ms > 50);
    batch = batch_of(&progress, 10, FIRST + 8); /* More has come. */
    assert_int_equal(batch.count, 3);
    trigger_progress_move(&progress, batch.next);
    batch = batch_of(&progress, 10, FIRST + 8);
    assert_int_equal(batch.count, 5);
    assert_int_equal(progress.at.due_ms, 0);
}

static void retries_are_counted_and_then_all_is_given_up(void **state)
{
    (void)state;
    for (int64_t retries_max = 0; retries_max < 3; retries_max++) {
        struct trigger_definition definition = definition_of(retries_max, false);
        struct trigger_progress progress = { .at = { .next = FIRST } };
        struct trigger_batch batch = batch_of(&progress, 10, FIRST + 4);
        for (int64_t i = 0; i <= retries_max; i++) {
            assert_int_equal(gives_up(&progress, &definition, &batch), 0);
            trigger_progress_fail(&progress, &definition, &batch, 0, 0, &chance);
        }
        assert_int_equal(gives_up(&progress, &definition, &batch), 4);
    }
}

static void a_function_that_cannot_be_called_costs_no_retry(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(0, false);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 4);
    for (int i = 0; i < 100; i++)
        trigger_progress_unreached(&progress, 0, &chance);
    assert_int_equal(gives_up(&progress, &definition, &batch), 0);
    assert_true(progress.at.due_ms >= CONSUMER_BACKOFF_MAX_MS / 2);
}

/* The function refuses every batch with one record; how often is it called, and what is given up?
 */
static void bisect(uint64_t refused, size_t count)
{
    struct trigger_definition definition = definition_of(2, true);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    uint64_t end = FIRST + count, given_up = 0;
    unsigned calls = 0;
    while (progress.at.next < end) {
        struct trigger_batch batch = batch_of(&progress, count, end);
        size_t lost = gives_up(&progress, &definition, &batch);
        assert_true(batch.count > 0);
        assert_true(++calls < 100);
        if (lost > 0) {
            assert_int_equal(lost, 1);
            assert_int_equal(progress.failures, 3);
            given_up = progress.at.next;
            trigger_progress_move(&progress, batch.next);
        } else if (refused >= progress.at.next && refused < batch.next) {
            trigger_progress_fail(&progress, &definition, &batch, 0, 0, &chance);
        } else {
            trigger_progress_move(&progress, batch.next);
        }
    }
    assert_int_equal(given_up, refused);
    assert_int_equal(progress.end_count, 0);
}

static void bisecting_gives_up_the_one_record_that_is_refused(void **state)
{
    (void)state;
    static const size_t counts[] = { 1, 2, 3, 7, 64, 1000, RECORDS_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        bisect(FIRST, counts[i]);
        bisect(FIRST + counts[i] / 2, counts[i]);
        bisect(FIRST + counts[i] - 1, counts[i]);
    }
}

static void a_split_is_not_put_off(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(0, true);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 2);
    trigger_progress_fail(&progress, &definition, &batch, 0, 50, &chance);
    assert_int_equal(progress.at.due_ms, 0);
    assert_int_equal(trigger_progress_end(&progress), FIRST + 1);
}

static void what_a_function_reports_as_failed_is_tried_again_with_what_is_behind_it(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(1, false);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 5);
    trigger_progress_fail(&progress, &definition, &batch, 3, 0, &chance);
    assert_int_equal(progress.at.next, FIRST + 3);
    batch = batch_of(&progress, 10, FIRST + 9);
    assert_int_equal(batch.count, 2);
    assert_int_equal(gives_up(&progress, &definition, &batch), 0);
    trigger_progress_fail(&progress, &definition, &batch, 0, 0, &chance);
    assert_int_equal(gives_up(&progress, &definition, &batch), 2);
}

static void records_that_are_too_old_are_given_up_first(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(TRIGGER_UNLIMITED, false);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 3);
    enum trigger_give_up reason;
    definition.age_max_s = 60;
    struct clock clock = clock_fixed(60000);
    records[0].server_ms = 0;
    records[1].server_ms = 1;
    records[2].server_ms = 2;
    clock.wall_ahead_ms = INT64_C(30) * 24 * 60 * 60 * 1000;
    assert_int_equal(trigger_progress_give_up(&progress, &definition, &batch, &clock, &reason), 0);
    assert_int_equal(reason, TRIGGER_GIVE_UP_NONE);
    clock.fixed_ms = 60002;
    clock.wall_ahead_ms = -clock.wall_ahead_ms;
    assert_int_equal(trigger_progress_give_up(&progress, &definition, &batch, &clock, &reason), 2);
    assert_int_equal(reason, TRIGGER_GIVE_UP_AGE);
    clock.server_origin_ms = 2; /* The age of a record without server time. */
    records[2].server_ms = 3;
    assert_int_equal(trigger_progress_give_up(&progress, &definition, &batch, &clock, &reason), 0);
    clock.fixed_ms++;
    assert_int_equal(trigger_progress_give_up(&progress, &definition, &batch, &clock, &reason), 2);
}

static void a_batch_waits_for_its_window(void **state)
{
    (void)state;
    struct trigger_definition definition = definition_of(TRIGGER_UNLIMITED, false);
    struct trigger_progress progress = { .at = { .next = FIRST } };
    struct trigger_batch batch = batch_of(&progress, 10, FIRST + 3);
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 500), 0);
    definition.window_s = 2;
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 500), 2000);
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 2499), 1);
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 2500), 0);
    trigger_progress_move(&progress, batch.next);
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 2500), 2000);
    batch.full = true;
    assert_int_equal(trigger_progress_window_ms(&progress, &definition, &batch, 2500), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_batch_that_is_tried_again_is_the_same, set_up),
        cmocka_unit_test_setup(retries_are_counted_and_then_all_is_given_up, set_up),
        cmocka_unit_test_setup(a_function_that_cannot_be_called_costs_no_retry, set_up),
        cmocka_unit_test_setup(bisecting_gives_up_the_one_record_that_is_refused, set_up),
        cmocka_unit_test_setup(a_split_is_not_put_off, set_up),
        cmocka_unit_test_setup(
            what_a_function_reports_as_failed_is_tried_again_with_what_is_behind_it, set_up),
        cmocka_unit_test_setup(records_that_are_too_old_are_given_up_first, set_up),
        cmocka_unit_test_setup(a_batch_waits_for_its_window, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
