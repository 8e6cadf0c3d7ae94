/* memory_budget.h -- how much memory many holders may have together, counted over all threads.
 *
 * Code that allocates on behalf of a request counts it here. The owner of the budget decides which
 * requests are admitted. A NULL budget counts nothing.
 */
#ifndef STATOR_BASE_MEMORY_BUDGET_H
#define STATOR_BASE_MEMORY_BUDGET_H
#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct memory_budget {
    size_t size_max;    /* Does not change. */
    atomic_size_t used; /* Only a number: it orders nothing, so relaxed access is enough. */
};

static inline size_t memory_budget_used(const struct memory_budget *budget)
{
    return atomic_load_explicit(&budget->used, memory_order_relaxed);
}

/* Counts memory that cannot be refused any more, even beyond the bound. */
static inline void memory_budget_take(struct memory_budget *budget, size_t size)
{
    if (budget != NULL)
        atomic_fetch_add_explicit(&budget->used, size, memory_order_relaxed);
}

/* False, with nothing counted, if that would exceed the bound. */
MUST_CHECK static inline bool memory_budget_try_take(struct memory_budget *budget, size_t size)
{
    if (budget == NULL)
        return true;
    size_t before = atomic_fetch_add_explicit(&budget->used, size, memory_order_relaxed);
    if (before <= budget->size_max && size <= budget->size_max - before)
        return true;
    atomic_fetch_sub_explicit(&budget->used, size, memory_order_relaxed);
    return false;
}

static inline void memory_budget_give(struct memory_budget *budget, size_t size)
{
    if (budget == NULL)
        return;
    size_t before = atomic_fetch_sub_explicit(&budget->used, size, memory_order_relaxed);
    assert(before >= size);
    (void)before;
}

#endif
