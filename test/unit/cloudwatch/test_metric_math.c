/* test_metric_math.c -- metric math: values, missing points, texts of refusals, bounds; SEARCH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "cloudwatch/metric_math.h"
#include "cloudwatch/metric_search.h"
#include "cloudwatch/series.h"

/* --- A world of three series, in a window of five minutes --- */

static const int64_t all_times[] = { 0, 60, 120, 180, 240 };
static const double m1_values[] = { 1, 2, 3, 4, 5 };
static const int64_t gap_times[] = { 60, 180 };
static const double gap_values[] = { 10, 30 };
static const struct math_series world[] = {
    { .times = all_times, .values = m1_values, .count = 5, .period_s = 60, .is_metric = true },
    { .times = gap_times, .values = gap_values, .count = 2, .period_s = 60, .is_metric = true },
    { .period_s = 60, .is_metric = true },
};
static const char *const world_ids[] = { "m1", "gap", "none" };

static bool resolve(void *context, struct bytes id, struct math_value *out,
                    struct metric_math_error *err)
{
    (void)context;
    for (size_t i = 0; i < COUNT_OF(world); i++) {
        if (bytes_equal_text(id, world_ids[i])) {
            *out =
                (struct math_value){ .kind = MATH_SERIES, .series = &world[i], .series_count = 1 };
            return true;
        }
    }
    return metric_math_fail(err, "ID '%.*s' not found", BYTES_FMT(id));
}

static bool metrics(void *context, struct bytes part, struct math_value *out,
                    struct metric_math_error *err)
{
    (void)context;
    (void)err;
    *out = (struct math_value){ .kind = MATH_ARRAY,
                                .series = world,
                                .series_count = part.len == 0 ? 2 : 1 };
    return true;
}

static const struct metric_math_environment environment = {
    .end_s = 300, .period_s = 60, .resolve = resolve, .metrics = metrics
};

/* "0:1 60:2", or "=5" for a scalar, or "[...][...]" for an array, or the error. */
static const char *evaluate(struct arena *arena, const char *text)
{
    static char out[4096];
    struct metric_math_error err;
    struct math_value value;
    out[0] = '\0';
    const struct metric_math *math = metric_math_parse(arena, bytes_from_text(text), &err);
    if (math == NULL || !metric_math_evaluate(arena, math, &environment, &value, &err)) {
        snprintf(out, sizeof out, "%s", err.text);
        return out;
    }
    size_t size = 0;
    if (value.kind == MATH_SCALAR)
        snprintf(out, sizeof out, "=%g", value.scalar);
    for (size_t i = 0; value.kind != MATH_SCALAR && i < value.series_count; i++) {
        if (value.kind == MATH_ARRAY)
            size += (size_t)snprintf(out + size, sizeof out - size, "[");
        for (size_t k = 0; k < value.series[i].count; k++)
            size +=
                (size_t)snprintf(out + size, sizeof out - size, "%s%lld:%g", k == 0 ? "" : " ",
                                 (long long)value.series[i].times[k], value.series[i].values[k]);
        if (value.kind == MATH_ARRAY)
            size += (size_t)snprintf(out + size, sizeof out - size, "]");
    }
    return out;
}

