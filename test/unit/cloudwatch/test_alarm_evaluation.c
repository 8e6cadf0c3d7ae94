/* test_alarm_evaluation.c -- states of alarms by their data points: the tables of CloudWatch's
 * documentation, the words of reasons, and random points against a second, naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "cloudwatch/alarm_evaluation.h"

enum { RANGE_MAX = 40 };
#define NOW_S INT64_C(1789662540) /* 2026-09-17T16:29:00Z */

/* `text` is as in the documentation, oldest first: X breaches, 0 does not, - is missing. */
static void read_points(const char *text, struct alarm_point *points)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size; i++) {
        char symbol = text[size - 1 - i];
        points[i] = (struct alarm_point){ .start_s = NOW_S - 60 * (int64_t)(i + 1),
                                          .present = symbol != '-',
                                          .value = symbol == 'X' ? 7 : 1,
                                          .sample_count = 2 };
    }
}

static const char *evaluate(struct arena *arena, const char *text, struct alarm_rule *rule)
{
    struct alarm_point points[RANGE_MAX];
    read_points(text, points);
    assert_int_equal(strlen(text), alarm_range(rule));
    struct alarm_evaluation result = alarm_evaluate(arena, rule, points);
    return result.decides ? alarm_state_name(result.state) : "RETAIN";
}

static struct alarm_rule rule_of(size_t m, size_t n, enum alarm_missing missing)
{
    return (struct alarm_rule){ .comparison = ALARM_GREATER,
                                .threshold = 5,
                                .evaluation_periods = n,
                                .datapoints_to_alarm = m,
                                .has_datapoints_to_alarm = m != n,
                                .missing = missing };
}

/* Both tables of "Configuring how CloudWatch alarms treat missing data", and its examples of
 * premature states. */
static void the_documentations_tables_hold(void **state)
{
    static const struct {
        size_t m;
        const char *points;
        const char *missing, *ignore, *breaching, *not_breaching;
    } rows[] = {
        { 3, "0-X-X", "OK", "OK", "OK", "OK" },
        { 3, "----0", "OK", "OK", "OK", "OK" },
        { 3, "-----", "INSUFFICIENT_DATA", "RETAIN", "ALARM", "OK" },
        { 3, "0XX-X", "ALARM", "ALARM", "ALARM", "ALARM" },
        { 3, "--X--", "ALARM", "RETAIN", "ALARM", "OK" },
        { 2, "0-X-X", "ALARM", "ALARM", "ALARM", "ALARM" },
        { 2, "00X0X", "ALARM", "ALARM", "ALARM", "ALARM" },
        { 2, "0-X--", "OK", "OK", "ALARM", "OK" },
        { 2, "----0", "OK", "OK", "ALARM", "OK" },
        { 2, "---X-", "ALARM", "RETAIN", "ALARM", "OK" },
        { 3, "----X", "RETAIN", "RETAIN", "ALARM", "OK" },
        { 3, "---X-", "RETAIN", "RETAIN", "ALARM", "OK" },
        { 3, "---XX", "RETAIN", "RETAIN", "ALARM", "OK" },
        { 3, "--XX-", "ALARM", "RETAIN", "ALARM", "OK" },
        { 3, "---X0", "OK", "OK", "OK", "OK" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *const wanted[] = { rows[i].missing, rows[i].ignore, rows[i].breaching,
                                       rows[i].not_breaching };
        for (size_t j = 0; j < COUNT_OF(wanted); j++) {
            struct alarm_rule rule = rule_of(rows[i].m, 3, (enum alarm_missing)j);
            const char *got = evaluate(arena, rows[i].points, &rule);
            if (strcmp(got, wanted[j]) != 0)
                fail_msg("%zu of 3, %s, %zu: %s instead of %s", rows[i].m, rows[i].points, j, got,
                         wanted[j]);
        }
    }
}

static void comparisons_differ_at_the_threshold(void **state)
{
    (void)state;
    static const bool wanted[][3] = { /* Below, at and above it. */
                                      [ALARM_GREATER_OR_EQUAL] = { false, true, true },
                                      [ALARM_GREATER] = { false, false, true },
                                      [ALARM_LESS] = { true, false, false },
                                      [ALARM_LESS_OR_EQUAL] = { true, true, false }
    };
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        struct alarm_rule rule = { .comparison = (enum alarm_comparison)i, .threshold = 5 };
        for (int j = 0; j < 3; j++)
            assert_int_equal(alarm_is_breaching(&rule, 4 + j), wanted[i][j]);
    }
}

