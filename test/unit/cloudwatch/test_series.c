/* test_series.c -- the store of samples: bins, units, roll-ups, bounds, repetition and restarts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "check/check.h"
#include "cloudwatch/series.h"
#include "cloudwatch/series_chunk.h"
#include "cloudwatch/statistic.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"

enum { HOUR = 3600, DAY = 86400 };
#define NOW_S INT64_C(1790000000)

struct fixture {
    struct engine *engine;
    struct clock clock;
    struct series_store *store;
    struct series_store_options options;
    struct arena *arena;
};

static void open_store(struct fixture *fixture)
{
    enum engine_status status;
    fixture->options.engine = fixture->engine;
    fixture->options.clock = &fixture->clock;
    fixture->store = series_store_open(&fixture->options, &status);
    assert_int_equal(status, ENGINE_OK);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->engine = reference_engine_create();
    fixture->clock = clock_fixed(NOW_S * 1000);
    fixture->arena = arena_create();
    open_store(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    series_store_close(fixture->store);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static void restart(struct fixture *fixture)
{
    series_store_close(fixture->store);
    open_store(fixture);
}

static void set_now(struct fixture *fixture, int64_t now_s)
{
    atomic_store(&fixture->clock.fixed_ms, now_s * 1000);
}

static struct series_key key_named(const char *name)
{
    return (struct series_key){ .namespace = BYTES("App"),
                                .name = bytes_from_text(name),
                                .unit = UNIT_COUNT };
}

static struct series_sample sample_of(const char *name, int64_t time_s, double value)
{
    return (struct series_sample){ .key = key_named(name),
                                   .time_s = time_s,
                                   .set = sample_set_of_value(value, 1) };
}

static void write_all(struct fixture *fixture, const struct series_sample *samples, size_t count)
{
    enum engine_status status;
    assert_int_equal(
        series_write(fixture->store, fixture->arena, samples, count, NULL, NULL, &status),
        SERIES_STORED);
}

static void write_one(struct fixture *fixture, struct series_sample sample)
{
    write_all(fixture, &sample, 1);
}

static struct series_bins read_bins(struct fixture *fixture, struct series_key key,
                                    int64_t period_s, int64_t start_s, int64_t end_s)
{
    enum engine_status status;
    struct series_bins bins;
    struct series_reader *reader = series_reader_open(fixture->store, fixture->arena, &status);
    assert_non_null(reader);
    assert_int_equal(series_read(reader, &key, period_s, start_s, end_s, &bins), ENGINE_OK);
    series_reader_close(reader);
    return bins;
}

static void upkeep(struct fixture *fixture)
{
    bool more = true;
    while (more)
        assert_int_equal(
            series_upkeep(fixture->store, clock_wall_ms(&fixture->clock) / 1000, &more), ENGINE_OK);
}

static void print_problem(void *context, const char *line)
{
    (void)context;
    print_message("%s\n", line);
}

static void expect_problems(struct fixture *fixture, uint64_t count)
{
    assert_int_equal(check_store(fixture->engine, print_problem, NULL).problem_count, count);
}

/* --- Bins and series --- */

static void samples_of_a_minute_share_a_bin(void **state)
{
    struct fixture *fixture = *state;
    int64_t minute = NOW_S - NOW_S % 60;
    const struct series_sample samples[] = { sample_of("a", minute, 1),
                                             sample_of("a", minute + 59, 5),
                                             sample_of("a", minute + 60, 7) };
    write_all(fixture, samples, COUNT_OF(samples));
    struct series_bins bins = read_bins(fixture, key_named("a"), 60, minute, minute + 120);
    assert_int_equal(bins.count, 2);
    assert_int_equal(bins.bins[0].start_s, minute);
    assert_true(bins.bins[0].set.count == 2 && bins.bins[0].set.sum == 6);
    assert_true(bins.bins[0].set.minimum == 1 && bins.bins[0].set.maximum == 5);
    assert_true(bins.bins[1].set.count == 1 && bins.bins[1].set.sum == 7);
    bins = read_bins(fixture, key_named("a"), 120, minute, minute + 120);
    assert_int_equal(bins.count, 1);
    assert_true(bins.bins[0].set.sum == 13);
    bins = read_bins(fixture, key_named("a"), 60, minute, minute + 60); /* The end is excluded. */
    assert_int_equal(bins.count, 1);
}

