/* advice_history.c -- see advice_history.h. */
#include "advice/advice_history.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "model/table_definition.h"

#define HOUR_MS INT64_C(3600000)
#define MINUTE_MS INT64_C(60000)

struct snapshot {
    int64_t time_ms; /* 0: none. */
    struct advice_counts counts;
};

struct table_history {
    uint64_t id;
    bool is_seen; /* In this round. */
    /* Whether the minute before was quiet, and which one it was. */
    int64_t last_minute;
    bool wrote_last;
    uint64_t quiet_half_units;
    size_t next;                                      /* Where the next snapshot goes. */
    struct snapshot *snapshots[ADVICE_HISTORY_HOURS]; /* NULL: none yet. */
};

struct advice_history {
    struct meter *meter;
    int64_t started_ms;
    pthread_mutex_t mutex; /* Guards everything below. */
    int64_t minute;        /* The last that was looked at. */
    int64_t hour;          /* The last at whose beginning a snapshot was taken. */
    size_t table_count;
    struct table_history *tables[ADVICE_HISTORY_TABLES_MAX];
};

struct advice_history *advice_history_create(struct meter *meter, int64_t started_ms)
{
    struct advice_history *history = memory_checked(calloc(1, sizeof *history));
    history->meter = meter;
    history->started_ms = started_ms;
    history->hour = started_ms / HOUR_MS;
    pthread_mutex_init(&history->mutex, NULL);
    return history;
}

static void table_history_destroy(struct table_history *table)
{
    for (size_t i = 0; i < ADVICE_HISTORY_HOURS; i++)
        free(table->snapshots[i]);
    free(table);
}

void advice_history_destroy(struct advice_history *history)
{
    if (history == NULL)
        return;
    for (size_t i = 0; i < history->table_count; i++)
        table_history_destroy(history->tables[i]);
    pthread_mutex_destroy(&history->mutex);
    free(history);
}

int64_t advice_history_started_ms(const struct advice_history *history)
{
    return history->started_ms;
}

/* --- What is kept of a reading --- */

static uint64_t calls_of(const struct meter_operation_reading *operation)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < ERROR_CODE_COUNT; i++)
        calls += operation->calls[i];
    return calls;
}

static void add_operations(struct meter *meter, const struct meter_table_reading *table,
                           struct advice_counts *out)
{
    for (size_t i = 0; i < meter_operation_count(meter); i++) {
        const struct meter_operation_reading *operation = &table->operations[i];
        if (!operation->used)
            continue;
        if (strcmp(meter_operation_at(meter, i)->name, "GetRecords") == 0)
            out->stream_reads += calls_of(operation);
        out->writes += operation->items_written;
    }
}

static void summarize(struct meter *meter, const struct meter_table_reading *table,
                      struct advice_counts *out)
{
    *out = (struct advice_counts){ .consistent_half_units =
                                       table->units[METER_READ].consistent_half_units,
                                   .writes = table->condition_failures + table->conflicts,
                                   .condition_failures = table->condition_failures,
                                   .conflicts = table->conflicts,
                                   .large_items = table->large_items,
                                   .huge_items = table->huge_items };
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        out->half_units[d] = table->units[d].half_units;
        out->key_range_throttles[d] = table->units[d].throttles[METER_KEY_RANGE_THROUGHPUT];
    }
    for (size_t i = 0; i < CAPACITY_ITEM_SIZES; i++)
        out->items_put += table->item_sizes[i];
    add_operations(meter, table, out);
    for (size_t i = 0; i < table->index_count; i++) {
        const struct meter_index_reading *index = &table->indexes[i];
        const struct index_definition *definition =
            index->exists ? table_definition_index(table->definition, index->name) : NULL;
        if (definition == NULL || out->index_count == INDEXES_MAX)
            continue;
        struct advice_index_counts *counts = &out->indexes[out->index_count++];
        *counts = (struct advice_index_counts){ .id = definition->id,
                                                .changes = index->changes,
                                                .moves = index->moves };
        for (size_t d = 0; d < METER_DIRECTIONS; d++) {
            counts->half_units[d] = index->units[d].half_units;
            counts->key_range_throttles[d] = index->units[d].throttles[METER_KEY_RANGE_THROUGHPUT];
        }
    }
}

/* --- Rounds --- */

static struct table_history *find_table(struct advice_history *history, uint64_t id)
{
    for (size_t i = 0; i < history->table_count; i++) {
        if (history->tables[i]->id == id)
            return history->tables[i];
    }
    return NULL;
}

static struct table_history *add_table(struct advice_history *history, uint64_t id)
{
    if (history->table_count == ADVICE_HISTORY_TABLES_MAX)
        return NULL;
    struct table_history *table = memory_checked(calloc(1, sizeof *table));
    table->id = id;
    history->tables[history->table_count++] = table;
    return table;
}

/* A minute is quiet if nothing was written in it and in the one before. A minute that nobody looked
 * at counts as one with writes. */
static void look_at_minute(struct table_history *table, const struct meter_table_reading *reading,
                           int64_t minute)
{
    bool wrote = reading->units[METER_WRITE].minute.half_units.count > 0;
    if (minute == table->last_minute)
        return;
    bool wrote_before = minute != table->last_minute + 1 || table->wrote_last;
    if (!wrote && !wrote_before)
        table->quiet_half_units += reading->units[METER_READ].minute.consistent_half_units;
    table->last_minute = minute;
    table->wrote_last = wrote;
}

