/* lookup.h -- finds attributes, members and elements of an item, however many there are.
 *
 * A stored container is walked from its beginning, which is the fastest way to the few members
 * that most have. But a request may search one with a hundred thousand members thousands of times.
 * So after LOOKUP_WALKS_MAX searches of a large container the offsets of its members are noted, and
 * later searches are binary: all of them together cost a few walks, and a logarithm each.
 */
#ifndef STATOR_EXPR_LOOKUP_H
#define STATOR_EXPR_LOOKUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/value.h"

struct arena;
struct condition;
struct lookup_values;
struct item;
struct lookup_container;
struct lookup_texts;
struct operand;
struct path;
struct value;

enum {
    LOOKUP_SMALL_MAX = 32, /* Members of a container that is always walked. */
    LOOKUP_WALKS_MAX = 4,  /* Of a larger one, before its members' offsets are noted. */
};

/* What evaluating costs, in units of about a nanosecond: counted rather than measured, so that a
 * page that ends for its work ends at the same item every time. */
enum {
    LOOKUP_WORK_CONDITION = 30,      /* One operator or function. */
    LOOKUP_WORK_MEMBER = 4,          /* One member, element or value that is passed. */
    LOOKUP_WORK_SORTED = 300,        /* To sort one of many, or to find one among sorted ones. */
    LOOKUP_WORK_COMPARED_BYTES = 16, /* Bytes that are compared in one unit. */
    LOOKUP_WORK_SEARCHED_BYTE = 12,  /* One byte, where many texts are looked for at once. */
};

/* Serves one item after the other and reuses its memory. */
struct lookup {
    struct arena *arena;
    const struct item *item; /* NULL: there is none, and nothing in it is found. */
    /* The large containers of this item that were searched: a hash table by their address. */
    struct lookup_container *containers;
    size_t container_capacity; /* 0 or a power of two. */
    size_t container_count;
    uint32_t generation; /* Distinguishes this item's containers from those of earlier items. */
    /* Where the members of containers begin, one container behind the other. */
    uint32_t *places;
    size_t place_capacity;
    size_t place_count;
    /* An upper bound of the members of large containers that were visited; for tests. */
    size_t step_count;
    uint64_t work; /* Of all items so far. */
    const struct condition
        *condition; /* The one that the item is tested with, set by condition_matches. */
    struct lookup_texts *texts; /* See condition_texts.c; NULL: none so far. */
};

/* `item` may be NULL, and must not change while it is in use. */
void lookup_init(struct lookup *lookup, struct arena *arena, const struct item *item);
/* The same for the next item. */
void lookup_next_item(struct lookup *lookup, const struct item *item);

/* The value at a document path of the item; false if there is none. */
bool lookup_path(struct lookup *lookup, const struct path *path, struct value *out);
/* Does the set have this member? It need not be part of the item, but must live as long. */
bool lookup_set_has(struct lookup *lookup, const struct value *set, const struct value *wanted);
/* The same for a list, which is sorted after several walks. */
bool lookup_list_has(struct lookup *lookup, const struct value *list, const struct value *wanted);

/* --- The values of an IN ---
 *
 * A Scan compares each of its items with the list. The first few comparisons walk it, which is the
 * cheapest for a condition that tests one item; then the list is sorted once, and searched from
 * there on. Equal values have equal bytes (model/value.h), so any order of bytes will do.
 */

enum {
    LOOKUP_VALUES_SHORT_MAX = 32, /* Values of a list that is always walked. */
    LOOKUP_VALUES_WALKS_MAX = 8,  /* Of a longer one, before it is sorted. */
};

/* NULL if the list is short: the caller then compares operand by operand. Borrows the values; uses
 * the arena, which must live as long, when it sorts. For one thread at a time. */
struct lookup_values *lookup_values_create(struct arena *arena, const struct value *values,
                                           size_t count);
/* The same for operands. Also NULL if some of them are no values. */
struct lookup_values *lookup_values_of_operands(struct arena *arena, const struct operand *operands,
                                                size_t count);

/* Counts its work in `lookup`. */
bool lookup_values_have(struct lookup_values *list, const struct value *wanted,
                        struct lookup *lookup);

#endif
