/* test_check_expiry.c -- the expiry queue is held against the items, and the reverse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check_fixture.h"
#include "model/table_definition.h"
#include "table/catalogue_record.h"
#include "table/expiry_queue.h"
#include "table/layout.h"

enum { PROBLEMS_MAX = 4, WAIT_MS = 60000, SECOND = 42 };

static const char *const nothing[] = { NULL };

/* Of all items of the fixture, h is a number or missing. */
static int set_up(void **state)
{
    struct check_fixture *fixture = malloc(sizeof *fixture);
    check_fixture_open(fixture);
    assert_true(api_fixture_call(&fixture->api, "UpdateTimeToLive",
                                 "{'TableName':'orders','TimeToLiveSpecification':{"
                                 "'Enabled':true,'AttributeName':'h'}}"));
    for (int i = 0; i < WAIT_MS; i++) {
        assert_true(
            api_fixture_call(&fixture->api, "DescribeTimeToLive", "{'TableName':'orders'}"));
        if (api_fixture_shows(&fixture->api, "'ENABLED'"))
            break;
        usleep(1000);
    }
    check_fixture_expect(fixture, nothing);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    check_fixture_close(*state);
    free(*state);
    return 0;
}

/* --- Damage --- */

/* The entry of an item in the queue; `second` below 0: that of its own. */
static struct check_fixture_entry entry_of(struct check_fixture *fixture,
                                           const struct check_fixture_entry *stored, int64_t second)
{
    struct engine_address address = { .place = stored->place, .key = stored->key };
    struct item item;
    assert_true(item_open(stored->value, &item));
    if (second < 0)
        assert_true(expiry_queue_second(BYTES("h"), &item, &second));
    address = expiry_queue_address(fixture->arena, &address, second);
    return (struct check_fixture_entry){ .place = address.place,
                                         .key = address.key,
                                         .value = BYTES("") };
}

static void remove_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct check_fixture_entry entry = entry_of(fixture, &item, -1);
    check_fixture_delete(fixture, &entry);
}

static void add_entry(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct check_fixture_entry entry = entry_of(fixture, &item, SECOND);
    check_fixture_put(fixture, &entry);
}

static void add_entry_of_no_item(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    item.key = BYTES("01234567nobody");
    struct check_fixture_entry entry = entry_of(fixture, &item, SECOND);
    check_fixture_put(fixture, &entry);
}

static void give_entry_a_value(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct check_fixture_entry entry = entry_of(fixture, &item, -1);
    entry.value = BYTES("value");
    check_fixture_put(fixture, &entry);
}

static void add_short_key(struct check_fixture *fixture)
{
    struct check_fixture_entry item = check_fixture_item(fixture);
    struct check_fixture_entry entry = entry_of(fixture, &item, SECOND);
    entry.key.len = LAYOUT_EXPIRY_SECOND_SIZE + LAYOUT_HASH_SIZE - 1;
    check_fixture_put(fixture, &entry);
}

/* The table's record with another status, which the running database does not know. */
static void set_expiry(struct check_fixture *fixture, struct expiry_definition expiry)
{
    struct table_definition changed = *fixture->orders;
    changed.expiry = expiry;
    struct engine_address address =
        catalogue_record_address(fixture->arena, LAYOUT_KEY_TABLE, changed.name);
    struct check_fixture_entry record = {
        .place = address.place,
        .key = address.key,
        .value = table_definition_encode(fixture->arena, &changed).encoded,
    };
    check_fixture_put(fixture, &record);
}

static void remove_entry_while_filling(struct check_fixture *fixture)
{
    remove_entry(fixture);
    set_expiry(fixture,
               (struct expiry_definition){ .status = EXPIRY_FILLING, .attribute = BYTES("h") });
}

static void remove_entry_below_the_position(struct check_fixture *fixture)
{
    remove_entry(fixture);
    set_expiry(fixture,
               (struct expiry_definition){ .status = EXPIRY_FILLING,
                                           .attribute = BYTES("h"),
                                           .filled = BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF") });
}

static void mix_up_while_removing(struct check_fixture *fixture)
{
    remove_entry(fixture);
    add_entry_of_no_item(fixture);
    set_expiry(fixture,
               (struct expiry_definition){ .status = EXPIRY_REMOVING, .attribute = BYTES("h") });
}

static void leave_entries_behind(struct check_fixture *fixture)
{
    set_expiry(fixture, (struct expiry_definition){ .status = EXPIRY_NONE });
}

#define LEFT "table orders, partition *, space 5: holds what nothing reads"

static const struct {
    const char *name;
    void (*damage)(struct check_fixture *fixture);
    const char *want[PROBLEMS_MAX + 1];
} cases[] = {
    { "an entry is missing",
      remove_entry,
      { "table orders, partition *, item *: is not in the expiry queue" } },
    { "an entry too many",
      add_entry,
      { "table orders, partition *, entry of 42 in the expiry queue, item *: is not one that its "
        "item has" } },
    { "an entry of no item",
      add_entry_of_no_item,
      { "table orders, partition *, entry of 42 in the expiry queue, item *: belongs to no "
        "item" } },
    { "a value",
      give_entry_a_value,
      { "table orders, partition *: an entry of the expiry queue is damaged" } },
    { "a short key",
      add_short_key,
      { "table orders, partition *: an entry of the expiry queue is damaged" } },
    { "filling has not come there", remove_entry_while_filling, { NULL } },
    { "filling was there",
      remove_entry_below_the_position,
      { "table orders, partition *, item *: is not in the expiry queue" } },
    { "of a queue that goes nothing is asked", mix_up_while_removing, { NULL } },
    { "entries without time to live", leave_entries_behind, { LEFT, LEFT, LEFT } },
};

static void each_damage_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        void *fixture;
        set_up(&fixture);
        cases[i].damage(fixture);
        print_message("%s\n", cases[i].name);
        check_fixture_expect(fixture, cases[i].want);
        tear_down(&fixture);
    }
}

static void writes_keep_the_queue(void **state)
{
    struct check_fixture *fixture = *state;
    check_fixture_write_random(fixture, 4711, 500);
    check_fixture_expect(fixture, nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_damage_is_found),
        cmocka_unit_test_setup_teardown(writes_keep_the_queue, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
