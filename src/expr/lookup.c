/* lookup.c -- see lookup.h. */
#include "expr/lookup.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/give_way.h"
#include "expr/ast.h"
#include "model/item.h"

enum { CONTAINERS_FIRST_CAPACITY = 8, PLACES_FIRST_CAPACITY = 256 };

/* The order of the noted offsets. Maps and sets are stored sorted by name or value. A list is
 * searched both by index and by value. */
enum order { AS_STORED, BY_VALUE };

/* A container that was searched. With another generation it belongs to an earlier item and counts
 * as free. */
struct lookup_container {
    const uint8_t *data;
    enum order order;
    uint32_t generation;
    uint32_t walk_count;
    /* The first of its offsets in lookup->places, after LOOKUP_WALKS_MAX searches. */
    size_t places_at;
};

void lookup_init(struct lookup *lookup, struct arena *arena, const struct item *item)
{
    *lookup = (struct lookup){ .arena = arena, .item = item, .generation = 1 };
}

void lookup_next_item(struct lookup *lookup, const struct item *item)
{
    assert(lookup->arena != NULL);
    lookup->item = item;
    lookup->generation++;
    lookup->container_count = 0;
    lookup->place_count = 0;
}

/* --- The containers that were asked --- */

static struct lookup_container *slot_of(const struct lookup *lookup, const uint8_t *data,
                                        enum order order)
{
    /* Multiplication spreads addresses that differ in a few bits over the upper half. */
    uint64_t hash = (uint64_t)(uintptr_t)data * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 32);
    for (;; at++) {
        struct lookup_container *slot = &lookup->containers[at & (lookup->container_capacity - 1)];
        if (slot->generation != lookup->generation || (slot->data == data && slot->order == order))
            return slot;
    }
}

/* At most half of the slots are used, so that probing ends soon. */
static void grow_containers(struct lookup *lookup)
{
    struct lookup_container *old = lookup->containers;
    size_t old_capacity = lookup->container_capacity;
    size_t capacity = old_capacity == 0 ? CONTAINERS_FIRST_CAPACITY : old_capacity * 2;
    lookup->containers = arena_alloc_zeroed(lookup->arena, capacity * sizeof *lookup->containers);
    lookup->container_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].generation == lookup->generation)
            *slot_of(lookup, old[i].data, old[i].order) = old[i];
}

static struct lookup_container *note_container(struct lookup *lookup, const struct value *container,
                                               enum order order)
{
    if (lookup->container_count * 2 >= lookup->container_capacity)
        grow_containers(lookup);
    struct lookup_container *slot = slot_of(lookup, container->data.data, order);
    if (slot->generation != lookup->generation) {
        *slot = (struct lookup_container){ .data = container->data.data,
                                           .order = order,
                                           .generation = lookup->generation };
        lookup->container_count++;
    }
    return slot;
}

/* --- Places of members --- */

static void reserve_places(struct lookup *lookup, size_t count)
{
    size_t wanted = lookup->place_count + count;
    size_t capacity = lookup->place_capacity == 0 ? PLACES_FIRST_CAPACITY : lookup->place_capacity;
    while (capacity < wanted)
        capacity *= 2;
    if (capacity == lookup->place_capacity)
        return;
    lookup->places =
        arena_grow(lookup->arena, lookup->places, lookup->place_capacity * sizeof *lookup->places,
                   capacity * sizeof *lookup->places);
    lookup->place_capacity = capacity;
}

/* False if the container holds fewer members than it says. The caller then walks it. */
static bool note_places(struct lookup *lookup, const struct value *container, size_t *places_at)
{
    struct value_iter iter;
    struct value member;
    size_t at = lookup->place_count;
    reserve_places(lookup, container->count);
    value_iter_init(&iter, container);
    for (uint32_t i = 0; i < container->count; i++) {
        lookup->places[at + i] = (uint32_t)(iter.rest.data - container->data.data);
        if (!value_iter_next(&iter, NULL, &member))
            return false;
    }
    lookup->place_count += container->count;
    lookup->step_count += container->count;
    lookup->work += container->count * (uint64_t)LOOKUP_WORK_MEMBER;
    *places_at = at;
    return true;
}

