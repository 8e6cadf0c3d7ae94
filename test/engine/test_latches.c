/* test_latches.c -- a write has each of its latches once, in ascending order, and waits for the
 * ones that others have in a queue that is fair and bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/compiler.h"
#include "base/random.h"
#include "engine/latches.h"

enum { LONG_WAIT_MS = 60 * 1000, SHORT_WAIT_MS = 20, KEY_SIZE = 16 };

static struct latches latches;

static int set_up(void **state)
{
    (void)state;
    return latches_init(&latches, LONG_WAIT_MS) ? 0 : -1;
}

static int set_up_short(void **state)
{
    (void)state;
    return latches_init(&latches, SHORT_WAIT_MS) ? 0 : -1;
}

static int set_up_impatient(void **state)
{
    (void)state;
    return latches_init(&latches, 1) ? 0 : -1;
}

/* Nothing is held at the end of a test. */
static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < LATCHES_COUNT; i++)
        if (atomic_load(&latches.list[i].state) != 0 || latches.list[i].last != NULL)
            return -1;
    latches_deinit(&latches);
    return 0;
}

/* --- Which latches --- */

static struct latches_held held;
static char keys[ENGINE_WRITE_ADDRESSES_MAX][KEY_SIZE];
static struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];

/* Every `different` addresses they come again. */
static void make_addresses(size_t count, size_t different, enum engine_space space)
{
    for (size_t i = 0; i < count; i++) {
        int size = snprintf(keys[i], KEY_SIZE, "%zu", i % different);
        addresses[i] = (struct engine_address){ .place = { 7, i % different % 4, space },
                                                .key = bytes_of(keys[i], (size_t)size) };
    }
}

static void expect_ascending(void)
{
    for (size_t i = 1; i < held.count; i++)
        assert_true(held.indexes[i - 1] < held.indexes[i]);
}

static void latches_are_held_once_and_in_order(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 15, 16, 17, 100, ENGINE_WRITE_ADDRESSES_MAX };
    static const size_t differents[] = { 1, 3, ENGINE_WRITE_ADDRESSES_MAX };
    (void)state;
    for (size_t c = 0; c < COUNT_OF(counts); c++) {
        for (size_t d = 0; d < COUNT_OF(differents); d++) {
            make_addresses(counts[c], differents[d], ENGINE_SPACE_ITEMS);
            assert_true(latches_take(&latches, addresses, counts[c], &held));
            assert_true(held.count <= differents[d] && held.count <= counts[c]);
            expect_ascending();
            for (size_t i = 0; i < counts[c]; i++)
                assert_true(latches_cover(&held, &addresses[i]));
            latches_release(&latches, &held);
        }
    }
}

static void shared_latches_come_behind_all_others(void **state)
{
    static const enum engine_space shared[] = { ENGINE_SPACE_STATS, ENGINE_SPACE_CHANGES };
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shared); s++) {
        make_addresses(200, 200, ENGINE_SPACE_ITEMS);
        assert_true(latches_take(&latches, addresses, 200, &held));
        assert_false(
            latches_cover(&held, &(struct engine_address){ { 7, 0, shared[s] }, BYTES("0") }));
        make_addresses(200, 200, shared[s]);
        assert_true(latches_take_shared(&latches, addresses, 200, &held));
        expect_ascending();
        for (size_t i = 0; i < 200; i++)
            assert_true(latches_cover(&held, &addresses[i]));
        latches_release(&latches, &held);
    }
}

/* --- Queues, on one thread ---
 *
 * Keys "a" to "h" have latches in the order of their letters. */

enum { LETTERS = 8, WRITERS = 40 };

static struct engine_address letters[LETTERS];

struct writer {
    struct latches_held held;
    int told; /* How often it was told. */
    bool taken;
};

static struct writer writers[WRITERS];
static size_t order[WRITERS]; /* Of writers that were told. */
static size_t told_count;

