/* test_txn_changes.c -- every change of an item is in its log, numbered in order and without gaps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "base/random.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "txn/txn.h"

enum { LOG_ID = 40, PARTITION = 11, OTHER_PARTITION = 12, NOW_MS = 1700000000 };
enum { SECOND_LOG_ID = 41, SECOND_PARTITION = 21 };

static struct partition partitions[] = {
    { .id = PARTITION, .first_hash = 0 },
    { .id = OTHER_PARTITION, .first_hash = UINT64_C(1) << 63 },
};
static const struct table_definition definition = {
    .name = { (const uint8_t *)"t", 1 },
    .id = 7,
    .key = { .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S } },
    .partitions = partitions,
    .partition_count = COUNT_OF(partitions),
    .log_id = LOG_ID,
};

/* Has the items whose keys begin with an 's'. */
static struct partition second_partitions[] = { { .id = SECOND_PARTITION, .first_hash = 0 } };
static const struct table_definition second_definition = {
    .name = { (const uint8_t *)"s", 1 },
    .id = 8,
    .key = { .hash = { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S } },
    .partitions = second_partitions,
    .partition_count = COUNT_OF(second_partitions),
    .log_id = SECOND_LOG_ID,
};

struct fixture {
    const struct table_definition *table; /* NULL: `definition`, or by the key the second one. */
    struct arena *arena;
    struct engine *engine;
    struct clock clock;
    struct commit_clock commits;
};

