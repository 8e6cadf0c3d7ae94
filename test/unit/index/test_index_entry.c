/* test_index_entry.c -- which entries an item has, where they are and what they hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "index/index_entry.h"
#include "index/index_view.h"
#include "index_fixture.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/limits.h"

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

static const struct index_definition *index_at(size_t index)
{
    return &index_fixture_table.indexes[index];
}

/* The key without its hash, in hexadecimal; NULL: no entry. */
static const char *key_of(size_t index, const char *json, struct item_address *place)
{
    struct item item = item_fixture_read(arena, json);
    if (!index_entry_locate(arena, &index_fixture_table, index_at(index), &item, place))
        return NULL;
    struct bytes key = place->address.key;
    struct bytes text = { (const uint8_t *)"", 0 };
    for (size_t i = 8; i < key.len; i++)
        text = arena_printf(arena, "%.*s%02X", BYTES_FMT(text), key.data[i]);
    return (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(text), 0).data;
}

#define WHOLE                                                                                      \
    "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'g':{'S':'G'},'h':{'N':'1.5'},'b':{'B':'AA=='},"   \
    "'x':{'S':'x'},'y':{'L':[]},'z':{'S':'z'}}"

static void keys_are_those_of_the_index_then_those_of_the_table(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        const char *key;
    } cases[] = {
        { INDEX_FIXTURE_LOCAL, "500001"
                               "4C0001"
                               "C102" },
        { INDEX_FIXTURE_KEYS, "470001"
                              "C10364"
                              "500001"
                              "C102" },
        { INDEX_FIXTURE_ALL, "470001"
                             "500001"
                             "C102" },
        { INDEX_FIXTURE_MULTIPLE, "470001"
                                  "00FF0001"
                                  "C10364"
                                  "4C0001"
                                  "500001"
                                  "C102" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item_address place;
        assert_string_equal(key_of(cases[i].index, WHOLE, &place), cases[i].key);
        assert_int_equal(place.address.place.owner, index_at(cases[i].index)->id);
        assert_int_equal(place.address.place.space, ENGINE_SPACE_INDEX);
    }
}

static void a_local_index_lies_beside_the_items(void **state)
{
    (void)state;
    for (char c = 'a'; c <= 'z'; c++) {
        char json[] = "{'p':{'S':'?'},'s':{'N':'1'},'l':{'S':'L'}}";
        struct item_address place, base;
        struct error err;
        *strchr(json, '?') = c;
        struct item item = item_fixture_read(arena, json);
        error_init(&err, arena);
        assert_true(item_address_of_item(arena, &index_fixture_table, &item, &base, &err));
        assert_non_null(key_of(INDEX_FIXTURE_LOCAL, json, &place));
        assert_int_equal(place.hash, base.hash);
        assert_int_equal(place.address.place.partition, base.address.place.partition);
    }
}

static void the_hash_of_a_global_index_is_that_of_all_its_hash_attributes(void **state)
{
    (void)state;
    struct item_address one, same, other, single;
    key_of(INDEX_FIXTURE_MULTIPLE, WHOLE, &one);
    key_of(INDEX_FIXTURE_MULTIPLE,
           "{'p':{'S':'Q'},'s':{'N':'2'},'l':{'S':'M'},'g':{'S':'G'},'h':{'N':'7'},"
           "'b':{'B':'AA=='}}",
           &same);
    key_of(INDEX_FIXTURE_MULTIPLE,
           "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'},'g':{'S':'G'},'h':{'N':'1.5'},"
           "'b':{'B':'AQ=='}}",
           &other);
    key_of(INDEX_FIXTURE_KEYS, WHOLE, &single);
    assert_int_equal(one.hash, same.hash);
    assert_int_equal(one.address.place.partition, same.address.place.partition);
    assert_int_not_equal(one.hash, other.hash);
    assert_int_not_equal(one.hash, single.hash);
    assert_in_range(one.address.place.partition, 41, 42);
    assert_in_range(single.address.place.partition, 21, 22);
}

