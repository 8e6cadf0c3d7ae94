/* test_stream_upkeep.c -- a stream's life, by an injected clock and with failures at every call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "base/crc32c.h"
#include "base/timed_wait.h"
#include "check/check.h"
#include "engine/commit/commit_engine.h"
#include "failing_engine.h"
#include "item_fixture.h"
#include "model/table_definition.h"
#include "partition_memory.h"
#include "reference_engine.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_layout.h"
#include "log/log_read.h"
#include "log/log_retention.h"
#include "log/shard.h"
#include "log_fixture.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "stream_fixture.h"
#include "table/catalogue.h"
#include "table/server_time.h"

#define NOW_MS STREAM_FIXTURE_NOW_MS
#define ROLLOVER_MS INT64_C(14400000)

static int set_up_on(void **state, struct engine *engine)
{
    struct stream_fixture *fixture = stream_fixture_open(engine);
    fixture->upkeep.rollover_ms = ROLLOVER_MS;
    *state = fixture;
    return 0;
}

static int set_up(void **state)
{
    return set_up_on(state, failing_engine_create(reference_engine_create()));
}

static int set_up_without_range_deletes(void **state)
{
    return set_up_on(state, reference_engine_create_with(ENGINE_GLOBAL_ATOMIC));
}

static struct partition_store *partitions;

static int set_up_on_partitions(void **state)
{
    char message[ENGINE_MESSAGE_MAX];
    partitions = partition_memory_create(true);
    return set_up_on(state, commit_engine_create(partitions, &commit_time_system, 1, message));
}

static int tear_down(void **state)
{
    stream_fixture_close(*state);
    return 0;
}

/* --- What is there --- */

static bool count_record(void *context, uint64_t sequence, const struct change_record *record)
{
    (void)sequence;
    (void)record;
    ++*(size_t *)context;
    return true;
}

/* How many records can be read of a shard from its oldest on; -1: that place is gone. */
static int readable(struct stream_fixture *fixture, uint64_t log_id, const struct shard *shard,
                    uint64_t from)
{
    size_t count = 0;
    struct log_cursor cursor = {
        .log_id = log_id, .partition = shard->partition, .shard_first = shard->first, .next = from
    };
    struct log_page page = { .count_max = 1000, .visit = count_record, .context = &count };
    struct engine_view *view;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(log_read_page(fixture->arena, view, &cursor, &page), ENGINE_OK);
    engine_view_close(view);
    return page.trimmed ? -1 : (int)count;
}

/* --- Rules --- */

static void a_table_with_a_stream_gets_one_open_shard_per_partition(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    assert_int_not_equal(fixture->table.log_id, 0);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLED);
    for (size_t p = 0; p < CATALOGUE_ON_DEMAND_PARTITIONS; p++) {
        size_t count;
        struct shard *shards = stream_fixture_shards_of(fixture, fixture->table.log_id, p, &count);
        assert_int_equal(count, 1);
        assert_true(shard_is_open(&shards[0]) && shards[0].parent_created_ms == 0);
        assert_true(stream_fixture_log_change(fixture, fixture->table.log_id, p, NOW_MS));
    }
    assert_int_equal(streams_of_log(fixture->streams, fixture->table.log_id)->created_ms, NOW_MS);
    stream_fixture_assert_whole(fixture);
}

static void a_table_without_a_stream_has_none(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, false);
    assert_int_equal(fixture->table.log_id, 0);
    assert_int_equal(stream_fixture_run(fixture, NOW_MS), TIMED_WAIT_FOREVER);
    assert_int_equal(streams_count(fixture->streams), 0);
}

/* Their changes would be missing between those of others. */
static void a_log_opens_when_nobody_uses_an_older_definition(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, false);
    struct table *old = catalogue_find(fixture->catalogue, BYTES("table"));
    stream_fixture_set_stream(fixture, true, NOW_MS);
    assert_int_equal(stream_fixture_run(fixture, NOW_MS), STREAM_UPKEEP_RETRY_MS);
    assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLING);
    assert_false(stream_fixture_log_change(fixture, fixture->table.log_id, 0, NOW_MS));
    stream_fixture_assert_whole(fixture);
    table_release(old);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLED);
    assert_true(stream_fixture_log_change(fixture, fixture->table.log_id, 0, NOW_MS));
}

