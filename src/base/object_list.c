/* object_list.c -- see object_list.h. */
#include "base/object_list.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"

enum { CAPACITY_FIRST = 16 };

void object_list_deinit(struct object_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        arena_destroy(list->entries[i].arena);
    free(list->entries);
    *list = (struct object_list){ 0 };
}

size_t object_list_lower_bound(const struct object_list *list, struct bytes key)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(list->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_at(const struct object_list *list, size_t at, struct bytes key)
{
    return at < list->count && bytes_equal(list->entries[at].key, key);
}

const void *object_list_find(const struct object_list *list, struct bytes key)
{
    size_t at = object_list_lower_bound(list, key);
    return has_at(list, at, key) ? list->entries[at].object : NULL;
}

void object_list_put(struct object_list *list, const struct object_list_entry *entry)
{
    assert(entry->arena != NULL && entry->object != NULL);
    size_t at = object_list_lower_bound(list, entry->key);
    if (has_at(list, at, entry->key)) {
        assert(list->entries[at].arena != entry->arena);
        arena_destroy(list->entries[at].arena);
    } else {
        if (list->count == list->capacity) {
            list->capacity = list->capacity == 0 ? CAPACITY_FIRST : 2 * list->capacity;
            list->entries =
                memory_checked(realloc(list->entries, list->capacity * sizeof list->entries[0]));
        }
        memmove(&list->entries[at + 1], &list->entries[at],
                (list->count - at) * sizeof list->entries[0]);
        list->count++;
    }
    list->entries[at] = *entry;
}

void object_list_delete(struct object_list *list, struct bytes key)
{
    size_t at = object_list_lower_bound(list, key);
    if (!has_at(list, at, key))
        return;
    struct arena *arena = list->entries[at].arena;
    list->count--;
    memmove(&list->entries[at], &list->entries[at + 1],
            (list->count - at) * sizeof list->entries[0]);
    arena_destroy(arena);
}
