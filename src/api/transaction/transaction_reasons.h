/* transaction_reasons.h -- why a transaction was cancelled: one reason for each of its actions. */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_REASONS_H
#define STATOR_API_TRANSACTION_TRANSACTION_REASONS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"

struct error;
struct item;

struct transaction_reason {
    const char *code; /* NULL: nothing is wrong with this action, "None". */
    struct bytes message;
    const struct item *item; /* As it is; NULL: not shown. */
};

/* The condition does not hold. */
struct transaction_reason transaction_reason_condition(void);
/* Another transaction has the item. */
struct transaction_reason transaction_reason_conflict(void);

/* The action makes an item collection too large. */
struct transaction_reason transaction_reason_collection(void);
/* The reason of an action that a rule refuses, in the words of `fault`. */
struct transaction_reason transaction_reason_validation(const struct error *fault);
/* Measured: a key of a table or index that is empty is refused with the whole request, while other
 * faults of keys cancel it. */
bool transaction_reason_is_of_request(const struct error *fault);

/* Sets a TransactionCanceledException. Returns false. */
bool transaction_reasons_cancel(struct error *err, const struct transaction_reason *reasons,
                                size_t count);

#endif
