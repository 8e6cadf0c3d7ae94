/* loop.h -- one event loop and its thread, inside http/. What others see of it: server.h.
 *
 * Everything here belongs to the loop's thread, unless it says otherwise.
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
#include "http/exchange.h"
#include "http/inbox.h"
#include "http/listener.h"
#include "http/request_memory.h"
#include "http/server.h"
#include "http/tls_link.h"
#include "http/turn.h"

struct http_addresses;
struct http_connection;
struct http_discard;

enum {
    /* After an answer that closes the connection, reading continues for so long, or for twice the
     * largest body, so that the client can still read the answer. */
    HTTP_DRAIN_TIMEOUT_MS = 2000,
    HTTP_DRAIN_READ_SIZE = 64 * 1024,
};

/* --- Deadlines: the time-outs of a loop's connections ---
 *
 * All deadlines of a kind last equally long, so each kind is a queue: setting one appends it, and
 * the first of a queue is always the next to expire. Setting, clearing and finding one take
 * constant time, without a timer per connection. */

enum http_deadline_kind {
    HTTP_DEADLINE_NONE,
    HTTP_DEADLINE_IDLE,
    HTTP_DEADLINE_HEADER,
    HTTP_DEADLINE_BODY,
    HTTP_DEADLINE_WRITE,
    HTTP_DEADLINE_DRAIN,
    HTTP_DEADLINE_KIND_COUNT,
};

/* Embedded in its owner; all zero is "not set". */
struct http_deadline {
    struct http_deadline *previous, *next;
    uint64_t due_ms;
    enum http_deadline_kind kind;
};

struct http_deadlines {
    struct {
        struct http_deadline *first, *last;
        uint64_t duration_ms;
    } queues[HTTP_DEADLINE_KIND_COUNT];
};

/* Clearing one that is not set is allowed. */
void http_deadline_clear(struct http_deadlines *deadlines, struct http_deadline *deadline);

/* --- Loops --- */

/* What all loops of a server share. */
struct http_shared {
    struct http_options options;      /* Does not change; use `tls` below, not the one in it. */
    struct http_handler handler;      /* Does not change. */
    atomic_size_t connection_count;   /* Against connections_max. */
    struct http_addresses *addresses; /* NULL: no bound per address. */
    struct memory_budget memory;      /* See request_memory.h; its bound is that of bodies. */
    struct http_discard *discard;
    struct http_loop **loops; /* Unchanged while one runs. */
    unsigned loop_count;
    pthread_mutex_t tls_mutex; /* Guards `tls`. */
    struct tls_context *tls;   /* For new connections; NULL: they are plain. */
};
/* TLS for a new connection; NULL: it is plain. From any thread. */
struct http_tls_link *http_shared_create_link(struct http_shared *shared);

/* What the loop tells of itself, at the end of each turn; others read it. */
struct http_loop_counters {
    _Atomic uint64_t turns;
    _Atomic uint64_t requests;
    _Atomic uint64_t under_way;
    struct {
        _Atomic int64_t minute; /* Of the monotonic clock. */
        _Atomic int64_t ns;
    } longest[2]; /* The longest turn of a minute, in turn. */
};

struct http_loop {
    struct http_shared *shared;
    void *context; /* The handler's. */
    uv_loop_t uv;
    struct http_inbox inbox; /* Other threads post here. */
    uv_poll_t wakeup;        /* Of the inbox. */
    uv_idle_t again;         /* Active: the next turn starts without waiting. */
    uv_timer_t timer;        /* For the first deadline. */
    uv_timer_t grace;
    uv_timer_t later; /* For the first of those that were delayed. */
    struct http_listener listener;
    struct http_pool pool;
    struct http_deadlines deadlines;
    uint64_t timer_due_ms; /* UINT64_MAX while the timer is not set. */
    struct {               /* Sorted by time. */
        struct http_delayed *first, *last;
    } delayed;
    struct http_date date;
    struct http_connection *connections; /* Those with an open socket. */
    size_t early_count;                  /* Those of them that came before stopping. */
    size_t refused_count;                /* Connections open only to answer 503. */
    size_t owed_count;                   /* Answers that the handler owes. */
    uint64_t request_count;
    struct http_loop_counters counters;
    bool stopping;
    bool ending;    /* Its handles are being closed. */
    bool abandoned; /* Stopped with answers owed: never freed, see http_server_stop. */
    uint8_t drain[HTTP_DRAIN_READ_SIZE]; /* Receives bytes that are thrown away. */
    uv_prepare_t round;                  /* Starts a new turn, */
    uv_check_t round_end;                /* which ends when all input has been handled. */
    struct http_turn turn;
    uint64_t turn_request_count;         /* Requests at the last end of a turn. */
    uint64_t pressure_told_ms;           /* When that was logged last; 0: never. */
    struct http_task relief;             /* Posted by the loop that finds 0 in */
    atomic_size_t relief_size;           /* this: how much memory others want. */
    struct http_tls_buffers tls_buffers; /* Without TLS never touched, so they cost nothing. */

    pthread_t thread; /* Used by http_server_start and http_server_stop. */

    uint64_t grace_ms;      /* Written before */
    atomic_bool stop_asked; /* this is set, by another thread. */
};

/* Listens on `fd`, and then owns it. NULL if the system refuses. */
MUST_CHECK struct http_loop *http_loop_create(struct http_shared *shared, int fd);
/* The loop must not run. Leaves an abandoned one alone. */
void http_loop_destroy(struct http_loop *loop);
/* Starts the thread; false if the system refuses. */
MUST_CHECK bool http_loop_start(struct http_loop *loop);
/* Asks the loop to stop, from any thread. Its thread ends after `grace_ms` at the latest. */
void http_loop_ask_to_stop(struct http_loop *loop, uint64_t grace_ms);

/* Like http_loop_post, from one loop to another, which drops the task if it is stopping. */
void http_loop_post_if_running(struct http_loop *loop, struct http_task *task);

void http_loop_read_statistics(const struct http_loop *loop, struct http_statistics *out);

/* For connections. */
void http_loop_set_deadline(struct http_loop *loop, struct http_deadline *deadline,
                            enum http_deadline_kind kind);
struct bytes http_loop_date(struct http_loop *loop);
/* To be called when a connection has closed or the handler has answered. */
void http_loop_end_if_done(struct http_loop *loop);

#endif
