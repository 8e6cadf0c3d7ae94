/* key_ranges.c -- see key_ranges.h. */
#include "capacity/key_ranges.h"
#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include "base/memory.h"
#include "capacity/token_bucket.h"

static_assert(KEY_RANGES_SLOTS % KEY_RANGES_WAYS == 0, "whole sets");

struct slot {
    _Atomic uint64_t key; /* 0: none. */
    struct token_bucket bucket;
};

struct key_ranges {
    int64_t rate;
    struct slot slots[KEY_RANGES_SLOTS];
};

int64_t key_ranges_full(int64_t rate)
{
    return rate * TOKENS_PER_UNIT_AND_MS * KEY_RANGES_BURST_MS;
}

struct key_ranges *key_ranges_create(int64_t rate)
{
    struct key_ranges *ranges = memory_checked(calloc(1, sizeof *ranges));
    ranges->rate = rate;
    return ranges;
}

void key_ranges_destroy(struct key_ranges *ranges)
{
    free(ranges);
}

void key_ranges_clear(struct key_ranges *ranges)
{
    for (size_t i = 0; ranges != NULL && i < KEY_RANGES_SLOTS; i++)
        atomic_store_explicit(&ranges->slots[i].key, 0, memory_order_release);
}

/* 0 marks a free slot, so that key takes the name of another one, which no key is likely to have.
 */
static uint64_t name_of(uint64_t key)
{
    return key == 0 ? UINT64_C(0x9E3779B97F4A7C15) : key;
}

/* Neighbouring keys have neighbouring hashes in tables of one partition, so the bits are mixed. */
static struct slot *set_of(struct key_ranges *ranges, uint64_t key)
{
    uint64_t mixed = key * UINT64_C(0x9E3779B97F4A7C15);
    size_t set = (size_t)(mixed >> 32) % (KEY_RANGES_SLOTS / KEY_RANGES_WAYS);
    return &ranges->slots[set * KEY_RANGES_WAYS];
}

/* NULL if the key is not known. */
static struct slot *find(struct key_ranges *ranges, uint64_t key)
{
    struct slot *set = set_of(ranges, key);
    for (size_t i = 0; i < KEY_RANGES_WAYS; i++) {
        if (atomic_load_explicit(&set[i].key, memory_order_acquire) == key)
            return &set[i];
    }
    return NULL;
}

int64_t key_ranges_balance(struct key_ranges *ranges, uint64_t key, int64_t now_ms)
{
    struct slot *slot = find(ranges, name_of(key));
    if (slot != NULL)
        return token_bucket_balance(&slot->bucket, now_ms);
    return key_ranges_full(ranges->rate);
}

/* A free slot, or the one with the fullest bucket; of equal ones the first. */
static struct slot *choose_victim(struct slot *set, int64_t now_ms)
{
    struct slot *chosen = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < KEY_RANGES_WAYS; i++) {
        if (atomic_load_explicit(&set[i].key, memory_order_relaxed) == 0)
            return &set[i];
        int64_t balance = token_bucket_balance(&set[i].bucket, now_ms);
        if (chosen == NULL || balance > most) {
            chosen = &set[i];
            most = balance;
        }
    }
    return chosen;
}

void key_ranges_charge(struct key_ranges *ranges, uint64_t key, int64_t half_units, int64_t now_ms)
{
    key = name_of(key);
    struct slot *slot = find(ranges, key);
    if (slot == NULL) {
        slot = choose_victim(set_of(ranges, key), now_ms);
        token_bucket_init(&slot->bucket, ranges->rate, KEY_RANGES_BURST_MS, now_ms);
        atomic_store_explicit(&slot->key, key, memory_order_release);
    }
    token_bucket_charge(&slot->bucket, half_units, now_ms);
}
