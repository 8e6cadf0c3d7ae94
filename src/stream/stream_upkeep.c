/* stream_upkeep.c -- see stream_upkeep.h.
 *
 * Each step of a stream's life changes the stream's record, the heads of its log and its shards in
 * one batch. While a step holds the heads no writer takes a number, so a shard ends exactly where
 * the next one begins. A log with very many partitions takes several batches; then the last one
 * changes the stream's record, and a step that was cut short is repeated for the partitions that
 * are left.
 */
#include "stream/stream_upkeep.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "log/change_log.h"
#include "log/log_layout.h"
#include "log/log_retention.h"
#include "log/shard.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/partition_map.h"
#include "table/server_time.h"

/* What each step works with. */
struct step {
    struct engine *engine;
    struct streams *streams;
    struct arena *arena;
    int64_t now_ms;    /* Wall time, for names and for times that clients see. */
    int64_t server_ms; /* Server time, for whatever must last, */
    int64_t origin_ms; /* and the server time of what was stored without one (base/clock.h). */
};

static struct step step_of(const struct stream_upkeep *upkeep, struct arena *arena,
                           const struct clock *clock)
{
    return (struct step){ .engine = upkeep->engine,
                          .streams = upkeep->streams,
                          .arena = arena,
                          .now_ms = clock_wall_ms(clock),
                          .server_ms = clock_server_ms(clock),
                          .origin_ms = clock->server_origin_ms };
}

static struct log_trim trim_of(const struct stream_upkeep *upkeep, const struct step *step)
{
    assert(upkeep->retention != NULL);
    return (struct log_trim){ .engine = step->engine,
                              .arena = step->arena,
                              .retention = upkeep->retention,
                              .now_ms = step->server_ms,
                              .origin_ms = step->origin_ms };
}

static struct log_need stream_need(void *context, uint64_t log_id, uint64_t partition,
                                   int64_t now_ms)
{
    const struct streams *streams = context;
    (void)partition;
    return (struct log_need){ .server_ms = streams_shows_log(streams, log_id)
                                               ? now_ms - STREAM_RETENTION_MS
                                               : INT64_MAX,
                              .sequence = UINT64_MAX };
}

struct log_retention_reader stream_upkeep_reader(struct streams *streams)
{
    return (
        struct log_retention_reader){ .name = "streams", .need = stream_need, .context = streams };
}

/* --- A step over all partitions of a log --- */

/* What a step does to one partition: changes the head and puts shards. */
struct partition_step {
    const struct step *step;
    const struct stream_definition *definition;
    /* Stored with the definition; NULL: none. */
    const struct stream_definition *detached;
    /* For each partition, where its newest shard begins after the step; NULL: nobody asks. */
    uint64_t *borders;
    struct engine_view *view; /* For shards, which only the control thread writes. */
    struct engine_write *write;
};
typedef enum engine_status partition_visitor(const struct partition_step *in, uint64_t partition,
                                             struct change_log_head *head);

/* Changes as many partitions from `first` on as fit in one batch. The last batch also stores the
 * stream's record. */
static enum engine_status change_some(struct partition_step *in, size_t first,
                                      partition_visitor *visit)
{
    const uint64_t *partitions = in->definition->partitions + first;
    size_t left = in->definition->partition_count - first;
    size_t count = left < ENGINE_WRITE_ADDRESSES_MAX ? left : ENGINE_WRITE_ADDRESSES_MAX;
    struct engine_address *heads = arena_alloc(in->step->arena, count * sizeof *heads);
    for (size_t i = 0; i < count; i++)
        heads[i] = change_log_head_address(in->definition->log_id, partitions[i]);
    enum engine_status status = engine_write_begin(in->step->engine, heads, count, &in->write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < count && status == ENGINE_OK; i++) {
        struct change_log_head head;
        status = change_log_read_head(in->write, &heads[i], &head);
        if (status == ENGINE_OK)
            status = visit(in, partitions[i], &head);
        if (status == ENGINE_OK && head.next != 0)
            change_log_put_head(in->write, &heads[i], &head);
        if (in->borders != NULL)
            in->borders[first + i] = head.shard_first;
    }
    if (status != ENGINE_OK) {
        engine_write_abandon(in->write);
        return status;
    }
    if (count == left)
        streams_put(in->step->arena, in->write, in->definition);
    if (count == left && in->detached != NULL)
        streams_put(in->step->arena, in->write, in->detached);
    return engine_write_commit_wait(in->write);
}

