/* test_engine.c -- points, views and writes: the contract of engine.h on every engine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compiler.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

static int setup(void **state)
{
    enum engine_fixture_kind kind = *(const enum engine_fixture_kind *)*state;
    struct engine_fixture *fixture = malloc(sizeof *fixture);
    engine_fixture_open(fixture, kind);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    engine_fixture_close(*state);
    free(*state);
    return 0;
}

static struct engine *engine_of(void **state)
{
    return ((struct engine_fixture *)*state)->engine;
}

static struct engine_write *begin(struct engine *engine, const struct engine_address *addresses,
                                  size_t count)
{
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, addresses, count, &write), ENGINE_OK);
    return write;
}

/* --- Points --- */

static void what_is_put_is_found_until_it_is_deleted(void **state)
{
    struct engine *engine = engine_of(state);
    assert_true(engine_fixture_lacks(engine, items, BYTES("a")));
    engine_fixture_put(engine, items, BYTES("a"), BYTES("1"));
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
    engine_fixture_put(engine, items, BYTES("a"), BYTES("two"));
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("two")));
    engine_fixture_delete(engine, items, BYTES("a"));
    assert_true(engine_fixture_lacks(engine, items, BYTES("a")));
    engine_fixture_delete(engine, items, BYTES("a")); /* Deleting nothing is no error. */
}

static void owners_partitions_and_spaces_do_not_meet(void **state)
{
    static const struct engine_place places[] = {
        { 0, 0, ENGINE_SPACE_CATALOGUE },
        { 1, 1, ENGINE_SPACE_ITEMS },
        { 1, 1, ENGINE_SPACE_INDEX },
        { 1, 2, ENGINE_SPACE_ITEMS },
        { 2, 1, ENGINE_SPACE_ITEMS },
        { 256, 1, ENGINE_SPACE_ITEMS }, /* Differs from 1 in another byte. */
        { ENGINE_OWNER_MAX - 1, UINT64_MAX, ENGINE_SPACE_STATS },
    };
    struct engine *engine = engine_of(state);
    for (size_t i = 0; i < COUNT_OF(places); i++)
        engine_fixture_put(engine, places[i], BYTES("k"), bytes_of("1234567", i + 1));
    for (size_t i = 0; i < COUNT_OF(places); i++)
        assert_true(engine_fixture_has(engine, places[i], BYTES("k"), bytes_of("1234567", i + 1)));
    engine_fixture_delete(engine, places[1], BYTES("k"));
    for (size_t i = 0; i < COUNT_OF(places); i++)
        assert_int_equal(engine_fixture_lacks(engine, places[i], BYTES("k")), i == 1);
}

static void keys_and_values_may_be_empty(void **state)
{
    struct engine *engine = engine_of(state);
    engine_fixture_put(engine, items, BYTES(""), BYTES("at the empty key"));
    engine_fixture_put(engine, items, BYTES("empty"), BYTES(""));
    assert_true(engine_fixture_has(engine, items, BYTES(""), BYTES("at the empty key")));
    assert_true(engine_fixture_has(engine, items, BYTES("empty"), BYTES("")));

    struct engine_address address = { items, BYTES("empty") };
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_value value;
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    assert_non_null(value.bytes.data);
    engine_value_release(&value);
    engine_view_close(view);
}

static void keys_and_values_may_be_large(void **state)
{
    enum { VALUE_SIZE = 1024 * 1024 };
    /* Around the size up to which a key is built without the heap, and the limit. */
    static const size_t key_sizes[] = { 238, 239, 240, 2048, ENGINE_KEY_SIZE_MAX };
    struct engine *engine = engine_of(state);
    uint8_t *data = malloc(VALUE_SIZE);
    for (size_t i = 0; i < VALUE_SIZE; i++)
        data[i] = (uint8_t)(i * 31 + (i >> 8));
    for (size_t i = 0; i < COUNT_OF(key_sizes); i++) {
        engine_fixture_put(engine, items, bytes_of(data, key_sizes[i]),
                           bytes_of(data, VALUE_SIZE - i));
        assert_true(engine_fixture_has(engine, items, bytes_of(data, key_sizes[i]),
                                       bytes_of(data, VALUE_SIZE - i)));
    }
    assert_true(engine_fixture_lacks(engine, items, bytes_of(data, 2047)));
    free(data);
}

