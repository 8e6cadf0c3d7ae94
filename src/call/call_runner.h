/* call_runner.h -- run the api calls of HTTP requests: on which thread, and until when.
 *
 * Every protocol uses it. A protocol finds the operation that a request means and gives its
 * envelope: how an answer or an exception looks. The runner does the rest, the same for all:
 * it authenticates the caller, inflates the body, runs the call, writes audit lines, and answers.
 *
 * A call runs on the loop that has its connection, except:
 * - Large requests run in the slow pool. They cannot be cut into slices, and decide about writes,
 * so the pool has the priority of the loops. Like a loop, a thread of the pool does other work
 * while a write waits for another one. A large Query, Scan or BatchGetItem runs in the background
 * pool instead, if that has room.
 * - A transaction starts on the loop. If the items that it is about turn out to be large, the loop
 *   hands it over to the slow pool before it has done anything.
 * - Operations that wait (enum operation_waits), such as CloudWatch's on metrics, run in the
 * waiting pool; those that also write items, in the writing pool. Their threads may sleep for
 * seconds, so nothing else runs there.
 * - Reads of many items start on the loop (read_queue.h). If they need more than their first slice,
 *   they resume in the background pool, which yields to the loops. It compresses large answers too.
 *
 * Wherever a call runs, it ends exactly once, and its loop sends the answer. A call whose client
 * has gone is dropped if it has not started, and cancelled if it is a paused read.
 */
#ifndef STATOR_CALL_CALL_RUNNER_H
#define STATOR_CALL_CALL_RUNNER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "call/authentication.h"

struct api;
struct arena;
struct call_runner;
struct error;
struct http_answer;
struct http_exchange;
struct http_loop;
struct operation;
struct random;

/* The state of one thread that runs calls, a loop or a thread of a pool; nothing in it is shared.
 */
struct call_worker;

enum {
    /* Requests of this size run in the slow pool if it has room: to read one takes a millisecond.
     */
    CALL_MEDIUM_SIZE_MIN = 128 * 1024,
    /* Requests of this size never run on a loop, nor do compressed ones that may inflate to it. In
     * the pool they come after smaller ones. */
    CALL_LARGE_SIZE_MIN = 1024 * 1024,
    /* Answers of this size are compressed in the background pool. */
    CALL_LARGE_ANSWER_SIZE_MIN = 256 * 1024,
    /* Bodies that have to be turned into JSON count as large from this size on, and so do answers
     * that are turned into another form. A number takes up to a microsecond, and may have one byte
     * in the form that is read. Compressed ones always count. */
    CALL_LARGE_CODED_SIZE_MIN = 16 * 1024,
    /* Answers that fault injection and refusal_pace.h may delay at a time, on one loop; others are
     * sent at once. */
    CALL_DELAYED_MAX = 1000,
    /* Threads of the pools for operations that wait. They sleep most of the time. The waiting pool
     * has a low priority: what some of its operations compute takes longer than any loop should
     * wait. Only other regions send operations that wait and write. */
    CALL_WAITING_THREADS = 4,
    CALL_WRITING_THREADS = 2,
};

/* --- What a protocol provides --- */

/* A call that has ended: either `error` is set, or `response` is the operation's JSON. */
struct call_ending {
    const struct http_exchange *exchange;
    struct arena *arena; /* For everything that the answer points to. */
    struct random *random;
    const struct operation *operation;
    const struct error *error;
    struct bytes response;
    bool may_compress; /* If the client accepts it: there is time to compress. */
};

struct call_envelope {
    const char *service; /* Of SigV4's credential scope: "dynamodb". */
    void *context;
    /* Turns a body in another form, inflated already, into the operation's JSON; false with an
     * error. On the thread that runs the call. NULL: bodies are JSON. */
    bool (*decode)(void *context, const struct operation *operation, struct arena *arena,
                   struct bytes body, struct bytes *json, struct error *err);
    /* Answers are turned into another form too, which takes time. */
    bool encodes;
    /* Fills in status, headers and body. On any thread. */
    void (*fill_answer)(void *context, const struct call_ending *ending, struct http_answer *out);
};

/* Runs `operation` with the body of `exchange`, and answers. On the thread of the exchange's loop,
 * whose worker is `worker`. The envelope must outlive the call. */
void call_runner_run(struct call_worker *worker, struct http_exchange *exchange,
                     const struct operation *operation, const struct call_envelope *envelope);

/* For the answers that a protocol gives itself. */
struct random *call_worker_random(struct call_worker *worker);

/* --- For the code that starts the server --- */

struct call_runner_options {
    struct authentication_options authentication;
    size_t slow_thread_count; /* Of the slow pool, and of the background pool; above 0. */
};

/* Borrows `api` and whatever the options point to. */
struct call_runner *call_runner_create(struct api *api, const struct call_runner_options *options);
/* Stops the pools; writes of theirs that wait for others end first. After the HTTP server has
 * stopped, and before the api is closed. Again is allowed. */
void call_runner_stop(struct call_runner *runner);
/* Stops as well, unless that was done. */
void call_runner_destroy(struct call_runner *runner);

/* For struct http_handler: see there. A turn's end runs its writes, and reads that wait. */
struct call_worker *call_runner_open_loop(struct call_runner *runner, struct http_loop *http_loop);
void call_runner_close_loop(struct call_worker *worker);
void call_runner_end_turn(struct call_worker *worker);

/* Refusals for throttling that refusal_pace.h has delayed, on all loops. On any thread. */
uint64_t call_runner_refusals_delayed(const struct call_runner *runner);

#endif
