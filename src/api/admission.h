/* admission.h -- whether the limits of tables and indexes admit what a call is about to do.
 *
 * Only for tables whose limits are enforced (enum capacity_setting), or into whose requests faults
 * are injected (fault_injection.h); for all others these functions are one comparison. An operation
 * asks after its rules were checked and access was decided, and before it does any work: reads ask
 * the table or index that they read, writes ask the table, and within their decision every global
 * index in which the item has or gets an entry, whether that entry changes or not. Deletions by
 * time to live, and the filling of new indexes, do not ask.
 *
 * What was refused is remembered by the call. It becomes the exception of the call
 * (admission_fail), or of a part of it (admission_fail_for), and is counted by the meter and by
 * Contributor Insights. What a call has cost is charged at its end from call->uses, so several
 * parts of one call count what the parts before them have used.
 */
#ifndef STATOR_API_ADMISSION_H
#define STATOR_API_ADMISSION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api/api.h"
#include "api/capacity.h"
#include "base/compiler.h"

struct error;
struct index_definition;
struct item;
struct item_address;
struct table;
struct table_definition;
struct transaction_reason;
struct txn_item;

/* --- Which limits there are --- */

/* What holds for a table with this setting. */
static inline enum capacity_setting admission_setting(const struct api_options *options,
                                                      enum capacity_setting of_table)
{
    return of_table == CAPACITY_UNSET ? options->capacity : of_table;
}
/* Prepares a call for one of its tables, whose setting is not CAPACITY_ACCOUNT. */
void admission_bind(struct api_call *call, struct capacity_use *use, enum capacity_setting setting);
/* The same if the server has faults. */
void admission_bind_faults(struct api_call *call, struct capacity_use *use);
/* Control. Takes over the limits of a table that was just changed. */
void admission_configure(struct api *api, const struct table *table);

/* --- Questions. False: refused, and remembered. --- */

MUST_CHECK bool admission_ask_read(struct api_call *call, const struct capacity_use *use,
                                   const struct index_definition *index, struct bytes key);
MUST_CHECK bool admission_ask_get(struct api_call *call, const struct capacity_use *use,
                                  const struct item_address *place);
MUST_CHECK bool admission_ask_write(struct api_call *call, const struct capacity_use *use,
                                    const struct item_address *place);
MUST_CHECK bool admission_ask_indexes(struct api_call *call, const struct capacity_use *use,
                                      const struct table_definition *table,
                                      const struct item *before, const struct item *after);

/* A Query or Scan. `index` NULL: of the table. `key` begins as all stored keys of the partition key
 * do; data NULL: more than one is read. */
MUST_CHECK static inline bool admission_read(struct api_call *call, const struct capacity_use *use,
                                             const struct index_definition *index, struct bytes key)
{
    return !use->is_asked || admission_ask_read(call, use, index, key);
}
/* The read of an item. */
MUST_CHECK static inline bool admission_get(struct api_call *call, const struct capacity_use *use,
                                            const struct item_address *place)
{
    return !use->is_asked || admission_ask_get(call, use, place);
}
/* The write of an item, as far as the table is concerned. */
MUST_CHECK static inline bool admission_write(struct api_call *call, const struct capacity_use *use,
                                              const struct item_address *place)
{
    return !use->is_asked || admission_ask_write(call, use, place);
}
/* Of the global indexes in which the item before or after a write has an entry; either may be NULL:
 * there is none. */
MUST_CHECK static inline bool admission_indexes(struct api_call *call,
                                                const struct capacity_use *use,
                                                const struct table_definition *table,
                                                const struct item *before, const struct item *after)
{
    return !use->is_asked || table->index_count == 0 ||
           admission_ask_indexes(call, use, table, before, after);
}
/* Whether a fault makes the condition on an item fail, whatever it says. */
bool admission_ask_condition(struct api_call *call, const struct capacity_use *use,
                             const struct item_address *place);
static inline bool admission_fails_condition(struct api_call *call, const struct capacity_use *use,
                                             const struct item_address *place)
{
    return use->is_asked && admission_ask_condition(call, use, place);
}
/* The indexes of an item whose effect was decided. */
MUST_CHECK bool admission_decided(struct api_call *call, const struct capacity_use *use,
                                  const struct txn_item *item);

/* --- Refusals --- */

/* How many there were so far; 0 where nothing is enforced. */
size_t admission_refusal_count(const struct api_call *call);
/* Whether one of them is real, rather than a fault that was injected. */
bool admission_has_throttled(const struct api_call *call);
/* Forgets those behind the first `count`: a decision is repeated. */
void admission_forget(struct api_call *call, size_t count);

/* How the refusals from `first` to before `end`, at least one, are reported. */
struct admission_refusals {
    size_t first;
    size_t end;
};
/* Sets the exception and its ThrottlingReasons. `is_single`: of an operation on one item, whose
 * exception for the maximum of an index differs. Returns false. */
bool admission_fail_for(struct api_call *call, struct admission_refusals which, bool is_single,
                        struct error *err);
/* call->error, for all refusals of the call. Returns false. */
bool admission_fail(struct api_call *call);       /* Of an operation on one item. */
bool admission_fail_batch(struct api_call *call); /* Of one on several. */
/* True if a refusal ends the whole request, though it is a transaction of which other actions were
 * admitted. */
bool admission_is_of_request(const struct api_call *call);
/* The same as a reason why a transaction is cancelled. */
struct transaction_reason admission_reason(struct api_call *call, struct admission_refusals which);

/* Forgets the units of tables that count none, so that no metrics show them. For the end of every
 * call with such a table (call->has_uncounted). */
void admission_forget_units(struct api_call *call);
/* Charges what the call has cost and counts its refusals. For the end of every call that has an
 * admission. */
void admission_end(struct api_call *call);

#endif
