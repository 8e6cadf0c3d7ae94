/* stream_upkeep.c -- see stream_upkeep.h. */
#include "stream/stream_upkeep.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_lifecycle.h"
#include "stream/stream_trim.h"
#include "stream/streams.h"
#include "table/catalogue.h"

static struct stream_step step_of(const struct stream_upkeep *upkeep, struct arena *arena,
                                  const struct clock *clock)
{
    return (struct stream_step){ .engine = upkeep->engine,
                                 .streams = upkeep->streams,
                                 .arena = arena,
                                 .now_ms = clock_wall_ms(clock),
                                 .server_ms = clock_server_ms(clock),
                                 .origin_ms = clock->server_origin_ms };
}

/* --- Tables without their stream --- */

static bool lacks_stream(const struct table_definition *table, void *context)
{
    if (!table->stream_enabled || table->log_id == 0)
        return table->stream_enabled;
    const struct stream_definition *stream =
        streams_named(context, table->name, table->stream_label);
    return stream == NULL || stream->log_id != table->log_id;
}

static enum engine_status announce(const struct stream_upkeep *upkeep,
                                   const struct stream_step *step, const struct table *table)
{
    struct table_definition definition = *table_definition(table);
    /* A stream from before there were logs. */
    if (definition.log_id == 0) {
        enum engine_status status = catalogue_update(upkeep->catalogue, step->arena, &definition);
        if (status != ENGINE_OK)
            return status;
    }
    return stream_lifecycle_announce(step, &definition);
}

static enum engine_status announce_all(const struct stream_upkeep *upkeep,
                                       const struct stream_step *step)
{
    enum engine_status status = ENGINE_OK;
    struct table *table = NULL;
    while (status == ENGINE_OK &&
           (table = catalogue_find_next(upkeep->catalogue, BYTES(""), lacks_stream,
                                        upkeep->streams)) != NULL) {
        status = announce(upkeep, step, table);
        table_release(table);
    }
    return status;
}

/* --- One stream --- */

/* What a stream's next step is, and when it is due. */
struct due {
    enum engine_status status;
    int64_t wait_ms; /* Until there is more to do. */
};

static struct due done(enum engine_status status)
{
    return (struct due){ .status = status, .wait_ms = TIMED_WAIT_FOREVER };
}

static struct due run_enabling(const struct stream_step *step,
                               const struct stream_definition *stream, const struct table *table)
{
    if (table == NULL)
        return done(stream_lifecycle_remove(step, stream));
    if (!table_is_only_version(table))
        return (struct due){ .status = ENGINE_OK, .wait_ms = STREAM_UPKEEP_RETRY_MS };
    return (struct due){ .status = stream_lifecycle_open(step, stream, table_definition(table)) };
}

static struct due run_enabled(const struct stream_upkeep *upkeep, const struct stream_step *step,
                              const struct stream_definition *stream, const struct table *table)
{
    if (table == NULL)
        return (struct due){ .status = stream_lifecycle_close(step, stream) };
    unsigned images = table_definition_log_needs(table_definition(table)).images;
    if (images != stream->images)
        return (struct due){ .status = stream_lifecycle_set_images(step, stream, images) };
    if (upkeep->rollover_ms == 0)
        return done(ENGINE_OK);
    int64_t wait_ms = stream->rolled_ms + upkeep->rollover_ms - step->now_ms;
    if (wait_ms > 0 && wait_ms <= upkeep->rollover_ms) /* More if the clock was set back. */
        return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
    return (struct due){ .status = stream_lifecycle_roll(step, stream),
                         .wait_ms = upkeep->rollover_ms };
}

