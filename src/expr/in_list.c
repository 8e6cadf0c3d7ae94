/* in_list.c -- see in_list.h. */
#include "expr/in_list.h"
#include <stdint.h>
#include <stdlib.h>
#include "base/arena.h"
#include "expr/ast.h"
#include "expr/lookup.h"

/* The first bytes stand beside the pointer: most comparisons need no more, which makes sorting
 * 70,000 values, a request of 1 MB, three times as fast. */
struct entry {
    uint64_t prefix;
    const struct value *value;
};

struct in_list {
    struct arena *arena;
    const struct value *values;
    size_t count;
    unsigned walk_count;
    struct entry *sorted; /* NULL: it was not walked often enough. */
};

struct in_list *in_list_create(struct arena *arena, const struct value *values, size_t count)
{
    if (count <= IN_LIST_SHORT_MAX)
        return NULL;
    struct in_list *list = arena_alloc(arena, sizeof *list);
    *list = (struct in_list){ .arena = arena, .values = values, .count = count };
    return list;
}

struct in_list *in_list_of_operands(struct arena *arena, const struct operand *operands,
                                    size_t count)
{
    if (count <= IN_LIST_SHORT_MAX)
        return NULL;
    struct value *values = arena_alloc(arena, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        if (operands[i].type != OPERAND_VALUE)
            return NULL;
        values[i] = operands[i].value;
    }
    return in_list_create(arena, values, count);
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
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return value_compare(a->value, b->value);
}

static void sort(struct in_list *list, struct lookup *lookup)
{
    list->sorted = arena_alloc(list->arena, list->count * sizeof *list->sorted);
    for (size_t i = 0; i < list->count; i++)
        list->sorted[i] = entry_of(&list->values[i]);
    qsort(list->sorted, list->count, sizeof *list->sorted, compare);
    lookup->work += list->count * LOOKUP_WORK_SORTED;
}

bool in_list_has(struct in_list *list, const struct value *wanted, struct lookup *lookup)
{
    if (list->walk_count < IN_LIST_WALKS_MAX) {
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
