/* naive_cost.c -- see naive_cost.h. */
#include "naive_cost.h"

/* Names and values: k kN, r PNN, g gN, l L, v. */
int naive_size_of(const struct shadow *item)
{
    if (!item->exists)
        return 0;
    return 3 + 4 + 1 + item->pad + (item->group >= 0 ? 3 : 0) + (item->local ? 2 : 0);
}

static int64_t units(int size, int unit)
{
    return size <= unit ? 1 : (size + unit - 1) / unit;
}

int64_t naive_read_half_units(int size, bool strong)
{
    return units(size, 4096) * (strong ? 2 : 1);
}

int64_t naive_write_half_units(int a, int b)
{
    return 2 * units(a > b ? a : b, 1024);
}

/* The index has keys only: k, r, g. */
int64_t naive_index_half_units(const struct shadow *before, const struct shadow *after)
{
    int old = before->exists ? before->group : -1, new = after->exists ? after->group : -1;
    return old == new ? 0 : (old >= 0 ? 2 : 0) + (new >= 0 ? 2 : 0);
}

/* The local index has whole items, all under one key of its own. */
int64_t naive_local_half_units(const struct shadow *before, const struct shadow *after)
{
    bool had = before->exists && before->local, has = after->exists && after->local;
    if (had && has && before->pad == after->pad && before->group == after->group)
        return 0;
    if (had || has)
        return naive_write_half_units(had ? naive_size_of(before) : 0,
                                      has ? naive_size_of(after) : 0);
    return 0;
}
