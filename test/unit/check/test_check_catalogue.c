/* test_check_catalogue.c -- damage to the catalogue, and data that it knows nothing of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "engine/engine_ops.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue_record.h"
#include "table/layout.h"

enum {
    PROBLEMS_MAX = 24,
    ORPHAN = 999,
    /* The table, its indexes, four partitions of the table and of each global index. */
    ID_COUNT = 1 + CHECK_FIXTURE_INDEX_COUNT + 4 * (1 + 3),
};

static void put_record(struct check_fixture *fixture, struct engine_address address,
                       struct bytes value)
{
    struct check_fixture_entry record = { .place = address.place,
                                          .key = address.key,
                                          .value = value };
    check_fixture_put(fixture, &record);
}

static struct engine_address address_of(struct check_fixture *fixture, uint8_t kind,
                                        struct bytes rest)
{
    return catalogue_record_address(fixture->arena, kind, rest);
}

static void put_next_id(struct check_fixture *fixture, uint64_t id)
{
    put_record(fixture, address_of(fixture, LAYOUT_KEY_NEXT_ID, BYTES("")),
               catalogue_record_encode_ids(fixture->arena, &id, 1));
}

static void put_table(struct check_fixture *fixture, struct bytes key,
                      const struct table_definition *table)
{
    put_record(fixture, address_of(fixture, LAYOUT_KEY_TABLE, key),
               table_definition_encode(fixture->arena, table).encoded);
}

/* --- Records --- */

static void damage_table(struct check_fixture *fixture)
{
    struct engine_address address = address_of(fixture, LAYOUT_KEY_TABLE, BYTES("orders"));
    struct check_fixture_entry record = {
        .place = address.place,
        .key = address.key,
        .value = table_definition_encode(fixture->arena, fixture->orders).encoded,
    };
    record = check_fixture_flip(fixture, record);
    check_fixture_put(fixture, &record);
}

static void rename_key_of_table(struct check_fixture *fixture)
{
    put_table(fixture, BYTES("other"), fixture->orders);
}

static void put_unknown_record(struct check_fixture *fixture)
{
    put_record(fixture, address_of(fixture, 'X', BYTES(" \x01y")), BYTES("anything"));
    put_record(fixture, (struct engine_address){ catalogue_record_place, BYTES("") }, BYTES(""));
}

static void damage_dropped(struct check_fixture *fixture)
{
    const uint64_t ids[] = { 2, 3 };
    put_record(fixture, catalogue_record_dropped_address(fixture->arena, 7),
               catalogue_record_encode_ids(fixture->arena, ids, COUNT_OF(ids)));
    put_record(fixture, address_of(fixture, LAYOUT_KEY_DROPPED, BYTES("short")),
               catalogue_record_encode_ids(fixture->arena, ids, COUNT_OF(ids)));
}

/* --- Ids --- */

static void lower_next_id(struct check_fixture *fixture)
{
    put_next_id(fixture, ID_COUNT); /* Ids are 1 to ID_COUNT. */
}

static void copy_table(struct check_fixture *fixture)
{
    struct table_definition copy = *fixture->orders;
    copy.name = BYTES("copy");
    copy.index_count = 0;
    copy.partition_count = 1;
    put_table(fixture, copy.name, &copy);
}

static void give_id_that_is_no_owner(struct check_fixture *fixture)
{
    struct table_definition copy = *fixture->orders;
    copy.name = BYTES("copy");
    copy.id = ENGINE_OWNER_MAX;
    put_table(fixture, copy.name, &copy);
}

/* --- Places --- */

static void put_at(struct check_fixture *fixture, uint64_t owner, uint64_t partition,
                   enum engine_space space)
{
    struct check_fixture_entry entry = { .place = { owner, partition, space },
                                         .key = BYTES("key"),
                                         .value = BYTES("value") };
    check_fixture_put(fixture, &entry);
}

static void put_orphans(struct check_fixture *fixture)
{
    put_at(fixture, ORPHAN, 1, ENGINE_SPACE_ITEMS);
    put_at(fixture, ORPHAN, 1, ENGINE_SPACE_STATS);
    put_at(fixture, ORPHAN, 2, ENGINE_SPACE_INDEX);
    put_at(fixture, ENGINE_OWNER_MAX - 1, UINT64_MAX, ENGINE_SPACE_STATS);
}

static void put_dropped(struct check_fixture *fixture)
{
    const uint64_t ids[] = { ORPHAN, ORPHAN + 1 };
    put_orphans(fixture);
    put_at(fixture, ORPHAN + 1, 1, ENGINE_SPACE_INDEX);
    put_next_id(fixture, ENGINE_OWNER_MAX);
    put_record(fixture, catalogue_record_dropped_address(fixture->arena, ORPHAN),
               catalogue_record_encode_ids(fixture->arena, ids, COUNT_OF(ids)));
}