static unsigned images_of_head(struct stream_fixture *fixture, uint64_t log_id, size_t partition)
{
    struct engine_view *view;
    struct change_log_head head;
    struct engine_address address =
        change_log_head_address(log_id, fixture->table.partitions[partition].id);
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(change_log_view_head(view, &address, &head), ENGINE_OK);
    engine_view_close(view);
    return head.images;
}

/* A stream's view type never changes; other readers of the log come and go. */
static void records_hold_what_the_readers_of_the_log_need_now(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_int_equal(images_of_head(fixture, log_id, 3), CHANGE_NEW_IMAGE);
    assert_true(stream_fixture_log_change(fixture, log_id, 3, NOW_MS));
    fixture->table.stream_view_type = BYTES("NEW_AND_OLD_IMAGES");
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(images_of_head(fixture, log_id, 3), CHANGE_IMAGES_ALL);
    assert_true(stream_fixture_log_change(fixture, log_id, 3, NOW_MS));
    stream_fixture_restart(fixture);
    assert_int_equal(streams_of_log(fixture->streams, log_id)->images, CHANGE_IMAGES_ALL);
    stream_fixture_assert_whole(fixture);
}

static void shards_roll_over_in_time_and_know_their_parents(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 1, NOW_MS));
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS - 1);
    stream_fixture_shards_of(fixture, log_id, 1, &count);
    assert_int_equal(count, 1);
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    assert_true(stream_fixture_log_change(fixture, log_id, 1, NOW_MS + ROLLOVER_MS));
    assert_true(stream_fixture_log_change(fixture, log_id, 1, NOW_MS + ROLLOVER_MS));
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 1, &count);
    assert_int_equal(count, 2);
    assert_int_equal(shards[0].last, 2);
    assert_int_equal(shards[0].closed_ms, NOW_MS + ROLLOVER_MS);
    assert_int_equal(shards[1].first, 3);
    assert_true(shard_is_open(&shards[1]));
    assert_int_equal(shards[1].parent_created_ms, shards[0].created_ms);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    assert_int_equal(readable(fixture, log_id, &shards[1], shards[1].kept), 2);
    shards = stream_fixture_shards_of(fixture, log_id, 0, &count); /* Nothing was written here. */
    assert_int_equal(count, 2);
    assert_int_equal(shards[0].last, shards[0].first);
    stream_fixture_assert_whole(fixture);
}

/* The clock may be set back. Shards are told apart by the times of their creation. */
static void a_child_is_younger_than_its_parent_whatever_the_clock_says(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    fixture->upkeep.rollover_ms = 1;
    stream_fixture_run(fixture, NOW_MS + 1);
    fixture->upkeep.rollover_ms = -10000;
    stream_fixture_run(fixture, NOW_MS - 5000);
    struct shard *shards = stream_fixture_shards_of(fixture, fixture->table.log_id, 0, &count);
    assert_int_equal(count, 3);
    assert_true(shards[1].created_ms > shards[0].created_ms);
    assert_true(shards[2].created_ms > shards[1].created_ms);
}

static void a_clock_that_is_set_back_does_not_stop_rollover_and_trimming(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    fixture->clock.wall_ahead_ms = -STREAM_RETENTION_MS;
    assert_true(stream_fixture_run(fixture, NOW_MS) <= STREAM_UPKEEP_TRIM_INTERVAL_MS);
    assert_int_equal(streams_of_log(fixture->streams, fixture->table.log_id)->rolled_ms,
                     NOW_MS - STREAM_RETENTION_MS);
    stream_fixture_assert_whole(fixture);
}

