/* check_monitors.h -- alarms with their history and actions, and dashboards: each record whole. */
#ifndef STATOR_CHECK_CHECK_MONITORS_H
#define STATOR_CHECK_CHECK_MONITORS_H
#include "engine/engine.h"

struct check_report;

void check_monitors(struct engine_view *view, struct check_report *report);

#endif
