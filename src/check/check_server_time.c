/* check_server_time.c -- see check_server_time.h. */
#include "check/check_server_time.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "table/server_time.h"

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
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

void check_server_time(struct engine_view *view, struct check_report *report)
{
    enum engine_status status = check_walk(view, &server_time_place, visit, report);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the server time");
}
