/* test_rados_store.c -- the promises of partition_store.h, kept by a Ceph cluster. `make
 * test-rados` starts one; rados_fixture.h says how a test reaches it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/commit/commit_engine.h"
#include "engine/rados/rados_key.h"
#include "engine/rados/rados_store.h"
#include "engine_fixture.h"
#include "rados_fixture.h"

static const struct partition_id items = { PARTITION_TABLES, 1 }, others = { PARTITION_TABLES, 2 };

struct world {
    struct partition_store *store;
    struct arena *arena;
};

static int set_up(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    char space[RADOS_FIXTURE_SPACE_SIZE];
    rados_fixture_new_space(space);
    world->store = rados_fixture_open(space, 0);
    world->arena = arena_create();
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    world->store->ops->close(world->store);
    arena_destroy(world->arena);
    free(world);
    return 0;
}

/* --- Short forms --- */

/* A stamp of one repeated byte, the hardest ones for a comparison among them. */
static struct partition_stamp stamp_of(uint8_t byte)
{
    struct partition_stamp stamp;
    memset(stamp.bytes, byte, sizeof stamp.bytes);
    return stamp;
}

/* A value with this stamp, the byte that has to follow, and the rest. */
static struct bytes value_of(struct arena *arena, struct partition_stamp stamp, uint8_t follows,
                             struct bytes rest)
{
    struct bytes parts[] = { bytes_of(stamp.bytes, sizeof stamp.bytes), bytes_of(&follows, 1),
                             rest };
    return arena_join(arena, parts, 3);
}

static enum partition_status write_to(struct world *world, struct partition_id partition,
                                      const struct partition_guard *guards, size_t guard_count,
                                      const struct partition_change *changes, size_t change_count)
{
    struct partition_operation write = {
        .partition = partition,
        .is_write = true,
        .guards = guards,
        .guard_count = guard_count,
        .changes = changes,
        .change_count = change_count,
    };
    world->store->ops->run(world->store, world->arena, &write, 1);
    return write.status;
}

static enum partition_status put(struct world *world, struct partition_id partition,
                                 struct bytes key, struct bytes value)
{
    struct partition_change change = { key, value };
    return write_to(world, partition, NULL, 0, &change, 1);
}

/* data NULL: absent. */
static struct bytes get(struct world *world, struct partition_id partition, struct bytes key,
                        uint64_t *version)
{
    struct bytes value = BYTES("not set by the store");
    struct partition_operation read = {
        .partition = partition,
        .keys = &key,
        .key_count = 1,
        .values = &value,
    };
    world->store->ops->run(world->store, world->arena, &read, 1);
    assert_int_equal(read.status, PARTITION_OK);
    if (version != NULL)
        *version = read.version;
    return value;
}

static struct bytes plain(struct world *world, const char *rest)
{
    return value_of(world->arena, stamp_of(1), 1, bytes_from_text(rest));
}

static void list(struct world *world, struct partition_id partition, struct partition_range *range)
{
    struct partition_operation read = {
        .partition = partition,
        .ranges = range,
        .range_count = 1,
    };
    world->store->ops->run(world->store, world->arena, &read, 1);
    assert_int_equal(read.status, PARTITION_OK);
}

/* --- Guards --- */

static void a_guard_holds_for_its_stamp_and_no_other(void **state)
{
    struct world *world = *state;
    /* Around zero, around the sign, and the ends. */
    static const uint8_t bytes[] = { 0x00, 0x01, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF };
    static const uint8_t follows[] = { 0x00, 0x01, 0x7E };
    for (size_t i = 0; i < COUNT_OF(bytes); i++)
        for (size_t f = 0; f < COUNT_OF(follows); f++) {
            struct bytes value = value_of(world->arena, stamp_of(bytes[i]), follows[f],
                                          f == 0 ? BYTES("") : BYTES("\xFF rest"));
            assert_int_equal(put(world, items, BYTES("k"), value), PARTITION_OK);
            for (size_t j = 0; j < COUNT_OF(bytes); j++) {
                struct partition_guard guard = { .key = BYTES("k"), .stamp = stamp_of(bytes[j]) };
                enum partition_status want = i == j ? PARTITION_OK : PARTITION_REFUSED;
                assert_int_equal(write_to(world, items, &guard, 1, NULL, 0), want);
                /* The same but for the last byte. */
                guard.stamp = stamp_of(bytes[i]);
                guard.stamp.bytes[PARTITION_STAMP_SIZE - 1] = bytes[j];
                assert_int_equal(write_to(world, items, &guard, 1, NULL, 0), want);
            }
        }
}