/* A year ahead for two rollovers, say because of an empty battery. */
static void shards_that_a_clock_ahead_closed_go_after_a_day(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->clock.wall_ahead_ms = 365 * STREAM_RETENTION_MS;
    for (int i = 0; i < 2; i++) {
        assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + i * ROLLOVER_MS));
        stream_fixture_run(fixture, NOW_MS + i * ROLLOVER_MS);
    }
    stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 3);
    fixture->clock.wall_ahead_ms = 0;
    fixture->upkeep.rollover_ms = 0;
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS + STREAM_RETENTION_MS);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 2); /* The second one ended just a day ago. */
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    stream_fixture_assert_whole(fixture);
    stream_fixture_run(fixture,
                       NOW_MS + ROLLOVER_MS + STREAM_RETENTION_MS + STREAM_UPKEEP_TRIM_INTERVAL_MS);
    shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 1);
    assert_true(shard_is_open(&shards[0]));
    stream_fixture_assert_whole(fixture);
}

static void records_are_trimmed_after_a_day(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    for (int64_t i = 0; i < 10; i++)
        assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + i * 1000));
    static const struct {
        int64_t after_ms; /* The first record is a day old by then. */
        int left;
    } steps[] = { { -1, 10 }, { 0, 10 }, { 1, 9 }, { 4000, 6 }, { 4001, 5 }, { 9001, 0 } };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        fixture->upkeep.next_trim_ms = 0;
        stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS + steps[i].after_ms);
        struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
        assert_int_equal(count, 1);
        assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), steps[i].left);
        if (shards[0].kept > shards[0].first + 1)
            assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept - 1), -1);
        stream_fixture_assert_whole(fixture);
    }
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + STREAM_RETENTION_MS * 2));
    stream_fixture_assert_whole(fixture);
}

static void an_engine_without_range_deletes_trims_in_steps(void **state)
{
    enum { OLD = 2 * ENGINE_RANGE_KEYS_MAX + 5 };
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    for (int64_t i = 0; i < OLD; i++)
        assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + 1000));
    fixture->upkeep.next_trim_ms = 0;
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS + 1);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    stream_fixture_assert_whole(fixture);
}

static void a_busy_log_is_trimmed(void **state)
{
    enum { OLD = 9 };
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    for (int64_t i = 0; i < OLD; i++)
        assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + 1000));
    fixture->upkeep.next_trim_ms = 0;
    partition_memory_disturb(partitions, true);
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS + 1);
    partition_memory_disturb(partitions, false);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
}

/* A reader of a test, which needs what it is given. */
static struct log_need given_need(void *context, uint64_t log_id, uint64_t partition,
                                  int64_t now_ms)
{
    (void)log_id;
    (void)partition;
    (void)now_ms;
    return *(const struct log_need *)context;
}

static void trimming_keeps_what_any_reader_needs(void **state)
{
    enum { RECORDS = 10 };
    struct stream_fixture *fixture = *state;
    struct log_need given = { .server_ms = INT64_MAX, .sequence = UINT64_MAX };
    const struct log_retention_reader reader = { .name = "test",
                                                 .need = given_need,
                                                 .context = &given };
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    log_retention_add(&fixture->retention, &reader);
    for (int64_t i = 0; i < RECORDS; i++)
        assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + i * 1000));
    uint64_t first = stream_fixture_shards_of(fixture, log_id, 0, &count)->kept;
    const struct {
        int64_t day_after_ms; /* Until here streams need nothing any more. */
        struct log_need given;
        int left;
    } steps[] = {
        /* The other reader needs more than streams, by time or by number, or by both, */
        { 1, { 0, UINT64_MAX }, 10 },
        { 5000, { INT64_MAX, first }, 10 },
        { 5000, { NOW_MS + 1000, UINT64_MAX }, 9 },
        { 5000, { NOW_MS + 3000, first + 2 }, 8 },
        { 5000, { NOW_MS + 3000, first + 5 }, 7 },
        /* or less, */
        { 5000, { NOW_MS + 7000, first + 9 }, 5 },
        { 6000, { INT64_MAX, UINT64_MAX }, 4 },
        /* or what is yet to come. */
        { 99000, { INT64_MAX, first + RECORDS - 1 }, 1 },
        { 99000, { INT64_MAX, first + RECORDS }, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        given = steps[i].given;
        fixture->upkeep.next_trim_ms = 0;
        stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS + steps[i].day_after_ms);
        struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
        assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), steps[i].left);
        stream_fixture_assert_whole(fixture);
    }
}

