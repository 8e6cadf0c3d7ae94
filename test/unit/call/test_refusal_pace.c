/* test_refusal_pace.c -- how many refusals a loop sends at once, and how often a client that
 * retries at once is refused. Time is a number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "call/refusal_pace.h"

enum { START_MS = 5 * REFUSAL_PACE_PERIOD_MS };

static void the_first_refusals_of_a_period_are_sent_at_once(void **state)
{
    (void)state;
    struct refusal_pace pace = { 0 };
    for (int period = 0; period < 3; period++) {
        int64_t now_ms = START_MS + period * REFUSAL_PACE_PERIOD_MS;
        for (int i = 0; i < REFUSAL_PACE_AT_ONCE_MAX; i++)
            assert_int_equal(refusal_pace_delay_ms(&pace, now_ms + i), 0);
        assert_int_equal(refusal_pace_delay_ms(&pace, now_ms + REFUSAL_PACE_PERIOD_MS - 1),
                         REFUSAL_PACE_DELAY_MS);
    }
}

static void a_client_that_waits_between_retries_is_never_delayed(void **state)
{
    (void)state;
    struct refusal_pace pace = { 0 };
    for (int64_t now_ms = START_MS; now_ms < START_MS + 10000; now_ms += 50)
        assert_int_equal(refusal_pace_delay_ms(&pace, now_ms), 0);
}

/* Sixteen clients that retry as soon as they are refused: each time is a turn of the loop. */
static void clients_that_retry_at_once_are_refused_a_bounded_number_of_times(void **state)
{
    enum { CLIENTS = 16, SECONDS = 10, TURNS_PER_MS = 20 };
    (void)state;
    struct refusal_pace pace = { 0 };
    int64_t due_ms[CLIENTS] = { 0 };
    uint64_t count = 0;
    for (int64_t now_ms = START_MS; now_ms < START_MS + SECONDS * 1000; now_ms++) {
        for (int turn = 0; turn < TURNS_PER_MS; turn++) {
            for (int i = 0; i < CLIENTS; i++) {
                if (due_ms[i] > now_ms)
                    continue;
                due_ms[i] = now_ms + refusal_pace_delay_ms(&pace, now_ms);
                count++;
            }
        }
    }
    uint64_t at_once = (uint64_t)SECONDS * 1000 / REFUSAL_PACE_PERIOD_MS * REFUSAL_PACE_AT_ONCE_MAX;
    uint64_t delayed = (uint64_t)CLIENTS * SECONDS * 1000 / REFUSAL_PACE_DELAY_MS;
    assert_in_range(count, delayed / 2, at_once + delayed + CLIENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_refusals_of_a_period_are_sent_at_once),
        cmocka_unit_test(a_client_that_waits_between_retries_is_never_delayed),
        cmocka_unit_test(clients_that_retry_at_once_are_refused_a_bounded_number_of_times),
    };
    return cmocka_run_group_tests_name("call/refusal_pace", tests, NULL, NULL);
}
