/* thread_number.h -- a small number for each thread, so that it finds state of its own in an array.
 *
 * No two threads that live at the same time have the same number. When a thread ends, the next new
 * one gets its number; what the first one wrote happens before the other learns the number, so
 * state that belongs to a number may simply be used on.
 */
#ifndef STATOR_BASE_THREAD_NUMBER_H
#define STATOR_BASE_THREAD_NUMBER_H
#include "base/compiler.h"

enum { THREAD_NUMBERS_MAX = 256 };

/* For thread_number alone. */
extern _Thread_local unsigned thread_number_own; /* Plus 1; 0: none yet. */
unsigned thread_number_take(void);

/* Below THREAD_NUMBERS_MAX; or that value itself, for all threads that are too many: they share
 * it. The first call of a thread looks for a free number; later ones read it. */
static inline unsigned thread_number(void)
{
    unsigned number = thread_number_own;
    return LIKELY(number != 0) ? number - 1 : thread_number_take();
}

#endif