static void a_closed_log_stays_while_any_reader_needs_it(void **state)
{
    const int64_t day_after_ms = NOW_MS + STREAM_RETENTION_MS;
    struct stream_fixture *fixture = *state;
    struct log_need given = { .server_ms = INT64_MAX, .sequence = 2 };
    const struct log_retention_reader reader = { .name = "test",
                                                 .need = given_need,
                                                 .context = &given };
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    log_retention_add(&fixture->retention, &reader);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_set_stream(fixture, false, NOW_MS);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    fixture->upkeep.next_trim_ms = 0;
    assert_true(stream_fixture_run(fixture, day_after_ms + 1) > 0);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    assert_int_equal(
        readable(fixture, log_id, stream_fixture_shards_of(fixture, log_id, 0, &count), 2), 1);
    given = (struct log_need){ .server_ms = NOW_MS - 1, .sequence = UINT64_MAX };
    stream_fixture_run(fixture, day_after_ms + 1);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    given.server_ms = INT64_MAX;
    stream_fixture_run(fixture, day_after_ms + 1);
    assert_null(streams_of_log(fixture->streams, log_id));
}

/* A record, a shard that ended and a stream that was disabled, all seconds old. */
static void a_step_of_the_wall_clock_trims_nothing(void **state)
{
    static const int64_t steps_days[] = { 1, 30, 365000, -1, -30, -365 };
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + ROLLOVER_MS));
    assert_int_equal(stream_fixture_close_stream(fixture, log_id, NOW_MS + ROLLOVER_MS), ENGINE_OK);
    for (size_t i = 0; i < COUNT_OF(steps_days); i++) {
        fixture->clock.wall_ahead_ms = steps_days[i] * STREAM_RETENTION_MS;
        fixture->upkeep.next_trim_ms = 0;
        if (i % 2 == 1)
            stream_fixture_restart(fixture);
        stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS + 1000);
        struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
        assert_int_equal(count, 2);
        assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
        assert_int_equal(readable(fixture, log_id, &shards[1], shards[1].kept), 1);
        assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
        stream_fixture_assert_whole(fixture);
    }
}

/* The wall clock never moves, or runs a month behind. */
static void a_day_of_server_time_trims_whatever_the_wall_clock_says(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    for (int64_t later_ms = 0; later_ms <= 1; later_ms++) {
        int64_t passed_ms = STREAM_RETENTION_MS + later_ms;
        fixture->clock.wall_ahead_ms = later_ms == 0 ? -passed_ms : -30 * STREAM_RETENTION_MS;
        fixture->upkeep.next_trim_ms = 0;
        stream_fixture_run(fixture, NOW_MS + passed_ms);
        struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
        assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1 - later_ms);
    }
    stream_fixture_assert_whole(fixture);
}

/* After a crash server time resumes up to an interval earlier. */
static void a_crash_makes_trimming_later_never_earlier(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    fixture->upkeep.rollover_ms = 0;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_restart(fixture);
    fixture->upkeep.rollover_ms = 0;
    /* What is logged now counts as if it had been logged together with the one before. */
    assert_true(
        stream_fixture_log_change(fixture, log_id, 0, NOW_MS - SERVER_TIME_STORE_INTERVAL_MS));
    stream_fixture_assert_whole(fixture);
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 2);
    fixture->upkeep.next_trim_ms = 0;
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS + 1);
    shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 0);
}

/* --- Stores from before server time --- */

