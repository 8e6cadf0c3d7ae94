/* deadlines.h -- the time-outs of a loop's connections.
 *
 * All deadlines of a kind last equally long, so each kind is a queue: setting one appends it,
 * and the next to pass is always the first. Set, clear and look-up take constant time, with no
 * timer per connection.
 */
#ifndef STATOR_HTTP_DEADLINES_H
#define STATOR_HTTP_DEADLINES_H
#include <stdint.h>

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

/* `now_ms` must never go back between calls. Replaces what was set before. */
void http_deadline_set(struct http_deadlines *deadlines, struct http_deadline *deadline,
                       enum http_deadline_kind kind, uint64_t now_ms);
void http_deadline_clear(struct http_deadlines *deadlines, struct http_deadline *deadline);

/* The one that passes first; NULL if none is set. */
struct http_deadline *http_deadlines_first(const struct http_deadlines *deadlines);

#endif
