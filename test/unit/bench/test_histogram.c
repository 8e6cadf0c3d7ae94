/* test_histogram.c -- the load generator's buckets: none overlap, none is missing, all are narrow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "../../../bench/load/histogram.h"

static void buckets_follow_one_another_without_gaps(void **state)
{
    (void)state;
    for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        uint64_t end = histogram_bucket_end(bucket);
        assert_int_equal(histogram_bucket(end), bucket);
        if (bucket + 1 < HISTOGRAM_BUCKETS)
            assert_int_equal(histogram_bucket(end + 1), bucket + 1);
    }
}

static void a_bucket_is_never_wider_than_a_128th_of_its_values(void **state)
{
    (void)state;
    for (size_t bucket = 1; bucket < HISTOGRAM_BUCKETS; bucket++) {
        uint64_t begin = histogram_bucket_end(bucket - 1) + 1;
        uint64_t width = histogram_bucket_end(bucket) + 1 - begin;
        assert_true(width == 1 || width * HISTOGRAM_STEPS <= begin);
    }
}

static void what_is_too_long_counts_as_the_longest(void **state)
{
    static const struct {
        uint64_t value;
        size_t bucket;
    } cases[] = {
        { 0, 0 },
        { HISTOGRAM_VALUE_MAX - 1, HISTOGRAM_BUCKETS - 1 },
        { HISTOGRAM_VALUE_MAX, HISTOGRAM_BUCKETS - 1 },
        { HISTOGRAM_VALUE_MAX + 1, HISTOGRAM_BUCKETS - 1 },
        { UINT64_MAX, HISTOGRAM_BUCKETS - 1 },
    };
    (void)state;
    assert_int_equal(histogram_bucket_end(HISTOGRAM_BUCKETS - 1), HISTOGRAM_VALUE_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(histogram_bucket(cases[i].value), cases[i].bucket);
}

static void each_value_is_counted_once(void **state)
{
    struct histogram histogram = { 0 };
    uint64_t sum = 0;
    (void)state;
    for (uint64_t value = 1; value < HISTOGRAM_VALUE_MAX; value *= 3)
        histogram_add(&histogram, value);
    for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
        sum += histogram.counts[bucket];
    assert_int_equal(sum, 24); /* 3^23 is the last power below 2^38. */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_one_another_without_gaps),
        cmocka_unit_test(a_bucket_is_never_wider_than_a_128th_of_its_values),
        cmocka_unit_test(what_is_too_long_counts_as_the_longest),
        cmocka_unit_test(each_value_is_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