static void a_percentile_of_too_few_samples_changes_nothing(void **state)
{
    struct arena *arena = *state;
    struct alarm_rule rule = rule_of(1, 1, ALARM_MISSING);
    struct alarm_point points[RANGE_MAX];
    read_points("00X", points);
    points[0].has_too_few = true;
    assert_false(alarm_evaluate(arena, &rule, points).decides);
    points[0].has_too_few = false;
    points[1].has_too_few = true; /* Not among those that decide. */
    assert_true(alarm_evaluate(arena, &rule, points).decides);
}

/* --- Words --- */

static void check_reason(struct arena *arena, const char *points, struct alarm_rule *rule,
                         const char *wanted)
{
    struct alarm_point range[RANGE_MAX];
    read_points(points, range);
    struct alarm_evaluation result = alarm_evaluate(arena, rule, range);
    assert_true(result.decides);
    struct bytes text = alarm_reason_text(arena, rule, &result);
    if (!bytes_equal_text(text, wanted))
        fail_msg("%s: %.*s", points, BYTES_FMT(text));
}

static void reasons_have_the_services_words(void **state)
{
    struct arena *arena = *state;
    struct alarm_rule rule = rule_of(2, 2, ALARM_MISSING);
    rule.comparison = ALARM_LESS;
    check_reason(arena, "--XX", &rule,
                 "Threshold Crossed: 2 datapoints [7.0 (17/09/26 16:28:00), "
                 "7.0 (17/09/26 16:27:00)] were not less than the threshold (5.0).");
    rule = rule_of(1, 1, ALARM_MISSING);
    check_reason(arena, "--X", &rule,
                 "Threshold Crossed: 1 datapoint [7.0 (17/09/26 16:28:00)] was greater than the "
                 "threshold (5.0).");
    rule.has_datapoints_to_alarm = true;
    check_reason(arena, "--X", &rule,
                 "Threshold Crossed: 1 out of the last 1 datapoints [7.0 (17/09/26 16:28:00)] was "
                 "greater than the threshold (5.0) (minimum 1 datapoint for OK -> ALARM "
                 "transition).");
    rule = rule_of(2, 3, ALARM_MISSING);
    check_reason(arena, "--X0X", &rule,
                 "Threshold Crossed: 2 out of the last 3 datapoints [7.0 (17/09/26 16:28:00), "
                 "7.0 (17/09/26 16:26:00)] were greater than the threshold (5.0) (minimum 2 "
                 "datapoints for OK -> ALARM transition).");
    check_reason(arena, "--00X", &rule,
                 "Threshold Crossed: 2 out of the last 3 datapoints [1.0 (17/09/26 16:27:00), "
                 "1.0 (17/09/26 16:26:00)] were not greater than the threshold (5.0) (minimum 2 "
                 "datapoints for ALARM -> OK transition).");
    rule = rule_of(2, 2, ALARM_MISSING_BREACHING);
    check_reason(arena, "----", &rule,
                 "Threshold Crossed: no datapoints were received for 2 periods and 2 missing "
                 "datapoints were treated as [Breaching].");
    check_reason(arena, "---X", &rule,
                 "Threshold Crossed: 1 datapoint was received for 2 periods and 1 missing "
                 "datapoint was treated as [Breaching].");
    rule = rule_of(1, 1, ALARM_MISSING_NOT_BREACHING);
    check_reason(arena, "---", &rule,
                 "Threshold Crossed: no datapoints were received for 1 period and 1 missing "
                 "datapoint was treated as [NonBreaching].");
    rule = rule_of(1, 1, ALARM_MISSING);
    check_reason(arena, "---", &rule, "Insufficient Data: 1 datapoint was unknown.");
    rule = rule_of(3, 3, ALARM_MISSING);
    check_reason(arena, "-----", &rule, "Insufficient Data: 3 datapoints were unknown.");
}

static void check_data(struct arena *arena, const char *points, struct alarm_rule *rule,
                       const struct alarm_reason_facts *facts, const char *wanted)
{
    struct alarm_point range[RANGE_MAX];
    read_points(points, range);
    struct alarm_evaluation result = alarm_evaluate(arena, rule, range);
    struct bytes text = alarm_reason_data(arena, rule, &result, facts);
    if (!bytes_equal_text(text, wanted))
        fail_msg("%s: %.*s", points, BYTES_FMT(text));
}