/* Changes all partitions, then publishes the stream's new definition. */
static enum engine_status change_all(struct partition_step *in, partition_visitor *visit)
{
    enum engine_status status = engine_view_open(in->step->engine, ENGINE_STRONG, &in->view);
    for (size_t first = 0; first < in->definition->partition_count && status == ENGINE_OK;
         first += ENGINE_WRITE_ADDRESSES_MAX)
        status = change_some(in, first, visit);
    engine_view_close(in->view);
    /* First, because it borrows from the main definition, which is replaced. */
    if (status == ENGINE_OK && in->detached != NULL)
        streams_publish(in->step->streams, in->detached);
    if (status == ENGINE_OK)
        streams_publish(in->step->streams, in->definition);
    return status;
}

/* --- Partitions --- */

static void begin_shard(const struct partition_step *in, uint64_t partition,
                        struct change_log_head *head, const struct shard *parent)
{
    shard_begin(in->step->arena, in->write, in->definition->log_id, partition, head, parent,
                in->step->now_ms);
}

static enum engine_status end_shard(const struct partition_step *in, uint64_t partition,
                                    const struct change_log_head *head, struct shard *shard)
{
    return shard_end(in->step->arena, in->view, in->write, in->definition->log_id, partition, head,
                     in->step->now_ms, in->step->server_ms, shard);
}

static enum engine_status open_partition(const struct partition_step *in, uint64_t partition,
                                         struct change_log_head *head)
{
    if (head->next != 0)
        return ENGINE_OK; /* An earlier attempt that was cut short has opened it. */
    *head = (struct change_log_head){ .open = true,
                                      .images = in->definition->images,
                                      .next = LOG_FIRST_SEQUENCE };
    begin_shard(in, partition, head, NULL);
    return ENGINE_OK;
}

static enum engine_status set_partition_images(const struct partition_step *in, uint64_t partition,
                                               struct change_log_head *head)
{
    (void)partition;
    head->images = in->definition->images;
    return ENGINE_OK;
}

static enum engine_status roll_partition(const struct partition_step *in, uint64_t partition,
                                         struct change_log_head *head)
{
    struct shard parent;
    if (!head->open)
        return ENGINE_OK;
    enum engine_status status = end_shard(in, partition, head, &parent);
    if (status == ENGINE_OK)
        begin_shard(in, partition, head, &parent);
    return status;
}

static enum engine_status close_partition(const struct partition_step *in, uint64_t partition,
                                          struct change_log_head *head)
{
    struct shard shard;
    if (!head->open)
        return ENGINE_OK; /* An earlier attempt has closed it. */
    head->open = false;
    return end_shard(in, partition, head, &shard);
}

/* --- Steps --- */

/* The label that the main definition of the table's log is to have. */
static struct bytes label_of(struct arena *arena, const struct table_definition *table)
{
    return table->stream_enabled ? table->stream_label
                                 : stream_definition_hidden_label(arena, table->log_id);
}

/* Makes it the stream that the table's definition names, or a hidden one if it names none. */
static void name_stream(const struct step *step, const struct table_definition *table,
                        struct stream_definition *out)
{
    out->label = label_of(step->arena, table);
    out->view_type = table->stream_enabled ? table->stream_view_type : BYTES("");
    out->policy = (struct bytes){ 0 };
    out->created_ms =
        table->stream_enabled ? stream_names_label_ms(table->stream_label) : step->now_ms;
}

