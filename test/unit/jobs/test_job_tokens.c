/* test_job_tokens.c -- the tokens of recent jobs: found for eight hours, and then forgotten. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/clock.h"
#include "jobs/job_tokens.h"

static struct {
    struct clock clock;
    struct job_tokens *tokens;
} fixture;

static int set_up(void **state)
{
    (void)state;
    fixture.clock = clock_fixed(INT64_C(1700000000000));
    fixture.tokens = job_tokens_create(&fixture.clock);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    job_tokens_destroy(fixture.tokens);
    return 0;
}

static void add(enum job_letter letter, const char *token, uint32_t salt)
{
    struct job_record record = { .letter = letter,
                                 .created_server_ms = clock_server_ms(&fixture.clock),
                                 .token =
                                     token == NULL ? (struct bytes){ 0 } : bytes_from_text(token) };
    job_record_make_id(1000, salt, record.id);
    job_tokens_add(fixture.tokens, &record);
}

/* The last digit of the id that is found, or '-'. */
static char find(enum job_letter letter, const char *token)
{
    char id[JOB_ID_SIZE + 1];
    return job_tokens_find(fixture.tokens, letter, bytes_from_text(token), id) ? id[JOB_ID_SIZE - 1]
                                                                               : '-';
}

static void token_is_found_for_eight_hours(void **state)
{
    (void)state;
    add(JOB_EXPORT, "t", 1);
    add(JOB_EXPORT, NULL, 2);
    assert_int_equal(find(JOB_EXPORT, "t"), '1');
    assert_int_equal(find(JOB_EXPORT, "u"), '-');
    assert_int_equal(find(JOB_IMPORT, "t"), '-'); /* Each kind has tokens of its own. */
    fixture.clock.fixed_ms += JOB_TOKEN_LIFETIME_MS - 1;
    assert_int_equal(find(JOB_EXPORT, "t"), '1');
    add(JOB_EXPORT, "t", 3);
    assert_int_equal(find(JOB_EXPORT, "t"), '3'); /* The newest. */
    fixture.clock.fixed_ms += 1;
    assert_int_equal(find(JOB_EXPORT, "t"), '3');
    fixture.clock.fixed_ms += JOB_TOKEN_LIFETIME_MS;
    assert_int_equal(find(JOB_EXPORT, "t"), '-');
    assert_int_equal(job_tokens_count(fixture.tokens), 0);
}

static void old_tokens_take_no_memory_for_long(void **state)
{
    enum { PER_ROUND = 20000, ROUNDS = 5 };
    (void)state;
    char token[32];
    for (uint32_t i = 0; i < PER_ROUND * ROUNDS; i++) {
        snprintf(token, sizeof token, "token %u", i);
        add(JOB_BULK, token, i);
        if ((i + 1) % PER_ROUND == 0)
            fixture.clock.fixed_ms += JOB_TOKEN_LIFETIME_MS;
    }
    assert_in_range(job_tokens_count(fixture.tokens), PER_ROUND, PER_ROUND * 3 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(token_is_found_for_eight_hours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_tokens_take_no_memory_for_long, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