static void an_item_without_a_valid_key_has_no_entry(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        const char *item;
    } cases[] = {
        { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'}}" },
        { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'N':'1'}}" },
        { INDEX_FIXTURE_LOCAL, "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':''}}" },
        { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'}}" },
        { INDEX_FIXTURE_KEYS, "{'p':{'S':'P'},'s':{'N':'1'},'h':{'N':'1'}}" },
        { INDEX_FIXTURE_ALL, "{'p':{'S':'P'},'s':{'N':'1'},'g':{'NULL':true}}" },
        { INDEX_FIXTURE_MULTIPLE,
          "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'b':{'B':'AA=='},'h':{'N':'1'}}" },
        { INDEX_FIXTURE_MULTIPLE,
          "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'},'b':{'B':''},'h':{'N':'1'},'l':{'S':'L'}}" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item_address place;
        if (key_of(cases[i].index, cases[i].item, &place) != NULL)
            fail_msg("%s", cases[i].item);
    }
}

static void entries_hold_the_projected_attributes(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        const char *entry;
    } cases[] = {
        { INDEX_FIXTURE_LOCAL,
          "{'l':{'S':'L'},'p':{'S':'P'},'s':{'N':'1'},'x':{'S':'x'},'y':{'L':[]}}" },
        { INDEX_FIXTURE_KEYS, "{'g':{'S':'G'},'h':{'N':'1.5'},'p':{'S':'P'},'s':{'N':'1'}}" },
        { INDEX_FIXTURE_ALL, WHOLE },
        { INDEX_FIXTURE_MULTIPLE,
          "{'b':{'B':'AA=='},'g':{'S':'G'},'h':{'N':'1.5'},'l':{'S':'L'},'p':{'S':'P'},"
          "'s':{'N':'1'},'x':{'S':'x'}}" },
    };
    struct item whole = item_fixture_read(arena, WHOLE);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item entry =
            index_entry_project(arena, &index_fixture_table, index_at(cases[i].index), &whole);
        struct item want = item_fixture_read(arena, cases[i].entry);
        assert_true(item_verify(&entry));
        if (!bytes_equal(entry.encoded, want.encoded))
            fail_msg("%.*s", BYTES_FMT(item_fixture_write(arena, &entry)));
        struct index_view view = index_view_open(arena, &index_fixture_table, &whole);
        assert_int_equal(index_view_size(&view, index_at(cases[i].index)), want.size);
        struct item_iter iter;
        struct bytes name;
        struct value value;
        item_iter_init(&iter, &whole);
        while (item_iter_next(&iter, &name, &value))
            assert_int_equal(
                index_entry_projects(&index_fixture_table, index_at(cases[i].index), name),
                item_find(&want, name, &value));
    }
}