static void take_snapshot(struct advice_history *history, struct table_history *table,
                          const struct meter_table_reading *reading)
{
    struct snapshot **at = &table->snapshots[table->next];
    if (*at == NULL)
        *at = memory_checked(malloc(sizeof **at));
    summarize(history->meter, reading, &(*at)->counts);
    (*at)->counts.quiet_half_units = table->quiet_half_units;
    (*at)->time_ms = history->hour * HOUR_MS;
    table->next = (table->next + 1) % ADVICE_HISTORY_HOURS;
}

struct round {
    struct advice_history *history;
    int64_t minute; /* 0: none is new. */
    bool is_hour;
};

static void visit(void *context, const struct meter_table_reading *reading)
{
    const struct round *round = context;
    if (reading->is_pseudo || reading->definition == NULL)
        return;
    struct table_history *table = find_table(round->history, reading->id);
    if (table == NULL && (table = add_table(round->history, reading->id)) == NULL)
        return;
    table->is_seen = true;
    if (round->minute > 0)
        look_at_minute(table, reading, round->minute);
    if (round->is_hour)
        take_snapshot(round->history, table, reading);
}

/* Forgets tables that were deleted. */
static void drop_unseen(struct advice_history *history)
{
    size_t kept = 0;
    for (size_t i = 0; i < history->table_count; i++) {
        struct table_history *table = history->tables[i];
        if (table->is_seen)
            history->tables[kept++] = table;
        else
            table_history_destroy(table);
    }
    history->table_count = kept;
}

void advice_history_tick(struct advice_history *history, int64_t now_ms)
{
    pthread_mutex_lock(&history->mutex);
    int64_t closed = (now_ms - METER_SETTLE_MS) / MINUTE_MS - 1;
    struct round round = { .history = history };
    if (closed > history->minute)
        round.minute = closed;
    round.is_hour = now_ms / HOUR_MS > history->hour;
    if (round.minute > 0 || round.is_hour) {
        history->minute = closed;
        history->hour = now_ms / HOUR_MS;
        for (size_t i = 0; i < history->table_count; i++)
            history->tables[i]->is_seen = false;
        meter_read(history->meter, closed, visit, &round);
        drop_unseen(history);
    }
    pthread_mutex_unlock(&history->mutex);
}

/* --- Windows --- */

static void subtract_index(struct advice_index_counts *from,
                           const struct advice_index_counts *earlier)
{
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        from->half_units[d] -= earlier->half_units[d];
        from->key_range_throttles[d] -= earlier->key_range_throttles[d];
    }
    from->changes -= earlier->changes;
    from->moves -= earlier->moves;
}

static void subtract(struct advice_counts *from, const struct advice_counts *earlier)
{
    for (size_t d = 0; d < METER_DIRECTIONS; d++) {
        from->half_units[d] -= earlier->half_units[d];
        from->key_range_throttles[d] -= earlier->key_range_throttles[d];
    }
    from->consistent_half_units -= earlier->consistent_half_units;
    from->quiet_half_units -= earlier->quiet_half_units;
    from->writes -= earlier->writes;
    from->condition_failures -= earlier->condition_failures;
    from->conflicts -= earlier->conflicts;
    from->items_put -= earlier->items_put;
    from->large_items -= earlier->large_items;
    from->huge_items -= earlier->huge_items;
    from->stream_reads -= earlier->stream_reads;
    for (size_t i = 0; i < from->index_count; i++) {
        for (size_t k = 0; k < earlier->index_count; k++) {
            if (earlier->indexes[k].id == from->indexes[i].id)
                subtract_index(&from->indexes[i], &earlier->indexes[k]);
        }
    }
}

static const struct snapshot *latest_before(const struct table_history *table, int64_t time_ms)
{
    const struct snapshot *found = NULL;
    for (size_t i = 0; i < ADVICE_HISTORY_HOURS; i++) {
        const struct snapshot *snapshot = table->snapshots[i];
        if (snapshot != NULL && snapshot->time_ms <= time_ms &&
            (found == NULL || snapshot->time_ms > found->time_ms))
            found = snapshot;
    }
    return found;
}

struct wanted {
    struct meter *meter;
    struct advice_window *windows;
    size_t count;
};

static void visit_wanted(void *context, const struct meter_table_reading *reading)
{
    const struct wanted *wanted = context;
    if (reading->is_pseudo || reading->definition == NULL)
        return;
    for (size_t i = 0; i < wanted->count; i++) {
        struct advice_window *window = &wanted->windows[i];
        if (window->table_id != reading->id)
            continue;
        summarize(wanted->meter, reading, &window->counts);
        window->has_counts = true;
    }
}

void advice_history_read(struct advice_history *history, int64_t from_ms,
                         struct advice_window *windows, size_t count)
{
    struct wanted wanted = { .meter = history->meter, .windows = windows, .count = count };
    for (size_t i = 0; i < count; i++)
        windows[i] = (struct advice_window){ .table_id = windows[i].table_id,
                                             .from_ms = history->started_ms };
    pthread_mutex_lock(&history->mutex);
    meter_read(history->meter, 0, visit_wanted, &wanted);
    for (size_t i = 0; i < count; i++) {
        struct advice_window *window = &windows[i];
        const struct table_history *table = find_table(history, window->table_id);
        if (!window->has_counts || table == NULL)
            continue;
        const struct snapshot *before = latest_before(table, from_ms);
        window->counts.quiet_half_units = table->quiet_half_units;
        if (before == NULL)
            continue;
        subtract(&window->counts, &before->counts);
        window->from_ms = before->time_ms;
    }
    pthread_mutex_unlock(&history->mutex);
}
