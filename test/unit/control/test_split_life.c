/* test_split_life.c -- partitions that split: no change of an item is lost, comes twice or out of
 * order, whichever version of the table its writer uses and wherever a split is cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/timed_wait.h"
#include "check/check.h"
#include "control/split_life.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "log/change_record.h"
#include "log/log_layout.h"
#include "log/log_read.h"
#include "log/shard.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "stream_fixture.h"
#include "table/catalogue.h"
#include "table/partition_map.h"
#include "txn/txn.h"

#define NOW_MS STREAM_FIXTURE_NOW_MS
#define QUARTER (UINT64_C(1) << 62) /* The hashes of one of the four partitions of a new table. */

enum { KEYS = 32, SHARDS_MAX = 400 };
#define KEY_FORMAT "{\"n\":{\"N\":\"%d\"},\"p\":{\"S\":\"key-%d\"}}"

struct fixture {
    struct stream_fixture *streams;
    struct split_life life;
    int written[KEYS]; /* The value that each key has, which is how often it was put. */
};

static void begin_life(struct fixture *fixture)
{
    split_life_deinit(&fixture->life);
    fixture->life = (struct split_life){ .engine = fixture->streams->engine,
                                         .catalogue = fixture->streams->catalogue,
                                         .streams = &fixture->streams->upkeep,
                                         .clock = &fixture->streams->clock,
                                         .limits = fixture->life.limits };
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->streams = stream_fixture_open(failing_engine_create(reference_engine_create()));
    begin_life(fixture);
    stream_fixture_create_table(fixture->streams, true);
    stream_fixture_run(fixture->streams, NOW_MS);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    split_life_deinit(&fixture->life);
    stream_fixture_close(fixture->streams);
    free(fixture);
    return 0;
}

static void restart(struct fixture *fixture)
{
    stream_fixture_restart(fixture->streams);
    begin_life(fixture);
}

static struct table *newest(struct fixture *fixture)
{
    struct table *table = catalogue_find(fixture->streams->catalogue, BYTES("table"));
    assert_non_null(table);
    return table;
}

/* The current definition, in the arena. */
static struct table_definition current(struct fixture *fixture)
{
    struct table *table = newest(fixture);
    struct table_definition out;
    struct item record = table_definition_encode(fixture->streams->arena, table_definition(table));
    assert_true(table_definition_decode(fixture->streams->arena, &record, &out));
    table_release(table);
    return out;
}

static enum engine_status begin_at(struct fixture *fixture, uint64_t hash)
{
    struct table *table = newest(fixture);
    enum engine_status status =
        split_life_begin(&fixture->life, fixture->streams->arena, table_definition(table), hash);
    table_release(table);
    return status;
}

static const struct stream_definition *log_of(struct fixture *fixture)
{
    return streams_of_log(fixture->streams->streams, fixture->streams->table.log_id);
}

/* --- Writing --- */

struct plan {
    struct txn txn;
    struct txn_item item;
    struct item replacement;
    enum engine_status status;
};

static struct plan *of_txn(struct txn *txn)
{
    return (struct plan *)((char *)txn - offsetof(struct plan, txn));
}

static bool decide(struct txn *txn)
{
    txn->items[0].effect = TXN_PUT;
    txn->items[0].replacement = of_txn(txn)->replacement;
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    of_txn(txn)->status = status;
}

/* Puts a key with its next value, as a request does that holds this version of the table. */
static void put(struct fixture *fixture, struct table *table, int key)
{
    struct arena *arena = fixture->streams->arena;
    struct error err;
    struct bytes text = arena_printf(arena, "{'p':{'S':'key-%d'},'n':{'N':'%d'}}%c", key,
                                     ++fixture->written[key], 0);
    struct plan plan = { .txn = { .arena = arena,
                                  .engine = fixture->streams->engine,
                                  .clock = &fixture->streams->clock,
                                  .item_count = 1,
                                  .decide = decide,
                                  .done = done },
                         .item = { .table = table_definition(table) },
                         .replacement = item_fixture_read(arena, (const char *)text.data) };
    plan.txn.items = &plan.item;
    error_init(&err, arena);
    assert_true(item_address_of_item(arena, table_definition(table), &plan.replacement,
                                     &plan.item.place, &err));
    txn_start(&plan.txn);
    assert_int_equal(plan.status, ENGINE_OK);
}