static void note_ready(struct latches_held *one, bool taken)
{
    struct writer *writer = (struct writer *)one;
    writer->told++;
    writer->taken = taken;
    order[told_count++] = (size_t)(writer - writers);
}

static uint16_t index_of(const struct engine_address *address)
{
    assert_true(latches_take(&latches, address, 1, &held));
    uint16_t index = held.indexes[0];
    latches_release(&latches, &held);
    return index;
}

static int compare_letters(const void *a, const void *b)
{
    return index_of(a) - index_of(b);
}

static int set_up_writers(void **state)
{
    static char names[LETTERS][2];
    if (set_up(state) != 0)
        return -1;
    for (size_t i = 0; i < LETTERS; i++) {
        names[i][0] = (char)('a' + i);
        letters[i] = (struct engine_address){ { 7, 1, ENGINE_SPACE_ITEMS }, bytes_of(names[i], 1) };
    }
    qsort(letters, LETTERS, sizeof letters[0], compare_letters);
    for (size_t i = 1; i < LETTERS; i++)
        if (index_of(&letters[i - 1]) == index_of(&letters[i]))
            return -1;
    for (size_t i = 0; i < WRITERS; i++)
        writers[i] = (struct writer){ .held.ready = note_ready };
    told_count = 0;
    return 0;
}

static int set_up_impatient_writers(void **state)
{
    if (set_up_writers(state) != 0)
        return -1;
    latches_deinit(&latches);
    return set_up_short(state);
}

/* By the letters' positions in a text such as "ad". */
static bool take(size_t writer, const char *text)
{
    struct engine_address wanted[LETTERS];
    size_t count = 0;
    for (; text[count] != '\0'; count++)
        wanted[count] = letters[text[count] - 'a'];
    return latches_take(&latches, wanted, count, &writers[writer].held);
}

static void release(size_t writer)
{
    latches_release(&latches, &writers[writer].held);
}

static void a_queue_is_served_in_its_order(void **state)
{
    (void)state;
    assert_true(take(0, "a"));
    for (size_t i = 1; i < WRITERS; i++)
        assert_false(take(i, "a"));
    for (size_t i = 0; i < WRITERS; i++) {
        assert_int_equal(told_count, i);
        release(i);
    }
    for (size_t i = 1; i < WRITERS; i++) {
        assert_int_equal(order[i - 1], i);
        assert_int_equal(writers[i].told, 1);
        assert_true(writers[i].taken);
    }
}

static void nobody_overtakes_a_queue(void **state)
{
    bool busy[1];
    (void)state;
    assert_true(take(0, "a"));
    assert_false(take(1, "a"));
    release(0);
    assert_int_equal(told_count, 1); /* It is writer 1's now, though that may not know yet. */
    assert_false(take(2, "a"));
    assert_false(latches_try(&latches, &letters[0], 1, &held, busy));
    release(1);
    release(2);
}

/* "b" is held, and writer 1 waits there with "a": whoever wants "a" waits as well. */
static void a_write_that_waits_keeps_what_it_has_and_goes_on_by_itself(void **state)
{
    (void)state;
    assert_true(take(0, "b"));
    assert_true(take(2, "d"));
    assert_false(take(1, "abcd"));
    assert_false(take(3, "a"));
    assert_true(take(4, "c")); /* Not reached yet. */
    release(4);
    release(0); /* Writer 1 gets "b" and "c", and waits for "d". */
    assert_int_equal(told_count, 0);
    assert_false(take(4, "c"));
    release(2);
    assert_int_equal(told_count, 1);
    assert_int_equal(order[0], 1);
    assert_int_equal(writers[1].held.count, 4);
    release(1);
    assert_int_equal(told_count, 3); /* Writers 3 and 4, in any order. */
    release(3);
    release(4);
}

