/* log_read.h -- reads the records of a log, from a cursor on.
 *
 * A view shows a shard and its records as they were at one moment. So a shard that ends while it is
 * being read ends for its reader exactly where its child begins.
 */
#ifndef STATOR_LOG_LOG_READ_H
#define STATOR_LOG_LOG_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct change_record;
struct shard;

/* The record to read next. */
struct log_cursor {
    uint64_t log_id;
    uint64_t partition;
    uint64_t shard_first; /* Identifies the shard: its first sequence number. */
    uint64_t next;        /* The record's sequence number. */
};

/* The numbers of a shard's records, as a view shows them. */
struct shard_range {
    uint64_t first; /* The oldest one that was not trimmed. */
    uint64_t end;   /* Behind the newest one. */
    bool open;      /* There may be more later. */
};
MUST_CHECK enum engine_status log_read_range(struct engine_view *view, uint64_t log_id,
                                             const struct shard *shard, struct shard_range *out);

/* Sets the cursor's shard to the one that holds its record or will hold it. Where that record was
 * trimmed, or its number stands for a shard's opening, the cursor moves on to the next record;
 * `*lost` counts the records that were trimmed from there on, unless the cursor was at 0, which
 * stands for the oldest record. ENGINE_NOT_FOUND if no shard is left. */
MUST_CHECK enum engine_status log_read_seek(struct arena *arena, struct engine_view *view,
                                            struct log_cursor *cursor, uint64_t *lost);

struct log_page {
    /* Set by the caller. */
    size_t count_max;
    /* The record is valid during the call. False: it is left for the next page. */
    bool (*visit)(void *context, uint64_t sequence, const struct change_record *record);
    void *context;

    /* Filled in. */
    bool trimmed;  /* The cursor's record is gone; nothing was read. */
    uint64_t next; /* Where the next page begins. */
    bool ended;    /* The shard is closed, and all of it was read. */
};
/* Reads from the cursor to the end of its shard or page. ENGINE_CORRUPT, logged, if a record is
 * damaged or missing. */
MUST_CHECK enum engine_status log_read_page(struct arena *arena, struct engine_view *view,
                                            const struct log_cursor *from, struct log_page *page);

#endif
