/* table_record.h -- what the writer and the reader of a table's record must agree on. */
#ifndef STATOR_MODEL_TABLE_RECORD_H
#define STATOR_MODEL_TABLE_RECORD_H

enum {
    /* Raised by a change that an old reader must not overlook; new attributes alone do not. */
    TABLE_RECORD_VERSION = 1,
    TABLE_RECORD_THROUGHPUT_FIELDS = 5,
    TABLE_RECORD_UNIT_PAIR_FIELDS = 2,
    TABLE_RECORD_PARTITION_FIELDS = 3,
    TABLE_RECORD_ATTRIBUTE_FIELDS = 2,
};

#endif