static const struct {
    const char *text, *want;
} cases[] = {
    { "m1", "0:1 60:2 120:3 180:4 240:5" },
    { "1 + 2 * 3 ^ 2", "=19" },
    { "2 ^ 3 ^ 2", "=512" },
    { "-2 ^ 2", "=-4" },
    { "(1 + 2) * 3", "=9" },
    { "m1 * 2 - 1", "0:1 60:3 120:5 180:7 240:9" },
    { "10 / gap", "60:1 180:0.333333" },
    { "m1 + gap", "0:1 60:12 120:3 180:34 240:5" }, /* A missing point counts as 0. */
    { "m1 / gap", "60:0.2 180:0.133333" },          /* What is not finite goes. */
    { "m1 / PERIOD(m1)", "0:0.0166667 60:0.0333333 120:0.05 180:0.0666667 240:0.0833333" },
    { "m1 > 2", "0:0 60:0 120:1 180:1 240:1" },
    { "m1 > 1 AND m1 <= 3", "0:0 60:1 120:1 180:0 240:0" },
    { "m1 == 1 || m1 != 5 && 0", "0:1 60:0 120:0 180:0 240:0" },
    { "SUM(m1)", "=15" },
    { "AVG(m1)", "=3" },
    { "AVG(gap)", "=8" }, /* Of the five periods of the window. */
    { "MIN(gap)", "=10" },
    { "MAX(m1)", "=5" },
    { "STDDEV(m1)", "=1.41421" },
    { "DATAPOINT_COUNT(gap)", "=2" },
    { "SUM([m1, gap])", "0:1 60:12 120:3 180:34 240:5" },
    { "SUM(METRICS())", "0:1 60:12 120:3 180:34 240:5" },
    { "AVG([m1, gap])", "0:0.5 60:6 120:1.5 180:17 240:2.5" },
    { "MAX([m1, gap])", "0:1 60:10 120:3 180:30 240:5" },
    { "METRIC_COUNT(METRICS())", "=2" },
    { "METRIC_COUNT(METRICS('m'))", "=1" },
    { "RATE(gap)", "180:0.166667" },
    { "DIFF(gap)", "180:20" },
    { "DIFF_TIME(gap)", "180:120" },
    { "RUNNING_SUM(m1)", "0:1 60:3 120:6 180:10 240:15" },
    { "FILL(gap, 0)", "0:0 60:10 120:0 180:30 240:0" },
    { "FILL(gap, REPEAT)", "60:10 120:10 180:30 240:30" },
    { "FILL(gap, LINEAR)", "60:10 120:20 180:30" },
    { "FILL(gap, m1)", "0:1 60:10 120:3 180:30 240:5" },
    { "FILL(none, 7)", "0:7 60:7 120:7 180:7 240:7" },
    { "IF(m1 > 3, m1, 0)", "0:0 60:0 120:0 180:4 240:5" },
    { "IF(m1 > 3, 1)", "180:1 240:1" },
    { "IF(1, m1, gap)", "0:1 60:2 120:3 180:4 240:5" },
    { "ABS(0 - gap)", "60:10 180:30" },
    { "CEIL(m1 / 2)", "0:1 60:1 120:2 180:2 240:3" },
    { "FLOOR(m1 / 2)", "0:0 60:1 120:1 180:2 240:2" },
    { "LOG10(gap)", "60:1 180:1.47712" },
    { "LOG(gap - 10)", "180:2.99573" },
    { "TIME_SERIES(2)", "0:2 60:2 120:2 180:2 240:2" },
    { "MINUTE(m1)", "0:0 60:1 120:2 180:3 240:4" },
    { "EPOCH(gap)", "0:0 60:60 120:120 180:180 240:240" },
    { "FIRST(SORT([m1, gap], SUM, DESC))", "60:10 180:30" },
    { "SORT([m1, gap], MAX, ASC, 1)", "[0:1 60:2 120:3 180:4 240:5]" },
    { "LAST([m1, gap])", "60:10 180:30" },
    { "REMOVE_EMPTY([none, gap])", "[60:10 180:30]" },
    { "SLICE([m1, gap, none], 1, 2)", "[60:10 180:30]" },
    { "[m1, gap] * 10", "[0:10 60:20 120:30 180:40 240:50][60:100 180:300]" },
    { "gap - [m1, none]", "[0:-1 60:8 120:-3 180:26 240:-5][60:10 180:30]" },
    /* Refusals. */
    { "m9", "ID 'm9' not found" },
    { "COUNT(m1)", "Function 'COUNT' not found" },
    { "PERIOD(m1 * 2)", "The arguments of function 'PERIOD' are not valid" },
    { "FILL(m1)", "The arguments of function 'FILL' are not valid" },
    { "[m1] + [gap]", "Operations between two arrays of time series are not supported" },
    { "[1]", "An array must contain time series" },
    { "m1 + 'text'", "A text cannot be an operand" },
    { "LAMBDA('f')", "Function 'LAMBDA' is not supported" },
    { "SEARCH('x', 'Sum')", "SEARCH is not supported here" },
    { "m1 +", "Failed to parse the expression: a value is missing at position 4" },
    { "(m1", "Failed to parse the expression: a ) is missing at position 3" },
    { "m1 m1", "Failed to parse the expression: something unexpected follows at position 5" },
    { "'open", "Failed to parse the expression: a text has no end at position 5" },
    { "", "Failed to parse the expression: a value is missing at position 0" },
    { "1e999", "Failed to parse the expression: a number is not valid at position 5" },
};