static void absence_and_presence_are_guarded(void **state)
{
    struct world *world = *state;
    struct partition_guard absent = { .key = BYTES("k"), .absent = true };
    struct partition_guard present = { .key = BYTES("k"), .stamp = stamp_of(1) };
    struct partition_change change = { BYTES("k"), plain(world, "1") };
    /* Of a partition that does not exist, of one that does, and of a key that was removed. */
    assert_int_equal(write_to(world, items, &present, 1, &change, 1), PARTITION_REFUSED);
    assert_null(get(world, items, BYTES("k"), NULL).data);
    assert_int_equal(write_to(world, items, &absent, 1, &change, 1), PARTITION_OK);
    assert_int_equal(write_to(world, items, &absent, 1, &change, 1), PARTITION_REFUSED);
    assert_int_equal(write_to(world, items, &present, 1, &change, 1), PARTITION_OK);
    assert_int_equal(put(world, items, BYTES("k"), (struct bytes){ 0 }), PARTITION_OK);
    assert_int_equal(write_to(world, items, &present, 1, &change, 1), PARTITION_REFUSED);
    assert_int_equal(write_to(world, items, &absent, 1, &change, 1), PARTITION_OK);
}

static void a_refused_write_changes_nothing(void **state)
{
    struct world *world = *state;
    assert_int_equal(put(world, items, BYTES("a"), plain(world, "old")), PARTITION_OK);
    assert_int_equal(put(world, items, BYTES("b"), plain(world, "old")), PARTITION_OK);
    struct partition_change changes[] = {
        { BYTES("a"), plain(world, "new") },
        { BYTES("b"), { 0 } },
        { BYTES("c"), plain(world, "new") },
    };
    uint64_t before, after;
    get(world, items, BYTES("a"), &before);
    for (size_t failing = 0; failing < 3; failing++) {
        struct partition_guard guards[3] = {
            { .key = BYTES("a"), .stamp = stamp_of(1) },
            { .key = BYTES("b"), .stamp = stamp_of(1) },
            { .key = BYTES("c"), .absent = true },
        };
        guards[failing] = (struct partition_guard){ .key = BYTES("z"), .stamp = stamp_of(9) };
        assert_int_equal(write_to(world, items, guards, 3, changes, 3), PARTITION_REFUSED);
    }
    assert_true(bytes_equal(get(world, items, BYTES("a"), &after), plain(world, "old")));
    assert_true(bytes_equal(get(world, items, BYTES("b"), NULL), plain(world, "old")));
    assert_null(get(world, items, BYTES("c"), NULL).data);
    assert_int_equal(before, after);
    assert_int_equal(write_to(world, items, NULL, 0, changes, 3), PARTITION_OK);
    assert_true(bytes_equal(get(world, items, BYTES("a"), NULL), plain(world, "new")));
    assert_null(get(world, items, BYTES("b"), NULL).data);
    assert_true(bytes_equal(get(world, items, BYTES("c"), NULL), plain(world, "new")));
}

static void every_change_gives_a_partition_another_version(void **state)
{
    struct world *world = *state;
    uint64_t version, last = 0;
    get(world, items, BYTES("a"), &version);
    for (int i = 0; i < 5; i++) {
        last = version;
        assert_int_equal(put(world, items, BYTES("a"), plain(world, "same")), PARTITION_OK);
        assert_int_equal(put(world, others, BYTES("a"), plain(world, "same")), PARTITION_OK);
        get(world, items, BYTES("a"), &version);
        assert_int_not_equal(version, last);
    }
    /* A read of nothing tells the version, too. */
    struct partition_operation read = { .partition = items };
    world->store->ops->run(world->store, world->arena, &read, 1);
    assert_int_equal(read.status, PARTITION_OK);
    assert_int_equal(read.version, version);
}

