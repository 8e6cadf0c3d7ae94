/* hazard.h -- hazard pointers: using a shared object without counting its users.
 *
 * A thread that uses an object writes the object's address into a hazard, a cell in its own cache
 * lines. Before an owner frees an object that others may still use, it looks at the hazards of all
 * threads. So a reader writes nothing that other cores write, and readers do not slow each other
 * down. The owner pays: it keeps withdrawn objects in a list until no hazard holds them.
 *
 * Epochs were rejected: there, one reader that waits for the disk delays the freeing of everything
 * that anybody withdraws meanwhile. A hazard keeps one object, so what waits to be freed is bounded
 * by HAZARDS_MAX however long readers take, and a reader may wait while it holds one.
 *
 * The protocol, for an object that readers find by an atomic pointer P:
 *
 *   reader                                  owner
 *   1. object = load P                      1. store P: something else
 *   2. hazard = object                      2. look at all hazards (hazard_collect)
 *   3. load P again; not the same: go to 1  3. the object is in none: free it
 *   4. use the object
 *   5. hazard_clear
 *
 * All loads and stores of 1 to 3 are sequentially consistent, so there is one order of them all. If
 * the owner's look comes before the reader's step 2, then so does the store to P, and step 3 sees
 * it: the reader does not use the object. Otherwise the look finds the hazard. hazard_clear is a
 * release and the look an acquire, so the reader's last use happens before the object is freed.
 *
 * A reader that holds an object safely may hold it in another way as well, such as a counter in the
 * object, and then clear its hazard; the owner then reads that counter after its look.
 *
 * Threads have a slot each, from the first use to their end. The slots are the one global of this
 * folder besides the log level: a thread's end must find them, whatever it worked for. A hazard
 * may be cleared by any thread.
 */
#ifndef STATOR_BASE_HAZARD_H
#define STATOR_BASE_HAZARD_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

enum {
    HAZARD_THREADS_MAX = 256, /* Threads that have hazards at a time. */
    HAZARDS_PER_THREAD = 16,
    HAZARDS_MAX = HAZARD_THREADS_MAX * HAZARDS_PER_THREAD,
    /* A list lies on the stack of the thread that frees something, often once for each write. With
     * room for HAZARDS_MAX it would take eight pages there. */
    HAZARD_LIST_MAX = 64,
};

struct hazard {
    _Atomic(const void *) object; /* NULL: free. */
};

/* Step 2, by a free one of the calling thread's first `count_max` hazards. NULL if there is none,
 * or if too many threads have a slot: the caller must then hold the object in another way. `object`
 * is not NULL. A caller that calls other code while it holds the hazard passes less
 * than HAZARDS_PER_THREAD, to leave some for that code. */
MUST_CHECK struct hazard *hazard_take(size_t count_max, const void *object);

/* Step 2 again, for another object. */
static inline void hazard_set(struct hazard *hazard, const void *object)
{
    atomic_store(&hazard->object, object);
}

/* Clearing NULL is allowed. */
static inline void hazard_clear(struct hazard *hazard)
{
    if (hazard != NULL)
        atomic_store_explicit(&hazard->object, NULL, memory_order_release);
}

/* One of the calling thread's hazards that holds `object`; NULL if none does. */
struct hazard *hazard_find(const void *object);

/* What is held at the moment. An object that was withdrawn before hazard_collect, and is not in the
 * list, is used by nobody. If more are held than the list has room for, hazard_list_has looks at
 * the hazards again: so a counter in the object is read after that call. */
struct hazard_list {
    size_t count; /* More than HAZARD_LIST_MAX: not all are in `objects`. */
    const void *objects[HAZARD_LIST_MAX];
};
void hazard_collect(struct hazard_list *list);
bool hazard_list_has(const struct hazard_list *list, const void *object);

#endif
