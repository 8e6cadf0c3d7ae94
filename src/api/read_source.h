/* read_source.h -- what a Query or Scan reads: a table, or one of its indexes, and its keys.
 *
 * An index is read like a table: its entries are items that hold the projected attributes. Two
 * things differ, and are decided here: the key by which a page is gone on with, and attributes that
 * the entries do not have. A local index can fetch those from its table, a global one cannot.
 */
#ifndef STATOR_API_READ_SOURCE_H
#define STATOR_API_READ_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "index/index_entry.h"

struct api_call;
struct condition;
struct item_address;
struct read_expressions;
struct read_request;
struct table;

struct read_source {
    const struct table *table;
    const struct index_definition *index; /* NULL: the table itself. */
    /* The attributes of LastEvaluatedKey: the source's own key, then what an index has of the
     * table's. */
    struct bytes key_names[INDEX_ENTRY_KEYS_MAX];
    size_t key_count;
    size_t own_key_count;
    bool fetches;         /* Items are read from the table, by the entries of a local index. */
    bool filters_fetched; /* So are those that the filter judges. */
};

/* The index of `table` that the request names, or the table itself. `table` is NULL if there is
 * none of that name: call->error is set then too. */
MUST_CHECK bool read_source_find(struct api_call *call, const struct read_request *request,
                                 struct table *table, struct read_source *out);

/* Where ExclusiveStartKey says that the page before has ended. False with the service's words if it
 * is no key of the source. */
MUST_CHECK bool read_source_locate_start(struct api_call *call, const struct read_source *source,
                                         const struct read_request *request,
                                         struct item_address *out);

/* A Query's filter names only what its index has. Observed: nothing is fetched for it. */
MUST_CHECK bool read_source_check_filter(struct api_call *call, const struct read_source *source,
                                         const struct condition *filter);

/* A Scan's filter may name anything. A local index fetches what it does not have; to a global one
 * it is not there. */
void read_source_fetch_for_filter(struct api_call *call, struct read_source *source,
                                  const struct condition *filter);

/* Refuses to select attributes that an index does not have and cannot fetch; notes whether it must
 * fetch. */
MUST_CHECK bool read_source_check_attributes(struct api_call *call, struct read_source *source,
                                             const struct read_request *request,
                                             const struct read_expressions *expressions);

#endif
