/* test_check_collections.c -- the sizes of item collections are held against their items. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/collection_size.h"
#include "table/item_address.h"
#include "table/layout.h"

enum { PROBLEMS_MAX = 4 };

static int set_up(void **state)
{
    struct check_fixture *fixture = malloc(sizeof *fixture);
    check_fixture_open(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    check_fixture_close(*state);
    free(*state);
    return 0;
}

static const char *const nothing[] = { NULL };

/* --- Damage --- */

/* The record of the first item's collection. */
static struct check_fixture_entry collection_record(struct check_fixture *fixture)
{
    struct check_fixture_entry stored = check_fixture_item(fixture);
    struct item item;
    struct item_address place;
    struct error err;
    error_init(&err, fixture->arena);
    assert_true(item_open(stored.value, &item));
    assert_true(item_address_of_item(fixture->arena, fixture->orders, &item, &place, &err));
    struct engine_address address = collection_size_address(&place);
    return (struct check_fixture_entry){ .place = address.place,
                                         .key = address.key,
                                         .value = BYTES("nonsense") };
}

static void damage_collection(struct check_fixture *fixture)
{
    struct check_fixture_entry record = collection_record(fixture);
    check_fixture_put(fixture, &record);
}

static void delete_collection(struct check_fixture *fixture)
{
    struct check_fixture_entry record = collection_record(fixture);
    check_fixture_delete(fixture, &record);
}

static void change_collection(struct check_fixture *fixture)
{
    struct check_fixture_entry record = collection_record(fixture);
    struct engine_address address = { record.place, record.key };
    struct engine_write *write;
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    collection_size_put(write, &address, 12345);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void put_collections_without_items(struct check_fixture *fixture)
{
    struct check_fixture_entry record = collection_record(fixture);
    uint8_t *key = (uint8_t *)arena_copy(fixture->arena, record.key).data;
    key[LAYOUT_HASH_SIZE] ^= 1; /* Between the items. */
    record.key = bytes_of(key, record.key.len);
    check_fixture_put(fixture, &record);
    record.key = BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff"); /* Behind them all. */
    check_fixture_put(fixture, &record);
}

static void damage_first_item_of_collection(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_flip(fixture, check_fixture_item(fixture));
    change_collection(fixture);
    check_fixture_put(fixture, &item);
}

#define COLLECTION "table orders, partition [0-9]*, item collection */*: "

static const struct {
    const char *name;
    void (*damage)(struct check_fixture *fixture);
    const char *want[PROBLEMS_MAX];
} cases[] = {
    { "a damaged size of a collection", damage_collection, { COLLECTION "its record is damaged" } },
    { "a collection without a size",
      delete_collection,
      { COLLECTION "its record tells of 0 bytes, and there are [1-9]*" } },
    { "a collection of another size",
      change_collection,
      { COLLECTION "its record tells of 12345 bytes, and there are [1-9]*" } },
    { "sizes of collections without items",
      put_collections_without_items,
      { COLLECTION "has a size and no items", COLLECTION "has a size and no items" } },
    { "a collection whose size is not known, for an item is damaged",
      damage_first_item_of_collection,
      { "table orders, partition [0-9]*, item *: is damaged" } },
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

/* --- Other tables --- */

/* The first place of a table's items. */
static struct engine_place place_of_table(struct check_fixture *fixture, const char *name)
{
    enum engine_status status;
    struct catalogue *catalogue = catalogue_open(fixture->engine, &status);
    assert_non_null(catalogue);
    struct table *table = catalogue_find(catalogue, bytes_from_text(name));
    assert_non_null(table);
    struct engine_place place = item_address_of_hash(table_definition(table), 0);
    table_release(table);
    catalogue_close(catalogue);
    return place;
}

static void a_table_without_local_indexes_has_no_collections(void **state)
{
    struct check_fixture *fixture = *state;
    static const char *const want[] = {
        "table plain, partition [0-9]*, space 8: holds what nothing reads",
        NULL,
    };
    assert_true(api_fixture_call(&fixture->api, "CreateTable",
                                 "{'TableName':'plain','BillingMode':'PAY_PER_REQUEST',"
                                 "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':"
                                 "'S'}],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}"));
    assert_true(
        api_fixture_call(&fixture->api, "PutItem", "{'TableName':'plain','Item':{'p':{'S':'a'}}}"));
    check_fixture_expect(fixture, nothing);
    struct check_fixture_entry record = { .place = place_of_table(fixture, "plain"),
                                          .key = BYTES("x"),
                                          .value = BYTES("x") };
    record.place.space = ENGINE_SPACE_COLLECTIONS;
    check_fixture_put(fixture, &record);
    check_fixture_expect(fixture, want);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_damage_is_found_and_named),
        WITH_STORE(a_table_without_local_indexes_has_no_collections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
