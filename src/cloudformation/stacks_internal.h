/* stacks_internal.h -- what stacks.c and stack_assets.c share. */
#ifndef STATOR_CLOUDFORMATION_STACKS_INTERNAL_H
#define STATOR_CLOUDFORMATION_STACKS_INTERNAL_H
#include <pthread.h>
#include <stdbool.h>
#include "base/object_list.h"
#include "cloudformation/stacks.h"

struct stacks_asset_note {
    uint8_t *name; /* Owned. */
    size_t name_size;
    size_t size;
    int64_t modified_ms;
};

/* What files there are; their bytes are in the engine only. */
struct stacks_assets {
    pthread_mutex_t mutex;           /* Guards the rest; held while a change is written. */
    struct stacks_asset_note *notes; /* Sorted by name. */
    size_t count;
    size_t capacity;
    size_t total_size;
};

struct stacks {
    struct engine *engine;
    pthread_mutex_t mutex; /* Guards the rest but `assets`. */
    bool gave_way;         /* The thread that holds it did before. */
    struct object_list lists[STACK_KIND_COUNT];
    size_t memory_size; /* What the arenas of the lists hold. */
    struct stacks_assets assets;
};

/* stacks.c */
MUST_CHECK enum engine_status stacks_read_blob(struct stacks *stacks, struct arena *arena,
                                               struct bytes key, struct stack_blob *out);
/* stack_assets.c */
MUST_CHECK bool stacks_note_stored_asset(struct stacks *stacks, struct arena *arena,
                                         const struct engine_entry *stored);
void stacks_free_assets(struct stacks *stacks);

#endif
