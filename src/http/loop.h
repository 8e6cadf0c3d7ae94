/* loop.h -- one event loop and its thread, inside http/. What others see of it: server.h.
 *
 * Everything here belongs to the loop's thread, except what says otherwise.
 */
#ifndef STATOR_HTTP_LOOP_H
#define STATOR_HTTP_LOOP_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>
#include "base/compiler.h"
#include "base/memory_budget.h"
#include "http/answer.h"
#include "http/deadlines.h"
#include "http/listener.h"
#include "http/pool.h"
#include "http/server.h"
#include "http/tls_link.h"

struct http_addresses;
struct http_connection;
struct http_discard;

enum {
    /* Reading goes on this long, and for twice the largest body, after an answer that closes the
     * connection: the client can then still read it. */
    HTTP_DRAIN_TIMEOUT_MS = 2000,
    HTTP_DRAIN_READ_SIZE = 64 * 1024,
    /* Of bodies, and of what is thrown away, so much is read before others have their turn: by one
     * connection, and by all of a loop. A body of 16 MB, or a hundred of them, must not keep small
     * requests waiting for longer than such a read takes. */
    HTTP_TURN_CONNECTION_SIZE = 64 * 1024,
    HTTP_TURN_SIZE = 256 * 1024,
};

/* What all loops of a server share. */
struct http_shared {
    struct http_options options;      /* Does not change; its `tls` may be gone: see below. */
    struct http_handler handler;      /* Does not change. */
    atomic_size_t connection_count;   /* Of those that count against connections_max. */
    struct http_addresses *addresses; /* NULL: they are not counted. */
    struct memory_budget memory;      /* See pressure.h; its bound is that of bodies. */
    struct http_discard *discard;
    struct http_loop **loops; /* Do not change while one runs. */
    unsigned loop_count;
    pthread_mutex_t tls_mutex; /* Guards `tls`. */
    struct tls_context *tls;   /* For new connections; NULL: they are plain. */
};
/* TLS for a new connection; NULL: it is plain. From any thread. */
struct http_tls_link *http_shared_create_link(struct http_shared *shared);

struct http_loop {
    struct http_shared *shared;
    void *context; /* The handler's. */
    uv_loop_t uv;
    uv_async_t wakeup;
    uv_timer_t timer; /* For the first deadline. */
    uv_timer_t grace;
    struct http_listener listener;
    struct http_pool pool;
    struct http_deadlines deadlines;
    uint64_t timer_due_ms; /* UINT64_MAX while the timer is not set. */
    struct http_date date;
    struct http_connection *connections; /* All whose socket is open. */
    size_t early_count;                  /* Of these, all but the late ones. */
    size_t refused_count;                /* Connections that are there only to be told 503. */
    size_t owed_count;                   /* Answers that the handler owes. */
    bool stopping;
    bool ending;    /* Its handles are being closed. */
    bool abandoned; /* Stopped with answers owed: never freed, see http_server_stop. */
    uint8_t drain[HTTP_DRAIN_READ_SIZE];      /* Where bytes go that nobody wants. */
    uv_prepare_t round;                       /* Begins a new turn, */
    uv_check_t round_end;                     /* which ends when all that came was looked at. */
    struct {                                  /* Who reads of bodies. */
        const struct http_connection *reader; /* Who asked last, */
        size_t reader_left;                   /* and how much it may still read. */
        size_t asked;                         /* How many have asked in this turn, */
        size_t asked_before;                  /* and in the one before. */
        size_t first;                         /* Of those, who is served first. */
    } turn;
    uint64_t pressure_told_ms;           /* When the log was told last; 0: never. */
    struct http_task relief;             /* Posted by other loops, by whoever finds 0 in */
    atomic_size_t relief_size;           /* this: how much memory they want. */
    struct http_tls_buffers tls_buffers; /* Never touched without TLS, so that they cost nothing. */

    pthread_t thread; /* Of http_server_start and http_server_stop. */

    pthread_mutex_t mutex; /* Guards what follows; any thread may take it, for a few moments. */
    struct http_task *task_first, *task_last;
    bool stop_asked;
    uint64_t grace_ms;
};

/* With a listener on `fd`, which it then owns. NULL if the system refuses. */
MUST_CHECK struct http_loop *http_loop_create(struct http_shared *shared, int fd);
/* The loop must not run. An abandoned one is left alone. */
void http_loop_destroy(struct http_loop *loop);
/* Starts the thread; false if the system refuses. */
MUST_CHECK bool http_loop_start(struct http_loop *loop);
/* From any thread: begins to stop. The thread ends by itself after `grace_ms` at the latest. */
void http_loop_ask_to_stop(struct http_loop *loop, uint64_t grace_ms);

/* http_loop_post from one loop to another, which may be about to stop and then does not run it. */
void http_loop_post_if_running(struct http_loop *loop, struct http_task *task);

/* For connections. */
void http_loop_set_deadline(struct http_loop *loop, struct http_deadline *deadline,
                            enum http_deadline_kind kind);
struct bytes http_loop_date(struct http_loop *loop);
/* How much of a body the connection may read now; 0: not before the next turn. */
size_t http_loop_turn_left(struct http_loop *loop, const struct http_connection *connection);
void http_loop_turn_count(struct http_loop *loop, size_t size); /* It has read so much. */
/* To be called whenever a connection is gone or an answer no longer owed. */
void http_loop_end_if_done(struct http_loop *loop);

#endif
