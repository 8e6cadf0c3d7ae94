/* destinations.c -- see destinations.h. Records: doc/disk-format.md, "Kinesis destinations". */
#include "kinesis/destinations.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "consumer/consumer_position.h"
#include "engine/engine_load.h"
#include "log/change_log.h"
#include "stream/stream_definition.h"

struct destination {
    struct arena *arena; /* Holds the definition. */
    struct destination_definition definition;
    struct kinesis_runner *runner; /* NULL: it is not run. */
    struct kinesis_counters counters;
    bool was_refused; /* It could not be started, which was logged. */
};

struct destinations {
    struct kinesis_runner_options options;
    /* Guards changes of the list and its definitions, and looks at them by other threads than the
     * control thread. */
    pthread_mutex_t mutex;
    struct destination **list; /* In the order of their creation. */
    size_t count;
    size_t capacity;
    struct destination *leaving[DESTINATIONS_LIVE_MAX]; /* Removed; their threads are stopping. */
    size_t leaving_count;
};

/* --- Destinations in memory --- */

static struct destination *destination_create(void)
{
    struct destination *destination = memory_checked(calloc(1, sizeof *destination));
    destination->arena = arena_create_sized(512);
    return destination;
}

static void destination_destroy(struct destination *destination)
{
    kinesis_runner_stop(destination->runner);
    arena_destroy(destination->arena);
    free(destination);
}

/* With a copy of the definition, made by encoding and decoding it. */
static struct destination *copy(const struct destination_definition *definition)
{
    struct destination *destination = destination_create();
    struct item record = destination_definition_encode(destination->arena, definition);
    bool decodes = destination_definition_decode(destination->arena, definition->uuid, &record,
                                                 &destination->definition);
    assert(decodes);
    return destination;
}

static int compare(const struct destination_definition *a, const struct destination_definition *b)
{
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return bytes_compare(a->uuid, b->uuid);
}

static void insert(struct destinations *destinations, struct destination *destination)
{
    pthread_mutex_lock(&destinations->mutex);
    if (destinations->count == destinations->capacity) {
        destinations->capacity = destinations->capacity * 2 + 8;
        destinations->list = memory_checked(
            realloc(destinations->list, destinations->capacity * sizeof *destinations->list));
    }
    size_t at = destinations->count++;
    for (; at > 0 && compare(&destination->definition, &destinations->list[at - 1]->definition) < 0;
         at--)
        destinations->list[at] = destinations->list[at - 1];
    destinations->list[at] = destination;
    pthread_mutex_unlock(&destinations->mutex);
}

static struct destination *take_out(struct destinations *destinations, size_t index)
{
    pthread_mutex_lock(&destinations->mutex);
    struct destination *destination = destinations->list[index];
    destinations->count--;
    memmove(&destinations->list[index], &destinations->list[index + 1],
            (destinations->count - index) * sizeof *destinations->list);
    pthread_mutex_unlock(&destinations->mutex);
    return destination;
}

static struct destination *at(const struct destinations *destinations, size_t index)
{
    assert(index < destinations->count);
    return destinations->list[index];
}

size_t destinations_count(const struct destinations *destinations)
{
    return destinations->count;
}

const struct destination_definition *destinations_at(const struct destinations *destinations,
                                                     size_t index)
{
    return &at(destinations, index)->definition;
}

size_t destinations_find_live(const struct destinations *destinations, struct bytes table_uuid)
{
    size_t i = 0;
    while (i < destinations->count &&
           (!bytes_equal(destinations->list[i]->definition.table_uuid, table_uuid) ||
            !destination_status_is_live(destinations->list[i]->definition.status)))
        i++;
    return i;
}

size_t destinations_find(const struct destinations *destinations, struct bytes table_uuid,
                         struct bytes stream_arn)
{
    size_t i = 0;
    while (i < destinations->count &&
           (!bytes_equal(destinations->list[i]->definition.table_uuid, table_uuid) ||
            !bytes_equal(destinations->list[i]->definition.stream_arn, stream_arn)))
        i++;
    return i;
}