static void key_names_are_distinct(void **state)
{
    (void)state;
    static const struct {
        size_t index;
        const char *names;
    } cases[] = {
        { INDEX_FIXTURE_LOCAL, "p l s" },
        { INDEX_FIXTURE_KEYS, "g h p s" },
        { INDEX_FIXTURE_ALL, "g p s" },
        { INDEX_FIXTURE_MULTIPLE, "g b h l p s" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes names[INDEX_ENTRY_KEYS_MAX];
        size_t count = index_entry_key_names(&index_fixture_table, index_at(cases[i].index), names);
        assert_int_equal(count, (strlen(cases[i].names) + 1) / 2);
        for (size_t n = 0; n < count; n++)
            assert_int_equal(names[n].data[0], cases[i].names[2 * n]);
    }
}

/* --- Refusals --- */

#define MISMATCH "One or more parameter values were invalid: Type mismatch for Index Key "
#define NOT_SUPPORTED                                                                              \
    "One or more parameter values are not valid. A value specified for a secondary index key is "  \
    "not supported. The AttributeValue for a key attribute cannot contain an empty "
#define UPDATED                                                                                    \
    "One or more parameter values are not valid. The update expression attempted to update a "     \
    "secondary index key to a value that is not supported. The AttributeValue for a key "          \
    "attribute cannot contain an empty "

static void values_that_are_no_keys_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *item, *put, *update;
    } cases[] = {
        { "{'l':{'N':'1'}}", MISMATCH "l Expected: S Actual: N IndexName: local",
          MISMATCH "l Expected: S Actual: N IndexName: local" },
        { "{'g':{'NULL':true}}", MISMATCH "g Expected: S Actual: NULL IndexName: all",
          MISMATCH "g Expected: S Actual: NULL IndexName: all" },
        { "{'g':{'S':''}}", NOT_SUPPORTED "string value. IndexName: all, IndexKey: g",
          UPDATED "string value." },
        { "{'b':{'B':''}}", NOT_SUPPORTED "binary value. IndexName: multiple, IndexKey: b",
          UPDATED "binary value." },
        /* The first index by name, and within it the first attribute. */
        { "{'h':{'S':'1'},'l':{'S':''}}", MISMATCH "h Expected: N Actual: S IndexName: keys",
          MISMATCH "h Expected: N Actual: S IndexName: keys" },
        { "{'b':{'S':''},'l':{'SS':['a']}}", MISMATCH "l Expected: S Actual: SS IndexName: local",
          MISMATCH "l Expected: S Actual: SS IndexName: local" },
        { "{'p':{'S':'P'},'x':{'S':''}}", NULL, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item item = item_fixture_read(arena, cases[i].item);
        struct error put, update;
        error_init(&put, arena);
        error_init(&update, arena);
        assert_int_equal(index_entry_check_put(&index_fixture_table, &item, &put),
                         cases[i].put == NULL);
        assert_int_equal(index_entry_check_update(&index_fixture_table, NULL, &item, &update),
                         cases[i].update == NULL);
        if (cases[i].put == NULL)
            continue;
        if (!bytes_equal_text(put.message, cases[i].put) ||
            !bytes_equal_text(update.message, cases[i].update))
            fail_msg("%s: %.*s; %.*s", cases[i].item, BYTES_FMT(put.message),
                     BYTES_FMT(update.message));
    }
}

static void keys_have_a_largest_size(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int size;
        const char *message;
    } cases[] = {
        { "g", PARTITION_KEY_SIZE_MAX, NULL },
        { "l", SORT_KEY_SIZE_MAX, NULL },
        { "g", PARTITION_KEY_SIZE_MAX + 1,
          "One or more parameter values were invalid: Size limit exceeded for Index Key g Actual "
          "Size: 2049 bytes Max Size: 2048 bytes IndexName: all" },
        { "l", SORT_KEY_SIZE_MAX + 1,
          "One or more parameter values were invalid: Size limit exceeded for Index Key l Actual "
          "Size: 1025 bytes Max Size: 1024 bytes IndexName: local" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes json = arena_printf(arena, "{'p':{'S':'P'},'s':{'N':'1'},'%s':{'S':'%0*d'}}%c",
                                         cases[i].name, cases[i].size, 0, 0);
        struct item item = item_fixture_read(arena, (const char *)json.data);
        struct error err;
        struct item_address place;
        size_t index = cases[i].name[0] == 'g' ? INDEX_FIXTURE_ALL : INDEX_FIXTURE_LOCAL;
        error_init(&err, arena);
        assert_int_equal(index_entry_check_put(&index_fixture_table, &item, &err),
                         cases[i].message == NULL);
        assert_int_equal(
            index_entry_locate(arena, &index_fixture_table, index_at(index), &item, &place),
            cases[i].message == NULL);
        if (cases[i].message != NULL)
            assert_true(bytes_equal_text(err.message, cases[i].message));
    }
}