/* --- Keys --- */

static int compare_keys(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

static void keys_have_any_bytes_and_are_listed_in_their_order(void **state)
{
    enum { KEYS = 300, BATCH = 50 };
    struct world *world = *state;
    struct random random;
    random_init(&random, 20);
    struct bytes keys[KEYS];
    size_t count = 0;
    while (count < KEYS) {
        static const uint8_t likely[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x7F, 0x80, 0xFF };
        uint8_t *data = arena_alloc(world->arena, 8);
        size_t size = count == 0 ? 0 : (size_t)random_below(&random, 8);
        for (size_t i = 0; i < size; i++)
            data[i] = random_below(&random, 4) > 0 ? likely[random_below(&random, COUNT_OF(likely))]
                                                   : (uint8_t)random_next(&random);
        struct bytes key = bytes_of(data, size);
        bool is_new = true;
        for (size_t i = 0; i < count && is_new; i++)
            is_new = !bytes_equal(keys[i], key);
        if (is_new)
            keys[count++] = key;
    }
    for (size_t i = 0; i < KEYS; i += BATCH) {
        struct partition_change changes[BATCH];
        for (size_t j = 0; j < BATCH; j++)
            changes[j] = (struct partition_change){ keys[i + j], value_of(world->arena, stamp_of(1),
                                                                          1, keys[i + j]) };
        assert_int_equal(write_to(world, items, NULL, 0, changes, BATCH), PARTITION_OK);
    }
    qsort(keys, KEYS, sizeof *keys, compare_keys);
    for (int round = 0; round < 40; round++) {
        size_t a = (size_t)random_below(&random, KEYS), b = (size_t)random_below(&random, KEYS);
        size_t first = a < b ? a : b, last = a < b ? b : a;
        struct partition_range range = { .first = keys[first],
                                         .last = keys[last],
                                         .count_max = KEYS };
        while (first < last) {
            list(world, items, &range);
            assert_true(range.count > 0);
            for (size_t i = 0; i < range.count; i++) {
                assert_true(bytes_equal(range.entries[i].key, keys[first]));
                assert_true(bytes_equal(range.entries[i].value, value_of(world->arena, stamp_of(1),
                                                                         1, range.entries[i].key)));
                first++;
            }
            if (first < last)
                assert_true(range.more);
            range.first = keys[first];
        }
    }
}

static void keys_are_found_whatever_order_they_are_asked_in(void **state)
{
    struct world *world = *state;
    struct partition_change changes[] = {
        { BYTES("b"), plain(world, "b") },
        { BYTES(""), plain(world, "empty") },
        { BYTES("a\0"), plain(world, "a0") },
        { BYTES("a"), plain(world, "a") },
    };
    assert_int_equal(write_to(world, items, NULL, 0, changes, 4), PARTITION_OK);
    struct bytes keys[] = { BYTES("b"), BYTES("missing"), BYTES("a\0"),  BYTES(""),
                            BYTES("b"), BYTES("a"),       BYTES("a\0\0") };
    const char *want[] = { "b", NULL, "a0", "empty", "b", "a", NULL };
    struct bytes values[COUNT_OF(keys)];
    struct partition_operation reads[2] = {
        { .partition = items, .keys = keys, .key_count = COUNT_OF(keys), .values = values },
        { .partition = others },
    };
    world->store->ops->run(world->store, world->arena, reads, 2);
    assert_int_equal(reads[0].status, PARTITION_OK);
    assert_int_equal(reads[1].status, PARTITION_OK);
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        if (want[i] == NULL)
            assert_null(values[i].data);
        else
            assert_true(bytes_equal(values[i], plain(world, want[i])));
    }
}

