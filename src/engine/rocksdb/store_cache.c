/* store_cache.c -- see store_cache.h for why an entry is never stale.
 *
 * Shards by the hash of the run, so that a value and its run lie behind one lock. Each shard is a
 * hash table whose entries also form a ring in the order in which they came; the hand of a clock
 * goes round it and removes those that were not found since it last came by.
 */
#include "engine/rocksdb/store_cache.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_key.h"

enum {
    SHARD_BITS = 5,
    /* Writes under way are told apart by this many hashes in each shard: two that share one only
     * keep each other's entries from being used for a moment. */
    STRIPES = 256,
    /* Names seen lately, in each shard: the second time within so many others makes one wanted. */
    SEEN = 4096,
    BUCKET_SIZE =
        512, /* Bytes of the capacity for each bucket: about a typical item with its key. */
    ALLOCATION_SIZE = 16, /* What malloc adds to an entry, about. */
};

#define DISTURBED UINT64_MAX /* A moment of which nothing is kept. */

static_assert(STORE_CACHE_SHARDS == 1 << SHARD_BITS, "a hash's first bits are a shard");

struct form {
    size_t size; /* 0: there is none. */
    uint8_t bytes[];
};

struct store_cache_entry {
    atomic_size_t references; /* The table's own is one of them. */
    struct store_cache_entry *bucket_next;
    struct store_cache_entry *previous, *next; /* In the ring. */
    uint64_t hash;
    uint64_t run_hash;
    uint64_t generation;
    enum store_cache_kind kind;
    uint8_t found; /* How often since the hand came by, up to STORE_CACHE_FORM_FINDS. */
    bool linked;   /* In the table. */
    /* NULL: none was given yet. Set once, under the shard's mutex. */
    _Atomic(struct form *) form;
    size_t key_size;
    size_t content_size;
    uint8_t bytes[]; /* The content, then the key. */
};

struct stripe {
    atomic_uint changing; /* Writes under way. */
    uint64_t
        first_generation; /* What was read earlier is not kept. Guarded by the shard's mutex. */
};

struct shard {
    _Alignas(64) pthread_mutex_t mutex; /* Guards all below but `changing` of the stripes. */
    struct store_cache_entry **buckets;
    struct store_cache_entry *hand; /* Where the clock goes on; NULL: no entry. */
    size_t size;
    uint64_t first_generation; /* As in stripes, for all of them. */
    uint16_t seen[SEEN];
    struct stripe stripes[STRIPES];
};

struct store_cache {
    size_t shard_capacity;
    size_t bucket_mask;
    atomic_uint removals;                /* Writes under way that delete ranges. */
    atomic_uint_fast64_t removals_begun; /* All there ever were. */
    struct shard shards[STORE_CACHE_SHARDS];
};

/* --- Names --- */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    const uint64_t odd = 0x9E3779B97F4A7C15u;
    hash = (hash ^ more) * odd;
    return hash ^ (hash >> 32);
}

bool store_cache_serves(enum engine_space space)
{
    return space == ENGINE_SPACE_ITEMS || space == ENGINE_SPACE_INDEX;
}

static uint64_t hash_run(const char *key)
{
    const uint8_t *data = (const uint8_t *)key;
    uint64_t hash = mix(load_u64_be(data), load_u64_be(data + 8)); /* Owner and partition. */
    hash = mix(hash, data[STORE_KEY_PREFIX_SIZE - 1]);
    return mix(hash, load_u64_be(data + STORE_KEY_PREFIX_SIZE));
}

bool store_cache_name_run(const struct store_key *key, struct store_cache_name *out)
{
    if (key->size < STORE_KEY_FILTERED_SIZE)
        return false;
    uint64_t hash = hash_run(key->data);
    *out = (struct store_cache_name){ .kind = STORE_CACHE_RUN,
                                      .key = bytes_of(key->data, STORE_KEY_FILTERED_SIZE),
                                      .run_hash = hash,
                                      .hash = hash };
    return true;
}

bool store_cache_name_value(const struct store_key *key, struct store_cache_name *out)
{
    if (key->size < STORE_KEY_FILTERED_SIZE)
        return false;
    struct bytes rest =
        bytes_of(key->data + STORE_KEY_FILTERED_SIZE, key->size - STORE_KEY_FILTERED_SIZE);
    uint64_t run_hash = hash_run(key->data);
    *out = (struct store_cache_name){ .kind = STORE_CACHE_VALUE,
                                      .key = bytes_of(key->data, key->size),
                                      .run_hash = run_hash,
                                      .hash = mix(run_hash, crc32c(rest) + 1) };
    return true;
}

static struct shard *shard_of(struct store_cache *cache, uint64_t run_hash)
{
    return &cache->shards[run_hash >> (64 - SHARD_BITS)];
}

