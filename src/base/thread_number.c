/* thread_number.c -- see thread_number.h.
 *
 * The table of numbers is a global, as that of hazard.c is: a thread's end must find it, whatever
 * the thread worked for.
 */
#include "base/thread_number.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static atomic_bool taken[THREAD_NUMBERS_MAX];
_Thread_local unsigned thread_number_own;

static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

/* `key_value` is the number plus 1, because a key whose value is NULL has no end. */
static void give_back(void *key_value)
{
    thread_number_own = 0;
    atomic_store(&taken[(uintptr_t)key_value - 1], false);
}

static void create_key(void)
{
    int result = pthread_key_create(&thread_end, give_back);
    assert(result == 0);
    (void)result;
}

unsigned thread_number_take(void)
{
    pthread_once(&thread_end_once, create_key);
    for (unsigned i = 0; i < THREAD_NUMBERS_MAX; i++) {
        bool before = atomic_load_explicit(&taken[i], memory_order_relaxed);
        if (before || !atomic_compare_exchange_strong(&taken[i], &before, true))
            continue;
        if (pthread_setspecific(thread_end, (void *)(uintptr_t)(i + 1)) != 0) {
            atomic_store(&taken[i], false); /* Nobody would give it back. */
            break;
        }
        thread_number_own = i + 1;
        return i;
    }
    return THREAD_NUMBERS_MAX;
}