/* --- Pages --- */

static struct bytes number_key(struct arena *arena, unsigned number)
{
    return arena_printf(arena, "%06u", number);
}

static void put_numbers(struct world *world, unsigned count, size_t size)
{
    enum { BATCH = 100 };
    char *rest = calloc(1, size + 1);
    for (unsigned i = 0; i < count; i += BATCH) {
        struct partition_change changes[BATCH];
        unsigned n = count - i < BATCH ? count - i : BATCH;
        for (unsigned j = 0; j < n; j++)
            changes[j] = (struct partition_change){
                number_key(world->arena, i + j),
                value_of(world->arena, stamp_of(1), 1, bytes_of(rest, size)),
            };
        assert_int_equal(write_to(world, items, NULL, 0, changes, n), PARTITION_OK);
    }
    free(rest);
}

static void pages_are_bounded_and_follow_each_other(void **state)
{
    enum { KEYS = 2 * RADOS_PAGE_ENTRIES_MAX + 7 };
    struct world *world = *state;
    put_numbers(world, KEYS, 10);
    for (int round = 0; round < 2; round++) {
        struct partition_range range = { .first = BYTES(""),
                                         .last = BYTES("9"),
                                         .count_max = KEYS };
        unsigned found = 0;
        do {
            list(world, items, &range);
            if (found == 0) /* Nothing is known of the partition in the first round. */
                assert_int_equal(range.count,
                                 round == 0 ? RADOS_PAGE_ENTRIES_UNKNOWN : RADOS_PAGE_ENTRIES_MAX);
            assert_true(range.count > 0 && range.count <= RADOS_PAGE_ENTRIES_MAX);
            for (size_t i = 0; i < range.count; i++)
                assert_true(bytes_equal(range.entries[i].key, number_key(world->arena, found++)));
            range.first = number_key(world->arena, found);
        } while (range.more);
        assert_int_equal(found, KEYS);
    }
    /* The caller's own bounds. */
    struct partition_range few = { .first = BYTES(""), .last = BYTES("9"), .count_max = 3 };
    list(world, items, &few);
    assert_int_equal(few.count, 3);
    assert_true(few.more);
    few.count_max = 100;
    few.bytes_max = 34; /* The second entry, of 33 bytes, reaches it. */
    list(world, items, &few);
    assert_int_equal(few.count, 2);
    assert_true(few.more);
}

static void a_page_of_large_values_is_small(void **state)
{
    struct world *world = *state;
    put_numbers(world, 40, 300 * 1024);
    struct partition_range range = { .first = BYTES(""), .last = BYTES("9"), .count_max = 1000 };
    list(world, items, &range);
    assert_int_equal(range.count, RADOS_PAGE_ENTRIES_UNKNOWN);
    list(world, items, &range);
    assert_in_range(range.count, 1, RADOS_PAGE_SIZE / (300 * 1024) + 1);
    assert_true(range.more);
}

static void ranges_and_keys_of_one_read_are_of_one_moment(void **state)
{
    struct world *world = *state;
    put_numbers(world, 10, 1);
    struct bytes key = BYTES("000004"), value;
    struct partition_range ranges[] = {
        { .first = BYTES("000002"), .last = BYTES("000005"), .count_max = 10 },
        { .first = BYTES("000009"), .last = BYTES("1"), .count_max = 10 },
        { .first = BYTES("5"), .last = BYTES("6"), .count_max = 10 },
        { .first = BYTES("000005"), .last = BYTES("000002"), .count_max = 10 },
    };
    struct partition_operation read = {
        .partition = items,
        .keys = &key,
        .key_count = 1,
        .values = &value,
        .ranges = ranges,
        .range_count = COUNT_OF(ranges),
    };
    world->store->ops->run(world->store, world->arena, &read, 1);
    assert_int_equal(read.status, PARTITION_OK);
    static const size_t want[] = { 3, 1, 0, 0 };
    for (size_t i = 0; i < COUNT_OF(ranges); i++) {
        assert_int_equal(ranges[i].count, want[i]);
        assert_false(ranges[i].more);
    }
    assert_non_null(value.data);
    /* Of a partition without an object. */
    read.partition = others;
    world->store->ops->run(world->store, world->arena, &read, 1);
    assert_int_equal(read.status, PARTITION_OK);
    assert_int_equal(read.version, 0);
    assert_int_equal(ranges[0].count, 0);
    assert_null(value.data);
}

