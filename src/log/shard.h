/* shard.h -- a shard: a range of the sequence numbers of one partition's log.
 *
 * Shards follow one another without gaps, each the parent of the next. The first shard of a
 * partition that was split off another one is a child of a shard there, and begins with the number
 * behind its parent's last one. Which shard a record belongs to follows from its number alone, so
 * writers know nothing of shards. Their records are changed by the control thread only.
 */
#ifndef STATOR_LOG_SHARD_H
#define STATOR_LOG_SHARD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct change_log_head;

struct shard {
    uint64_t partition;
    uint64_t first; /* Stands for the shard's opening; its records follow. */
    uint64_t last;  /* 0: the shard is open. */
    uint64_t kept;  /* The first record that was not trimmed; last + 1: all were. */
    int64_t created_ms;
    int64_t parent_created_ms; /* 0: none. */
    uint64_t parent_partition; /* Where the parent is; 0: none. */
    int64_t closed_ms;         /* 0: the shard is open. */
    int64_t closed_server_ms;  /* Server time; 0: open, or stored without one. */
};

static inline bool shard_is_open(const struct shard *shard)
{
    return shard->last == 0;
}
static inline bool shard_is_split_off(const struct shard *shard)
{
    return shard->parent_created_ms != 0 && shard->parent_partition != shard->partition;
}

/* The key lives in the arena. */
struct engine_address shard_address(struct arena *arena, uint64_t log_id, uint64_t partition,
                                    uint64_t first);
void shard_put(struct arena *arena, struct engine_write *write, uint64_t log_id,
               const struct shard *shard);

/* Both change the head of a partition, which the caller puts into the same write. */
/* Begins a shard at the head's next number. `parent` NULL: it has none. */
void shard_begin(struct arena *arena, struct engine_write *write, uint64_t log_id,
                 uint64_t partition, struct change_log_head *head, const struct shard *parent,
                 int64_t now_ms);
/* Ends the newest shard, which is returned in `out`, before the head's next number. */
MUST_CHECK enum engine_status shard_end(struct arena *arena, struct engine_view *view,
                                        struct engine_write *write, uint64_t log_id,
                                        uint64_t partition, const struct change_log_head *head,
                                        int64_t now_ms, int64_t server_ms, struct shard *out);

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