/* An item may be older than the index. */
static void an_update_is_not_refused_for_what_it_left_alone(void **state)
{
    (void)state;
    struct item before = item_fixture_read(arena, "{'p':{'S':'P'},'g':{'N':'1'}}");
    struct item after = item_fixture_read(arena, "{'p':{'S':'P'},'g':{'N':'1'},'x':{'S':'x'}}");
    struct item worse = item_fixture_read(arena, "{'p':{'S':'P'},'g':{'N':'2'}}");
    struct error err;
    error_init(&err, arena);
    assert_true(index_entry_check_update(&index_fixture_table, &before, &after, &err));
    assert_false(index_entry_check_update(&index_fixture_table, &before, &worse, &err));
}

/* An item with one attribute of `size` bytes besides its keys, which take 5 bytes, or 7 with that
 * of the local index. */
static struct item large_item(const char *keys, const char *name, size_t size)
{
    struct item_builder builder;
    struct item_iter iter;
    struct bytes key;
    struct value value;
    struct buffer text;
    struct item small = item_fixture_read(arena, keys);
    uint8_t *filler = arena_alloc(arena, size);
    memset(filler, 'x', size);
    item_builder_init(&builder, arena);
    item_iter_init(&iter, &small);
    while (item_iter_next(&iter, &key, &value))
        item_builder_add(&builder, key, value.encoded);
    buffer_init(&text, arena);
    value_append_string(&text, bytes_of(filler, size));
    item_builder_add(&builder, bytes_from_text(name), buffer_bytes(&text));
    return item_builder_finish(&builder);
}

static void an_item_and_its_entry_in_a_local_index_share_the_size_of_an_item(void **state)
{
    (void)state;
    static const struct {
        const char *keys;
        const char *name;
        size_t size_max; /* Of the attribute. */
    } cases[] = {
        /* The attribute is in the item and in the entry. */
        { "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'}}", "x", ITEM_SIZE_MAX / 2 - 7 - 1 },
        /* It is in the item alone. */
        { "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'}}", "z", ITEM_SIZE_MAX - 2 * 7 - 1 },
        /* There is no entry, or only one in global indexes. */
        { "{'p':{'S':'P'},'s':{'N':'1'}}", "x", ITEM_SIZE_MAX - 5 - 1 },
        { "{'p':{'S':'P'},'s':{'N':'1'},'g':{'S':'G'}}", "x", ITEM_SIZE_MAX - 7 - 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (size_t size = cases[i].size_max - 1; size <= cases[i].size_max + 1; size++) {
            struct item item = large_item(cases[i].keys, cases[i].name, size);
            if (item.size <= ITEM_SIZE_MAX)
                assert_int_equal(index_entry_local_fits(arena, &index_fixture_table, &item),
                                 size <= cases[i].size_max);
        }
    }
}

/* What two local indexes hold is not added up. */
static void each_local_index_is_judged_alone(void **state)
{
    (void)state;
    struct index_definition twice[] = { *index_at(INDEX_FIXTURE_LOCAL),
                                        *index_at(INDEX_FIXTURE_LOCAL) };
    struct table_definition table = index_fixture_table;
    table.indexes = twice;
    table.index_count = COUNT_OF(twice);
    const char *keys = "{'p':{'S':'P'},'s':{'N':'1'},'l':{'S':'L'}}";
    struct item item = large_item(keys, "x", ITEM_SIZE_MAX / 2 - 7 - 1);
    assert_true(index_entry_local_fits(arena, &table, &item));
    item = large_item(keys, "x", ITEM_SIZE_MAX / 2 - 7);
    assert_false(index_entry_local_fits(arena, &table, &item));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(keys_are_those_of_the_index_then_those_of_the_table),
        TEST(a_local_index_lies_beside_the_items),
        TEST(the_hash_of_a_global_index_is_that_of_all_its_hash_attributes),
        TEST(an_item_without_a_valid_key_has_no_entry),
        TEST(entries_hold_the_projected_attributes),
        TEST(key_names_are_distinct),
        TEST(values_that_are_no_keys_are_refused),
        TEST(keys_have_a_largest_size),
        TEST(an_update_is_not_refused_for_what_it_left_alone),
        TEST(an_item_and_its_entry_in_a_local_index_share_the_size_of_an_item),
        TEST(each_local_index_is_judged_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