static void the_order_of_dimensions_does_not_matter_and_the_set_does(void **state)
{
    struct fixture *fixture = *state;
    const struct series_dimension one[] = { { BYTES("A"), BYTES("1") },
                                            { BYTES("B"), BYTES("2") } };
    const struct series_dimension two[] = { { BYTES("B"), BYTES("2") },
                                            { BYTES("A"), BYTES("1") } };
    struct series_sample sample = sample_of("m", NOW_S, 3);
    sample.key.dimensions = one;
    sample.key.dimension_count = 2;
    write_one(fixture, sample);
    sample.key.dimensions = two;
    assert_int_equal(read_bins(fixture, sample.key, 60, NOW_S - 60, NOW_S + 60).count, 1);
    sample.key.dimension_count = 1;
    assert_int_equal(read_bins(fixture, sample.key, 60, NOW_S - 60, NOW_S + 60).count, 0);
    sample.key.dimension_count = 0;
    assert_int_equal(read_bins(fixture, sample.key, 60, NOW_S - 60, NOW_S + 60).count, 0);
}

static void a_unit_that_was_not_stored_reads_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct series_sample sample = sample_of("m", NOW_S, 3);
    write_one(fixture, sample);
    sample.key.unit = UNIT_BYTES;
    assert_int_equal(read_bins(fixture, sample.key, 60, NOW_S - 60, NOW_S + 60).count, 0);
    write_one(fixture, sample);
    sample.key.unit = UNIT_ANY;
    struct series_bins bins = read_bins(fixture, sample.key, 60, NOW_S - NOW_S % 60, NOW_S + 60);
    assert_int_equal(bins.count, 1);
    assert_true(bins.bins[0].set.sum == 6);
}

static void seconds_are_kept_for_high_resolution_only(void **state)
{
    struct fixture *fixture = *state;
    int64_t minute = NOW_S - NOW_S % 60;
    struct series_sample sample = sample_of("fast", minute + 7, 3);
    write_one(fixture, sample_of("slow", minute + 7, 3));
    sample.is_high_resolution = true;
    write_one(fixture, sample);
    sample.time_s += 5;
    write_one(fixture, sample);
    assert_int_equal(read_bins(fixture, key_named("slow"), 1, minute, minute + 60).count, 0);
    struct series_bins bins = read_bins(fixture, key_named("fast"), 1, minute, minute + 60);
    assert_int_equal(bins.count, 2);
    assert_int_equal(bins.bins[1].start_s, minute + 12);
    assert_int_equal(read_bins(fixture, key_named("fast"), 10, minute, minute + 60).count, 2);
    bins = read_bins(fixture, key_named("fast"), 60, minute, minute + 60);
    assert_true(bins.count == 1 && bins.bins[0].set.count == 2);
    set_now(fixture, minute + SERIES_RETENTION_1S_S + 60);
    upkeep(fixture);
    assert_int_equal(read_bins(fixture, key_named("fast"), 1, minute, minute + 60).count, 0);
    assert_int_equal(read_bins(fixture, key_named("fast"), 60, minute, minute + 60).count, 1);
}

/* --- A naive model on random data, with restarts --- */

enum { MODEL_SERIES = 3, MODEL_MINUTES = 40 * 24 * 60 };

struct model {
    struct {
        double count, sum, minimum, maximum;
    } minutes[MODEL_SERIES][MODEL_MINUTES];
};

static void add_to_model(struct model *model, size_t series, size_t minute, double value)
{
    double *count = &model->minutes[series][minute].count;
    if (*count == 0 || value < model->minutes[series][minute].minimum)
        model->minutes[series][minute].minimum = value;
    if (*count == 0 || value > model->minutes[series][minute].maximum)
        model->minutes[series][minute].maximum = value;
    *count += 1;
    model->minutes[series][minute].sum += value;
}

