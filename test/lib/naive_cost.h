/* naive_cost.h -- what reads and writes of some simple items cost, computed from their sizes alone.
 *
 * The items have the key k and r, the key g of a global index with keys only, the key l of a local
 * index with whole items, and v. Written from the service's rules, not from api/capacity.c.
 */
#ifndef STATOR_TEST_NAIVE_COST_H
#define STATOR_TEST_NAIVE_COST_H
#include <stdbool.h>
#include <stdint.h>

struct shadow {
    bool exists;
    int pad;    /* Length of `v`. */
    int group;  /* Of `g`, the key of the global index; -1: none. */
    bool local; /* Has `l`, the key of the local index. */
};

int naive_size_of(const struct shadow *item); /* 0: it does not exist. */
int64_t naive_read_half_units(int size, bool strong);
int64_t naive_write_half_units(int a, int b);
/* Of the global and of the local index, when an item changes. */
int64_t naive_index_half_units(const struct shadow *before, const struct shadow *after);
int64_t naive_local_half_units(const struct shadow *before, const struct shadow *after);

#endif
