/* fiber.h -- functions that take turns on one thread, for tests that decide about every turn. */
#ifndef STATOR_TEST_FIBER_H
#define STATOR_TEST_FIBER_H
#include <stdbool.h>

struct fiber; /* Created once, run many times. */

struct fiber *fiber_create(void);
void fiber_destroy(struct fiber *fiber); /* It must not be in the middle of a function. */

/* `function` runs with the first fiber_resume. */
void fiber_start(struct fiber *fiber, void (*function)(void *context), void *context);
/* Runs it until it yields or returns; not from within a fiber. */
void fiber_resume(struct fiber *fiber);
bool fiber_is_done(const struct fiber *fiber);
/* From within the fiber: back to fiber_resume. */
void fiber_yield(struct fiber *fiber);

#endif
