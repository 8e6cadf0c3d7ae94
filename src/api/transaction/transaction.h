/* transaction.h -- a transaction's writes, from whichever operation has them, done all or not at
 * all.
 *
 * TransactWriteItems and ExecuteTransaction turn their requests into actions; everything behind
 * that is here: the tables and addresses, one txn for all items, the reasons of a cancellation, the
 * token that makes a repeated request harmless, and the answer.
 */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_H
#define STATOR_API_TRANSACTION_TRANSACTION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api/item/batch.h"
#include "api/item/item_expressions.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "table/token_record.h"

struct api_call;
struct error;
struct item;
struct json_writer;
struct shape;

/* --- Why a transaction was cancelled: one reason for each of its actions --- */

struct transaction_reason {
    const char *code; /* NULL: nothing is wrong with this action, "None". */
    struct bytes message;
    const struct item *item; /* The current item; NULL: not shown. */
};

/* The condition does not hold. */
struct transaction_reason transaction_reason_condition(void);
/* Another transaction is using the item. */
struct transaction_reason transaction_reason_conflict(void);

/* The action makes an item collection too large. */
struct transaction_reason transaction_reason_collection(void);
/* A rule refuses the action; `fault` has the message. */
struct transaction_reason transaction_reason_validation(const struct error *fault);
/* True if the fault refuses the whole request instead of cancelling it. Measured: an empty key of a
 * table or index does. */
bool transaction_reason_is_of_request(const struct error *fault);

/* Sets a TransactionCanceledException. Returns false. */
bool transaction_reasons_cancel(struct error *err, const struct transaction_reason *reasons,
                                size_t count);

/* Sets the error of a transaction that names an item twice. Returns false. */
bool transaction_refuse_duplicates(struct api_call *call);

/* --- ClientRequestToken: a repeated request has no second effect --- */

struct transaction_token {
    struct bytes text;      /* data NULL: none was sent. */
    uint8_t scope;          /* LAYOUT_TOKEN_* */
    struct bytes caller;    /* The user's ARN; data NULL: requests are not authenticated. */
    bool was_repeated;      /* Set by the transaction. */
    struct token_hash hash; /* Of everything that the request's effects depend on. */
};
extern const struct shape transaction_token_shape;

/* --- Actions --- */

enum transaction_kind {
    TRANSACTION_PUT,
    TRANSACTION_UPDATE,
    TRANSACTION_DELETE,
    TRANSACTION_CHECK, /* Changes nothing. */
};

/* Lives in the call's arena. All rules that need no table were checked, except those between
 * actions. */
struct transaction_action {
    enum transaction_kind kind;
    struct bytes table_name; /* As sent. */
    const struct item *key;  /* TRANSACTION_PUT: the whole item. */
    struct item_expressions expressions;
    /* A fault of a value, which cancels the transaction; NULL: none. */
    const struct error *value_fault;
    bool shows_item; /* If its condition fails, the reason shows the current item. */
    /* The reason if its condition fails; `code` NULL: ConditionalCheckFailed. */
    struct transaction_reason refusal;
};

struct transaction_start {
    const struct transaction_action *actions;
    size_t action_count; /* From 1 to TRANSACTION_ACTIONS_MAX. */
    struct transaction_token token;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
    bool was_asked; /* The call's tables were found, and access was decided about all. */
    /* Report every key that does not fit its table's schema, instead of the first one. */
    bool every_key_fault;
    /* Writes members of the response other than metrics; may be NULL. */
    void (*write_members)(struct json_writer *writer);
};

/* Runs the transaction and ends the call. `start` is copied; its actions must live until the call
 * ends. */
void transaction_start(struct api_call *call, const struct transaction_start *start);

#endif
