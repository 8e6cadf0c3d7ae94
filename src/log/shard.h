/* shard.h -- a shard: a range of the sequence numbers of one partition's log.
 *
 * Shards follow one another without gaps, each the parent of the next. Which shard a record belongs
 * to follows from its number alone, so writers know nothing of shards. Their records are changed by
 * the control thread only.
 */
#ifndef STATOR_LOG_SHARD_H
#define STATOR_LOG_SHARD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;

struct shard {
    uint64_t partition;
    uint64_t first; /* Stands for the shard's opening; its records follow. */
    uint64_t last;  /* 0: the shard is open. */
    uint64_t kept;  /* The first record that was not trimmed; last + 1: all were. */
    int64_t created_ms;
    int64_t parent_created_ms; /* 0: none. */
    int64_t closed_ms;         /* 0: the shard is open. */
    int64_t closed_server_ms;  /* Server time; 0: open, or stored without one. */
};

static inline bool shard_is_open(const struct shard *shard)
{
    return shard->last == 0;
}

/* The key lives in the arena. */
struct engine_address shard_address(struct arena *arena, uint64_t log_id, uint64_t partition,
                                    uint64_t first);
void shard_put(struct arena *arena, struct engine_write *write, uint64_t log_id,
               const struct shard *shard);
/* The shard in an entry of a log's partition. False if the entry is not a shard, or is damaged. */
MUST_CHECK bool shard_open_entry(uint64_t partition, const struct engine_entry *entry,
                                 struct shard *out);

/* ENGINE_NOT_FOUND if there is no such shard, or it was trimmed. ENGINE_CORRUPT, logged, if it is
 * damaged. */
MUST_CHECK enum engine_status shard_get(struct arena *arena, struct engine_view *view,
                                        uint64_t log_id, uint64_t partition, uint64_t first,
                                        struct shard *out);
/* The shards of a partition, oldest first; the array lives in the arena. */
MUST_CHECK enum engine_status shard_list(struct arena *arena, struct engine_view *view,
                                         uint64_t log_id, uint64_t partition, struct shard **out,
                                         size_t *count);

#endif
