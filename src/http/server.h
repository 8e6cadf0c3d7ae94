/* server.h -- HTTP/1.1 on libuv: sockets and framing. A handler knows what requests mean.
 *
 * One thread per loop, each with its own SO_REUSEPORT listener. The handler gets a request when all
 * of it has arrived. A connection has one request at a time: pipelined ones wait in its buffer, so
 * answers keep their order and memory stays bounded.
 *
 * An exchange lives from the call of the handler until the answer is written. Any one thread at a
 * time may read it. Only its loop's thread may answer it; http_loop_post brings
 * work back there.
 */
#ifndef STATOR_HTTP_SERVER_H
#define STATOR_HTTP_SERVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/grammar.h"

struct arena;
struct http_exchange;
struct http_loop;
struct http_server;
struct tls_context;

struct http_answer {
    int status;
    const struct http_header *headers; /* Content-Length, Date and Connection are added. */
    size_t header_count;
    struct bytes body;
    size_t unsent_size; /* In an answer to HEAD: Content-Length counts so many more bytes. */
    bool close;         /* Close the connection after this answer. */
};

struct http_handler {
    void *context;
    /* Once per loop, on the starting thread, before it runs; the result is the loop's context. May
     * be NULL: that is `context` then. */
    void *(*loop_open)(void *context, struct http_loop *loop);
    /* On the stopping thread, when the loop no longer runs. May be NULL. */
    void (*loop_close)(void *loop_context);
    /* Must lead to exactly one http_exchange_answer, or _abandon, now or later. */
    void (*request)(void *context, void *loop_context, struct http_exchange *exchange);
    /* True if a request must be answered even if memory is short or the server is stopping: it is
     * small, costs next to nothing, and is answered at once. May be NULL: there are none. */
    bool (*is_vital)(void *context, struct bytes method, struct bytes target);
    /* The loop has passed on all requests that it found, and is about to look for others or to
     * wait. For work that is cheaper for several requests together. May be NULL. */
    void (*turn_end)(void *loop_context);
    /* Fills in headers and body, in the arena, of the answer to a request that never became
     * complete: too large, malformed, too slow. `answer->status` is set. The connection closes
     * after it. May be NULL: no body. */
    void (*refusal)(void *loop_context, struct arena *arena, struct http_answer *answer);
};

enum { HTTP_REFUSED_MAX = 64 }; /* The default of refused_max. */

struct http_options {
    const char *address;    /* "127.0.0.1", "::1", ... */
    uint16_t port;          /* 0: any free port; see http_server_port. */
    unsigned loop_count;    /* 0: one per core. */
    size_t header_size_max; /* Request line and headers together: 431 beyond. */
    size_t body_size_max;   /* 413 beyond. */
    size_t connections_max; /* Of all loops; further ones are answered 503 and closed. */
    size_t refused_max;     /* Of those, at a time on one loop; more are closed at once. */
    size_t connections_per_address_max; /* The same per address; 0: unlimited. */
    size_t memory_max;                  /* Of all requests, see README.md: 503 beyond. */
    uint64_t header_timeout_ms; /* From a request's first byte to the end of its headers: 408.
                                 * For TLS's handshake as well, which has no answer. */
    uint64_t body_timeout_ms;   /* Without progress of the body: 408. */
    uint64_t idle_timeout_ms;   /* Between requests: closed. */
    uint64_t write_timeout_ms;  /* Without progress of an answer: closed. */
    struct tls_context *tls;    /* NULL: plain HTTP. The server acquires a reference. */
};
extern const struct http_options http_options_default;

enum { HTTP_MESSAGE_MAX = 256 };

/* Binds and starts the threads. NULL with one line for people in `message` if that fails. The
 * handler must outlive the server. */
MUST_CHECK struct http_server *http_server_start(const struct http_options *options,
                                                 const struct http_handler *handler,
                                                 char message[HTTP_MESSAGE_MAX]);
uint16_t http_server_port(const struct http_server *server);
/* Sets the context of new connections; open ones keep theirs. Only for a server started with one.
 * From any thread; acquires a reference. */