static void expressions_have_the_values_of_the_service(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *got = evaluate(*state, cases[i].text);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg("%s\n got: %s\nwant: %s", cases[i].text, got, cases[i].want);
    }
}

static void depth_size_and_parts_are_bounded(void **state)
{
    char text[4096];
    for (int depth = METRIC_MATH_DEPTH_MAX - 1; depth <= METRIC_MATH_DEPTH_MAX; depth++) {
        memset(text, '(', (size_t)depth);
        memcpy(text + depth, "1", 1);
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = '\0';
        bool fits = depth < METRIC_MATH_DEPTH_MAX;
        assert_int_equal(strcmp(evaluate(*state, text), "=1") == 0, fits);
    }
    memset(text, ' ', METRIC_MATH_SIZE_MAX);
    text[0] = '1';
    text[METRIC_MATH_SIZE_MAX] = '\0';
    assert_string_equal(evaluate(*state, text), "=1");
    text[METRIC_MATH_SIZE_MAX] = ' ';
    text[METRIC_MATH_SIZE_MAX + 1] = '\0';
    assert_string_equal(evaluate(*state, text), "The expression is longer than 2048 characters");
    size_t size = 0;
    for (size_t i = 0; i < METRIC_MATH_NODES_MAX / 2; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s1", i == 0 ? "" : "+");
    assert_string_equal(evaluate(*state, text), "=512");
    snprintf(text + size, sizeof text - size, "+1");
    assert_non_null(strstr(evaluate(*state, text), "the expression has too many parts"));
}

/* --- SEARCH --- */

static const struct {
    const char *search, *namespace, *name, *table;
    bool matches;
} searches[] = {
    { "{AWS/DynamoDB,TableName} MetricName=\"ReadThrottleEvents\"", "AWS/DynamoDB",
      "ReadThrottleEvents", "orders", true },
    { "{AWS/DynamoDB,TableName} MetricName=\"ReadThrottle\"", "AWS/DynamoDB", "ReadThrottleEvents",
      "orders", false },
    { "{AWS/DynamoDB,TableName} throttle", "AWS/DynamoDB", "ReadThrottleEvents", "orders", true },
    { "throttle ORDERS", "AWS/DynamoDB", "ReadThrottleEvents", "orders", true },
    { "throttle AND NOT orders", "AWS/DynamoDB", "ReadThrottleEvents", "orders", false },
    { "TableName=(orders OR users)", "AWS/DynamoDB", "ReadThrottleEvents", "users", true },
    { "TableName=(orders OR users)", "AWS/DynamoDB", "ReadThrottleEvents", "other", false },
    { "(write OR read) users", "AWS/DynamoDB", "ReadThrottleEvents", "users", true },
    { "Namespace=\"Other\"", "AWS/DynamoDB", "ReadThrottleEvents", "users", false },
    { "{AWS/DynamoDB,TableName}", "AWS/DynamoDB", "ReadThrottleEvents", "users", true },
};

static void searches_match_by_words_quotes_and_properties(void **state)
{
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct metric_math_error err;
        const struct metric_search *search =
            metric_search_parse(*state, bytes_from_text(searches[i].search), &err);
        assert_non_null(search);
        const struct series_dimension dimension = { BYTES("TableName"),
                                                    bytes_from_text(searches[i].table) };
        const struct series_key key = { .namespace = bytes_from_text(searches[i].namespace),
                                        .name = bytes_from_text(searches[i].name),
                                        .dimensions = &dimension,
                                        .dimension_count = 1 };
        if (metric_search_matches(search, &key) != searches[i].matches)
            fail_msg("%s", searches[i].search);
    }
}

static void searches_that_are_not_whole_are_refused(void **state)
{
    static const char *const bad[] = { "",   "{",  "{AWS/DynamoDB", "{AWS/DynamoDB,}",
                                       "a)", "(a", "a OR",          "\"a",
                                       "x=", "NOT" };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct metric_math_error err;
        if (metric_search_parse(*state, bytes_from_text(bad[i]), &err) != NULL)
            fail_msg("%s", bad[i]);
        assert_non_null(strstr(err.text, "Invalid search: "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(expressions_have_the_values_of_the_service),
        ARENA_TEST(depth_size_and_parts_are_bounded),
        ARENA_TEST(searches_match_by_words_quotes_and_properties),
        ARENA_TEST(searches_that_are_not_whole_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
