/* destinations.h -- the list of Kinesis destinations: stored in the engine, held in memory, each
 * live one with a runner that delivers its table's changes.
 *
 * This is what exists and what may be done to it. Which step is due is control/destination_life.h's
 * to decide. For the control thread only (control/control.h), but for destinations_of_table and
 * destinations_read_statistics.
 */
#ifndef STATOR_KINESIS_DESTINATIONS_H
#define STATOR_KINESIS_DESTINATIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "kinesis/destination_definition.h"
#include "kinesis/kinesis_runner.h"
#include "log/log_retention.h"

struct arena;
struct destinations;
struct stream_definition;

enum {
    DESTINATIONS_LIVE_MAX = 64, /* Each has a thread. Ended ones count until theirs has ended. */
    /* Entries of one table. The oldest one that has ended makes room for a new one. */
    DESTINATIONS_PER_TABLE_MAX = 16,
};

/* Loads every destination, and starts no runner. NULL with the engine's status if the store cannot
 * be read. */
MUST_CHECK struct destinations *destinations_open(const struct kinesis_runner_options *options,
                                                  enum engine_status *status);
/* Cancels calls that are under way. Does not wait for a network. Closing NULL is allowed. */
void destinations_close(struct destinations *destinations);

/* --- What there is --- */

size_t destinations_count(const struct destinations *destinations);
/* In the order of their creation. Valid until the next change. */
const struct destination_definition *destinations_at(const struct destinations *destinations,
                                                     size_t index);
/* The table's live destination, if it has one; `destinations_count` otherwise. */
size_t destinations_find_live(const struct destinations *destinations, struct bytes table_uuid);
/* The table's destination of that ARN; `destinations_count` if there is none. */
size_t destinations_find(const struct destinations *destinations, struct bytes table_uuid,
                         struct bytes stream_arn);
bool destinations_is_full(struct destinations *destinations);
/* True if the server has an endpoint for Kinesis, and may be able to reach it. */
bool destinations_can_deliver(const struct destinations *destinations);
/* The server's own. */
const char *destinations_region(const struct destinations *destinations);

/* Any thread: the table's entries, copied into the arena, oldest first. Returns how many. */
size_t destinations_of_table(struct destinations *destinations, struct arena *arena,
                             struct bytes table_uuid,
                             struct destination_definition out[DESTINATIONS_PER_TABLE_MAX]);

/* Any thread: what each live one has done since the server's start. Returns how many there are;
 * names live in the arena. */
struct destination_statistics {
    struct bytes uuid;
    struct bytes table_name;
    struct bytes stream_arn;
    uint64_t records_delivered;
    uint64_t records_throttled;
    uint64_t records_failed;
    uint64_t records_lost;
    uint64_t failures;
    int64_t lag_ms; /* The age of the oldest record that is known to wait; 0: none does. */
};
size_t
destinations_read_statistics(struct destinations *destinations, struct arena *arena,
                             struct destination_statistics statistics[DESTINATIONS_LIVE_MAX]);

/* --- Changes: durable when they return ENGINE_OK --- */

/* Adds an entry that is ENABLING. Replaces the table's ended one of the same ARN. Must not be full.
 */
MUST_CHECK enum engine_status destinations_add(struct destinations *destinations,
                                               struct arena *arena,
                                               const struct destination_definition *definition);
/* Stores positions at the heads of the log, from which the destination will read. */
MUST_CHECK enum engine_status destinations_begin(struct destinations *destinations,
                                                 struct arena *arena, size_t index,
                                                 const struct stream_definition *log);
/* Changes the status; the description is copied. One that has ended loses its positions and must
 * not have a runner any more. */
MUST_CHECK enum engine_status destinations_set_status(struct destinations *destinations,
                                                      struct arena *arena, size_t index,
                                                      enum destination_status status,
                                                      const char *description);
/* Sets the precision, with the status UPDATING; the runner uses it at once. */
MUST_CHECK enum engine_status destinations_set_precision(struct destinations *destinations,
                                                         struct arena *arena, size_t index,
                                                         enum destination_precision precision);
/* Removes the entry with its positions, and asks its runner to stop without waiting for it. */
MUST_CHECK enum engine_status destinations_remove(struct destinations *destinations,
                                                  struct arena *arena, size_t index);

/* --- Runners --- */

/* Starts the runner if there is none. False if the system cannot: try again later. */
MUST_CHECK bool destinations_run(struct destinations *destinations, size_t index);
/* Of a runner; KINESIS_PENDING if there is none. */
enum kinesis_verdict destinations_verdict(const struct destinations *destinations, size_t index);
/* Asks the runner to stop. True once it has, or there is none. */
MUST_CHECK bool destinations_stop(struct destinations *destinations, size_t index);
/* Frees removed destinations whose threads have ended. True if some are left. */
bool destinations_reap(struct destinations *destinations);
/* The age of the oldest record that is known to wait; 0: none does. */
int64_t destinations_lag_ms(const struct destinations *destinations, size_t index);

/* Destinations as a reader of change logs: what they have not delivered is kept. */
struct log_retention_reader destinations_reader(struct destinations *destinations);

#endif