/* --- Limits --- */

static void a_write_of_the_largest_size_is_taken_and_a_larger_one_is_not(void **state)
{
    struct world *world = *state;
    struct bytes key = BYTES("k");
    size_t size = RADOS_WRITE_SIZE_MAX - key.len;
    uint8_t *data = calloc(1, size + 1);
    data[0] = 1;
    assert_int_equal(put(world, items, key, bytes_of(data, size)), PARTITION_OK);
    assert_true(bytes_equal(get(world, items, key, NULL), bytes_of(data, size)));
    assert_int_equal(put(world, items, key, bytes_of(data, size + 1)), PARTITION_FAILED);
    assert_true(bytes_equal(get(world, items, key, NULL), bytes_of(data, size)));
    free(data);
}

static void a_write_of_the_most_changes_is_taken_and_a_larger_one_is_not(void **state)
{
    enum { MOST = RADOS_CHANGES_MAX };
    struct world *world = *state;
    struct partition_change *changes = calloc(MOST + 1, sizeof *changes);
    struct partition_guard *guards = calloc(2 * MOST, sizeof *guards);
    for (unsigned i = 0; i <= MOST; i++)
        changes[i] = (struct partition_change){ number_key(world->arena, i), plain(world, "1") };
    for (unsigned i = 0; i < 2 * MOST; i++)
        guards[i] = (struct partition_guard){ number_key(world->arena, i), .absent = true };
    assert_int_equal(write_to(world, items, NULL, 0, changes, MOST + 1), PARTITION_FAILED);
    assert_null(get(world, items, changes[0].key, NULL).data);
    assert_int_equal(write_to(world, items, guards, 2 * MOST, changes, MOST), PARTITION_OK);
    assert_non_null(get(world, items, changes[MOST - 1].key, NULL).data);
    for (unsigned i = 0; i < MOST; i++) /* As they were written. */
        guards[i] = (struct partition_guard){ changes[i].key, .stamp = stamp_of(1) };
    assert_int_equal(write_to(world, items, guards, 2 * MOST, changes, MOST), PARTITION_OK);
    guards[MOST - 1].stamp = stamp_of(2);
    assert_int_equal(write_to(world, items, guards, 2 * MOST, changes, MOST), PARTITION_REFUSED);
    free(guards);
    free(changes);
}

static void a_write_of_the_most_guards_is_taken_and_a_larger_one_is_not(void **state)
{
    /* Each is two comparisons, and there are at most three other parts. */
    enum { MOST = (RADOS_WRITE_PARTS_MAX - 3) / 2 };
    struct world *world = *state;
    struct partition_guard *guards = calloc(MOST + 1, sizeof *guards);
    struct partition_change change = { BYTES("k"), plain(world, "1") };
    assert_int_equal(put(world, items, BYTES("k"), plain(world, "1")), PARTITION_OK);
    for (size_t i = 0; i <= MOST; i++)
        guards[i] = (struct partition_guard){ .key = BYTES("k"), .stamp = stamp_of(1) };
    assert_int_equal(write_to(world, items, guards, MOST, &change, 1), PARTITION_OK);
    assert_int_equal(write_to(world, items, guards, MOST + 1, &change, 1), PARTITION_FAILED);
    guards[MOST - 1].stamp = stamp_of(2);
    assert_int_equal(write_to(world, items, guards, MOST, &change, 1), PARTITION_REFUSED);
    free(guards);
}

/* --- Side by side, and the list --- */

