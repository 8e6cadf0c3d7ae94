/* alarm_delivery.h -- carries out the actions of alarms: POSTs to URLs, and calls of the scaler.
 *
 * What is to be done is stored (alarm_record.h) in the engine write that changed the alarm's state.
 * Here are the threads that do it. An action that fails is tried again after a pause that doubles,
 * ALARM_DELIVERY_ATTEMPTS_MAX times. One target gets one request at a time, so an endpoint that
 * does not answer keeps one thread busy, not all. The threads start with the first action.
 */
#ifndef STATOR_CLOUDWATCH_ALARM_DELIVERY_H
#define STATOR_CLOUDWATCH_ALARM_DELIVERY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "engine/engine.h"
#include "outbound/outbound.h"

struct alarm_action;
struct alarm_delivery;
struct arena;

enum {
    ALARM_DELIVERY_THREADS = 4,
    ALARM_DELIVERY_WAITING_MAX = 10000,
    ALARM_DELIVERY_ATTEMPTS_MAX = 12,
    ALARM_DELIVERY_PAUSE_MS = 1000, /* After the first attempt. */
    ALARM_DELIVERY_PAUSE_MS_MAX = 300000,
    ALARM_DELIVERY_TIMEOUT_MS = 10000,
    ALARM_DELIVERY_ANSWER_SIZE_MAX = 64 * 1024,
};

/* The network. */
struct alarm_delivery_outside {
    struct outbound *network; /* NULL: requests wait until there is one. */
    /* outbound_client_send, or a test's own. */
    enum outbound_result (*send)(struct outbound_client *client, struct arena *arena,
                                 const struct outbound_request *request,
                                 struct outbound_answer *answer);
    int64_t pause_ms; /* 0: ALARM_DELIVERY_PAUSE_MS. */
};

/* Carries out an action whose target is a scaling policy. NULL if that is done, also if there was
 * nothing to do; otherwise what went wrong, for the history. `repeated`: the alarm was in this
 * state before; called once a minute, without an entry in the history. May wait for the disk. */
typedef const char *alarm_scaler(void *context, struct arena *arena,
                                 const struct alarm_action *action, bool repeated);

struct alarm_delivery_options {
    struct engine *engine;
    struct alarm_delivery_outside outside;
    /* Called when an action is done, or is given up because of `problem`. Removes the stored
     * action. False: that could not be stored; the action is carried out again later. */
    bool (*ended)(void *context, struct arena *arena, uint64_t number,
                  const struct alarm_action *action, const char *problem);
    void *context;
};

struct alarm_delivery *alarm_delivery_create(const struct alarm_delivery_options *options);
/* Cancels requests and waits for the threads. Destroying NULL is allowed. */
void alarm_delivery_destroy(struct alarm_delivery *delivery);
void alarm_delivery_set_scaler(struct alarm_delivery *delivery, alarm_scaler *scaler,
                               void *context);
/* Calls the scaler now, on this thread. */
const char *alarm_delivery_scale(struct alarm_delivery *delivery, struct arena *arena,
                                 const struct alarm_action *action, bool repeated);

/* Any thread. The action of that number has been stored. */
void alarm_delivery_add(struct alarm_delivery *delivery, uint64_t number, struct bytes target);
/* How many wait; no more than ALARM_DELIVERY_WAITING_MAX may be stored. */
size_t alarm_delivery_waiting(struct alarm_delivery *delivery);

#endif