static void put_all(struct fixture *fixture, struct table *table)
{
    for (int key = 0; key < KEYS; key++)
        put(fixture, table, key);
}

static void put_all_now(struct fixture *fixture)
{
    struct table *table = newest(fixture);
    put_all(fixture, table);
    table_release(table);
}

/* --- Reading as a client does that reads parents before children --- */

struct reading {
    struct fixture *fixture;
    int seen[KEYS];
    bool failed;
    size_t records;
};

/* Asserts nothing: a view is open. */
static bool see(void *context, uint64_t sequence, const struct change_record *record)
{
    struct reading *in = context;
    struct bytes text = item_fixture_write(in->fixture->streams->arena, &record->new_image);
    const char *line =
        (const char *)arena_printf(in->fixture->streams->arena, "%.*s%c", BYTES_FMT(text), 0).data;
    int key, value;
    bool is_known = sscanf(line, KEY_FORMAT, &value, &key) == 2 && key >= 0 && key < KEYS;
    /* Each value once, and in order. */
    if (!is_known || value != ++in->seen[key]) {
        print_error("record %llu is %s\n", (unsigned long long)sequence, line);
        in->failed = true;
    }
    in->records++;
    return true;
}

static void read_shard(struct reading *in, const struct shard *shard)
{
    struct stream_fixture *streams = in->fixture->streams;
    struct log_cursor cursor = { .log_id = streams->table.log_id,
                                 .partition = shard->partition,
                                 .shard_first = shard->first,
                                 .next = shard->kept };
    struct log_page page = { .count_max = 100000, .visit = see, .context = in };
    struct engine_view *view;
    assert_int_equal(engine_view_open(streams->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(log_read_page(streams->arena, view, &cursor, &page), ENGINE_OK);
    engine_view_close(view);
    assert_false(in->failed);
    assert_true(!page.trimmed && page.ended == !shard_is_open(shard));
}

static size_t list_shards(struct fixture *fixture, struct shard *out)
{
    const struct stream_definition *log = log_of(fixture);
    struct engine_view *view;
    size_t total = 0;
    assert_int_equal(engine_view_open(fixture->streams->engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (size_t i = 0; i < log->partition_count; i++) {
        struct shard *shards;
        size_t count;
        assert_int_equal(shard_list(fixture->streams->arena, view, log->log_id, log->partitions[i],
                                    &shards, &count),
                         ENGINE_OK);
        for (size_t j = 0; j < count; j++) {
            assert_true(total < SHARDS_MAX);
            assert_true(stream_definition_has_shard(log, shards[j].partition, shards[j].first));
            out[total++] = shards[j];
        }
    }
    engine_view_close(view);
    return total;
}

/* NULL: it has none. */
static const struct shard *parent_of(const struct shard *shards, size_t count,
                                     const struct shard *child)
{
    for (size_t i = 0; child->parent_created_ms != 0 && i < count; i++) {
        if (shards[i].partition == child->parent_partition &&
            shards[i].created_ms == child->parent_created_ms)
            return &shards[i];
    }
    assert_int_equal(child->parent_created_ms, 0);
    return NULL;
}

/* All that was ever put is in the stream once, in order, and the store is as it should be. */
static void assert_complete(struct fixture *fixture)
{
    struct shard shards[SHARDS_MAX];
    bool is_read[SHARDS_MAX] = { false };
    size_t count = list_shards(fixture, shards), left = count;
    struct reading in = { .fixture = fixture };
    while (left > 0) {
        size_t before = left;
        for (size_t i = 0; i < count; i++) {
            const struct shard *parent = parent_of(shards, count, &shards[i]);
            if (is_read[i] || (parent != NULL && !is_read[parent - shards]))
                continue;
            read_shard(&in, &shards[i]);
            is_read[i] = true;
            left--;
        }
        assert_true(left < before);
    }
    for (int key = 0; key < KEYS; key++)
        assert_int_equal(in.seen[key], fixture->written[key]);
    stream_fixture_assert_whole(fixture->streams);
}

/* --- Rules --- */

static void a_split_ends_a_shard_and_begins_two_children(void **state)
{
    struct fixture *fixture = *state;
    struct shard shards[SHARDS_MAX];
    put_all_now(fixture);
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    assert_int_equal(split_life_run(&fixture->life, fixture->streams->arena), TIMED_WAIT_FOREVER);
    struct table_definition table = current(fixture);
    assert_int_equal(table.splitting_id, 0);
    assert_int_equal(table.split_count, 1);
    uint64_t parent = table.partitions[0].id, child = table.splits[0].id;
    assert_int_equal(table.splits[0].parent_id, parent);
    assert_int_equal(partition_map_find(&table, QUARTER / 2 - 1), parent);
    assert_int_equal(partition_map_find(&table, QUARTER / 2), child);
    assert_int_equal(partition_map_find(&table, QUARTER), table.partitions[1].id);

    assert_int_equal(list_shards(fixture, shards), 4 + 2);
    const struct shard *ended = &shards[0], *left = &shards[1], *right = &shards[5];
    assert_true(ended->partition == parent && !shard_is_open(ended));
    assert_true(left->partition == parent && shard_is_open(left) &&
                left->parent_partition == parent);
    assert_true(right->partition == child && shard_is_open(right) &&
                right->parent_partition == parent);
    assert_true(left->first == ended->last + 1 && right->first == ended->last + 1);
    assert_true(left->parent_created_ms == ended->created_ms &&
                right->parent_created_ms == ended->created_ms);
    put_all_now(fixture);
    assert_complete(fixture);
}

/* Writers of three versions of the table meet. */
static void changes_of_an_item_stay_in_order_whoever_writes_them(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->streams->arena;
    put_all_now(fixture);
    struct table *before = newest(fixture);
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    struct table *during = newest(fixture);
    for (int round = 0; round < 2; round++) {
        put_all(fixture, during);
        put_all(fixture, before);
        assert_true(split_life_run(&fixture->life, arena) != TIMED_WAIT_FOREVER);
        assert_int_equal(log_of(fixture)->partition_count, 4); /* Somebody uses the old version. */
    }
    table_release(before);
    split_life_run(&fixture->life, arena);
    assert_int_equal(log_of(fixture)->partition_count, 5);
    struct table *after = newest(fixture);
    assert_int_equal(table_definition(after)->splitting_id, 0);
    for (int round = 0; round < 2; round++) {
        put_all(fixture, during);
        put_all(fixture, after);
    }
    table_release(during);
    table_release(after);
    assert_complete(fixture);
}

static void partitions_split_again_and_again(void **state)
{
    static const uint64_t borders[] = { QUARTER / 2,     QUARTER / 4, 3 * (QUARTER / 4),
                                        3 * QUARTER + 1, QUARTER + 7, 1 };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(borders); i++) {
        put_all_now(fixture);
        assert_int_equal(begin_at(fixture, borders[i]), ENGINE_OK);
        put_all_now(fixture);
        split_life_run(&fixture->life, fixture->streams->arena);
        fixture->streams->upkeep.rollover_ms = 1; /* All shards end meanwhile. */
        stream_fixture_run(fixture->streams, NOW_MS + 1000 * (int64_t)i);
        if (i % 2 == 0)
            restart(fixture);
        assert_complete(fixture);
    }
    assert_int_equal(log_of(fixture)->partition_count, 4 + COUNT_OF(borders));
    put_all_now(fixture);
    assert_complete(fixture);
}

/* Runs what is due until nothing is; failures are tried again. */
static void settle(struct fixture *fixture)
{
    for (int i = 0; i < 5; i++) {
        split_life_run(&fixture->life, fixture->streams->arena);
        stream_fixture_run(fixture->streams, NOW_MS);
    }
}

static void a_split_that_is_cut_short_is_taken_up_again(void **state)
{
    size_t begun = 0, not_begun = 0;
    bool struck = true;
    for (unsigned call = 1; struck; call++) {
        assert_int_equal(set_up(state), 0);
        struct fixture *fixture = *state;
        put_all_now(fixture);
        failing_engine_set(fixture->streams->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        enum engine_status status = begin_at(fixture, QUARTER / 2);
        split_life_run(&fixture->life, fixture->streams->arena);
        struck = failing_engine_struck(fixture->streams->engine);
        failing_engine_set(fixture->streams->engine, &(struct failing_engine_plan){ 0 });
        put_all_now(fixture); /* Requests go on with what there is. */
        if (call % 2 == 0)
            restart(fixture);
        put_all_now(fixture);
        stream_fixture_assert_whole(fixture->streams);
        settle(fixture);
        struct table_definition table = current(fixture);
        assert_int_equal(table.splitting_id, 0);
        assert_int_equal(table.split_count, status == ENGINE_OK ? 1 : 0);
        assert_int_equal(log_of(fixture)->partition_count, 4 + table.split_count);
        *(status == ENGINE_OK ? &begun : &not_begun) += 1;
        put_all_now(fixture);
        assert_complete(fixture);
        if (struck)
            tear_down(state);
    }
    assert_true(begun > 3 && not_begun > 0);
}

/* A crash between two steps, without a failure of any call. */
static void a_crash_between_two_steps_changes_nothing(void **state)
{
    struct fixture *fixture = *state;
    put_all_now(fixture);
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    put_all_now(fixture);
    restart(fixture);
    struct table_definition table = current(fixture);
    assert_int_not_equal(table.splitting_id, 0);
    put_all_now(fixture);
    assert_complete(fixture);
    assert_int_equal(stream_upkeep_split(&fixture->streams->upkeep, fixture->streams->arena,
                                         &fixture->streams->clock, log_of(fixture),
                                         table.partitions[0].id, table.splitting_id),
                     ENGINE_OK);
    put_all_now(fixture);
    restart(fixture);
    put_all_now(fixture);
    assert_complete(fixture);
    settle(fixture);
    assert_int_equal(current(fixture).splitting_id, 0);
    put_all_now(fixture);
    assert_complete(fixture);
}

static void set_stream(struct fixture *fixture, bool enabled, int64_t now_ms)
{
    fixture->streams->table = current(fixture);
    stream_fixture_set_stream(fixture->streams, enabled, now_ms);
}

/* There is nothing to divide; a log that opens later has all partitions. */
static void a_stream_that_ends_during_a_split_ends_whole(void **state)
{
    struct fixture *fixture = *state;
    put_all_now(fixture);
    uint64_t old_log = fixture->streams->table.log_id;
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    put_all_now(fixture);
    assert_complete(fixture);
    assert_int_equal(stream_fixture_close_stream(fixture->streams, old_log, NOW_MS), ENGINE_OK);
    set_stream(fixture, false, NOW_MS);
    put_all_now(fixture);
    set_stream(fixture, true, NOW_MS + 1);
    uint64_t new_log = fixture->streams->table.log_id;
    assert_int_not_equal(new_log, old_log);
    stream_fixture_run(fixture->streams, NOW_MS + 1); /* Announced; the split is still under way. */
    stream_fixture_run(fixture->streams, NOW_MS + 1);
    assert_int_equal(stream_fixture_status_of(fixture->streams, new_log), STREAM_ENABLING);
    stream_fixture_assert_whole(fixture->streams);
    settle(fixture);
    assert_int_equal(stream_fixture_status_of(fixture->streams, new_log), STREAM_ENABLED);
    assert_int_equal(streams_of_log(fixture->streams->streams, old_log)->partition_count, 4);
    assert_int_equal(log_of(fixture)->partition_count, 5);
    stream_fixture_assert_whole(fixture->streams);
}

/* A stream that ends while Kinesis still reads its log, and one that begins on an open log. */
static void streams_begin_and_end_on_a_log_that_was_split(void **state)
{
    struct fixture *fixture = *state;
    fixture->streams->table = current(fixture);
    fixture->streams->table.feeds_kinesis = true;
    set_stream(fixture, true, NOW_MS);
    fixture->streams->table.feeds_kinesis = true;
    assert_int_equal(catalogue_update(fixture->streams->catalogue, fixture->streams->arena,
                                      &fixture->streams->table),
                     ENGINE_OK);
    settle(fixture);
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    settle(fixture);
    put_all_now(fixture);
    set_stream(fixture, false, NOW_MS + 1); /* Detached. */
    settle(fixture);
    stream_fixture_assert_whole(fixture->streams);
    set_stream(fixture, true, NOW_MS + 2); /* Attached: it has a first shard in each partition. */
    settle(fixture);
    assert_non_null(log_of(fixture)->firsts);
    assert_int_equal(begin_at(fixture, 3 * QUARTER + 5), ENGINE_OK);
    settle(fixture);
    assert_int_equal(log_of(fixture)->partition_count, 6);
    put_all_now(fixture);
    restart(fixture);
    stream_fixture_assert_whole(fixture->streams);
}

/* --- What `stator check` says --- */

static void note_problem(void *context, const char *line)
{
    struct bytes *out = context;
    if (out->len == 0) {
        char *copy = strdup(line);
        *out = (struct bytes){ .data = (const uint8_t *)copy, .len = strlen(copy) };
    }
}

/* Stores the shard, and compares the first problem that is found. */
static void assert_problem(struct fixture *fixture, const struct shard *shard, const char *want)
{
    struct stream_fixture *streams = fixture->streams;
    struct engine_write *write;
    struct bytes found = { 0 };
    assert_int_equal(engine_write_begin(streams->engine, NULL, 0, &write), ENGINE_OK);
    shard_put(streams->arena, write, streams->table.log_id, shard);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    assert_int_equal(check_store(streams->engine, note_problem, &found).problem_count, 1);
    assert_non_null(strstr((const char *)found.data, want));
    free((void *)found.data);
}

static void a_child_that_does_not_fit_its_parent_is_reported(void **state)
{
    struct fixture *fixture = *state;
    struct shard shards[SHARDS_MAX];
    put_all_now(fixture);
    assert_int_equal(begin_at(fixture, QUARTER / 2), ENGINE_OK);
    settle(fixture);
    assert_int_equal(list_shards(fixture, shards), 4 + 2);
    struct shard child = shards[5];
    child.parent_partition = 999;
    assert_problem(fixture, &child, "names a parent that is not in the stream");
    child.parent_partition = shards[1].partition;
    child.parent_created_ms = shards[1].created_ms; /* Which is open. */
    assert_problem(fixture, &child, "does not begin where its parent ends");
}

/* --- When --- */

/* Logs so many changes in a partition, then looks, at a time. */
static void look_after(struct fixture *fixture, size_t changes, size_t partition, int64_t now_ms)
{
    for (size_t i = 0; i < changes; i++)
        assert_true(stream_fixture_log_change(fixture->streams, fixture->streams->table.log_id,
                                              partition, now_ms));
    fixture->streams->clock.fixed_ms = now_ms;
    split_life_run(&fixture->life, fixture->streams->arena);
}

static void a_partition_splits_when_it_has_been_hot_for_long_enough(void **state)
{
    static const struct {
        size_t changes; /* In each look's 100 ms. */
        int looks;
        size_t splits;
    } cases[] = { { 0, 50, 0 }, { 1, 50, 0 }, { 2, 2, 0 }, { 2, 3, 0 }, { 2, 4, 1 }, { 3, 4, 1 } };
    for (size_t c = 0; c < COUNT_OF(cases); c++) {
        assert_int_equal(set_up(state), 0);
        struct fixture *fixture = *state;
        fixture->life.limits = (struct split_limits){ .writes_max = 20, .heat_ms = 300 };
        for (int i = 0; i < cases[c].looks; i++)
            look_after(fixture, cases[c].changes, 2, NOW_MS + 100 * i);
        struct table_definition table = current(fixture);
        assert_int_equal(table.split_count, cases[c].splits);
        if (table.split_count > 0) {
            assert_int_equal(table.splits[0].parent_id, table.partitions[2].id);
            assert_true(table.splits[0].first_hash == 2 * QUARTER + QUARTER / 2);
        }
        stream_fixture_assert_whole(fixture->streams);
        if (c + 1 < COUNT_OF(cases))
            tear_down(state);
    }
}

static void a_pause_begins_the_count_anew(void **state)
{
    struct fixture *fixture = *state;
    fixture->life.limits = (struct split_limits){ .writes_max = 20, .heat_ms = 300 };
    for (int i = 0; i < 50; i++)
        look_after(fixture, i % 3 == 0 ? 1 : 5, 2, NOW_MS + 100 * i);
    assert_int_equal(current(fixture).split_count, 0);
}

/* Its partition is divided in vain, but only so often. */
static void a_single_hot_key_splits_a_bounded_number_of_times(void **state)
{
    struct fixture *fixture = *state;
    fixture->life.limits = (struct split_limits){ .writes_max = 20, .heat_ms = 300 };
    for (int i = 0; i < 300; i++)
        look_after(fixture, 5, 0, NOW_MS + 100 * i);
    struct table_definition table = current(fixture);
    assert_int_equal(table.split_count, 62 - 56);
    for (size_t i = 0; i < table.split_count; i++)
        assert_int_equal(table.splits[i].parent_id, table.partitions[0].id);
    stream_fixture_assert_whole(fixture->streams);
}

static void a_large_table_splits_its_widest_partitions(void **state)
{
    struct fixture *fixture = *state;
    put_all_now(fixture); /* Of 9 or 10 bytes each. */
    fixture->life.limits = (struct split_limits){ .size_max = 40, .heat_ms = 300 };
    for (int i = 0; i < 30; i++) {
        look_after(fixture, 0, 0, NOW_MS + 100 * i);
        put_all_now(fixture);
    }
    struct table_definition table = current(fixture);
    assert_int_equal(table.split_count, 4); /* 320 bytes and less in eight partitions. */
    for (size_t i = 0; i < table.split_count; i++)
        assert_true(table.splits[i].first_hash == QUARTER * i + QUARTER / 2);
    assert_complete(fixture);
}

static void limits_of_zero_split_nothing(void **state)
{
    struct fixture *fixture = *state;
    put_all_now(fixture);
    for (int i = 0; i < 30; i++)
        look_after(fixture, 100, 0, NOW_MS + 60000 * i);
    assert_int_equal(current(fixture).split_count, 0);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define RULE_THAT_SETS_UP(name) cmocka_unit_test_teardown(name, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_split_ends_a_shard_and_begins_two_children),
        RULE(changes_of_an_item_stay_in_order_whoever_writes_them),
        RULE(partitions_split_again_and_again),
        RULE_THAT_SETS_UP(a_split_that_is_cut_short_is_taken_up_again),
        RULE(a_crash_between_two_steps_changes_nothing),
        RULE(a_stream_that_ends_during_a_split_ends_whole),
        RULE(streams_begin_and_end_on_a_log_that_was_split),
        RULE_THAT_SETS_UP(a_partition_splits_when_it_has_been_hot_for_long_enough),
        RULE(a_pause_begins_the_count_anew),
        RULE(a_child_that_does_not_fit_its_parent_is_reported),
        RULE(a_single_hot_key_splits_a_bounded_number_of_times),
        RULE(a_large_table_splits_its_widest_partitions),
        RULE(limits_of_zero_split_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
