/* test_restore_rules.c -- which indexes of the source a restored table gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/backup/restore_rules.h"
#include "api/table/table_shapes.h"
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"
#include "model/table_definition.h"

enum { MAX_FIRST = 10 }; /* Of the first index; of the others one more each. */

/* Indexes that differ in nothing but their names and maxima. */
static struct index_definition indexes[2];

static struct table_definition make_source(void)
{
    const char *const names[] = { "first", "second" };
    for (size_t i = 0; i < COUNT_OF(indexes); i++) {
        indexes[i].name = bytes_from_text(names[i]);
        indexes[i].global = true;
        indexes[i].status = INDEX_ACTIVE;
        indexes[i].hash[0] = (struct key_attribute){ .name = BYTES("g"), .type = VALUE_S };
        indexes[i].hash_count = 1;
        indexes[i].projection = PROJECTION_ALL;
        indexes[i].on_demand_max =
            (struct unit_pair){ MAX_FIRST + (int64_t)i, MAX_FIRST + (int64_t)i };
    }
    return (struct table_definition){
        .name = BYTES("Tab"),
        .key = { .hash = { .name = BYTES("p"), .type = VALUE_S } },
        .billing_mode = BILLING_PAY_PER_REQUEST,
        .indexes = indexes,
        .index_count = COUNT_OF(indexes),
    };
}

/* Asks for indexes of these names, all with the same key and projection. */
static bool restore(struct arena *arena, const struct table_definition *source,
                    const char *const *names, size_t count, struct table_definition *draft,
                    struct error *err)
{
    struct key_schema_element_request element = { BYTES("g"), BYTES("HASH") };
    struct key_schema_element_request *schema[] = { &element };
    struct projection_request projection = { .projection_type = BYTES("ALL") };
    struct index_request requests[3] = { { .index_name = { 0 } } };
    struct index_request *list[COUNT_OF(requests)];
    assert_true(count <= COUNT_OF(requests));
    for (size_t i = 0; i < count; i++) {
        requests[i].index_name = bytes_from_text(names[i]);
        requests[i].key_schema =
            (struct shape_list){ .present = true, .count = 1, .kept = 1, .elements = schema };
        requests[i].projection = &projection;
        list[i] = &requests[i];
    }
    const struct restore_overrides overrides = {
        .target_table_name = BYTES("Target"),
        .global_indexes = { .present = true, .count = count, .kept = count, .elements = list },
    };
    error_init(err, arena);
    return restore_rules_draft(arena, &overrides, source, 1, draft, err);
}

static void an_index_of_the_source_is_restored_once(void **state)
{
    const char *const names[] = { "a", "b", "c" };
    const struct table_definition source = make_source();
    struct table_definition draft;
    struct error err;
    assert_true(restore(*state, &source, names, 2, &draft, &err));
    assert_int_equal(draft.index_count, 2);
    assert_int_equal(draft.indexes[0].on_demand_max.read_units, MAX_FIRST);
    assert_int_equal(draft.indexes[1].on_demand_max.read_units, MAX_FIRST + 1);
    assert_false(restore(*state, &source, names, 3, &draft, &err));
    assert_true(bytes_equal_text(err.message,
                                 "Invalid Request: Index c does not match a secondary index that "
                                 "existed in the source table and cannot be created during the "
                                 "restore operation"));
}

static void an_index_of_the_same_name_goes_first(void **state)
{
    const char *const names[] = { "second", "a" };
    const struct table_definition source = make_source();
    struct table_definition draft;
    struct error err;
    assert_true(restore(*state, &source, names, 2, &draft, &err));
    assert_int_equal(draft.indexes[0].on_demand_max.read_units, MAX_FIRST + 1);
    assert_int_equal(draft.indexes[1].on_demand_max.read_units, MAX_FIRST);
}

static void an_index_that_is_being_deleted_is_not_restored(void **state)
{
    const char *const names[] = { "first", "second" };
    const struct table_definition source = make_source();
    struct table_definition draft;
    struct error err;
    indexes[0].status = INDEX_DELETING;
    assert_true(restore(*state, &source, names, 1, &draft, &err));
    assert_int_equal(draft.indexes[0].on_demand_max.read_units, MAX_FIRST + 1);
    assert_false(restore(*state, &source, names, 2, &draft, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(an_index_of_the_source_is_restored_once),
        ARENA_TEST(an_index_of_the_same_name_goes_first),
        ARENA_TEST(an_index_that_is_being_deleted_is_not_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
