/* test_replica_links.c -- what is known of links, and the queues of regions that are gone. */
#include "replica/replicas.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "model/table_definition.h"
#include "replica/replica_internal.h"
#include "replica/replica_rows.h"
#include "table_fixture.h"

static const struct replica_peer peers[] = { { .region = BYTES("b") }, { .region = BYTES("c") } };

static struct replicas *create(void)
{
    const struct replicas_options options = { .region = BYTES("a"),
                                              .peers = peers,
                                              .peer_count = COUNT_OF(peers) };
    return replicas_create(&options);
}

static struct replica_member member(const char *region, enum replica_status status)
{
    return (struct replica_member){ .region = bytes_from_text(region),
                                    .id = replica_region_id(bytes_from_text(region)),
                                    .status = status,
                                    .is_noted = true };
}

/* Of this region, a, and the regions b and c. */
static struct table_definition table_of_three(struct arena *arena, const char *group_id)
{
    struct table_definition table = table_fixture_draft(arena, BYTES("Tab"));
    struct replica_definition *group = &table.replicas;
    group->group_id = bytes_from_text(group_id);
    group->epoch = 7;
    group->coordinator = BYTES("a");
    group->own = member("a", REPLICA_ACTIVE);
    group->count = 2;
    group->members = arena_alloc(arena, 2 * sizeof *group->members);
    group->members[0] = member("b", REPLICA_ACTIVE);
    group->members[1] = member("c", REPLICA_ACTIVE);
    return table;
}

#define GROUP "01234567-89ab-cdef-0123-456789abcdef"

static struct replica_link *link_of(struct replicas *replicas, size_t peer,
                                    const struct table_definition *table)
{
    return replica_link_find_locked(&replicas->peers[peer], &table->replicas);
}

static void links_of_tables_that_are_gone_make_room_for_others(void **state)
{
    struct arena *arena = *state;
    struct replicas *replicas = create();
    struct replica_peer_state *peer = &replicas->peers[0];
    struct table_definition table = table_of_three(arena, GROUP);
    for (int i = 0; i < REPLICA_LINKS_MAX; i++) {
        char id[REPLICA_ID_SIZE + 1];
        snprintf(id, sizeof id, "%036d", i);
        struct table_definition other = table;
        other.replicas.group_id = bytes_from_text(id);
        assert_non_null(link_of(replicas, 0, &other));
    }
    assert_null(link_of(replicas, 0, &table));
    peer->round++; /* One that has begun may not have come to them yet. */
    replica_links_drop_locked(peer);
    assert_null(link_of(replicas, 0, &table));
    peer->round++;
    replica_links_drop_locked(peer);
    assert_int_equal(peer->link_count, 0);
    assert_non_null(link_of(replicas, 0, &table));
    replica_links_drop_locked(peer);
    assert_int_equal(peer->link_count, 1);
    replicas_destroy(replicas);
}

/* Otherwise an item that was renewed in a region that is lost could expire before the regions that
 * know of the renewal have sent it on. */
static void nothing_is_complete_until_all_have_spoken_in_the_newest_epoch(void **state)
{
    struct replicas *replicas = create();
    struct table_definition table = table_of_three(*state, GROUP);
    struct replica_link *b = link_of(replicas, 0, &table), *c = link_of(replicas, 1, &table);
    b->received_us = 300;
    c->received_us = 200;
    b->low_epoch = c->low_epoch = 7;
    assert_int_equal(replicas_complete_us(replicas, &table), 200);
    c->low_epoch = 6;
    assert_int_equal(replicas_complete_us(replicas, &table), 0);
    c->low_epoch = 7;
    table.replicas.members[1].status = REPLICA_CREATING; /* It has written nothing. */
    assert_int_equal(replicas_complete_us(replicas, &table), 300);
    table.replicas.members[1].status = REPLICA_DELETING;
    assert_int_equal(replicas_complete_us(replicas, &table), 0);
    replicas_destroy(replicas);
}

static void put_entry(struct arena *arena, struct engine *engine,
                      const struct table_definition *table, uint64_t partition, uint32_t region)
{
    const struct engine_address item = {
        .place = { .owner = table->id, .partition = partition, .space = ENGINE_SPACE_ITEMS },
        .key = BYTES("12345678key")
    };
    struct engine_address entry = replica_queue_address(arena, &item, region);
    engine_fixture_put(engine, entry.place, entry.key, replica_queue_encode(arena, 5));
}

static bool has_entry(struct arena *arena, struct engine *engine,
                      const struct table_definition *table, uint64_t partition, uint32_t region)
{
    const struct engine_address item = {
        .place = { .owner = table->id, .partition = partition, .space = ENGINE_SPACE_ITEMS },
        .key = BYTES("12345678key")
    };
    struct engine_address entry = replica_queue_address(arena, &item, region);
    return engine_fixture_has(engine, entry.place, entry.key, replica_queue_encode(arena, 5));
}

static void what_waits_for_regions_that_were_taken_out_is_removed(void **state)
{
    struct arena *arena = *state;
    struct engine_fixture fixture;
    struct table_definition table = table_of_three(arena, GROUP);
    struct partition partitions[] = { { .id = 11 }, { .id = 12 } };
    uint32_t own[] = { table.replicas.members[0].id, table.replicas.members[1].id };
    static const uint32_t gone[] = { 1, 77, UINT32_MAX };
    bool found;
    table.id = 3;
    table.partitions = partitions;
    table.partition_count = COUNT_OF(partitions);
    engine_fixture_open(&fixture, ENGINE_FIXTURE_FORWARD);
    for (size_t i = 0; i < COUNT_OF(partitions); i++)
        for (size_t j = 0; j < COUNT_OF(own); j++)
            put_entry(arena, fixture.engine, &table, partitions[i].id, own[j]);
    assert_int_equal(replica_rows_find_strangers(arena, fixture.engine, &table, &found), ENGINE_OK);
    assert_false(found);
    for (size_t j = 0; j < COUNT_OF(gone); j++)
        put_entry(arena, fixture.engine, &table, 12, gone[j]);
    assert_int_equal(replica_rows_find_strangers(arena, fixture.engine, &table, &found), ENGINE_OK);
    assert_true(found);
    assert_int_equal(replica_rows_remove_strangers(arena, fixture.engine, &table), ENGINE_OK);
    for (size_t j = 0; j < COUNT_OF(gone); j++)
        assert_false(has_entry(arena, fixture.engine, &table, 12, gone[j]));
    for (size_t i = 0; i < COUNT_OF(partitions); i++)
        for (size_t j = 0; j < COUNT_OF(own); j++)
            assert_true(has_entry(arena, fixture.engine, &table, partitions[i].id, own[j]));
    engine_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(links_of_tables_that_are_gone_make_room_for_others),
        ARENA_TEST(nothing_is_complete_until_all_have_spoken_in_the_newest_epoch),
        ARENA_TEST(what_waits_for_regions_that_were_taken_out_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
