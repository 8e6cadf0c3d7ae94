/* check_metrics.h -- the samples of metrics: each record whole, and the totals true. */
#ifndef STATOR_CHECK_CHECK_METRICS_H
#define STATOR_CHECK_CHECK_METRICS_H
#include "engine/engine.h"

struct check_report;

void check_metrics(struct engine_view *view, struct check_report *report);

#endif
