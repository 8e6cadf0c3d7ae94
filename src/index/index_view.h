/* index_view.h -- an item as the indexes of its table see it.
 *
 * One walk over the item finds the attributes that any index looks at. Everything about its entries
 * follows from these without another search, whatever the number of indexes and attributes: where
 * an entry is, what it holds, its size, and whether a change of the item changes it.
 *
 * A view borrows the table and the item, and lives in the arena.
 */
#ifndef STATOR_INDEX_INDEX_VIEW_H
#define STATOR_INDEX_INDEX_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "model/item.h"
#include "table/item_address.h"

struct arena;
struct index_definition;
struct index_names;
struct table_definition;

struct index_view {
    const struct table_definition *table;
    const struct index_names *names;
    const struct item *item;
    struct value *values; /* One for each name; `encoded.data` NULL: the item has none. */
    size_t *sizes;        /* Of name and value, as DynamoDB counts; 0: not computed yet. */
    size_t step_count;    /* Attributes of the item that were passed, for tests of the bound. */
};

/* The table has an index. */
struct index_view index_view_open(struct arena *arena, const struct table_definition *table,
                                  const struct item *item);

/* `index` is one of the table's own in all of these. */

/* Where the item's entry is. False if it has none: some key attribute of the index is missing, or
 * is no key (of another type, empty or too long), as in items that are older than the index. */
MUST_CHECK bool index_view_locate(struct arena *arena, const struct index_view *view,
                                  const struct index_definition *index, struct item_address *out);
/* The same answer without the address. */
bool index_view_has_entry(const struct index_view *view, const struct index_definition *index);
/* What the entry holds. */
struct item index_view_project(struct arena *arena, const struct index_view *view,
                               const struct index_definition *index);
/* The size of that, without making it. */
size_t index_view_size(const struct index_view *view, const struct index_definition *index);

/* Two views of one table, and which attributes are equal in both: each is compared once at most,
 * however many indexes project it. */
struct index_comparison {
    const struct index_view *before; /* NULL: there is no item. */
    const struct index_view *after;
    uint8_t *known; /* For each name, then for the whole item: see index_view.c. */
};
struct index_comparison index_comparison_of(struct arena *arena, const struct index_view *before,
                                            const struct index_view *after);
/* Whether both items' entries hold the same, or neither has one. Neither view is NULL. */
bool index_comparison_is_same(const struct index_comparison *comparison,
                              const struct index_definition *index);

/* Why a value cannot be a key. */
enum index_fault { INDEX_FAULT_NONE, INDEX_FAULT_TYPE, INDEX_FAULT_EMPTY, INDEX_FAULT_SIZE };
struct key_attribute;
enum index_fault index_view_fault(const struct key_attribute *attribute, const struct value *value,
                                  size_t size_max);

#endif
