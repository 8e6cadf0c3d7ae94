/* kinesis_batch.h -- the records of the next PutRecords, and where a partition resumes after it.
 *
 * A batch is a run of records of one partition. Kinesis may take some records of a call and refuse
 * others. The refused ones are sent again, and with them the later records of the same partition
 * key, even those that were taken: so the last copy of each record of a key stands behind the last
 * copies of the earlier ones. The other records are not sent again. Until every record of the batch
 * was taken, a set of bits remembers the settled ones, and the batch's end is fixed.
 */
#ifndef STATOR_KINESIS_KINESIS_BATCH_H
#define STATOR_KINESIS_KINESIS_BATCH_H
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/compiler.h"
#include "consumer/consumer.h"
#include "engine/engine.h"
#include "kinesis/kinesis_client.h"

struct sha256;

enum { KINESIS_BATCH_WORDS = 8 };
static_assert(KINESIS_BATCH_WORDS * 64 >= (int)KINESIS_RECORDS_MAX, "a bit for each record");

/* Where a destination stands in a partition. */
struct kinesis_progress {
    struct consumer_progress at;
    uint64_t end; /* Of the batch that is being retried; 0: none is. */
    /* Bit i: the record `base` + i is done with. */
    uint64_t base;
    uint64_t done[KINESIS_BATCH_WORDS];
    int64_t failures; /* Calls in a row that brought nothing forward. */
};

struct kinesis_batch_record {
    uint64_t sequence;
    int64_t server_ms; /* By which it ages; 0: it was stored without one. */
    size_t at;         /* Of its text. */
    size_t size;
    bool too_large; /* It is not sent: no call would take it. */
    bool is_done;
};

struct kinesis_batch {
    struct buffer texts;
    struct kinesis_batch_record records[KINESIS_RECORDS_MAX];
    size_t count;
    /* Those that are sent, in the order of `records`. */
    struct kinesis_entry entries[KINESIS_RECORDS_MAX];
    size_t entry_count;
    uint64_t first; /* The position, or the first record behind it that was not trimmed. */
    uint64_t next;  /* The position behind it. */
    uint64_t lost;  /* Up to so many records were trimmed before the destination came to them. */
    bool ended;     /* There is no record from `next` on, and there never will be. */
};

/* Gathers the batch at the position of the turn. Everything lives in the arena of the turn. */
MUST_CHECK enum engine_status kinesis_batch_gather(const struct consumer_turn *turn,
                                                   const struct kinesis_progress *progress,
                                                   const struct kinesis_record_form *form,
                                                   struct sha256 *hasher, size_t record_size_max,
                                                   struct kinesis_batch *out);
/* Marks the records that are settled, by the fates of the entries. Returns how many are. */
size_t kinesis_batch_settle(struct kinesis_batch *batch, const enum kinesis_fate fates[]);
/* The first record that is not settled; batch->next if all are. */
uint64_t kinesis_batch_position(const struct kinesis_batch *batch);

/* Remembers the settled records, for the retry of the others from `next` on. */
void kinesis_progress_retry(struct kinesis_progress *progress, const struct kinesis_batch *batch,
                            uint64_t next);
/* Everything before `next` is done. */
void kinesis_progress_move(struct kinesis_progress *progress, uint64_t next);

#endif
