/* test_replica_group.c -- how members of a group come and go, whose epoch wins, and the bytes of
 * stamps and queues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "replica/replica_group.h"
#include "table/replica_stamp.h"

#define GROUP "01234567-89ab-cdef-0123-456789abcdef"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static struct replica_member member(const char *region, enum replica_status status)
{
    return (struct replica_member){ .region = bytes_from_text(region),
                                    .id = replica_region_id(bytes_from_text(region)),
                                    .status = status,
                                    .added_ms = 5,
                                    .is_noted = true,
                                    .override = { .read_units = -1, .on_demand_read_max = -1 } };
}

/* Of this region, a, and the regions b and c. */
static struct replica_definition group_of_three(void)
{
    struct replica_definition group = { .group_id = BYTES(GROUP),
                                        .epoch = 7,
                                        .coordinator = BYTES("a"),
                                        .own = member("a", REPLICA_ACTIVE),
                                        .count = 2 };
    group.members = arena_alloc(arena, 2 * sizeof *group.members);
    group.members[0] = member("b", REPLICA_ACTIVE);
    group.members[1] = member("c", REPLICA_ACTIVE);
    return group;
}

static void a_removed_member_is_deleting_in_a_new_epoch(void **state)
{
    (void)state;
    struct table_definition table = { .replicas = group_of_three() };
    assert_true(replica_group_is_settled(&table.replicas));
    assert_false(replica_group_remove(arena, &table, BYTES("x")));
    assert_true(replica_group_remove(arena, &table, BYTES("b")));
    assert_int_equal(table.replicas.epoch, 8);
    assert_int_equal(table.replicas.members[0].status, REPLICA_DELETING);
    assert_false(replica_member_is_fed(&table.replicas.members[0]));
    assert_false(replica_group_is_settled(&table.replicas));
}

static void what_a_forgotten_region_sent_is_sent_on(void **state)
{
    (void)state;
    struct table_definition table = { .replicas = group_of_three() };
    assert_true(replica_group_forget(arena, &table, BYTES("b")));
    assert_int_equal(table.replicas.count, 1);
    assert_true(bytes_equal_text(table.replicas.members[0].region, "c"));
    assert_false(table.replicas.members[0].is_noted); /* So all stamps are queued again. */
}

static void a_region_that_waits_to_leave_waits_for_nobody_once_it_is_the_last(void **state)
{
    (void)state;
    struct table_definition table = { .replicas = group_of_three() };
    assert_true(replica_group_disassociate(arena, &table));
    assert_true(replica_group_forget(arena, &table, BYTES("b")));
    assert_int_equal(table.replicas.own.status, REPLICA_DISASSOCIATING);
    assert_true(replica_group_forget(arena, &table, BYTES("c")));
    assert_int_equal(table.replicas.count, 0);
    assert_int_equal(table.replicas.own.status, REPLICA_ACTIVE); /* The collector ends the group. */
}

