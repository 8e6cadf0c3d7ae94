/* limits.h -- DynamoDB's limits, one name each. Sources: the service's documentation and model. */
#ifndef STATOR_MODEL_LIMITS_H
#define STATOR_MODEL_LIMITS_H
#include <stdint.h>

/* Of the items of one partition key with their entries in local indexes. */
#define ITEM_COLLECTION_SIZE_MAX (INT64_C(10) * 1024 * 1024 * 1024)

enum {
    ITEM_SIZE_MAX = 400 * 1024, /* Also of an item and its entry in any one local index. */
    ATTRIBUTE_NAME_SIZE_MAX = 65535,
    /* How much of a client's text a message repeats at most, about. A bound of ours. */
    REPEATED_TEXT_MAX = 64 * 1024,
    KEY_ATTRIBUTE_NAME_SIZE_MAX = 255,
    NESTING_DEPTH_MAX = 32,
    NUMBER_DIGITS_MAX = 38,
    NUMBER_EXPONENT_MAX = 125, /* Of the first digit. */
    NUMBER_EXPONENT_MIN = -130,

    PARTITION_KEY_SIZE_MAX = 2048,
    SORT_KEY_SIZE_MAX = 1024,

    TABLE_NAME_SIZE_MIN = 3,
    TABLE_NAME_SIZE_MAX = 255,
    TABLE_ARN_SIZE_MAX = 1024,
    RESOURCE_ARN_SIZE_MAX = 1283,
    TABLES_MAX = 2500,
    GLOBAL_INDEXES_MAX = 20,
    LOCAL_INDEXES_MAX = 5,
    INDEX_HASH_KEYS_MAX = 4,
    INDEX_RANGE_KEYS_MAX = 4,
    LIST_TABLES_PAGE_MAX = 100,
    READ_PAGE_SIZE_MAX = 1024 * 1024, /* Of the items that Query or Scan read, before the filter. */
    SCAN_SEGMENTS_MAX = 1000000,
    TAGS_MAX = 50,
    TAG_SET_SIZE_MAX = 10240, /* Keys and values of all tags of a resource, in bytes. */
    TAG_KEY_SIZE_MAX = 128,
    TAG_VALUE_SIZE_MAX = 256,
    RESOURCE_POLICY_SIZE_MAX = 20 * 1024,
    /* Five years: a time to live that ended longer ago is left alone. */
    EXPIRY_AGE_SECONDS_MAX = 5 * 365 * 24 * 60 * 60,
    RECOVERY_DAYS_MIN = 1,
    RECOVERY_DAYS_MAX = 35,

    LIST_STREAMS_PAGE_MAX = 100,
    DESCRIBE_STREAM_PAGE_MAX = 100, /* Shards. */
    GET_RECORDS_COUNT_MAX = 1000,
    GET_RECORDS_SIZE_MAX = 1024 * 1024, /* Of the records of one answer, as SizeBytes counts. */
    STREAM_ARN_SIZE_MIN = 37,
    STREAM_ARN_SIZE_MAX = 1024,
    SHARD_ID_SIZE_MIN = 28,
    SHARD_ID_SIZE_MAX = 65,
    SEQUENCE_NUMBER_SIZE_MIN = 21,
    SEQUENCE_NUMBER_SIZE_MAX = 40,
    SHARD_ITERATOR_SIZE_MAX = 2048,

    BATCH_GET_KEYS_MAX = 100,
    BATCH_GET_SIZE_MAX = 16 * 1024 * 1024, /* Of the items of one answer, before projection. */
    BATCH_WRITE_REQUESTS_MAX = 25,
    TRANSACTION_ACTIONS_MAX = 100,
    TRANSACTION_SIZE_MAX = 4 * 1024 * 1024, /* Of what is sent to be written, or of what is read. */
    TRANSACTION_TOKEN_SIZE_MAX = 36,

    STATEMENT_SIZE_MAX = 8192, /* Of a PartiQL statement, in characters. */
    STATEMENT_NEXT_TOKEN_SIZE_MAX = 32768,
    BATCH_STATEMENTS_MAX = 25,

    REQUEST_BODY_SIZE_MAX = 16 * 1024 * 1024,
    READ_UNIT_SIZE = 4 * 1024,
    WRITE_UNIT_SIZE = 1024,
};

#endif
