/* control.h -- the control thread: changes of tables, one at a time.
 *
 * CreateTable and its kin wait for the disk, which a worker must not, and are rare; in one thread
 * they need no locks among themselves. The same thread ends transient statuses when they are due,
 * takes indexes and expiry queues through their lives, looks after streams
 * (stream/stream_upkeep.h), removes the data of dropped tables and old tokens, and stores the
 * server time at intervals and at the end (table/server_time.h). It starts and stops the jobs that
 * fill new indexes and delete expired items, and changes the catalogue for them.
 */
#ifndef STATOR_API_CONTROL_H
#define STATOR_API_CONTROL_H

struct api;
struct api_call;
struct control;

enum {
    /* The service's own bound on control-plane operations under way. */
    CONTROL_CALLS_MAX = 500,
    /* How soon to look again for a version of a table that is still held, or after a failed write.
     */
    CONTROL_RETRY_MS = 20,
    CONTROL_FAILURE_RETRY_MS = 1000,
};

/* Aborts if no threads can be had: there is no server without it. */
struct control *control_start(struct api *api);
/* Runs what is queued, then ends the thread. */
void control_stop(struct control *control);

/* Has the call's operation run; refuses it with the service's LimitExceededException if too many
 * are queued. */
void control_submit(struct control *control, struct api_call *call);

#endif
