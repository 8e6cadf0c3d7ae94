/* test_store_cache.c -- the item cache: what is kept, and who finds it. That reads through it are
 * right is the matter of test_cached_reads.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compiler.h"
#include "base/hazard.h"
#include "engine/rocksdb/store_cache.h"
#include "engine/rocksdb/store_key.h"
#include "engine/rocksdb/store_run.h"
#include "engine_fixture.h"

enum { CAPACITY = 1024 * 1024 };

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };
static const struct engine_place others = { 8, 1, ENGINE_SPACE_ITEMS };

/* --- The table of entries --- */

struct named {
    struct store_key key;
    struct store_cache_name name;
};

static const struct store_cache_name *name_value(struct named *named,
                                                 const struct engine_place *place, const char *key)
{
    store_key_init(&named->key, place, bytes_from_text(key));
    assert_true(store_cache_name_value(&named->key, &named->name));
    return &named->name;
}

static const struct store_cache_name *name_run(struct named *named,
                                               const struct engine_place *place, const char *key)
{
    store_key_init(&named->key, place, bytes_from_text(key));
    assert_true(store_cache_name_run(&named->key, &named->name));
    return &named->name;
}

/* By writers and by views alike. */
static bool finds(struct store_cache *cache, const struct store_cache_name *name,
                  uint64_t generation, const char *want)
{
    struct store_cache_loan loan;
    bool wanted;
    struct store_cache_entry *entry = store_cache_find(cache, name, generation, &wanted);
    bool lent = store_cache_lend(cache, name, generation, &loan, &wanted);
    assert_ptr_equal(entry, loan.entry);
    assert_int_equal(lent, entry != NULL);
    if (entry == NULL)
        return false;
    assert_true(bytes_equal_text(store_cache_content(entry), want));
    store_cache_return(&loan);
    assert_null(loan.entry);
    store_cache_release(entry);
    return true;
}

static struct store_cache_touch touch_of(const struct store_cache_name *name)
{
    return (struct store_cache_touch){ name->run_hash, name->hash };
}

static void change(struct store_cache *cache, const struct store_cache_name *name,
                   uint64_t generation)
{
    struct store_cache_touch touch = touch_of(name);
    struct store_cache_removed removed = { 0 };
    store_cache_begin_change(cache, &touch);
    store_cache_end_change(cache, &touch, generation, &removed);
    store_cache_free_removed(cache, &removed);
}

/* A change that was begun ends, and a new value takes the place of the old one. */
static void replace(struct store_cache *cache, const struct store_cache_name *name, uint64_t moment,
                    uint64_t generation, struct bytes content)
{
    struct store_cache_removed removed = { 0 };
    store_cache_replace(cache, name, moment, generation, content, &removed);
    store_cache_free_removed(cache, &removed);
}

static void what_is_read_a_second_time_is_wanted(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    bool wanted;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    assert_null(store_cache_find(cache, name, 1, &wanted));
    assert_false(wanted);
    assert_null(store_cache_find(cache, name, 1, &wanted));
    assert_true(wanted);
    store_cache_keep(cache, name, 1, BYTES("one"));
    assert_true(finds(cache, name, 1, "one"));
    store_cache_destroy(cache);
}

static bool is_wanted(struct store_cache *cache, const struct store_cache_name *name)
{
    bool wanted;
    assert_null(store_cache_find(cache, name, 1, &wanted));
    return wanted;
}

static void a_run_is_wanted_only_if_nothing_of_it_changed_between_two_reads(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named value, run;
    (void)state;
    name_value(&value, &items, "12345678a");
    name_run(&run, &items, "12345678");
    for (int i = 0; i < 3; i++) {
        assert_false(is_wanted(cache, &run.name));
        change(cache, &value.name, 1);
    }
    assert_false(is_wanted(cache, &run.name));
    assert_true(is_wanted(cache, &run.name));
    assert_false(is_wanted(cache, &value.name));
    change(cache, &value.name, 1); /* To copy one value is not much. */
    assert_true(is_wanted(cache, &value.name));
    store_cache_destroy(cache);
}

