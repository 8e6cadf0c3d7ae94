/* model_watch.h -- checks items against their table's model, and counts what breaks it.
 *
 * A table without a model costs a write one branch. What an item breaks is noted in its call and
 * counted when the call ends, so that a decision that is repeated counts once. Counters live with
 * the table's runtime, as long as the server runs: totals by rule, which are exact, and by entity,
 * attribute and caller, for a bounded number of combinations.
 */
#ifndef STATOR_API_MODEL_MODEL_WATCH_H
#define STATOR_API_MODEL_MODEL_WATCH_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/table_definition.h"
#include "schema/entity_rules.h"
#include "txn/txn.h"

struct api_call;
struct error;
struct json_writer;
struct table_runtime;

enum {
    MODEL_WATCH_ENTRIES_MAX = 256, /* Of a table. */
    MODEL_WATCH_TEXT_MAX = 255,    /* Of a caller, an entity or an attribute; the rest is cut. */
};

/* Returns whether the item may be stored. */
MUST_CHECK bool model_watch_check_slowly(struct api_call *call, const struct txn_item *item,
                                         struct error *err);
/* False with `err` set to a ValidationException if the decision puts an item that breaks the model
 * of a table that enforces it. For a decision that has set the effect. */
MUST_CHECK static inline bool model_watch_check(struct api_call *call, const struct txn_item *item,
                                                struct error *err)
{
    return LIKELY(item->table->entity_rules == NULL) || item->effect != TXN_PUT ||
           model_watch_check_slowly(call, item, err);
}
/* The same for every item of a txn. */
MUST_CHECK bool model_watch_check_all(struct api_call *call, const struct txn *txn,
                                      struct error *err);
/* Sets the error of a violation. Returns false. */
bool model_watch_refuse(struct error *err, const struct entity_violation *violation);

/* At the end of a call that noted something. */
void model_watch_count_call(struct api_call *call);
/* For writes that belong to no call. Any thread; never waits. */
void model_watch_count(struct table_runtime *runtime, const struct entity_violation *violation,
                       struct bytes caller, int64_t now_ms);
/* Forgets everything: the model has changed. May wait for a moment. */
void model_watch_reset(struct table_runtime *runtime, int64_t now_ms);
/* The member "Violations". May wait for a moment. */
void model_watch_write(struct json_writer *writer, struct table_runtime *runtime);

#endif
