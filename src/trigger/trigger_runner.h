/* trigger_runner.h -- delivers a trigger's records: a consumer (consumer/consumer.h) whose turns
 * call the function.
 *
 * One thread per trigger, so one call at a time: Lambda's runtime interface emulator takes no
 * second call beside the first.
 */
#ifndef STATOR_TRIGGER_TRIGGER_RUNNER_H
#define STATOR_TRIGGER_TRIGGER_RUNNER_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "outbound/outbound.h"

struct arena;
struct clock;
struct engine;
struct streams;
struct trigger_definition;
struct trigger_runner;

enum {
    TRIGGER_RESULT_SIZE_MAX = 192,
};

/* The network and the files that triggers use. */
struct trigger_outside {
    struct outbound *network; /* NULL: triggers are stored but not run. */
    /* outbound_client_send, or a test's own. */
    enum outbound_result (*send)(struct outbound_client *client, struct arena *arena,
                                 const struct outbound_request *request,
                                 struct outbound_answer *answer);
    const char *dead_letter_dir; /* NULL: no trigger may have a dead-letter file. */
    uint64_t dead_letters_max;   /* Bytes of one file; 0: DEAD_LETTERS_SIZE_MAX. */
};

struct trigger_runner_options {
    struct engine *engine;
    struct streams *streams;
    const struct clock *clock;
    const char *region;
    const char *account_id;
    struct trigger_outside outside;
};

/* What a trigger did since the server's start. The runner writes, any thread reads. */
struct trigger_counters {
    _Atomic uint64_t records_delivered;
    _Atomic uint64_t records_given_up; /* Those in dead letters are among them. */
    _Atomic uint64_t dead_letters;
    _Atomic uint64_t records_lost; /* Trimmed before they were delivered. */
    _Atomic uint64_t failures;     /* Of calls of the function. */
    /* The server time of the oldest record that the runner has tried to deliver in vain, or is
     * about to deliver; 0: none. */
    _Atomic int64_t oldest_ms;
};

/* `definition`, `counters` and what the options point to must outlive the runner. NULL with one
 * line for people if the system has no thread, no file descriptors or no libcurl for it. */
struct trigger_runner *trigger_runner_start(const struct trigger_runner_options *options,
                                            const struct trigger_definition *definition,
                                            struct trigger_counters *counters,
                                            char message[OUTBOUND_MESSAGE_MAX]);
/* Does not wait for the thread. Cancels a call of the function that is under way, whose batch
 * counts as not delivered. No further call begins. */
void trigger_runner_ask_to_stop(struct trigger_runner *runner);
/* True if the thread has ended, so that trigger_runner_stop will not wait. */
bool trigger_runner_has_stopped(struct trigger_runner *runner);
/* Asks the thread to stop and waits for it: for the store at most, never for a network. Stopping
 * NULL is allowed. */
void trigger_runner_stop(struct trigger_runner *runner);

struct trigger_runner_report {
    bool ended;          /* The stream is disabled, and all of its records were delivered. */
    struct bytes result; /* Of the last call, for people. */
};
/* Any thread. The text lives in the arena. */
struct trigger_runner_report trigger_runner_report(struct trigger_runner *runner,
                                                   struct arena *arena);

#endif
