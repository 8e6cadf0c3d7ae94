/* collection_size.h -- how large each item collection is: the items of one partition key of a table
 * with a local index, together with their entries in its local indexes.
 *
 * One record per collection, beside the items, kept in the batch that changes them, so that a write
 * knows the size without reading the collection. Only tables with a local index have records.
 */
#ifndef STATOR_TABLE_COLLECTION_SIZE_H
#define STATOR_TABLE_COLLECTION_SIZE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct item_address;

/* The record of the collection that the item at `address` belongs to. Borrows the address's key. */
struct engine_address collection_size_address(const struct item_address *address);
/* False if the record is damaged. A size is never 0: an empty collection has no record. */
MUST_CHECK bool collection_size_decode(struct bytes record, int64_t *out);

/* Reads a collection's size within a write; 0 if it has no record. ENGINE_CORRUPT, logged, if that
 * is damaged. */
MUST_CHECK enum engine_status collection_size_get_for_write(struct engine_write *write,
                                                            const struct engine_address *address,
                                                            int64_t *out);
/* Stores a size; 0 removes the record. */
void collection_size_put(struct engine_write *write, const struct engine_address *address,
                         int64_t size);

#endif