static void a_thread_passes_a_latch_to_its_own_a_few_times(void **state)
{
    static const char mine, others;
    (void)state;
    for (size_t i = 0; i < WRITERS; i++)
        writers[i].held.thread = i % 2 == 0 ? &mine : &others;
    assert_true(take(0, "a"));
    for (size_t i = 1; i < WRITERS; i++)
        assert_false(take(i, "a"));
    release(0);
    for (size_t i = 0; i < WRITERS - 1; i++)
        release(order[i]);
    /* Writer 0 and LATCHES_PASSES_MAX more of its thread; then as many of the other, from its first
     * one on. */
    for (size_t i = 0; i < LATCHES_PASSES_MAX; i++)
        assert_int_equal(order[i], 2 * (i + 1));
    for (size_t i = 0; i <= LATCHES_PASSES_MAX; i++)
        assert_int_equal(order[LATCHES_PASSES_MAX + i], 2 * i + 1);
    assert_int_equal(order[2 * LATCHES_PASSES_MAX + 1], 2 * (LATCHES_PASSES_MAX + 1));
    assert_int_equal(told_count, WRITERS - 1);
}

static void trying_takes_all_or_nothing_and_tells_what_is_held(void **state)
{
    bool busy[LETTERS];
    (void)state;
    assert_true(take(0, "ce"));
    assert_false(take(1, "e"));
    assert_false(latches_try(&latches, letters, LETTERS, &held, busy));
    for (size_t i = 0; i < LETTERS; i++)
        assert_int_equal(busy[i], i == 2 || i == 4);
    assert_true(take(2, "abdfgh"));
    release(2);
    release(0);
    release(1);
    assert_true(latches_try(&latches, letters, LETTERS, &held, busy));
    assert_false(take(2, "h"));
    latches_release(&latches, &held);
    release(2);
}

/* --- Giving up --- */

static _Atomic int given_up;

static void note_given_up(struct latches_held *one, bool taken)
{
    ((struct writer *)one)->taken = taken;
    given_up++;
}

static void who_waits_for_too_long_is_told_and_has_nothing(void **state)
{
    (void)state;
    given_up = 0;
    for (size_t i = 1; i <= 3; i++) {
        writers[i].held.ready = note_given_up;
        writers[i].taken = true;
    }
    assert_true(take(0, "b"));
    assert_false(take(1, "ab"));
    assert_false(take(2, "b"));
    assert_false(take(3, "a")); /* Behind writer 1: may get "a" when that gives up, or not. */
    while (given_up < 3)
        usleep(1000);
    assert_false(writers[1].taken);
    assert_false(writers[2].taken);
    if (writers[3].taken)
        release(3);
    assert_true(take(4, "a"));
    release(4);
    release(0); /* The queue is gone, and the latch is free. */
    assert_true(take(5, "ab"));
    release(5);
}

/* --- Many threads --- */

enum { THREADS = 6, ROUNDS = 3000, SET_MAX = 12, PLACES = 40 };

static useconds_t hold_us; /* Now and then. */
static atomic_int owners[PLACES];
static struct engine_address places[PLACES];
static char place_names[PLACES][KEY_SIZE];

struct racer {
    struct latches_held held;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_ready, taken; /* Guarded by mutex. */
    uint64_t seed;
    unsigned given_up;
};

static void racer_ready(struct latches_held *one, bool taken)
{
    struct racer *racer = (struct racer *)one;
    pthread_mutex_lock(&racer->mutex);
    racer->is_ready = true;
    racer->taken = taken;
    pthread_cond_signal(&racer->changed);
    pthread_mutex_unlock(&racer->mutex);
}

static bool racer_wait(struct racer *racer)
{
    pthread_mutex_lock(&racer->mutex);
    while (!racer->is_ready)
        pthread_cond_wait(&racer->changed, &racer->mutex);
    racer->is_ready = false;
    bool taken = racer->taken;
    pthread_mutex_unlock(&racer->mutex);
    return taken;
}

