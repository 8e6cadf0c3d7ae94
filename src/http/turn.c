/* turn.c -- see turn.h. */
#include "http/turn.h"
#include <assert.h>

enum { READERS_MAX = HTTP_TURN_READ_SIZE / HTTP_TURN_CONNECTION_SIZE };

/* Otherwise an answer that waits might never find room. */
static_assert((int)HTTP_TURN_WRITE_SMALL_SIZE <= (int)HTTP_TURN_WRITE_SIZE, "one piece fits");

/* --- Queues --- */

void http_queue_append(struct http_queue *queue, struct http_waiting *waiting)
{
    assert(!waiting->is_queued);
    *waiting = (struct http_waiting){ .previous = queue->last, .is_queued = true };
    if (queue->last != NULL)
        queue->last->next = waiting;
    else
        queue->first = waiting;
    queue->last = waiting;
}

void http_queue_remove(struct http_queue *queue, struct http_waiting *waiting)
{
    if (!waiting->is_queued)
        return;
    if (waiting->previous != NULL)
        waiting->previous->next = waiting->next;
    else
        queue->first = waiting->next;
    if (waiting->next != NULL)
        waiting->next->previous = waiting->previous;
    else
        queue->last = waiting->previous;
    *waiting = (struct http_waiting){ 0 };
}

struct http_waiting *http_queue_take(struct http_queue *queue)
{
    struct http_waiting *first = queue->first;
    if (first != NULL)
        http_queue_remove(queue, first);
    return first;
}

/* --- Turns --- */

void http_turn_begin(struct http_turn *turn)
{
    turn->write_left = HTTP_TURN_WRITE_SIZE;
    turn->readers.current = NULL;
    turn->readers.asked_before = turn->readers.asked;
    turn->readers.asked = 0;
    turn->readers.first += READERS_MAX;
    if (turn->readers.first >= turn->readers.asked_before)
        turn->readers.first = 0;
}

/* Connections ask in the same order in every turn, so the first of many would always be served.
 * Counting them, and starting further on in each turn, gives all the same share. */
static bool is_served(struct http_turn *turn)
{
    size_t place = turn->readers.asked++, all = turn->readers.asked_before;
    if (all <= READERS_MAX)
        return place < READERS_MAX;
    return (place + all - turn->readers.first) % all < READERS_MAX && place < all;
}

/* libuv reads from one connection until it is done, so another reader means that it is. */
size_t http_turn_read_room(struct http_turn *turn, const void *connection)
{
    if (turn->readers.current != connection) {
        turn->readers.current = connection;
        turn->readers.current_left = is_served(turn) ? HTTP_TURN_CONNECTION_SIZE : 0;
    }
    return turn->readers.current_left;
}

void http_turn_count_read(struct http_turn *turn, size_t size)
{
    size_t *left = &turn->readers.current_left;
    *left -= size < *left ? size : *left;
}

size_t http_turn_write_room(const struct http_turn *turn, size_t size)
{
    if (size <= HTTP_TURN_WRITE_SMALL_SIZE)
        return size;
    if (!http_turn_has_write_room(turn))
        return 0;
    return size < turn->write_left ? size : turn->write_left;
}

void http_turn_count_written(struct http_turn *turn, size_t size)
{
    turn->write_left -= size < turn->write_left ? size : turn->write_left;
}

bool http_turn_has_write_room(const struct http_turn *turn)
{
    return turn->write_left >= HTTP_TURN_WRITE_SMALL_SIZE;
}
