/* transaction_token.c -- see transaction_token.h. */
#include "api/transaction/transaction_token.h"
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
    if (token->caller.data == NULL)
        token_record_addresses(arena, token->scope, token->text, now_ms, addresses);
    else
        token_record_addresses(arena, token->scope | LAYOUT_TOKEN_OF_CALLER,
                               token_record_of_caller(arena, token->caller, token->text), now_ms,
                               addresses);
    for (size_t i = 0; i < TRANSACTION_TOKEN_RECORDS; i++)
        records[i].address = addresses[i];
    return records;
}

bool transaction_token_find_shared(struct arena *arena, struct engine *engine,
                                   struct transaction_token *token, int64_t now_ms,
                                   struct error *err)
{
    struct engine_address addresses[TOKEN_RECORD_PLACES];
    struct engine_view *view = NULL;
    token_record_addresses(arena, token->scope, token->text, now_ms, addresses);
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    for (size_t i = 0; i < TOKEN_RECORD_PLACES && status == ENGINE_OK; i++) {
        struct engine_value value = { 0 };
        struct token_record record;
        status = engine_view_get(view, &addresses[i], &value);
        if (status == ENGINE_OK && !token_record_decode(value.bytes, &record))
            status = ENGINE_CORRUPT;
        if (status == ENGINE_OK && record.expires_at_ms > now_ms &&
            memcmp(&record.hash, &token->hash, sizeof record.hash) == 0)
            token->was_repeated = true;
        engine_value_release(&value);
        if (status == ENGINE_NOT_FOUND)
            status = ENGINE_OK;
    }
    engine_view_close(view);
    if (status != ENGINE_OK)
        storage_error_set(err, status, "record of a ClientRequestToken");
    return status == ENGINE_OK;
}

enum transaction_token_state transaction_token_judge(struct arena *arena,
                                                     const struct transaction_token *token,
                                                     struct txn_record *records, int64_t now_ms,
                                                     struct error *err)
{
    struct token_record record;
    if (token->was_repeated)
        return TRANSACTION_TOKEN_REPEATED;
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
