/* transaction.h -- a transaction's actions, from whichever operation has them, done all or not at
 * all.
 *
 * TransactWriteItems and ExecuteTransaction turn their requests into actions; everything behind
 * that is here: the tables and places, one txn for all items, the reasons of a cancellation
 * (transaction_reasons.h), the token that makes a repeated request harmless (transaction_token.h),
 * and the answer.
 */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_H
#define STATOR_API_TRANSACTION_TRANSACTION_H
#include <stdbool.h>
#include <stddef.h>
#include "api/item/item_expressions.h"
#include "api/transaction/transaction_reasons.h"
#include "api/transaction/transaction_tables.h"
#include "api/transaction/transaction_token.h"
#include "base/bytes.h"

struct api_call;
struct error;
struct item;
struct json_writer;

enum transaction_kind {
    TRANSACTION_PUT,
    TRANSACTION_UPDATE,
    TRANSACTION_DELETE,
    TRANSACTION_CHECK, /* Changes nothing. */
};

/* Lives in the call's arena. All rules that need no table have been judged, except those between
 * actions. */
struct transaction_action {
    enum transaction_kind kind;
    struct bytes table_name; /* As sent. */
    const struct item *key;  /* TRANSACTION_PUT: the whole item. */
    struct item_expressions expressions;
    const struct error *value_fault; /* Of a value in them, which cancels; NULL: none. */
    bool shows_item; /* Where its condition fails, the reason shows the item as it is. */
    /* What is said where its condition fails; `code` NULL: ConditionalCheckFailed. */
    struct transaction_reason refusal;
};

struct transaction_start {
    const struct transaction_action *actions;
    size_t action_count; /* From 1 to TRANSACTION_ACTIONS_MAX. */
    struct transaction_token token;
    struct bytes return_consumed_capacity;
    struct bytes return_item_collection_metrics;
    /* Tables that were found and asked about already, which are handed over; count 0: none yet. */
    struct transaction_tables tables;
    /* Keys that do not fit their tables' schemas: the first one is reported, or all of them. */
    bool every_key_fault;
    /* Writes what the response has besides metrics; may be NULL. */
    void (*write_members)(struct json_writer *writer, size_t action_count);
};

/* Runs the transaction and ends the call. `start` may go when this returns, its actions not before
 * the call ends. */
void transaction_start(struct api_call *call, const struct transaction_start *start);

#endif
