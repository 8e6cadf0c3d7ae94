/* stream_names.h -- what clients call streams, shards and records: ARNs, ids, sequence numbers. */
#ifndef STATOR_STREAM_STREAM_NAMES_H
#define STATOR_STREAM_STREAM_NAMES_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* The value of a lower-case hexadecimal digit; -1 for any other symbol. */
int stream_names_digit(uint8_t symbol);

/* A stream's label: the time of its creation, "2015-05-11T21:21:33.291". */
struct bytes stream_names_label(struct arena *arena, int64_t created_ms);
/* The time in a label; 0 if the text is not a label. */
int64_t stream_names_label_ms(struct bytes label);

/* The parts of "<table's ARN>/stream/<label>". Borrows `arn`. False if it has no such form. */
MUST_CHECK bool stream_names_parse_arn(struct bytes arn, struct bytes *table_name,
                                       struct bytes *label);

/* "shardId-<when it was created, 20 digits>-<partition, 8 or more hexadecimal digits>": unique
 * within a stream. */
struct bytes stream_names_shard_id(struct arena *arena, int64_t created_ms, uint64_t partition);
MUST_CHECK bool stream_names_parse_shard_id(struct bytes id, int64_t *created_ms,
                                            uint64_t *partition);

/* "1<sequence number, 20 digits><partition, 8 or more digits>": ascending within a
 * shard, unique within a stream, and like the service's without a leading zero. */
struct bytes stream_names_sequence(struct arena *arena, uint64_t sequence, uint64_t partition);
MUST_CHECK bool stream_names_parse_sequence(struct bytes text, uint64_t *sequence,
                                            uint64_t *partition);

#endif