bool destinations_is_full(struct destinations *destinations)
{
    destinations_reap(destinations);
    size_t live = destinations->leaving_count;
    for (size_t i = 0; i < destinations->count; i++)
        live += destination_status_is_live(destinations->list[i]->definition.status);
    return live >= DESTINATIONS_LIVE_MAX;
}

bool destinations_can_deliver(const struct destinations *destinations)
{
    const struct kinesis_outside *outside = &destinations->options.outside;
    return outside->network != NULL && outside->endpoint != NULL && outside->endpoint[0] != '\0';
}

const char *destinations_region(const struct destinations *destinations)
{
    return destinations->options.region;
}

size_t destinations_of_table(struct destinations *destinations, struct arena *arena,
                             struct bytes table_uuid,
                             struct destination_definition out[DESTINATIONS_PER_TABLE_MAX])
{
    size_t count = 0;
    pthread_mutex_lock(&destinations->mutex);
    for (size_t i = 0; i < destinations->count && count < DESTINATIONS_PER_TABLE_MAX; i++) {
        const struct destination_definition *found = &destinations->list[i]->definition;
        if (!bytes_equal(found->table_uuid, table_uuid))
            continue;
        out[count] = *found;
        out[count].uuid = arena_copy(arena, found->uuid);
        out[count].table_name = arena_copy(arena, found->table_name);
        out[count].table_uuid = arena_copy(arena, found->table_uuid);
        out[count].stream_arn = arena_copy(arena, found->stream_arn);
        out[count++].description = arena_copy(arena, found->description);
    }
    pthread_mutex_unlock(&destinations->mutex);
    return count;
}

static int64_t lag_of(const struct destinations *destinations,
                      const struct destination *destination)
{
    int64_t oldest_ms = atomic_load(&destination->counters.oldest_ms);
    return oldest_ms == 0 ? 0 : clock_server_age_ms(destinations->options.clock, oldest_ms);
}

int64_t destinations_lag_ms(const struct destinations *destinations, size_t index)
{
    return lag_of(destinations, at(destinations, index));
}

size_t destinations_read_statistics(struct destinations *destinations, struct arena *arena,
                                    struct destination_statistics statistics[DESTINATIONS_LIVE_MAX])
{
    size_t count = 0;
    pthread_mutex_lock(&destinations->mutex);
    for (size_t i = 0; i < destinations->count && count < DESTINATIONS_LIVE_MAX; i++) {
        const struct destination *destination = destinations->list[i];
        const struct kinesis_counters *counters = &destination->counters;
        if (!destination_status_is_live(destination->definition.status))
            continue;
        statistics[count++] = (struct destination_statistics){
            .uuid = arena_copy(arena, destination->definition.uuid),
            .table_name = arena_copy(arena, destination->definition.table_name),
            .stream_arn = arena_copy(arena, destination->definition.stream_arn),
            .records_delivered = atomic_load(&counters->records_delivered),
            .records_throttled = atomic_load(&counters->records_throttled),
            .records_failed = atomic_load(&counters->records_failed),
            .records_lost = atomic_load(&counters->records_lost),
            .failures = atomic_load(&counters->failures),
            .lag_ms = lag_of(destinations, destination),
        };
    }
    pthread_mutex_unlock(&destinations->mutex);
    return count;
}

/* --- Runners --- */

bool destinations_run(struct destinations *destinations, size_t index)
{
    struct destination *destination = at(destinations, index);
    char message[OUTBOUND_MESSAGE_MAX];
    if (destination->runner != NULL || !destinations_can_deliver(destinations))
        return true;
    destination->runner = kinesis_runner_start(&destinations->options, &destination->definition,
                                               &destination->counters, message);
    if (destination->runner == NULL && !destination->was_refused)
        log_write(LOG_ERROR, "kinesis", "%.*s: cannot run: %s; will try again",
                  BYTES_FMT(destination->definition.uuid), message);
    destination->was_refused = destination->runner == NULL;
    return !destination->was_refused;
}

