/* read_queue.h -- the order and time slices in which a loop runs reads of many items.
 *
 * A page of a Scan takes milliseconds, and hundreds may come at once. A loop spends a bounded part
 * of each turn on them and serves other requests in between:
 *
 * - A new read starts with a short slice, in which most Queries end. It runs at once if the turn
 * has time left, and otherwise waits after the other new ones.
 * - A read that has not ended is paused, unless its owner moves it to another thread. The first of
 *   the paused ones runs, slice by slice, until it ends; then the next. Round robin would let all
 *   their answers grow at the same time.
 * - New ones get most of the time, so that a light Query waits for the first slices of those before
 *   it and not for their whole pages. Paused ones always get some.
 * - If memory is short, no new read starts before the paused ones have ended.
 *
 * Belongs to one thread.
 */
#ifndef STATOR_CALL_READ_QUEUE_H
#define STATOR_CALL_READ_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    READ_QUEUE_TURN_NS = 150 * 1000,  /* For reads, per turn; the last slice may exceed it. */
    READ_QUEUE_FIRST_NS = 150 * 1000, /* The first slice of a read. */
    READ_QUEUE_NEXT_NS = 150 * 1000,  /* Each further one. */
    READ_QUEUE_NEW_PER_PAUSED = 16,   /* Slices. */
    /* The size of its answer at which a read pauses for the first time: ten thousand such answers
     * must not take much more memory than their connections. */
    READ_QUEUE_FIRST_SIZE = 64 * 1024,
};

/* Embedded in the caller's own structure; must live until the read has ended. */
struct read_task {
    /* Runs until that time of the queue's clock, or a little longer. Calls read_queue_pause if the
     * read has not ended by then and stays in this queue. */
    void (*run)(struct read_task *task, int64_t until_ns);
    struct read_task *next; /* Owned by the queue, like `begun`. */
    bool begun;
};

struct read_list {
    struct read_task *first, *last;
};

struct read_queue {
    int64_t (*clock_ns)(void);
    struct read_list new, paused;
    int64_t turn_used_ns;
    unsigned new_in_a_row; /* Slices since the last one of a paused read. */
};

void read_queue_init(struct read_queue *queue, int64_t (*clock_ns)(void));

static inline bool read_queue_is_empty(const struct read_queue *queue)
{
    return queue->new.first == NULL && queue->paused.first == NULL;
}

/* Runs a new read now, or in a later turn. */
void read_queue_start(struct read_queue *queue, struct read_task *task);
/* For a task's `run`: the queue will run it again. */
void read_queue_pause(struct read_queue *queue, struct read_task *task);
/* At the end of a turn: runs waiting reads while the turn has time left. `has_room`: new ones may
 * take memory. True if some still wait: the next turn must start without delay. */
bool read_queue_end_turn(struct read_queue *queue, bool has_room);
/* Removes a waiting task; NULL: there is none. */
struct read_task *read_queue_take(struct read_queue *queue);

#endif
