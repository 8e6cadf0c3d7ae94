/* transaction_token.h -- ClientRequestToken: a request that comes again has no second effect.
 *
 * The record of a token is written in the batch of the transaction's effects and its address is
 * among those the transaction depends on. So a crash cannot separate the two, and of two requests
 * with one token the second always finds what the first one did.
 *
 * Where callers are told apart, each has tokens of its own: nobody learns of another's requests by
 * repeating a token, or keeps another from using one. A caller is a user, not an access key, so
 * that a request can be repeated with the user's next key, or in another session.
 */
#ifndef STATOR_API_TRANSACTION_TRANSACTION_TOKEN_H
#define STATOR_API_TRANSACTION_TRANSACTION_TOKEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "table/token_record.h"

struct arena;
struct engine;
struct error;
struct txn_record;

enum { TRANSACTION_TOKEN_RECORDS = TOKEN_RECORD_PLACES };

struct transaction_token {
    struct bytes text;      /* data NULL: none was sent. */
    uint8_t scope;          /* LAYOUT_TOKEN_* */
    struct bytes caller;    /* The user's ARN; data NULL: callers are not told apart. */
    bool was_repeated;      /* Set by transaction_token_find_shared. */
    struct token_hash hash; /* Of all that the request's effects depend on. */
};

/* The records that a transaction with this token depends on; NULL if it has none. */
struct txn_record *transaction_token_records(struct arena *arena,
                                             const struct transaction_token *token, int64_t now_ms);

/* Tokens were one name space for all callers until stores of this format had those of callers, and
 * still are where callers are not told apart. Looks for one that was stored that way, so that a
 * request that was sent before an upgrade has no second effect after it. Only a record of the same
 * request counts. A server that tells callers apart stores none like that, so the record cannot
 * come or change while it is looked for. False with the error set. */
MUST_CHECK bool transaction_token_find_shared(struct arena *arena, struct engine *engine,
                                              struct transaction_token *token, int64_t now_ms,
                                              struct error *err);

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
