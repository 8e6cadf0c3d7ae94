/* Which settings of a global table follow those of another member, and which stay. */
#include "control/replica_settings.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/table_definition.h"
#include "replica/replica_join.h"
#include "table_fixture.h"

static struct replica_member own_member(void)
{
    return (struct replica_member){ .region = BYTES("us-east-1"),
                                    .override = { .read_units = UNITS_UNSET,
                                                  .on_demand_read_max = UNITS_UNSET } };
}

static struct table_definition member_table(struct arena *arena)
{
    struct table_definition table = table_fixture_draft(arena, BYTES("orders"));
    table.replicas =
        (struct replica_definition){ .group_id = BYTES("00000000-0000-0000-0000-000000000000"),
                                     .epoch = 1,
                                     .coordinator = BYTES("us-east-1"),
                                     .own = own_member() };
    return table;
}

static void capacity_and_class_follow_and_the_rest_stays(void **state)
{
    struct arena *arena = *state;
    struct table_definition own = member_table(arena), said = member_table(arena);
    own.deletion_protected = true;
    own.recovery_days = 7;
    said.billing_mode = BILLING_PROVISIONED;
    said.throughput = (struct throughput){ .read_units = 5, .write_units = 6 };
    said.warm_throughput = (struct unit_pair){ 100, 200 };
    said.table_class = TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    said.table_class_given = true;
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_int_equal(own.billing_mode, BILLING_PROVISIONED);
    assert_int_equal(own.throughput.read_units, 5);
    assert_int_equal(own.throughput.write_units, 6);
    assert_int_equal(own.warm_throughput.write_units, 200);
    assert_int_equal(own.table_class, TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
    assert_true(own.deletion_protected);
    assert_int_equal(own.recovery_days, 7);
}

static void an_override_stands_against_what_follows(void **state)
{
    struct arena *arena = *state;
    struct table_definition own = member_table(arena), said = member_table(arena);
    own.replicas.own.override.read_units = 50;
    own.replicas.own.table_class_given = true;
    own.replicas.own.table_class = TABLE_CLASS_STANDARD;
    said.billing_mode = BILLING_PROVISIONED;
    said.throughput = (struct throughput){ .read_units = 5, .write_units = 6 };
    said.table_class = TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_int_equal(own.throughput.read_units, 50);
    assert_int_equal(own.throughput.write_units, 6);
    assert_int_equal(own.table_class, TABLE_CLASS_STANDARD);
}

static void indexes_are_added_and_removed(void **state)
{
    struct arena *arena = *state;
    struct table_definition own = member_table(arena), said = member_table(arena);
    table_fixture_add_index(arena, &said, INDEX_BACKFILLING);
    assert_true(replica_settings_follow(arena, &own, &said, 77));
    assert_int_equal(own.index_count, 1);
    assert_int_equal(own.indexes[0].status, INDEX_ALLOCATING);
    assert_int_equal(own.indexes[0].id, 0);
    assert_int_equal(own.indexes[0].created_ms, 77);
    assert_non_null(table_definition_attribute(&own, BYTES("g")));
    said.indexes[0].status = INDEX_DELETING;
    assert_false(replica_settings_follow(arena, &own, &said, 78)); /* It is not there yet. */
    own.indexes[0].status = INDEX_ACTIVE;
    assert_true(replica_settings_follow(arena, &own, &said, 79));
    assert_int_equal(own.indexes[0].status, INDEX_DELETING);
    said.indexes[0].status = INDEX_ACTIVE;
    assert_false(replica_settings_follow(arena, &own, &said, 80)); /* It is still there. */
    assert_int_equal(own.index_count, 1);
}

static void time_to_live_follows_step_by_step(void **state)
{
    struct arena *arena = *state;
    struct table_definition own = member_table(arena), said = member_table(arena);
    said.expiry = (struct expiry_definition){ .status = EXPIRY_ACTIVE, .attribute = BYTES("ttl") };
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_int_equal(own.expiry.status, EXPIRY_ALLOCATING);
    assert_true(bytes_equal_text(own.expiry.attribute, "ttl"));
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_int_equal(own.expiry.status, EXPIRY_ALLOCATING);
    said.expiry.attribute = BYTES("other");
    assert_false(replica_settings_follow(arena, &own, &said, 1));
    own.expiry.status = EXPIRY_ACTIVE;
    assert_false(replica_settings_follow(arena, &own, &said, 1)); /* Two steps. */
    assert_int_equal(own.expiry.status, EXPIRY_REMOVING);
    own.expiry = (struct expiry_definition){ 0 };
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_true(bytes_equal_text(own.expiry.attribute, "other"));
    said.expiry = (struct expiry_definition){ 0 };
    own.expiry.status = EXPIRY_ACTIVE;
    assert_true(replica_settings_follow(arena, &own, &said, 1));
    assert_int_equal(own.expiry.status, EXPIRY_REMOVING);
}

/* --- What results can be stored --- */

enum { TURNS_MAX = 300, INDEX_NAMES = GLOBAL_INDEXES_MAX + 10 };

static uint32_t random_below(uint32_t *seed, uint32_t bound)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % bound;
}