static void store_checksum(uint8_t *bytes, size_t size)
{
    store_u32_le(bytes + 1, crc32c(bytes_of(bytes + 5, size - 5)));
}

/* Rewrites an entry of a log as format 1, which has no server time: eight bytes less at `at`. */
static void make_unstamped(struct stream_fixture *fixture, struct engine_address address, size_t at)
{
    uint8_t bytes[1024];
    struct engine_view *view;
    struct engine_value value = { 0 };
    struct engine_write *write;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_view_get(view, &address, &value), ENGINE_OK);
    size_t size = value.bytes.len - LOG_STAMP_SIZE;
    assert_in_range(value.bytes.len, at + LOG_STAMP_SIZE, sizeof bytes);
    memcpy(bytes, value.bytes.data, at);
    memcpy(bytes + at, value.bytes.data + at + LOG_STAMP_SIZE, size - at);
    engine_value_release(&value);
    engine_view_close(view);
    bytes[0] = LOG_UNSTAMPED_FORMAT;
    store_checksum(bytes, size);
    assert_int_equal(engine_write_begin(fixture->engine, &address, 1, &write), ENGINE_OK);
    engine_write_put(write, &address, bytes_of(bytes, size));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

/* All of it counts as stored when the store got its server time, at the first start. */
static void what_has_no_server_time_stays_for_a_day_after_the_store_got_one(void **state)
{
    enum { HEAD_STAMP_AT = 30, RECORD_STAMP_AT = 14, SHARD_STAMP_AT = 45 };
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id, partition = fixture->table.partitions[0].id;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    fixture->upkeep.rollover_ms = 0;
    make_unstamped(fixture, change_log_head_address(log_id, partition), HEAD_STAMP_AT);
    make_unstamped(fixture, change_log_record_address(fixture->arena, log_id, partition, 2),
                   RECORD_STAMP_AT);
    make_unstamped(fixture, shard_address(fixture->arena, log_id, partition, 1), SHARD_STAMP_AT);
    stream_fixture_restart(fixture);
    fixture->upkeep.rollover_ms = 0;
    stream_fixture_assert_whole(fixture);

    const int64_t origin_ms = 7 * STREAM_RETENTION_MS; /* Of an arbitrary beginning. */
    fixture->clock.server_origin_ms = origin_ms;
    fixture->clock.wall_ahead_ms = 30 * STREAM_RETENTION_MS;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, origin_ms + 1000));
    static const struct {
        int64_t after_ms;
        size_t shards;
        int newest; /* Records of the newest shard. */
    } steps[] = { { 0, 2, 1 },
                  { STREAM_RETENTION_MS, 2, 1 },
                  { STREAM_RETENTION_MS + 1, 1, 1 },
                  { STREAM_RETENTION_MS + 1000, 1, 1 },
                  { STREAM_RETENTION_MS + 1001, 1, 0 } };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        fixture->upkeep.next_trim_ms = 0;
        stream_fixture_run(fixture, origin_ms + steps[i].after_ms);
        struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
        struct shard *newest = &shards[count - 1];
        assert_int_equal(count, steps[i].shards);
        assert_int_equal(readable(fixture, log_id, newest, newest->kept), steps[i].newest);
        if (count == 2)
            assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
        stream_fixture_assert_whole(fixture);
    }
}

/* Otherwise an idle server, which does not store it, could forget hours in a crash. */
static void a_stream_that_opens_has_the_server_time_stored_first(void **state)
{
    struct stream_fixture *fixture = *state;
    struct server_time time;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLED);
    assert_int_equal(server_time_load(fixture->engine, &time), ENGINE_OK);
    assert_int_equal(time.position_ms, NOW_MS);
}

static void trimming_runs_at_intervals(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    fixture->upkeep.rollover_ms = 0;
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_run(fixture, NOW_MS + 1), STREAM_UPKEEP_TRIM_INTERVAL_MS - 1);
    assert_int_equal(stream_fixture_run(fixture, NOW_MS + STREAM_UPKEEP_TRIM_INTERVAL_MS),
                     STREAM_UPKEEP_TRIM_INTERVAL_MS);
}

