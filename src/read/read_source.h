/* read_source.h -- the source of a read: a table, or one of its indexes, and its key attributes.
 *
 * An index is read like a table: its entries are items that hold the projected attributes. Two
 * things differ, and are decided here: the key from which a page resumes, and attributes that the
 * entries do not have. A local index can fetch those from its table, a global one cannot.
 */
#ifndef STATOR_READ_READ_SOURCE_H
#define STATOR_READ_READ_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "index/index_entry.h"

struct arena;
struct condition;
struct error;
struct item;
struct item_address;
struct path_node;
struct table_definition;

struct read_source {
    const struct table_definition *table;
    const struct index_definition *index; /* NULL: the table itself. */
    /* The attributes of LastEvaluatedKey: the source's own key, then, for an index, the rest of the
     * table's key. */
    struct bytes key_names[INDEX_ENTRY_KEYS_MAX];
    size_t key_count;
    size_t own_key_count;
    bool fetches;         /* Items are read from the table, by the entries of a local index. */
    bool filters_fetched; /* The filter needs the items of the table, too. */
};

/* Which part of a table to read. */
struct read_source_name {
    struct bytes index_name; /* data NULL: the table itself. */
    bool consistent;
    bool is_statement; /* PartiQL's error messages about indexes differ. */
};
/* False with the error set if the table has no such index, or it cannot be read that way. */
MUST_CHECK bool read_source_find(struct arena *arena, const struct table_definition *table,
                                 const struct read_source_name *name, struct read_source *out,
                                 struct error *err);

/* Where the item or entry with this key, the last one of an earlier page, is stored. False with the
 * error set if it is no key of the source. */
MUST_CHECK bool read_source_locate(struct arena *arena, const struct read_source *source,
                                   const struct item *key, struct item_address *out,
                                   struct error *err);

/* Refuses a filter on attributes that the index does not have. Observed: a Query does not fetch
 * them from the table. `filter` may be NULL. */
MUST_CHECK bool read_source_check_filter(struct arena *arena, const struct read_source *source,
                                         const struct condition *filter, struct error *err);

/* The filter may name anything, as a Scan's may: a local index fetches the attributes that it does
 * not have, a global index behaves as if no item had them. `filter` may be NULL. */
void read_source_fetch_for_filter(struct arena *arena, struct read_source *source,
                                  const struct condition *filter);

/* Refuses to show attributes that the index does not have and cannot fetch; notes whether it has to
 * fetch. `all_attributes`: whole items of the table are wanted. `projection` may be NULL. */
MUST_CHECK bool read_source_check_attributes(struct arena *arena, struct read_source *source,
                                             bool all_attributes,
                                             const struct path_node *projection, struct error *err);

#endif
