/* in_list.h -- the values of an IN with very many of them.
 *
 * A Scan compares each of its items with the list. The first few comparisons walk it, which is the
 * cheapest for a condition that judges one item; then the list is sorted once, and searched from
 * there on. Equal values have equal bytes (model/value.h), so any order of bytes will do.
 */
#ifndef STATOR_EXPR_IN_LIST_H
#define STATOR_EXPR_IN_LIST_H
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct in_list;
struct lookup;
struct operand;
struct value;

enum {
    IN_LIST_SHORT_MAX = 32, /* Values of a list that is always walked. */
    IN_LIST_WALKS_MAX = 8,  /* Of a longer one, before it is sorted. */
};

/* NULL if the list is short: whoever asks walks its operands. Borrows the values; uses the arena,
 * which must live as long, when it sorts. For one thread at a time. */
struct in_list *in_list_create(struct arena *arena, const struct value *values, size_t count);
/* The same for operands. NULL, too, if some of them are no values. */
struct in_list *in_list_of_operands(struct arena *arena, const struct operand *operands,
                                    size_t count);

/* Counts its work in `lookup`. */
bool in_list_has(struct in_list *list, const struct value *wanted, struct lookup *lookup);

#endif