static void open_at(const struct value *container, uint32_t place, struct bytes *name,
                    struct value *out)
{
    struct value_iter iter = { .rest = bytes_of(container->data.data + place,
                                                container->data.len - place),
                               .container = container->type };
    bool found = value_iter_next(&iter, name, out);
    assert(found);
    (void)found;
}

static int compare_places(const void *left, const void *right, void *list)
{
    struct value a, b;
    give_way_count(GIVE_WAY_COMPARISON);
    open_at(list, *(const uint32_t *)left, NULL, &a);
    open_at(list, *(const uint32_t *)right, NULL, &b);
    return value_compare(&a, &b);
}

/* The offsets of a container's members; NULL: walk it. */
static const uint32_t *places_of(struct lookup *lookup, const struct value *container,
                                 enum order order)
{
    if (container->count <= LOOKUP_SMALL_MAX) {
        lookup->work += container->count * (uint64_t)LOOKUP_WORK_MEMBER;
        return NULL;
    }
    struct lookup_container *noted = note_container(lookup, container, order);
    if (noted->walk_count < LOOKUP_WALKS_MAX) {
        noted->walk_count++;
        lookup->step_count += container->count;
        lookup->work += container->count * (uint64_t)LOOKUP_WORK_MEMBER;
        return NULL;
    }
    if (noted->walk_count == LOOKUP_WALKS_MAX) {
        if (!note_places(lookup, container, &noted->places_at))
            return NULL;
        noted->walk_count++;
        struct value list = *container;
        if (order == BY_VALUE) {
            qsort_r(lookup->places + noted->places_at, list.count, sizeof *lookup->places,
                    compare_places, &list);
            lookup->work += list.count * (uint64_t)LOOKUP_WORK_SORTED;
        }
    }
    return lookup->places + noted->places_at;
}

