/* token_record.h -- idempotency tokens of requests that were carried out.
 *
 * All times are server time (base/clock.h). A record is found by its token alone, yet expired ones
 * must be removed without a search. So tokens are stored by generations, each as long as a token
 * lives: a lookup reads those that can hold the token, and one range delete removes the generations
 * before them. Layout: doc/disk-format.md, "Tokens".
 */
#ifndef STATOR_TABLE_TOKEN_RECORD_H
#define STATOR_TABLE_TOKEN_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "table/layout.h"

struct arena;

enum {
    TOKEN_RECORD_LIFETIME_MS = 10 * 60 * 1000,
    /* A token is looked for in the generation of now, which a new record joins, in the one before,
     * and in the next: after a crash server time resumes a little earlier (server_time.h), and
     * newer tokens may be there. */
    TOKEN_RECORD_PLACES = 3,
};

extern const struct engine_place token_record_place;

/* Distinguishes requests. */
struct token_hash {
    uint8_t bytes[LAYOUT_TOKEN_HASH_SIZE];
};
/* Adds a part of a request. Its bounds count: "a", "bc" is not "ab", "c". */
void token_hash_add(struct token_hash *hash, struct bytes part);

struct token_record {
    int64_t expires_at_ms;
    struct token_hash hash;
};

/* The addresses that may hold a token at a time. The first is the one to store it at. `scope` is
 * one of LAYOUT_TOKEN_*: each operation has tokens of its own. With LAYOUT_TOKEN_OF_CALLER, `token`
 * is what token_record_of_caller makes of it. */
void token_record_addresses(struct arena *arena, uint8_t scope, struct bytes token, int64_t now_ms,
                            struct engine_address out[TOKEN_RECORD_PLACES]);
struct bytes token_record_of_caller(struct arena *arena, struct bytes caller, struct bytes token);
struct bytes token_record_encode(struct arena *arena, const struct token_record *record);
/* False if the bytes are no such record. */
MUST_CHECK bool token_record_decode(struct bytes stored, struct token_record *out);
/* Can these bytes be the key of a token's record? */
bool token_record_is_key(struct bytes key);

/* When the newest token was stored, or up to TOKEN_RECORD_LIFETIME_MS before; 0 without any, or if
 * it makes no sense. A server time that resumes before that would not find them. */
MUST_CHECK enum engine_status token_record_newest_ms(struct engine *engine, int64_t *out);
/* Whether there is any token. */
MUST_CHECK enum engine_status token_record_find_any(struct engine *engine, bool *out);
/* Removes all generations that no lookup reads any more. May wait for the disk. */
MUST_CHECK enum engine_status token_record_remove_old(struct engine *engine, int64_t now_ms);
/* Milliseconds until there may be more to remove. */
int64_t token_record_next_removal_ms(int64_t now_ms);

#endif