enum kinesis_verdict destinations_verdict(const struct destinations *destinations, size_t index)
{
    struct kinesis_runner *runner = at(destinations, index)->runner;
    return runner == NULL ? KINESIS_PENDING : kinesis_runner_verdict(runner);
}

bool destinations_stop(struct destinations *destinations, size_t index)
{
    struct destination *destination = at(destinations, index);
    if (destination->runner == NULL)
        return true;
    kinesis_runner_ask_to_stop(destination->runner);
    if (!kinesis_runner_has_stopped(destination->runner))
        return false;
    kinesis_runner_stop(destination->runner);
    destination->runner = NULL;
    return true;
}

bool destinations_reap(struct destinations *destinations)
{
    size_t kept = 0;
    for (size_t i = 0; i < destinations->leaving_count; i++) {
        struct destination *destination = destinations->leaving[i];
        if (kinesis_runner_has_stopped(destination->runner))
            destination_destroy(destination);
        else
            destinations->leaving[kept++] = destination;
    }
    destinations->leaving_count = kept;
    return kept > 0;
}

/* The runner stores nothing any more (consumer/consumer.h), so nobody has to wait for it. */
static void leave(struct destinations *destinations, struct destination *destination)
{
    if (destination->runner == NULL) {
        destination_destroy(destination);
        return;
    }
    kinesis_runner_ask_to_stop(destination->runner);
    assert(destinations->leaving_count < DESTINATIONS_LIVE_MAX);
    destinations->leaving[destinations->leaving_count++] = destination;
}

/* --- Changes --- */

static void put(struct arena *arena, struct engine_write *write,
                const struct destination_definition *definition)
{
    struct engine_address address = destination_definition_address(arena, definition->uuid);
    engine_write_put(write, &address, destination_definition_encode(arena, definition).encoded);
}

static void delete_with_positions(struct arena *arena, struct engine_write *write,
                                  struct bytes uuid)
{
    struct engine_address address = destination_definition_address(arena, uuid);
    engine_write_delete(write, &address);
    consumer_position_delete_all(arena, write, uuid);
}

/* Begins a write that holds the destination's record, since its runner may store a position at the
 * same time (consumer/consumer.h). */
static enum engine_status begin(struct destinations *destinations, struct arena *arena,
                                struct bytes uuid, struct engine_write **write)
{
    struct engine_address address = destination_definition_address(arena, uuid);
    return engine_write_begin(destinations->options.engine, &address, 1, write);
}

/* The entry that a new one of the table replaces: that of the same ARN, or the oldest one that has
 * ended if there are too many. `count` if none does. */
static size_t find_replaced(const struct destinations *destinations,
                            const struct destination_definition *definition)
{
    size_t same = destinations_find(destinations, definition->table_uuid, definition->stream_arn);
    size_t entries = 0, oldest = destinations->count;
    if (same < destinations->count)
        return same;
    for (size_t i = 0; i < destinations->count; i++) {
        const struct destination_definition *found = &destinations->list[i]->definition;
        if (!bytes_equal(found->table_uuid, definition->table_uuid))
            continue;
        entries++;
        if (oldest == destinations->count && !destination_status_is_live(found->status))
            oldest = i;
    }
    return entries < DESTINATIONS_PER_TABLE_MAX ? destinations->count : oldest;
}

enum engine_status destinations_add(struct destinations *destinations, struct arena *arena,
                                    const struct destination_definition *definition)
{
    assert(definition->status == DESTINATION_ENABLING && definition->log_id == 0);
    struct destination *destination = copy(definition);
    size_t replaced = find_replaced(destinations, definition);
    struct engine_write *write = NULL;
    enum engine_status status = begin(destinations, arena, definition->uuid, &write);
    if (status == ENGINE_OK) {
        put(arena, write, definition);
        if (replaced < destinations->count) /* It has ended, so it has no runner. */
            delete_with_positions(arena, write, destinations->list[replaced]->definition.uuid);
        status = engine_write_commit_wait(write);
    }
    if (status != ENGINE_OK) {
        destination_destroy(destination);
        return status;
    }
    if (replaced < destinations->count) {
        assert(destinations->list[replaced]->runner == NULL);
        destination_destroy(take_out(destinations, replaced));
    }
    insert(destinations, destination);
    return ENGINE_OK;
}