void http_server_set_tls(struct http_server *server, struct tls_context *tls);
/* Closes connections between requests, waits for current requests but at most `grace_ms`, joins the
 * threads, frees everything. Meanwhile, connections without a request so far, and new ones, get one
 * each: answered if it is vital, and with 503 otherwise.
 *
 * Returns false if a handler still owes answers after that. Its loop is not freed and loop_close is
 * not called, so late calls of http_loop_post do no harm; their tasks do not run. Otherwise nothing
 * may be posted once this has returned. */
bool http_server_stop(struct http_server *server, uint64_t grace_ms);

/* What the server's loops did since the start, and what they hold now. */
struct http_statistics {
    unsigned loop_count;
    uint64_t turns;
    uint64_t requests;
    uint64_t requests_under_way;
    int64_t longest_turn_ns; /* In this minute and the one before; known to a millisecond. */
    size_t connections;
    size_t connections_max;
    size_t memory; /* Of requests. */
    size_t memory_max;
};
/* Adds to `out`. From any thread. */
void http_server_read_statistics(const struct http_server *server, struct http_statistics *out);

/* --- An exchange --- */

struct bytes http_exchange_method(const struct http_exchange *exchange);
struct bytes http_exchange_target(const struct http_exchange *exchange); /* As sent. */
/* The first header of that name, ignoring case; `data` NULL if there is none. */
struct bytes http_exchange_find_header(const struct http_exchange *exchange, struct bytes name);
/* The same for a text in the code, of which the compiler knows the length. */
static inline struct bytes http_exchange_header(const struct http_exchange *exchange,
                                                const char *name)
{
    return http_exchange_find_header(exchange, bytes_from_text(name));
}
size_t http_exchange_header_count(const struct http_exchange *exchange);
const struct http_header *http_exchange_headers(const struct http_exchange *exchange);
/* Without chunk framing; empty if there is none. Not decompressed. */
struct bytes http_exchange_body(const struct http_exchange *exchange);
/* The request's memory: valid until the answer is written. */
struct arena *http_exchange_arena(const struct http_exchange *exchange);
struct http_loop *http_exchange_loop(const struct http_exchange *exchange);
enum { HTTP_PEER_SIZE = 46 }; /* The longest IPv6 address and a NUL. */
/* The client's address, without its port. */
void http_exchange_peer(const struct http_exchange *exchange, char out[HTTP_PEER_SIZE]);
/* True if the request came through TLS. */
bool http_exchange_is_secure(const struct http_exchange *exchange);
/* True if requests hold so much memory that bodies are refused. */
bool http_exchange_finds_pressure(const struct http_exchange *exchange);

/* True if the client has gone. An answer is owed all the same. From any thread. */
bool http_exchange_is_in_vain(const struct http_exchange *exchange);

/* The answer's bytes must be literals, or live in the exchange's arena. If the client has gone,
 * this only cleans up. */
void http_exchange_answer(struct http_exchange *exchange, const struct http_answer *answer);

/* Closes the connection without an answer, instead of answering: what a client sees of a server
 * that breaks down. */
void http_exchange_abandon(struct http_exchange *exchange);

/* --- Work for a loop --- */

/* True if the requests of all loops hold no more memory than allowed. From any thread. */
bool http_loop_has_room(const struct http_loop *loop);

/* Embedded in the caller's own structure; must live until `run` is called. */
struct http_task {
    void (*run)(struct http_task *task);
    struct http_task *next; /* Owned by the loop while the task is queued. */
};
/* Runs `task` on the loop's thread. From any thread; never blocks, never fails. */
void http_loop_post(struct http_loop *loop, struct http_task *task);

/* Embedded in the caller's own structure; must live until `run` is called. */
struct http_delayed {
    void (*run)(struct http_delayed *delayed);
    struct http_delayed *previous, *next; /* The loop's own, as is the next one. */
    uint64_t due_ms;
};
/* Calls `run` on the loop's thread after `delay_ms`, or at once when the loop is stopping. On the
 * loop's thread, whose callers bound how many there are: it takes time in proportion to the number
 * of those that are due later. */
void http_loop_run_later(struct http_loop *loop, struct http_delayed *delayed, uint64_t delay_ms);

#endif
