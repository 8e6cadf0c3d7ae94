/* stream_fixture.c -- see stream_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "check/check.h"
#include "item_fixture.h"
#include "log/change_record.h"
#include "log_fixture.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "stream_fixture.h"
#include "table/catalogue.h"

#define NOW_MS STREAM_FIXTURE_NOW_MS

static void open_stores(struct stream_fixture *fixture)
{
    enum engine_status status;
    fixture->catalogue = catalogue_open(fixture->engine, &status);
    assert_non_null(fixture->catalogue);
    fixture->streams = streams_open(fixture->engine, &fixture->clock, &status);
    assert_non_null(fixture->streams);
    fixture->retention = (struct log_retention){ 0 };
    const struct log_retention_reader reader = stream_upkeep_reader(fixture->streams);
    log_retention_add(&fixture->retention, &reader);
    fixture->upkeep = (struct stream_upkeep){ .engine = fixture->engine,
                                              .catalogue = fixture->catalogue,
                                              .streams = fixture->streams,
                                              .retention = &fixture->retention,
                                              .rollover_ms = fixture->upkeep.rollover_ms };
}

static void close_stores(struct stream_fixture *fixture)
{
    streams_close(fixture->streams);
    catalogue_close(fixture->catalogue);
}

struct stream_fixture *stream_fixture_open(struct engine *engine)
{
    struct stream_fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->arena = arena_create();
    fixture->engine = engine;
    fixture->clock = clock_fixed(NOW_MS);
    fixture->clock.commits = &fixture->commits;
    open_stores(fixture);
    return fixture;
}

void stream_fixture_close(struct stream_fixture *fixture)
{
    close_stores(fixture);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
    free(fixture);
}

void stream_fixture_restart(struct stream_fixture *fixture)
{
    close_stores(fixture);
    open_stores(fixture);
}

/* --- Tables and changes --- */

static struct key_attribute attributes[] = { { { (const uint8_t *)"p", 1 }, VALUE_S } };

void stream_fixture_create_table(struct stream_fixture *fixture, bool stream)
{
    fixture->table = (struct table_definition){
        .name = BYTES("table"),
        .uuid = BYTES("00000000-0000-4000-8000-000000000000"),
        .created_ms = NOW_MS,
        .status = TABLE_ACTIVE,
        .key = { .hash = attributes[0] },
        .attributes = attributes,
        .attribute_count = COUNT_OF(attributes),
        .billing_mode = BILLING_PAY_PER_REQUEST,
        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
        .warm_throughput = { UNITS_UNSET, UNITS_UNSET },
        .stream_enabled = stream,
        .stream_view_type = BYTES("NEW_IMAGE"),
        .stream_label = stream_names_label(fixture->arena, NOW_MS),
    };
    assert_int_equal(catalogue_create(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
}

void stream_fixture_set_stream(struct stream_fixture *fixture, bool enabled, int64_t now_ms)
{
    fixture->table.stream_enabled = enabled;
    fixture->table.stream_label = stream_names_label(fixture->arena, now_ms);
    assert_int_equal(catalogue_update(fixture->catalogue, fixture->arena, &fixture->table),
                     ENGINE_OK);
}

int64_t stream_fixture_run(struct stream_fixture *fixture, int64_t now_ms)
{
    fixture->clock.fixed_ms = now_ms;
    return stream_upkeep_run(&fixture->upkeep, fixture->arena, &fixture->clock);
}

bool stream_fixture_log_change(struct stream_fixture *fixture, uint64_t log_id, size_t partition,
                               int64_t now_ms)
{
    struct change_record record = { .event = CHANGE_INSERT,
                                    .keys = item_fixture_read(fixture->arena, "{'p':{'S':'a'}}") };
    fixture->clock.fixed_ms = now_ms;
    return log_fixture_append(fixture->engine, fixture->arena, &fixture->clock, log_id,
                              fixture->table.partitions[partition].id, &record);
}

enum engine_status stream_fixture_close_stream(struct stream_fixture *fixture, uint64_t log_id,
                                               int64_t now_ms)
{
    fixture->clock.fixed_ms = now_ms;
    return stream_upkeep_close(&fixture->upkeep, fixture->arena, log_id, &fixture->clock);
}

/* --- What is there --- */

static void fail_on_problem(void *context, const char *line)
{
    (void)context;
    fail_msg("%s", line);
}

void stream_fixture_assert_whole(struct stream_fixture *fixture)
{
    assert_int_equal(check_store(fixture->engine, fail_on_problem, NULL).problem_count, 0);
}

struct shard *stream_fixture_shards_of(struct stream_fixture *fixture, uint64_t log_id,
                                       size_t partition, size_t *count)
{
    struct engine_view *view;
    struct shard *shards;
    assert_int_equal(engine_view_open(fixture->engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(shard_list(fixture->arena, view, log_id,
                                fixture->table.partitions[partition].id, &shards, count),
                     ENGINE_OK);
    engine_view_close(view);
    return shards;
}

enum stream_status stream_fixture_status_of(struct stream_fixture *fixture, uint64_t log_id)
{
    const struct stream_definition *stream = streams_of_log(fixture->streams, log_id);
    return stream == NULL ? STREAM_STATUS_COUNT : stream->status;
}
