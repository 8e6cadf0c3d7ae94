/* alarm_source.h -- the points of alarms from the store of samples: an alarms_read (alarms.h). */
#ifndef STATOR_CLOUDWATCH_ALARM_SOURCE_H
#define STATOR_CLOUDWATCH_ALARM_SOURCE_H
#include "cloudwatch/alarms.h"

struct error;
struct series_store;

/* `context` is the struct series_store. */
alarms_read alarm_source_read;

/* Whether the expressions of an alarm, if it has any, can be evaluated: tried out on the samples of
 * its last period. False with CloudWatch's exception. May wait for the disk. */
MUST_CHECK bool alarm_source_check(struct series_store *store, struct arena *arena,
                                   const struct alarm_definition *definition, int64_t now_s,
                                   struct error *err);

#endif
