/* check_insights.h -- the summaries of keys of a table and its global indexes are whole. */
#ifndef STATOR_CHECK_CHECK_INSIGHTS_H
#define STATOR_CHECK_CHECK_INSIGHTS_H

struct check_report;
struct engine_view;
struct table_definition;

void check_insights(struct engine_view *view, const struct table_definition *table,
                    struct check_report *report);

#endif