static void add_index(struct arena *arena, struct table_definition *table, uint32_t number)
{
    struct index_definition *index = &table->indexes[table->index_count];
    struct bytes name = arena_printf(arena, "index%u", number);
    if (table_definition_index(table, name) != NULL)
        return;
    *index = (struct index_definition){ .name = name,
                                        .global = true,
                                        .hash = { table->key.hash },
                                        .hash_count = 1,
                                        .projection = PROJECTION_KEYS_ONLY,
                                        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                        .warm_throughput = { UNITS_UNSET, UNITS_UNSET } };
    table->index_count++;
}

/* Settings in any state that a table may be in. */
static struct table_definition any_table(struct arena *arena, uint32_t *seed)
{
    struct table_definition table = member_table(arena);
    table.hash = TABLE_HASH_MD5;
    table.indexes = arena_alloc_zeroed(arena, INDEXES_MAX * sizeof *table.indexes);
    for (uint32_t i = random_below(seed, GLOBAL_INDEXES_MAX + 1); i > 0; i--) {
        add_index(arena, &table, random_below(seed, INDEX_NAMES));
        table.indexes[table.index_count - 1].status = random_below(seed, INDEX_STATUS_COUNT);
    }
    for (uint32_t i = random_below(seed, 6); i > 0; i--)
        table_definition_turn_on_demand(&table, 1700000000000 - i);
    table.expiry.status = random_below(seed, EXPIRY_STATUS_COUNT);
    if (table.expiry.status != EXPIRY_NONE)
        table.expiry.attribute = random_below(seed, 2) ? BYTES("ttl") : BYTES("other");
    table.billing_mode = random_below(seed, 2) ? BILLING_PROVISIONED : BILLING_PAY_PER_REQUEST;
    table.throughput = (struct throughput){ .read_units = 5, .write_units = 6 };
    table.encryption_given = random_below(seed, 2);
    table.table_class_given = random_below(seed, 2);
    if (random_below(seed, 2))
        table.replicas.own.override.read_units = table.replicas.own.override.on_demand_read_max = 9;
    return table;
}

/* As the catalogue gives them. */
static void assert_decodes(struct arena *arena, struct table_definition *table)
{
    static struct partition partition = { .id = 3 };
    struct table_definition decoded;
    table->id = 1;
    table->partitions = &partition;
    table->partition_count = 1;
    for (size_t i = 0; i < table->index_count; i++) {
        table->indexes[i].id = i + 10;
        table->indexes[i].partitions = &partition;
        table->indexes[i].partition_count = 1;
    }
    struct item record = table_definition_encode(arena, table);
    assert_true(table_definition_decode(arena, &record, &decoded));
    for (size_t i = 0; i < ON_DEMAND_TURNS_MAX; i++)
        assert_int_equal(decoded.on_demand_turns_ms[i], table->on_demand_turns_ms[i]);
}

static void what_follows_or_joins_any_definition_can_be_stored(void **state)
{
    struct arena *arena = *state;
    uint32_t seed = 1;
    int completed = 0;
    for (int turn = 0; turn < TURNS_MAX; turn++) {
        struct table_definition own = any_table(arena, &seed), said = any_table(arena, &seed);
        assert_decodes(arena, &own);
        assert_decodes(arena, &said);
        bool complete = replica_settings_follow(arena, &own, &said, 77);
        completed += complete;
        assert_decodes(arena, &own);
        assert_int_equal(own.on_demand_turns_ms[0], said.on_demand_since_ms);
        struct table_definition draft = replica_join_draft(arena, &said, &said.replicas);
        replica_settings_apply_overrides(&draft);
        assert_decodes(arena, &draft);
    }
    assert_true(completed > 0 && completed < TURNS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(capacity_and_class_follow_and_the_rest_stays),
        ARENA_TEST(an_override_stands_against_what_follows),
        ARENA_TEST(indexes_are_added_and_removed),
        ARENA_TEST(time_to_live_follows_step_by_step),
        ARENA_TEST(what_follows_or_joins_any_definition_can_be_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
