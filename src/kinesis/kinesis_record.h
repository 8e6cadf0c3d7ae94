/* kinesis_record.h -- a change record as a Kinesis stream gets it: one JSON text, and the partition
 * key that decides which shard it goes to.
 *
 * Unlike a stream's record it has all images that exist and no sequence number, and its time has
 * milliseconds or microseconds.
 */
#ifndef STATOR_KINESIS_KINESIS_RECORD_H
#define STATOR_KINESIS_KINESIS_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct change_record;
struct json_writer;
struct key_schema;
struct sha256;

enum { KINESIS_PARTITION_KEY_SIZE = 32 };

/* What all records of a page have in common. */
struct kinesis_record_form {
    struct arena *arena;
    struct bytes table_name;
    const struct key_schema *key;
    const char *region;
    uint64_t log_id;
    uint64_t partition;
    bool has_microseconds;
};

void kinesis_record_write(const struct kinesis_record_form *form, struct json_writer *json,
                          uint64_t sequence, const struct change_record *record);
/* 32 capital hexadecimal digits, equal for equal partition keys of items. */
void kinesis_record_partition_key(const struct kinesis_record_form *form, struct sha256 *hasher,
                                  const struct change_record *record,
                                  char out[KINESIS_PARTITION_KEY_SIZE]);

#endif
