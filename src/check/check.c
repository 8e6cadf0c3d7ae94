/* check.c -- see check.h. Checks what belongs to no table and no stream, and runs the others. */
#include "check/check.h"
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_catalogue.h"
#include "check/check_history.h"
#include "check/check_insights.h"
#include "check/check_jobs.h"
#include "check/check_metrics.h"
#include "check/check_monitors.h"
#include "check/check_stream.h"
#include "check/check_table.h"
#include "check/check_walk.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/series_chunk.h"
#include "insight/insight_store.h"
#include "engine/engine.h"
#include "history/commit_ceiling.h"
#include "jobs/job_record.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "table/catalogue_record.h"
#include "table/layout.h"
#include "table/server_time.h"
#include "table/token_record.h"
#include "consumer/consumer_position.h"
#include "cloudformation/stack_objects.h"
#include "scaling/scaling_objects.h"

/* --- Records of ClientRequestTokens: each whole and under a token's key --- */

/* Old records are no problem: a running server removes them, and a store may lie idle for years. */
static bool visit_token(void *context, const struct engine_place *place,
                        const struct engine_entry *entry)
{
    struct check_report *report = context;
    struct token_record record;
    const char *problem = NULL;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    (void)place;
    if (!token_record_is_key(entry->key))
        problem = "is stored under a key that is no token's";
    else if (!token_record_decode(entry->value, &record))
        problem = "is damaged";
    if (problem == NULL)
        return true;
    check_report_format_key(entry->key, text);
    check_report_problem(report, "record of a token, %s: %s", text, problem);
    return true;
}

static void check_tokens(struct engine_view *view, struct check_report *report)
{
    enum engine_status status = check_walk(view, &token_record_place, visit_token, report);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the records of tokens");
}

/* --- The record of the server time: at most one, and whole --- */

static bool visit_server_time(void *context, const struct engine_place *place,
                              const struct engine_entry *entry)
{
    struct check_report *report = context;
    struct server_time time;
    (void)place;
    if (entry->key.len > 0)
        check_report_problem(report, "server time: holds a record that nothing reads");
    else if (!server_time_decode(entry->value, &time))
        check_report_problem(report, "server time: its record is damaged");
    return !check_report_gave_up(report);
}

static void check_server_time(struct engine_view *view, struct check_report *report)
{
    enum engine_status status = check_walk(view, &server_time_place, visit_server_time, report);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the server time");
}

/* --- Places: data under owners, in partitions or in spaces that nothing reads --- */

static bool has_partition(const struct partition *partitions, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (partitions[i].id == id)
            return true;
    }
    return false;
}

/* True if the log of a stream uses this place. */
static bool has_log_place(const struct stream_definition *stream, const struct engine_place *place)
{
    bool found = false;
    for (size_t i = 0; i < stream->partition_count; i++)
        found |= stream->partitions[i] == place->partition;
    return found && place->space == ENGINE_SPACE_CHANGES;
}

/* True if a table or an index uses this place. */
static bool has_place(const struct check_owner *owner, const struct engine_place *place)
{
    const struct table_definition *table = owner->table;
    const struct index_definition *index = owner->index;
    const struct insight_target target = { .table = table, .index = index };
    if (owner->is_history)
        return place->space == ENGINE_SPACE_HISTORY &&
               has_partition(table->partitions, table->partition_count, place->partition);
    if (place->space == ENGINE_SPACE_INSIGHTS)
        return place->partition == INSIGHT_STORE_PARTITION &&
               insight_target_definition(&target)->status != INSIGHT_NEVER;
    if (index == NULL)
        return (place->space == ENGINE_SPACE_ITEMS || place->space == ENGINE_SPACE_STATS ||
                (place->space == ENGINE_SPACE_EXPIRY && table->expiry.status != EXPIRY_NONE) ||
                (place->space == ENGINE_SPACE_REPLICAS &&
                 replica_definition_is_group(&table->replicas)) ||
                (place->space == ENGINE_SPACE_COLLECTIONS &&
                 table_definition_has_local_index(table))) &&
               has_partition(table->partitions, table->partition_count, place->partition);
    return place->space == ENGINE_SPACE_INDEX &&
           (index->global
                ? has_partition(index->partitions, index->partition_count, place->partition)
                : has_partition(table->partitions, table->partition_count, place->partition));
}

static void report_unknown(struct check_report *report, const struct check_owner *owner,
                           const struct engine_place *place)
{
    const char *problem = "holds what nothing reads";
    if (owner == NULL)
        check_report_problem(report, "catalogue, partition %" PRIu64 ", space %d: %s",
                             place->partition, (int)place->space, problem);
    else if (owner->stream != NULL)
        check_report_problem(report, "stream %.*s/%.*s, partition %" PRIu64 ", space %d: %s",
                             BYTES_FMT(owner->stream->table_name), BYTES_FMT(owner->stream->label),
                             place->partition, (int)place->space, problem);
    else if (owner->index == NULL)
        check_report_problem(report, "table %.*s, partition %" PRIu64 ", space %d: %s",
                             BYTES_FMT(owner->table->name), place->partition, (int)place->space,
                             problem);
    else
        check_report_problem(report, "table %.*s, index %.*s, partition %" PRIu64 ", space %d: %s",
                             BYTES_FMT(owner->table->name), BYTES_FMT(owner->index->name),
                             place->partition, (int)place->space, problem);
}

