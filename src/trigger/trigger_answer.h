/* trigger_answer.h -- what a function made of a batch, read from how its call ended. */
#ifndef STATOR_TRIGGER_TRIGGER_ANSWER_H
#define STATOR_TRIGGER_TRIGGER_ANSWER_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "outbound/outbound.h"

struct arena;
struct trigger_batch;

enum trigger_outcome {
    TRIGGER_DELIVERED,
    TRIGGER_FAILED,    /* From the record `failed` on. */
    TRIGGER_UNREACHED, /* The batch did not get to the function. */
};

struct trigger_answer {
    enum trigger_outcome outcome;
    size_t failed;
    struct bytes problem; /* For people, in the arena; empty if it was delivered. */
    /* What the function itself says of it, which may be nothing. It may quote what it was called
     * with, so it belongs in no log. */
    struct bytes words;
};

/* `partial`: the function may answer {"batchItemFailures":[{"itemIdentifier":"<number>"},...]},
 * where the lowest number is that of the first record to try again. Records of the batch belong to
 * `partition`. */
struct trigger_answer trigger_answer_read(struct arena *arena, enum outbound_result result,
                                          const struct outbound_answer *answer, bool partial,
                                          const struct trigger_batch *batch, uint64_t partition);

#endif