static void compare_with_model(struct fixture *fixture, const struct model *model, int64_t epoch_s,
                               size_t series, int64_t period_s, size_t minutes)
{
    static const char *const names[MODEL_SERIES] = { "x", "y", "z" };
    struct series_bins bins = read_bins(fixture, key_named(names[series]), period_s, epoch_s,
                                        epoch_s + (int64_t)minutes * 60);
    size_t at = 0;
    size_t step = (size_t)period_s / 60;
    for (size_t first = 0; first < minutes; first += step) {
        double count = 0, sum = 0, minimum = INFINITY, maximum = -INFINITY;
        for (size_t i = first; i < first + step && i < minutes; i++) {
            if (model->minutes[series][i].count == 0)
                continue;
            count += model->minutes[series][i].count;
            sum += model->minutes[series][i].sum;
            minimum = fmin(minimum, model->minutes[series][i].minimum);
            maximum = fmax(maximum, model->minutes[series][i].maximum);
        }
        if (count == 0)
            continue;
        assert_true(at < bins.count);
        assert_int_equal(bins.bins[at].start_s, epoch_s + (int64_t)first * 60);
        assert_true(bins.bins[at].set.count == count && bins.bins[at].set.sum == sum);
        assert_true(bins.bins[at].set.minimum == minimum && bins.bins[at].set.maximum == maximum);
        at++;
    }
    assert_int_equal(at, bins.count);
}

static void roll_ups_equal_a_naive_model(void **state)
{
    struct fixture *fixture = *state;
    static const char *const names[MODEL_SERIES] = { "x", "y", "z" };
    struct model *model = calloc(1, sizeof *model);
    struct random random;
    int64_t epoch_s = NOW_S - NOW_S % DAY;
    random_init(&random, 4711);
    for (size_t step = 0; step < 3000; step++) {
        /* Time goes on by random steps; samples come late by up to two days. */
        size_t now_minute = step * (MODEL_MINUTES - 1) / 3000;
        set_now(fixture, epoch_s + (int64_t)now_minute * 60);
        struct series_sample samples[4];
        size_t count = 1 + random_below(&random, 4);
        for (size_t i = 0; i < count; i++) {
            size_t late = random_below(&random, now_minute < 2880 ? now_minute + 1 : 2880);
            size_t series = random_below(&random, MODEL_SERIES);
            double value = (double)random_below(&random, 2000) - 1000;
            samples[i] = sample_of(names[series],
                                   epoch_s + (int64_t)(now_minute - late) * 60 +
                                       (int64_t)random_below(&random, 60),
                                   value);
            add_to_model(model, series, now_minute - late, value);
        }
        write_all(fixture, samples, count);
        if (random_below(&random, 10) == 0)
            upkeep(fixture);
        if (random_below(&random, 40) == 0)
            restart(fixture);
        arena_reset(fixture->arena);
    }
    upkeep(fixture);
    expect_problems(fixture, 0);
    for (size_t i = 0; i < MODEL_SERIES; i++) {
        compare_with_model(fixture, model, epoch_s, i, 300, MODEL_MINUTES);
        compare_with_model(fixture, model, epoch_s, i, 3600, MODEL_MINUTES);
        compare_with_model(fixture, model, epoch_s, i, 86400, MODEL_MINUTES);
    }
    /* Minutes of the last two weeks only. */
    assert_int_equal(read_bins(fixture, key_named("x"), 60, epoch_s, epoch_s + 20 * DAY).count, 0);
    set_now(fixture, epoch_s + 120 * DAY);
    upkeep(fixture);
    restart(fixture);
    assert_int_equal(read_bins(fixture, key_named("x"), 300, epoch_s, epoch_s + 40 * DAY).count, 0);
    for (size_t i = 0; i < MODEL_SERIES; i++)
        compare_with_model(fixture, model, epoch_s, i, 3600, MODEL_MINUTES);
    set_now(fixture, epoch_s + 40 * DAY + 458 * DAY);
    upkeep(fixture);
    assert_int_equal(series_usage(fixture->store).size, 0);
    assert_int_equal(series_usage(fixture->store).series_count, 0);
    restart(fixture);
    assert_int_equal(series_usage(fixture->store).series_count, 0);
    free(model);
}

/* --- Repetition --- */

/* The engine fails each of its calls in turn, and applies the commit that it reports as unknown in
 * every second sweep. The batch is repeated until it is stored, with restarts in between. */
