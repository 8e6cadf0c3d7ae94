/* table_runtime.c -- see table_runtime.h. */
#include "table/table_runtime.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "capacity/limiter.h"

/* Takes one reference. The caller has another one, so the object cannot vanish meanwhile. */
static void acquire(atomic_uint *references)
{
    unsigned before = atomic_fetch_add(references, 1);
    assert(before > 0);
    (void)before;
}

/* True if that was the last reference. */
static bool release(atomic_uint *references)
{
    unsigned before = atomic_fetch_sub(references, 1);
    assert(before > 0);
    return before == 1;
}

struct table_runtime *table_runtime_create(uint64_t table_id)
{
    struct table_runtime *runtime =
        memory_checked(aligned_alloc(_Alignof(struct table_runtime), sizeof *runtime));
    memset(runtime, 0, sizeof *runtime);
    runtime->table_id = table_id;
    atomic_init(&runtime->references, 1);
    return runtime;
}

struct table_runtime *table_runtime_acquire(struct table_runtime *runtime)
{
    acquire(&runtime->references);
    return runtime;
}

void table_runtime_release(struct table_runtime *runtime)
{
    assert(runtime != NULL);
    if (!release(&runtime->references))
        return;
    limiter_destroy(atomic_load(&runtime->limiter));
    struct table_runtime_part *insight = atomic_load(&runtime->insight);
    if (insight != NULL)
        insight->destroy(insight);
    struct table_runtime_part *model = atomic_load(&runtime->model);
    if (model != NULL)
        model->destroy(model);
    free(runtime);
}

struct partition_runtime *partition_runtime_create(uint64_t partition_id)
{
    struct partition_runtime *runtime = memory_checked(calloc(1, sizeof *runtime));
    runtime->partition_id = partition_id;
    atomic_init(&runtime->references, 1);
    return runtime;
}

struct partition_runtime *partition_runtime_acquire(struct partition_runtime *runtime)
{
    acquire(&runtime->references);
    return runtime;
}

void partition_runtime_release(struct partition_runtime *runtime)
{
    if (release(&runtime->references))
        free(runtime);
}