static void the_data_of_reasons_have_the_services_form(void **state)
{
    struct arena *arena = *state;
    struct alarm_reason_facts facts = { .query_ms = NOW_S * 1000 + 7,
                                        .period_s = 60,
                                        .statistic = BYTES("Sum"),
                                        .unit = BYTES("Seconds") };
    struct alarm_rule rule = rule_of(2, 2, ALARM_MISSING_BREACHING);
    check_data(arena, "--0X", &rule, &facts,
               "{\"version\":\"1.0\",\"queryDate\":\"2026-09-17T16:29:00.007+0000\","
               "\"startDate\":\"2026-09-17T16:27:00.000+0000\",\"unit\":\"Seconds\","
               "\"statistic\":\"Sum\",\"period\":60,\"recentDatapoints\":[1.0,7.0],"
               "\"threshold\":5.0,\"evaluatedDatapoints\":["
               "{\"timestamp\":\"2026-09-17T16:28:00.000+0000\",\"sampleCount\":2.0,\"value\":7.0},"
               "{\"timestamp\":\"2026-09-17T16:27:00.000+0000\",\"sampleCount\":2.0,"
               "\"value\":1.0}]}");
    facts.unit = (struct bytes){ 0 };
    facts.statistic = (struct bytes){ 0 };
    rule = rule_of(1, 1, ALARM_MISSING_BREACHING);
    check_data(arena, "---", &rule, &facts,
               "{\"version\":\"1.0\",\"queryDate\":\"2026-09-17T16:29:00.007+0000\","
               "\"period\":60,\"recentDatapoints\":[],\"threshold\":5.0,\"evaluatedDatapoints\":["
               "{\"timestamp\":\"2026-09-17T16:28:00.000+0000\"}]}");
}

/* --- A second model --- */

/* The documentation's sentences, one after the other, on the text of the points. */
static const char *evaluate_naively(const char *text, const struct alarm_rule *rule)
{
    size_t n = rule->evaluation_periods, m = rule->datapoints_to_alarm;
    size_t real = 0, bad = 0, good = 0, oldest_bad_age = 0;
    for (size_t age = 1; age <= strlen(text) && real < n; age++) {
        char symbol = text[strlen(text) - age];
        real += symbol != '-';
        bad += symbol == 'X';
        good += symbol == '0';
        if (symbol == 'X')
            oldest_bad_age = age;
    }
    size_t filled = n - real;
    if (filled > 0 && rule->missing == ALARM_MISSING_BREACHING)
        bad += filled;
    if (filled > 0 && rule->missing == ALARM_MISSING_NOT_BREACHING)
        good += filled;
    if (bad >= m)
        return "ALARM";
    if (good > 0)
        return "OK";
    if (rule->missing == ALARM_MISSING_IGNORE)
        return "RETAIN";
    if (bad == 0)
        return "INSUFFICIENT_DATA";
    return oldest_bad_age >= m ? "ALARM" : "RETAIN";
}

static void random_points_agree_with_a_naive_model(void **state)
{
    struct arena *arena = *state;
    struct random random;
    random_init(&random, 4711);
    for (int round = 0; round < 40000; round++) {
        char text[RANGE_MAX] = { 0 };
        size_t n = 1 + random_below(&random, 12);
        struct alarm_rule rule =
            rule_of(1 + random_below(&random, n), n, (enum alarm_missing)random_below(&random, 4));
        unsigned missing_share = (unsigned)random_below(&random, 4);
        for (size_t i = 0; i < alarm_range(&rule); i++)
            text[i] = random_below(&random, 4) < missing_share ? '-'
                      : random_below(&random, 2) == 0          ? 'X'
                                                               : '0';
        const char *got = evaluate(arena, text, &rule);
        const char *wanted = evaluate_naively(text, &rule);
        if (strcmp(got, wanted) != 0)
            fail_msg("%zu of %zu, %s, %d: %s instead of %s", rule.datapoints_to_alarm, n, text,
                     (int)rule.missing, got, wanted);
        if (round % 1000 == 0)
            arena_reset(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(the_documentations_tables_hold),
        cmocka_unit_test(comparisons_differ_at_the_threshold),
        ARENA_TEST(a_percentile_of_too_few_samples_changes_nothing),
        ARENA_TEST(reasons_have_the_services_words),
        ARENA_TEST(the_data_of_reasons_have_the_services_form),
        ARENA_TEST(random_points_agree_with_a_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
