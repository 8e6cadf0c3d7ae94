/* metric_math_fuzz.c -- arbitrary text as an expression and as a search. What parses is evaluated;
 * results are finite and in order, and within their bounds. */
#include <assert.h>
#include <math.h>
#include "base/arena.h"
#include "cloudwatch/metric_math.h"
#include "cloudwatch/metric_search.h"
#include "cloudwatch/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t times[] = { 0, 60, 180 };
static const double values[] = { 1, -2, 1e300 };
static const struct math_series series[] = {
    { .times = times, .values = values, .count = 3, .period_s = 60, .is_metric = true },
    { .times = times, .values = values + 1, .count = 2, .period_s = 60 },
};

static bool resolve(void *context, struct bytes id, struct math_value *out,
                    struct metric_math_error *err)
{
    (void)context;
    if (id.len > 2)
        return metric_math_fail(err, "ID '%.*s' not found", BYTES_FMT(id));
    *out = (struct math_value){ .kind = MATH_SERIES,
                                .series = &series[id.len - 1],
                                .series_count = 1 };
    return true;
}

static bool metrics(void *context, struct bytes part, struct math_value *out,
                    struct metric_math_error *err)
{
    (void)context;
    (void)part;
    (void)err;
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = 2 };
    return true;
}

static void check_value(const struct math_value *value)
{
    for (size_t i = 0;
         value->kind >= MATH_SERIES && value->kind <= MATH_ARRAY && i < value->series_count; i++) {
        for (size_t k = 0; k < value->series[i].count; k++) {
            assert(isfinite(value->series[i].values[k]));
            assert(k == 0 || value->series[i].times[k] > value->series[i].times[k - 1]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct metric_math_error err;
    struct math_value value;
    const struct metric_math_environment environment = {
        .end_s = 300, .period_s = 60, .resolve = resolve, .metrics = metrics
    };
    const struct metric_math *math = metric_math_parse(arena, bytes_of(data, size), &err);
    if (math != NULL && metric_math_evaluate(arena, math, &environment, &value, &err))
        check_value(&value);
    const struct series_dimension dimension = { BYTES("TableName"), BYTES("orders") };
    const struct series_key key = { .namespace = BYTES("AWS/DynamoDB"),
                                    .name = BYTES("UserErrors"),
                                    .dimensions = &dimension,
                                    .dimension_count = 1 };
    const struct metric_search *search = metric_search_parse(arena, bytes_of(data, size), &err);
    if (search != NULL)
        (void)metric_search_matches(search, &key);
    arena_destroy(arena);
    return 0;
}
