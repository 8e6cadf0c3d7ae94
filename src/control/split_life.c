/* split_life.c -- see split_life.h. */
#include "control/split_life.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "control/table_life.h"
#include "log/change_log.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/partition_map.h"
#include "table/table_stats.h"

/* --- A split under way --- */

enum engine_status split_life_begin(struct split_life *life, struct arena *arena,
                                    const struct table_definition *table, uint64_t first_hash)
{
    assert(table->splitting_id == 0);
    assert(table->partition_count + table->split_count < PARTITIONS_MAX);
    struct table_definition changed = *table;
    size_t at = 0;
    while (at < table->split_count && table->splits[at].first_hash < first_hash)
        at++;
    assert(at == table->split_count || table->splits[at].first_hash != first_hash);
    changed.splits = arena_alloc_zeroed(arena, (table->split_count + 1) * sizeof *changed.splits);
    if (at > 0)
        memcpy(changed.splits, table->splits, at * sizeof *changed.splits);
    changed.splits[at] = (struct partition){ .first_hash = first_hash,
                                             .parent_id = partition_map_find(table, first_hash) };
    if (at < table->split_count)
        memcpy(&changed.splits[at + 1], &table->splits[at],
               (table->split_count - at) * sizeof *changed.splits);
    changed.split_count++;
    return catalogue_update(life->catalogue, arena, &changed);
}

static bool has_step(const struct table_definition *table, void *context)
{
    (void)context;
    return table->status != TABLE_DELETING && table->splitting_id != 0;
}

/* NULL if there is none, or it is not open. */
static const struct stream_definition *open_log(const struct split_life *life,
                                                const struct table_definition *table)
{
    const struct stream_definition *stream =
        table->log_id == 0 ? NULL : streams_of_log(life->streams->streams, table->log_id);
    return stream != NULL && stream->status == STREAM_ENABLED ? stream : NULL;
}

static enum engine_status take_step(void *context, struct arena *arena,
                                    const struct table_definition *table)
{
    assert(has_step(table, context));
    struct split_life *life = context;
    struct table_definition changed = *table;
    uint64_t child = table->splitting_id, parent = partition_map_parent(table, child);
    const struct stream_definition *log = open_log(life, table);
    enum engine_status status = ENGINE_OK;
    if (log != NULL && !stream_definition_has_partition(log, child))
        status = stream_upkeep_split(life->streams, arena, life->clock, log, parent, child);
    if (status != ENGINE_OK)
        return status;
    log_write(LOG_INFO, "table", "%.*s: partition %llu is split off partition %llu",
              BYTES_FMT(table->name), (unsigned long long)child, (unsigned long long)parent);
    changed.splitting_id = 0;
    return catalogue_update(life->catalogue, arena, &changed);
}

/* --- What to split --- */

/* A partition's log as it was seen. */
struct split_look {
    uint64_t partition;
    uint64_t log_id;
    uint64_t next;        /* The number of the next record. */
    int64_t hot_since_ms; /* Server time; 0: it is not hot. */
};

/* One look at all partitions. */
struct looking {
    const struct split_life *life;
    struct arena *arena;
    struct engine_view *view;
    struct buffer looks; /* struct split_look each. */
    int64_t now_ms;
    bool changed; /* Something was written to the table since the last look. */
};

static int compare_looks(const void *a, const void *b)
{
    const struct split_look *left = a, *right = b;
    return left->partition < right->partition ? -1 : left->partition > right->partition;
}

static const struct split_look *last_look(const struct split_life *life, uint64_t log_id,
                                          uint64_t partition)
{
    const struct split_look wanted = { .partition = partition };
    const struct split_look *found =
        life->look_count == 0
            ? NULL
            : bsearch(&wanted, life->looks, life->look_count, sizeof wanted, compare_looks);
    return found != NULL && found->log_id == log_id ? found : NULL;
}

