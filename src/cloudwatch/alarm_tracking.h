/* alarm_tracking.h -- the alarms of a target-tracking policy of Application Auto Scaling, with the
 * names, texts and thresholds that the service gives them.
 */
#ifndef STATOR_CLOUDWATCH_ALARM_TRACKING_H
#define STATOR_CLOUDWATCH_ALARM_TRACKING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "cloudwatch/alarm_definition.h"

struct arena;

enum alarm_tracking_kind {
    ALARM_TRACKING_HIGH,          /* Consumption is above the target: scale out. */
    ALARM_TRACKING_CAPACITY_HIGH, /* The capacity was changed by hand, ... */
    ALARM_TRACKING_CAPACITY_LOW,  /* ... up or down. */
    ALARM_TRACKING_LOW,           /* Consumption is far below the target: scale in. */
    ALARM_TRACKING_COUNT,
};

struct alarm_tracking {
    struct bytes table_name;
    struct bytes index_name; /* data NULL: the table itself. */
    bool is_write;           /* Write capacity, not read capacity. */
    bool without_low;        /* DisableScaleIn. */
    double target;           /* In percent. */
    int64_t capacity;        /* Units per second, now. */
    struct bytes policy_arn;
    struct bytes creator; /* A UUID: "<policy ARN>:createdBy/<creator>" is the action. */
};

/* New names each time. Returns how many there are: the kinds in their order. All in the arena. */
size_t alarm_tracking_definitions(struct arena *arena, const struct alarm_tracking *tracking,
                                  struct alarm_definition out[ALARM_TRACKING_COUNT]);

#endif