static void put_head_of(struct fixture *fixture, uint64_t log_id, uint64_t partition,
                        const struct change_log_head *head)
{
    struct engine_address address = change_log_head_address(log_id, partition);
    struct engine_write *write;
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    change_log_put_head(write, &address, head);
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void put_head(struct fixture *fixture, uint64_t partition,
                     const struct change_log_head *head)
{
    put_head_of(fixture, LOG_ID, partition, head);
}

static void open_log(struct fixture *fixture, unsigned images)
{
    const struct change_log_head head = {
        .open = true, .images = images, .next = 2, .shard_first = 1
    };
    put_head(fixture, PARTITION, &head);
    put_head(fixture, OTHER_PARTITION, &head);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = arena_create();
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->clock = clock_fixed(NOW_MS);
    fixture->commits = (struct commit_clock){ 0 };
    fixture->clock.commits = &fixture->commits;
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

/* --- Writing --- */

enum { WRITES_MAX = 20 };
struct write {
    enum txn_effect effect;
    const char *item;
    bool by_service;
};
struct plan {
    struct txn txn;
    struct txn_item items[WRITES_MAX];
    const struct write *writes;
    enum engine_status status;
};

static struct plan *of_txn(struct txn *txn)
{
    return (struct plan *)((char *)txn - offsetof(struct plan, txn));
}

static bool decide(struct txn *txn)
{
    for (size_t i = 0; i < txn->item_count; i++) {
        txn->items[i].effect = of_txn(txn)->writes[i].effect;
        txn->items[i].replacement = item_fixture_read(txn->arena, of_txn(txn)->writes[i].item);
    }
    return true;
}

static void done(struct txn *txn, enum engine_status status)
{
    of_txn(txn)->status = status;
}

static enum engine_status run(struct fixture *fixture, const struct write *writes, size_t count)
{
    struct plan plan = { .txn = { .arena = fixture->arena,
                                  .engine = fixture->engine,
                                  .clock = &fixture->clock,
                                  .item_count = count,
                                  .decide = decide,
                                  .done = done },
                         .writes = writes };
    plan.txn.items = plan.items;
    for (size_t i = 0; i < count; i++) {
        struct error err;
        struct item item = item_fixture_read(fixture->arena, writes[i].item);
        error_init(&err, fixture->arena);
        plan.items[i].table = fixture->table != NULL                           ? fixture->table
                              : strstr(writes[i].item, "'pk':{'S':'s") != NULL ? &second_definition
                                                                               : &definition;
        plan.items[i].by_service = writes[i].by_service;
        assert_true(item_address_of_item(fixture->arena, plan.items[i].table, &item,
                                         &plan.items[i].place, &err));
    }
    txn_start(&plan.txn);
    return plan.status;
}

/* --- Reading --- */

static void append_line(struct arena *arena, const struct change_record *record, struct buffer *out)
{
    struct bytes new_image = item_fixture_write(arena, &record->new_image);
    struct bytes old_image = item_fixture_write(arena, &record->old_image);
    buffer_append_bytes(out,
                        arena_printf(arena, "%s%s %.*s %.*s;", change_event_name(record->event),
                                     record->by_service ? "!" : "", BYTES_FMT(new_image),
                                     BYTES_FMT(old_image)));
}

/* The log of both partitions as lines: "EVENT new old;", numbers checked. Records of a partition
 * are numbered from 2 on. */
static struct bytes logged(struct fixture *fixture)
{
    static const uint64_t ids[] = { PARTITION, OTHER_PARTITION };
    struct buffer out;
    struct engine_view *view;
    buffer_init(&out, fixture->arena);
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (size_t p = 0; p < COUNT_OF(ids); p++) {
        struct engine_address head_address = change_log_head_address(LOG_ID, ids[p]);
        struct change_log_head head;
        struct engine_range range = { .place = head_address.place, .first = BYTES("R") };
        struct engine_scan *scan;
        struct engine_entry entry;
        uint64_t sequence, expected = 2;
        assert_int_equal(change_log_view_head(view, &head_address, &head), ENGINE_OK);
        assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
        while (engine_scan_next(scan, &entry) == ENGINE_OK) {
            struct change_record record;
            assert_true(change_log_sequence_of_key(entry.key, &sequence));
            assert_int_equal(sequence, expected++);
            assert_true(change_record_decode(arena_copy(fixture->arena, entry.value), &record));
            assert_int_equal(record.commit_us / 1000, NOW_MS);
            assert_int_equal(record.server_ms, NOW_MS);
            append_line(fixture->arena, &record, &out);
        }
        engine_scan_close(scan);
        if (head.next != 0)
            assert_int_equal(head.next, expected);
    }
    engine_view_close(view);
    return buffer_bytes(&out);
}

static void assert_logged(struct fixture *fixture, const char *want)
{
    struct bytes got = logged(fixture);
    struct bytes text = item_fixture_text(fixture->arena, want);
    if (!bytes_equal(got, text))
        fail_msg("logged %.*s", BYTES_FMT(got));
}

/* --- Rules --- */

#define A1 "{'pk':{'S':'a'},'v':{'N':'1'}}"
#define A2 "{'pk':{'S':'a'},'v':{'N':'2'}}"

static void inserts_changes_and_removals_are_logged_with_their_images(void **state)
{
    struct fixture *fixture = *state;
    static const struct write writes[] = { { TXN_PUT, A1, false },
                                           { TXN_PUT, A2, false },
                                           { TXN_DELETE, A1, true } };
    open_log(fixture, CHANGE_IMAGES_ALL);
    for (size_t i = 0; i < COUNT_OF(writes); i++)
        assert_int_equal(run(fixture, &writes[i], 1), ENGINE_OK);
    assert_logged(fixture, "INSERT " A1 " {};MODIFY " A2 " " A1 ";REMOVE! {} " A2 ";");
}

static void what_changes_nothing_is_not_logged(void **state)
{
    struct fixture *fixture = *state;
    static const struct write writes[] = {
        { TXN_DELETE, A1, false }, /* Nothing there. */
        { TXN_PUT, A1, false },
        { TXN_PUT, A1, false },
        { TXN_KEEP, A1, false },
    };
    open_log(fixture, CHANGE_NEW_IMAGE);
    for (size_t i = 0; i < COUNT_OF(writes); i++)
        assert_int_equal(run(fixture, &writes[i], 1), ENGINE_OK);
    assert_logged(fixture, "INSERT " A1 " {};");
}

static void a_closed_log_and_one_never_opened_stay_as_they_are(void **state)
{
    struct fixture *fixture = *state;
    const struct write writes[] = { { TXN_PUT, A1, false }, { TXN_PUT, A2, false } };
    const struct change_log_head closed = { .images = CHANGE_IMAGES_ALL,
                                            .next = 2,
                                            .shard_first = 1 };
    assert_int_equal(run(fixture, &writes[0], 1), ENGINE_OK);
    assert_logged(fixture, "");
    put_head(fixture, PARTITION, &closed);
    put_head(fixture, OTHER_PARTITION, &closed);
    assert_int_equal(run(fixture, &writes[1], 1), ENGINE_OK);
    assert_logged(fixture, "");
}

/* `logged` fails on any number that is missing or comes twice. */
static void items_of_one_write_take_successive_numbers(void **state)
{
    struct fixture *fixture = *state;
    struct write writes[WRITES_MAX];
    open_log(fixture, 0);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < WRITES_MAX; i++) {
            struct bytes text = arena_printf(fixture->arena, "{'pk':{'S':'%zu'},'v':{'N':'%d'}}%c",
                                             i, round % 2, 0);
            writes[i] = (struct write){ .effect = TXN_PUT, .item = (const char *)text.data };
        }
        assert_int_equal(run(fixture, writes, WRITES_MAX), ENGINE_OK);
    }
    size_t records = 0;
    struct bytes lines = logged(fixture);
    for (size_t i = 0; i < lines.len; i++)
        records += lines.data[i] == ';';
    assert_int_equal(records, 3 * WRITES_MAX);
}

