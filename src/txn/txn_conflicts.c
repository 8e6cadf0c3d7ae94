/* txn_conflicts.c -- see txn_conflicts.h. */
#include "txn/txn_conflicts.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/crc32c.h"
#include "txn/txn.h"

enum { BUCKET_COUNT = 256 };

struct txn_conflicts {
    pthread_mutex_t mutex;                   /* Guards what follows, and the claims in it. */
    struct txn_claim *buckets[BUCKET_COUNT]; /* By the hash of the key. */
};

struct txn_conflicts *txn_conflicts_create(void)
{
    struct txn_conflicts *conflicts = calloc(1, sizeof *conflicts);
    if (conflicts == NULL)
        abort();
    pthread_mutex_init(&conflicts->mutex, NULL);
    return conflicts;
}

void txn_conflicts_destroy(struct txn_conflicts *conflicts)
{
    if (conflicts == NULL)
        return;
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        assert(conflicts->buckets[i] == NULL);
    pthread_mutex_destroy(&conflicts->mutex);
    free(conflicts);
}

static struct txn_claim **bucket_of(struct txn_conflicts *conflicts,
                                    const struct engine_address *address)
{
    return &conflicts->buckets[crc32c(address->key) % BUCKET_COUNT];
}

static bool is_claimed_locked(struct txn_conflicts *conflicts, const struct engine_address *address)
{
    const struct txn_claim *claim = *bucket_of(conflicts, address);
    while (claim != NULL && !engine_address_equal(&claim->address, address))
        claim = claim->next;
    return claim != NULL;
}

bool txn_conflicts_has(struct txn_conflicts *conflicts, const struct engine_address *address)
{
    pthread_mutex_lock(&conflicts->mutex);
    bool claimed = is_claimed_locked(conflicts, address);
    pthread_mutex_unlock(&conflicts->mutex);
    return claimed;
}

static void claim_locked(struct txn_conflicts *conflicts, struct txn_claim *claim,
                         const struct engine_address *address)
{
    struct txn_claim **bucket = bucket_of(conflicts, address);
    claim->address = *address;
    claim->next = *bucket;
    *bucket = claim;
}

/* Marks what another has. False if there is any. */
static bool look_locked(struct txn_conflicts *conflicts, struct txn *txn)
{
    bool free_to_go = true;
    for (size_t i = 0; i < txn->item_count; i++) {
        struct txn_item *item = &txn->items[i];
        item->conflict = is_claimed_locked(conflicts, &item->place.address);
        free_to_go &= !item->conflict;
    }
    for (size_t i = 0; i < txn->record_count; i++) {
        struct txn_record *record = &txn->records[i];
        record->conflict = is_claimed_locked(conflicts, &record->address);
        free_to_go &= !record->conflict;
    }
    return free_to_go;
}

bool txn_conflicts_enter(struct txn_conflicts *conflicts, struct txn *txn)
{
    assert(txn->claim_count == 0);
    if (txn->is_transaction)
        txn->claims =
            arena_alloc(txn->arena, (txn->item_count + txn->record_count) * sizeof *txn->claims);
    pthread_mutex_lock(&conflicts->mutex);
    bool free_to_go = look_locked(conflicts, txn);
    if (free_to_go && txn->is_transaction) {
        for (size_t i = 0; i < txn->item_count; i++)
            claim_locked(conflicts, &txn->claims[txn->claim_count++], &txn->items[i].place.address);
        for (size_t i = 0; i < txn->record_count; i++)
            claim_locked(conflicts, &txn->claims[txn->claim_count++], &txn->records[i].address);
        assert(txn->claim_count == txn->item_count + txn->record_count);
    }
    pthread_mutex_unlock(&conflicts->mutex);
    return free_to_go;
}

void txn_conflicts_leave(struct txn_conflicts *conflicts, struct txn *txn)
{
    pthread_mutex_lock(&conflicts->mutex);
    for (size_t i = 0; i < txn->claim_count; i++) {
        struct txn_claim **link = bucket_of(conflicts, &txn->claims[i].address);
        while (*link != &txn->claims[i]) {
            assert(*link != NULL); /* It is there. */
            link = &(*link)->next;
        }
        *link = txn->claims[i].next;
    }
    pthread_mutex_unlock(&conflicts->mutex);
    txn->claim_count = 0;
}
