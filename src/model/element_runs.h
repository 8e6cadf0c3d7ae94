/* element_runs.h -- sorts the elements of maps and sets where they stand, at the end of a buffer.
 *
 * JSON brings them in any order; the encoding has one. One object serves a whole request: the
 * containers that are open at a time lie on it as on a stack, and the room that sorting needs is
 * used again, so that memory stays in proportion to the largest container and not to their sum.
 */
#ifndef STATOR_MODEL_ELEMENT_RUNS_H
#define STATOR_MODEL_ELEMENT_RUNS_H
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"

struct arena;
struct item_attribute;

/* One element: where it begins, and where in it stands what it is sorted by. Offsets, because the
 * buffer moves while it grows. */
struct element_run {
    uint32_t at;
    uint32_t key_at;
    uint32_t key_size;
};

struct element_runs {
    struct arena *arena;
    struct element_run *items;
    size_t count; /* Of all open containers. A container's first element has the count before it. */
    size_t capacity;
    struct item_attribute *order; /* Twice `order_capacity`: the second half is scratch. */
    size_t order_capacity;
    struct buffer copy;
};

void element_runs_init(struct element_runs *runs, struct arena *arena);
/* Adds the element that began at `at`. Its key reaches from `key_at` to the end of the buffer now;
 * more of the element may follow. */
void element_runs_add(struct element_runs *runs, const struct buffer *out, size_t at,
                      size_t key_at);
/* Sorts the elements from `first` on, the last of which ends the buffer, keeps the last one of each
 * key, and forgets them. Returns how many were kept. */
uint32_t element_runs_sort(struct element_runs *runs, size_t first, struct buffer *out);

#endif