/* Positions at the heads: every change that is made from now on lies behind them. */
static enum engine_status put_positions(struct destinations *destinations, struct arena *arena,
                                        struct engine_write *write, struct bytes uuid,
                                        const struct stream_definition *log)
{
    struct engine_view *view = NULL;
    enum engine_status status =
        engine_view_open(destinations->options.engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < log->partition_count && status == ENGINE_OK; i++) {
        struct engine_address address = change_log_head_address(log->log_id, log->partitions[i]);
        struct change_log_head head;
        status = change_log_view_head(view, &address, &head);
        if (status == ENGINE_OK && head.next != 0)
            consumer_position_put(arena, write, uuid, log->partitions[i], head.next);
    }
    engine_view_close(view);
    return status;
}

enum engine_status destinations_begin(struct destinations *destinations, struct arena *arena,
                                      size_t index, const struct stream_definition *log)
{
    struct destination *destination = at(destinations, index);
    struct destination_definition changed = destination->definition;
    struct engine_write *write = NULL;
    assert(changed.status == DESTINATION_ENABLING && destination->runner == NULL);
    changed.log_id = log->log_id;
    enum engine_status status = begin(destinations, arena, changed.uuid, &write);
    if (status != ENGINE_OK)
        return status;
    status = put_positions(destinations, arena, write, changed.uuid, log);
    if (status != ENGINE_OK) {
        engine_write_abandon(write);
        return status;
    }
    put(arena, write, &changed);
    status = engine_write_commit_wait(write);
    if (status != ENGINE_OK)
        return status;
    pthread_mutex_lock(&destinations->mutex);
    destination->definition.log_id = log->log_id;
    pthread_mutex_unlock(&destinations->mutex);
    return ENGINE_OK;
}

/* Stores a definition whose texts live in the destination's arena, then shows it. */
static enum engine_status store(struct destinations *destinations, struct arena *arena,
                                struct destination *destination,
                                const struct destination_definition *changed, bool has_ended)
{
    struct engine_write *write = NULL;
    enum engine_status status = begin(destinations, arena, changed->uuid, &write);
    if (status != ENGINE_OK)
        return status;
    put(arena, write, changed);
    if (has_ended)
        consumer_position_delete_all(arena, write, changed->uuid);
    status = engine_write_commit_wait(write);
    if (status != ENGINE_OK)
        return status;
    pthread_mutex_lock(&destinations->mutex);
    /* One by one: the runner reads other fields meanwhile. */
    destination->definition.status = changed->status;
    destination->definition.precision = changed->precision;
    destination->definition.description = changed->description;
    if (has_ended)
        destination->definition.log_id = 0;
    pthread_mutex_unlock(&destinations->mutex);
    return ENGINE_OK;
}

enum engine_status destinations_set_status(struct destinations *destinations, struct arena *arena,
                                           size_t index, enum destination_status status,
                                           const char *description)
{
    struct destination *destination = at(destinations, index);
    struct destination_definition changed = destination->definition;
    bool has_ended = !destination_status_is_live(status);
    assert(destination_status_may_follow(changed.status, status));
    assert(!has_ended || destination->runner == NULL);
    changed.status = status;
    if (has_ended)
        changed.log_id = 0;
    if (description != NULL)
        changed.description = arena_copy(destination->arena, bytes_from_text(description));
    return store(destinations, arena, destination, &changed, has_ended);
}