static void operations_of_one_call_are_answered_each(void **state)
{
    enum { COUNT = 2 * RADOS_OPERATIONS_AT_ONCE + 5 };
    struct world *world = *state;
    struct partition_operation *operations = calloc(COUNT, sizeof *operations);
    struct partition_change change = { BYTES("k"), plain(world, "1") };
    struct partition_guard refusing = { .key = BYTES("z"), .stamp = stamp_of(1) };
    for (size_t i = 0; i < COUNT; i++)
        operations[i] = (struct partition_operation){
            .partition = { i % 3 == 0 ? PARTITION_SYSTEM : PARTITION_TABLES, i },
            .is_write = true,
            .guards = &refusing,
            .guard_count = i % 5 == 0,
            .changes = &change,
            .change_count = 1,
        };
    world->store->ops->run(world->store, world->arena, operations, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(operations[i].status, i % 5 == 0 ? PARTITION_REFUSED : PARTITION_OK);
        assert_int_equal(get(world, operations[i].partition, BYTES("k"), NULL).data == NULL,
                         i % 5 == 0);
    }
    /* All are listed, in the order of kind and number, whether or not the write held. */
    struct partition_id id = { 0 }, next;
    size_t found = 0;
    while (world->store->ops->next_partition(world->store, found == 0 ? NULL : &id, &next) ==
           PARTITION_OK) {
        assert_true(found == 0 || partition_id_compare(&id, &next) < 0);
        id = next;
        found++;
    }
    assert_int_equal(found, COUNT);
    free(operations);
}

static void
the_first_write_to_a_partition_lists_it_and_the_next_ones_are_one_operation(void **state)
{
    struct world *world = *state;
    struct partition_id next;
    assert_int_equal(world->store->ops->next_partition(world->store, NULL, &next),
                     PARTITION_REFUSED);
    struct rados_counts before = rados_store_counts(world->store);
    assert_int_equal(put(world, items, BYTES("k"), plain(world, "1")), PARTITION_OK);
    struct rados_counts first = rados_store_counts(world->store);
    assert_int_equal(first.writes - before.writes, 3); /* No object; listed; created. */
    assert_int_equal(put(world, items, BYTES("k"), plain(world, "2")), PARTITION_OK);
    assert_int_equal(rados_store_counts(world->store).writes - first.writes, 1);
    assert_int_equal(world->store->ops->next_partition(world->store, NULL, &next), PARTITION_OK);
    assert_int_equal(partition_id_compare(&next, &items), 0);
    struct partition_id largest = { PARTITION_TABLES, UINT64_MAX };
    assert_int_equal(put(world, largest, BYTES("k"), plain(world, "1")), PARTITION_OK);
    assert_int_equal(world->store->ops->next_partition(world->store, &items, &next), PARTITION_OK);
    assert_int_equal(partition_id_compare(&next, &largest), 0);
    assert_int_equal(world->store->ops->next_partition(world->store, &largest, &next),
                     PARTITION_REFUSED);
}

/* Through engine/commit/: what a PutItem and a strong GetItem cost. */
static void a_put_is_one_write_and_a_strong_read_one_read(void **state)
{
    (void)state;
    static const struct engine_place place = { 7, 1, ENGINE_SPACE_ITEMS };
    char space[RADOS_FIXTURE_SPACE_SIZE], message[ENGINE_MESSAGE_MAX];
    rados_fixture_new_space(space);
    struct partition_store *store = rados_fixture_open(space, 0);
    struct engine *engine = commit_engine_create(store, &commit_time_system, 1, message);
    assert_non_null(engine);
    engine_fixture_put(engine, place, BYTES("a"), BYTES("1"));
    struct rados_counts before = rados_store_counts(store);
    engine_fixture_put(engine, place, BYTES("a"), BYTES("2"));
    engine_fixture_put(engine, place, BYTES("b"), BYTES("2"));
    struct rados_counts after = rados_store_counts(store);
    assert_int_equal(after.writes - before.writes, 2);
    assert_int_equal(after.reads - before.reads, 0);
    assert_true(engine_fixture_has(engine, place, BYTES("a"), BYTES("2")));
    assert_int_equal(rados_store_counts(store).writes - after.writes, 0);
    assert_int_equal(rados_store_counts(store).reads - after.reads, 1);
    engine_close(engine);
}