static void the_logs_time_does_not_fall_with_the_clock(void **state)
{
    struct fixture *fixture = *state;
    static const struct write writes[] = { { TXN_PUT, A1, false }, { TXN_PUT, A2, false } };
    open_log(fixture, 0);
    assert_int_equal(run(fixture, &writes[0], 1), ENGINE_OK);
    fixture->clock.fixed_ms = NOW_MS - 5000;
    assert_int_equal(run(fixture, &writes[1], 1), ENGINE_OK);
    assert_logged(fixture, "INSERT {} {};MODIFY {} {};"); /* `logged` compares the times. */
}

/* --- A partition that is split --- */

enum { NEW_PARTITION = 13, KEYS = WRITES_MAX };

/* Puts all keys with another value each time. */
static void put_all(struct fixture *fixture)
{
    static int value;
    struct write writes[KEYS];
    value++;
    for (size_t i = 0; i < KEYS; i++) {
        struct bytes text =
            arena_printf(fixture->arena, "{'pk':{'S':'%zu'},'v':{'N':'%d'}}%c", i, value, 0);
        writes[i] = (struct write){ .effect = TXN_PUT, .item = (const char *)text.data };
    }
    assert_int_equal(run(fixture, writes, KEYS), ENGINE_OK);
}

static size_t keys_between(struct fixture *fixture, uint64_t first, uint64_t last)
{
    size_t found = 0;
    for (size_t i = 0; i < KEYS; i++) {
        struct error err;
        struct item_address address;
        struct bytes text = arena_printf(fixture->arena, "{'pk':{'S':'%zu'}}%c", i, 0);
        struct item item = item_fixture_read(fixture->arena, (const char *)text.data);
        error_init(&err, fixture->arena);
        assert_true(item_address_of_item(fixture->arena, &definition, &item, &address, &err));
        found += address.hash >= first && address.hash <= last;
    }
    return found;
}

/* How many records were logged in the partition so far. */
static size_t logged_in(struct fixture *fixture, uint64_t partition)
{
    struct engine_address address = change_log_head_address(LOG_ID, partition);
    struct change_log_head head;
    struct engine_view *view;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(change_log_view_head(view, &address, &head), ENGINE_OK);
    engine_view_close(view);
    return head.next == 0 ? 0 : (size_t)head.next - 2;
}

