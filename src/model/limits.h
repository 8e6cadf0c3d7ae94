/* limits.h -- DynamoDB's limits, one name each. Sources: the service's documentation and model. */
#ifndef STATOR_MODEL_LIMITS_H
#define STATOR_MODEL_LIMITS_H
#include <stdint.h>

/* Of the items of one partition key with their entries in local indexes. */
#define ITEM_COLLECTION_SIZE_MAX (INT64_C(10) * 1024 * 1024 * 1024)

enum {
    ITEM_SIZE_MAX = 400 * 1024, /* Also of an item and its entry in any one local index. */
    ATTRIBUTE_NAME_SIZE_MAX = 65535,
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
    TABLES_MAX = 2500,
    GLOBAL_INDEXES_MAX = 20,
    LOCAL_INDEXES_MAX = 5,
    INDEX_HASH_KEYS_MAX = 4,
    INDEX_RANGE_KEYS_MAX = 4,
    LIST_TABLES_PAGE_MAX = 100,
    READ_PAGE_SIZE_MAX = 1024 * 1024, /* Of the items that Query or Scan read, before the filter. */
    SCAN_SEGMENTS_MAX = 1000000,
    TAGS_MAX = 50,
    TAG_KEY_SIZE_MAX = 128,
    TAG_VALUE_SIZE_MAX = 256,

    BATCH_GET_KEYS_MAX = 100,
    BATCH_GET_SIZE_MAX = 16 * 1024 * 1024, /* Of the items of one answer, before projection. */
    BATCH_WRITE_REQUESTS_MAX = 25,
    TRANSACTION_ACTIONS_MAX = 100,
    TRANSACTION_SIZE_MAX = 4 * 1024 * 1024, /* Of what is sent to be written, or of what is read. */
    TRANSACTION_TOKEN_SIZE_MAX = 36,

    REQUEST_BODY_SIZE_MAX = 16 * 1024 * 1024,
    READ_UNIT_SIZE = 4 * 1024,
    WRITE_UNIT_SIZE = 1024,
};

#endif
