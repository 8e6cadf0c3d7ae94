/* meter_view.c -- see meter_view.h. */
#include "command/meter_view.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "command/answer.h"
#include "json/writer.h"
#include "metric/histogram.h"

enum { LINE_MAX_SIZE = 256 };

struct view_table {
    struct bytes name;
    uint64_t successes, failures, throttles;
    uint64_t items_read, items_returned, items_written;
    double read_units, write_units;
    bool counts_keys;
    struct histogram latency_ns;
};

struct meter_view {
    double time; /* Seconds since 1970. */
    struct view_table *tables;
    size_t table_count;
};

/* --- Reading --- */

struct reading {
    struct arena *arena;
    struct meter_view *view;
    size_t room;              /* For tables. */
    struct view_table *table; /* That is being read. */
};

static uint64_t count_of(double value)
{
    return value < 0 || value > 9e15 ? 0 : (uint64_t)value;
}

static uint64_t read_count(struct arena *arena, struct bytes object, const char *name)
{
    return count_of(answer_number(arena, object, name));
}

struct pair {
    uint64_t numbers[2];
    size_t count;
};

static void read_number(void *context, struct bytes element)
{
    struct pair *pair = context;
    if (pair->count < 2)
        pair->numbers[pair->count++] = count_of(answer_number_of(element));
}

/* [ns, count] */
static void read_bucket(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct pair pair = { 0 };
    answer_visit(reading->arena, element, read_number, &pair);
    histogram_add(&reading->table->latency_ns, pair.numbers[0], pair.numbers[1]);
}

static void read_operation(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct view_table *table = reading->table;
    table->successes += read_count(reading->arena, element, "Successes");
    table->failures += read_count(reading->arena, element, "Failures");
    table->items_read += read_count(reading->arena, element, "ItemsRead");
    table->items_returned += read_count(reading->arena, element, "ItemsReturned");
    table->items_written += read_count(reading->arena, element, "ItemsWritten");
    answer_visit(reading->arena, answer_json(reading->arena, element, "LatencyBuckets"),
                 read_bucket, reading);
}

static void read_table(void *context, struct bytes element)
{
    struct reading *reading = context;
    struct meter_view *view = reading->view;
    struct arena *arena = reading->arena;
    if (view->table_count == METER_VIEW_TABLES_MAX)
        return;
    if (view->table_count == reading->room) {
        size_t room = reading->room == 0 ? 16 : 2 * reading->room;
        view->tables = arena_grow(arena, view->tables, reading->room * sizeof *view->tables,
                                  room * sizeof *view->tables);
        reading->room = room;
    }
    struct view_table *table = reading->table = &view->tables[view->table_count++];
    memset(table, 0, sizeof *table);
    table->name = answer_text(arena, element, "TableName");
    table->read_units = answer_number(arena, element, "ReadUnits");
    table->write_units = answer_number(arena, element, "WriteUnits");
    table->throttles = read_count(arena, element, "Throttles");
    table->counts_keys = answer_flag(arena, element, "CountsKeys");
    answer_visit(arena, answer_json(arena, element, "Operations"), read_operation, reading);
}

const struct meter_view *meter_view_read(struct arena *arena, struct bytes answer)
{
    struct meter_view *view = arena_alloc_zeroed(arena, sizeof *view);
    struct reading reading = { .arena = arena, .view = view };
    if (!answer_is_object(arena, answer))
        return NULL;
    view->time = answer_number(arena, answer, "Time");
    answer_visit(arena, answer_json(arena, answer, "Tables"), read_table, &reading);
    return view;
}

/* --- What happened in between --- */

static const struct view_table *find(const struct meter_view *view, struct bytes name)
{
    for (size_t i = 0; view != NULL && i < view->table_count; i++) {
        if (bytes_equal(view->tables[i].name, name))
            return &view->tables[i];
    }
    return NULL;
}

/* A table that was replaced by another of its name, or a server that was restarted, begins anew. */
static struct view_table difference(const struct meter_view *before, const struct view_table *now)
{
    struct view_table result = *now;
    const struct view_table *old = find(before, now->name);
    if (old == NULL || old->successes > now->successes || old->failures > now->failures ||
        old->latency_ns.count > now->latency_ns.count)
        return result;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (old->latency_ns.buckets[i] > now->latency_ns.buckets[i])
            return result;
    }
    result.successes -= old->successes;
    result.failures -= old->failures;
    result.throttles -= old->throttles;
    result.items_read -= old->items_read;
    result.items_returned -= old->items_returned;
    result.items_written -= old->items_written;
    result.read_units -= old->read_units;
    result.write_units -= old->write_units;
    histogram_subtract(&result.latency_ns, &old->latency_ns);
    return result;
}

