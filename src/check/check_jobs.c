/* check_jobs.c -- see check_jobs.h. */
#include "check/check_jobs.h"
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "jobs/job_record.h"

struct reading {
    struct arena *arena; /* Of one record at a time. */
    struct check_report *report;
};

static bool visit_job(void *context, const struct engine_place *place,
                      const struct engine_entry *entry)
{
    struct reading *reading = context;
    struct job_record record;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    (void)place;
    if (!job_record_decode(reading->arena, entry->key, entry->value, &record) &&
        !job_cancel_decode(entry->key, entry->value)) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(reading->report, "record of a job, %s: is damaged or unknown", text);
    }
    arena_reset(reading->arena);
    return !check_report_gave_up(reading->report);
}

void check_jobs(struct engine_view *view, struct check_report *report)
{
    struct reading reading = { .arena = arena_create(), .report = report };
    enum engine_status status = check_walk(view, &job_record_place, visit_job, &reading);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the records of jobs");
    arena_destroy(reading.arena);
}