static void a_value_its_run_and_its_neighbours_are_told_apart(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named value, run, neighbour, elsewhere;
    (void)state;
    name_value(&value, &items, "12345678");
    name_run(&run, &items, "12345678");
    name_value(&neighbour, &items, "12345678b");
    name_value(&elsewhere, &others, "12345678");
    store_cache_keep(cache, &value.name, 1, BYTES("value"));
    store_cache_keep(cache, &run.name, 1, BYTES("run"));
    store_cache_keep(cache, &neighbour.name, 1, BYTES("neighbour"));
    store_cache_keep(cache, &elsewhere.name, 1, BYTES("elsewhere"));
    assert_true(finds(cache, &value.name, 1, "value"));
    assert_true(finds(cache, &run.name, 1, "run"));
    assert_true(finds(cache, &neighbour.name, 1, "neighbour"));
    assert_true(finds(cache, &elsewhere.name, 1, "elsewhere"));
    change(cache, &value.name, 1); /* Takes its run along. */
    assert_false(finds(cache, &value.name, 2, ""));
    assert_false(finds(cache, &run.name, 2, ""));
    assert_true(finds(cache, &neighbour.name, 2, "neighbour"));
    assert_true(finds(cache, &elsewhere.name, 2, "elsewhere"));
    store_cache_destroy(cache);
}

static void a_view_finds_only_what_is_not_newer_than_itself(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    store_cache_keep(cache, name, 5, BYTES("five"));
    assert_false(finds(cache, name, 4, ""));
    assert_true(finds(cache, name, 5, "five"));
    assert_true(finds(cache, name, 6, "five"));
    store_cache_destroy(cache);
}

static void what_a_view_has_read_is_kept_only_if_it_is_newer_than_all_changes(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    change(cache, name, 5);
    store_cache_keep(cache, name, 5, BYTES("five")); /* Perhaps from before the change. */
    assert_false(finds(cache, name, 9, ""));
    store_cache_keep(cache, name, 6, BYTES("six"));
    assert_true(finds(cache, name, 9, "six"));
    change(cache, name, 3); /* Of a slow writer: the bound does not go back. */
    store_cache_keep(cache, name, 5, BYTES("five"));
    assert_false(finds(cache, name, 9, ""));
    store_cache_destroy(cache);
}

static void nothing_is_found_or_kept_while_a_change_is_under_way(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    struct store_cache_touch touch = touch_of(name);
    struct store_cache_removed removed = { 0 };
    store_cache_keep(cache, name, 1, BYTES("one"));
    store_cache_begin_change(cache, &touch);
    assert_false(finds(cache, name, 2, ""));
    store_cache_keep(cache, name, 2, BYTES("two"));
    store_cache_begin_change(cache, &touch); /* Another one. */
    store_cache_end_change(cache, &touch, 2, &removed);
    store_cache_keep(cache, name, 3, BYTES("three"));
    assert_false(finds(cache, name, 3, ""));
    store_cache_end_change(cache, &touch, 2, &removed);
    assert_false(finds(cache, name, 3, ""));
    store_cache_keep(cache, name, 3, BYTES("three"));
    assert_true(finds(cache, name, 3, "three"));
    store_cache_free_removed(cache, &removed);
    store_cache_destroy(cache);
}

static void a_written_value_is_found_by_later_views_and_by_writers(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named value, run;
    (void)state;
    name_value(&value, &items, "12345678a");
    name_run(&run, &items, "12345678a");
    struct store_cache_touch touch = touch_of(&value.name);
    store_cache_keep(cache, &value.name, 1, BYTES("old"));
    store_cache_keep(cache, &run.name, 1, BYTES("run"));
    uint64_t moment = store_cache_moment(cache);
    store_cache_begin_change(cache, &touch);
    replace(cache, &value.name, moment, 5, BYTES("new"));
    assert_false(finds(cache, &value.name, 5, "")); /* Perhaps of before the write. */
    assert_true(finds(cache, &value.name, 6, "new"));
    assert_true(finds(cache, &value.name, STORE_CACHE_NEWEST, "new"));
    assert_false(finds(cache, &run.name, 6, ""));
    store_cache_destroy(cache);
}

