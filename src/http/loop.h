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
#include "http/answer.h"
#include "http/deadlines.h"
#include "http/listener.h"
#include "http/pool.h"
#include "http/server.h"
#include "http/tls_link.h"

struct http_connection;

enum {
    /* Reading goes on this long, and for twice the largest body, after an answer that closes the
     * connection: the client can then still read it. */
    HTTP_DRAIN_TIMEOUT_MS = 2000,
    HTTP_DRAIN_READ_SIZE = 64 * 1024,
};

/* What all loops of a server share. */
struct http_shared {
    struct http_options options;    /* Does not change. */
    struct http_handler handler;    /* Does not change. */
    atomic_size_t connection_count; /* Of those that count against connections_max. */
    pthread_mutex_t tls_mutex;      /* Guards `tls`. */
    struct tls_context *tls;        /* For new connections; NULL: they are plain. */
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
    size_t refused_count;                /* Connections that are there only to be told 503. */
    size_t owed_count;                   /* Answers that the handler owes. */
    bool stopping;
    bool ending;    /* Its handles are being closed. */
    bool abandoned; /* Stopped with answers owed: never freed, see http_server_stop. */
    uint8_t drain[HTTP_DRAIN_READ_SIZE]; /* Where bytes go that nobody wants. */
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

/* For connections. */
void http_loop_set_deadline(struct http_loop *loop, struct http_deadline *deadline,
                            enum http_deadline_kind kind);
struct bytes http_loop_date(struct http_loop *loop);
/* To be called whenever a connection is gone or an answer no longer owed. */
void http_loop_end_if_done(struct http_loop *loop);

#endif
