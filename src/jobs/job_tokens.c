/* job_tokens.c -- see job_tokens.h. */
#include "jobs/job_tokens.h"
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/md5.h"
#include "base/memory.h"

/* Newest first within its bucket. Two tokens with one digest can be made on purpose; then the later
 * one hides the earlier, which harms only the client that made them. */
struct entry {
    struct entry *next;
    uint8_t digest[MD5_DIGEST_SIZE];
    enum job_letter letter;
    char id[JOB_ID_SIZE + 1];
    int64_t created_server_ms;
};

struct job_tokens {
    const struct clock *clock;
    struct entry *buckets[JOB_TOKEN_BUCKETS];
    size_t count;
};

struct job_tokens *job_tokens_create(const struct clock *clock)
{
    struct job_tokens *tokens = memory_checked(calloc(1, sizeof *tokens));
    tokens->clock = clock;
    return tokens;
}

void job_tokens_destroy(struct job_tokens *tokens)
{
    if (tokens == NULL)
        return;
    for (size_t i = 0; i < JOB_TOKEN_BUCKETS; i++) {
        while (tokens->buckets[i] != NULL) {
            struct entry *entry = tokens->buckets[i];
            tokens->buckets[i] = entry->next;
            free(entry);
        }
    }
    free(tokens);
}

static void digest_of(struct bytes token, uint8_t digest[MD5_DIGEST_SIZE])
{
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5, token);
    md5_finish(&md5, digest);
}

static bool is_old(const struct job_tokens *tokens, int64_t created_server_ms)
{
    return clock_server_age_ms(tokens->clock, created_server_ms) >= JOB_TOKEN_LIFETIME_MS;
}

/* The bucket of a digest, after its expired entries were removed. */
static struct entry **bucket_of(struct job_tokens *tokens, const uint8_t digest[MD5_DIGEST_SIZE])
{
    size_t index = ((size_t)digest[0] << 8 | digest[1]) & (JOB_TOKEN_BUCKETS - 1);
    struct entry **link = &tokens->buckets[index];
    while (*link != NULL) {
        struct entry *entry = *link;
        if (!is_old(tokens, entry->created_server_ms)) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        free(entry);
        tokens->count--;
    }
    return &tokens->buckets[index];
}

void job_tokens_add(struct job_tokens *tokens, const struct job_record *record)
{
    if (record->token.data == NULL || is_old(tokens, record->created_server_ms))
        return;
    struct entry *entry = memory_checked(malloc(sizeof *entry));
    *entry =
        (struct entry){ .letter = record->letter, .created_server_ms = record->created_server_ms };
    digest_of(record->token, entry->digest);
    memcpy(entry->id, record->id, sizeof entry->id);
    struct entry **bucket = bucket_of(tokens, entry->digest);
    entry->next = *bucket;
    *bucket = entry;
    tokens->count++;
}

bool job_tokens_find(struct job_tokens *tokens, enum job_letter letter, struct bytes token,
                     char id[JOB_ID_SIZE + 1])
{
    uint8_t digest[MD5_DIGEST_SIZE];
    const struct entry *newest = NULL;
    digest_of(token, digest);
    for (const struct entry *entry = *bucket_of(tokens, digest); entry != NULL; entry = entry->next)
        if (entry->letter == letter && memcmp(entry->digest, digest, MD5_DIGEST_SIZE) == 0 &&
            (newest == NULL || entry->created_server_ms > newest->created_server_ms))
            newest = entry;
    if (newest != NULL)
        memcpy(id, newest->id, JOB_ID_SIZE + 1);
    return newest != NULL;
}

size_t job_tokens_count(const struct job_tokens *tokens)
{
    return tokens->count;
}