static struct due run_disabled(const struct stream_upkeep *upkeep, const struct stream_step *step,
                               const struct stream_definition *stream, const struct table *table)
{
    if (table != NULL) {
        struct table_definition changed = *table_definition(table);
        changed.stream_enabled = false;
        return (struct due){
            .status = catalogue_update(upkeep->catalogue, step->arena, &changed),
            .wait_ms = 0,
        };
    }
    int64_t wait_ms = STREAM_RETENTION_MS - stream_step_age_ms(step, stream->disabled_server_ms);
    if (wait_ms > 0)
        return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
    return done(stream_lifecycle_remove(step, stream));
}

/* The stream's table, if it still has the stream's log; the caller owes a table_release. */
static struct table *find_table(const struct stream_upkeep *upkeep,
                                const struct stream_definition *stream)
{
    struct table *table = catalogue_find(upkeep->catalogue, stream->table_name);
    if (table != NULL && table_definition(table)->log_id == stream->log_id)
        return table;
    table_release(table);
    return NULL;
}

static struct due run_stream(const struct stream_upkeep *upkeep, const struct stream_step *step,
                             const struct stream_definition *stream)
{
    struct table *table = find_table(upkeep, stream);
    struct due due = stream->status == STREAM_ENABLING  ? run_enabling(step, stream, table)
                     : stream->status == STREAM_ENABLED ? run_enabled(upkeep, step, stream, table)
                                                        : run_disabled(upkeep, step, stream, table);
    table_release(table);
    return due;
}

/* --- All --- */

static int64_t failed(const char *doing, enum engine_status status)
{
    log_write(LOG_ERROR, "stream", "%s: %s", doing, engine_status_name(status));
    return STREAM_UPKEEP_FAILURE_RETRY_MS;
}

/* A stream that cannot be trimmed does not keep the others from it. */
static void trim_all(const struct stream_upkeep *upkeep, const struct stream_step *step)
{
    for (size_t i = 0; i < streams_count(upkeep->streams); i++) {
        enum engine_status status = stream_trim(step, streams_at(upkeep->streams, i));
        if (status != ENGINE_OK)
            failed("trimming", status);
    }
}

/* One that failed is tried again at the next interval: what is too old is still readable, no more.
 */
static int64_t run_trim(struct stream_upkeep *upkeep, const struct stream_step *step)
{
    if (streams_count(upkeep->streams) == 0)
        return TIMED_WAIT_FOREVER;
    if (step->server_ms >= upkeep->next_trim_ms) {
        upkeep->next_trim_ms = step->server_ms + STREAM_UPKEEP_TRIM_INTERVAL_MS;
        trim_all(upkeep, step);
    }
    return upkeep->next_trim_ms - step->server_ms;
}

int64_t stream_upkeep_run(struct stream_upkeep *upkeep, struct arena *arena,
                          const struct clock *clock)
{
    struct stream_step step = step_of(upkeep, arena, clock);
    enum engine_status status = announce_all(upkeep, &step);
    if (status != ENGINE_OK)
        return failed("a new stream", status);
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    for (size_t i = streams_count(upkeep->streams); i-- > 0;) {
        /* Down, since a step may take the stream out of the list. */
        struct due due = run_stream(upkeep, &step, streams_at(upkeep->streams, i));
        if (due.status != ENGINE_OK)
            due.wait_ms = failed("upkeep of a stream", due.status);
        wait_ms = timed_wait_sooner(wait_ms, due.wait_ms);
    }
    return timed_wait_sooner(wait_ms, run_trim(upkeep, &step));
}

bool stream_upkeep_is_open(const struct stream_upkeep *upkeep, uint64_t log_id)
{
    const struct stream_definition *stream = streams_of_log(upkeep->streams, log_id);
    return stream != NULL && stream->status == STREAM_ENABLED;
}

enum engine_status stream_upkeep_close(struct stream_upkeep *upkeep, struct arena *arena,
                                       uint64_t log_id, const struct clock *clock)
{
    if (!stream_upkeep_is_open(upkeep, log_id))
        return ENGINE_OK;
    struct stream_step step = step_of(upkeep, arena, clock);
    return stream_lifecycle_close(&step, streams_of_log(upkeep->streams, log_id));
}
