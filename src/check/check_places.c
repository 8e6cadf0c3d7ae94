/* check_places.c -- see check_places.h. */
#include "check/check_places.h"
#include <inttypes.h>
#include "check/check_catalogue.h"
#include "check/check_report.h"
#include "stream/stream_definition.h"
#include "stream/streams.h"
#include "table/catalogue_record.h"
#include "table/layout.h"
#include "table/server_time.h"
#include "table/token_record.h"
#include "trigger/trigger_records.h"

static bool has_partition(const struct partition *partitions, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (partitions[i].id == id)
            return true;
    }
    return false;
}

/* Whether a stream's log has anything there. */
static bool has_log_place(const struct stream_definition *stream, const struct engine_place *place)
{
    bool found = false;
    for (size_t i = 0; i < stream->partition_count; i++)
        found |= stream->partitions[i] == place->partition;
    return found && place->space == ENGINE_SPACE_CHANGES;
}

/* Whether a table or an index stores anything there. */
static bool has_place(const struct check_owner *owner, const struct engine_place *place)
{
    const struct table_definition *table = owner->table;
    const struct index_definition *index = owner->index;
    if (index == NULL)
        return (place->space == ENGINE_SPACE_ITEMS || place->space == ENGINE_SPACE_STATS ||
                (place->space == ENGINE_SPACE_EXPIRY && table->expiry.status != EXPIRY_NONE) ||
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

/* Judges a place and moves it to the last one that needs no more looking at. */
static void judge(const struct check_catalogue *catalogue, struct check_report *report,
                  struct engine_place *place)
{
    const struct check_owner *owner = check_catalogue_owner(catalogue, place->owner);
    if (place->owner == LAYOUT_CATALOGUE_OWNER) {
        if (!engine_place_equal(place, &catalogue_record_place) &&
            !engine_place_equal(place, &token_record_place) &&
            !engine_place_equal(place, &server_time_place) &&
            !engine_place_equal(place, &streams_place) &&
            !engine_place_equal(place, &trigger_records_place))
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
            ": holds data that belongs to no table, index, stream or dropped table",
            place->owner);
    /* All of the owner is alike. */
    place->partition = UINT64_MAX;
    place->space = (enum engine_space)UINT8_MAX;
}

void check_places(struct engine_view *view, const struct check_catalogue *catalogue,
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
