/* check_monitors.c -- see check_monitors.h. */
#include "check/check_monitors.h"
#include "base/arena.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "cloudformation/stack_objects.h"
#include "cloudwatch/alarm_record.h"
#include "cloudwatch/dashboards.h"
#include "scaling/scaling_objects.h"

struct monitors_walk {
    struct check_report *report;
    struct arena *arena;
};

static bool is_whole_alarm(struct arena *arena, const struct engine_entry *entry)
{
    struct alarm alarm;
    return alarm_decode(arena, entry->value, &alarm) &&
           bytes_equal(alarm.definition.name, bytes_of(entry->key.data + 1, entry->key.len - 1));
}

/* NULL if the record is whole. */
static const char *problem_of(struct arena *arena, const struct engine_entry *entry)
{
    uint64_t number;
    struct alarm_history history;
    struct alarm_action action;
    struct dashboard dashboard;
    bool whole;
    switch (entry->key.len == 0 ? 0 : entry->key.data[0]) {
    case MONITOR_KEY_ALARM:
        whole = is_whole_alarm(arena, entry);
        break;
    case MONITOR_KEY_DASHBOARD:
        whole = dashboard_is_name(bytes_of(entry->key.data + 1, entry->key.len - 1)) &&
                dashboard_decode(arena, entry->value, &dashboard);
        break;
    case MONITOR_KEY_HISTORY:
        whole = monitor_parse_number(entry->key, MONITOR_KEY_HISTORY, &number) &&
                alarm_history_decode(arena, entry->value, &history);
        break;
    case MONITOR_KEY_ACTION:
        whole = monitor_parse_number(entry->key, MONITOR_KEY_ACTION, &number) &&
                alarm_action_decode(arena, entry->value, &action);
        break;
    default:
        return "nothing reads it";
    }
    return whole ? NULL : "is damaged";
}

static bool visit(void *context, const struct engine_place *place, const struct engine_entry *entry)
{
    struct monitors_walk *walk = context;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    (void)place;
    const char *problem = problem_of(walk->arena, entry);
    if (problem != NULL) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(walk->report, "alarms and dashboards, record %s: %s", text, problem);
    }
    arena_reset(walk->arena);
    return true;
}

static bool visit_scaling(void *context, const struct engine_place *place,
                          const struct engine_entry *entry)
{
    struct monitors_walk *walk = context;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    enum scaling_kind kind;
    (void)place;
    if (scaling_decode(walk->arena, entry, &kind) == NULL) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(walk->report, "scaling targets and policies, record %s: is damaged",
                             text);
    }
    arena_reset(walk->arena);
    return true;
}

static bool visit_stacks(void *context, const struct engine_place *place,
                         const struct engine_entry *entry)
{
    struct monitors_walk *walk = context;
    char text[CHECK_REPORT_KEY_TEXT_MAX];
    (void)place;
    if (!stack_record_is_whole(walk->arena, entry)) {
        check_report_format_bytes(entry->key, text);
        check_report_problem(walk->report, "stacks, record %s: is damaged", text);
    }
    arena_reset(walk->arena);
    return true;
}

void check_monitors(struct engine_view *view, struct check_report *report)
{
    struct monitors_walk walk = { .report = report, .arena = arena_create() };
    enum engine_status status = check_walk(view, &monitor_place, visit, &walk);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the alarms and dashboards");
    status = check_walk(view, &scaling_place, visit_scaling, &walk);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the scaling targets and policies");
    status = check_walk(view, &stack_place, visit_stacks, &walk);
    if (status != ENGINE_OK)
        check_report_unreadable(report, status, "the stacks");
    arena_destroy(walk.arena);
}
