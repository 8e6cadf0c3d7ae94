/* item_address.h -- where an item lives: from its key attributes to an engine address.
 *
 * The hash of the partition key comes first, so a table's items lie in hash order: partitions are
 * ranges of it, and so are the segments of a parallel scan.
 */
#ifndef STATOR_TABLE_ITEM_ADDRESS_H
#define STATOR_TABLE_ITEM_ADDRESS_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"
#include "model/rendered_item.h"

struct arena;
struct error;
struct index_definition;
struct table_definition;

struct item_address {
    struct engine_address address; /* The key lives in the arena. */
    uint64_t hash;                 /* Of the partition key. */
    /* How much of the address's key is the hash and the partition key: what all items of an item
     * collection begin with. */
    size_t prefix_size;
};

/* Is it the same item? Tables' ids are unique, and an item's key decides its partition. */
static inline bool item_address_equal(const struct item_address *a, const struct item_address *b)
{
    return a->hash == b->hash && a->address.place.owner == b->address.place.owner &&
           bytes_equal(a->address.key, b->address.key);
}

/* Where the items whose partition key has this hash are. */
struct engine_place item_address_of_hash(const struct table_definition *table, uint64_t hash);
/* Where an index keeps the entries whose partition key has this hash: a global one in partitions of
 * its own, a local one beside the table's items. */
struct engine_place item_address_of_index_hash(const struct table_definition *table,
                                               const struct index_definition *index, uint64_t hash);

/* The address of an item that is to be put. False with the service's words if its key attributes do
 * not fit the schema. */
MUST_CHECK bool item_address_of_item(struct arena *arena, const struct table_definition *table,
                                     const struct item *item, struct item_address *out,
                                     struct error *err);
/* The address that a request's Key names: the key attributes and no others. */
MUST_CHECK bool item_address_of_key(struct arena *arena, const struct table_definition *table,
                                    const struct item *key, struct item_address *out,
                                    struct error *err);

/* The address of an item by the key that it is, or was, stored under in `place`. False if that is
 * no key of the table's. */
MUST_CHECK bool item_address_of_stored_key(struct arena *arena,
                                           const struct table_definition *table,
                                           const struct engine_place *place, struct bytes key,
                                           struct item_address *out);

/* Reads the item at an address. ENGINE_NOT_FOUND if there is none; ENGINE_CORRUPT, logged, if its
 * bytes are damaged. The item borrows `value`, which the caller releases. */
MUST_CHECK enum engine_status item_address_get(struct engine_view *view,
                                               const struct table_definition *table,
                                               const struct item_address *address,
                                               struct engine_value *value, struct item *out);
/* The same for an item that is only shown as a whole: it may come in its rendered form. */
MUST_CHECK enum engine_status item_address_get_shown(struct engine_view *view,
                                                     const struct table_definition *table,
                                                     const struct item_address *address,
                                                     struct engine_value *value,
                                                     struct shown_item *out);
/* The same within a write, where it reads the newest state. */
MUST_CHECK enum engine_status item_address_get_for_write(struct engine_write *write,
                                                         const struct table_definition *table,
                                                         const struct item_address *address,
                                                         struct engine_value *value,
                                                         struct item *out);

/* Opens an item that a scan found. ENGINE_CORRUPT, logged, if its bytes are damaged. The item
 * borrows the entry. */
MUST_CHECK enum engine_status item_address_open_entry(const struct table_definition *table,
                                                      const struct engine_place *place,
                                                      const struct engine_entry *entry,
                                                      struct item *out);

#endif
