/* fault_injection.h -- the faults of a call: which of them hit it, and what they do to it.
 *
 * Only where a server has faults (api_options.faults); admission.h asks on behalf of operations,
 * where it asks about limits. So a fault shows as a limit does: in a batch it hits items one by
 * one, in a transaction actions, and what it refuses has no effect.
 *
 * Each item, action or statement draws once for each of its faults, however often an operation asks
 * about it. Faults that are about a whole request (a lost answer, a delay, whatever ends a
 * transaction as a whole) are drawn once for the call.
 */
#ifndef STATOR_API_FAULT_INJECTION_H
#define STATOR_API_FAULT_INJECTION_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "capacity/limiter.h"

struct api_call;
struct capacity_use;
struct fault_rule;
struct index_definition;

/* Finds the faults of a call for one of its tables. False if it has none. */
bool fault_injection_bind(struct api_call *call, const struct capacity_use *use);

/* What is about to be done to an item, an entry of a global index, or a range of them. */
struct fault_attempt {
    const struct capacity_use *use;
    const struct index_definition *index; /* NULL: the table. */
    enum limiter_direction direction;
    struct bytes key; /* Of the item; data NULL: there is not one. */
};
/* The fault that refuses it, valid until the call ends; NULL: none. Also notes in the call what
 * becomes of its answer. */
const struct fault_rule *fault_injection_ask(struct api_call *call,
                                             const struct fault_attempt *attempt);
/* True if the condition on an item is to fail. */
bool fault_injection_fails_condition(struct api_call *call, const struct capacity_use *use,
                                     struct bytes key);
/* At the call's end: says in call->is_injected whether a fault has made it fail. */
void fault_injection_end(struct api_call *call);

#endif