/* --- Views --- */

static void a_view_stays_as_it_was(void **state)
{
    struct engine *engine = engine_of(state);
    if (!engine_fixture_keeps_views(*state))
        skip();
    engine_fixture_put(engine, items, BYTES("kept"), BYTES("1"));
    engine_fixture_put(engine, items, BYTES("gone"), BYTES("1"));
    struct engine_view *before = engine_fixture_view(engine);
    engine_fixture_put(engine, items, BYTES("kept"), BYTES("2"));
    engine_fixture_put(engine, items, BYTES("new"), BYTES("1"));
    engine_fixture_delete(engine, items, BYTES("gone"));
    struct engine_view *after = engine_fixture_view(engine);

    assert_true(engine_fixture_view_has(before, items, BYTES("kept"), BYTES("1")));
    assert_true(engine_fixture_view_has(before, items, BYTES("gone"), BYTES("1")));
    assert_false(engine_fixture_view_has(before, items, BYTES("new"), BYTES("1")));
    assert_true(engine_fixture_view_has(after, items, BYTES("kept"), BYTES("2")));
    assert_false(engine_fixture_view_has(after, items, BYTES("gone"), BYTES("1")));
    assert_true(engine_fixture_view_has(after, items, BYTES("new"), BYTES("1")));
    engine_view_close(before);
    assert_true(engine_fixture_view_has(after, items, BYTES("kept"), BYTES("2")));
    engine_view_close(after);
}

static void a_value_outlives_later_writes(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_address address = { items, BYTES("a") };
    engine_fixture_put(engine, items, BYTES("a"), BYTES("first"));
    struct engine_view *view = engine_fixture_view(engine);
    struct engine_value value;
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("other"));
    engine_fixture_delete(engine, items, BYTES("a"));
    assert_true(bytes_equal(value.bytes, BYTES("first")));
    engine_value_release(&value);
    engine_value_release(&value); /* Zeroed by the first. */
    engine_view_close(view);
}

static void a_shared_view_shows_the_same_for_as_long_as_it_is_open(void **state)
{
    struct engine *engine = engine_of(state);
    if (!engine_fixture_keeps_views(*state))
        skip();
    engine_fixture_put(engine, items, BYTES("a"), BYTES("first"));
    struct engine_view *view = engine_fixture_view(engine);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("second"));
    struct engine_view *shared = engine_view_share(view);
    struct engine_view *again = engine_view_share(shared);
    engine_view_close(view);
    assert_true(engine_fixture_view_has(shared, items, BYTES("a"), BYTES("first")));
    engine_view_close(shared);
    engine_fixture_put(engine, items, BYTES("a"), BYTES("third"));
    assert_true(engine_fixture_view_has(again, items, BYTES("a"), BYTES("first")));
    engine_view_close(again);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("third")));
}

static void null_is_closed_without_harm(void **state)
{
    (void)state;
    engine_view_close(NULL);
    engine_scan_close(NULL);
    engine_close(NULL);
}

/* --- Writes --- */

static void a_write_reads_the_newest_state_without_its_own_changes(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_address address = { items, BYTES("a") };
    struct engine_value value;
    engine_fixture_put(engine, items, BYTES("a"), BYTES("old"));
    struct engine_write *write = begin(engine, &address, 1);
    engine_write_put(write, &address, BYTES("new"));
    assert_int_equal(engine_write_get(write, &address, &value), ENGINE_OK);
    assert_true(bytes_equal(value.bytes, BYTES("old")));
    engine_value_release(&value);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("old")));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("new")));
}