static bool racer_take(struct racer *racer, const struct engine_address *set, size_t count,
                       unsigned how)
{
    bool busy[SET_MAX];
    if (how == 0)
        return latches_try(&latches, set, count, &racer->held, busy);
    /* Places in the second half are shared: they are taken afterwards. */
    size_t own = 0;
    while (own < count && !engine_space_is_shared(set[own].place.space))
        own++;
    if (how == 1)
        own = count;
    if (!latches_take(&latches, set, own, &racer->held) && !racer_wait(racer))
        return false;
    return own == count || latches_take_shared(&latches, set + own, count - own, &racer->held) ||
           racer_wait(racer);
}

static void *race(void *argument)
{
    struct racer *racer = argument;
    struct random random;
    random_init(&random, racer->seed);
    for (int round = 0; round < ROUNDS; round++) {
        struct engine_address set[SET_MAX];
        size_t chosen[SET_MAX], count = 0;
        for (size_t i = 0; i < PLACES && count < SET_MAX; i++)
            if (random_next(&random) % 8 == 0) {
                chosen[count] = i;
                set[count++] = places[i];
            }
        if (!racer_take(racer, set, count, (unsigned)(random_next(&random) % 3))) {
            racer->given_up++;
            continue;
        }
        for (size_t i = 0; i < count; i++)
            assert_int_equal(atomic_fetch_add(&owners[chosen[i]], 1), 0);
        if (random_next(&random) % 64 == 0)
            usleep(hold_us);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(atomic_fetch_sub(&owners[chosen[i]], 1), 1);
        latches_release(&latches, &racer->held);
    }
    return NULL;
}

static void run_race(void)
{
    static struct racer racers[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < PLACES; i++) {
        int size = snprintf(place_names[i], KEY_SIZE, "%zu", i);
        places[i] = (struct engine_address){
            { 7, 1, i < PLACES / 2 ? ENGINE_SPACE_ITEMS : ENGINE_SPACE_STATS },
            bytes_of(place_names[i], (size_t)size),
        };
    }
    for (size_t i = 0; i < THREADS; i++) {
        racers[i] = (struct racer){ .held.ready = racer_ready,
                                    .held.thread = i % 2 == 0 ? &racers[i / 4] : NULL,
                                    .seed = 815 + i };
        pthread_mutex_init(&racers[i].mutex, NULL);
        pthread_cond_init(&racers[i].changed, NULL);
        assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        pthread_cond_destroy(&racers[i].changed);
        pthread_mutex_destroy(&racers[i].mutex);
    }
}

static void threads_with_sets_of_chance_neither_meet_nor_block_each_other(void **state)
{
    (void)state;
    hold_us = 100;
    run_race();
}

/* The same where many give up: what they held is there for others. */
static void threads_that_give_up_leave_nothing_held(void **state)
{
    (void)state;
    hold_us = 3000;
    run_race();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(latches_are_held_once_and_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shared_latches_come_behind_all_others, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_queue_is_served_in_its_order, set_up_writers, tear_down),
        cmocka_unit_test_setup_teardown(nobody_overtakes_a_queue, set_up_writers, tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_waits_keeps_what_it_has_and_goes_on_by_itself,
                                        set_up_writers, tear_down),
        cmocka_unit_test_setup_teardown(a_thread_passes_a_latch_to_its_own_a_few_times,
                                        set_up_writers, tear_down),
        cmocka_unit_test_setup_teardown(trying_takes_all_or_nothing_and_tells_what_is_held,
                                        set_up_writers, tear_down),
        cmocka_unit_test_setup_teardown(who_waits_for_too_long_is_told_and_has_nothing,
                                        set_up_impatient_writers, tear_down),
        cmocka_unit_test_setup_teardown(
            threads_with_sets_of_chance_neither_meet_nor_block_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_that_give_up_leave_nothing_held, set_up_impatient,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
