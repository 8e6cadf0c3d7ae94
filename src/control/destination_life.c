/* destination_life.c -- see destination_life.h. */
#include "control/destination_life.h"
#include <inttypes.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "kinesis/destinations.h"
#include "model/change_image.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "table/catalogue.h"

/* The service's own words. */
static const char no_permission[] = "User does not have a permission to use kinesis stream";
static const char not_here[] = "The kinesis Arn used to enable kinesis replication belongs to a "
                               "stream which is not in the current region";
static const char not_active[] = "The kinesis Arn used to enable kinesis replication belongs to a "
                                 "stream which is not in Active state";

/* The outcome of a step, and when the next one is due. */
struct due {
    enum engine_status status;
    int64_t wait_ms;
};

static struct due soon(enum engine_status status)
{
    return (struct due){ .status = status, .wait_ms = DESTINATION_LIFE_STEP_MS };
}

static struct due rest(int64_t wait_ms)
{
    return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
}

/* --- Enabling --- */

/* Why a destination cannot be enabled, whatever Kinesis says; NULL: nothing is wrong so far. */
static const char *find_obstacle(const struct destination_life *life,
                                 const struct destination_definition *definition)
{
    struct bytes region, name;
    if (!destination_definition_parse_arn(definition->stream_arn, &region, &name))
        return not_active; /* Observed with the ARN of another service. */
    if (!bytes_equal_text(region, destinations_region(life->destinations)))
        return not_here;
    return destinations_can_deliver(life->destinations) ? NULL : no_permission;
}

static struct due fail(const struct destination_life *life, struct arena *arena, size_t index,
                       const char *reason)
{
    if (!destinations_stop(life->destinations, index))
        return soon(ENGINE_OK);
    return soon(destinations_set_status(life->destinations, arena, index, DESTINATION_ENABLE_FAILED,
                                        reason));
}

/* Its position is set once the log holds both images for it. */
static struct due begin(const struct destination_life *life, struct arena *arena, size_t index,
                        const struct table_definition *table)
{
    if (!table->feeds_kinesis) {
        struct table_definition changed = *table;
        changed.feeds_kinesis = true;
        return soon(catalogue_update(life->catalogue, arena, &changed));
    }
    const struct stream_definition *log =
        table->log_id == 0 ? NULL : streams_of_log(life->streams->streams, table->log_id);
    if (log == NULL || log->status != STREAM_ENABLED || log->images != CHANGE_IMAGES_ALL)
        return soon(ENGINE_OK); /* stream_upkeep.c opens it. */
    return soon(destinations_begin(life->destinations, arena, index, log));
}

static struct due run_enabling(const struct destination_life *life, struct arena *arena,
                               size_t index, const struct table_definition *table)
{
    const struct destination_definition *definition = destinations_at(life->destinations, index);
    const char *obstacle = find_obstacle(life, definition);
    if (obstacle != NULL)
        return fail(life, arena, index, obstacle);
    if (definition->log_id == 0)
        return begin(life, arena, index, table);
    if (!destinations_run(life->destinations, index))
        return rest(DESTINATION_LIFE_RETRY_MS);
    switch (destinations_verdict(life->destinations, index)) {
    case KINESIS_PENDING:
        break;
    case KINESIS_GOOD:
        return soon(
            destinations_set_status(life->destinations, arena, index, DESTINATION_ACTIVE, NULL));
    case KINESIS_DENIED:
        return fail(life, arena, index, no_permission);
    case KINESIS_NOT_ACTIVE:
        return fail(life, arena, index, not_active);
    }
    return soon(ENGINE_OK);
}

/* --- Afterwards --- */

static struct due run_active(const struct destination_life *life, struct arena *arena, size_t index)
{
    const struct destination_definition *definition = destinations_at(life->destinations, index);
    if (!destinations_run(life->destinations, index))
        return rest(DESTINATION_LIFE_RETRY_MS);
    int64_t lag_ms = destinations_lag_ms(life->destinations, index);
    if (life->retention_ms == 0 || lag_ms <= life->retention_ms)
        return rest(DESTINATION_LIFE_AGE_INTERVAL_MS);
    log_write(LOG_ERROR, "kinesis",
              "%.*s: table %.*s: a record has waited for %" PRId64
              " s; the destination is disabled",
              BYTES_FMT(definition->uuid), BYTES_FMT(definition->table_name), lag_ms / 1000);
    return soon(destinations_set_status(life->destinations, arena, index, DESTINATION_DISABLING,
                                        "Records could not be delivered for too long"));
}

