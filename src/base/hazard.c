/* hazard.c -- see hazard.h. */
#include "base/hazard.h"
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

/* Two cache lines, which processors fetch as a pair. */
struct slot {
    _Alignas(128) struct hazard hazards[HAZARDS_PER_THREAD];
};
static_assert(sizeof(struct slot) == 128, "no two threads' hazards share a line");

static struct slot slots[HAZARD_THREADS_MAX];
static atomic_bool slots_taken[HAZARD_THREADS_MAX];
static atomic_size_t slots_used; /* All behind these were never taken. */
/* How many hazards of a slot were ever set, from the first on. Most threads need three or four, and
 * a look at all hazards skips the rest. It grows before the hazard is set, so a look that
 * misses a hazard by it comes before step 2. */
static atomic_uchar slots_reach[HAZARD_THREADS_MAX];
static _Thread_local struct slot *own_slot;

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

/* What the slot still holds stays held: another thread may have been given it. */
static void leave_slot(void *slot)
{
    own_slot = NULL;
    atomic_store(&slots_taken[(struct slot *)slot - slots], false);
}

static void create_key(void)
{
    int result = pthread_key_create(&thread_end, leave_slot);
    assert(result == 0);
    (void)result;
}

/* Not inlined: it would make every hazard_take longer. */
__attribute__((noinline)) static struct slot *enter_slot(void)
{
    pthread_once(&thread_end_once, create_key);
    for (size_t i = 0; i < HAZARD_THREADS_MAX; i++) {
        /* Look first: a thread that finds no slot comes here with every read, and an exchange would
         * take the line away from all others that do. */
        bool taken = atomic_load_explicit(&slots_taken[i], memory_order_relaxed);
        if (taken || !atomic_compare_exchange_strong(&slots_taken[i], &taken, true))
            continue;
        size_t used = atomic_load(&slots_used);
        while (used <= i && !atomic_compare_exchange_weak(&slots_used, &used, i + 1))
            continue;
        if (pthread_setspecific(thread_end, &slots[i]) != 0) {
            atomic_store(&slots_taken[i], false); /* Nobody would give it back. */
            return NULL;
        }
        own_slot = &slots[i];
        return own_slot;
    }
    return NULL;
}

/* Of the calling thread's own slot, which nobody else changes. */
static size_t reach_of(const struct slot *slot)
{
    return atomic_load_explicit(&slots_reach[slot - slots], memory_order_relaxed);
}

struct hazard *hazard_take(size_t count_max, const void *object)
{
    assert(object != NULL && count_max <= HAZARDS_PER_THREAD);
    struct slot *slot = own_slot;
    if (UNLIKELY(slot == NULL) && (slot = enter_slot()) == NULL)
        return NULL;
    for (size_t i = 0; i < count_max; i++) {
        struct hazard *hazard = &slot->hazards[i];
        /* An acquire: if another thread cleared it, its uses come before whatever follows here. */
        if (atomic_load_explicit(&hazard->object, memory_order_acquire) != NULL)
            continue;
        if (UNLIKELY(i >= reach_of(slot)))
            atomic_store(&slots_reach[slot - slots], (unsigned char)(i + 1));
        hazard_set(hazard, object);
        return hazard;
    }
    return NULL;
}

struct hazard *hazard_find(const void *object)
{
    struct slot *slot = own_slot;
    size_t reach = slot == NULL ? 0 : reach_of(slot);
    for (size_t i = 0; i < reach; i++)
        if (atomic_load_explicit(&slot->hazards[i].object, memory_order_relaxed) == object)
            return &slot->hazards[i];
    return NULL;
}

void hazard_collect(struct hazard_list *list)
{
    size_t used = atomic_load(&slots_used);
    list->count = 0;
    for (size_t i = 0; i < used; i++) {
        size_t reach = atomic_load(&slots_reach[i]);
        for (size_t k = 0; k < reach; k++) {
            const void *object = atomic_load(&slots[i].hazards[k].object);
            if (object == NULL)
                continue;
            if (list->count < HAZARD_LIST_MAX)
                list->objects[list->count] = object;
            list->count++;
        }
    }
}

static bool is_in_any_slot(const void *object)
{
    size_t used = atomic_load(&slots_used);
    for (size_t i = 0; i < used; i++) {
        size_t reach = atomic_load(&slots_reach[i]);
        for (size_t k = 0; k < reach; k++)
            if (atomic_load(&slots[i].hazards[k].object) == object)
                return true;
    }
    return false;
}

bool hazard_list_has(const struct hazard_list *list, const void *object)
{
    assert(object != NULL);
    if (list->count > HAZARD_LIST_MAX)
        return is_in_any_slot(object);
    for (size_t i = 0; i < list->count; i++)
        if (list->objects[i] == object)
            return true;
    return false;
}
