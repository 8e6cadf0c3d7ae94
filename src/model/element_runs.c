/* element_runs.c -- see element_runs.h. */
#include "model/element_runs.h"
#include <assert.h>
#include "base/arena.h"
#include "model/item.h"

enum { FIRST_CAPACITY = 16 };

void element_runs_init(struct element_runs *runs, struct arena *arena)
{
    *runs = (struct element_runs){ .arena = arena };
    buffer_init(&runs->copy, arena);
}

void element_runs_add(struct element_runs *runs, const struct buffer *out, size_t at, size_t key_at)
{
    assert(out->len <= UINT32_MAX); /* Smaller than the request it is read from. */
    if (runs->count == runs->capacity) {
        size_t capacity = runs->capacity == 0 ? FIRST_CAPACITY : runs->capacity * 2;
        size_t unit = sizeof *runs->items;
        runs->items = arena_grow(runs->arena, runs->items, runs->capacity * unit, capacity * unit);
        runs->capacity = capacity;
    }
    runs->items[runs->count++] = (struct element_run){
        .at = (uint32_t)at,
        .key_at = (uint32_t)key_at,
        .key_size = (uint32_t)(out->len - key_at),
    };
}

static struct bytes key_of(const struct buffer *out, const struct element_run *run)
{
    return bytes_of(out->data + run->key_at, run->key_size);
}

/* Each key is greater than the one before. */
static bool is_sorted(const struct element_run *items, size_t count, const struct buffer *out)
{
    for (size_t i = 1; i < count; i++) {
        if (value_compare_names(key_of(out, &items[i - 1]), key_of(out, &items[i])) >= 0)
            return false;
    }
    return true;
}

static struct item_attribute *order_reserve(struct element_runs *runs, size_t count)
{
    if (count > runs->order_capacity) {
        size_t capacity = FIRST_CAPACITY;
        while (capacity < count)
            capacity *= 2;
        runs->order = arena_alloc(runs->arena, 2 * capacity * sizeof *runs->order);
        runs->order_capacity = capacity;
    }
    return runs->order;
}

uint32_t element_runs_sort(struct element_runs *runs, size_t first, struct buffer *out)
{
    size_t count = runs->count - first;
    if (count == 0)
        return 0;
    const struct element_run *items = runs->items + first;
    runs->count = first;
    if (is_sorted(items, count, out))
        return (uint32_t)count;

    size_t start = items[0].at;
    runs->copy.len = 0;
    buffer_append(&runs->copy, out->data + start, out->len - start);
    const uint8_t *copy = runs->copy.data;
    struct item_attribute *order = order_reserve(runs, count);
    for (size_t i = 0; i < count; i++) {
        size_t end = i + 1 < count ? items[i + 1].at : out->len;
        order[i].name = bytes_of(copy + (items[i].key_at - start), items[i].key_size);
        order[i].value = bytes_of(copy + (items[i].at - start), end - items[i].at);
    }
    item_sort_attributes(order, count, order + runs->order_capacity);
    out->len = start;
    uint32_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && bytes_equal(order[i].name, order[i + 1].name))
            continue;
        buffer_append_bytes(out, order[i].value);
        kept++;
    }
    return kept;
}
