/* key_hash.h -- the hash of a partition key: what a table's items, partitions and segments are
 * ordered by.
 *
 * Observed: DynamoDB orders partition keys by MD5 of "Outliers" and the key, and the entries of an
 * index with equal keys by MD5 of "Outliers" and the table's partition key and sort key. Strings
 * and binary values count as they are, numbers in the service's storage form, below. A Scan shows
 * that order, so tests that were written against the service depend on it. Tables of stores from
 * before have another hash, and keep it.
 */
#ifndef STATOR_TABLE_KEY_HASH_H
#define STATOR_TABLE_KEY_HASH_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct key_attribute;
struct table_definition;

/* Of a partition key of the table or of one of its indexes: `key` is the key bytes of its
 * attributes in a row (model/key.h), and nothing else. */
uint64_t key_hash_of_partition(const struct table_definition *table,
                               const struct key_attribute *attributes, size_t count,
                               struct bytes key);
/* By which entries of an index with equal keys are ordered: of the table's whole key. For tables
 * with the service's hash only. */
uint64_t key_hash_of_item(const struct table_definition *table, struct bytes partition_key,
                          struct bytes sort_key);

#endif
