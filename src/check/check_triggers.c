/* check_triggers.c -- see check_triggers.h.
 *
 * Definitions sort before positions, and there are few; so one walk knows a position's trigger.
 */
#include "check/check_triggers.h"
#include <inttypes.h>
#include "base/arena.h"
#include "check/check_catalogue.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "log/change_log.h"
#include "stream/stream_definition.h"
#include "trigger/trigger_definition.h"
#include "trigger/trigger_records.h"
#include "trigger/triggers.h"

struct trigger_check {
    struct engine_view *view;
    const struct check_catalogue *catalogue;
    struct check_report *report;
    struct arena *arena; /* Holds the definitions. */
    struct trigger_definition *triggers;
    size_t count;
};

static const struct stream_definition *find_stream(const struct trigger_check *check,
                                                   uint64_t log_id)
{
    const struct check_owner *owner = check_catalogue_owner(check->catalogue, log_id);
    return owner == NULL ? NULL : owner->stream;
}

static bool has_partition(const struct stream_definition *stream, uint64_t partition)
{
    for (size_t i = 0; i < stream->partition_count; i++) {
        if (stream->partitions[i] == partition)
            return true;
    }
    return false;
}

static void report_position(const struct trigger_check *check, const struct trigger_record *record,
                            const char *problem)
{
    check_report_problem(check->report, "trigger %.*s, partition %" PRIu64 ": %s",
                         BYTES_FMT(record->uuid), record->partition, problem);
}

/* A stream that is gone left its triggers behind, with positions that mean nothing any more. */
static void check_position(const struct trigger_check *check, const struct trigger_record *record)
{
    size_t i = 0;
    while (i < check->count && !bytes_equal(check->triggers[i].uuid, record->uuid))
        i++;
    if (i == check->count) {
        report_position(check, record, "is the position of no trigger");
        return;
    }
    const struct stream_definition *stream = find_stream(check, check->triggers[i].log_id);
    if (stream == NULL)
        return;
    if (!has_partition(stream, record->partition)) {
        report_position(check, record, "is no partition of its stream");
        return;
    }
    struct engine_address address = change_log_head_address(stream->log_id, record->partition);
    struct change_log_head head;
    if (change_log_view_head(check->view, &address, &head) == ENGINE_OK && record->next > head.next)
        report_position(check, record, "its position lies behind the newest record");
}

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    (void)place;
    struct trigger_check *check = context;
    struct trigger_definition definition;
    struct trigger_record record = trigger_records_open_entry(check->arena, entry, &definition);
    if (record.kind == TRIGGER_RECORD_POSITION)
        check_position(check, &record);
    else if (record.kind == TRIGGER_RECORD_NONE)
        check_report_problem(check->report, "a record of a trigger is damaged or unknown");
    else if (check->count == TRIGGERS_MAX)
        check_report_problem(check->report, "there are more than %d triggers", TRIGGERS_MAX);
    else
        check->triggers[check->count++] = definition;
    return !check_report_gave_up(check->report);
}

void check_triggers(struct engine_view *view, const struct check_catalogue *catalogue,
                    struct check_report *report)
{
    struct arena *arena = arena_create();
    struct trigger_check check = { .view = view,
                                   .catalogue = catalogue,
                                   .report = report,
                                   .arena = arena,
                                   .triggers =
                                       arena_alloc(arena, TRIGGERS_MAX * sizeof *check.triggers) };
    enum engine_status status = check_walk(view, &trigger_records_place, visit, &check);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the triggers");
    arena_destroy(arena);
}