static void a_written_value_is_not_kept_beside_a_removal(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named value;
    (void)state;
    name_value(&value, &items, "12345678a");
    struct store_cache_touch touch = touch_of(&value.name);

    uint64_t moment = store_cache_moment(cache); /* The removal comes and goes meanwhile. */
    store_cache_begin_change(cache, &touch);
    store_cache_begin_removal(cache);
    store_cache_end_removal(cache, items.owner, items.owner, 1);
    replace(cache, &value.name, moment, 2, BYTES("gone"));
    assert_false(finds(cache, &value.name, STORE_CACHE_NEWEST, ""));

    store_cache_begin_removal(cache); /* It was under way already. */
    moment = store_cache_moment(cache);
    store_cache_begin_change(cache, &touch);
    store_cache_end_removal(cache, items.owner, items.owner, 2);
    replace(cache, &value.name, moment, 3, BYTES("gone"));
    assert_false(finds(cache, &value.name, STORE_CACHE_NEWEST, ""));
    assert_int_equal(store_cache_size(cache), 0);

    moment = store_cache_moment(cache);
    store_cache_begin_change(cache, &touch);
    replace(cache, &value.name, moment, 4, BYTES("there"));
    assert_true(finds(cache, &value.name, STORE_CACHE_NEWEST, "there"));
    store_cache_destroy(cache);
}

static void a_removal_takes_all_that_its_owners_have(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named one, other;
    (void)state;
    name_value(&one, &items, "12345678a");
    name_value(&other, &others, "12345678a");
    store_cache_keep(cache, &one.name, 1, BYTES("one"));
    store_cache_keep(cache, &other.name, 1, BYTES("other"));
    store_cache_begin_removal(cache);
    assert_false(finds(cache, &other.name, 1, ""));
    store_cache_end_removal(cache, items.owner, items.owner, 1);
    assert_false(finds(cache, &one.name, 2, ""));
    assert_true(finds(cache, &other.name, 2, "other"));
    store_cache_keep(cache, &one.name, 1, BYTES("one"));
    assert_false(finds(cache, &one.name, 2, ""));
    store_cache_destroy(cache);
}

static void an_entry_in_use_outlives_its_removal(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    bool wanted;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    store_cache_keep(cache, name, 1, BYTES("one"));
    struct store_cache_entry *entry = store_cache_find(cache, name, 1, &wanted);
    change(cache, name, 1);
    assert_int_equal(store_cache_size(cache), 0);
    assert_true(bytes_equal_text(store_cache_content(entry), "one"));
    store_cache_release(entry);
    store_cache_destroy(cache);
}

static void a_view_wants_what_it_misses_a_second_time_and_forms_of_what_it_finds_often(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct store_cache_loan loan;
    struct named named;
    bool wanted;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    assert_false(store_cache_lend(cache, name, 1, &loan, &wanted));
    assert_false(wanted);
    assert_false(store_cache_lend(cache, name, 1, &loan, &wanted));
    assert_true(wanted);
    store_cache_keep(cache, name, 1, BYTES("one"));
    for (int i = 1; i <= STORE_CACHE_RENDER_FINDS; i++) {
        assert_true(store_cache_lend(cache, name, 1, &loan, &wanted));
        assert_int_equal(wanted, i == STORE_CACHE_RENDER_FINDS);
        store_cache_return(&loan);
    }
    store_cache_destroy(cache);
}

/* Removes all there is in a way that frees it only in batches. */
static void remove_range(struct store_cache *cache, uint64_t generation)
{
    store_cache_begin_removal(cache);
    store_cache_end_removal(cache, items.owner, items.owner, generation);
}

/* Frees what can be freed: so many are removed that it is worth it. */
static void remove_many(struct store_cache *cache, const struct store_cache_name *name,
                        uint64_t generation)
{
    for (uint64_t i = 0; i < STORE_CACHE_RETIRED_MAX; i++) {
        store_cache_keep(cache, name, generation + i, BYTES("more"));
        remove_range(cache, generation + i);
    }
}

