/* test_txn_index_status.c -- an index stays right while it comes and goes, though writes hold two
 * versions of its table at a time.
 *
 * Random writes go through every status of an index, each with its version of the table or the one
 * before; what is stored is compared with the items after every write. TXN_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "failing_engine.h"
#include "index/index_entry.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/table_stats.h"
#include "txn/txn.h"

enum { KEYS = 6, GROUPS = 3, WRITES_PER_PHASE = 200, ITEMS_PER_WRITE_MAX = 3 };

static struct partition partitions[] = { { .id = 11 }, { .id = 12, .first_hash = UINT64_MAX / 2 } };
static struct partition index_partitions[] = { { .id = 13 } };

/* A version of the table with the index in some status, or without it. */
struct version {
    struct table_definition table;
    struct index_definition index;
};

static void init_version(struct version *version, bool has_index, enum index_status status)
{
    const struct key_attribute p = { .name = BYTES("p"), .type = VALUE_S };
    version->index = (struct index_definition){
        .name = BYTES("index"),
        .global = true,
        .id = 8,
        .hash = { { .name = BYTES("g"), .type = VALUE_S } },
        .hash_count = 1,
        .partitions = index_partitions,
        .partition_count = COUNT_OF(index_partitions),
        .projection = PROJECTION_ALL,
        .status = status,
    };
    version->table = (struct table_definition){
        .name = BYTES("table"),
        .id = 7,
        .key = { .hash = p },
        .partitions = partitions,
        .partition_count = COUNT_OF(partitions),
        .indexes = &version->index,
        .index_count = has_index ? 1 : 0,
    };
}

struct run {
    struct arena *arena;
    struct engine *engine;
    struct random random;
    struct version without, with[INDEX_STATUS_COUNT];
};

static int set_up(void **state)
{
    static struct run run;
    run.arena = arena_create();
    run.engine = failing_engine_create(reference_engine_create());
    init_version(&run.without, false, INDEX_ACTIVE);
    for (int status = 0; status < INDEX_STATUS_COUNT; status++)
        init_version(&run.with[status], true, (enum index_status)status);
    *state = &run;
    return 0;
}

static int tear_down(void **state)
{
    struct run *run = *state;
    engine_close(run->engine);
    arena_destroy(run->arena);
    return 0;
}

/* --- Writing --- */

struct plan {
    struct txn txn;
    struct txn_item items[ITEMS_PER_WRITE_MAX];
    enum txn_effect effects[ITEMS_PER_WRITE_MAX];
    struct item replacements[ITEMS_PER_WRITE_MAX];
    enum engine_status status;
};

static struct plan *of_txn(struct txn *txn)
{
    return (struct plan *)((char *)txn - offsetof(struct plan, txn));
}

static bool decide(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn->items[i].effect = of_txn(txn)->effects[i];
        txn->items[i].replacement = of_txn(txn)->replacements[i];
    }
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    of_txn(txn)->status = status;
}

/* `group` below 0: an attribute of another type; of GROUPS: none. */
static void add(struct run *run, struct plan *plan, const struct version *version, int key,
                enum txn_effect effect, int group)
{
    char text[128];
    size_t i = plan->txn.item_count++;
    struct error err;
    error_init(&err, run->arena);
    snprintf(text, sizeof text,
             group < 0         ? "{'p':{'S':'%d'},'g':{'N':'%d'}}"
             : group == GROUPS ? "{'p':{'S':'%d'}}"
                               : "{'p':{'S':'%d'},'g':{'S':'%d'},'x':{'S':'%d'}}",
             key, group, group * key);
    plan->effects[i] = effect;
    plan->replacements[i] = item_fixture_read(run->arena, text);
    plan->items[i] = (struct txn_item){ .table = &version->table };
    assert_true(item_address_of_item(run->arena, &version->table, &plan->replacements[i],
                                     &plan->items[i].place, &err));
}

static enum engine_status start(struct run *run, struct plan *plan)
{
    plan->txn.arena = run->arena;
    plan->txn.engine = run->engine;
    plan->txn.clock = &clock_system;
    plan->txn.items = plan->items;
    plan->txn.decide = decide;
    plan->txn.done = done;
    txn_start(&plan->txn);
    return plan->status;
}

static void write_random(struct run *run, const struct version *version)
{
    struct plan plan = { .status = ENGINE_IO };
    int first = (int)random_below(&run->random, KEYS);
    int count = 1 + (int)random_below(&run->random, ITEMS_PER_WRITE_MAX);
    for (int i = 0; i < count; i++) {
        enum txn_effect effect = random_below(&run->random, 3) == 0 ? TXN_DELETE : TXN_PUT;
        int group = (int)random_below(&run->random, GROUPS + 2) - 1;
        add(run, &plan, version, (first + i) % KEYS, effect, group);
    }
    assert_int_equal(start(run, &plan), ENGINE_OK);
}

static enum engine_status fill(struct run *run, int key)
{
    struct plan plan = { .status = ENGINE_IO };
    add(run, &plan, &run->with[INDEX_BACKFILLING], key, TXN_INDEX, 0);
    return start(run, &plan);
}

/* --- What is stored --- */

struct stored {
    struct table_stats items, entries;
    int64_t missing; /* Entries that items could have. */
};

static void check_item(struct run *run, struct engine_view *view, const struct engine_entry *entry,
                       struct stored *stored)
{
    const struct version *version = &run->with[INDEX_ACTIVE];
    struct item item;
    struct item_address place;
    struct engine_value value = { 0 };
    assert_true(item_open(entry->value, &item));
    stored->items.item_count++;
    stored->items.size += item.size;
    if (!index_entry_locate(run->arena, &version->table, &version->index, &item, &place))
        return;
    enum engine_status status = engine_view_get(view, &place.address, &value);
    if (status == ENGINE_NOT_FOUND) {
        stored->missing++;
        return;
    }
    assert_int_equal(status, ENGINE_OK);
    assert_true(bytes_equal(value.bytes, item.encoded)); /* The projection is ALL. */
    engine_value_release(&value);
    stored->entries.item_count++;
    stored->entries.size += item.size;
}