static void an_index_entry_is_read_under_its_items_latch(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_place entries = { 1, 1, ENGINE_SPACE_INDEX };
    struct engine_address item = { items, BYTES("a") };
    struct engine_address entry = { entries, BYTES("entry of a") };
    struct engine_value value;
    engine_fixture_put(engine, entries, BYTES("entry of a"), BYTES("1"));
    struct engine_write *write = begin(engine, &item, 1);
    assert_int_equal(engine_write_get(write, &entry, &value), ENGINE_OK);
    assert_true(bytes_equal(value.bytes, BYTES("1")));
    engine_value_release(&value);
    engine_write_delete(write, &entry);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_true(engine_fixture_lacks(engine, entries, BYTES("entry of a")));
}

static void the_last_change_to_a_key_wins(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_address a = { items, BYTES("a") }, b = { items, BYTES("b") };
    struct engine_address c = { items, BYTES("c") };
    engine_fixture_put(engine, items, BYTES("b"), BYTES("before"));
    struct engine_write *write = begin(engine, NULL, 0);
    engine_write_put(write, &a, BYTES("1"));
    engine_write_delete(write, &a);
    engine_write_put(write, &a, BYTES("2"));
    engine_write_put(write, &b, BYTES("1"));
    engine_write_delete(write, &b);
    engine_write_put(write, &c, BYTES("1"));
    if ((engine_capabilities(engine) & ENGINE_RANGE_DELETE) != 0)
        engine_write_delete_range(write, &items, BYTES("c"), BYTES(""));
    engine_write_put(write, &c, BYTES("2"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("2")));
    assert_true(engine_fixture_lacks(engine, items, BYTES("b")));
    assert_true(engine_fixture_has(engine, items, BYTES("c"), BYTES("2")));
}

struct counting_completion {
    struct engine_completion base;
    atomic_int calls;
    atomic_int status;
};

static void count_done(struct engine_completion *base, enum engine_status status)
{
    struct counting_completion *completion = (struct counting_completion *)base;
    atomic_store(&completion->status, (int)status);
    atomic_fetch_add(&completion->calls, 1);
}

static void wait_done(struct counting_completion *completion)
{
    while (atomic_load(&completion->calls) == 0)
        sched_yield();
}

static void a_refusal_completes(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_address address = { items, BYTES("a") };
    struct counting_completion put = { .base.done = count_done };
    struct counting_completion refusal = { .base.done = count_done };
    assert_int_equal(engine_write_commit_wait(begin(engine, &address, 1)), ENGINE_OK);

    struct engine_write *write = begin(engine, &address, 1);
    engine_write_put(write, &address, BYTES("1"));
    engine_write_commit(write, &put.base);
    engine_write_commit(begin(engine, &address, 1), &refusal.base);
    wait_done(&refusal);
    assert_int_equal(atomic_load(&refusal.status), ENGINE_OK);
    assert_int_equal(atomic_load(&put.calls), 1); /* What the refusal read came first. */
    assert_true(engine_fixture_has(engine, items, BYTES("a"), BYTES("1")));
}

static void closing_answers_what_is_under_way_exactly_once(void **state)
{
    enum { WRITES = 200 };
    struct engine_fixture *fixture = *state;
    static struct counting_completion completions[WRITES];
    memset(completions, 0, sizeof completions);
    for (size_t i = 0; i < WRITES; i++) {
        struct engine_address address = { items, bytes_of(&i, sizeof i) };
        completions[i].base.done = count_done;
        struct engine_write *write = begin(fixture->engine, &address, 1);
        engine_write_put(write, &address, BYTES("1"));
        engine_write_commit(write, &completions[i].base);
    }
    engine_fixture_reopen(fixture);
    for (size_t i = 0; i < WRITES; i++) {
        assert_int_equal(atomic_load(&completions[i].calls), 1);
        assert_int_equal(atomic_load(&completions[i].status), ENGINE_OK);
        if (engine_fixture_is_persistent(fixture))
            assert_true(
                engine_fixture_has(fixture->engine, items, bytes_of(&i, sizeof i), BYTES("1")));
    }
}

static void an_abandoned_write_changes_nothing_and_holds_nothing(void **state)
{
    struct engine *engine = engine_of(state);
    struct engine_address address = { items, BYTES("a") };
    for (int i = 0; i < 3; i++) {
        struct engine_write *write = begin(engine, &address, 1);
        engine_write_put(write, &address, BYTES("1"));
        engine_write_abandon(write);
    }
    assert_true(engine_fixture_lacks(engine, items, BYTES("a")));
    /* Nor does its content come back with the next write. */
    engine_fixture_put(engine, items, BYTES("b"), BYTES("1"));
    assert_true(engine_fixture_lacks(engine, items, BYTES("a")));
}

