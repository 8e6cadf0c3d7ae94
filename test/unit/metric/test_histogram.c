/* test_histogram.c -- buckets are as wide as promised, and ranks are found within them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "metric/histogram.h"

static void buckets_follow_one_another_without_gaps(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket_first(0), 0);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t first = histogram_bucket_first(i), last = histogram_bucket_last(i);
        assert_true(first <= last);
        assert_int_equal(histogram_bucket_of(first), i);
        assert_int_equal(histogram_bucket_of(last), i);
        if (i > 0)
            assert_int_equal(first, histogram_bucket_last(i - 1) + 1);
    }
    assert_int_equal(histogram_bucket_last(HISTOGRAM_BUCKETS - 1), HISTOGRAM_VALUE_MAX);
}

static void a_bucket_is_at_most_a_sixteenth_of_its_values_wide(void **state)
{
    (void)state;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        assert_true((histogram_bucket_last(i) - histogram_bucket_first(i)) * HISTOGRAM_STEPS <=
                    histogram_bucket_first(i));
}

static void values_beyond_the_last_bucket_count_in_it(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket_of(HISTOGRAM_VALUE_MAX), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_bucket_of(HISTOGRAM_VALUE_MAX + 1), HISTOGRAM_BUCKETS - 1);
    assert_int_equal(histogram_bucket_of(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void the_value_at_a_rank_is_within_the_error(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static const double fractions[] = { 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
    static uint64_t values[COUNT];
    static struct histogram histogram;
    struct histogram_recorder recorder = { 0 };
    uint64_t random = 4711, sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        values[i] = (random >> 24) >> (random % 40);
        sum += values[i];
        histogram_record(&recorder, values[i]);
    }
    histogram_read(&recorder, &histogram);
    qsort(values, COUNT, sizeof values[0], by_value);
    assert_int_equal(histogram.count, COUNT);
    assert_int_equal(histogram.sum, sum);
    for (size_t i = 0; i < COUNT_OF(fractions); i++) {
        double rank = fractions[i] * COUNT;
        uint64_t exact = values[rank <= 1 ? 0 : (size_t)rank - 1];
        uint64_t found = histogram_value_at(&histogram, fractions[i]);
        assert_true(found >= exact && (found - exact) * HISTOGRAM_STEPS <= exact);
    }
    for (size_t i = 0; i < COUNT; i += 97) {
        uint64_t end = histogram_bucket_last(histogram_bucket_of(values[i]));
        size_t exact = i;
        while (exact < COUNT && values[exact] <= end)
            exact++;
        assert_int_equal(histogram_count_up_to(&histogram, end), exact);
    }
    histogram_recorder_deinit(&recorder);
}

static void histograms_add_up_and_subtract(void **state)
{
    (void)state;
    static struct histogram early, late, other;
    histogram_add(&early, 100, 3);
    histogram_merge(&late, &early);
    histogram_add(&other, 7, 2);
    histogram_add(&other, 1000000, 1);
    histogram_merge(&late, &other);
    assert_int_equal(late.count, 6);
    histogram_subtract(&late, &early);
    assert_memory_equal(&late, &other, sizeof late);
    assert_int_equal(histogram_value_at(&early, 0.5),
                     histogram_bucket_last(histogram_bucket_of(100)));
}

static void an_empty_histogram_has_no_values(void **state)
{
    (void)state;
    static struct histogram empty;
    struct histogram_recorder recorder = { 0 };
    assert_int_equal(histogram_value_at(&empty, 0.99), 0);
    assert_true(histogram_record(&recorder, 5) > 0);
    assert_int_equal(histogram_record(&recorder, 6), 0); /* The same octave. */
    histogram_recorder_clear(&recorder);
    histogram_read(&recorder, &empty);
    assert_int_equal(empty.count, 0);
    assert_int_equal(empty.sum, 0);
    histogram_recorder_deinit(&recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_follow_one_another_without_gaps),
        cmocka_unit_test(a_bucket_is_at_most_a_sixteenth_of_its_values_wide),
        cmocka_unit_test(values_beyond_the_last_bucket_count_in_it),
        cmocka_unit_test(the_value_at_a_rank_is_within_the_error),
        cmocka_unit_test(histograms_add_up_and_subtract),
        cmocka_unit_test(an_empty_histogram_has_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