static void shards_go_a_day_after_they_ended(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + ROLLOVER_MS));
    fixture->upkeep.rollover_ms = 0;
    fixture->upkeep.next_trim_ms = 0;
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS + STREAM_RETENTION_MS);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 0);
    struct shard gone = shards[0];
    fixture->upkeep.next_trim_ms = 0;
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS + STREAM_RETENTION_MS + 1);
    stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(readable(fixture, log_id, &gone, gone.kept), -1);
    stream_fixture_assert_whole(fixture);
}

static void a_disabled_stream_stays_for_a_day_and_a_new_one_has_another_log(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 2, NOW_MS));
    assert_int_equal(stream_fixture_close_stream(fixture, log_id, NOW_MS + 5), ENGINE_OK);
    assert_false(stream_fixture_log_change(fixture, log_id, 2, NOW_MS + 5));
    stream_fixture_set_stream(fixture, false, NOW_MS);
    assert_int_equal(fixture->table.log_id, 0);
    stream_fixture_run(fixture, NOW_MS + 5);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    stream_fixture_set_stream(fixture, true, NOW_MS + 6);
    stream_fixture_run(fixture, NOW_MS + 6);
    assert_int_not_equal(fixture->table.log_id, log_id);
    assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLED);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 2, &count);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    stream_fixture_assert_whole(fixture);
    fixture->upkeep.rollover_ms = 0;
    stream_fixture_run(fixture, NOW_MS + 5 + STREAM_RETENTION_MS - 1);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    stream_fixture_run(fixture, NOW_MS + 5 + STREAM_RETENTION_MS);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_STATUS_COUNT);
    stream_fixture_assert_whole(fixture);
}

static void the_stream_of_a_dropped_table_is_disabled_and_goes_after_a_day(void **state)
{
    struct stream_fixture *fixture = *state;
    bool waiting;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 3, NOW_MS));
    assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("table")), ENGINE_OK);
    stream_fixture_run(fixture, NOW_MS + 1);
    assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                     ENGINE_OK);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    assert_false(stream_fixture_log_change(fixture, log_id, 3, NOW_MS + 1));
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 3, &count);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    stream_fixture_assert_whole(fixture);
    stream_fixture_run(fixture, NOW_MS + 1 + STREAM_RETENTION_MS);
    assert_int_equal(streams_count(fixture->streams), 0);
    stream_fixture_assert_whole(fixture);
}

/* The process ended between closing the stream and changing the table. */
static void a_table_that_names_a_disabled_stream_loses_it(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(stream_fixture_close_stream(fixture, fixture->table.log_id, NOW_MS),
                     ENGINE_OK);
    stream_fixture_restart(fixture);
    stream_fixture_run(fixture, NOW_MS);
    struct table *table = catalogue_find(fixture->catalogue, BYTES("table"));
    assert_false(table_definition(table)->stream_enabled);
    assert_int_equal(table_definition(table)->log_id, 0);
    table_release(table);
    stream_fixture_assert_whole(fixture);
}

static void a_restart_changes_nothing(void **state)
{
    struct stream_fixture *fixture = *state;
    size_t count;
    stream_fixture_create_table(fixture, true);
    stream_fixture_restart(fixture); /* Before the stream was even announced. */
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    stream_fixture_restart(fixture);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_ENABLED);
    stream_fixture_run(fixture, NOW_MS + ROLLOVER_MS);
    struct shard *shards = stream_fixture_shards_of(fixture, log_id, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(readable(fixture, log_id, &shards[0], shards[0].kept), 1);
    stream_fixture_assert_whole(fixture);
}