static int by_requests(const void *a, const void *b)
{
    const struct view_table *const *x = a, *const *y = b;
    uint64_t left = (*x)->successes + (*x)->failures, right = (*y)->successes + (*y)->failures;
    if (left != right)
        return left > right ? -1 : 1;
    return bytes_compare((*x)->name, (*y)->name);
}

struct rows {
    const struct view_table **rows;
    size_t count;
    double seconds; /* 0: totals. */
};

static struct rows compare(struct arena *arena, const struct meter_view *before,
                           const struct meter_view *now)
{
    struct rows rows = { .rows = arena_alloc(arena, (now->table_count + 1) * sizeof *rows.rows) };
    for (size_t i = 0; i < now->table_count; i++) {
        struct view_table *row = arena_alloc(arena, sizeof *row);
        *row = difference(before, &now->tables[i]);
        rows.rows[rows.count++] = row;
    }
    qsort(rows.rows, rows.count, sizeof *rows.rows, by_requests);
    if (before != NULL && now->time > before->time)
        rows.seconds = now->time - before->time;
    return rows;
}

static double rate(const struct rows *rows, double value)
{
    return rows->seconds > 0 ? value / rows->seconds : value;
}

/* --- Lines --- */

static void append_line(struct buffer *out, const char *line)
{
    buffer_append(out, line, strlen(line));
    buffer_append_byte(out, '\n');
}

static double ms_at(const struct view_table *table, double fraction)
{
    return (double)histogram_value_at(&table->latency_ns, fraction) / 1e6;
}

static struct bytes shown_name(const struct view_table *table)
{
    return table->name.len == 0 ? BYTES("(no table)") : table->name;
}

void meter_view_write(struct buffer *out, const struct meter_view *before,
                      const struct meter_view *now, size_t rows_max)
{
    struct rows rows = compare(out->arena, before, now);
    const char *unit = rows.seconds > 0 ? "/s" : "";
    char line[LINE_MAX_SIZE];
    snprintf(line, sizeof line, "%-*s %9s%-2s %8s %8s %8s %9s%-2s %9s%-2s %9s",
             METER_VIEW_NAME_COLUMNS, "table", "requests", unit, "errors", "p50 ms", "p99 ms",
             "read", unit, "write", unit, "throttles");
    append_line(out, line);
    for (size_t i = 0; i < rows.count && i < rows_max; i++) {
        const struct view_table *row = rows.rows[i];
        struct bytes name = shown_name(row);
        int columns = name.len < METER_VIEW_NAME_COLUMNS ? (int)name.len : METER_VIEW_NAME_COLUMNS;
        snprintf(line, sizeof line, "%-*.*s %11.1f %8.1f %8.2f %8.2f %11.1f %11.1f %9.1f",
                 METER_VIEW_NAME_COLUMNS, columns, (const char *)name.data,
                 rate(&rows, (double)(row->successes + row->failures)),
                 rate(&rows, (double)row->failures), ms_at(row, 0.5), ms_at(row, 0.99),
                 rate(&rows, row->read_units), rate(&rows, row->write_units),
                 rate(&rows, (double)row->throttles));
        append_line(out, line);
    }
}

static void write_number(struct json_writer *json, const char *name, double value)
{
    json_write_name(json, name);
    json_write_double(json, value);
}

void meter_view_write_json(struct buffer *out, const struct meter_view *before,
                           const struct meter_view *now)
{
    struct rows rows = compare(out->arena, before, now);
    struct json_writer json;
    json_writer_init(&json, out);
    json_open_object(&json);
    write_number(&json, "seconds", rows.seconds);
    json_write_name(&json, "tables");
    json_open_array(&json);
    for (size_t i = 0; i < rows.count; i++) {
        const struct view_table *row = rows.rows[i];
        json_open_object(&json);
        json_write_name(&json, "table");
        json_write_string(&json, row->name);
        write_number(&json, "requests", rate(&rows, (double)(row->successes + row->failures)));
        write_number(&json, "errors", rate(&rows, (double)row->failures));
        write_number(&json, "p50_ms", ms_at(row, 0.5));
        write_number(&json, "p99_ms", ms_at(row, 0.99));
        write_number(&json, "read_units", rate(&rows, row->read_units));
        write_number(&json, "write_units", rate(&rows, row->write_units));
        write_number(&json, "throttles", rate(&rows, (double)row->throttles));
        write_number(&json, "items_read", rate(&rows, (double)row->items_read));
        write_number(&json, "items_returned", rate(&rows, (double)row->items_returned));
        write_number(&json, "items_written", rate(&rows, (double)row->items_written));
        json_close_object(&json);
    }
    json_close_array(&json);
    json_close_object(&json);
    buffer_append_byte(out, '\n');
}

size_t meter_view_key_tables(const struct meter_view *view, struct bytes *names, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < view->table_count && count < max; i++) {
        if (view->tables[i].counts_keys)
            names[count++] = view->tables[i].name;
    }
    return count;
}
