/* triggers.c -- see triggers.h. Records: doc/disk-format.md, "Triggers". */
#include "trigger/triggers.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "consumer/consumer_position.h"
#include "engine/engine_load.h"
#include "log/change_log.h"
#include "stream/stream_definition.h"
#include "trigger/trigger_definition.h"

struct trigger {
    struct arena *arena; /* Holds the definition. */
    struct trigger_definition definition;
    struct trigger_runner *runner; /* NULL: it is not run. */
    struct trigger_counters counters;
    bool was_refused; /* It could not be started, which was logged. */
};

struct triggers {
    struct trigger_runner_options options;
    /* Guards changes of the list, and looks at it by other threads than the control thread. */
    pthread_mutex_t mutex;
    struct trigger *list[TRIGGERS_MAX]; /* In the order of their creation. */
    size_t count;
    struct trigger *leaving[TRIGGERS_MAX]; /* Removed; their threads are stopping. */
    size_t leaving_count;                  /* With `count`, at most TRIGGERS_MAX. */
};

/* --- Triggers in memory --- */

static struct trigger *trigger_create(void)
{
    struct trigger *trigger = memory_checked(calloc(1, sizeof *trigger));
    trigger->arena = arena_create();
    return trigger;
}

static void trigger_destroy(struct trigger *trigger)
{
    trigger_runner_stop(trigger->runner);
    arena_destroy(trigger->arena);
    free(trigger);
}

static void run(struct triggers *triggers, struct trigger *trigger)
{
    if (triggers->options.outside.network == NULL)
        return;
    char message[OUTBOUND_MESSAGE_MAX];
    trigger->runner =
        trigger_runner_start(&triggers->options, &trigger->definition, &trigger->counters, message);
    if (trigger->runner == NULL && !trigger->was_refused)
        log_write(LOG_ERROR, "trigger", "%.*s: cannot run: %s; will try again",
                  BYTES_FMT(trigger->definition.uuid), message);
    trigger->was_refused = trigger->runner == NULL;
}

/* Frees removed triggers whose threads have ended. */
static void reap(struct triggers *triggers)
{
    size_t kept = 0;
    for (size_t i = 0; i < triggers->leaving_count; i++) {
        struct trigger *trigger = triggers->leaving[i];
        if (trigger_runner_has_stopped(trigger->runner))
            trigger_destroy(trigger);
        else
            triggers->leaving[kept++] = trigger;
    }
    triggers->leaving_count = kept;
}

int64_t triggers_upkeep(struct triggers *triggers)
{
    bool all_run = true;
    reap(triggers);
    for (size_t i = 0; i < triggers->count; i++) {
        if (triggers->list[i]->was_refused)
            run(triggers, triggers->list[i]);
        all_run = all_run && !triggers->list[i]->was_refused;
    }
    return all_run && triggers->leaving_count == 0 ? TIMED_WAIT_FOREVER : TRIGGERS_UPKEEP_MS;
}

static int compare(const struct trigger_definition *a, const struct trigger_definition *b)
{
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms ? -1 : 1;
    return bytes_compare(a->uuid, b->uuid);
}

static void insert(struct triggers *triggers, struct trigger *trigger)
{
    pthread_mutex_lock(&triggers->mutex);
    size_t at = triggers->count++;
    assert(triggers->count <= TRIGGERS_MAX);
    for (; at > 0 && compare(&trigger->definition, &triggers->list[at - 1]->definition) < 0; at--)
        triggers->list[at] = triggers->list[at - 1];
    triggers->list[at] = trigger;
    pthread_mutex_unlock(&triggers->mutex);
}

size_t triggers_names(struct triggers *triggers, struct arena *arena,
                      struct trigger_name names[TRIGGERS_MAX])
{
    pthread_mutex_lock(&triggers->mutex);
    size_t count = triggers->count;
    for (size_t i = 0; i < count; i++) {
        const struct trigger_definition *definition = &triggers->list[i]->definition;
        names[i].uuid = arena_copy(arena, definition->uuid);
        names[i].table_name = arena_copy(arena, definition->table_name);
    }
    pthread_mutex_unlock(&triggers->mutex);
    return count;
}

