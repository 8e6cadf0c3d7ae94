/* request_memory.h -- the memory of requests, inside http/: spare buffers, bodies, how large ones
 * are freed, and what happens when requests hold too much together.
 *
 * All of it counts in `http_shared.memory`, a budget for all loops: input buffers and arenas with
 * their spares, bodies, and answers that clients have not read yet, which lie in the arenas. The
 * functions are for the loop's thread.
 */
#ifndef STATOR_HTTP_REQUEST_MEMORY_H
#define STATOR_HTTP_REQUEST_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "http/chunked.h"
#include "http/parser.h"

struct arena;
struct http_discard;
struct http_loop;
struct http_task;
struct memory_budget;

/* --- Spare input buffers and arenas of a loop ---
 *
 * A connection holds them only during a request, so thousands of idle connections cost next to
 * nothing, and a busy loop needs no malloc. */

/* Spares of each kind, at most; the system gets the rest back. */
enum { HTTP_POOL_SPARES_MAX = 128 };

/* The bytes that a connection has received and not yet answered, and the state of their parsers. */
struct http_input {
    struct http_input *next; /* Owned by the pool. */
    size_t start;            /* Of the current request, or of the next one. */
    size_t end;              /* Of the bytes received. */
    size_t capacity;
    struct http_parser parser;
    struct http_chunked chunked;
    uint8_t data[];
};

struct http_pool {
    size_t input_capacity;
    size_t spares_max; /* Of each kind. */
    struct memory_budget *budget;
    struct http_input *inputs;
    size_t input_count;
    size_t arena_count;
    struct arena *arenas[HTTP_POOL_SPARES_MAX];
};

/* Counts spares and everything taken from the pool in the budget. All spares together are at most
 * `spares_size_max`. */
void http_pool_init(struct http_pool *pool, size_t input_capacity, size_t spares_size_max,
                    struct memory_budget *budget);
void http_pool_deinit(struct http_pool *pool);

/* Empty. Never NULL: running out of memory aborts, as for arenas. */
struct http_input *http_pool_take_input(struct http_pool *pool);
void http_pool_give_input(struct http_pool *pool, struct http_input *input);
struct arena *http_pool_take_arena(struct http_pool *pool);
void http_pool_give_arena(struct http_pool *pool, struct arena *arena);

/* Moves the bytes to the front, to make room at the end. */
void http_input_compact(struct http_input *input);

/* --- Bodies that are too large for the input buffer, or come in chunks ---
 *
 * A body grows with the bytes received, never to the size announced: a client that promises 16 MB
 * and sends nothing costs nothing. It is not in the arena, where each growth would leave a copy. */

enum {
    HTTP_BODY_FIRST_CAPACITY = 64 * 1024,
    /* From this capacity on a body has pages of its own, which move without being copied. malloc
     * would take some from its heap, and copying 4 MB to grow them kept a loop busy for 1 ms. */
    HTTP_BODY_MAPPED_CAPACITY = 256 * 1024,
};

/* All zero is empty. */
struct http_body {
    uint8_t *data;
    size_t len;
    size_t capacity;
    size_t copied; /* Bytes that were copied to let it grow, at most. */
};

/* Returns the body's capacity to the budget; NULL: that has been done. */
void http_body_deinit(struct http_body *body, struct memory_budget *budget);
/* By how much the body must grow for `more` bytes; 0: there is room. Doubles, but not beyond
 * `len_max`, which is at least the body's length and `more`. */
size_t http_body_growth(const struct http_body *body, size_t more, size_t len_max);
/* The caller has taken `size` from the budget. */
void http_body_grow(struct http_body *body, size_t size);
/* There must be room. */
void http_body_append(struct http_body *body, struct bytes more);

/* --- Freeing ---
 *
 * The system takes about 0.15 ms to free a megabyte, the answer of a Scan, so a thread does it for
 * all loops. Not one of libuv's pool, which starts on first use, and ends the process if that
 * fails. */

enum { HTTP_DISCARD_APART_SIZE = 512 * 1024 }; /* From this size on. */

/* Starts the thread. NULL if the system refuses. */
MUST_CHECK struct http_discard *http_discard_start(void);
/* Frees everything and stops the thread. After the last loop has stopped. NULL is allowed. */
void http_discard_stop(struct http_discard *discard);

/* Has the thread free the large blocks that arenas keep for the next requests. */
void http_discard_shelf(struct http_discard *discard);
/* A small arena returns to the loop's pool. */
void http_discard_arena(struct http_loop *loop, struct arena *arena);
/* The body is empty afterwards. */
void http_discard_body(struct http_loop *loop, struct http_body *body);

/* --- When requests hold too much memory together ---
 *
 * - Beyond three quarters of memory_max no body grows, so that requests without one find room.
 *   Connections without progress are dropped, those that stalled first before others.
 * - Beyond memory_max no request starts. Answers that are not being read at that moment are dropped
 *   too.
 *
 * A request that finds no room is answered 503, and SDKs retry that. Requests that the handler has
 * are never dropped. */

enum {
    /* Dropped after so long without progress, if memory is short. */
    HTTP_PRESSURE_STALL_MS = 1000,
    /* Beyond memory_max: an answer is dropped if nothing of it was read for so long. */
    HTTP_PRESSURE_URGENT_STALL_MS = 1,
    HTTP_PRESSURE_SCARCE_PERCENT = 75,
};

/* The size up to which bodies may grow. */
size_t http_pressure_scarce_size(size_t memory_max);

/* A body of this loop has found no room for `size` more bytes, or is about to ask for them. True if
 * there will be room at the end of the loop's turn. */
MUST_CHECK bool http_pressure_makes_room_for_body(struct http_loop *loop, size_t size);
/* The memory for another request is missing: drops connections without progress. True if the
 * request may start. */
MUST_CHECK bool http_pressure_makes_room(struct http_loop *loop);

/* Another loop has asked this one to drop connections without progress. */
void http_pressure_run_task(struct http_task *task);

#endif
