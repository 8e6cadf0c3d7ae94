/* test_key_summary.c -- HyperLogLog's estimates, and summaries that survive being stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "insight/hyperloglog.h"
#include "insight/key_digest.h"
#include "insight/key_summary.h"

enum { SEED = 99, COUNTERS = 64 };

static struct hyperloglog sketch_of(uint64_t first, uint64_t count)
{
    struct hyperloglog sketch = { { 0 } };
    for (uint64_t i = first; i < first + count; i++)
        hyperloglog_add(&sketch, key_digest(1, bytes_of(&i, sizeof i)));
    return sketch;
}

static void assert_near(uint64_t estimate, uint64_t exact, double part)
{
    double difference = (double)estimate - (double)exact;
    assert_true(difference <= part * (double)exact && -difference <= part * (double)exact);
}

/* Five standard errors of 1.6 %. */
static void estimates_are_within_the_stated_error(void **state)
{
    static const uint64_t counts[] = { 1,    2,     10,    100,    1000,   3000,
                                       8000, 12000, 20000, 100000, 1000000 };
    (void)state;
    assert_int_equal(hyperloglog_estimate(&(struct hyperloglog){ { 0 } }), 0);
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct hyperloglog sketch = sketch_of(0, counts[i]);
        assert_near(hyperloglog_estimate(&sketch), counts[i], 0.08);
    }
    struct hyperloglog few = sketch_of(0, 10);
    assert_int_equal(hyperloglog_estimate(&few), 10);
}

static void merged_sketches_count_the_union(void **state)
{
    (void)state;
    struct hyperloglog a = sketch_of(0, 30000), b = sketch_of(20000, 30000);
    struct hyperloglog all = sketch_of(0, 50000);
    hyperloglog_merge(&a, &b);
    assert_memory_equal(&a, &all, sizeof a);
    hyperloglog_merge(&a, &b);
    assert_memory_equal(&a, &all, sizeof a);
}

static void sketches_survive_encoding_in_both_forms(void **state)
{
    static const uint64_t counts[] = { 0, 1, 500, 1000, 2000, 100000 };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct hyperloglog sketch = sketch_of(7, counts[i]), back;
        struct buffer out;
        buffer_init(&out, arena);
        hyperloglog_encode(&sketch, &out);
        assert_true(out.len <= 1 + sizeof sketch);
        assert_true(counts[i] > 0 || out.len == 3);
        struct bytes in = buffer_bytes(&out);
        assert_true(hyperloglog_decode(&in, &back));
        assert_int_equal(in.len, 0);
        assert_memory_equal(&back, &sketch, sizeof back);
    }
    arena_destroy(arena);
}

static void damaged_sketches_are_refused(void **state)
{
    static const struct {
        uint8_t bytes[8];
        size_t size;
    } cases[] = {
        { { 0 }, 0 },                   /* Nothing. */
        { { 2 }, 3 },                   /* Another form. */
        { { 0, 0 }, 2 },                /* Half a count. */
        { { 0, 0, 1, 0, 0 }, 5 },       /* Half a pair. */
        { { 0, 0, 1, 0, 0, 0 }, 6 },    /* A rank of 0. */
        { { 0, 0, 1, 0, 0, 54 }, 6 },   /* A rank that no hash has. */
        { { 0, 0, 1, 0x10, 0, 1 }, 6 }, /* No such register. */
        { { 1, 1, 1 }, 3 },             /* Too short. */
    };
    struct hyperloglog sketch;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes in = bytes_of(cases[i].bytes, cases[i].size);
        assert_false(hyperloglog_decode(&in, &sketch));
    }
}

static struct key_summary *summary_of(size_t keys, size_t key_size)
{
    struct key_summary *summary = key_summary_create(COUNTERS, SEED);
    uint8_t key[4096] = { 0 };
    for (size_t i = 0; i < keys; i++) {
        memcpy(key, &i, sizeof i);
        key_summary_add(summary, bytes_of(key, key_size), 3 + i);
    }
    return summary;
}