size_t triggers_read_statistics(struct triggers *triggers, struct arena *arena,
                                struct trigger_statistics statistics[TRIGGERS_MAX])
{
    pthread_mutex_lock(&triggers->mutex);
    size_t count = triggers->count;
    for (size_t i = 0; i < count; i++) {
        const struct trigger *trigger = triggers->list[i];
        const struct trigger_counters *counters = &trigger->counters;
        int64_t oldest_ms = atomic_load(&counters->oldest_ms);
        statistics[i] = (struct trigger_statistics){
            .uuid = arena_copy(arena, trigger->definition.uuid),
            .table_name = arena_copy(arena, trigger->definition.table_name),
            .records_delivered = atomic_load(&counters->records_delivered),
            .records_given_up = atomic_load(&counters->records_given_up),
            .dead_letters = atomic_load(&counters->dead_letters),
            .records_lost = atomic_load(&counters->records_lost),
            .failures = atomic_load(&counters->failures),
            .lag_ms = oldest_ms == 0 ? 0 : clock_server_age_ms(triggers->options.clock, oldest_ms),
        };
    }
    pthread_mutex_unlock(&triggers->mutex);
    return count;
}

size_t triggers_count(const struct triggers *triggers)
{
    return triggers->count;
}

bool triggers_is_full(struct triggers *triggers)
{
    reap(triggers);
    return triggers->count + triggers->leaving_count >= TRIGGERS_MAX;
}

const struct trigger_definition *triggers_at(const struct triggers *triggers, size_t index)
{
    assert(index < triggers->count);
    return &triggers->list[index]->definition;
}

struct trigger_runner_report triggers_report(const struct triggers *triggers, size_t index,
                                             struct arena *arena)
{
    assert(index < triggers->count);
    struct trigger_runner *runner = triggers->list[index]->runner;
    if (runner == NULL)
        return (struct trigger_runner_report){ .result = BYTES("not running") };
    return trigger_runner_report(runner, arena);
}

/* --- Changes --- */

/* A trigger with a copy of the definition, made by encoding and decoding it. */
static struct trigger *copy(const struct trigger_definition *definition)
{
    struct trigger *trigger = trigger_create();
    struct item record = trigger_definition_encode(trigger->arena, definition);
    bool decodes =
        trigger_definition_decode(trigger->arena, definition->uuid, &record, &trigger->definition);
    assert(decodes);
    return trigger;
}

/* A trigger that starts with the newest records starts at the heads of the log. */
static enum engine_status put_positions(struct engine_view *view, struct engine_write *write,
                                        struct arena *arena,
                                        const struct trigger_definition *definition,
                                        const struct stream_definition *stream)
{
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; i < stream->partition_count && status == ENGINE_OK; i++) {
        uint64_t partition = stream->partitions[i];
        struct engine_address address = change_log_head_address(stream->log_id, partition);
        struct change_log_head head;
        status = change_log_view_head(view, &address, &head);
        if (status == ENGINE_OK && head.next != 0)
            consumer_position_put(arena, write, definition->uuid, partition, head.next);
    }
    return status;
}

