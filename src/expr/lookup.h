/* lookup.h -- finds attributes, members and elements of an item, however many there are.
 *
 * A stored container is walked from its beginning, which is the fastest way to the few members
 * that most have. But a request may ask thousands of times about one with a hundred thousand. So
 * whoever asks a large container for more than LOOKUP_WALKS_MAX things has it noted where each of
 * its members begins, and finds the others by halves: all questions together cost a few walks, and
 * a logarithm each.
 */
#ifndef STATOR_EXPR_LOOKUP_H
#define STATOR_EXPR_LOOKUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/value.h"

struct arena;
struct item;
struct condition;
struct lookup_container;
struct lookup_texts;
struct path;

enum {
    LOOKUP_SMALL_MAX = 32, /* Members of a container that is always walked. */
    LOOKUP_WALKS_MAX = 4,  /* Of a larger one, before its members' places are noted. */
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

/* Serves one item after the other; the room it needs is used again. */
struct lookup {
    struct arena *arena;
    const struct item *item; /* NULL: there is none, and nothing in it is found. */
    /* The large containers of this item that were asked: a hash table by their place in memory. */
    struct lookup_container *containers;
    size_t container_capacity; /* 0 or a power of two. */
    size_t container_count;
    uint32_t generation; /* Tells this item's containers from those of the items before. */
    /* Where the members of containers begin, one container behind the other. */
    uint32_t *places;
    size_t place_capacity;
    size_t place_count;
    /* Members of large containers that were passed or looked at, at most: tests of the bound. */
    size_t step_count;
    uint64_t work;                     /* Of all items so far. */
    const struct condition *condition; /* What the item is judged by, set by condition_matches. */
    struct lookup_texts *texts;        /* See condition_texts.c; NULL: none so far. */
};

/* `item` may be NULL, and must stay as it is while it is asked about. */
void lookup_init(struct lookup *lookup, struct arena *arena, const struct item *item);
/* The same for the next item. */
void lookup_next_item(struct lookup *lookup, const struct item *item);

/* The value at a document path of the item; false if there is none. */
bool lookup_path(struct lookup *lookup, const struct path *path, struct value *out);
/* Has the set, which may be any that stays as it is while the item does, this member? */
bool lookup_set_has(struct lookup *lookup, const struct value *set, const struct value *wanted);
/* The same of a list, which is sorted for that once it was walked often. */
bool lookup_list_has(struct lookup *lookup, const struct value *list, const struct value *wanted);

#endif
