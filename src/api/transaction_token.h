/* transaction_token.h -- ClientRequestToken: a request that comes again has no second effect.
 *
 * The record of a token is written in the batch of the transaction's effects and its address is
 * among those the transaction depends on. So a crash cannot separate the two, and of two requests
 * with one token the second always finds what the first one did.
 */
#ifndef STATOR_API_TRANSACTION_TOKEN_H
#define STATOR_API_TRANSACTION_TOKEN_H
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "table/token_record.h"

struct arena;
struct error;
struct txn_record;

enum { TRANSACTION_TOKEN_RECORDS = TOKEN_RECORD_PLACES };

struct transaction_token {
    struct bytes text;      /* data NULL: none was sent. */
    uint8_t scope;          /* LAYOUT_TOKEN_* */
    struct token_hash hash; /* Of all that the request's effects depend on. */
};

/* The records that a transaction with this token depends on; NULL if it has none. */
struct txn_record *transaction_token_records(struct arena *arena,
                                             const struct transaction_token *token, int64_t now_ms);

enum transaction_token_state {
    TRANSACTION_TOKEN_NEW,      /* The record to be written is set. */
    TRANSACTION_TOKEN_REPEATED, /* The same request was carried out. */
    TRANSACTION_TOKEN_REFUSED,  /* The error is set. */
};
/* Within a decision. `records` are those above, read. */
MUST_CHECK enum transaction_token_state
transaction_token_judge(struct arena *arena, const struct transaction_token *token,
                        struct txn_record *records, int64_t now_ms, struct error *err);

#endif