static void stores_of_two_spaces_do_not_meet(void **state)
{
    struct world *world = *state, other;
    char space[RADOS_FIXTURE_SPACE_SIZE];
    rados_fixture_new_space(space);
    other = (struct world){ rados_fixture_open(space, 0), world->arena };
    struct partition_store *same = rados_fixture_open(space, 0);
    assert_int_equal(put(&other, items, BYTES("k"), plain(world, "1")), PARTITION_OK);
    assert_null(get(world, items, BYTES("k"), NULL).data);
    struct world again = { same, world->arena };
    assert_non_null(get(&again, items, BYTES("k"), NULL).data);
    same->ops->close(same);
    other.store->ops->close(other.store);
}

/* --- Opening --- */

static void what_cannot_be_opened_is_refused_with_a_sentence(void **state)
{
    (void)state;
    char message[RADOS_MESSAGE_MAX], want[2 * RADOS_MESSAGE_MAX],
        long_name[RADOS_NAME_SIZE_MAX + 2];
    struct rados_options options = rados_fixture_options("x");
    options.pool = "no-such-pool";
    assert_null(rados_store_open(&options, message));
    assert_string_equal(message, "cannot open the pool no-such-pool: No such file or directory");
    options = rados_fixture_options("x");
    options.conf = "/nonexistent/ceph.conf";
    assert_null(rados_store_open(&options, message));
    assert_string_equal(message, "cannot read the Ceph configuration /nonexistent/ceph.conf: No "
                                 "such file or directory");
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    options = rados_fixture_options("x");
    options.pool = long_name;
    assert_null(rados_store_open(&options, message));
    snprintf(want, sizeof want, "a name of a pool, user or namespace has 1 to %d bytes",
             RADOS_NAME_SIZE_MAX);
    assert_string_equal(message, want);
    options.pool = long_name + 1; /* One byte less: it just does not exist. */
    assert_null(rados_store_open(&options, message));
    snprintf(want, sizeof want, "cannot open the pool %s: No such file or directory", options.pool);
    assert_string_equal(message, want);
}

static void a_store_of_another_version_is_refused(void **state)
{
    (void)state;
    char message[RADOS_MESSAGE_MAX], want[2 * RADOS_MESSAGE_MAX], space[RADOS_FIXTURE_SPACE_SIZE];
    rados_fixture_new_space(space);
    struct rados_options options = rados_fixture_options(space);
    snprintf(want, sizeof want,
             "what the pool %s holds was not written by this version of stator: use another pool, "
             "or the version that wrote it",
             options.pool);
    static const struct bytes formats[] = { BYTES("stator rados 2\n"), BYTES("stator rados 1"),
                                            BYTES("stator rados 1\n\n") };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        rados_fixture_tool(space, "put format -", formats[i]);
        assert_null(rados_store_open(&options, message));
        assert_string_equal(message, want);
    }
}