static void the_newest_epoch_is_adopted_and_the_greater_region_wins_a_tie(void **state)
{
    (void)state;
    static const struct {
        const char *coordinator;
        int64_t epoch;
        bool adopted;
    } cases[] = {
        { "a", 6, false }, { "c", 6, false }, { "a", 7, false }, { "b", 7, true }, { "a", 8, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table_definition table = { .replicas = group_of_three() };
        struct replica_definition said = group_of_three();
        said.epoch = cases[i].epoch;
        said.coordinator = bytes_from_text(cases[i].coordinator);
        said.members[0].is_noted = false; /* The sender's own business. */
        assert_int_equal(replica_group_adopt(arena, &table, &said), cases[i].adopted);
        assert_true(table.replicas.members[0].is_noted);
        said.group_id = BYTES("ffffffff-89ab-cdef-0123-456789abcdef");
        said.epoch = 99;
        assert_false(replica_group_adopt(arena, &table, &said));
    }
}

static void a_newcomer_and_everybody_after_a_loss_are_noted_anew(void **state)
{
    (void)state;
    struct table_definition table = { .replicas = group_of_three() };
    struct replica_definition said = group_of_three();
    said.epoch++;
    said.members[1] = member("d", REPLICA_CREATING); /* c is gone, d is new. */
    assert_true(replica_group_adopt(arena, &table, &said));
    assert_false(table.replicas.members[0].is_noted);
    assert_false(table.replicas.members[1].is_noted);
}

/* It was not fed while it was DELETING: what was written then has no entry in its queue. */
static void a_member_that_was_to_be_deleted_and_stays_is_noted_anew(void **state)
{
    (void)state;
    struct table_definition table = { .replicas = group_of_three() };
    struct replica_definition said = group_of_three();
    assert_true(replica_group_remove(arena, &table, BYTES("c")));
    said.epoch = table.replicas.epoch; /* Made at the same time, by b. */
    said.coordinator = BYTES("b");
    assert_true(replica_group_adopt(arena, &table, &said));
    assert_true(table.replicas.members[0].is_noted);
    assert_int_equal(table.replicas.members[1].status, REPLICA_ACTIVE);
    assert_false(table.replicas.members[1].is_noted);
}

/* A definition with the fewest parts that a record has. */
static struct table_definition smallest_table(void)
{
    static struct key_attribute key = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S };
    static struct partition partition = { .id = 2 };
    return (struct table_definition){
        .name = BYTES("table"),
        .id = 1,
        .uuid = BYTES(GROUP),
        .created_ms = 1,
        .status = TABLE_ACTIVE,
        .key = { .hash = key },
        .attributes = &key,
        .attribute_count = 1,
        .partitions = &partition,
        .partition_count = 1,
        .billing_mode = BILLING_PAY_PER_REQUEST,
        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
        .warm_throughput = { UNITS_UNSET, UNITS_UNSET },
    };
}

static void a_group_is_stored_with_its_table(void **state)
{
    (void)state;
    struct replica_override index = { BYTES("Ind"), 5, -1 };
    struct table_definition table = smallest_table(), decoded;
    table.replicas = group_of_three();
    table.replicas.members[1].source = BYTES("a");
    table.replicas.members[1].status = REPLICA_CREATING;
    table.replicas.members[1].is_noted = false;
    table.replicas.members[1].override.read_units = 9;
    table.replicas.members[1].table_class_given = true;
    table.replicas.members[1].table_class = TABLE_CLASS_STANDARD_INFREQUENT_ACCESS;
    table.replicas.members[1].index_overrides = &index;
    table.replicas.members[1].index_override_count = 1;
    struct item record = table_definition_encode(arena, &table);
    assert_true(table_definition_decode(arena, &record, &decoded));
    const struct replica_definition *group = &decoded.replicas;
    assert_true(bytes_equal_text(group->group_id, GROUP));
    assert_int_equal(group->epoch, 7);
    assert_true(bytes_equal_text(group->coordinator, "a"));
    assert_true(bytes_equal_text(group->own.region, "a") && group->own.is_noted);
    assert_int_equal(group->count, 2);
    const struct replica_member *last = &group->members[1];
    assert_true(bytes_equal_text(last->region, "c") && bytes_equal_text(last->source, "a"));
    assert_int_equal(last->id, replica_region_id(BYTES("c")));
    assert_int_equal(last->status, REPLICA_CREATING);
    assert_false(last->is_noted);
    assert_int_equal(last->override.read_units, 9);
    assert_true(last->table_class_given);
    assert_int_equal(last->table_class, TABLE_CLASS_STANDARD_INFREQUENT_ACCESS);
    assert_int_equal(last->index_override_count, 1);
    assert_true(bytes_equal_text(last->index_overrides[0].index_name, "Ind"));
    assert_int_equal(last->index_overrides[0].read_units, 5);
    struct value version;
    assert_true(item_find(&record, BYTES("v"), &version)); /* Older programs refuse it. */
    table.replicas.members[1].region = BYTES("b");         /* No region comes twice. */
    record = table_definition_encode(arena, &table);
    assert_false(table_definition_decode(arena, &record, &decoded));
}

/* --- Stamps --- */