static enum engine_status store(struct triggers *triggers, struct arena *arena,
                                const struct trigger_definition *definition,
                                const struct stream_definition *stream)
{
    struct engine_view *view = NULL;
    struct engine_write *write = NULL;
    enum engine_status status = engine_view_open(triggers->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_write_begin(triggers->options.engine, NULL, 0, &write);
    if (status == ENGINE_OK && definition->from_latest)
        status = put_positions(view, write, arena, definition, stream);
    engine_view_close(view);
    if (status != ENGINE_OK) {
        if (write != NULL)
            engine_write_abandon(write);
        return status;
    }
    trigger_definition_put(arena, write, definition);
    return engine_write_commit_wait(write);
}

enum engine_status triggers_add(struct triggers *triggers, struct arena *arena,
                                const struct trigger_definition *definition,
                                const struct stream_definition *stream)
{
    assert(triggers->count + triggers->leaving_count < TRIGGERS_MAX);
    struct trigger *trigger = copy(definition);
    enum engine_status status = store(triggers, arena, definition, stream);
    if (status != ENGINE_OK) {
        trigger_destroy(trigger);
        return status;
    }
    insert(triggers, trigger);
    run(triggers, trigger);
    return ENGINE_OK;
}

/* The runner stores nothing any more (consumer/consumer.h), so nobody has to wait for it. */
static void leave(struct triggers *triggers, struct trigger *trigger)
{
    if (trigger->runner == NULL) {
        trigger_destroy(trigger);
        return;
    }
    trigger_runner_ask_to_stop(trigger->runner);
    assert(triggers->leaving_count < TRIGGERS_MAX);
    triggers->leaving[triggers->leaving_count++] = trigger;
}

enum engine_status triggers_remove(struct triggers *triggers, struct arena *arena,
                                   struct bytes uuid)
{
    size_t at = 0;
    while (at < triggers->count && !bytes_equal(triggers->list[at]->definition.uuid, uuid))
        at++;
    if (at == triggers->count)
        return ENGINE_NOT_FOUND;
    struct trigger *trigger = triggers->list[at];
    enum engine_status status = trigger_definition_delete(arena, triggers->options.engine, uuid);
    if (status != ENGINE_OK)
        return status; /* The trigger keeps running. */
    pthread_mutex_lock(&triggers->mutex);
    triggers->count--;
    memmove(&triggers->list[at], &triggers->list[at + 1],
            (triggers->count - at) * sizeof(struct trigger *));
    pthread_mutex_unlock(&triggers->mutex);
    leave(triggers, trigger);
    return ENGINE_OK;
}

/* --- Loading --- */

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *entry)
{
    struct triggers *triggers = context;
    struct trigger *trigger = trigger_create();
    (void)arena;
    struct trigger_record record =
        trigger_definition_open_entry(trigger->arena, entry, &trigger->definition);
    bool is_definition = record.kind == TRIGGER_RECORD_DEFINITION;
    if (is_definition && triggers->count < TRIGGERS_MAX) {
        insert(triggers, trigger);
        return true;
    }
    trigger_destroy(trigger);
    return record.kind == TRIGGER_RECORD_POSITION || /* Its consumer reads it. */
           record.kind == TRIGGER_RECORD_DESTINATION;
}

struct triggers *triggers_open(const struct trigger_runner_options *options,
                               enum engine_status *status)
{
    struct triggers *triggers = memory_checked(calloc(1, sizeof *triggers));
    triggers->options = *options;
    pthread_mutex_init(&triggers->mutex, NULL);
    const struct engine_load load = { .range.place = consumer_position_place,
                                      .take = load_entry,
                                      .context = triggers,
                                      .module = "trigger",
                                      .damage = "damaged record of a trigger" };
    *status = engine_load(options->engine, &load);
    if (*status != ENGINE_OK) {
        triggers_close(triggers);
        return NULL;
    }
    for (size_t i = 0; i < triggers->count; i++)
        run(triggers, triggers->list[i]);
    return triggers;
}

void triggers_close(struct triggers *triggers)
{
    if (triggers == NULL)
        return;
    for (size_t i = 0; i < triggers->count; i++) {
        if (triggers->list[i]->runner != NULL)
            trigger_runner_ask_to_stop(
                triggers->list[i]->runner); /* All of them first, so that they end in parallel. */
    }
    for (size_t i = 0; i < triggers->count; i++)
        trigger_destroy(triggers->list[i]);
    for (size_t i = 0; i < triggers->leaving_count; i++)
        trigger_destroy(triggers->leaving[i]);
    pthread_mutex_destroy(&triggers->mutex);
    free(triggers);
}