static struct due run_one(const struct destination_life *life, struct arena *arena, size_t index,
                          const struct table_definition *table)
{
    switch (destinations_at(life->destinations, index)->status) {
    case DESTINATION_ENABLING:
        return run_enabling(life, arena, index, table);
    case DESTINATION_ACTIVE:
        return run_active(life, arena, index);
    case DESTINATION_UPDATING:
        return soon(
            destinations_set_status(life->destinations, arena, index, DESTINATION_ACTIVE, NULL));
    case DESTINATION_DISABLING:
        if (!destinations_stop(life->destinations, index))
            return soon(ENGINE_OK);
        return soon(
            destinations_set_status(life->destinations, arena, index, DESTINATION_DISABLED, NULL));
    case DESTINATION_DISABLED:
    case DESTINATION_ENABLE_FAILED:
    case DESTINATION_STATUS_COUNT:
        break;
    }
    return rest(TIMED_WAIT_FOREVER);
}

/* The destination's table; NULL if it is gone. The caller owes a table_release. */
static struct table *find_table(const struct destination_life *life,
                                const struct destination_definition *definition)
{
    struct table *table = catalogue_find(life->catalogue, definition->table_name);
    if (table != NULL && bytes_equal(table_definition(table)->uuid, definition->table_uuid))
        return table;
    table_release(table);
    return NULL;
}

/* --- Logs that no destination needs any more --- */

static bool is_fed_in_vain(const struct table_definition *table, void *context)
{
    const struct destinations *destinations = context;
    return table->feeds_kinesis &&
           destinations_find_live(destinations, table->uuid) == destinations_count(destinations);
}

/* A log ends before the table's definition loses it. */
static enum engine_status release_logs(const struct destination_life *life, struct arena *arena)
{
    enum engine_status status = ENGINE_OK;
    struct table *table;
    while (status == ENGINE_OK &&
           (table = catalogue_find_next(life->catalogue, BYTES(""), is_fed_in_vain,
                                        life->destinations)) != NULL) {
        struct table_definition changed = *table_definition(table);
        changed.feeds_kinesis = false;
        if (!table_definition_log_needs(&changed).changes)
            status = stream_upkeep_close(life->streams, arena, changed.log_id, life->clock);
        if (status == ENGINE_OK)
            status = catalogue_update(life->catalogue, arena, &changed);
        table_release(table);
    }
    return status;
}

/* --- All --- */

static int64_t failed(const char *doing, enum engine_status status)
{
    log_write(LOG_ERROR, "kinesis", "%s: %s", doing, engine_status_name(status));
    return DESTINATION_LIFE_RETRY_MS;
}

int64_t destination_life_run(struct destination_life *life, struct arena *arena)
{
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    for (size_t i = destinations_count(life->destinations); i-- > 0;) {
        /* Backwards, because a step may remove the destination from the list. */
        struct table *table = find_table(life, destinations_at(life->destinations, i));
        struct due due = table == NULL ? soon(destinations_remove(life->destinations, arena, i))
                                       : run_one(life, arena, i, table_definition(table));
        table_release(table);
        if (due.status != ENGINE_OK)
            due.wait_ms = failed("upkeep of a destination", due.status);
        wait_ms = timed_wait_sooner(wait_ms, due.wait_ms);
    }
    enum engine_status status = release_logs(life, arena);
    if (status != ENGINE_OK)
        wait_ms = timed_wait_sooner(wait_ms, failed("closing a log", status));
    if (destinations_reap(life->destinations))
        wait_ms = timed_wait_sooner(wait_ms, DESTINATION_LIFE_RETRY_MS);
    return wait_ms;
}