static void the_later_stamp_wins_and_the_region_decides_between_equal_times(void **state)
{
    (void)state;
    const struct replica_stamp none = { 0 }, early = { .commit_us = 5, .region = 9 },
                               late = { .commit_us = 6, .region = 1 },
                               other = { .commit_us = 6, .region = 2 };
    assert_true(replica_stamp_is_later(&early, &none));
    assert_true(replica_stamp_is_later(&late, &early));
    assert_true(replica_stamp_is_later(&other, &late));
    assert_false(replica_stamp_is_later(&late, &other));
    assert_false(replica_stamp_is_later(&late, &late));
}

static void stamps_and_queue_entries_are_whole_or_refused(void **state)
{
    (void)state;
    struct replica_stamp stamp = { .commit_us = INT64_C(1700000000123456),
                                   .region = 0xfffffffe,
                                   .deleted = true },
                         read;
    int64_t commit_us;
    uint8_t copy[REPLICA_STAMP_SIZE];
    struct bytes value = replica_stamp_encode(arena, &stamp);
    assert_int_equal(value.len, REPLICA_STAMP_SIZE);
    assert_true(replica_stamp_decode(value, &read));
    assert_int_equal(read.commit_us, stamp.commit_us);
    assert_int_equal(read.region, stamp.region);
    assert_true(read.deleted);
    for (size_t i = 0; i < value.len; i++) {
        memcpy(copy, value.data, value.len);
        copy[i] ^= 0x10;
        assert_false(replica_stamp_decode(bytes_of(copy, value.len), &read));
        assert_false(replica_stamp_decode(bytes_of(value.data, i), &read));
    }
    value = replica_queue_encode(arena, 77);
    assert_true(replica_queue_decode(value, &commit_us));
    assert_int_equal(commit_us, 77);
    for (size_t i = 0; i < value.len; i++) {
        memcpy(copy, value.data, value.len);
        copy[i] ^= 0x10;
        assert_false(replica_queue_decode(bytes_of(copy, value.len), &commit_us));
    }
}

static void keys_tell_stamps_from_the_queues_of_regions(void **state)
{
    (void)state;
    const struct engine_address item = { .place = { 7, 8, ENGINE_SPACE_ITEMS },
                                         .key = BYTES("key") };
    uint32_t region;
    struct bytes key;
    struct engine_address address = replica_stamp_address(arena, &item);
    assert_int_equal(address.place.space, ENGINE_SPACE_REPLICAS);
    assert_true(replica_stamp_decode_key(address.key, &region, &key));
    assert_int_equal(region, 0);
    assert_true(bytes_equal_text(key, "key"));
    static const uint32_t regions[] = { 1, 0x01020304, UINT32_MAX };
    for (size_t i = 0; i < COUNT_OF(regions); i++) {
        address = replica_queue_address(arena, &item, regions[i]);
        assert_true(replica_stamp_decode_key(address.key, &region, &key));
        assert_int_equal(region, regions[i]);
        assert_true(bytes_equal_text(key, "key"));
        assert_true(bytes_compare(replica_queue_first_key(arena, regions[i]), address.key) < 0);
        assert_true(bytes_compare(address.key, replica_queue_end_key(arena, regions[i])) < 0);
    }
    assert_false(replica_stamp_decode_key(BYTES(""), &region, &key));
    assert_false(replica_stamp_decode_key(BYTES("S"), &region, &key));
    assert_false(replica_stamp_decode_key(BYTES("Wabcd"), &region, &key));
    assert_false(replica_stamp_decode_key(BYTES("Xabcde"), &region, &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_removed_member_is_deleting_in_a_new_epoch, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_forgotten_region_sent_is_sent_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_region_that_waits_to_leave_waits_for_nobody_once_it_is_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_newest_epoch_is_adopted_and_the_greater_region_wins_a_tie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_newcomer_and_everybody_after_a_loss_are_noted_anew,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_member_that_was_to_be_deleted_and_stays_is_noted_anew,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_group_is_stored_with_its_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_later_stamp_wins_and_the_region_decides_between_equal_times, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stamps_and_queue_entries_are_whole_or_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(keys_tell_stamps_from_the_queues_of_regions, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
