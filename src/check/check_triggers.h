/* check_triggers.h -- every trigger's record is whole, and its positions lie within its stream. */
#ifndef STATOR_CHECK_CHECK_TRIGGERS_H
#define STATOR_CHECK_CHECK_TRIGGERS_H
struct check_catalogue;
struct check_report;
struct engine_view;

void check_triggers(struct engine_view *view, const struct check_catalogue *catalogue,
                    struct check_report *report);

#endif
