/* log_layout.h -- the constants of doc/disk-format.md, "Change log". */
#ifndef STATOR_LOG_LOG_LAYOUT_H
#define STATOR_LOG_LOG_LAYOUT_H
#include <stdint.h>
#include "base/clock.h"

enum {
    /* First byte of a key in a partition of a log. */
    LOG_KEY_HEAD = 'H',   /* The whole key. */
    LOG_KEY_RECORD = 'R', /* Then the sequence number, big-endian. */
    LOG_KEY_SHARD = 'S',  /* Then its first sequence number, big-endian. */

    /* What is written. */
    LOG_RECORD_FORMAT = 3,
    LOG_HEAD_FORMAT = 3,
    LOG_SHARD_FORMAT = 2,
    LOG_SHARD_SPLIT_FORMAT = 3, /* Of a shard whose parent is in another partition. */
    /* Earlier formats, which are still read. In this one records and heads hold the time of their
       creation in milliseconds where format 3 has the commit time in microseconds. */
    LOG_MILLISECONDS_FORMAT = 2,
    /* The same, without a server time. */
    LOG_UNSTAMPED_FORMAT = 1,
    LOG_STAMP_SIZE = 8,
    LOG_HEAD_SIZE = 1 + 4 + 1 + 8 + 8 + 8 + LOG_STAMP_SIZE,
    LOG_SHARD_SIZE = 1 + 4 + 8 + 8 + 8 + 8 + 8 + LOG_STAMP_SIZE,
    LOG_SHARD_SPLIT_SIZE = LOG_SHARD_SIZE + 8,

    LOG_SEQUENCE_SIZE = 8,
    LOG_SEQUENCE_KEY_SIZE = 1 + LOG_SEQUENCE_SIZE,
    LOG_FIRST_SEQUENCE = 1,
};

/* The commit time of a record or head that was stored with milliseconds. */
#define LOG_CREATED_MS_MAX (CLOCK_WALL_SECOND_MAX * 1000)
static inline int64_t log_layout_commit_us(int64_t created_ms)
{
    return (created_ms < LOG_CREATED_MS_MAX ? created_ms : LOG_CREATED_MS_MAX) * 1000;
}

#endif