static struct stripe *stripe_of(struct shard *shard, uint64_t run_hash)
{
    return &shard->stripes[run_hash % STRIPES];
}

static struct store_cache_entry **bucket_of(const struct store_cache *cache, struct shard *shard,
                                            uint64_t hash)
{
    return &shard->buckets[(hash >> 8) & cache->bucket_mask];
}

/* --- Life --- */

struct store_cache *store_cache_create(size_t capacity)
{
    struct store_cache *cache = NULL;
    if (posix_memalign((void **)&cache, _Alignof(struct shard), sizeof *cache) != 0)
        abort();
    memset(cache, 0, sizeof *cache);
    cache->shard_capacity = capacity / STORE_CACHE_SHARDS;
    size_t buckets = 1;
    while (buckets * BUCKET_SIZE < cache->shard_capacity)
        buckets *= 2;
    cache->bucket_mask = buckets - 1;
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        pthread_mutex_init(&cache->shards[i].mutex, NULL);
        cache->shards[i].buckets = store_alloc(buckets * sizeof(struct store_cache_entry *));
    }
    return cache;
}

static size_t size_with(size_t key_size, size_t content_size)
{
    return sizeof(struct store_cache_entry) + key_size + content_size + ALLOCATION_SIZE;
}

static size_t form_size(size_t size)
{
    return sizeof(struct form) + size + ALLOCATION_SIZE;
}

static size_t size_of(const struct store_cache_entry *entry)
{
    const struct form *form = atomic_load(&entry->form);
    return size_with(entry->key_size, entry->content_size) +
           (form == NULL ? 0 : form_size(form->size));
}

void store_cache_release(void *handle)
{
    struct store_cache_entry *entry = handle;
    if (atomic_fetch_sub(&entry->references, 1) > 1)
        return;
    free(atomic_load(&entry->form));
    free(entry);
}

struct bytes store_cache_content(const struct store_cache_entry *entry)
{
    return bytes_of(entry->bytes, entry->content_size);
}

struct bytes store_cache_form(const struct store_cache_entry *entry)
{
    const struct form *form = atomic_load_explicit(&entry->form, memory_order_acquire);
    if (form == NULL || form->size == 0)
        return (struct bytes){ 0 };
    return bytes_of(form->bytes, form->size);
}

struct engine_value store_cache_value(struct store_cache_entry *entry)
{
    return (struct engine_value){ .bytes = store_cache_content(entry),
                                  .form = store_cache_form(entry),
                                  .handle = entry,
                                  .release = store_cache_release };
}

/* Takes `*at` out of its bucket and of the ring, and gives up the table's reference. */
static void remove_at(struct shard *shard, struct store_cache_entry **at)
{
    struct store_cache_entry *entry = *at;
    *at = entry->bucket_next;
    if (shard->hand == entry)
        shard->hand = entry->next == entry ? NULL : entry->next;
    entry->previous->next = entry->next;
    entry->next->previous = entry->previous;
    shard->size -= size_of(entry);
    entry->linked = false;
    store_cache_release(entry);
}

static void remove_entry(struct store_cache *cache, struct shard *shard,
                         const struct store_cache_entry *entry)
{
    struct store_cache_entry **at = bucket_of(cache, shard, entry->hash);
    while (*at != entry)
        at = &(*at)->bucket_next;
    remove_at(shard, at);
}

void store_cache_destroy(struct store_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        while (shard->hand != NULL)
            remove_entry(cache, shard, shard->hand);
        free(shard->buckets);
        pthread_mutex_destroy(&shard->mutex);
    }
    free(cache);
}

/* --- Finding --- */

static bool is_named(const struct store_cache_entry *entry, const struct store_cache_name *name)
{
    return entry->hash == name->hash && entry->kind == name->kind &&
           bytes_equal(bytes_of(entry->bytes + entry->content_size, entry->key_size), name->key);
}

static struct store_cache_entry **locate(struct store_cache *cache, struct shard *shard,
                                         const struct store_cache_name *name)
{
    struct store_cache_entry **at = bucket_of(cache, shard, name->hash);
    while (*at != NULL && !is_named(*at, name))
        at = &(*at)->bucket_next;
    return at;
}

static uint16_t *seen_of(struct shard *shard, uint64_t hash)
{
    return &shard->seen[(hash >> 20) % SEEN];
}

/* Never zero, which is what the table begins with. */
static uint16_t tag_of(enum store_cache_kind kind, uint64_t hash)
{
    return (uint16_t)((hash ^ kind) | 1);
}

static bool was_seen(struct shard *shard, const struct store_cache_name *name)
{
    uint16_t *seen = seen_of(shard, name->hash);
    uint16_t tag = tag_of(name->kind, name->hash);
    bool was = *seen == tag;
    *seen = tag;
    return was;
}

