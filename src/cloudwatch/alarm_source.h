/* alarm_source.h -- the points of alarms from the store of samples: an alarms_read (alarms.h). */
#ifndef STATOR_CLOUDWATCH_ALARM_SOURCE_H
#define STATOR_CLOUDWATCH_ALARM_SOURCE_H
#include "cloudwatch/alarms.h"

/* `context` is the struct series_store. */
alarms_read alarm_source_read;

#endif
