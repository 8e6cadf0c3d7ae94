/* table_record.h -- what the writer and the reader of a table's record must agree on. */
#ifndef STATOR_MODEL_TABLE_RECORD_H
#define STATOR_MODEL_TABLE_RECORD_H
#include <stdint.h>

struct table_definition;

enum {
    /* Raised by a change that an old reader must not overlook; new attributes alone do not. */
    TABLE_RECORD_VERSION = 1,
    /* Of a record with an index that is not ACTIVE, which the first readers knew nothing of. */
    TABLE_RECORD_VERSION_INDEX_CHANGE = 2,
    /* Of a record with time to live, whose queue a reader that knew nothing of it would neglect. */
    TABLE_RECORD_VERSION_EXPIRY = 3,
    TABLE_RECORD_VERSION_HASH = 4, /* Its items are ordered by another hash. */
    /* Of a record with a history, past which an older program would write. */
    TABLE_RECORD_VERSION_RECOVERY = 5,
    /* A job fills it: a reader that knew nothing of that would let clients use half a table. */
    TABLE_RECORD_VERSION_ORIGIN = 6,
    /* It has a model, which an older program would not enforce. */
    TABLE_RECORD_VERSION_MODEL = 7,
    /* It is replicated: an older program would write without stamps, and lose writes. */
    TABLE_RECORD_VERSION_REPLICAS = 8,
    /* Partitions were split off: an older program would log their changes elsewhere. */
    TABLE_RECORD_VERSION_SPLITS = 9,
    TABLE_RECORD_THROUGHPUT_FIELDS = 5,
    TABLE_RECORD_UNIT_PAIR_FIELDS = 2,
    TABLE_RECORD_PARTITION_FIELDS = 3,
    TABLE_RECORD_ATTRIBUTE_FIELDS = 2,
};

/* The version that the record of a definition has. */
int64_t table_record_version(const struct table_definition *definition);

#endif