/* What was written since the last look. */
static uint64_t written(const struct split_look *before, const struct split_look *now)
{
    return before == NULL || before->next == 0 || now->next < before->next
               ? 0
               : now->next - before->next;
}

static bool is_hot(const struct looking *in, uint64_t records)
{
    int64_t elapsed_ms = in->now_ms - in->life->looked_ms;
    return in->life->limits.writes_max > 0 && elapsed_ms > 0 &&
           records >= (uint64_t)in->life->limits.writes_max * (uint64_t)elapsed_ms / 1000 &&
           records > 0;
}

static uint64_t width(const struct partition_range *range)
{
    return range->last_hash - range->first_hash;
}

static enum engine_status look_at_partition(struct looking *in,
                                            const struct table_definition *table,
                                            const struct partition_range *range,
                                            struct split_look *now, uint64_t *records)
{
    struct engine_address address = change_log_head_address(table->log_id, range->id);
    const struct split_look *before = last_look(in->life, table->log_id, range->id);
    struct change_log_head head;
    enum engine_status status = change_log_view_head(in->view, &address, &head);
    if (status != ENGINE_OK)
        return status;
    *now =
        (struct split_look){ .partition = range->id, .log_id = table->log_id, .next = head.next };
    *records = written(before, now);
    in->changed |= before == NULL || before->next != now->next;
    if (is_hot(in, *records))
        now->hot_since_ms = before->hot_since_ms != 0 ? before->hot_since_ms : in->life->looked_ms;
    return ENGINE_OK;
}

/* The partition that has been hot for long enough, of several the hottest; NULL: none. */
static enum engine_status find_hot(struct looking *in, const struct table_definition *table,
                                   const struct partition_range *ranges, size_t count,
                                   const struct partition_range **out)
{
    uint64_t most = 0;
    enum engine_status status = ENGINE_OK;
    *out = NULL;
    in->changed = false;
    for (size_t i = 0; i < count && status == ENGINE_OK; i++) {
        struct split_look now;
        uint64_t records;
        status = look_at_partition(in, table, &ranges[i], &now, &records);
        if (status != ENGINE_OK)
            break;
        buffer_append(&in->looks, &now, sizeof now);
        if (now.hot_since_ms != 0 && records > most &&
            in->now_ms - now.hot_since_ms >= in->life->limits.heat_ms &&
            width(&ranges[i]) >= SPLIT_LIFE_WIDTH_MIN) {
            most = records;
            *out = &ranges[i];
        }
    }
    return status;
}

/* The widest partition of a table that is too large for those that it has; NULL: it is not. */
static enum engine_status find_large(struct looking *in, const struct table_definition *table,
                                     const struct partition_range *ranges, size_t count,
                                     const struct partition_range **out)
{
    struct table_stats stats, indexes[INDEXES_MAX];
    *out = NULL;
    if (in->life->limits.size_max == 0)
        return ENGINE_OK;
    enum engine_status status = table_stats_sum(in->view, table, &stats, indexes);
    if (status != ENGINE_OK || stats.size / (int64_t)count <= in->life->limits.size_max)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (width(&ranges[i]) >= SPLIT_LIFE_WIDTH_MIN &&
            (*out == NULL || width(&ranges[i]) > width(*out)))
            *out = &ranges[i];
    }
    return ENGINE_OK;
}

static enum engine_status look_at_table(struct looking *in, const struct table_definition *table,
                                        const struct partition_range **out)
{
    struct partition_range *ranges;
    size_t count = partition_map_list(in->arena, table, &ranges);
    enum engine_status status = find_hot(in, table, ranges, count, out);
    /* The size of an idle table is what it was. */
    if (status == ENGINE_OK && *out == NULL && in->changed)
        status = find_large(in, table, ranges, count, out);
    return status;
}

