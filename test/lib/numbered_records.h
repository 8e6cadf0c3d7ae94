/* numbered_records.h -- writes that show, after a crash, whether what is there has no gap.
 *
 * Record n, and the head that says n, are one write.
 */
#ifndef STATOR_TEST_NUMBERED_RECORDS_H
#define STATOR_TEST_NUMBERED_RECORDS_H
#include <stdint.h>
#include "engine/engine.h"

enum { NUMBERED_RECORDS_VALUE_SIZE = 300 };

/* Waits for the write if `completion` is NULL. Aborts if the engine refuses it. */
void numbered_records_put(struct engine *engine, uint32_t number,
                          struct engine_completion *completion);
/* The records from `first` to `last`, one after the other. */
void numbered_records_put_all(struct engine *engine, uint32_t first, uint32_t last);

uint32_t numbered_records_head(struct engine *engine);
/* Fails the test unless records 1 to the head are there and none besides. Returns the head. */
uint32_t numbered_records_check(struct engine *engine);

#endif