/* Stores bytes that no version has stored, past the store. */
static void what_cannot_be_read_is_reported(void **state)
{
    static const struct {
        const char *key; /* For the shell. */
        struct bytes value;
    } cases[] = {
        { "\"$(printf 'k\\001')\"", BYTES("0123456789abcdef\1\2") }, /* Another place. */
        { "\"$(printf 'k\\001')\"", BYTES("0123456789abcde\1\1") },  /* No whole stamp. */
        { "\"$(printf 'k\\001')\"", BYTES("1") },
        { "k", BYTES("0123456789abcdef\1\1") }, /* No end of the key. */
    };
    char space[RADOS_FIXTURE_SPACE_SIZE];
    struct world *world = *state;
    rados_fixture_new_space(space);
    struct world other = { rados_fixture_open(space, 0), world->arena };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct partition_id partition = { PARTITION_TABLES, i };
        char words[256], object[RADOS_OBJECT_NAME_MAX + 1];
        rados_key_format_object(&partition, object);
        assert_int_equal(put(&other, partition, BYTES("fine"), plain(world, "1")), PARTITION_OK);
        snprintf(words, sizeof words, "setomapval %s %s", object, cases[i].key);
        rados_fixture_tool(space, words, cases[i].value);
        struct partition_range range = { .first = BYTES("a"), .last = BYTES("z"), .count_max = 9 };
        struct bytes key = BYTES("k"), value;
        struct partition_operation reads[2] = {
            { .partition = partition, .ranges = &range, .range_count = 1 },
            { .partition = partition, .keys = &key, .key_count = 1, .values = &value },
        };
        other.store->ops->run(other.store, world->arena, reads, 2);
        assert_int_equal(reads[0].status, PARTITION_CORRUPT);
        /* A key without an end is none that anybody asks for. */
        assert_int_equal(reads[1].status,
                         cases[i].key[0] == 'k' ? PARTITION_OK : PARTITION_CORRUPT);
    }
    struct partition_id next;
    rados_fixture_tool(space, "setomapval partitions 0", BYTES("1"));
    assert_int_equal(other.store->ops->next_partition(other.store, NULL, &next), PARTITION_CORRUPT);
    other.store->ops->close(other.store);
}

static void who_may_not_use_the_pool_is_refused_with_a_sentence(void **state)
{
    (void)state;
    char message[RADOS_MESSAGE_MAX], want[2 * RADOS_MESSAGE_MAX], space[RADOS_FIXTURE_SPACE_SIZE];
    static const struct {
        const char *user, *why;
    } cases[] = {
        { "stranger", "Permission denied" },       /* A key that the cluster does not know. */
        { "nobody", "No such file or directory" }, /* There is no keyring. */
    };
    struct rados_options options = rados_fixture_options("x");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        options.user = cases[i].user;
        assert_null(rados_store_open(&options, message));
        snprintf(want, sizeof want, "cannot connect to the Ceph cluster of %s as client.%s: %s",
                 options.conf, cases[i].user, cases[i].why);
        assert_string_equal(message, want);
    }
    /* Who may read cannot make a store. */
    rados_fixture_new_space(space);
    options = rados_fixture_options(space);
    options.user = "reader";
    assert_null(rados_store_open(&options, message));
    snprintf(want, sizeof want, "cannot use the pool %s: Operation not permitted", options.pool);
    assert_string_equal(message, want);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(a_guard_holds_for_its_stamp_and_no_other),
        IN_A_WORLD(absence_and_presence_are_guarded),
        IN_A_WORLD(a_refused_write_changes_nothing),
        IN_A_WORLD(every_change_gives_a_partition_another_version),
        IN_A_WORLD(keys_have_any_bytes_and_are_listed_in_their_order),
        IN_A_WORLD(keys_are_found_whatever_order_they_are_asked_in),
        IN_A_WORLD(pages_are_bounded_and_follow_each_other),
        IN_A_WORLD(a_page_of_large_values_is_small),
        IN_A_WORLD(ranges_and_keys_of_one_read_are_of_one_moment),
        IN_A_WORLD(a_write_of_the_largest_size_is_taken_and_a_larger_one_is_not),
        IN_A_WORLD(a_write_of_the_most_changes_is_taken_and_a_larger_one_is_not),
        IN_A_WORLD(a_write_of_the_most_guards_is_taken_and_a_larger_one_is_not),
        IN_A_WORLD(operations_of_one_call_are_answered_each),
        IN_A_WORLD(the_first_write_to_a_partition_lists_it_and_the_next_ones_are_one_operation),
        cmocka_unit_test(a_put_is_one_write_and_a_strong_read_one_read),
        IN_A_WORLD(stores_of_two_spaces_do_not_meet),
        cmocka_unit_test(what_cannot_be_opened_is_refused_with_a_sentence),
        cmocka_unit_test(a_store_of_another_version_is_refused),
        IN_A_WORLD(what_cannot_be_read_is_reported),
        cmocka_unit_test(who_may_not_use_the_pool_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
