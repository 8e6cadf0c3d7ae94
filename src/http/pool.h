/* pool.h -- a loop's spare input buffers and arenas.
 *
 * A connection holds them only while a request is under way, so thousands of idle connections
 * cost next to nothing, and a busy loop gets by without malloc. Used by the loop's thread only.
 */
#ifndef STATOR_HTTP_POOL_H
#define STATOR_HTTP_POOL_H
#include <stddef.h>
#include <stdint.h>
#include "http/chunked.h"
#include "http/parser.h"

struct arena;
struct memory_budget;

/* Spares kept of each kind, at most; what comes back beyond that goes to the system. */
enum { HTTP_POOL_SPARES_MAX = 128 };

/* What a connection has received and not yet answered, and how far it was understood. */
struct http_input {
    struct http_input *next; /* The pool's own. */
    size_t start;            /* Of the request under way, or of the next one. */
    size_t end;              /* Of what has arrived. */
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

/* What it holds and has given out counts in the budget; its spares are `spares_size_max` together,
 * at most. */
void http_pool_init(struct http_pool *pool, size_t input_capacity, size_t spares_size_max,
                    struct memory_budget *budget);
void http_pool_deinit(struct http_pool *pool);

/* Empty. Never NULL: running out of memory aborts, as for arenas. */
struct http_input *http_pool_take_input(struct http_pool *pool);
void http_pool_give_input(struct http_pool *pool, struct http_input *input);
struct arena *http_pool_take_arena(struct http_pool *pool);
void http_pool_give_arena(struct http_pool *pool, struct arena *arena);

/* Moves what has arrived to the front, to make room at the end. */
void http_input_compact(struct http_input *input);

#endif