static void assert_same(const struct key_summary *a, const struct key_summary *b)
{
    struct space_saving_counter left[COUNTERS], right[COUNTERS];
    size_t count = space_saving_top(a->keys, left, COUNTERS);
    assert_int_equal(space_saving_top(b->keys, right, COUNTERS), count);
    for (size_t i = 0; i < count; i++) {
        assert_true(bytes_equal(left[i].key, right[i].key));
        assert_int_equal(left[i].count, right[i].count);
        assert_int_equal(left[i].error, right[i].error);
    }
    assert_int_equal(space_saving_total(a->keys), space_saving_total(b->keys));
    assert_int_equal(space_saving_floor(a->keys), space_saving_floor(b->keys));
    assert_int_equal(a->missed, b->missed);
    assert_memory_equal(&a->distinct, &b->distinct, sizeof a->distinct);
}

static void summaries_survive_being_stored(void **state)
{
    static const size_t counts[] = { 0, 1, COUNTERS, 10 * COUNTERS };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        struct key_summary *summary = summary_of(counts[i], 20);
        summary->missed = i;
        struct bytes stored = key_summary_encode(arena, summary, COUNTERS);
        struct key_summary *back = key_summary_decode(stored, COUNTERS, SEED);
        assert_non_null(back);
        assert_same(summary, back);
        key_summary_destroy(back);
        key_summary_destroy(summary);
    }
    arena_destroy(arena);
}

/* Long keys: the smallest counters are left out, and the floor says so. */
static void stored_bytes_are_bounded(void **state)
{
    static const size_t sizes[] = { 8, 64, 100, 128, 1000, 2000, 4000 };
    struct arena *arena = arena_create();
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct key_summary *summary = summary_of(10 * COUNTERS, sizes[i]);
        struct bytes stored = key_summary_encode(arena, summary, COUNTERS);
        assert_true(stored.len <= key_summary_size_max(COUNTERS));
        struct key_summary *back = key_summary_decode(stored, COUNTERS, SEED);
        assert_non_null(back);
        struct space_saving_counter first, first_back;
        assert_int_equal(space_saving_top(summary->keys, &first, 1), 1);
        if (space_saving_top(back->keys, &first_back, 1) == 1)
            assert_int_equal(first_back.count, first.count);
        if (space_saving_count(back->keys) < space_saving_count(summary->keys))
            assert_true(space_saving_floor(back->keys) >= space_saving_floor(summary->keys));
        key_summary_destroy(back);
        back = key_summary_decode(stored, KEY_SUMMARY_COUNTERS_MIN, SEED); /* k was lowered. */
        assert_non_null(back);
        key_summary_destroy(back);
        key_summary_destroy(summary);
    }
    arena_destroy(arena);
}

static void every_damaged_byte_is_noticed(void **state)
{
    struct arena *arena = arena_create();
    struct key_summary *summary = summary_of(5, 12);
    struct bytes stored = key_summary_encode(arena, summary, COUNTERS);
    uint8_t *bytes = arena_alloc(arena, stored.len);
    (void)state;
    for (size_t i = 0; i < stored.len; i++) {
        memcpy(bytes, stored.data, stored.len);
        bytes[i] ^= 0x10;
        assert_null(key_summary_decode(bytes_of(bytes, stored.len), COUNTERS, SEED));
        assert_null(key_summary_decode(bytes_of(stored.data, i), COUNTERS, SEED));
    }
    key_summary_destroy(summary);
    arena_destroy(arena);
}

static void copies_count_on_by_themselves(void **state)
{
    struct key_summary *summary = summary_of(3, 10);
    struct key_summary *copy = key_summary_copy(summary, COUNTERS);
    (void)state;
    assert_same(summary, copy);
    assert_false(key_summary_is_empty(copy));
    key_summary_add(copy, BYTES("another"), 8);
    assert_int_equal(space_saving_count(summary->keys), 3);
    assert_int_equal(hyperloglog_estimate(&copy->distinct), 4);
    key_summary_destroy(copy);
    key_summary_destroy(summary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_within_the_stated_error),
        cmocka_unit_test(merged_sketches_count_the_union),
        cmocka_unit_test(sketches_survive_encoding_in_both_forms),
        cmocka_unit_test(damaged_sketches_are_refused),
        cmocka_unit_test(summaries_survive_being_stored),
        cmocka_unit_test(stored_bytes_are_bounded),
        cmocka_unit_test(every_damaged_byte_is_noticed),
        cmocka_unit_test(copies_count_on_by_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
