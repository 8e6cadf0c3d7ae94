/* deadlines.c -- see deadlines.h. */
#include "http/deadlines.h"
#include <assert.h>
#include <stddef.h>

void http_deadline_clear(struct http_deadlines *deadlines, struct http_deadline *deadline)
{
    if (deadline->kind == HTTP_DEADLINE_NONE)
        return;
    if (deadline->previous != NULL)
        deadline->previous->next = deadline->next;
    else
        deadlines->queues[deadline->kind].first = deadline->next;
    if (deadline->next != NULL)
        deadline->next->previous = deadline->previous;
    else
        deadlines->queues[deadline->kind].last = deadline->previous;
    *deadline = (struct http_deadline){ .kind = HTTP_DEADLINE_NONE };
}

void http_deadline_set(struct http_deadlines *deadlines, struct http_deadline *deadline,
                       enum http_deadline_kind kind, uint64_t now_ms)
{
    assert(kind != HTTP_DEADLINE_NONE);
    http_deadline_clear(deadlines, deadline);
    struct http_deadline *last = deadlines->queues[kind].last;
    deadline->kind = kind;
    deadline->due_ms = now_ms + deadlines->queues[kind].duration_ms;
    assert(last == NULL || last->due_ms <= deadline->due_ms);
    deadline->previous = last;
    if (last != NULL)
        last->next = deadline;
    else
        deadlines->queues[kind].first = deadline;
    deadlines->queues[kind].last = deadline;
}

struct http_deadline *http_deadlines_first(const struct http_deadlines *deadlines)
{
    struct http_deadline *earliest = NULL;
    for (int kind = 0; kind < HTTP_DEADLINE_KIND_COUNT; kind++) {
        struct http_deadline *first = deadlines->queues[kind].first;
        if (first != NULL && (earliest == NULL || first->due_ms < earliest->due_ms))
            earliest = first;
    }
    return earliest;
}