/* Stores the stream that the table's definition names: ENABLING. */
static enum engine_status announce_stream(const struct step *step,
                                          const struct table_definition *table)
{
    struct stream_definition draft = { .log_id = table->log_id,
                                       .table_name = table->name,
                                       .key = table->key,
                                       .status = STREAM_ENABLING };
    struct partition_range *ranges;
    name_stream(step, table, &draft);
    draft.partition_count = partition_map_list(step->arena, table, &ranges);
    draft.partitions = arena_alloc(step->arena, draft.partition_count * sizeof *draft.partitions);
    for (size_t i = 0; i < draft.partition_count; i++)
        draft.partitions[i] = ranges[i].id;
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(step->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    streams_put(step->arena, write, &draft);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        streams_publish(step->streams, &draft);
    return status;
}

/* Opens the log: ENABLED. Nobody may still use a definition of the table without the log: the
 * changes of such a writer would be missing between those of others. */
static enum engine_status open_stream(const struct step *step,
                                      const struct stream_definition *definition,
                                      const struct table_definition *table)
{
    struct stream_definition changed = *definition;
    assert(stream_status_may_follow(changed.status, STREAM_ENABLED));
    changed.status = STREAM_ENABLED;
    changed.rolled_ms = step->now_ms;
    changed.images = table_definition_log_needs(table).images;
    if (!bytes_equal(changed.label, label_of(step->arena, table)))
        name_stream(step, table, &changed);
    /* After a crash server time resumes at the stored position. Records written from now on must
     * not be far ahead of it, so store it first. */
    enum engine_status status =
        server_time_store(step->engine, &(struct server_time){ .origin_ms = step->origin_ms,
                                                               .position_ms = step->server_ms });
    if (status != ENGINE_OK)
        return status;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, open_partition);
}

/* Makes new records hold other images. */
static enum engine_status set_images_stream(const struct step *step,
                                            const struct stream_definition *definition,
                                            unsigned images)
{
    struct stream_definition changed = *definition;
    assert(changed.status == STREAM_ENABLED);
    changed.images = images;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, set_partition_images);
}

static uint64_t *new_borders(const struct step *step, const struct stream_definition *definition)
{
    return arena_alloc_zeroed(step->arena, definition->partition_count * sizeof(uint64_t));
}

/* The stream that shows the log was disabled, and the log goes on: the stream ends with the open
 * shards, and the log's main definition is hidden from now on. */
static enum engine_status detach_stream(const struct step *step,
                                        const struct stream_definition *definition,
                                        const struct table_definition *table)
{
    struct stream_definition changed = *definition, detached = *definition;
    struct table_definition without = *table;
    assert(definition->status == STREAM_ENABLED && !stream_definition_is_hidden(definition));
    without.stream_enabled = false;
    name_stream(step, &without, &changed);
    changed.rolled_ms = step->now_ms;
    changed.firsts = NULL;
    detached.status = STREAM_DISABLED;
    detached.disabled_ms = step->now_ms;
    detached.disabled_server_ms = step->server_ms;
    detached.ends = new_borders(step, definition);
    struct partition_step in = {
        .step = step, .definition = &changed, .detached = &detached, .borders = detached.ends
    };
    return change_all(&in, roll_partition);
}

/* A stream was enabled on an open log: it begins with new shards. */
static enum engine_status attach_stream(const struct step *step,
                                        const struct stream_definition *definition,
                                        const struct table_definition *table)
{
    struct stream_definition changed = *definition;
    assert(definition->status == STREAM_ENABLED && stream_definition_is_hidden(definition));
    name_stream(step, table, &changed);
    changed.rolled_ms = step->now_ms;
    changed.firsts = new_borders(step, definition);
    struct partition_step in = { .step = step, .definition = &changed, .borders = changed.firsts };
    return change_all(&in, roll_partition);
}

/* Ends the open shards and begins their children. */
static enum engine_status roll_stream(const struct step *step,
                                      const struct stream_definition *definition)
{
    struct stream_definition changed = *definition;
    assert(changed.status == STREAM_ENABLED);
    changed.rolled_ms = step->now_ms;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, roll_partition);
}

/* Room for one more. */
static uint64_t *grow(const struct step *step, const uint64_t *list, size_t count, uint64_t added)
{
    uint64_t *grown = arena_alloc(step->arena, (count + 1) * sizeof *grown);
    memcpy(grown, list, count * sizeof *grown);
    grown[count] = added;
    return grown;
}

/* The definition of a log with one more partition, all of which the stream shows. */
static struct stream_definition with_partition(const struct step *step,
                                               const struct stream_definition *definition,
                                               uint64_t partition)
{
    struct stream_definition changed = *definition;
    size_t count = definition->partition_count;
    changed.partitions = grow(step, definition->partitions, count, partition);
    if (definition->firsts != NULL)
        changed.firsts = grow(step, definition->firsts, count, LOG_FIRST_SEQUENCE);
    changed.partition_count = count + 1;
    return changed;
}

