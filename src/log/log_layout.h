/* log_layout.h -- the constants of doc/disk-format.md that the change log is stored under. */
#ifndef STATOR_LOG_LOG_LAYOUT_H
#define STATOR_LOG_LOG_LAYOUT_H

enum {
    /* First byte of a key in a partition of a log. */
    LOG_KEY_HEAD = 'H',   /* Nothing behind it. */
    LOG_KEY_RECORD = 'R', /* Then the sequence number, big-endian. */
    LOG_KEY_SHARD = 'S',  /* Then its first sequence number, big-endian. */

    /* What is written. Format 1, which is read as well, has no server time. */
    LOG_RECORD_FORMAT = 2,
    LOG_HEAD_FORMAT = 2,
    LOG_SHARD_FORMAT = 2,
    LOG_UNSTAMPED_FORMAT = 1,
    LOG_STAMP_SIZE = 8,
    LOG_HEAD_SIZE = 1 + 4 + 1 + 8 + 8 + 8 + LOG_STAMP_SIZE,
    LOG_SHARD_SIZE = 1 + 4 + 8 + 8 + 8 + 8 + 8 + LOG_STAMP_SIZE,

    LOG_SEQUENCE_SIZE = 8,
    LOG_SEQUENCE_KEY_SIZE = 1 + LOG_SEQUENCE_SIZE,
    LOG_FIRST_SEQUENCE = 1,
};

#endif
