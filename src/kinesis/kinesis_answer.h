/* kinesis_answer.h -- what the answers of a Kinesis server say. They are bytes of another server,
 * so nothing in them is trusted. */
#ifndef STATOR_KINESIS_KINESIS_ANSWER_H
#define STATOR_KINESIS_KINESIS_ANSWER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* What became of a record of PutRecords. */
enum kinesis_fate { KINESIS_TAKEN, KINESIS_THROTTLED, KINESIS_FAILED };

/* PutRecords: the fates of the `count` records that were sent, in their order. False if the answer
 * does not say what became of each. */
MUST_CHECK bool kinesis_answer_fates(struct arena *arena, struct bytes body, size_t count,
                                     enum kinesis_fate fates[]);

/* DescribeStreamSummary. */
struct kinesis_stream {
    bool is_active;         /* ACTIVE, or UPDATING: it takes records. */
    size_t record_size_max; /* Data and partition key of a record. */
};
MUST_CHECK bool kinesis_answer_stream(struct arena *arena, struct bytes body,
                                      struct kinesis_stream *out);

/* The name of the exception in an answer that is not one of success, without its namespace; empty
 * if there is none. */
struct bytes kinesis_answer_exception(struct arena *arena, struct bytes body);

#endif