static void a_batch_that_is_repeated_counts_once(void **state)
{
    struct fixture *fixture = *state;
    const struct series_sample samples[] = { sample_of("a", NOW_S, 1), sample_of("b", NOW_S, 2),
                                             sample_of("a", NOW_S - 7200, 4) };
    fixture->engine = failing_engine_create(fixture->engine);
    restart(fixture);
    double count = 0;
    for (int applied = 0; applied < 2; applied++) {
        bool struck = true;
        for (uint64_t call = 1; struck; call++) {
            const struct series_position position = { .run = 7, .step = (uint64_t)++count };
            enum engine_status status;
            const struct failing_engine_plan plan = { .call = call,
                                                      .status = ENGINE_UNKNOWN,
                                                      .commits_only = applied == 1,
                                                      .applied = applied == 1 };
            failing_engine_set(fixture->engine, &plan);
            enum series_outcome outcome = SERIES_FAILED;
            for (int attempt = 0; outcome == SERIES_FAILED; attempt++) {
                assert_true(attempt < 3);
                outcome = series_write(fixture->store, fixture->arena, samples, COUNT_OF(samples),
                                       &position, NULL, &status);
                if (call % 2 == 0 && outcome == SERIES_FAILED) {
                    struck = failing_engine_struck(fixture->engine);
                    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
                    restart(fixture);
                }
            }
            struck = struck && call < 60 &&
                     (outcome != SERIES_STORED || failing_engine_struck(fixture->engine) ||
                      call % 2 == 0);
            failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
            struct series_bins bins =
                read_bins(fixture, key_named("a"), 60, NOW_S - NOW_S % 60, NOW_S + 60);
            assert_int_equal(bins.count, 1);
            assert_true(bins.bins[0].set.count == count && bins.bins[0].set.sum == count);
            bins = read_bins(fixture, key_named("b"), 60, NOW_S - NOW_S % 60, NOW_S + 60);
            assert_true(bins.bins[0].set.sum == 2 * count);
            arena_reset(fixture->arena);
        }
    }
    expect_problems(fixture, 0);
}

/* --- Bounds --- */

static void the_oldest_samples_go_first_when_the_disk_is_full(void **state)
{
    struct fixture *fixture = *state;
    fixture->options.size_max = 2000;
    restart(fixture);
    for (int64_t hour = 20; hour >= 0; hour--) {
        struct series_sample samples[20];
        char names[COUNT_OF(samples)][8];
        for (size_t i = 0; i < COUNT_OF(samples); i++) {
            snprintf(names[i], sizeof names[i], "s%zu", i);
            samples[i] = sample_of(names[i], NOW_S - hour * HOUR, (double)i);
        }
        write_all(fixture, samples, COUNT_OF(samples));
        upkeep(fixture);
        assert_true(series_usage(fixture->store).size <= 2000);
    }
    struct series_bins bins =
        read_bins(fixture, key_named("s1"), 60, NOW_S - NOW_S % 60 - 21 * HOUR, NOW_S + 60);
    assert_true(bins.count >= 2 && bins.count < 6);
    assert_int_equal(bins.bins[bins.count - 1].start_s, NOW_S - NOW_S % 60);
    restart(fixture);
    assert_true(series_usage(fixture->store).size <= 2000);
    expect_problems(fixture, 0);
}

static void an_idle_series_gives_its_place_to_a_new_one(void **state)
{
    struct fixture *fixture = *state;
    enum engine_status status;
    fixture->options.series_max = 4; /* Two for users. */
    restart(fixture);
    write_one(fixture, sample_of("a", NOW_S, 1));
    write_one(fixture, sample_of("b", NOW_S, 1));
    struct series_sample third = sample_of("c", NOW_S, 1);
    size_t refused;
    assert_int_equal(
        series_write(fixture->store, fixture->arena, &third, 1, NULL, &refused, &status),
        SERIES_FULL);
    assert_int_equal(refused, 1);
    third.is_own = true;
    write_one(fixture, third); /* The server's own have the other half. */
    set_now(fixture, NOW_S + SERIES_LISTED_S + HOUR);
    write_one(fixture, sample_of("b", NOW_S + SERIES_LISTED_S + HOUR, 1));
    write_one(fixture, sample_of("d", NOW_S + SERIES_LISTED_S + HOUR, 1));
    assert_int_equal(read_bins(fixture, key_named("a"), 60, NOW_S - 60, NOW_S + 60).count, 0);
    assert_int_equal(read_bins(fixture, key_named("c"), 60, NOW_S - 60, NOW_S + 60).count, 1);
    restart(fixture);
    assert_int_equal(series_usage(fixture->store).series_count, 3);
    expect_problems(fixture, 0);
}

