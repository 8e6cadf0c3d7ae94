/* shard_iterator.h -- a position in a shard, as text that a client holds.
 *
 * The text contains all that reading needs. So it survives a restart, and the server keeps nothing
 * for a client that went away. A checksum over the stream's ARN and the position detects texts that
 * are not ours. It does not protect against forgery, which would gain nothing: whoever may read the
 * stream may read all of it.
 *
 * "<stream's ARN>|1|<44 bytes in hexadecimal>"
 */
#ifndef STATOR_STREAM_SHARD_ITERATOR_H
#define STATOR_STREAM_SHARD_ITERATOR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "log/log_read.h"

struct arena;
struct shard;
struct stream_definition;

enum { SHARD_ITERATOR_LIFETIME_MS = 15 * 60 * 1000 }; /* Of server time. */

struct shard_iterator {
    struct log_cursor at;
    int64_t created_ms; /* Server time. */
};

/* True if an iterator may no longer be used at a server time. An iterator from further in the
 * future than a crash can set server time back was made by another store, or by a version that used
 * wall time, and would never expire. */
static inline bool shard_iterator_is_expired(const struct shard_iterator *iterator,
                                             int64_t server_ms)
{
    return iterator->created_ms < server_ms - SHARD_ITERATOR_LIFETIME_MS ||
           iterator->created_ms > server_ms + SHARD_ITERATOR_LIFETIME_MS;
}

struct bytes shard_iterator_format(struct arena *arena, struct bytes arn,
                                   const struct shard_iterator *iterator);
/* False if the text is not one of ours. `arn` borrows it. */
MUST_CHECK bool shard_iterator_parse(struct bytes text, struct bytes *arn,
                                     struct shard_iterator *out);

/* The shard of that id. ENGINE_NOT_FOUND if the stream has no such shard, or no longer has it. */
MUST_CHECK enum engine_status shard_iterator_find_shard(struct arena *arena,
                                                        struct engine_view *view,
                                                        const struct stream_definition *stream,
                                                        struct bytes shard_id, struct shard *out);

#endif
