/* test_txn.c -- a write is one step, its statistics go with it, and a conflict decides again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/table_stats.h"
#include "txn/txn.h"

static struct partition partitions[] = { { .id = 11, .first_hash = 0 },
                                         { .id = 12, .first_hash = UINT64_C(1) << 63 } };
static const struct table_definition definition = {
    .name = { (const uint8_t *)"t", 1 },
    .id = 7,
    .key = { .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S } },
    .partitions = partitions,
    .partition_count = COUNT_OF(partitions),
};

struct fixture {
    struct arena *arena;
    struct engine *engine;
};

static int set_up(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

static struct item make_item(struct arena *arena, const char *pk, const char *text)
{
    struct item_builder builder;
    struct buffer key, value;
    item_builder_init(&builder, arena);
    buffer_init(&key, arena);
    buffer_init(&value, arena);
    value_append_string(&key, bytes_from_text(pk));
    value_append_string(&value, bytes_from_text(text));
    item_builder_add(&builder, BYTES("pk"), buffer_bytes(&key));
    item_builder_add(&builder, BYTES("v"), buffer_bytes(&value));
    return item_builder_finish(&builder);
}

/* A write of some items, each put or deleted, that counts its decisions. */
struct plan {
    struct txn txn;
    struct txn_item items[8];
    struct item replacements[8];
    enum txn_effect effects[8];
    bool refuse;
    unsigned decisions;
    unsigned ends;
    enum engine_status status;
    unsigned existing; /* Items that existed at the last decision. */
};

static bool decide(struct txn *txn)
{
    struct plan *plan = (struct plan *)((char *)txn - offsetof(struct plan, txn));
    plan->decisions++;
    plan->existing = 0;
    for (size_t i = 0; i < txn->item_count; i++) {
        plan->existing += txn->items[i].exists;
        txn->items[i].effect = plan->effects[i];
        txn->items[i].replacement = plan->replacements[i];
    }
    return !plan->refuse;
}

static void done(struct txn *txn, enum engine_status status)
{
    struct plan *plan = (struct plan *)((char *)txn - offsetof(struct plan, txn));
    plan->ends++;
    plan->status = status;
}

static void plan_init(struct fixture *fixture, struct plan *plan)
{
    *plan = (struct plan){ .txn = { .arena = fixture->arena,
                                    .engine = fixture->engine,
                                    .clock = &clock_system,
                                    .items = plan->items,
                                    .decide = decide,
                                    .done = done } };
}

static void plan_add(struct fixture *fixture, struct plan *plan, enum txn_effect effect,
                     const char *pk, const char *text)
{
    size_t index = plan->txn.item_count++;
    struct error err;
    error_init(&err, fixture->arena);
    plan->replacements[index] = make_item(fixture->arena, pk, text);
    plan->effects[index] = effect;
    plan->items[index].table = &definition;
    assert_true(item_address_of_item(fixture->arena, &definition, &plan->replacements[index],
                                     &plan->items[index].place, &err));
}

static struct plan write_one(struct fixture *fixture, enum txn_effect effect, const char *pk,
                             const char *text)
{
    struct plan plan;
    plan_init(fixture, &plan);
    plan_add(fixture, &plan, effect, pk, text);
    plan.txn.items = plan.items;
    txn_start(&plan.txn);
    assert_int_equal(plan.ends, 1);
    return plan;
}

static struct table_stats stats(struct fixture *fixture)
{
    struct engine_view *view;
    struct table_stats out;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(table_stats_sum(view, &definition, &out, NULL), ENGINE_OK);
    engine_view_close(view);
    return out;
}

static void statistics_follow_puts_overwrites_and_deletes(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        enum txn_effect effect;
        const char *pk, *text;
        int64_t count, size; /* Afterwards; an item's size is "pk" + key + "v" + text. */
    } steps[] = {
        { TXN_PUT, "a", "12345", 1, 9 }, { TXN_PUT, "b", "1", 2, 14 },
        { TXN_PUT, "a", "123", 2, 12 },  { TXN_PUT, "a", "123", 2, 12 },
        { TXN_KEEP, "a", "", 2, 12 },    { TXN_DELETE, "nobody", "", 2, 12 },
        { TXN_DELETE, "a", "", 1, 5 },   { TXN_DELETE, "b", "", 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct plan plan = write_one(fixture, steps[i].effect, steps[i].pk, steps[i].text);
        assert_int_equal(plan.status, ENGINE_OK);
        struct table_stats now = stats(fixture);
        assert_int_equal(now.item_count, steps[i].count);
        assert_int_equal(now.size, steps[i].size);
    }
}