static void a_lent_entry_outlives_its_removal_and_is_freed_afterwards(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct store_cache_loan loan;
    struct named named;
    bool wanted;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    store_cache_keep(cache, name, 1, BYTES("one"));
    assert_true(store_cache_lend(cache, name, 1, &loan, &wanted));
    struct engine_value value = store_cache_lent_value(&loan);
    change(cache, name, 1);
    remove_many(cache, name, 2);
    assert_true(store_cache_retired_count(cache) >= 1);
    assert_true(bytes_equal_text(value.bytes, "one"));
    engine_value_release(&value);
    remove_many(cache, name, 2 + STORE_CACHE_RETIRED_MAX);
    remove_many(cache, name, 2 + 2 * STORE_CACHE_RETIRED_MAX);
    assert_true(store_cache_retired_count(cache) < STORE_CACHE_RETIRED_MAX);
    assert_int_equal(store_cache_size(cache), 0);
    store_cache_destroy(cache);
}

static void few_removed_entries_wait_to_be_freed(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    uint8_t *content = calloc(1, CAPACITY / STORE_CACHE_SHARDS);
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    for (uint64_t i = 1; i < 1000; i++) {
        store_cache_keep(cache, name, i, BYTES("small"));
        remove_range(cache, i);
        assert_true(store_cache_retired_count(cache) < STORE_CACHE_RETIRED_MAX);
    }
    /* Of large ones fewer: each takes more than a part of what may wait. */
    size_t size = CAPACITY / STORE_CACHE_SHARDS / STORE_CACHE_RETIRED_SHARE;
    for (uint64_t i = 1000; i < 1100; i++) {
        store_cache_keep(cache, name, i, bytes_of(content, size));
        assert_true(store_cache_size(cache) > size);
        remove_range(cache, i);
        assert_true(store_cache_retired_count(cache) == 0);
    }
    free(content);
    store_cache_destroy(cache);
}

static void what_a_write_removes_is_freed_with_it_unless_it_is_in_use(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct store_cache_removed removed = { 0 };
    struct store_cache_loan loan;
    struct named first, second;
    bool wanted;
    (void)state;
    name_value(&first, &items, "12345678a");
    name_value(&second, &items, "87654321b");
    struct store_cache_touch touches[] = { touch_of(&first.name), touch_of(&second.name) };
    store_cache_keep(cache, &first.name, 1, BYTES("one"));
    store_cache_keep(cache, &second.name, 1, BYTES("two"));
    assert_true(store_cache_lend(cache, &first.name, 1, &loan, &wanted));
    struct store_cache_entry *counted =
        store_cache_find(cache, &second.name, STORE_CACHE_NEWEST, &wanted);
    assert_non_null(counted);
    for (size_t i = 0; i < COUNT_OF(touches); i++) {
        store_cache_begin_change(cache, &touches[i]);
        store_cache_end_change(cache, &touches[i], 1, &removed);
    }
    store_cache_free_removed(cache, &removed);
    assert_int_equal(store_cache_retired_count(cache), 2);
    assert_true(bytes_equal_text(store_cache_content(loan.entry), "one"));
    assert_true(bytes_equal_text(store_cache_content(counted), "two"));
    store_cache_return(&loan);
    store_cache_release(counted);
    store_cache_keep(cache, &first.name, 2, BYTES("three"));
    change(cache, &first.name, 2);
    assert_int_equal(store_cache_retired_count(cache), 2);
    assert_int_equal(store_cache_size(cache), 0);
    store_cache_destroy(cache);
}