static bool may_split(const struct table_definition *table, void *context)
{
    (void)context;
    return table->log_id != 0 && table->status == TABLE_ACTIVE && table->splitting_id == 0 &&
           table->partition_count + table->split_count < PARTITIONS_MAX;
}

/* Looks at a table, and begins to split a partition of it if there is reason to. */
static enum engine_status visit_table(struct split_life *life, struct looking *in,
                                      const struct table_definition *table)
{
    const struct partition_range *chosen = NULL;
    if (open_log(life, table) == NULL)
        return ENGINE_OK;
    enum engine_status status = look_at_table(in, table, &chosen);
    if (status == ENGINE_OK && chosen != NULL)
        status =
            split_life_begin(life, in->arena, table, chosen->first_hash + width(chosen) / 2 + 1);
    return status;
}

static int64_t interval_ms(const struct split_life *life)
{
    int64_t interval_ms = life->limits.heat_ms / SPLIT_LIFE_LOOKS;
    if (interval_ms > SPLIT_LIFE_INTERVAL_MS_MAX)
        return SPLIT_LIFE_INTERVAL_MS_MAX;
    return interval_ms < SPLIT_LIFE_INTERVAL_MS_MIN ? SPLIT_LIFE_INTERVAL_MS_MIN : interval_ms;
}

static void keep_looks(struct split_life *life, const struct looking *in)
{
    free(life->looks);
    life->look_count = in->looks.len / sizeof *life->looks;
    life->looks = NULL;
    life->looked_ms = in->now_ms;
    if (life->look_count == 0)
        return;
    life->looks = memory_checked(malloc(in->looks.len));
    memcpy(life->looks, in->looks.data, in->looks.len);
    qsort(life->looks, life->look_count, sizeof *life->looks, compare_looks);
}

static void look_at_all(struct split_life *life, struct arena *arena, int64_t now_ms)
{
    struct looking in = { .life = life, .arena = arena, .now_ms = now_ms };
    struct bytes after = BYTES("");
    struct table *table;
    buffer_init(&in.looks, arena);
    enum engine_status status = engine_view_open(life->engine, ENGINE_NEWEST, &in.view);
    while (status == ENGINE_OK &&
           (table = catalogue_find_next(life->catalogue, after, may_split, NULL)) != NULL) {
        after = arena_copy(arena, table_definition(table)->name);
        /* What cannot be read of one table does not keep others from splitting. */
        enum engine_status looked = visit_table(life, &in, table_definition(table));
        if (looked != ENGINE_OK)
            log_write(LOG_ERROR, "table", "%.*s: looking for partitions to split: %s",
                      BYTES_FMT(after), engine_status_name(looked));
        table_release(table);
    }
    engine_view_close(in.view);
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "table", "looking for partitions to split: %s",
                  engine_status_name(status));
    keep_looks(life, &in);
}

/* Milliseconds until the next look, while there are tables that may split. */
static int64_t run_look(struct split_life *life, struct arena *arena)
{
    if ((life->limits.writes_max == 0 && life->limits.size_max == 0) ||
        streams_count(life->streams->streams) == 0)
        return TIMED_WAIT_FOREVER;
    int64_t now_ms = clock_server_ms(life->clock);
    int64_t wait_ms = life->looked_ms + interval_ms(life) - now_ms;
    if (life->looked_ms != 0 && wait_ms > 0)
        return wait_ms;
    look_at_all(life, arena, now_ms);
    return interval_ms(life);
}

/* --- All --- */

int64_t split_life_run(struct split_life *life, struct arena *arena)
{
    const struct table_life_part part = { .name = "split of a partition",
                                          .has_step = has_step,
                                          .take_step = take_step,
                                          .context = life };
    int64_t wait_ms = run_look(life, arena);
    return timed_wait_sooner(wait_ms, table_life_run_part(life->catalogue, arena, &part));
}

void split_life_deinit(struct split_life *life)
{
    free(life->looks);
    life->looks = NULL;
    life->look_count = 0;
}