static void a_write_may_depend_on_the_largest_number_of_addresses(void **state)
{
    struct engine *engine = engine_of(state);
    static struct engine_address addresses[ENGINE_WRITE_ADDRESSES_MAX];
    static uint32_t keys[ENGINE_WRITE_ADDRESSES_MAX];
    for (uint32_t i = 0; i < ENGINE_WRITE_ADDRESSES_MAX; i++) {
        keys[i] = i / 2; /* Each one twice. */
        addresses[i] = engine_fixture_address(items, bytes_of(&keys[i], sizeof keys[i]));
    }
    struct engine_write *write = begin(engine, addresses, COUNT_OF(addresses));
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        struct engine_value value;
        assert_int_equal(engine_write_get(write, &addresses[i], &value), ENGINE_NOT_FOUND);
        engine_write_put(write, &addresses[i], BYTES("1"));
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_true(engine_fixture_has(engine, items, addresses[ENGINE_WRITE_ADDRESSES_MAX - 1].key,
                                   BYTES("1")));
}

/* --- Threads --- */

enum { THREADS = 8, ROUNDS = 150, COUNTERS = 3 };

static void add_one(struct engine *engine, const struct engine_address *address)
{
    struct engine_write *write = begin(engine, address, 1);
    struct engine_value value;
    uint64_t count = 0;
    enum engine_status status = engine_write_get(write, address, &value);
    if (status == ENGINE_OK)
        memcpy(&count, value.bytes.data, sizeof count);
    else
        assert_int_equal(status, ENGINE_NOT_FOUND);
    engine_value_release(&value);
    count++;
    engine_write_put(write, address, bytes_of(&count, sizeof count));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void *add_many(void *argument)
{
    struct engine *engine = argument;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t counter = i % COUNTERS;
        struct engine_address address = { items, bytes_of(&counter, sizeof counter) };
        add_one(engine, &address);
    }
    return NULL;
}

static void concurrent_read_modify_writes_lose_nothing(void **state)
{
    struct engine *engine = engine_of(state);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, engine), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t counter = 0; counter < COUNTERS; counter++) {
        uint64_t want = THREADS * ROUNDS / COUNTERS;
        assert_true(engine_fixture_has(engine, items, bytes_of(&counter, sizeof counter),
                                       bytes_of(&want, sizeof want)));
    }
}

static const struct engine_address pair[] = {
    { { 7, 1, ENGINE_SPACE_ITEMS }, { (const uint8_t *)"k", 1 } },
    { { 9, 4, ENGINE_SPACE_INDEX }, { (const uint8_t *)"k", 1 } },
};

struct pair_writer {
    struct engine *engine;
    atomic_bool stop;
};

static void *write_pairs(void *argument)
{
    struct pair_writer *writer = argument;
    for (uint64_t i = 1; !atomic_load(&writer->stop); i++) {
        struct engine_write *write = begin(writer->engine, pair, 2);
        engine_write_put(write, &pair[0], bytes_of(&i, sizeof i));
        engine_write_put(write, &pair[1], bytes_of(&i, sizeof i));
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    }
    return NULL;
}

static enum engine_status number_at(struct engine_view *view, const struct engine_address *address,
                                    uint64_t *number)
{
    struct engine_value value;
    enum engine_status status = engine_view_get(view, address, &value);
    *number = 0;
    if (status == ENGINE_OK)
        memcpy(number, value.bytes.data, sizeof *number);
    engine_value_release(&value);
    return status == ENGINE_NOT_FOUND ? ENGINE_OK : status;
}

