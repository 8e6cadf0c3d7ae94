/* test_space_saving.c -- counts against exact ones, on skewed, uniform and hostile streams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <math.h>
#include "base/compiler.h"
#include "base/random.h"
#include "insight/key_digest.h"
#include "insight/space_saving.h"

enum { KEYS = 5000, EVENTS = 200000, COUNTERS = 128, SEED = 42, KEY_SIZE = 24 };

struct stream {
    uint64_t exact[KEYS];
    uint64_t total;
};

static struct bytes key_of(size_t number, char out[KEY_SIZE])
{
    int size = snprintf(out, KEY_SIZE, "customer#%08zu", number);
    return bytes_of(out, (size_t)size);
}

static void add(struct space_saving *summary, struct stream *stream, size_t number, uint64_t weight)
{
    char text[KEY_SIZE];
    struct bytes key = key_of(number, text);
    space_saving_add(summary, key_digest(SEED, key), key, weight);
    stream->exact[number] += weight;
    stream->total += weight;
}

static struct space_saving *create(size_t counters)
{
    return space_saving_create(
        &(struct space_saving_options){ .counters_max = counters, .keys_size_max = counters * 64 });
}

/* Every promise of the header. */
static void check(const struct space_saving *summary, const struct stream *stream,
                  uint64_t error_max)
{
    assert_int_equal(space_saving_total(summary), stream->total);
    assert_true(space_saving_floor(summary) <= error_max);
    for (size_t i = 0; i < KEYS; i++) {
        char text[KEY_SIZE];
        struct bytes key = key_of(i, text);
        struct space_saving_counter counter;
        if (!space_saving_find(summary, key_digest(SEED, key), key, &counter)) {
            assert_true(stream->exact[i] <= space_saving_floor(summary));
            continue;
        }
        assert_true(counter.error <= error_max);
        assert_true(counter.count >= stream->exact[i]);
        assert_true(counter.count - counter.error <= stream->exact[i]);
    }
}

/* --- Streams --- */

/* Keys by Zipf's law with exponent 1.1, by inverting its cumulative distribution. */
static size_t zipf(struct random *random)
{
    static double cumulative[KEYS];
    if (cumulative[KEYS - 1] == 0) {
        double sum = 0;
        for (size_t i = 0; i < KEYS; i++)
            cumulative[i] = sum += 1 / pow((double)(i + 1), 1.1);
    }
    double at = (double)(random_next(random) >> 11) / 0x1p53 * cumulative[KEYS - 1];
    size_t low = 0, high = KEYS - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cumulative[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t uniform(struct random *random)
{
    return (size_t)random_below(random, KEYS);
}

/* Bursts of one key each, so that what was just evicted comes back: the worst case for the
 * smallest counter. */
static size_t bursts(struct random *random)
{
    static size_t at, left;
    if (left-- == 0) {
        at = (at + 1 + random_below(random, 2)) % KEYS;
        left = 3;
    }
    return at;
}

/* All keys in turn: nothing is heavy, and every event takes a counter over. */
static size_t round_robin(struct random *random)
{
    static size_t at;
    (void)random;
    return at++ % KEYS;
}

static const struct {
    const char *name;
    size_t (*next)(struct random *random);
} streams[] = {
    { "zipf", zipf },
    { "uniform", uniform },
    { "bursts", bursts },
    { "round robin", round_robin },
};

static void errors_stay_within_the_total_divided_by_the_counters(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(streams); s++) {
        struct random random;
        struct stream *stream = calloc(1, sizeof *stream);
        struct space_saving *summary = create(COUNTERS);
        random_init(&random, SEED + s);
        for (size_t i = 0; i < EVENTS; i++)
            add(summary, stream, streams[s].next(&random), 1 + random_below(&random, 40));
        print_message("%s\n", streams[s].name);
        check(summary, stream, stream->total / COUNTERS);
        space_saving_destroy(summary);
        free(stream);
    }
}

static void the_top_of_a_skewed_stream_is_right(void **state)
{
    struct random random;
    struct stream *stream = calloc(1, sizeof *stream);
    struct space_saving *summary = create(256);
    struct space_saving_counter top[10];
    (void)state;
    random_init(&random, SEED);
    for (size_t i = 0; i < EVENTS; i++)
        add(summary, stream, zipf(&random), 2);
    assert_int_equal(space_saving_top(summary, top, COUNT_OF(top)), COUNT_OF(top));
    for (size_t i = 0; i < COUNT_OF(top); i++) {
        char text[KEY_SIZE];
        assert_true(bytes_equal(top[i].key, key_of(i, text)));
    }
    space_saving_destroy(summary);
    free(stream);
}

static void up_to_k_keys_are_counted_exactly(void **state)
{
    struct stream *stream = calloc(1, sizeof *stream);
    struct space_saving *summary = create(COUNTERS);
    struct space_saving_counter top[COUNTERS + 1];
    (void)state;
    for (size_t round = 0; round < 50; round++) {
        for (size_t i = 0; i < COUNTERS; i++)
            add(summary, stream, i, i + 1);
    }
    check(summary, stream, 0);
    assert_int_equal(space_saving_top(summary, top, COUNT_OF(top)), COUNTERS);
    assert_int_equal(top[0].count, 50 * COUNTERS);
    assert_int_equal(top[COUNTERS - 1].count, 50);
    add(summary, stream, COUNTERS, 1); /* One more: takes the smallest over. */
    check(summary, stream, 50);
    assert_int_equal(space_saving_count(summary), COUNTERS);
    space_saving_destroy(summary);
    free(stream);
}

static void merged_summaries_keep_their_bounds(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(streams); s++) {
        struct random random;
        struct stream *all = calloc(1, sizeof *all);
        struct space_saving *merged = create(COUNTERS);
        uint64_t error_max = 0;
        random_init(&random, SEED + s);
        for (size_t part = 0; part < 12; part++) {
            struct space_saving *summary = create(COUNTERS);
            for (size_t i = 0; i < EVENTS / 12; i++)
                add(summary, all, streams[s].next(&random), 1 + random_below(&random, 9));
            error_max += space_saving_floor(summary);
            space_saving_merge(merged, summary);
            space_saving_destroy(summary);
        }
        check(merged, all, all->total); /* The inequalities; the bound is below. */
        /* Errors add up, and what the merged one leaves out comes on top. */
        assert_true(space_saving_floor(merged) <= error_max + all->total / COUNTERS);
        /* It can be counted into like any other. */
        for (size_t i = 0; i < 1000; i++)
            add(merged, all, streams[s].next(&random), 3);
        check(merged, all, all->total);
        space_saving_destroy(merged);
        free(all);
    }
}

