/* trigger_answer.h -- interprets how a call ended: which records of the batch were delivered. */
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
    TRIGGER_UNREACHED, /* The request did not reach the function. */
};

struct trigger_answer {
    enum trigger_outcome outcome;
    size_t failed;
    struct bytes problem; /* For people, in the arena; empty if it was delivered. */
    /* The function's own error message; may be empty. It may quote records, so it must not be
     * logged. */
    struct bytes words;
};

/* `partial`: the function may answer {"batchItemFailures":[{"itemIdentifier":"<number>"},...]},
 * where the lowest number is that of the first record to retry. Records of the batch belong to
 * `partition`. */
struct trigger_answer trigger_answer_read(struct arena *arena, enum outbound_result result,
                                          const struct outbound_answer *answer, bool partial,
                                          const struct trigger_batch *batch, uint64_t partition);

#endif
