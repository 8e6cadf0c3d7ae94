/* stream_read.h -- records of a shard, from an iterator on.
 *
 * A view shows the shard and its records as they were at one moment, so a shard that ends while it
 * is read ends for its readers exactly where its child begins.
 */
#ifndef STATOR_STREAM_STREAM_READ_H
#define STATOR_STREAM_STREAM_READ_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct change_record;
struct shard;
struct shard_iterator;
struct stream_definition;

/* The numbers of a shard's records, as a view shows them. */
struct shard_range {
    uint64_t first; /* The oldest one that was not trimmed. */
    uint64_t end;   /* Behind the newest one. */
    bool open;      /* There may be more later. */
};
MUST_CHECK enum engine_status stream_read_range(struct engine_view *view, uint64_t log_id,
                                                const struct shard *shard, struct shard_range *out);

/* The shard of that id. ENGINE_NOT_FOUND if the stream has none, or none any more. */
MUST_CHECK enum engine_status stream_read_find_shard(struct arena *arena, struct engine_view *view,
                                                     const struct stream_definition *stream,
                                                     struct bytes shard_id, struct shard *out);

struct stream_page {
    /* Set by the caller. */
    size_t count_max;
    /* The record is valid during the call. False: it is left for the next page. */
    bool (*visit)(void *context, uint64_t sequence, const struct change_record *record);
    void *context;

    /* Filled in. */
    bool trimmed;  /* The place that the iterator tells is gone; nothing was read. */
    uint64_t next; /* Where the next page begins. */
    bool ended;    /* There is no next page, and there will be none. */
};
/* ENGINE_CORRUPT, logged, also where a record is missing. */
MUST_CHECK enum engine_status stream_read_page(struct arena *arena, struct engine_view *view,
                                               const struct shard_iterator *from,
                                               struct stream_page *page);

#endif