/* In a write that holds both heads. The child's log begins with the number and the times that the
 * parent's has reached, so that both increase from a shard to its children. */
static enum engine_status split_heads(const struct partition_step *in,
                                      const struct engine_address addresses[2],
                                      struct change_log_head heads[2])
{
    uint64_t parent = addresses[0].place.partition, child = addresses[1].place.partition;
    struct shard ended;
    if (!heads[0].open || heads[1].next != 0) {
        log_write(LOG_ERROR, "stream", "a log that is to be split is closed, or is split already");
        return ENGINE_CORRUPT;
    }
    enum engine_status status = end_shard(in, parent, &heads[0], &ended);
    if (status != ENGINE_OK)
        return status;
    heads[1] = heads[0];
    begin_shard(in, parent, &heads[0], &ended);
    begin_shard(in, child, &heads[1], &ended);
    for (size_t i = 0; i < 2; i++)
        change_log_put_head(in->write, &addresses[i], &heads[i]);
    return ENGINE_OK;
}

static enum engine_status split_log(struct partition_step *in, uint64_t parent, uint64_t child)
{
    const struct engine_address addresses[] = {
        change_log_head_address(in->definition->log_id, parent),
        change_log_head_address(in->definition->log_id, child),
    };
    struct change_log_head heads[2];
    enum engine_status status = engine_write_begin(in->step->engine, addresses, 2, &in->write);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < 2 && status == ENGINE_OK; i++)
        status = change_log_read_head(in->write, &addresses[i], &heads[i]);
    if (status == ENGINE_OK)
        status = split_heads(in, addresses, heads);
    if (status != ENGINE_OK) {
        engine_write_abandon(in->write);
        return status;
    }
    streams_put(in->step->arena, in->write, in->definition);
    return engine_write_commit_wait(in->write);
}

/* Ends the open shards: DISABLED. From then on nothing is logged. */
static enum engine_status close_stream(const struct step *step,
                                       const struct stream_definition *definition)
{
    struct stream_definition changed = *definition;
    assert(stream_status_may_follow(changed.status, STREAM_DISABLED));
    changed.status = STREAM_DISABLED;
    changed.disabled_ms = step->now_ms;
    changed.disabled_server_ms = step->server_ms;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, close_partition);
}