static void damage_head(struct fixture *fixture, uint64_t partition)
{
    struct engine_address address = change_log_head_address(LOG_ID, partition);
    struct engine_write *write;
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    engine_write_put(write, &address, BYTES("damaged"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void while_a_partition_is_split_its_new_head_decides(void **state)
{
    struct fixture *fixture = *state;
    const uint64_t border = UINT64_C(1) << 62;
    struct partition splits[] = {
        { .id = NEW_PARTITION, .first_hash = border, .parent_id = PARTITION },
    };
    struct table_definition table = definition;
    const struct change_log_head opened = { .open = true, .next = 2, .shard_first = 1 };
    size_t low = keys_between(fixture, 0, border - 1);
    size_t split_off = keys_between(fixture, border, (UINT64_C(1) << 63) - 1);
    size_t others = KEYS - low - split_off;
    assert_true(low > 0 && split_off > 0 && others > 0);
    open_log(fixture, 0);
    table.splits = splits;
    table.split_count = COUNT_OF(splits);
    table.splitting_id = NEW_PARTITION;
    fixture->table = &table;

    put_all(fixture); /* Its log is not open yet. */
    assert_int_equal(logged_in(fixture, PARTITION), low + split_off);
    assert_int_equal(logged_in(fixture, NEW_PARTITION), 0);
    assert_int_equal(logged_in(fixture, OTHER_PARTITION), others);

    put_head(fixture, NEW_PARTITION, &opened);
    put_all(fixture);
    table.splitting_id = 0;
    put_all(fixture);
    assert_int_equal(logged_in(fixture, PARTITION), 3 * low + split_off);
    assert_int_equal(logged_in(fixture, NEW_PARTITION), 2 * split_off);
    assert_int_equal(logged_in(fixture, OTHER_PARTITION), 3 * others);
}

/* So that writers of both do not meet once the split is over. */
static void a_partition_that_was_split_off_does_not_ask_for_its_parents_head(void **state)
{
    struct fixture *fixture = *state;
    struct partition splits[] = {
        { .id = NEW_PARTITION, .first_hash = 1, .parent_id = PARTITION }
    };
    struct table_definition table = definition;
    static const struct write put = { TXN_PUT, A1, false };
    struct error err;
    struct item_address address;
    struct item item = item_fixture_read(fixture->arena, A1);
    error_init(&err, fixture->arena);
    assert_true(item_address_of_item(fixture->arena, &definition, &item, &address, &err));
    splits[0].first_hash = address.hash;
    splits[0].parent_id = address.address.place.partition;
    open_log(fixture, 0);
    damage_head(fixture, splits[0].parent_id);
    table.splits = splits;
    table.split_count = COUNT_OF(splits);
    table.splitting_id = NEW_PARTITION;
    fixture->table = &table;
    assert_int_equal(run(fixture, &put, 1), ENGINE_CORRUPT);
    table.splitting_id = 0;
    assert_int_equal(run(fixture, &put, 1), ENGINE_OK);
}

/* --- Commit times --- */

static const struct {
    uint64_t log_id, partition;
} all_logs[] = { { LOG_ID, PARTITION },
                 { LOG_ID, OTHER_PARTITION },
                 { SECOND_LOG_ID, SECOND_PARTITION } };

/* Asserts that the records from `next[]` on have one commit time, moves `next[]` behind them, and
 * returns it; 0: there are none. */
static int64_t commit_time_of_new_records(struct fixture *fixture, uint64_t next[])
{
    int64_t commit_us = 0;
    struct engine_view *view;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (size_t i = 0; i < COUNT_OF(all_logs); i++) {
        for (;; next[i]++) {
            struct engine_address address = change_log_record_address(
                fixture->arena, all_logs[i].log_id, all_logs[i].partition, next[i]);
            struct engine_value value = { 0 };
            struct change_record record;
            if (engine_view_get(view, &address, &value) != ENGINE_OK)
                break;
            assert_true(change_record_decode(value.bytes, &record));
            if (commit_us != 0)
                assert_int_equal(record.commit_us, commit_us);
            commit_us = record.commit_us;
            engine_value_release(&value);
        }
    }
    engine_view_close(view);
    return commit_us;
}

/* What a server that starts knows of commit times is what the heads say. */
static void restart_clock(struct fixture *fixture)
{
    static const uint64_t first[] = { PARTITION, OTHER_PARTITION }, second[] = { SECOND_PARTITION };
    struct engine_view *view;
    int64_t first_us, second_us;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(change_log_newest_commit(view, LOG_ID, first, COUNT_OF(first), &first_us),
                     ENGINE_OK);
    assert_int_equal(
        change_log_newest_commit(view, SECOND_LOG_ID, second, COUNT_OF(second), &second_us),
        ENGINE_OK);
    engine_view_close(view);
    fixture->commits = (struct commit_clock){ 0 };
    clock_raise_commit_us(&fixture->clock, first_us);
    clock_raise_commit_us(&fixture->clock, second_us);
}

/* Puts to random items of both tables in one write; some of them log nothing. */
static void write_at_random(struct fixture *fixture, struct random *random, uint64_t round)
{
    struct write writes[WRITES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < WRITES_MAX; i++) {
        if (random_below(random, 4) != 0 && count > 0)
            continue;
        struct bytes text = arena_printf(fixture->arena, "{'pk':{'S':'%s%zu'},'v':{'N':'%d'}}%c",
                                         i % 3 == 0 ? "s" : "", i, (int)(round % 3), 0);
        writes[count++] = (struct write){ .effect = TXN_PUT, .item = (const char *)text.data };
    }
    assert_int_equal(run(fixture, writes, count), ENGINE_OK);
}

static void commit_times_are_equal_within_a_write_and_increase_over_all_tables(void **state)
{
    enum { ROUNDS = 2000, STEP_MS_MAX = 3600 * 1000 };
    struct fixture *fixture = *state;
    const struct change_log_head head = { .open = true, .next = 2, .shard_first = 1 };
    uint64_t next[COUNT_OF(all_logs)] = { 2, 2, 2 };
    int64_t last_us = 0;
    struct random random;
    random_init(&random, 4711);
    for (size_t i = 0; i < COUNT_OF(all_logs); i++)
        put_head_of(fixture, all_logs[i].log_id, all_logs[i].partition, &head);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        if (random_below(&random, 5) == 0) /* Somebody sets the wall clock. */
            fixture->clock.wall_ahead_ms =
                (int64_t)random_below(&random, 2 * STEP_MS_MAX) - STEP_MS_MAX;
        if (random_below(&random, 10) == 0)
            restart_clock(fixture);
        fixture->clock.fixed_ms += (int64_t)random_below(&random, 3);
        int64_t wall_us = clock_wall_us(&fixture->clock);
        write_at_random(fixture, &random, round);
        int64_t commit_us = commit_time_of_new_records(fixture, next);
        if (commit_us == 0)
            continue;
        assert_true(commit_us > last_us);
        assert_true(commit_us >= wall_us);
        last_us = commit_us;
    }
    assert_true(next[0] + next[1] + next[2] > ROUNDS);
}

/* Whatever call of the engine fails, item and record are both there or both not. */
static void a_failure_leaves_neither_item_nor_record(void **state)
{
    struct fixture *fixture = *state;
    static const struct write writes[] = { { TXN_PUT, A1, false }, { TXN_DELETE, A1, false } };
    open_log(fixture, CHANGE_NEW_IMAGE);
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        size_t before = logged(fixture).len;
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        enum engine_status status = run(fixture, &writes[0], 1);
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(status, struck ? ENGINE_IO : ENGINE_OK);
        assert_int_equal(logged(fixture).len > before, !struck);
        /* An item without a record would be removed with one. */
        before = logged(fixture).len;
        assert_int_equal(run(fixture, &writes[1], 1), ENGINE_OK);
        assert_int_equal(logged(fixture).len > before, !struck);
    }
}

static void a_damaged_head_fails_the_write(void **state)
{
    struct fixture *fixture = *state;
    static const struct write put = { TXN_PUT, A1, false };
    static const uint64_t ids[] = { PARTITION, OTHER_PARTITION };
    for (size_t p = 0; p < COUNT_OF(ids); p++) {
        struct engine_address address = change_log_head_address(LOG_ID, ids[p]);
        struct engine_write *write;
        assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
        engine_write_put(write, &address, BYTES("damaged"));
        assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    }
    assert_int_equal(run(fixture, &put, 1), ENGINE_CORRUPT);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(inserts_changes_and_removals_are_logged_with_their_images),
        RULE(what_changes_nothing_is_not_logged),
        RULE(a_closed_log_and_one_never_opened_stay_as_they_are),
        RULE(items_of_one_write_take_successive_numbers),
        RULE(the_logs_time_does_not_fall_with_the_clock),
        RULE(while_a_partition_is_split_its_new_head_decides),
        RULE(a_partition_that_was_split_off_does_not_ask_for_its_parents_head),
        RULE(commit_times_are_equal_within_a_write_and_increase_over_all_tables),
        RULE(a_failure_leaves_neither_item_nor_record),
        RULE(a_damaged_head_fails_the_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
