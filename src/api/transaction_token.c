/* transaction_token.c -- see transaction_token.h. */
#include "api/transaction_token.h"
#include "base/arena.h"
#include "model/error.h"
#include "table/storage_error.h"
#include "txn/txn.h"

struct txn_record *transaction_token_records(struct arena *arena,
                                             const struct transaction_token *token, int64_t now_ms)
{
    struct engine_address addresses[TRANSACTION_TOKEN_RECORDS];
    if (token->text.data == NULL)
        return NULL;
    struct txn_record *records =
        arena_alloc_zeroed(arena, TRANSACTION_TOKEN_RECORDS * sizeof *records);
    token_record_addresses(arena, token->scope, token->text, now_ms, addresses);
    for (size_t i = 0; i < TRANSACTION_TOKEN_RECORDS; i++)
        records[i].address = addresses[i];
    return records;
}

enum transaction_token_state transaction_token_judge(struct arena *arena,
                                                     const struct transaction_token *token,
                                                     struct txn_record *records, int64_t now_ms,
                                                     struct error *err)
{
    struct token_record record;
    for (size_t i = 0; i < TRANSACTION_TOKEN_RECORDS; i++) {
        if (!records[i].exists)
            continue;
        if (!token_record_decode(records[i].current, &record)) {
            storage_error_set(err, ENGINE_CORRUPT, "record of a ClientRequestToken");
            return TRANSACTION_TOKEN_REFUSED;
        }
        if (record.expires_at_ms <= now_ms)
            continue;
        if (memcmp(&record.hash, &token->hash, sizeof record.hash) == 0)
            return TRANSACTION_TOKEN_REPEATED;
        error_set(err, ERROR_IDEMPOTENT_PARAMETER_MISMATCH,
                  "DynamoDB rejected the request because you retried a request with a different "
                  "payload but with an idempotent token that was already used.");
        return TRANSACTION_TOKEN_REFUSED;
    }
    record = (struct token_record){ .expires_at_ms = now_ms + TOKEN_RECORD_LIFETIME_MS,
                                    .hash = token->hash };
    records[0].replacement = token_record_encode(arena, &record);
    return TRANSACTION_TOKEN_NEW;
}