/* More items than there are shards in the two partitions: some share one. */
static void items_of_one_shard_are_added_up(void **state)
{
    struct fixture *fixture = *state;
    for (int round = 0; round < 20; round++) {
        struct plan plan;
        plan_init(fixture, &plan);
        for (int i = 0; i < 8; i++) {
            char key[32];
            snprintf(key, sizeof key, "%02d-%d", round, i);
            plan_add(fixture, &plan, TXN_PUT, key, "x");
        }
        txn_start(&plan.txn);
        assert_int_equal(plan.status, ENGINE_OK);
        assert_int_equal(stats(fixture).item_count, 8 * (round + 1));
        assert_int_equal(stats(fixture).size, 8 * (round + 1) * 8);
    }
}

static void a_refusal_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct plan plan;
    plan_init(fixture, &plan);
    plan_add(fixture, &plan, TXN_PUT, "a", "x");
    plan.refuse = true;
    txn_start(&plan.txn);
    assert_int_equal(plan.ends, 1);
    assert_int_equal(plan.status, ENGINE_OK);
    assert_int_equal(stats(fixture).item_count, 0);
    assert_int_equal(write_one(fixture, TXN_KEEP, "a", "").existing, 0);
}

/* --- Records --- */

/* Replaces the record's first byte by the next one, beside an item's put. */
static bool count_record(struct txn *txn)
{
    struct txn_record *record = &txn->records[0];
    uint8_t *next = arena_alloc(txn->arena, 1);
    next[0] = record->exists ? (uint8_t)(record->current.data[0] + 1) : '1';
    record->replacement = bytes_of(next, 1);
    return decide(txn);
}

static void records_are_read_and_stored_with_the_items(void **state)
{
    struct fixture *fixture = *state;
    const struct engine_place place = { .owner = 7, .partition = 1, .space = ENGINE_SPACE_TOKENS };
    static const struct {
        bool refuse;
        struct failing_engine_plan failure;
        const char *want; /* The record afterwards. */
    } steps[] = {
        { .want = "1" },
        { .want = "2" },
        { .refuse = true, .want = "2" },
        { .failure = { .call = 1, .status = ENGINE_IO, .commits_only = true }, .want = "2" },
        { .failure = { .call = 1, .status = ENGINE_CONFLICT, .commits_only = true }, .want = "3" },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct txn_record record = { .address = { .place = place, .key = BYTES("record") } };
        struct plan plan;
        failing_engine_set(fixture->engine, &steps[i].failure);
        plan_init(fixture, &plan);
        plan_add(fixture, &plan, TXN_PUT, "a", "x");
        plan.txn.records = &record;
        plan.txn.record_count = 1;
        plan.txn.decide = count_record;
        plan.refuse = steps[i].refuse;
        txn_start(&plan.txn);
        assert_int_equal(plan.ends, 1);
        assert_true(engine_fixture_has(fixture->engine, place, BYTES("record"),
                                       bytes_from_text(steps[i].want)));
    }
    assert_int_equal(stats(fixture).item_count, 1);
}

static void a_conflict_decides_again(void **state)
{
    struct fixture *fixture = *state;
    failing_engine_set(fixture->engine, &(struct failing_engine_plan){ .call = 1,
                                                                       .status = ENGINE_CONFLICT,
                                                                       .commits_only = true });
    struct plan plan = write_one(fixture, TXN_PUT, "a", "x");
    assert_int_equal(plan.decisions, 2);
    assert_int_equal(plan.status, ENGINE_OK);
    assert_int_equal(stats(fixture).item_count, 1);
}

/* Whichever call fails, the call ends once, and the items and the statistics still agree. */
static void a_failure_leaves_items_and_statistics_in_step(void **state)
{
    struct fixture *fixture = *state;
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        struct plan put = write_one(fixture, TXN_PUT, "a", "x");
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(put.status, struck ? ENGINE_IO : ENGINE_OK);
        unsigned existing = write_one(fixture, TXN_KEEP, "a", "").existing;
        assert_int_equal(existing, struck ? 0 : 1);
        assert_int_equal(stats(fixture).item_count, existing);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(statistics_follow_puts_overwrites_and_deletes),
        TEST(items_of_one_shard_are_added_up),
        TEST(a_refusal_changes_nothing),
        TEST(records_are_read_and_stored_with_the_items),
        TEST(a_conflict_decides_again),
        TEST(a_failure_leaves_items_and_statistics_in_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
