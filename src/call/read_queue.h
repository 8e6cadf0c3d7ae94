/* read_queue.h -- in which order a loop runs the reads of many items, and for how long at a time.
 *
 * A page of a Scan takes milliseconds; hundreds of them may come at once. A loop spends a bounded
 * part of each turn on them and serves everybody else in between:
 *
 * - A new read begins with a short slice, in which most Queries end. It runs at once if the turn
 * has time left, and otherwise waits behind the other new ones.
 * - A read that has not ended is paused, unless its owner takes it elsewhere. Of the paused ones,
 * the first goes on, slice by slice, until it ends; only then comes the next. Going round among
 * them would let all their answers grow at the same time.
 * - New ones have most of the time, so that a light Query waits for the first slices of those
 *   before it and not for their whole pages; paused ones always have some.
 * - Where memory is short, no new one begins before the paused ones have ended.
 *
 * Belongs to one thread.
 */
#ifndef STATOR_CALL_READ_QUEUE_H
#define STATOR_CALL_READ_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    READ_QUEUE_TURN_NS = 1000 * 1000, /* Of reads, in one turn; the last slice may pass it. */
    READ_QUEUE_FIRST_NS = 200 * 1000, /* The first slice of a read. */
    READ_QUEUE_NEXT_NS = 500 * 1000,  /* Each other one. */
    READ_QUEUE_NEW_PER_PAUSED = 16,   /* Slices. */
    /* Of the answer of a read that is paused for the first time, about: ten thousand of them must
     * not take much more memory than their connections do. */
    READ_QUEUE_FIRST_SIZE = 64 * 1024,
};

/* Embedded in the caller's own structure; must live until it has ended. */
struct read_task {
    /* Runs until the time of the queue's clock that is given, or a little longer. Calls
     * read_queue_pause if the read has not ended then and is to go on in this queue. */
    void (*run)(struct read_task *task, int64_t until_ns);
    struct read_task *next; /* The queue's own, like what follows. */
    bool begun;
};

struct read_list {
    struct read_task *first, *last;
};

struct read_queue {
    int64_t (*clock_ns)(void);
    struct read_list new, paused;
    int64_t turn_used_ns;
    unsigned new_in_a_row; /* Slices, since a paused one had its own. */
};

void read_queue_init(struct read_queue *queue, int64_t (*clock_ns)(void));

static inline bool read_queue_is_empty(const struct read_queue *queue)
{
    return queue->new.first == NULL && queue->paused.first == NULL;
}

/* Runs a read now, or in one of the turns to come. */
void read_queue_start(struct read_queue *queue, struct read_task *task);
/* For a task's `run`: it is to be run again. */
void read_queue_pause(struct read_queue *queue, struct read_task *task);
/* The end of a turn: runs those that wait for as long as it has time left. `has_room`: new ones may
 * take memory. True if some still wait, for a next turn that must come without delay. */
bool read_queue_end_turn(struct read_queue *queue, bool has_room);
/* Takes a task out that waits; NULL: there is none. */
struct read_task *read_queue_take(struct read_queue *queue);

#endif