/* --- Distributions --- */

static void histograms_merge_in_any_order_and_stay_within_their_error(void **state)
{
    struct fixture *fixture = *state;
    struct random random;
    random_init(&random, 4711);
    struct sample_set forward = { 0 }, backward = { 0 }, parts[200];
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        double value = exp((double)random_below(&random, 1000) / 50) *
                       (random_below(&random, 4) == 0 ? -1 : 1);
        parts[i] =
            sample_set_of_value(i % 7 == 0 ? 0 : value, 1 + (double)random_below(&random, 3));
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        sample_set_add(fixture->arena, &forward, &parts[i]);
        sample_set_add(fixture->arena, &backward, &parts[COUNT_OF(parts) - 1 - i]);
    }
    static const char *const names[] = { "p0", "p1", "p25", "p50", "p99", "p100", "tm(5%:95%)" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct statistic statistic;
        double one, other;
        assert_true(statistic_parse(bytes_from_text(names[i]), &statistic));
        assert_true(statistic_value(&statistic, &forward, &one));
        assert_true(statistic_value(&statistic, &backward, &other));
        assert_true(fabs(one - other) <= 1e-6 * fabs(one));
    }
    /* One value of each: a percentile is off by no more than a bucket's width. */
    struct sample_set line = { 0 };
    for (int i = 1; i <= 60; i++) {
        struct sample_set one = sample_set_of_value(i, 1);
        sample_set_add(fixture->arena, &line, &one);
    }
    for (int i = 1; i < 100; i++) {
        struct statistic statistic = { .kind = STATISTIC_PERCENTILE, .has_high = true, .high = i };
        double value;
        assert_true(statistic_value(&statistic, &line, &value));
        assert_true(fabs(value - 60.0 * i / 100) <= 1 + 0.023 * 60.0 * i / 100);
    }
}

/* --- Damage --- */

static void check_reports_damaged_samples_and_wrong_totals(void **state)
{
    struct fixture *fixture = *state;
    write_one(fixture, sample_of("m", NOW_S, 3));
    expect_problems(fixture, 0);
    int64_t hour = NOW_S - NOW_S % HOUR;
    struct bytes key = series_chunk_key(fixture->arena, SERIES_RESOLUTION_60S, hour, 1);
    engine_fixture_put(fixture->engine, series_place, key, BYTES("damaged"));
    expect_problems(fixture, 2); /* The samples, and the size of that hour. */
    engine_fixture_delete(fixture->engine, series_place, key);
    expect_problems(fixture, 1);
    engine_fixture_delete(fixture->engine, series_place,
                          series_total_key(fixture->arena, SERIES_RESOLUTION_60S, hour));
    expect_problems(fixture, 0);
    engine_fixture_put(fixture->engine, series_place, BYTES("N"), BYTES("damaged"));
    engine_fixture_put(fixture->engine, series_place, BYTES("P"), BYTES("damaged"));
    engine_fixture_put(fixture->engine, series_place, BYTES("D12345678"), BYTES("damaged"));
    engine_fixture_put(fixture->engine, series_place, BYTES("x"), BYTES(""));
    expect_problems(fixture, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(samples_of_a_minute_share_a_bin, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_order_of_dimensions_does_not_matter_and_the_set_does,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_unit_that_was_not_stored_reads_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(seconds_are_kept_for_high_resolution_only, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(roll_ups_equal_a_naive_model, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_that_is_repeated_counts_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_oldest_samples_go_first_when_the_disk_is_full, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_idle_series_gives_its_place_to_a_new_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(histograms_merge_in_any_order_and_stay_within_their_error,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(check_reports_damaged_samples_and_wrong_totals, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
