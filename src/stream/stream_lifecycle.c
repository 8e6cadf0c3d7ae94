/* stream_lifecycle.c -- see stream_lifecycle.h. */
#include "stream/stream_lifecycle.h"
#include <assert.h>
#include "base/arena.h"
#include "model/table_definition.h"
#include "log/change_log.h"
#include "log/log_layout.h"
#include "log/shard.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/server_time.h"

/* What a step does to one partition: changes the head and puts shards. */
struct partition_step {
    const struct stream_step *step;
    const struct stream_definition *definition;
    struct engine_view *view; /* For what only the control thread writes. */
    struct engine_write *write;
};
typedef enum engine_status partition_visitor(const struct partition_step *in, uint64_t partition,
                                             struct change_log_head *head);

/* One batch: the partitions from `first` on, as many as fit; with the stream's record if they are
 * the last. */
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
    }
    if (status != ENGINE_OK) {
        engine_write_abandon(in->write);
        return status;
    }
    if (count == left)
        streams_put(in->step->arena, in->write, in->definition);
    return engine_write_commit_wait(in->write);
}

/* Does a step to all partitions, then publishes what became of the stream. */
static enum engine_status change_all(struct partition_step *in, partition_visitor *visit)
{
    enum engine_status status = engine_view_open(in->step->engine, ENGINE_STRONG, &in->view);
    for (size_t first = 0; first < in->definition->partition_count && status == ENGINE_OK;
         first += ENGINE_WRITE_ADDRESSES_MAX)
        status = change_some(in, first, visit);
    engine_view_close(in->view);
    if (status == ENGINE_OK)
        streams_publish(in->step->streams, in->definition);
    return status;
}

/* --- Partitions --- */

static void begin_shard(const struct partition_step *in, uint64_t partition,
                        struct change_log_head *head, const struct shard *parent)
{
    int64_t now_ms = in->step->now_ms;
    /* Two shards of a partition are told apart by the times of their creation. */
    if (parent != NULL && now_ms <= parent->created_ms)
        now_ms = parent->created_ms + 1;
    struct shard shard = { .partition = partition,
                           .first = head->next,
                           .kept = head->next + 1,
                           .created_ms = now_ms,
                           .parent_created_ms = parent == NULL ? 0 : parent->created_ms };
    head->shard_first = head->next++;
    shard_put(in->step->arena, in->write, in->definition->log_id, &shard);
}

static enum engine_status end_shard(const struct partition_step *in, uint64_t partition,
                                    const struct change_log_head *head, struct shard *shard)
{
    uint64_t log_id = in->definition->log_id;
    enum engine_status status =
        shard_get(in->step->arena, in->view, log_id, partition, head->shard_first, shard);
    if (status != ENGINE_OK)
        return status == ENGINE_NOT_FOUND ? ENGINE_CORRUPT : status;
    shard->last = head->next - 1;
    shard->closed_ms = in->step->now_ms;
    shard->closed_server_ms = in->step->server_ms;
    shard_put(in->step->arena, in->write, log_id, shard);
    return ENGINE_OK;
}

static enum engine_status open_partition(const struct partition_step *in, uint64_t partition,
                                         struct change_log_head *head)
{
    if (head->next != 0)
        return ENGINE_OK; /* By an attempt that was cut short. */
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
        return ENGINE_OK; /* As above. */
    head->open = false;
    return end_shard(in, partition, head, &shard);
}

/* --- Steps --- */

enum engine_status stream_lifecycle_announce(const struct stream_step *step,
                                             const struct table_definition *table)
{
    struct stream_definition draft = { .log_id = table->log_id,
                                       .table_name = table->name,
                                       .label = table->stream_label,
                                       .view_type = table->stream_view_type,
                                       .key = table->key,
                                       .status = STREAM_ENABLING,
                                       .created_ms = stream_names_label_ms(table->stream_label),
                                       .partition_count = table->partition_count };
    draft.partitions = arena_alloc(step->arena, draft.partition_count * sizeof *draft.partitions);
    for (size_t i = 0; i < draft.partition_count; i++)
        draft.partitions[i] = table->partitions[i].id;
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

enum engine_status stream_lifecycle_open(const struct stream_step *step,
                                         const struct stream_definition *definition,
                                         const struct table_definition *table)
{
    struct stream_definition changed = *definition;
    assert(stream_status_may_follow(changed.status, STREAM_ENABLED));
    changed.status = STREAM_ENABLED;
    changed.rolled_ms = step->now_ms;
    changed.images = table_definition_log_needs(table).images;
    /* Records that are stamped from now on must not be far ahead of the stored position. */
    enum engine_status status =
        server_time_store(step->engine, &(struct server_time){ .origin_ms = step->origin_ms,
                                                               .position_ms = step->server_ms });
    if (status != ENGINE_OK)
        return status;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, open_partition);
}

enum engine_status stream_lifecycle_set_images(const struct stream_step *step,
                                               const struct stream_definition *definition,
                                               unsigned images)
{
    struct stream_definition changed = *definition;
    assert(changed.status == STREAM_ENABLED);
    changed.images = images;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, set_partition_images);
}

enum engine_status stream_lifecycle_roll(const struct stream_step *step,
                                         const struct stream_definition *definition)
{
    struct stream_definition changed = *definition;
    assert(changed.status == STREAM_ENABLED);
    changed.rolled_ms = step->now_ms;
    struct partition_step in = { .step = step, .definition = &changed };
    return change_all(&in, roll_partition);
}

enum engine_status stream_lifecycle_close(const struct stream_step *step,
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

enum engine_status stream_lifecycle_remove(const struct stream_step *step,
                                           const struct stream_definition *definition)
{
    uint64_t log_id = definition->log_id;
    struct engine_write *write = NULL;
    enum engine_status status = engine_prepare_delete_owner(step->engine, log_id);
    if (status == ENGINE_OK)
        status = engine_write_begin(step->engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_delete_owner(write, log_id);
    streams_delete(step->arena, write, log_id);
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        streams_unpublish(step->streams, log_id);
    return status;
}