/* Reports a place that nothing reads. Moves it to the end of an owner whose other places need no
 * check of their own. */
static void judge(const struct check_catalogue *catalogue, struct check_report *report,
                  struct engine_place *place)
{
    const struct check_owner *owner = check_catalogue_owner(catalogue, place->owner);
    if (place->owner == LAYOUT_CATALOGUE_OWNER) {
        if (!engine_place_equal(place, &catalogue_record_place) &&
            !engine_place_equal(place, &token_record_place) &&
            !engine_place_equal(place, &server_time_place) &&
            !engine_place_equal(place, &commit_ceiling_place) &&
            !engine_place_equal(place, &job_record_place) &&
            !engine_place_equal(place, &streams_place) &&
            !engine_place_equal(place, &series_place) &&
            !engine_place_equal(place, &monitor_place) &&
            !engine_place_equal(place, &scaling_place) &&
            !engine_place_equal(place, &stack_place) &&
            !engine_place_equal(place, &consumer_position_place))
            report_unknown(report, NULL, place);
        return;
    }
    if (owner != NULL && owner->stream != NULL) {
        if (!has_log_place(owner->stream, place))
            report_unknown(report, owner, place);
        return;
    }
    if (owner != NULL && owner->table != NULL) {
        if (!has_place(owner, place))
            report_unknown(report, owner, place);
        return;
    }
    if (owner == NULL)
        check_report_problem(
            report,
            "owner %" PRIu64
            ": holds data that belongs to no table, index, stream, backup or dropped table",
            place->owner);
    /* The same holds for all places of this owner: skip them. */
    place->partition = UINT64_MAX;
    place->space = (enum engine_space)UINT8_MAX;
}

static void check_places(struct engine_view *view, const struct check_catalogue *catalogue,
                         struct check_report *report)
{
    struct engine_place place;
    enum engine_status status = engine_view_next_place(view, NULL, &place);
    while (status == ENGINE_OK) {
        judge(catalogue, report, &place);
        status = engine_view_next_place(view, &place, &place);
    }
    if (status != ENGINE_END)
        check_report_unreadable(report, status, "the list of what is stored");
}

/* --- The store --- */

static void check_data(struct engine_view *view, const struct table_definition *table,
                       int64_t ceiling_us, struct check_report *report, struct check_result *result)
{
    struct check_table_counts counts = check_table(view, table, report);
    result->item_count += counts.item_count;
    result->entry_count += counts.entry_count;
    check_insights(view, table, report);
    check_history(view, table, ceiling_us, report);
}

static void check_tables(struct engine_view *view, const struct check_catalogue *catalogue,
                         struct check_report *report, struct check_result *result)
{
    int64_t ceiling_us = check_history_ceiling(view, report);
    result->table_count = catalogue->table_count;
    for (size_t i = 0; i < catalogue->table_count; i++)
        check_data(view, &catalogue->tables[i], ceiling_us, report, result);
    for (size_t i = 0; i < catalogue->kept_count; i++)
        check_data(view, &catalogue->kept[i], ceiling_us, report, result);
}

struct check_result check_store(struct engine *engine, check_report_sink *sink, void *context)
{
    return check_store_watched(engine, sink, NULL, context);
}

struct check_result check_store_watched(struct engine *engine, check_report_sink *sink,
                                        check_report_progress *progress, void *context)
{
    assert(engine != NULL && sink != NULL);
    struct check_result result = { 0 };
    struct check_report report = { .sink = sink, .progress = progress, .context = context };
    struct engine_view *view = NULL;
    struct arena *arena = arena_create(); /* Holds the catalogue. */
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK) {
        struct check_catalogue catalogue = check_catalogue_read(view, arena, &report);
        check_tables(view, &catalogue, &report, &result);
        check_tokens(view, &report);
        check_server_time(view, &report);
        check_jobs(view, &report);
        check_metrics(view, &report);
        check_monitors(view, &report);
        for (size_t i = 0; i < catalogue.stream_count; i++)
            check_stream(view, &catalogue.streams[i], &report);
        check_stream_triggers(view, &catalogue, &report);
        check_places(view, &catalogue, &report);
    } else {
        check_report_unreadable(&report, status, "the store");
    }
    engine_view_close(view);
    arena_destroy(arena);
    result.problem_count = report.problem_count;
    result.gave_up = check_report_gave_up(&report);
    return result;
}