/* Finds a map's member by name, a member of a set or list by value. */
static bool binary_search(struct lookup *lookup, const uint32_t *places,
                          const struct value *container, struct bytes key,
                          const struct value *wanted, struct value *out)
{
    uint32_t low = 0, high = container->count;
    lookup->work += LOOKUP_WORK_SORTED;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        struct bytes name = { 0 };
        open_at(container, places[middle], &name, out);
        lookup->step_count++;
        int order =
            container->type == VALUE_M ? bytes_compare(name, key) : value_compare(out, wanted);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* --- Finding --- */

static bool find_member(struct lookup *lookup, const struct value *map, struct bytes name,
                        struct value *out)
{
    const uint32_t *places = places_of(lookup, map, AS_STORED);
    return places == NULL ? value_map_find(map, name, out)
                          : binary_search(lookup, places, map, name, NULL, out);
}

static bool find_element(struct lookup *lookup, const struct value *list, uint32_t index,
                         struct value *out)
{
    if (index >= list->count)
        return false;
    const uint32_t *places = places_of(lookup, list, AS_STORED);
    if (places != NULL) {
        open_at(list, places[index], NULL, out);
        return true;
    }
    struct value_iter iter;
    bool found = true;
    value_iter_init(&iter, list);
    for (uint32_t i = 0; i <= index && found; i++)
        found = value_iter_next(&iter, NULL, out);
    return found;
}

static bool find_attribute(struct lookup *lookup, struct bytes name, struct value *out)
{
    const struct item *item = lookup->item;
    if (item == NULL)
        return false;
    if (item->count <= LOOKUP_SMALL_MAX) {
        lookup->work += item->count * (uint64_t)LOOKUP_WORK_MEMBER;
        return item_find(item, name, out);
    }
    struct value map = { .type = VALUE_M, .count = item->count, .data = item->attributes };
    return find_member(lookup, &map, name, out);
}

bool lookup_path(struct lookup *lookup, const struct path *path, struct value *out)
{
    assert(path->step_count > 0 && path->steps[0].name.data != NULL);
    if (!find_attribute(lookup, path->steps[0].name, out))
        return false;
    for (size_t i = 1; i < path->step_count; i++) {
        const struct path_step *step = &path->steps[i];
        struct value container = *out;
        if (container.type != (step->name.data == NULL ? VALUE_L : VALUE_M))
            return false;
        if (!(step->name.data == NULL ? find_element(lookup, &container, step->index, out)
                                      : find_member(lookup, &container, step->name, out)))
            return false;
    }
    return true;
}

bool lookup_set_has(struct lookup *lookup, const struct value *set, const struct value *wanted)
{
    struct value_iter iter;
    struct value member;
    if (wanted->type != value_type_of_member(set->type))
        return false;
    const uint32_t *places = places_of(lookup, set, AS_STORED);
    if (places != NULL)
        return binary_search(lookup, places, set, BYTES(""), wanted, &member);
    value_iter_init(&iter, set);
    while (value_iter_next(&iter, NULL, &member)) {
        int order = bytes_compare(member.data, wanted->data);
        if (order >= 0)
            return order == 0;
    }
    return false;
}

bool lookup_list_has(struct lookup *lookup, const struct value *list, const struct value *wanted)
{
    struct value_iter iter;
    struct value element;
    const uint32_t *places = places_of(lookup, list, BY_VALUE);
    if (places != NULL)
        return binary_search(lookup, places, list, BYTES(""), wanted, &element);
    lookup->work += list->data.len / LOOKUP_WORK_COMPARED_BYTES;
    value_iter_init(&iter, list);
    while (value_iter_next(&iter, NULL, &element))
        if (value_equal(&element, wanted))
            return true;
    return false;
}

/* --- The values of a long IN --- */

/* The first bytes are beside the pointer: most comparisons need no more, which makes sorting 70,000
 * values, a request of 1 MB, three times as fast. */
struct entry {
    uint64_t prefix;
    const struct value *value;
};

struct lookup_values {
    struct arena *arena;
    const struct value *values;
    size_t count;
    unsigned walk_count;
    struct entry *sorted; /* NULL: not sorted yet. */
};

struct lookup_values *lookup_values_create(struct arena *arena, const struct value *values,
                                           size_t count)
{
    if (count <= LOOKUP_VALUES_SHORT_MAX)
        return NULL;
    struct lookup_values *list = arena_alloc(arena, sizeof *list);
    *list = (struct lookup_values){ .arena = arena, .values = values, .count = count };
    return list;
}

struct lookup_values *lookup_values_of_operands(struct arena *arena, const struct operand *operands,
                                                size_t count)
{
    if (count <= LOOKUP_VALUES_SHORT_MAX)
        return NULL;
    struct value *values = arena_alloc(arena, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        if (operands[i].type != OPERAND_VALUE)
            return NULL;
        values[i] = operands[i].value;
    }
    return lookup_values_create(arena, values, count);
}

static struct entry entry_of(const struct value *value)
{
    struct entry entry = { .value = value };
    for (size_t i = 0; i < sizeof entry.prefix; i++)
        entry.prefix = entry.prefix << 8 | (i < value->data.len ? value->data.data[i] : 0);
    return entry;
}

static int compare(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    give_way_count(GIVE_WAY_COMPARISON);
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return value_compare(a->value, b->value);
}

static void sort(struct lookup_values *list, struct lookup *lookup)
{
    list->sorted = arena_alloc(list->arena, list->count * sizeof *list->sorted);
    for (size_t i = 0; i < list->count; i++)
        list->sorted[i] = entry_of(&list->values[i]);
    qsort(list->sorted, list->count, sizeof *list->sorted, compare);
    lookup->work += list->count * LOOKUP_WORK_SORTED;
}

bool lookup_values_have(struct lookup_values *list, const struct value *wanted,
                        struct lookup *lookup)
{
    assert(list->count > LOOKUP_VALUES_SHORT_MAX);
    if (list->walk_count < LOOKUP_VALUES_WALKS_MAX) {
        list->walk_count++;
        lookup->work += list->count * LOOKUP_WORK_MEMBER;
        for (size_t i = 0; i < list->count; i++) {
            if (value_equal(&list->values[i], wanted))
                return true;
        }
        return false;
    }
    if (list->sorted == NULL)
        sort(list, lookup);
    struct entry key = entry_of(wanted);
    lookup->work += LOOKUP_WORK_SORTED;
    return bsearch(&key, list->sorted, list->count, sizeof key, compare) != NULL;
}
