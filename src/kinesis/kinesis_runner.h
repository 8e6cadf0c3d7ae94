/* kinesis_runner.h -- delivers a table's changes to a Kinesis stream: a consumer
 * (consumer/consumer.h) whose turns call PutRecords.
 *
 * One thread per destination. A destination that is being enabled first asks the Kinesis server for
 * the stream; the control thread learns the verdict and stores it.
 */
#ifndef STATOR_KINESIS_KINESIS_RUNNER_H
#define STATOR_KINESIS_KINESIS_RUNNER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "kinesis/destination_definition.h"
#include "kinesis/kinesis_client.h"

struct clock;
struct engine;
struct kinesis_runner;
struct streams;

enum {
    KINESIS_ENABLE_MS_MAX = 60000, /* How long to try to reach a server that does not answer. */
};

struct kinesis_runner_options {
    struct engine *engine;
    struct streams *streams;
    const struct clock *clock;
    const char *region;
    int64_t enable_ms_max; /* 0: KINESIS_ENABLE_MS_MAX. */
    struct kinesis_outside outside;
};

/* What a destination did since the server's start. The runner writes, any thread reads. */
struct kinesis_counters {
    _Atomic uint64_t records_delivered;
    _Atomic uint64_t records_throttled;
    _Atomic uint64_t records_failed; /* Too large for the stream: they will never be sent. */
    _Atomic uint64_t records_lost;   /* Trimmed before they were delivered. */
    _Atomic uint64_t failures;       /* Of calls. */
    /* The server time of the oldest record that the runner has tried to deliver in vain, or is
     * about to deliver; 0: none. */
    _Atomic int64_t oldest_ms;
};

/* What the Kinesis server says of a stream that is to be enabled. */
enum kinesis_verdict {
    KINESIS_PENDING,
    KINESIS_GOOD,
    KINESIS_DENIED,     /* No such stream, or no permission; the service does not tell which. */
    KINESIS_NOT_ACTIVE, /* It is not ready, or the server could not be reached in time. */
};

/* `definition` has positions (log_id). It, `counters` and what the options point to must outlive
 * the runner. NULL with one line for people if the system has no thread, no file descriptors or no
 * libcurl for it. */
struct kinesis_runner *kinesis_runner_start(const struct kinesis_runner_options *options,
                                            const struct destination_definition *definition,
                                            struct kinesis_counters *counters,
                                            char message[OUTBOUND_MESSAGE_MAX]);
/* Any thread. */
enum kinesis_verdict kinesis_runner_verdict(const struct kinesis_runner *runner);
void kinesis_runner_set_precision(struct kinesis_runner *runner,
                                  enum destination_precision precision);
/* Does not wait for the thread. Cancels a call that is under way. */
void kinesis_runner_ask_to_stop(struct kinesis_runner *runner);
/* True if the thread has ended, so that kinesis_runner_stop will not wait. */
bool kinesis_runner_has_stopped(struct kinesis_runner *runner);
/* Asks the thread to stop and waits for it: for the store at most, never for a network. Stopping
 * NULL is allowed. */
void kinesis_runner_stop(struct kinesis_runner *runner);

#endif