static void a_view_without_a_hazard_is_lent_a_counted_entry(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct hazard *hazards[HAZARDS_PER_THREAD];
    struct store_cache_loan loan;
    struct named named;
    bool wanted;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    store_cache_keep(cache, name, 1, BYTES("one"));
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++)
        hazards[i] = hazard_take(HAZARDS_PER_THREAD, &named);
    assert_true(store_cache_lend(cache, name, 1, &loan, &wanted));
    assert_null(loan.hazard);
    change(cache, name, 1);
    remove_many(cache, name, 2);
    assert_true(bytes_equal_text(store_cache_content(loan.entry), "one"));
    store_cache_return(&loan);
    for (size_t i = 0; i < HAZARDS_PER_THREAD; i++)
        hazard_clear(hazards[i]);
    store_cache_destroy(cache);
}

static void the_capacity_holds_and_what_is_read_stays(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named hot, named;
    char key[32], content[500];
    (void)state;
    memset(content, 'x', sizeof content);
    name_value(&hot, &items, "hot item");
    store_cache_keep(cache, &hot.name, 1, BYTES("hot"));
    for (int i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "%08d", i * 7919);
        store_cache_keep(cache, name_value(&named, &items, key), 1,
                         bytes_of(content, sizeof content));
        assert_true(finds(cache, &hot.name, 1, "hot"));
    }
    assert_true(store_cache_size(cache) <= CAPACITY);
    assert_true(store_cache_size(cache) > CAPACITY * 3 / 4);
    store_cache_destroy(cache);
}

static void one_entry_never_takes_more_than_a_part_of_a_shard(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    size_t part = CAPACITY / STORE_CACHE_SHARDS / STORE_CACHE_ENTRY_SHARE;
    store_cache_keep(cache, name, 1, BYTES(""));
    size_t size_max = part - store_cache_size(cache);
    change(cache, name, 1);
    uint8_t *content = calloc(1, size_max + 1);
    store_cache_keep(cache, name, 2, bytes_of(content, size_max + 1));
    assert_int_equal(store_cache_size(cache), 0);
    store_cache_keep(cache, name, 2, bytes_of(content, size_max));
    assert_int_equal(store_cache_size(cache), part);
    free(content);
    store_cache_destroy(cache);
}

static void a_cache_may_be_too_small_for_any_entry(void **state)
{
    enum { CAPACITY_LAST = 64 * 1024, CAPACITY_STEP = STORE_CACHE_SHARDS };
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_run(&named, &items, "12345678");
    for (size_t capacity = 1; capacity < CAPACITY_LAST; capacity += CAPACITY_STEP) {
        struct store_cache *cache = store_cache_create(capacity);
        store_cache_keep(cache, name, 1, BYTES(""));
        assert_true(store_cache_size(cache) <= capacity);
        store_cache_destroy(cache);
    }
}

/* --- Forms --- */

/* Finds an entry until it should be rendered; how often that took. */
static unsigned finds_until_rendered(struct store_cache *cache, const struct store_cache_name *name,
                                     struct store_cache_entry **out)
{
    for (unsigned count = 1; count < 100; count++) {
        bool wanted;
        *out = store_cache_find(cache, name, 1, &wanted);
        assert_non_null(*out);
        if (wanted)
            return count;
        store_cache_release(*out);
    }
    return 0;
}

/* A new entry, found so often that it should be rendered. */
static struct store_cache_entry *entry_to_render(struct store_cache *cache,
                                                 const struct store_cache_name *name)
{
    struct store_cache_entry *entry;
    store_cache_keep(cache, name, 1, BYTES("one"));
    assert_int_equal(finds_until_rendered(cache, name, &entry), STORE_CACHE_RENDER_FINDS);
    return entry;
}

static void an_entry_that_is_found_often_gets_a_form_once(void **state)
{
    static const struct {
        struct bytes given, kept;
    } cases[] = { { { (const uint8_t *)"text", 4 }, { (const uint8_t *)"text", 4 } },
                  { { 0 }, { 0 } } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct store_cache *cache = store_cache_create(CAPACITY);
        struct store_cache_entry *entry;
        struct named named;
        const struct store_cache_name *name = name_value(&named, &items, "12345678a");
        entry = entry_to_render(cache, name);
        assert_null(store_cache_rendered(entry).data);
        store_cache_give_rendered(cache, entry, cases[i].given);
        assert_true(bytes_equal(store_cache_rendered(entry), cases[i].kept));
        store_cache_give_rendered(cache, entry, BYTES("another"));
        assert_true(bytes_equal(store_cache_rendered(entry), cases[i].kept));
        store_cache_release(entry);
        assert_int_equal(finds_until_rendered(cache, name, &entry), 0);
        store_cache_destroy(cache);
    }
}

