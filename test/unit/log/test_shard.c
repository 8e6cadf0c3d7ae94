/* test_shard.c -- shards as they are stored. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "log/shard.h"
#include "reference_engine.h"

static struct engine_entry stored_shard(struct arena *arena, const struct shard *shard)
{
    struct engine *engine = reference_engine_create();
    struct engine_write *write;
    struct engine_view *view;
    struct engine_value value = { 0 };
    struct engine_address address = shard_address(arena, 9, shard->partition, shard->first);
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
    shard_put(arena, write, 9, shard);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(engine_view_open(engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    struct engine_entry entry = { .key = address.key, .value = arena_copy(arena, value.bytes) };
    engine_value_release(&value);
    engine_view_close(view);
    engine_close(engine);
    return entry;
}

static const struct shard closed_shard = { .partition = 3,
                                           .first = 5,
                                           .last = 9,
                                           .kept = 7,
                                           .created_ms = 100,
                                           .parent_created_ms = 50,
                                           .parent_partition = 3,
                                           .closed_ms = 200,
                                           .closed_server_ms = 250 };

static void comes_back(struct arena *arena, const struct shard *shard, uint8_t format)
{
    struct shard got;
    struct engine_entry entry = stored_shard(arena, shard);
    assert_int_equal(entry.value.data[0], format);
    assert_true(shard_open_entry(shard->partition, &entry, &got));
    assert_memory_equal(&got, shard, sizeof got);
    for (size_t i = 0; i < entry.value.len; i++) {
        uint8_t *damaged = (uint8_t *)arena_copy(arena, entry.value).data;
        damaged[i] ^= 1;
        struct engine_entry other = { .key = entry.key,
                                      .value = bytes_of(damaged, entry.value.len) };
        assert_false(shard_open_entry(3, &other, &got));
        other.value = bytes_of(entry.value.data, i);
        assert_false(shard_open_entry(3, &other, &got));
    }
}

static void a_shard_comes_back_as_it_was(void **state)
{
    struct shard shard = closed_shard;
    comes_back(*state, &shard, 2);
    shard.parent_partition = 2;
    comes_back(*state, &shard, 3);
    shard.parent_created_ms = 0;
    shard.parent_partition = 0;
    comes_back(*state, &shard, 2);
}

/* Only a shard whose parent is in another partition says where the parent is. */
static void a_parent_in_the_shards_own_partition_is_not_named(void **state)
{
    enum { PARENT_PARTITION_AT = 53 };
    struct shard shard = closed_shard, got;
    shard.parent_partition = 2;
    struct engine_entry entry = stored_shard(*state, &shard);
    uint8_t *bytes = (uint8_t *)arena_copy(*state, entry.value).data;
    for (uint64_t partition = 0; partition < 5; partition++) {
        store_u64_le(bytes + PARENT_PARTITION_AT, partition);
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, entry.value.len - 5)));
        struct engine_entry other = { .key = entry.key, .value = bytes_of(bytes, entry.value.len) };
        assert_int_equal(shard_open_entry(3, &other, &got), partition != 0 && partition != 3);
    }
}

static void an_impossible_shard_is_refused(void **state)
{
    enum { LAST_AT = 5, KEPT_AT = 13 };
    static const struct {
        uint64_t last, kept;
        bool accepted;
    } cases[] = {
        { 0, 6, true },   { 0, 100, true }, { 5, 6, true },  { 9, 10, true },
        { 9, 11, false }, { 4, 6, false },  { 9, 5, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct shard got;
        struct engine_entry entry = stored_shard(*state, &closed_shard);
        uint8_t *bytes = (uint8_t *)arena_copy(*state, entry.value).data;
        store_u64_le(bytes + LAST_AT, cases[i].last);
        store_u64_le(bytes + KEPT_AT, cases[i].kept);
        store_u32_le(bytes + 1, crc32c(bytes_of(bytes + LAST_AT, entry.value.len - LAST_AT)));
        entry.value = bytes_of(bytes, entry.value.len);
        assert_int_equal(shard_open_entry(3, &entry, &got), cases[i].accepted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_shard_comes_back_as_it_was),
        ARENA_TEST(a_parent_in_the_shards_own_partition_is_not_named),
        ARENA_TEST(an_impossible_shard_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