/* A run is much to gather for a scan that wants one entry of it. Where writes and scans take turns
 * nobody would find it again. */
static void forget_run_was_seen(struct shard *shard, uint64_t run_hash)
{
    uint16_t *seen = seen_of(shard, run_hash);
    if (*seen == tag_of(STORE_CACHE_RUN, run_hash))
        *seen = 0;
}

struct store_cache_entry *store_cache_find(struct store_cache *cache,
                                           const struct store_cache_name *name, uint64_t generation,
                                           bool *wanted)
{
    struct shard *shard = shard_of(cache, name->run_hash);
    struct store_cache_entry *entry = NULL;
    *wanted = false;
    pthread_mutex_lock(&shard->mutex);
    if (atomic_load(&stripe_of(shard, name->run_hash)->changing) == 0 &&
        atomic_load(&cache->removals) == 0) {
        entry = *locate(cache, shard, name);
        if (entry == NULL) {
            *wanted = was_seen(shard, name);
        } else if (entry->generation <= generation) {
            if (entry->found < STORE_CACHE_FORM_FINDS)
                entry->found++;
            *wanted = entry->found == STORE_CACHE_FORM_FINDS && atomic_load(&entry->form) == NULL;
            atomic_fetch_add(&entry->references, 1);
        } else {
            entry = NULL;
        }
    }
    pthread_mutex_unlock(&shard->mutex);
    return entry;
}

/* --- Keeping --- */

static void make_room(struct store_cache *cache, struct shard *shard, size_t size)
{
    while (shard->size + size > cache->shard_capacity) {
        struct store_cache_entry *entry = shard->hand;
        assert(entry != NULL); /* What is kept is smaller than a shard. */
        if (entry->found > 0) {
            entry->found = 0;
            shard->hand = entry->next;
        } else {
            remove_entry(cache, shard, entry);
        }
    }
}

/* Just behind the hand, so that it comes by all others before this one. */
static void link_entry(struct shard *shard, struct store_cache_entry **bucket,
                       struct store_cache_entry *entry)
{
    entry->bucket_next = *bucket;
    *bucket = entry;
    if (shard->hand == NULL) {
        entry->previous = entry->next = entry;
        shard->hand = entry;
    } else {
        entry->next = shard->hand;
        entry->previous = shard->hand->previous;
        entry->previous->next = entry;
        shard->hand->previous = entry;
    }
    entry->linked = true;
    shard->size += size_of(entry);
}

static struct store_cache_entry *create_entry(const struct store_cache_name *name,
                                              uint64_t generation, struct bytes content)
{
    struct store_cache_entry *entry = malloc(sizeof *entry + content.len + name->key.len);
    if (entry == NULL)
        abort();
    atomic_init(&entry->references, 1);
    entry->hash = name->hash;
    entry->generation = generation;
    entry->kind = name->kind;
    entry->found = 0;
    entry->linked = false;
    atomic_init(&entry->form, NULL);
    entry->run_hash = name->run_hash;
    entry->key_size = name->key.len;
    entry->content_size = content.len;
    if (content.len > 0)
        memcpy(entry->bytes, content.data, content.len);
    memcpy(entry->bytes + content.len, name->key.data, name->key.len);
    return entry;
}

static bool fits(const struct store_cache *cache, const struct store_cache_name *name,
                 struct bytes content)
{
    return size_with(name->key.len, content.len) <= cache->shard_capacity / STORE_CACHE_ENTRY_SHARE;
}

void store_cache_keep(struct store_cache *cache, const struct store_cache_name *name,
                      uint64_t generation, struct bytes content)
{
    if (!fits(cache, name, content))
        return;
    struct store_cache_entry *entry = create_entry(name, generation, content);
    struct shard *shard = shard_of(cache, name->run_hash);
    pthread_mutex_lock(&shard->mutex);
    const struct stripe *stripe = stripe_of(shard, name->run_hash);
    bool is_current = atomic_load(&stripe->changing) == 0 && atomic_load(&cache->removals) == 0 &&
                      generation >= stripe->first_generation &&
                      generation >= shard->first_generation;
    if (is_current && *locate(cache, shard, name) == NULL) {
        make_room(cache, shard, size_of(entry));
        link_entry(shard, bucket_of(cache, shard, name->hash), entry);
        entry = NULL;
    }
    pthread_mutex_unlock(&shard->mutex);
    if (entry != NULL)
        store_cache_release(entry);
}

static struct form *create_form(struct bytes form)
{
    struct form *created = malloc(sizeof *created + form.len);
    if (created == NULL)
        abort();
    created->size = form.len;
    if (form.len > 0)
        memcpy(created->bytes, form.data, form.len);
    return created;
}

