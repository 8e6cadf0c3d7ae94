/* test_shared_log.c -- a log that others than its stream read: it has no stream, outlives one, or
 * begins before one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/compiler.h"
#include "check/check.h"
#include "item_fixture.h"
#include "log/change_log.h"
#include "log/change_record.h"
#include "log/log_retention.h"
#include "log/shard.h"
#include "log_fixture.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "stream_fixture.h"
#include "table/catalogue.h"

#define NOW_MS STREAM_FIXTURE_NOW_MS

static int set_up(void **state)
{
    *state = stream_fixture_open(reference_engine_create());
    return 0;
}

static int tear_down(void **state)
{
    stream_fixture_close(*state);
    return 0;
}

/* --- What is there --- */

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

static void feed_kinesis(struct stream_fixture *fixture, bool feeds)
{
    fixture->table.feeds_kinesis = feeds;
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
}

static size_t shown_streams(struct stream_fixture *fixture)
{
    struct stream_name names[8];
    return streams_list(fixture->streams, fixture->arena, BYTES("table"),
                        (struct stream_name){ BYTES(""), BYTES("") }, names, COUNT_OF(names));
}

/* How many of the partition's shards the stream shows. */
static size_t shown_shards(struct stream_fixture *fixture, struct bytes label, size_t partition)
{
    struct stream *stream = streams_find(fixture->streams, BYTES("table"), label);
    size_t count, shown = 0;
    assert_non_null(stream);
    const struct stream_definition *definition = stream_definition(stream);
    struct shard *shards = stream_fixture_shards_of(fixture, definition->log_id, partition, &count);
    for (size_t i = 0; i < count; i++)
        shown += stream_definition_has_shard(definition, shards[i].partition, shards[i].first);
    stream_release(stream);
    return shown;
}

static void a_log_without_a_stream_holds_both_images_and_no_client_sees_it(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, false);
    feed_kinesis(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_ENABLED);
    assert_int_equal(images_of_head(fixture, log_id, 0), CHANGE_IMAGES_ALL);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    assert_int_equal(shown_streams(fixture), 0);
    struct bytes label = stream_definition_hidden_label(fixture->arena, log_id);
    assert_null(streams_find(fixture->streams, BYTES("table"), label));
    stream_fixture_restart(fixture);
    struct stream *found = streams_find_log(fixture->streams, log_id);
    assert_true(found != NULL && stream_definition_is_hidden(stream_definition(found)));
    stream_release(found);
    assert_int_equal(stream_fixture_run(fixture, NOW_MS), STREAM_UPKEEP_TRIM_INTERVAL_MS);
    stream_fixture_assert_whole(fixture);
    assert_int_equal(stream_fixture_close_stream(fixture, log_id, NOW_MS), ENGINE_OK);
    feed_kinesis(fixture, false);
    stream_fixture_run(fixture, NOW_MS); /* Nobody needs its records. */
    assert_int_equal(streams_count(fixture->streams), 0);
    stream_fixture_assert_whole(fixture);
}

static void a_log_goes_on_when_its_stream_ends(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, true);
    feed_kinesis(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    struct bytes label = fixture->table.stream_label;
    assert_int_equal(images_of_head(fixture, log_id, 0), CHANGE_IMAGES_ALL);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS));
    fixture->table.stream_enabled = false;
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
    stream_fixture_run(fixture, NOW_MS);
    assert_int_equal(fixture->table.log_id, log_id);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_ENABLED);
    assert_true(stream_fixture_log_change(fixture, log_id, 0, NOW_MS + 1));
    stream_fixture_restart(fixture);
    struct stream *ended = streams_find(fixture->streams, BYTES("table"), label);
    assert_int_equal(stream_definition(ended)->status, STREAM_DISABLED);
    stream_release(ended);
    assert_int_equal(shown_streams(fixture), 1);
    assert_int_equal(shown_shards(fixture, label, 0), 1);
    stream_fixture_assert_whole(fixture);
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS - 1);
    assert_int_equal(shown_streams(fixture), 1);
    stream_fixture_run(fixture, NOW_MS + STREAM_RETENTION_MS);
    assert_int_equal(shown_streams(fixture), 0);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_ENABLED);
    stream_fixture_assert_whole(fixture);
}

static void a_stream_on_an_open_log_begins_with_new_shards(void **state)
{
    struct stream_fixture *fixture = *state;
    stream_fixture_create_table(fixture, false);
    feed_kinesis(fixture, true);
    stream_fixture_run(fixture, NOW_MS);
    uint64_t log_id = fixture->table.log_id;
    assert_true(stream_fixture_log_change(fixture, log_id, 2, NOW_MS));
    for (int turn = 1; turn <= 2; turn++) { /* A second stream shows nothing of the first. */
        stream_fixture_set_stream(fixture, true, NOW_MS + turn * 1000);
        struct bytes label = fixture->table.stream_label;
        stream_fixture_run(fixture, NOW_MS + turn * 1000);
        assert_int_equal(fixture->table.log_id, log_id);
        assert_int_equal(shown_shards(fixture, label, 2), 1);
        assert_int_equal(shown_streams(fixture), turn);
        assert_true(stream_fixture_log_change(fixture, log_id, 2, NOW_MS + turn * 1000));
        stream_fixture_restart(fixture);
        assert_int_equal(shown_shards(fixture, label, 2), 1);
        stream_fixture_assert_whole(fixture);
        fixture->table.stream_enabled = false;
        assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &fixture->table),
                         ENGINE_OK);
        stream_fixture_run(fixture, NOW_MS + turn * 1000 + 1);
        assert_int_equal(shown_shards(fixture, label, 2), 1);
    }
    assert_int_equal(stream_fixture_close_stream(fixture, log_id, NOW_MS + 3000), ENGINE_OK);
    feed_kinesis(fixture, false);
    stream_fixture_run(fixture, NOW_MS + 3000);
    assert_int_equal(shown_streams(fixture), 2);
    assert_int_equal(stream_fixture_status_of(fixture, log_id), STREAM_DISABLED);
    stream_fixture_run(fixture,
                       NOW_MS + 4000 + STREAM_RETENTION_MS); /* The streams, then their log. */
    stream_fixture_run(fixture, NOW_MS + 4000 + STREAM_RETENTION_MS);
    assert_int_equal(streams_count(fixture->streams), 0);
    stream_fixture_assert_whole(fixture);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_log_without_a_stream_holds_both_images_and_no_client_sees_it),
        RULE(a_log_goes_on_when_its_stream_ends),
        RULE(a_stream_on_an_open_log_begins_with_new_shards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
