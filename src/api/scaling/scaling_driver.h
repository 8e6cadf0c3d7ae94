/* scaling_driver.h -- lets capacity follow policies, schedules and bounds, by UpdateTable.
 *
 * A round looks at every target: it fires the scheduled actions that are due, moves capacity into
 * changed bounds, keeps the alarms of policies in line with the capacity, and asks the policies
 * whose alarms are in ALARM. A change is an ordinary UpdateTable call, so its rules hold. An
 * activity is stored before the call begins and completed when it ends; a restart in between
 * completes it by looking at the table. There is at most one change per target under way.
 */
#ifndef STATOR_API_SCALING_SCALING_DRIVER_H
#define STATOR_API_SCALING_SCALING_DRIVER_H
#include <stdbool.h>
#include <stdint.h>

struct alarm_action;
struct api;
struct arena;
struct scaling_driver;

enum {
    /* After a change of a policy was refused, for example because of the limit of decreases per
     * day. A change into the bounds of a target is tried again in the next round. */
    SCALING_DRIVER_RETRY_MS = 5 * 60 * 1000,
};

/* Borrows the api, which must be complete. */
struct scaling_driver *scaling_driver_create(struct api *api);
/* After the control thread has ended, with all calls. NULL is allowed. */
void scaling_driver_destroy(struct scaling_driver *driver);

/* A hook of the ticker (cloudwatch/ticker.h); `context` is the driver. */
int64_t scaling_driver_round(void *context, int64_t now_ms);
/* Scales for an action of an alarm (alarm_scaler of cloudwatch/alarm_delivery.h); `context` is the
 * driver. The rounds look at the alarms of each policy by themselves, so there is nothing to do for
 * those; other alarms scale nothing, and their history says so. */
const char *scaling_driver_accept(void *context, struct arena *arena,
                                  const struct alarm_action *action, bool repeated);
/* Moves the capacity of targets into bounds that have just changed. On the control thread. */
void scaling_driver_settle(struct scaling_driver *driver);

#endif