static void a_form_counts_and_goes_with_its_entry(void **state)
{
    static uint8_t rendered[1000];
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct store_cache_entry *entry;
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    store_cache_keep(cache, name, 1, BYTES("one"));
    size_t before = store_cache_size(cache);
    assert_int_equal(finds_until_rendered(cache, name, &entry), STORE_CACHE_RENDER_FINDS);
    store_cache_give_rendered(cache, entry, bytes_of(rendered, sizeof rendered));
    assert_true(store_cache_size(cache) >= before + sizeof rendered);
    store_cache_release(entry);
    change(cache, name, 1);
    assert_int_equal(store_cache_size(cache), 0);
    store_cache_destroy(cache);
}

static void a_form_that_comes_after_its_entry_has_gone_is_dropped(void **state)
{
    struct store_cache *cache = store_cache_create(CAPACITY);
    struct store_cache_entry *entry;
    struct named named;
    (void)state;
    const struct store_cache_name *name = name_value(&named, &items, "12345678a");
    entry = entry_to_render(cache, name);
    change(cache, name, 1);
    store_cache_give_rendered(cache, entry, BYTES("text"));
    assert_null(store_cache_rendered(entry).data);
    assert_int_equal(store_cache_size(cache), 0);
    store_cache_release(entry);
    store_cache_destroy(cache);
}

static void an_entry_with_its_form_never_takes_more_than_a_part_of_a_shard(void **state)
{
    static uint8_t rendered[CAPACITY / STORE_CACHE_SHARDS];
    (void)state;
    for (size_t size = sizeof rendered / STORE_CACHE_ENTRY_SHARE - 256;
         size < sizeof rendered / STORE_CACHE_ENTRY_SHARE; size++) {
        struct store_cache *cache = store_cache_create(CAPACITY);
        struct store_cache_entry *entry;
        struct named named;
        const struct store_cache_name *name = name_value(&named, &items, "12345678a");
        entry = entry_to_render(cache, name);
        store_cache_give_rendered(cache, entry, bytes_of(rendered, size));
        bool kept = store_cache_rendered(entry).data != NULL;
        assert_true(store_cache_size(cache) <= sizeof rendered / STORE_CACHE_ENTRY_SHARE);
        assert_true(kept || size > sizeof rendered / STORE_CACHE_ENTRY_SHARE - 256);
        store_cache_release(entry);
        store_cache_destroy(cache);
    }
}

/* Room for a rendered value is made at the cost of others, or of the entry itself. */
static void the_capacity_holds_with_forms(void **state)
{
    static uint8_t rendered[4000];
    struct store_cache *cache = store_cache_create(CAPACITY);
    (void)state;
    for (int i = 0; i < 2000; i++) {
        char key[32];
        struct store_cache_entry *entry;
        struct named named;
        snprintf(key, sizeof key, "%08d", i);
        const struct store_cache_name *name = name_value(&named, &items, key);
        entry = entry_to_render(cache, name);
        store_cache_give_rendered(cache, entry, bytes_of(rendered, sizeof rendered));
        store_cache_release(entry);
        assert_true(store_cache_size(cache) <= CAPACITY);
    }
    assert_true(store_cache_size(cache) > CAPACITY / 2);
    store_cache_destroy(cache);
}

/* --- Runs --- */

