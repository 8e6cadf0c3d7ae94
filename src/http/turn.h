/* turn.h -- how much bulk work a loop does in one turn, inside http/.
 *
 * A loop handles all events that the system reports, then looks for new ones. A small request that
 * comes meanwhile waits for the end of the turn, so the turn must be short whatever other clients
 * do. Usual requests are: they take ten to twenty microseconds each. Everything that does not have
 * to be done at once counts as bulk work, and each kind of it has a share of a turn: bodies and
 * input that is thrown away, large answers, new connections, connections that clients have closed.
 * What exceeds the share waits for a later turn, and all that wait get the same.
 *
 * Each share takes from 30 to 100 us here. Sizes and numbers are counted, not time: the work is
 * then cut at the same place every time. Reads of many items, whose work cannot be counted in
 * bytes, have a share of their own in time (call/read_queue.h).
 *
 * Belongs to the loop's thread. Knows nothing of sockets.
 */
#ifndef STATOR_HTTP_TURN_H
#define STATOR_HTTP_TURN_H
#include <stdbool.h>
#include <stddef.h>

enum {
    /* What is read at once where a request may begin. Most requests end within it; the rest of a
     * larger one is bulk. */
    HTTP_TURN_FIRST_READ_SIZE = 16 * 1024,
    /* Bodies, and input that is thrown away: from one connection, and from all. */
    HTTP_TURN_CONNECTION_SIZE = 64 * 1024,
    HTTP_TURN_READ_SIZE = 128 * 1024,
    /* Answers. A small one, or the small rest of one, is always written. */
    HTTP_TURN_WRITE_SIZE = 64 * 1024,
    HTTP_TURN_WRITE_SMALL_SIZE = 64 * 1024,
    /* What is written as soon as a full socket takes anything, to learn that it does. */
    HTTP_TURN_WRITE_PROBE_SIZE = 4 * 1024,
    HTTP_TURN_ACCEPTS_MAX = 8,
    HTTP_TURN_CLOSES_MAX = 8,
};

/* --- Queues of what waits for a later turn --- */

/* Embedded in its owner; all zero is "not waiting". */
struct http_waiting {
    struct http_waiting *previous, *next;
    bool is_queued;
};

struct http_queue {
    struct http_waiting *first, *last;
};

/* Must not be queued. */
void http_queue_append(struct http_queue *queue, struct http_waiting *waiting);
/* Removing one that is not queued is allowed. */
void http_queue_remove(struct http_queue *queue, struct http_waiting *waiting);
/* Removes the first; NULL: there is none. */
struct http_waiting *http_queue_take(struct http_queue *queue);

/* --- Turns --- */

/* All zero before the first. */
struct http_turn {
    struct {                 /* Who reads bodies. */
        const void *current; /* The connection that asked last, */
        size_t current_left; /* and how much it may still read. */
        size_t asked;        /* How many have asked in this turn, */
        size_t asked_before; /* and in the one before. */
        size_t first;        /* Which of them is served first. */
    } readers;
    size_t write_left;
    struct http_queue writers; /* struct http_transport: answers with a rest. */
    struct http_queue closers; /* struct http_connection: to be closed. */
};

/* Starts a turn: gives each kind of work its share. */
void http_turn_begin(struct http_turn *turn);

/* How much of a body the connection may read now; 0: nothing before the next turn. A connection
 * asks until it gets nothing or has nothing to read; then the next one asks. */
size_t http_turn_read_room(struct http_turn *turn, const void *connection);
void http_turn_count_read(struct http_turn *turn, size_t size); /* By the one that asked last. */

/* How much of an answer with `size` bytes left may be written now; 0: nothing in this turn. */
size_t http_turn_write_room(const struct http_turn *turn, size_t size);
void http_turn_count_written(struct http_turn *turn, size_t size);
/* True if the turn has enough left for another answer that waits. */
bool http_turn_has_write_room(const struct http_turn *turn);

#endif