static void views_show_whole_writes_and_never_go_back(void **state)
{
    enum { LOOKS = 500 };
    struct pair_writer writer = { .engine = engine_of(state) };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_pairs, &writer), 0);
    uint64_t last = 0;
    for (int i = 0; i < LOOKS || last < 3;) {
        struct engine_view *view = engine_fixture_view(writer.engine);
        uint64_t first, second;
        assert_int_equal(number_at(view, &pair[0], &first), ENGINE_OK);
        sched_yield();
        enum engine_status status = number_at(view, &pair[1], &second);
        if (status == ENGINE_OK) {
            assert_int_equal(second, first);
            assert_true(first >= last);
            last = first;
            i++;
        } else { /* The write in between is noticed. */
            assert_int_equal(status, ENGINE_CONFLICT);
            assert_false(engine_fixture_keeps_views(*state));
        }
        engine_view_close(view);
    }
    atomic_store(&writer.stop, true);
    pthread_join(thread, NULL);
}

/* --- Reopening --- */

static void content_outlives_the_engine(void **state)
{
    struct engine_fixture *fixture = *state;
    if (!engine_fixture_is_persistent(fixture))
        return;
    for (int round = 0; round < 3; round++) {
        engine_fixture_put(fixture->engine, items, bytes_of(&round, sizeof round), BYTES("1"));
        engine_fixture_put(fixture->engine, items, BYTES("same"), bytes_of(&round, sizeof round));
        engine_fixture_reopen(fixture);
        assert_true(engine_fixture_has(fixture->engine, items, BYTES("same"),
                                       bytes_of(&round, sizeof round)));
        for (int i = 0; i <= round; i++)
            assert_true(
                engine_fixture_has(fixture->engine, items, bytes_of(&i, sizeof i), BYTES("1")));
    }
    engine_fixture_delete(fixture->engine, items, BYTES("same"));
    engine_fixture_reopen(fixture);
    assert_true(engine_fixture_lacks(fixture->engine, items, BYTES("same")));
}

static void every_status_has_a_name(void **state)
{
    (void)state;
    for (int a = ENGINE_OK; a <= ENGINE_UNSUPPORTED; a++)
        for (int b = ENGINE_OK; b < a; b++)
            assert_string_not_equal(engine_status_name((enum engine_status)a),
                                    engine_status_name((enum engine_status)b));
}

#define ON(test, kind) cmocka_unit_test_prestate_setup_teardown(test, setup, teardown, kind)

static int run_on(enum engine_fixture_kind kind)
{
    const struct CMUnitTest tests[] = {
        ON(what_is_put_is_found_until_it_is_deleted, &kind),
        ON(owners_partitions_and_spaces_do_not_meet, &kind),
        ON(keys_and_values_may_be_empty, &kind),
        ON(keys_and_values_may_be_large, &kind),
        ON(a_view_stays_as_it_was, &kind),
        ON(a_value_outlives_later_writes, &kind),
        ON(a_shared_view_shows_the_same_for_as_long_as_it_is_open, &kind),
        ON(null_is_closed_without_harm, &kind),
        ON(a_write_reads_the_newest_state_without_its_own_changes, &kind),
        ON(an_index_entry_is_read_under_its_items_latch, &kind),
        ON(the_last_change_to_a_key_wins, &kind),
        ON(a_refusal_completes, &kind),
        ON(closing_answers_what_is_under_way_exactly_once, &kind),
        ON(an_abandoned_write_changes_nothing_and_holds_nothing, &kind),
        ON(a_write_may_depend_on_the_largest_number_of_addresses, &kind),
        ON(concurrent_read_modify_writes_lose_nothing, &kind),
        ON(views_show_whole_writes_and_never_go_back, &kind),
        ON(content_outlives_the_engine, &kind),
        ON(every_status_has_a_name, &kind),
    };
    printf("engine: %s\n", engine_fixture_kind_name(kind));
    return cmocka_run_group_tests_name(engine_fixture_kind_name(kind), tests, NULL, NULL);
}

int main(void)
{
    int failures = 0;
    for (int kind = 0; kind < ENGINE_FIXTURE_KIND_COUNT; kind++)
        if (engine_fixture_is_chosen((enum engine_fixture_kind)kind))
            failures += run_on((enum engine_fixture_kind)kind);
    return failures == 0 ? 0 : 1;
}
