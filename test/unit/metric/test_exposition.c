/* test_exposition.c -- pages have the bytes that Prometheus' formats ask for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "metric/exposition.h"
#include "metric/histogram.h"

static const double ends[] = { 0.5, 1, 2.5 };
static const uint64_t counts[] = { 1, 0, 2, 4 };

static void add_all(struct exposition *page)
{
    const struct exposition_label labels[] = { { "table", BYTES("a\"b\\c\nd") },
                                               { "code", BYTES("ok") } };
    struct exposition_family *requests =
        exposition_add(page, EXPOSITION_COUNTER, "stator_requests", NULL, "Requests.");
    struct exposition_family *unused =
        exposition_add(page, EXPOSITION_GAUGE, "stator_unused", NULL, "Never shown.");
    struct exposition_family *units =
        exposition_add(page, EXPOSITION_COUNTER, "stator_units", NULL, "Units.");
    struct exposition_family *seconds =
        exposition_add(page, EXPOSITION_HISTOGRAM, "stator_x_seconds", "seconds", "Time.");
    (void)unused;
    exposition_halves(units, labels + 1, 1, 3);
    exposition_integer(requests, labels, 2, UINT64_MAX);
    exposition_halves(units, labels + 1, 1, 4);
    exposition_buckets(seconds, NULL, 0, ends, COUNT_OF(ends), counts, 12.25);
}

static void check(bool open_metrics, const char *want)
{
    struct arena *arena = arena_create();
    struct exposition *page = exposition_create(arena, open_metrics, SIZE_MAX);
    add_all(page);
    struct bytes text = exposition_finish(page);
    assert_int_equal(text.len, strlen(want));
    assert_memory_equal(text.data, want, text.len);
    arena_destroy(arena);
}

static void the_text_format_names_counters_with_total(void **state)
{
    (void)state;
    check(false, "# HELP stator_requests_total Requests.\n"
                 "# TYPE stator_requests_total counter\n"
                 "stator_requests_total{table=\"a\\\"b\\\\c\\nd\",code=\"ok\"} "
                 "18446744073709551615\n"
                 "# HELP stator_units_total Units.\n"
                 "# TYPE stator_units_total counter\n"
                 "stator_units_total{code=\"ok\"} 1.5\n"
                 "stator_units_total{code=\"ok\"} 2\n"
                 "# HELP stator_x_seconds Time.\n"
                 "# TYPE stator_x_seconds histogram\n"
                 "stator_x_seconds_bucket{le=\"0.5\"} 1\n"
                 "stator_x_seconds_bucket{le=\"1\"} 1\n"
                 "stator_x_seconds_bucket{le=\"2.5\"} 3\n"
                 "stator_x_seconds_bucket{le=\"+Inf\"} 7\n"
                 "stator_x_seconds_count 7\n"
                 "stator_x_seconds_sum 12.25\n");
}

static void open_metrics_names_the_family_without_total_and_ends(void **state)
{
    (void)state;
    check(true, "# HELP stator_requests Requests.\n"
                "# TYPE stator_requests counter\n"
                "stator_requests_total{table=\"a\\\"b\\\\c\\nd\",code=\"ok\"} "
                "18446744073709551615\n"
                "# HELP stator_units Units.\n"
                "# TYPE stator_units counter\n"
                "stator_units_total{code=\"ok\"} 1.5\n"
                "stator_units_total{code=\"ok\"} 2\n"
                "# HELP stator_x_seconds Time.\n"
                "# TYPE stator_x_seconds histogram\n"
                "# UNIT stator_x_seconds seconds\n"
                "stator_x_seconds_bucket{le=\"0.5\"} 1\n"
                "stator_x_seconds_bucket{le=\"1.0\"} 1\n"
                "stator_x_seconds_bucket{le=\"2.5\"} 3\n"
                "stator_x_seconds_bucket{le=\"+Inf\"} 7\n"
                "stator_x_seconds_count 7\n"
                "stator_x_seconds_sum 12.25\n"
                "# EOF\n");
}

static void a_histogram_counts_a_bucket_where_all_of_it_fits(void **state)
{
    (void)state;
    static struct histogram histogram;
    static const double second_ends[] = { 0.001, 1 };
    struct arena *arena = arena_create();
    struct exposition *page = exposition_create(arena, false, SIZE_MAX);
    struct exposition_family *family =
        exposition_add(page, EXPOSITION_HISTOGRAM, "x_seconds", "seconds", "Time.");
    histogram_add(&histogram, 1000, 3);       /* 1 us. */
    histogram_add(&histogram, 500000000, 2);  /* 0.5 s. */
    histogram_add(&histogram, 7000000000, 1); /* 7 s. */
    exposition_histogram(family, NULL, 0, second_ends, 2, &histogram, 1e-9);
    static const char want[] = "# HELP x_seconds Time.\n# TYPE x_seconds histogram\n"
                               "x_seconds_bucket{le=\"0.001\"} 3\nx_seconds_bucket{le=\"1\"} 5\n"
                               "x_seconds_bucket{le=\"+Inf\"} 6\nx_seconds_count 6\n"
                               "x_seconds_sum 8.000003\n";
    struct bytes text = exposition_finish(page);
    assert_int_equal(text.len, strlen(want));
    assert_memory_equal(text.data, want, text.len);
    arena_destroy(arena);
}

static void a_page_has_a_bound(void **state)
{
    (void)state;
    enum { SIZE_LIMIT = 1000, SAMPLES = 100 };
    struct arena *arena = arena_create();
    struct exposition *page = exposition_create(arena, false, SIZE_LIMIT);
    struct exposition_family *family =
        exposition_add(page, EXPOSITION_GAUGE, "stator_gauge", NULL, "A gauge.");
    for (uint64_t i = 0; i < SAMPLES; i++)
        exposition_integer(family, NULL, 0, i);
    assert_true(exposition_left_out(page) > 0 && exposition_left_out(page) < SAMPLES);
    assert_true(exposition_finish(page).len < SIZE_LIMIT + 100);
    arena_destroy(arena);
}

static void the_accept_header_chooses_the_format(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        bool open_metrics;
    } cases[] = {
        { "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
          "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
          true },
        { "text/plain;version=0.0.4", false },
        { "*/*", false },
        { "", false },
        { "application/openmetrics-text", true },
        { "APPLICATION/OpenMetrics-Text ; Version=1.0.0", true },
        { "application/openmetrics-text;version=2.0.0", false },
        { "application/openmetrics-text;q=0", false },
        { "application/openmetrics-text;q=0.4, text/plain;q=0.5", false },
        { "application/openmetrics-text;q=0.5, text/plain;q=0.5", true },
        { ",;=,;q=,application/openmetrics-text;q", true },
    };
    assert_false(exposition_wants_open_metrics((struct bytes){ 0 }));
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (exposition_wants_open_metrics(bytes_from_text(cases[i].accept)) !=
            cases[i].open_metrics)
            fail_msg("%s", cases[i].accept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_format_names_counters_with_total),
        cmocka_unit_test(open_metrics_names_the_family_without_total_and_ends),
        cmocka_unit_test(a_histogram_counts_a_bucket_where_all_of_it_fits),
        cmocka_unit_test(a_page_has_a_bound),
        cmocka_unit_test(the_accept_header_chooses_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