/* A whole life, with one call of the engine failing; the next run makes up for it. */
static void commit_times_resume_behind_those_of_the_logs(void **state)
{
    const int64_t ahead_ms = NOW_MS + 3600 * 1000;
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    assert_true(stream_fixture_log_change(fixture, fixture->table.log_id, 1, ahead_ms));
    fixture->commits = (struct commit_clock){ 0 };
    fixture->clock.fixed_ms = NOW_MS; /* The wall clock was wrong, and was set right. */
    stream_fixture_restart(fixture);
    assert_int_equal(clock_take_commit_us(&fixture->clock, 0), ahead_ms * 1000 + 1);
}

static void a_step_that_failed_is_taken_again(void **state)
{
    struct stream_fixture *fixture = *state;
    bool struck = true;
    for (uint64_t call = 1; struck; call++) {
        bool waiting;
        stream_fixture_create_table(fixture, true);
        failing_engine_set(fixture->engine,
                           &(struct failing_engine_plan){ .call = call, .status = ENGINE_IO });
        const int64_t moments[] = { NOW_MS, NOW_MS + ROLLOVER_MS, NOW_MS + STREAM_RETENTION_MS };
        for (size_t i = 0; i < COUNT_OF(moments); i++) {
            if (stream_fixture_run(fixture, moments[i]) == STREAM_UPKEEP_FAILURE_RETRY_MS)
                stream_fixture_run(fixture, moments[i]);
        }
        struck = failing_engine_struck(fixture->engine);
        failing_engine_set(fixture->engine, &(struct failing_engine_plan){ 0 });
        assert_int_equal(stream_fixture_status_of(fixture, fixture->table.log_id), STREAM_ENABLED);
        stream_fixture_assert_whole(fixture);
        assert_int_equal(catalogue_drop(fixture->catalogue, fixture->arena, BYTES("table")),
                         ENGINE_OK);
        assert_int_equal(catalogue_remove_dropped(fixture->catalogue, fixture->arena, &waiting),
                         ENGINE_OK);
        stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS * 2);
        stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS * 3);
        assert_int_equal(streams_count(fixture->streams), 0);
        stream_fixture_assert_whole(fixture);
        fixture->upkeep.next_trim_ms = 0;
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_table_with_a_stream_gets_one_open_shard_per_partition),
        RULE(a_table_without_a_stream_has_none),
        RULE(a_log_opens_when_nobody_uses_an_older_definition),
        RULE(records_hold_what_the_readers_of_the_log_need_now),
        RULE(shards_roll_over_in_time_and_know_their_parents),
        RULE(a_child_is_younger_than_its_parent_whatever_the_clock_says),
        RULE(a_clock_that_is_set_back_does_not_stop_rollover_and_trimming),
        RULE(shards_that_a_clock_ahead_closed_go_after_a_day),
        RULE(records_are_trimmed_after_a_day),
        cmocka_unit_test_setup_teardown(an_engine_without_range_deletes_trims_in_steps,
                                        set_up_without_range_deletes, tear_down),
        cmocka_unit_test_setup_teardown(a_busy_log_is_trimmed, set_up_on_partitions, tear_down),
        RULE(trimming_keeps_what_any_reader_needs),
        RULE(a_closed_log_stays_while_any_reader_needs_it),
        RULE(a_step_of_the_wall_clock_trims_nothing),
        RULE(a_day_of_server_time_trims_whatever_the_wall_clock_says),
        RULE(a_crash_makes_trimming_later_never_earlier),
        RULE(what_has_no_server_time_stays_for_a_day_after_the_store_got_one),
        RULE(a_stream_that_opens_has_the_server_time_stored_first),
        RULE(trimming_runs_at_intervals),
        RULE(shards_go_a_day_after_they_ended),
        RULE(a_disabled_stream_stays_for_a_day_and_a_new_one_has_another_log),
        RULE(the_stream_of_a_dropped_table_is_disabled_and_goes_after_a_day),
        RULE(a_table_that_names_a_disabled_stream_loses_it),
        RULE(a_restart_changes_nothing),
        RULE(commit_times_resume_behind_those_of_the_logs),
        RULE(a_step_that_failed_is_taken_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