enum engine_status destinations_set_precision(struct destinations *destinations,
                                              struct arena *arena, size_t index,
                                              enum destination_precision precision)
{
    struct destination *destination = at(destinations, index);
    struct destination_definition changed = destination->definition;
    assert(destination_status_may_follow(changed.status, DESTINATION_UPDATING));
    changed.status = DESTINATION_UPDATING;
    changed.precision = precision;
    enum engine_status status = store(destinations, arena, destination, &changed, false);
    if (status == ENGINE_OK && destination->runner != NULL)
        kinesis_runner_set_precision(destination->runner, precision);
    return status;
}

enum engine_status destinations_remove(struct destinations *destinations, struct arena *arena,
                                       size_t index)
{
    struct engine_write *write = NULL;
    enum engine_status status =
        begin(destinations, arena, destinations->list[index]->definition.uuid, &write);
    if (status != ENGINE_OK)
        return status;
    delete_with_positions(arena, write, destinations->list[index]->definition.uuid);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        leave(destinations, take_out(destinations, index));
    return status;
}

/* --- Retention --- */

/* A record is needed until it was delivered. One that cannot be delivered is kept until the
 * destination is disabled for that (control/destination_life.h). */
static struct log_need need(void *context, uint64_t log_id, uint64_t partition, int64_t now_ms)
{
    const struct destinations *destinations = context;
    struct log_need need = { .server_ms = INT64_MAX, .sequence = UINT64_MAX };
    (void)now_ms;
    for (size_t i = 0; i < destinations->count; i++) {
        const struct destination_definition *found = &destinations->list[i]->definition;
        if (found->log_id != log_id || !destination_status_is_live(found->status))
            continue;
        struct arena *arena = arena_create();
        struct engine_view *view = NULL;
        uint64_t next = 0; /* Where it cannot be read, everything is kept. */
        if (engine_view_open(destinations->options.engine, ENGINE_STRONG, &view) == ENGINE_OK &&
            consumer_position_get(arena, view, found->uuid, partition, &next) != ENGINE_OK)
            next = 0;
        engine_view_close(view);
        arena_destroy(arena);
        if (next < need.sequence)
            need.sequence = next;
    }
    return need;
}

struct log_retention_reader destinations_reader(struct destinations *destinations)
{
    return (
        struct log_retention_reader){ .name = "kinesis", .need = need, .context = destinations };
}

/* --- Loading --- */

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *entry)
{
    struct destinations *destinations = context;
    struct destination *destination = destination_create();
    (void)arena;
    bool ok = true;
    if (destination_definition_open_entry(destination->arena, entry, &destination->definition,
                                          &ok) &&
        ok) {
        insert(destinations, destination);
        return true;
    }
    destination_destroy(destination);
    return ok; /* Those of triggers and positions are not ours. */
}

struct destinations *destinations_open(const struct kinesis_runner_options *options,
                                       enum engine_status *status)
{
    struct destinations *destinations = memory_checked(calloc(1, sizeof *destinations));
    destinations->options = *options;
    pthread_mutex_init(&destinations->mutex, NULL);
    const struct engine_load load = { .range.place = consumer_position_place,
                                      .take = load_entry,
                                      .context = destinations,
                                      .module = "kinesis",
                                      .damage = "damaged record of a Kinesis destination" };
    *status = engine_load(options->engine, &load);
    if (*status == ENGINE_OK)
        return destinations; /* destination_life.h starts the runners. */
    destinations_close(destinations);
    return NULL;
}

void destinations_close(struct destinations *destinations)
{
    if (destinations == NULL)
        return;
    for (size_t i = 0; i < destinations->count; i++) {
        if (destinations->list[i]->runner != NULL)
            kinesis_runner_ask_to_stop(
                destinations->list[i]->runner); /* All of them first: they end in parallel. */
    }
    for (size_t i = 0; i < destinations->count; i++)
        destination_destroy(destinations->list[i]);
    for (size_t i = 0; i < destinations->leaving_count; i++)
        destination_destroy(destinations->leaving[i]);
    pthread_mutex_destroy(&destinations->mutex);
    free(destinations->list);
    free(destinations);
}