static void put_in_other_spaces(struct check_fixture *fixture)
{
    const struct table_definition *table = fixture->orders;
    const struct index_definition *local = &table->indexes[CHECK_FIXTURE_BY_DATE];
    const struct index_definition *global = &table->indexes[CHECK_FIXTURE_ALL];
    put_at(fixture, LAYOUT_CATALOGUE_OWNER, 1, ENGINE_SPACE_CATALOGUE);
    put_at(fixture, table->id, 7777, ENGINE_SPACE_ITEMS);
    put_at(fixture, table->id, table->partitions[0].id, ENGINE_SPACE_CHANGES);
    put_at(fixture, local->id, 7777, ENGINE_SPACE_INDEX);
    put_at(fixture, global->id, table->partitions[0].id, ENGINE_SPACE_INDEX);
    put_at(fixture, global->id, global->partitions[0].id, ENGINE_SPACE_STATS);
}

#define DAMAGED(key) "catalogue: record " key " is damaged or unknown"
#define OWNED_BY_NOBODY(owner)                                                                     \
    "owner " owner ": holds data that belongs to no table, index, stream, backup or dropped table"
#define NOTHING_READS(place) place ": holds what nothing reads"

static const struct {
    const char *name;
    void (*damage)(struct check_fixture *fixture);
    const char *want[PROBLEMS_MAX];
} cases[] = {
    { "a damaged table",
      damage_table,
      { DAMAGED("Torders"), OWNED_BY_NOBODY("[1-9]*"), OWNED_BY_NOBODY("[1-9]*"),
        OWNED_BY_NOBODY("[1-9]*"), OWNED_BY_NOBODY("[1-9]*"), OWNED_BY_NOBODY("[1-9]*"),
        OWNED_BY_NOBODY("[1-9]*") } },
    { "a table under another name", rename_key_of_table, { DAMAGED("Tother") } },
    { "unknown records", put_unknown_record, { DAMAGED(""), DAMAGED("X*x20*x01y") } },
    { "damaged dropped tables", damage_dropped, { DAMAGED("D*x07"), DAMAGED("Dshort") } },
    { "an id that is still to be given",
      lower_next_id,
      { "catalogue: id 22 was never given: the next free one is 22" } },
    { "ids given twice",
      copy_table,
      { "catalogue: id [0-9]* is given twice", "catalogue: id [0-9]* is given twice" } },
    { "an id that is none", give_id_that_is_no_owner, { DAMAGED("Tcopy") } },
    { "data of nobody",
      put_orphans,
      { OWNED_BY_NOBODY("999"), OWNED_BY_NOBODY("18446744073709551614") } },
    { "data of a dropped table", put_dropped, { OWNED_BY_NOBODY("18446744073709551614") } },
    { "places of no use",
      put_in_other_spaces,
      { NOTHING_READS("catalogue, partition 1, space 1"),
        NOTHING_READS("table orders, partition [0-9]*, space 4"),
        NOTHING_READS("table orders, partition 7777, space 2"),
        NOTHING_READS("table orders, index by-date, partition 7777, space 3"),
        NOTHING_READS("table orders, index all, partition [0-9]*, space [37]"),
        NOTHING_READS("table orders, index all, partition [0-9]*, space [37]") } },
};

static void each_kind_of_damage_is_found_and_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct check_fixture fixture;
        print_message("%s\n", cases[i].name);
        check_fixture_open(&fixture);
        cases[i].damage(&fixture);
        check_fixture_expect(&fixture, cases[i].want);
        check_fixture_close(&fixture);
    }
}

static void a_damaged_next_id_vouches_for_none(void **state)
{
    (void)state;
    struct check_fixture fixture;
    const char *want[1 + ID_COUNT + 1] = { DAMAGED("N") };
    for (size_t id = 1; id <= ID_COUNT; id++)
        want[id] = "catalogue: id [0-9]* was never given: the next free one is 1";
    check_fixture_open(&fixture);
    put_record(&fixture, address_of(&fixture, LAYOUT_KEY_NEXT_ID, BYTES("")), BYTES("damage"));
    check_fixture_expect(&fixture, want);
    check_fixture_close(&fixture);
}

static void keep_line(void *context, const char *line)
{
    snprintf(context, CHECK_REPORT_LINE_MAX, "%s", line);
}

/* engine.c lets nobody write there, so it is asked for nothing. */
static void an_unknown_space_is_reported(void **state)
{
    (void)state;
    struct engine *engine = reference_engine_create();
    struct engine_address address = { { LAYOUT_CATALOGUE_OWNER, LAYOUT_CATALOGUE_PARTITION,
                                        (enum engine_space)UINT8_MAX },
                                      BYTES("key") };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(engine, NULL, 0, &write), ENGINE_OK);
    engine->ops->write_put(write, &address, BYTES("value"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    char line[CHECK_REPORT_LINE_MAX];
    assert_int_equal(check_store(engine, keep_line, line).problem_count, 1);
    assert_string_equal(line, "catalogue, partition 0, space 255: holds what nothing reads");
    engine_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_damage_is_found_and_named),
        cmocka_unit_test(a_damaged_next_id_vouches_for_none),
        cmocka_unit_test(an_unknown_space_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
