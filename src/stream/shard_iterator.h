/* shard_iterator.h -- a place in a shard, as text that a client holds.
 *
 * The text has all that reading needs, so it survives a restart, and nothing is kept for a client
 * that went away. A checksum over the stream's ARN and the place tells ours from others'; it is no
 * protection against forgery, which would gain nothing: whoever may read the stream may read all.
 *
 * "<stream's ARN>|1|<44 bytes in hexadecimal>"
 */
#ifndef STATOR_STREAM_SHARD_ITERATOR_H
#define STATOR_STREAM_SHARD_ITERATOR_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum { SHARD_ITERATOR_LIFETIME_MS = 15 * 60 * 1000 }; /* Of server time. */

struct shard_iterator {
    uint64_t log_id;
    uint64_t partition;
    uint64_t shard_first; /* The shard's first sequence number. */
    uint64_t next;        /* The record to read next. */
    int64_t created_ms;   /* Server time. */
};

/* Whether an iterator may no longer be used at a server time. Ones from further in the future than
 * a crash can set server time back were made by another store, or by a version that used wall
 * time; they would never expire. */
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

#endif
