/* index_entry.h -- the entry that an item has in an index, and which items can have one.
 *
 * An entry is stored as an item (model/item.h) that holds the projected attributes. Its key is that
 * of the index, then that of the table, so entries of equal index keys stand beside one another and
 * each item has at most one. Layout: doc/disk-format.md, "Index entries".
 *
 * Everything made lives in the arena or borrows the item.
 */
#ifndef STATOR_INDEX_INDEX_ENTRY_H
#define STATOR_INDEX_INDEX_ENTRY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/limits.h"
#include "table/item_address.h"

struct arena;
struct error;
struct index_definition;
struct key_attribute;
struct table_definition;

/* Where the entry of one item in one index is, and what it holds. Whoever needs more than one of
 * these makes one view of the item (index_view.h). False: the item has no entry. */
MUST_CHECK bool index_entry_locate(struct arena *arena, const struct table_definition *table,
                                   const struct index_definition *index, const struct item *item,
                                   struct item_address *out);
struct item index_entry_project(struct arena *arena, const struct table_definition *table,
                                const struct index_definition *index, const struct item *item);

/* Whether an item of at most ITEM_SIZE_MAX stays within that size together with its entry in each
 * one of the table's local indexes. */
bool index_entry_local_fits(struct arena *arena, const struct table_definition *table,
                            const struct item *item);

/* Is this attribute in the entries of the index? */
bool index_entry_projects(const struct table_definition *table,
                          const struct index_definition *index, struct bytes name);
/* The attributes that locate an entry: those of the index's key, then those of the table's that are
 * not among them. Returns how many. */
enum { INDEX_ENTRY_KEYS_MAX = INDEX_HASH_KEYS_MAX + INDEX_RANGE_KEYS_MAX + 2 };
size_t index_entry_key_names(const struct table_definition *table,
                             const struct index_definition *index,
                             struct bytes names[INDEX_ENTRY_KEYS_MAX]);

/* Refuses an empty value for a key attribute of the index. */
MUST_CHECK bool index_entry_check_not_empty(const struct index_definition *index,
                                            const struct key_attribute *attribute,
                                            const struct value *value, struct error *err);
/* Refuses, in the service's words, an item whose attributes cannot be keys of an index that they
 * are keys of. */
MUST_CHECK bool index_entry_check_put(const struct table_definition *table, const struct item *item,
                                      struct error *err);
/* The same for what an update made of an item: only values that it changed count. `before` is NULL
 * if there was no item. */
MUST_CHECK bool index_entry_check_update(const struct table_definition *table,
                                         const struct item *before, const struct item *after,
                                         struct error *err);

#endif
