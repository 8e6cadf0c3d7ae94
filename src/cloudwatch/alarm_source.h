/* alarm_source.h -- the points of alarms from the store of samples: an alarms_read (alarms.h). */
#ifndef STATOR_CLOUDWATCH_ALARM_SOURCE_H
#define STATOR_CLOUDWATCH_ALARM_SOURCE_H
#include "cloudwatch/alarms.h"

struct alarm_source;
struct error;
struct series_store;

/* All alarms of a tick are read by one reader of the store. Used by one thread at a time. The store
 * must outlive it. */
struct alarm_source *alarm_source_create(struct series_store *store);
void alarm_source_destroy(void *context); /* NULL is allowed. */
/* Of struct alarms_options; `context` is the struct alarm_source. */
alarms_read alarm_source_read;
void alarm_source_end(void *context);

/* Whether the expressions of an alarm, if it has any, can be evaluated: tried out on the samples of
 * its last period. False with CloudWatch's exception. May wait for the disk. */
MUST_CHECK bool alarm_source_check(struct series_store *store, struct arena *arena,
                                   const struct alarm_definition *definition, int64_t now_s,
                                   struct error *err);

#endif