void store_cache_give_form(struct store_cache *cache, struct store_cache_entry *entry,
                           struct bytes form)
{
    if (size_of(entry) + form_size(form.len) > cache->shard_capacity / STORE_CACHE_ENTRY_SHARE)
        form = (struct bytes){ 0 };
    struct form *created = create_form(form);
    struct shard *shard = shard_of(cache, entry->run_hash);
    pthread_mutex_lock(&shard->mutex);
    if (entry->linked && atomic_load(&entry->form) == NULL) {
        make_room(cache, shard, form_size(form.len));
        if (entry->linked) /* It may have been what had to go. */
            shard->size += form_size(form.len);
        atomic_store(&entry->form, created);
        created = NULL;
    }
    pthread_mutex_unlock(&shard->mutex);
    free(created);
}

/* --- Changes --- */

void store_cache_begin_change(struct store_cache *cache, const struct store_cache_touch *touch)
{
    struct shard *shard = shard_of(cache, touch->run_hash);
    atomic_fetch_add(&stripe_of(shard, touch->run_hash)->changing, 1);
}

/* By the hash alone: one too many is no harm. */
static void remove_hash(struct store_cache *cache, struct shard *shard, enum store_cache_kind kind,
                        uint64_t hash)
{
    struct store_cache_entry **at = bucket_of(cache, shard, hash);
    while (*at != NULL)
        if ((*at)->hash == hash && (*at)->kind == kind)
            remove_at(shard, at);
        else
            at = &(*at)->bucket_next;
}

/* `entry` takes the place of what is removed; NULL: nothing does. A removal that begins after the
 * look at their count has still to come by this shard, and finds the entry. */
static void end_change(struct store_cache *cache, const struct store_cache_touch *touch,
                       uint64_t moment, uint64_t generation, struct store_cache_entry *entry)
{
    struct shard *shard = shard_of(cache, touch->run_hash);
    struct stripe *stripe = stripe_of(shard, touch->run_hash);
    pthread_mutex_lock(&shard->mutex);
    remove_hash(cache, shard, STORE_CACHE_VALUE, touch->hash);
    remove_hash(cache, shard, STORE_CACHE_RUN, touch->run_hash);
    forget_run_was_seen(shard, touch->run_hash);
    if (stripe->first_generation <= generation)
        stripe->first_generation = generation + 1;
    if (entry != NULL && atomic_load(&cache->removals_begun) == moment) {
        make_room(cache, shard, size_of(entry));
        link_entry(shard, bucket_of(cache, shard, entry->hash), entry);
        entry = NULL;
    }
    pthread_mutex_unlock(&shard->mutex);
    atomic_fetch_sub(&stripe->changing, 1);
    if (entry != NULL)
        store_cache_release(entry);
}

void store_cache_end_change(struct store_cache *cache, const struct store_cache_touch *touch,
                            uint64_t generation)
{
    end_change(cache, touch, DISTURBED, generation, NULL);
}

uint64_t store_cache_moment(struct store_cache *cache)
{
    uint64_t begun = atomic_load(&cache->removals_begun);
    return atomic_load(&cache->removals) == 0 ? begun : DISTURBED;
}

void store_cache_replace(struct store_cache *cache, const struct store_cache_name *name,
                         uint64_t moment, uint64_t generation, struct bytes content)
{
    struct store_cache_touch touch = { .run_hash = name->run_hash, .hash = name->hash };
    assert(name->kind == STORE_CACHE_VALUE);
    end_change(cache, &touch, moment, generation,
               fits(cache, name, content) ? create_entry(name, generation + 1, content) : NULL);
}

void store_cache_begin_removal(struct store_cache *cache)
{
    atomic_fetch_add(&cache->removals, 1);
    atomic_fetch_add(&cache->removals_begun, 1);
}

static void remove_owners(struct store_cache *cache, struct shard *shard, uint64_t first,
                          uint64_t last)
{
    for (size_t i = 0; i <= cache->bucket_mask; i++) {
        struct store_cache_entry **at = &shard->buckets[i];
        while (*at != NULL) {
            uint64_t owner = load_u64_be((*at)->bytes + (*at)->content_size);
            if (owner >= first && owner <= last)
                remove_at(shard, at);
            else
                at = &(*at)->bucket_next;
        }
    }
}

void store_cache_end_removal(struct store_cache *cache, uint64_t first, uint64_t last,
                             uint64_t generation)
{
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        pthread_mutex_lock(&shard->mutex);
        remove_owners(cache, shard, first, last);
        if (shard->first_generation <= generation)
            shard->first_generation = generation + 1;
        pthread_mutex_unlock(&shard->mutex);
    }
    atomic_fetch_sub(&cache->removals, 1);
}

size_t store_cache_size(struct store_cache *cache)
{
    size_t size = 0;
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        pthread_mutex_lock(&cache->shards[i].mutex);
        size += cache->shards[i].size;
        pthread_mutex_unlock(&cache->shards[i].mutex);
    }
    return size;
}