static int64_t count_entries(struct engine_view *view, const struct engine_range *range,
                             struct run *run, struct stored *stored)
{
    struct engine_scan *scan;
    struct engine_entry entry;
    int64_t count = 0;
    assert_int_equal(engine_scan_open(view, range, &scan), ENGINE_OK);
    for (; engine_scan_next(scan, &entry) == ENGINE_OK; count++) {
        if (stored != NULL)
            check_item(run, view, &entry, stored);
    }
    engine_scan_close(scan);
    return count;
}

/* Each entry is that of an item, and the statistics count what is there. Returns how many are
 * missing.
 */
static int64_t check(struct run *run)
{
    struct stored stored = { .missing = 0 };
    struct engine_view *view;
    struct engine_range range = { .place = { .owner = 7, .space = ENGINE_SPACE_ITEMS } };
    assert_int_equal(engine_view_open(run->engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (size_t i = 0; i < COUNT_OF(partitions); i++) {
        range.place.partition = partitions[i].id;
        count_entries(view, &range, run, &stored);
    }
    range.place = (struct engine_place){ .owner = 8, .partition = 13, .space = ENGINE_SPACE_INDEX };
    assert_int_equal(count_entries(view, &range, run, NULL), stored.entries.item_count);
    struct table_stats items, entries;
    assert_int_equal(table_stats_sum(view, &run->with[INDEX_ACTIVE].table, &items, &entries),
                     ENGINE_OK);
    assert_memory_equal(&items, &stored.items, sizeof items);
    assert_memory_equal(&entries, &stored.entries, sizeof entries);
    engine_view_close(view);
    return stored.missing;
}

/* --- Tests --- */

/* Two versions in use at once, then the later one alone. */
static void overlap(struct run *run, const struct version *before, const struct version *after,
                    bool complete)
{
    for (int i = 0; i < WRITES_PER_PHASE; i++) {
        bool is_late = i >= WRITES_PER_PHASE / 2 || random_below(&run->random, 2) == 0;
        write_random(run, is_late ? after : before);
        int64_t missing = check(run);
        if (complete)
            assert_int_equal(missing, 0);
        arena_reset(run->arena);
    }
}

static void an_index_is_right_in_every_status(void **state)
{
    struct run *run = *state;
    const struct version *with = run->with;
    const char *given = getenv("TXN_SEED");
    uint64_t seed = 0;
    if (given == NULL) {
        random_init_from_system(&run->random);
        seed = random_next(&run->random);
    } else {
        seed = strtoull(given, NULL, 10);
    }
    print_message("TXN_SEED=%llu\n", (unsigned long long)seed);
    random_init(&run->random, seed);
    overlap(run, &run->without, &run->without, false);
    for (int life = 0; life < 5; life++) {
        overlap(run, &run->without, &with[INDEX_ALLOCATING], false);
        overlap(run, &with[INDEX_ALLOCATING], &with[INDEX_BACKFILLING], false);
        for (int key = 0; key < KEYS; key++) {
            assert_int_equal(fill(run, key), ENGINE_OK);
            check(run);
            assert_int_equal(fill(run, key), ENGINE_OK); /* Twice is as good as once. */
            write_random(run, &with[INDEX_BACKFILLING]);
            check(run);
        }
        assert_int_equal(check(run), 0);
        overlap(run, &with[INDEX_BACKFILLING], &with[INDEX_ACTIVE], true);
        for (int i = 0; i < WRITES_PER_PHASE; i++)
            write_random(run,
                         &with[random_below(&run->random, 2) == 0 ? INDEX_ACTIVE : INDEX_DELETING]);
        /* As control/index_life.c removes it, while versions that know it are still in use. */
        assert_int_equal(table_stats_drop_others(run->engine, &run->without.table), ENGINE_OK);
        write_random(run, &with[INDEX_DELETING]);
        struct engine_write *write = NULL;
        assert_int_equal(engine_write_begin(run->engine, NULL, 0, &write), ENGINE_OK);
        engine_write_delete_owner(write, 8);
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
        overlap(run, &with[INDEX_DELETING], &run->without, false);
    }
}

/* A failure to read the old entry must not pass for its absence. */
static void a_write_fails_when_an_entry_cannot_be_read(void **state)
{
    struct run *run = *state;
    struct plan first = { .status = ENGINE_IO };
    add(run, &first, &run->with[INDEX_BACKFILLING], 1, TXN_PUT, 1);
    assert_int_equal(start(run, &first), ENGINE_OK);
    bool struck = true;
    uint64_t call = 0;
    while (struck) {
        struct plan moved = { .status = ENGINE_OK };
        add(run, &moved, &run->with[INDEX_BACKFILLING], 1, TXN_PUT, GROUPS);
        failing_engine_set(run->engine,
                           &(struct failing_engine_plan){ .call = ++call, .status = ENGINE_IO });
        enum engine_status status = start(run, &moved);
        struck = failing_engine_struck(run->engine);
        failing_engine_set(run->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(status, struck ? ENGINE_IO : ENGINE_OK);
        check(run);
    }
    /* Begin, the item, its entry, the latch of the statistics, the statistics, the commit. */
    assert_int_equal(call, 6 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_index_is_right_in_every_status, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_fails_when_an_entry_cannot_be_read, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