/* Removes the stream with all of its records. */
static enum engine_status remove_stream(const struct step *step,
                                        const struct stream_definition *definition)
{
    uint64_t log_id = definition->log_id;
    struct engine_write *write = NULL;
    assert(definition->status != STREAM_ENABLED);
    enum engine_status status = engine_prepare_delete_owner(step->engine, log_id);
    if (status == ENGINE_OK)
        status = engine_write_begin(step->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_owner(write, log_id);
    streams_delete(step->arena, write, definition);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        streams_unpublish(step->streams, definition);
    return status;
}

/* Removes a detached stream. Its records are the log's, and are trimmed with the others. */
static enum engine_status remove_detached(const struct step *step,
                                          const struct stream_definition *definition)
{
    struct engine_write *write = NULL;
    assert(stream_definition_is_detached(definition));
    enum engine_status status = engine_write_begin(step->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    streams_delete(step->arena, write, definition);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        streams_unpublish(step->streams, definition);
    return status;
}

/* --- Tables without their stream --- */

struct lacking {
    const struct streams *streams;
    struct arena *arena;
};

static bool lacks_stream(const struct table_definition *table, void *context)
{
    const struct lacking *in = context;
    bool needed = table_definition_log_needs(table).changes;
    if (!needed || table->log_id == 0)
        return needed;
    const struct stream_definition *stream =
        table->stream_enabled ? streams_named(in->streams, table->name, table->stream_label) : NULL;
    /* The main definition may have another label until the next step renames it. */
    if (stream == NULL)
        stream = streams_named(in->streams, table->name,
                               stream_definition_hidden_label(in->arena, table->log_id));
    if (stream == NULL)
        stream = streams_of_log(in->streams, table->log_id);
    return stream == NULL || stream->log_id != table->log_id;
}

static enum engine_status announce(const struct stream_upkeep *upkeep, const struct step *step,
                                   const struct table *table)
{
    struct table_definition definition = *table_definition(table);
    /* A stream that was enabled by a version without change logs. */
    if (definition.log_id == 0) {
        enum engine_status status = catalogue_update(upkeep->catalogue, step->arena, &definition);
        if (status != ENGINE_OK)
            return status;
    }
    return announce_stream(step, &definition);
}

static enum engine_status announce_all(const struct stream_upkeep *upkeep, const struct step *step)
{
    enum engine_status status = ENGINE_OK;
    struct table *table = NULL;
    struct lacking lacking = { .streams = upkeep->streams, .arena = step->arena };
    while (status == ENGINE_OK && (table = catalogue_find_next(upkeep->catalogue, BYTES(""),
                                                               lacks_stream, &lacking)) != NULL) {
        status = announce(upkeep, step, table);
        table_release(table);
    }
    return status;
}

/* --- Policies --- */

static bool same_policy(struct bytes a, struct bytes b)
{
    return (a.data == NULL) == (b.data == NULL) && bytes_equal(a, b);
}

static enum engine_status store_policy(const struct step *step,
                                       const struct stream_definition *definition,
                                       struct bytes policy)
{
    struct stream_definition changed = *definition;
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(step->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    changed.policy = policy;
    streams_put(step->arena, write, &changed);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        streams_publish(step->streams, &changed);
    return status;
}

/* Copies the stream's policy from its table's definition, which has it for as long as this is the
 * table's latest stream with a policy. */
static enum engine_status keep_policy(const struct stream_upkeep *upkeep, const struct step *step,
                                      const struct stream_definition *stream)
{
    struct table *table = catalogue_find(upkeep->catalogue, stream->table_name);
    enum engine_status status = ENGINE_OK;
    if (table == NULL)
        return status;
    const struct table_definition *definition = table_definition(table);
    if (bytes_equal(definition->stream_policy_label, stream->label) &&
        !same_policy(definition->stream_policy.text, stream->policy))
        status = store_policy(step, stream, definition->stream_policy.text);
    table_release(table);
    return status;
}

/* --- One stream --- */

/* The outcome of a step, and when the next one is due. */
struct due {
    enum engine_status status;
    int64_t wait_ms; /* Until there is more to do. */
};

static struct due done(enum engine_status status)
{
    return (struct due){ .status = status, .wait_ms = TIMED_WAIT_FOREVER };
}

static struct due run_enabling(const struct step *step, const struct stream_definition *stream,
                               const struct table *table)
{
    if (table == NULL)
        return done(remove_stream(step, stream));
    /* A log that opens has all partitions. A split that is under way, of a log before, ends first:
     * its writers look at two heads, which would not open together. */
    if (!table_is_only_version(table) || table_definition(table)->splitting_id != 0)
        return (struct due){ .status = ENGINE_OK, .wait_ms = STREAM_UPKEEP_RETRY_MS };
    return (struct due){ .status = open_stream(step, stream, table_definition(table)) };
}

static struct due run_enabled(const struct stream_upkeep *upkeep, const struct step *step,
                              const struct stream_definition *stream, const struct table *table)
{
    if (table == NULL)
        return (struct due){ .status = close_stream(step, stream) };
    if (!bytes_equal(stream->label, label_of(step->arena, table_definition(table))))
        return (struct due){ .status = stream_definition_is_hidden(stream)
                                           ? attach_stream(step, stream, table_definition(table))
                                           : detach_stream(step, stream, table_definition(table)) };
    unsigned images = table_definition_log_needs(table_definition(table)).images;
    if (images != stream->images)
        return (struct due){ .status = set_images_stream(step, stream, images) };
    if (upkeep->rollover_ms == 0)
        return done(ENGINE_OK);
    int64_t wait_ms = stream->rolled_ms + upkeep->rollover_ms - step->now_ms;
    if (wait_ms > 0 && wait_ms <= upkeep->rollover_ms) /* More if the wall clock was set back. */
        return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
    return (struct due){ .status = roll_stream(step, stream), .wait_ms = upkeep->rollover_ms };
}

static struct due run_detached(const struct step *step, const struct stream_definition *stream)
{
    int64_t closed_ms =
        stream->disabled_server_ms > step->origin_ms ? stream->disabled_server_ms : step->origin_ms;
    int64_t wait_ms = closed_ms + STREAM_RETENTION_MS - step->server_ms;
    if (wait_ms > 0)
        return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
    return done(remove_detached(step, stream));
}

static struct due run_disabled(const struct stream_upkeep *upkeep, const struct step *step,
                               const struct stream_definition *stream, const struct table *table)
{
    if (stream_definition_is_detached(stream))
        return run_detached(step, stream);
    if (table != NULL) {
        struct table_definition changed = *table_definition(table);
        changed.stream_enabled = false;
        changed.feeds_kinesis = false; /* A log is closed when its last reader goes. */
        return (struct due){
            .status = catalogue_update(upkeep->catalogue, step->arena, &changed),
            .wait_ms = 0,
        };
    }
    struct log_trim trim = trim_of(upkeep, step);
    int64_t wait_ms = log_retention_wait_ms(&trim, stream->log_id, stream->partitions,
                                            stream->partition_count, stream->disabled_server_ms);
    if (wait_ms > 0)
        return (struct due){ .status = ENGINE_OK, .wait_ms = wait_ms };
    if (streams_has_detached(upkeep->streams, stream->log_id)) /* They go first. */
        return (struct due){ .status = ENGINE_OK, .wait_ms = STREAM_UPKEEP_RETRY_MS };
    return done(remove_stream(step, stream));
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

static struct due run_stream(const struct stream_upkeep *upkeep, const struct step *step,
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

/* A stream that cannot be trimmed does not keep the others from being trimmed. */
static void trim_all(const struct stream_upkeep *upkeep, const struct step *step)
{
    struct log_trim trim = trim_of(upkeep, step);
    for (size_t i = 0; i < streams_count(upkeep->streams); i++) {
        const struct stream_definition *stream = streams_at(upkeep->streams, i);
        if (stream_definition_is_detached(stream))
            continue; /* Trimmed with its log. */
        enum engine_status status =
            log_retention_trim(&trim, stream->log_id, stream->partitions, stream->partition_count);
        if (status != ENGINE_OK)
            failed("trimming", status);
    }
}

/* Failures are retried at the next interval. Until then old records merely stay readable. */
static int64_t run_trim(struct stream_upkeep *upkeep, const struct step *step)
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
    struct step step = step_of(upkeep, arena, clock);
    enum engine_status status = announce_all(upkeep, &step);
    if (status != ENGINE_OK)
        return failed("a new stream", status);
    int64_t wait_ms = TIMED_WAIT_FOREVER;
    for (size_t i = streams_count(upkeep->streams); i-- > 0;) {
        /* Backwards, because a step may remove the stream from the list. */
        status = keep_policy(upkeep, &step, streams_at(upkeep->streams, i));
        struct due due = run_stream(upkeep, &step, streams_at(upkeep->streams, i));
        if (due.status == ENGINE_OK)
            due.status = status;
        if (due.status != ENGINE_OK)
            due.wait_ms = failed("upkeep of a stream", due.status);
        wait_ms = timed_wait_sooner(wait_ms, due.wait_ms);
    }
    return timed_wait_sooner(wait_ms, run_trim(upkeep, &step));
}

enum engine_status stream_upkeep_keep_policies(struct stream_upkeep *upkeep, struct arena *arena,
                                               const struct clock *clock)
{
    struct step step = step_of(upkeep, arena, clock);
    enum engine_status first = ENGINE_OK;
    for (size_t i = 0; i < streams_count(upkeep->streams); i++) {
        enum engine_status status = keep_policy(upkeep, &step, streams_at(upkeep->streams, i));
        if (first == ENGINE_OK)
            first = status;
    }
    return first;
}

enum engine_status stream_upkeep_split(struct stream_upkeep *upkeep, struct arena *arena,
                                       const struct clock *clock,
                                       const struct stream_definition *log, uint64_t parent,
                                       uint64_t child)
{
    assert(log->status == STREAM_ENABLED && !stream_definition_has_partition(log, child));
    struct step step = step_of(upkeep, arena, clock);
    struct stream_definition changed = with_partition(&step, log, child);
    struct partition_step in = { .step = &step, .definition = &changed };
    enum engine_status status = engine_view_open(step.engine, ENGINE_STRONG, &in.view);
    if (status == ENGINE_OK)
        status = split_log(&in, parent, child);
    engine_view_close(in.view);
    if (status == ENGINE_OK)
        streams_publish(step.streams, &changed);
    return status;
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
    struct step step = step_of(upkeep, arena, clock);
    return close_stream(&step, streams_of_log(upkeep->streams, log_id));
}
