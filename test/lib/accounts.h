/* accounts.h -- accounts in three partitions, between which tests of engines move units: whatever
 * fails or crashes, the sum stays. */
#ifndef STATOR_TEST_ACCOUNTS_H
#define STATOR_TEST_ACCOUNTS_H
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

enum { ACCOUNTS_MAX = 8 };

/* Stores `count` accounts, each with `units`. */
void accounts_create(struct engine *engine, size_t count, uint8_t units);
/* Moves a unit, if there is one, in a write that the caller commits. Anything but ENGINE_OK: there
 * is no write. */
MUST_CHECK enum engine_status accounts_move(struct engine *engine, uint64_t from, uint64_t to,
                                            struct engine_write **write);
/* The sum of all accounts, read by a write without changes. */
MUST_CHECK enum engine_status accounts_sum(struct engine *engine, size_t count, unsigned *total);

#endif
