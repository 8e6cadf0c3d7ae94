/* check_insights.c -- see check_insights.h.
 *
 * Whether keys in a summary exist as items is no question: summaries outlive items. */
#include "check/check_insights.h"
#include "check/check_report.h"
#include "check/check_walk.h"
#include "insight/insight_store.h"
#include "insight/key_summary.h"
#include "model/table_definition.h"

struct visit {
    const struct insight_target *target;
    struct check_report *report;
};

static bool visit_summary(void *context, const struct engine_place *place,
                          const struct engine_entry *entry)
{
    const struct visit *visit = context;
    struct bytes name =
        visit->target->index == NULL ? visit->target->table->name : visit->target->index->name;
    enum insight_rule rule;
    uint8_t resolution;
    int64_t time_ms;
    (void)place;
    if (!insight_store_read_key(entry->key, &rule, &resolution, &time_ms)) {
        check_report_problem(visit->report, "%.*s: a summary of keys has an unknown key",
                             BYTES_FMT(name));
    } else {
        struct key_summary *summary = key_summary_decode(entry->value, KEY_SUMMARY_COUNTERS_MIN, 0);
        if (summary == NULL)
            check_report_problem(visit->report, "%.*s: a summary of keys is damaged",
                                 BYTES_FMT(name));
        key_summary_destroy(summary);
    }
    return !check_report_gave_up(visit->report);
}

void check_insights(struct engine_view *view, const struct table_definition *table,
                    struct check_report *report)
{
    struct insight_target target;
    for (size_t i = 0; insight_target_at(table, i, &target); i++) {
        struct visit visit = { .target = &target, .report = report };
        struct engine_place place = insight_store_place(insight_target_id(&target));
        if (insight_target_definition(&target)->status == INSIGHT_NEVER)
            continue; /* What is there all the same is reported as unknown. */
        enum engine_status status = check_walk(view, &place, visit_summary, &visit);
        if (status != ENGINE_OK)
            check_report_unreadable(report, status, "the summaries of keys of %.*s",
                                    BYTES_FMT(table->name));
    }
}
