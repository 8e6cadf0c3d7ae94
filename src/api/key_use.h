/* key_use.h -- of which items a call's units were, for the tables that count keys (Contributor
 * Insights).
 *
 * Noted where the units are known (capacity.c), because a write may be decided more than once, and
 * counted when the call ends. Where no rule asks for it, this costs a comparison.
 *
 * What the service counts: each item of a batch or transaction by itself; a Query once, by its
 * partition key; entries of a global index by the rules of the index. It does not count Scan and
 * PartiQL.
 */
#ifndef STATOR_API_KEY_USE_H
#define STATOR_API_KEY_USE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"

struct api_call;
struct capacity_use;
struct index_change;
struct index_definition;
struct item_address;
struct table;

/* Units of the table for an item. The kind of `use` is set. */
void key_use_note_item(struct capacity_use *use, const struct item_address *place,
                       int64_t half_units);
/* A write with one change for each index of the definition. Entries of local indexes lie beside the
 * item, so their units are the item's. */
void key_use_note_write(struct capacity_use *use, const struct item_address *place,
                        int64_t half_units, const struct index_change *changes);
/* A Query of the table or, if it is not NULL, an index. `stored_key` begins as all keys of the
 * partition key do. */
void key_use_note_query(struct capacity_use *use, const struct index_definition *index,
                        struct bytes stored_key, int64_t half_units);

/* Counts what was noted. The call is about to end and holds its tables. `now_ns` is the time by
 * clock_monotonic_ns. */
void key_use_count(const struct api_call *call, const struct capacity_use *use, int64_t now_ns);

/* Counts a request for an item, or for its entry in an index that is not NULL, that was refused
 * because too many came. `is_whole`: the key is that of an item or entry; otherwise it begins as
 * all keys of a partition key do. Any thread; never waits. */
void key_use_count_throttled(const struct api_call *call, const struct table *table,
                             const struct index_definition *index, struct bytes stored_key,
                             bool is_whole);

#endif
