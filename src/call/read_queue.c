/* read_queue.c -- see read_queue.h. */
#include "call/read_queue.h"
#include <assert.h>

void read_queue_init(struct read_queue *queue, int64_t (*clock_ns)(void))
{
    assert(clock_ns != NULL);
    *queue = (struct read_queue){ .clock_ns = clock_ns };
}

/* --- Lists --- */

static void append(struct read_list *list, struct read_task *task)
{
    task->next = NULL;
    if (list->first == NULL)
        list->first = task;
    else
        list->last->next = task;
    list->last = task;
}

static void prepend(struct read_list *list, struct read_task *task)
{
    task->next = list->first;
    if (list->first == NULL)
        list->last = task;
    list->first = task;
}

static struct read_task *take_first(struct read_list *list)
{
    struct read_task *task = list->first;
    if (task != NULL)
        list->first = task->next;
    return task;
}

/* --- Slices --- */

/* The task may be gone afterwards. */
static void run(struct read_queue *queue, struct read_task *task, int64_t slice_ns)
{
    assert(task != NULL && task->run != NULL);
    int64_t began_ns = queue->clock_ns();
    task->run(task, began_ns + slice_ns);
    queue->turn_used_ns += queue->clock_ns() - began_ns;
}

static void run_new(struct read_queue *queue, struct read_task *task)
{
    queue->new_in_a_row++;
    run(queue, task, READ_QUEUE_FIRST_NS);
}

static void run_paused(struct read_queue *queue)
{
    queue->new_in_a_row = 0;
    run(queue, take_first(&queue->paused), READ_QUEUE_NEXT_NS);
}

void read_queue_start(struct read_queue *queue, struct read_task *task)
{
    task->begun = false;
    if (queue->new.first == NULL && queue->turn_used_ns < READ_QUEUE_TURN_NS)
        run_new(queue, task);
    else
        append(&queue->new, task);
}

void read_queue_pause(struct read_queue *queue, struct read_task *task)
{
    if (task->begun)
        prepend(&queue->paused, task); /* It was the first, and stays it. */
    else
        append(&queue->paused, task);
    task->begun = true;
}

static bool is_paused_next(const struct read_queue *queue, bool has_room)
{
    return queue->new.first == NULL ||
           (queue->paused.first != NULL &&
            (!has_room || queue->new_in_a_row >= READ_QUEUE_NEW_PER_PAUSED));
}

bool read_queue_end_turn(struct read_queue *queue, bool has_room)
{
    while (queue->turn_used_ns < READ_QUEUE_TURN_NS && !read_queue_is_empty(queue)) {
        if (is_paused_next(queue, has_room))
            run_paused(queue);
        else
            run_new(queue, take_first(&queue->new));
    }
    queue->turn_used_ns = 0;
    return !read_queue_is_empty(queue);
}

struct read_task *read_queue_take(struct read_queue *queue)
{
    struct read_task *task = take_first(&queue->paused);
    return task != NULL ? task : take_first(&queue->new);
}
