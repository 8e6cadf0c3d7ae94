/* trigger_batch.h -- the records that a function is called with next, and the event they make.
 *
 * A batch has records of one shard, as Lambda's have. It holds the records that pass the filters;
 * the others are skipped and count as done.
 */
#ifndef STATOR_TRIGGER_TRIGGER_BATCH_H
#define STATOR_TRIGGER_TRIGGER_BATCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct consumer_turn;
struct event_filter;
struct stream_definition;

enum {
    /* Of an event: Lambda's own limit. One record alone may be larger. */
    TRIGGER_EVENT_SIZE_MAX = 6 * 1024 * 1024,
    /* Bounds on the records examined for one batch, those that the filters drop included. */
    TRIGGER_SCAN_COUNT_MAX = 10000,
    TRIGGER_SCAN_SIZE_MAX = 2 * TRIGGER_EVENT_SIZE_MAX,
};

/* What the batches of a trigger have in common. */
struct trigger_source {
    const struct stream_definition *stream;
    struct bytes arn; /* The stream's. */
    const char *region;
    const struct event_filter *const *filters; /* A record passes if it matches one of them. */
    size_t filter_count;                       /* 0: all records pass. */
    size_t batch_size;
};

struct trigger_batch_record {
    uint64_t sequence;
    int64_t server_ms; /* By which it ages; 0: it was stored without one. */
    size_t at;         /* Of its text in the event. */
    size_t size;
};

struct trigger_batch {
    struct buffer event; /* {"Records":[...]} */
    struct trigger_batch_record *records;
    size_t count;
    uint64_t first; /* The position, or the first record behind it that was not trimmed. */
    uint64_t next;  /* The position behind it. */
    uint64_t lost;  /* Up to so many records were trimmed before the trigger came to them. */
    bool full;      /* Waiting would not add a record. */
    bool ended;     /* There is no record from `next` on, and there never will be. */
};

/* Gathers the batch at the position of the turn, up to position `end` (0: as far as there is
 * anything). Everything lives in the arena of the turn. */
MUST_CHECK enum engine_status trigger_batch_gather(const struct consumer_turn *turn,
                                                   const struct trigger_source *source,
                                                   uint64_t end, struct trigger_batch *out);

static inline struct bytes trigger_batch_text(const struct trigger_batch *batch, size_t index)
{
    return bytes_of(batch->event.data + batch->records[index].at, batch->records[index].size);
}

#endif