static void merging_into_a_larger_one_adds_nothing_to_the_errors(void **state)
{
    struct stream *all = calloc(1, sizeof *all);
    struct space_saving *merged = create(KEYS);
    (void)state;
    for (size_t part = 0; part < 10; part++) {
        struct space_saving *summary = create(COUNTERS);
        for (size_t i = 0; i < COUNTERS; i++)
            add(summary, all, part * 7 + i, i + 1);
        space_saving_merge(merged, summary);
        space_saving_destroy(summary);
    }
    check(merged, all, 0);
    space_saving_destroy(merged);
    free(all);
}

/* --- Memory --- */

static void a_million_keys_take_no_more_memory_than_stated(void **state)
{
    const struct space_saving_options options = { .counters_max = 64, .keys_size_max = 64 * 32 };
    struct space_saving *summary = space_saving_create(&options);
    uint64_t total = 0;
    (void)state;
    for (size_t i = 0; i < 1000000; i++) {
        char text[300];
        memset(text, 'x', sizeof text);
        memcpy(text, &i, sizeof i);
        struct bytes key = bytes_of(text, 8 + i % 290);
        space_saving_add(summary, key_digest(SEED, key), key, 1 + i % 3);
        total += 1 + i % 3;
        if (i % 1000 == 0)
            assert_true(space_saving_memory(summary) <= space_saving_memory_max(&options));
    }
    assert_true(space_saving_memory(summary) <= space_saving_memory_max(&options));
    assert_true(space_saving_count(summary) > 0);
    assert_int_equal(space_saving_total(summary), total);
    space_saving_destroy(summary);
}

/* Long keys leave room for fewer counters; what is known of each stays true. */
static void long_keys_widen_the_errors_and_break_no_promise(void **state)
{
    const struct space_saving_options options = { .counters_max = 64, .keys_size_max = 1000 };
    struct space_saving *summary = space_saving_create(&options);
    struct space_saving *merged = space_saving_create(&options);
    uint64_t exact[40] = { 0 };
    struct random random;
    (void)state;
    random_init(&random, SEED);
    for (size_t i = 0; i < 20000; i++) {
        size_t number = (size_t)random_below(&random, COUNT_OF(exact));
        char text[1200];
        memset(text, (int)('A' + number), sizeof text);
        struct bytes key = bytes_of(text, 30 * number + 10); /* The last ones never fit. */
        space_saving_add(summary, key_digest(SEED, key), key, 1);
        exact[number]++;
        if (i % 5000 == 4999) {
            space_saving_merge(merged, summary);
            space_saving_destroy(summary);
            summary = space_saving_create(&options);
        }
    }
    for (size_t number = 0; number < COUNT_OF(exact); number++) {
        char text[1200];
        memset(text, (int)('A' + number), sizeof text);
        struct bytes key = bytes_of(text, 30 * number + 10);
        struct space_saving_counter counter;
        if (!space_saving_find(merged, key_digest(SEED, key), key, &counter)) {
            assert_true(exact[number] <= space_saving_floor(merged));
            continue;
        }
        assert_true(exact[number] <= counter.count);
        assert_true(exact[number] >= counter.count - counter.error);
    }
    space_saving_destroy(summary);
    space_saving_destroy(merged);
}

/* Keys whose hashes are equal share a run of slots; each still has its own counter. */
static void keys_with_equal_hashes_are_told_apart(void **state)
{
    struct space_saving *summary = create(16);
    struct space_saving_counter counter;
    (void)state;
    for (size_t round = 0; round < 100; round++) {
        for (size_t i = 0; i < 16; i++) {
            char text[KEY_SIZE];
            space_saving_add(summary, 5, key_of(i, text), i);
        }
    }
    for (size_t i = 0; i < 16; i++) {
        char text[KEY_SIZE];
        assert_true(space_saving_find(summary, 5, key_of(i, text), &counter));
        assert_int_equal(counter.count, 100 * i);
    }
    space_saving_destroy(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_stay_within_the_total_divided_by_the_counters),
        cmocka_unit_test(the_top_of_a_skewed_stream_is_right),
        cmocka_unit_test(up_to_k_keys_are_counted_exactly),
        cmocka_unit_test(merged_summaries_keep_their_bounds),
        cmocka_unit_test(merging_into_a_larger_one_adds_nothing_to_the_errors),
        cmocka_unit_test(a_million_keys_take_no_more_memory_than_stated),
        cmocka_unit_test(long_keys_widen_the_errors_and_break_no_promise),
        cmocka_unit_test(keys_with_equal_hashes_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