static void a_run_gives_its_entries_back_and_finds_where_a_key_belongs(void **state)
{
    struct store_run_builder *builder = calloc(1, sizeof *builder);
    static const char *const keys[] = { "a", "ab", "b", "d" };
    static const struct {
        const char *key;
        size_t index;
    } places[] = { { "", 0 },  { "a", 0 }, { "aa", 1 }, { "ab", 1 },
                   { "b", 2 }, { "c", 3 }, { "d", 3 },  { "e", 4 } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct engine_entry entry = { .key = bytes_from_text(keys[i]),
                                      .value = bytes_of("value", i) };
        assert_true(store_run_add(builder, &entry));
    }
    struct bytes block = store_run_finish(builder);
    assert_int_equal(store_run_count(block), COUNT_OF(keys));
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        struct engine_entry entry = store_run_at(block, i);
        assert_true(bytes_equal_text(entry.key, keys[i]));
        assert_true(bytes_equal(entry.value, bytes_of("value", i)));
    }
    for (size_t i = 0; i < COUNT_OF(places); i++)
        assert_int_equal(store_run_search(block, bytes_from_text(places[i].key)), places[i].index);
    store_run_deinit(builder);
    free(builder);
}

static void a_run_ends_at_its_largest_size_and_count(void **state)
{
    enum { HEAD = 8 };
    struct store_run_builder *builder = calloc(1, sizeof *builder);
    struct engine_entry entry = { .key = BYTES("key") };
    uint8_t *value = calloc(1, STORE_RUN_SIZE_MAX);
    (void)state;
    entry.value = bytes_of(value, STORE_RUN_SIZE_MAX - HEAD - entry.key.len + 1);
    assert_false(store_run_add(builder, &entry));
    entry.value.len--;
    assert_true(store_run_add(builder, &entry));
    struct engine_entry empty = { .key = BYTES(""), .value = BYTES("") };
    assert_false(store_run_add(builder, &empty));
    store_run_deinit(builder);
    memset(builder, 0, sizeof *builder);
    for (int i = 0; i < STORE_RUN_ENTRIES_MAX; i++)
        assert_true(store_run_add(builder, &empty));
    assert_false(store_run_add(builder, &empty));
    store_run_deinit(builder);
    free(builder);
    free(value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_a_second_time_is_wanted),
        cmocka_unit_test(a_run_is_wanted_only_if_nothing_of_it_changed_between_two_reads),
        cmocka_unit_test(a_value_its_run_and_its_neighbours_are_told_apart),
        cmocka_unit_test(a_view_finds_only_what_is_not_newer_than_itself),
        cmocka_unit_test(what_a_view_has_read_is_kept_only_if_it_is_newer_than_all_changes),
        cmocka_unit_test(nothing_is_found_or_kept_while_a_change_is_under_way),
        cmocka_unit_test(a_written_value_is_found_by_later_views_and_by_writers),
        cmocka_unit_test(a_written_value_is_not_kept_beside_a_removal),
        cmocka_unit_test(a_removal_takes_all_that_its_owners_have),
        cmocka_unit_test(an_entry_in_use_outlives_its_removal),
        cmocka_unit_test(
            a_view_wants_what_it_misses_a_second_time_and_forms_of_what_it_finds_often),
        cmocka_unit_test(a_lent_entry_outlives_its_removal_and_is_freed_afterwards),
        cmocka_unit_test(few_removed_entries_wait_to_be_freed),
        cmocka_unit_test(what_a_write_removes_is_freed_with_it_unless_it_is_in_use),
        cmocka_unit_test(a_view_without_a_hazard_is_lent_a_counted_entry),
        cmocka_unit_test(the_capacity_holds_and_what_is_read_stays),
        cmocka_unit_test(one_entry_never_takes_more_than_a_part_of_a_shard),
        cmocka_unit_test(a_cache_may_be_too_small_for_any_entry),
        cmocka_unit_test(an_entry_that_is_found_often_gets_a_form_once),
        cmocka_unit_test(a_form_counts_and_goes_with_its_entry),
        cmocka_unit_test(a_form_that_comes_after_its_entry_has_gone_is_dropped),
        cmocka_unit_test(an_entry_with_its_form_never_takes_more_than_a_part_of_a_shard),
        cmocka_unit_test(the_capacity_holds_with_forms),
        cmocka_unit_test(a_run_gives_its_entries_back_and_finds_where_a_key_belongs),
        cmocka_unit_test(a_run_ends_at_its_largest_size_and_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
