/* object_list.h -- objects sorted by key, each in an arena of its own: a stored collection that is
 * small enough to be kept in memory as a whole.
 *
 * An object is replaced or deleted with its arena, and never changed. The caller locks.
 */
#ifndef STATOR_BASE_OBJECT_LIST_H
#define STATOR_BASE_OBJECT_LIST_H
#include <stddef.h>
#include "base/bytes.h"

struct arena;

struct object_list_entry {
    struct arena *arena; /* Holds the rest. */
    struct bytes key;
    const void *object;
};

/* All zero is an empty list. */
struct object_list {
    struct object_list_entry *entries;
    size_t count;
    size_t capacity;
};

void object_list_deinit(struct object_list *list);
/* The index of the first entry that is not before the key. */
size_t object_list_lower_bound(const struct object_list *list, struct bytes key);
/* NULL if there is none. */
const void *object_list_find(const struct object_list *list, struct bytes key);
/* Takes over the entry's arena, and destroys that of an entry with the same key. */
void object_list_put(struct object_list *list, const struct object_list_entry *entry);
/* Does nothing if there is none. */
void object_list_delete(struct object_list *list, struct bytes key);

#endif
