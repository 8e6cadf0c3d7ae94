/* stream_fixture.h -- a table with a change log, its stream and the upkeep of both, with the time
 * in the test's hand. Its one partition key is p (S).
 */
#ifndef STATOR_TEST_STREAM_FIXTURE_H
#define STATOR_TEST_STREAM_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/clock.h"
#include "base/commit_clock.h"
#include "engine/engine.h"
#include "log/log_retention.h"
#include "log/shard.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_upkeep.h"

#define STREAM_FIXTURE_NOW_MS INT64_C(1700000000000)

struct stream_fixture {
    struct arena *arena;
    struct engine *engine;
    struct catalogue *catalogue;
    struct streams *streams;
    struct log_retention retention;
    struct stream_upkeep upkeep;
    struct table_definition table; /* As last stored. */
    struct clock clock;
    struct commit_clock commits;
};

/* Takes the engine over. */
struct stream_fixture *stream_fixture_open(struct engine *engine);
void stream_fixture_close(struct stream_fixture *fixture);
/* Closes the catalogue and the streams and opens them again. */
void stream_fixture_restart(struct stream_fixture *fixture);

void stream_fixture_create_table(struct stream_fixture *fixture, bool stream);
void stream_fixture_set_stream(struct stream_fixture *fixture, bool enabled, int64_t now_ms);
/* stream_upkeep_run and stream_upkeep_close, at a time. */
int64_t stream_fixture_run(struct stream_fixture *fixture, int64_t now_ms);
enum engine_status stream_fixture_close_stream(struct stream_fixture *fixture, uint64_t log_id,
                                               int64_t now_ms);
/* Logs a change in one of the table's partitions. False if the log is closed. */
bool stream_fixture_log_change(struct stream_fixture *fixture, uint64_t log_id, size_t partition,
                               int64_t now_ms);

/* Fails the test unless the whole store is as `stator check` wants it. */
void stream_fixture_assert_whole(struct stream_fixture *fixture);
/* The shards of a partition. They live in the arena. */
struct shard *stream_fixture_shards_of(struct stream_fixture *fixture, uint64_t log_id,
                                       size_t partition, size_t *count);
/* STREAM_STATUS_COUNT: it has no stream. */
enum stream_status stream_fixture_status_of(struct stream_fixture *fixture, uint64_t log_id);

#endif
