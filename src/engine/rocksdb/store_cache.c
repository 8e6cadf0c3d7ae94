/* store_cache.c -- see store_cache.h for why an entry is never stale.
 *
 * Shards by the hash of the run, so that a value and its run lie behind one lock. Each shard is a
 * hash table whose entries also form a ring in the order in which they came; the hand of a clock
 * goes round it and removes those that were not found since it last came by. All that changes the
 * table is done under the shard's mutex; views walk along the chains without it.
 */
#include "engine/rocksdb/store_cache.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "base/hazard.h"
#include "engine/rocksdb/store.h"
#include "engine/rocksdb/store_key.h"

enum {
    SHARD_BITS = 5,
    /* Writes under way are distinguished by this many hashes in each shard: two that share one only
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

struct rendered {
    size_t size; /* 0: there is none. */
    uint8_t bytes[];
};

/* Nothing here changes once an entry is linked, except what is atomic and what only the holder of
 * the shard's mutex looks at. */
struct store_cache_entry {
    struct store_cache_entry *previous, *next; /* In the ring; `next` also among the retired. */
    _Atomic(struct store_cache_entry *) bucket_next;
    atomic_size_t references; /* Uses that are counted. */
    atomic_bool linked;       /* In the table. Cleared before it is taken out of its bucket. */
    /* How often since the hand came by, up to STORE_CACHE_RENDER_FINDS. */
    _Atomic(uint8_t) found;
    enum store_cache_kind kind;
    /* NULL: none was given yet. Set once, under the shard's mutex. */
    _Atomic(struct rendered *) rendered;
    uint64_t hash;
    uint64_t run_hash;
    uint64_t generation;
    size_t key_size;
    size_t content_size;
    uint8_t bytes[]; /* The content, then the key. */
};

typedef _Atomic(struct store_cache_entry *) entry_link;

struct stripe {
    atomic_uint changing; /* Writes under way. */
    uint64_t
        first_generation; /* What was read earlier is not kept. Guarded by the shard's mutex. */
};

struct shard {
    entry_link *buckets; /* Links are stored under the mutex. The pointer to them never changes. */
    /* Guards all below but `seen` and `changing` of the stripes. */
    _Alignas(STORE_LINE_SIZE) pthread_mutex_t mutex;
    struct store_cache_entry *hand; /* The next entry that eviction looks at; NULL: no entry. */
    size_t size;
    uint64_t first_generation;         /* As in stripes, for all of them. */
    struct store_cache_entry *retired; /* Removed, and perhaps in use. */
    size_t retired_count;
    size_t retired_size;
    size_t free_at_count; /* From which count or size on it is worth looking for unused ones. */
    size_t free_at_size;
    _Alignas(STORE_LINE_SIZE) _Atomic(uint16_t) seen[SEEN];
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

static entry_link *bucket_of(const struct store_cache *cache, const struct shard *shard,
                             uint64_t hash)
{
    return &shard->buckets[(hash >> 8) & cache->bucket_mask];
}

/* --- Life --- */

/* Those in use now will be so for a while. */
static void set_free_limits(const struct store_cache *cache, struct shard *shard)
{
    shard->free_at_count = shard->retired_count + STORE_CACHE_RETIRED_MAX;
    shard->free_at_size = shard->retired_size + cache->shard_capacity / STORE_CACHE_RETIRED_SHARE;
}

struct store_cache *store_cache_create(size_t capacity)
{
    struct store_cache *cache = NULL;
    assert(capacity > 0);
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
        cache->shards[i].buckets = store_alloc(buckets * sizeof(entry_link));
        set_free_limits(cache, &cache->shards[i]);
    }
    return cache;
}

static size_t size_with(size_t key_size, size_t content_size)
{
    return sizeof(struct store_cache_entry) + key_size + content_size + ALLOCATION_SIZE;
}

static size_t rendered_size(size_t size)
{
    return sizeof(struct rendered) + size + ALLOCATION_SIZE;
}

static size_t size_of(const struct store_cache_entry *entry)
{
    const struct rendered *rendered = atomic_load(&entry->rendered);
    return size_with(entry->key_size, entry->content_size) +
           (rendered == NULL ? 0 : rendered_size(rendered->size));
}

static void destroy_all(struct store_cache_entry *entries)
{
    while (entries != NULL) {
        struct store_cache_entry *next = entries->next;
        free(atomic_load(&entries->rendered));
        free(entries);
        entries = next;
    }
}

/* A counter is read after the look at the hazards: an entry is counted under the mutex, or by
 * somebody who has it already. */
static struct store_cache_entry *take_unused_locked(const struct store_cache *cache,
                                                    struct shard *shard)
{
    struct store_cache_entry *unused = NULL;
    struct store_cache_entry **link = &shard->retired;
    struct hazard_list held;
    if (shard->retired_count < shard->free_at_count && shard->retired_size < shard->free_at_size)
        return NULL;
    hazard_collect(&held);
    while (*link != NULL) {
        struct store_cache_entry *entry = *link;
        if (hazard_list_has(&held, entry) || atomic_load(&entry->references) > 0) {
            link = &entry->next;
            continue;
        }
        *link = entry->next;
        shard->retired_count--;
        shard->retired_size -= size_of(entry);
        entry->next = unused;
        unused = entry;
    }
    set_free_limits(cache, shard);
    return unused;
}

/* Frees what was removed under the lock, if it is worth it. */
static void unlock(const struct store_cache *cache, struct shard *shard)
{
    struct store_cache_entry *unused = take_unused_locked(cache, shard);
    pthread_mutex_unlock(&shard->mutex);
    destroy_all(unused);
}

void store_cache_release(void *handle)
{
    size_t before = atomic_fetch_sub(&((struct store_cache_entry *)handle)->references, 1);
    assert(before > 0);
    (void)before;
}

struct bytes store_cache_content(const struct store_cache_entry *entry)
{
    return bytes_of(entry->bytes, entry->content_size);
}

struct bytes store_cache_rendered(const struct store_cache_entry *entry)
{
    const struct rendered *rendered = atomic_load_explicit(&entry->rendered, memory_order_acquire);
    if (rendered == NULL || rendered->size == 0)
        return (struct bytes){ 0 };
    return bytes_of(rendered->bytes, rendered->size);
}

static struct engine_value value_of(const struct store_cache_entry *entry, void *handle,
                                    void (*release)(void *handle))
{
    return (struct engine_value){ .bytes = store_cache_content(entry),
                                  .rendered = store_cache_rendered(entry),
                                  .handle = handle,
                                  .release = release };
}

struct engine_value store_cache_value(struct store_cache_entry *entry)
{
    return value_of(entry, entry, store_cache_release);
}

static void clear_hazard(void *handle)
{
    hazard_clear(handle);
}

struct engine_value store_cache_lent_value(const struct store_cache_loan *loan)
{
    return loan->hazard == NULL ? store_cache_value(loan->entry)
                                : value_of(loan->entry, loan->hazard, clear_hazard);
}

void store_cache_return(struct store_cache_loan *loan)
{
    if (loan->hazard == NULL)
        store_cache_release(loan->entry);
    else
        hazard_clear(loan->hazard);
    *loan = (struct store_cache_loan){ 0 };
}

/* Takes what `at` points to out of its bucket and of the ring, and returns it. Others may still use
 * it. */
static struct store_cache_entry *unlink_at(struct shard *shard, entry_link *at)
{
    struct store_cache_entry *entry = atomic_load(at);
    atomic_store(&entry->linked, false); /* Before its link: see the walk in the header. */
    atomic_store(at, atomic_load(&entry->bucket_next));
    if (shard->hand == entry)
        shard->hand = entry->next == entry ? NULL : entry->next;
    entry->previous->next = entry->next;
    entry->next->previous = entry->previous;
    shard->size -= size_of(entry);
    return entry;
}

/* Keeps an entry that was unlinked until nobody uses it. */
static void retire(struct shard *shard, struct store_cache_entry *entry)
{
    entry->next = shard->retired;
    shard->retired = entry;
    shard->retired_count++;
    shard->retired_size += size_of(entry);
}

static void remove_entry(struct store_cache *cache, struct shard *shard,
                         const struct store_cache_entry *entry)
{
    entry_link *at = bucket_of(cache, shard, entry->hash);
    while (atomic_load(at) != entry)
        at = &atomic_load(at)->bucket_next;
    retire(shard, unlink_at(shard, at));
}

void store_cache_destroy(struct store_cache *cache)
{
    if (cache == NULL)
        return;
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        struct shard *shard = &cache->shards[i];
        while (shard->hand != NULL)
            remove_entry(cache, shard, shard->hand);
        destroy_all(shard->retired);
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

static entry_link *locate(struct store_cache *cache, struct shard *shard,
                          const struct store_cache_name *name)
{
    entry_link *at = bucket_of(cache, shard, name->hash);
    struct store_cache_entry *entry;
    while ((entry = atomic_load(at)) != NULL && !is_named(entry, name))
        at = &entry->bucket_next;
    return at;
}

static _Atomic(uint16_t) *seen_of(struct shard *shard, uint64_t hash)
{
    return &shard->seen[(hash >> 20) % SEEN];
}

/* Never zero, which is what the table begins with. */
static uint16_t tag_of(enum store_cache_kind kind, uint64_t hash)
{
    return (uint16_t)((hash ^ kind) | 1);
}

/* Threads that miss at the same moment may overwrite each other's tag, which costs one more miss.
 */
static bool was_seen(struct shard *shard, const struct store_cache_name *name)
{
    _Atomic(uint16_t) *seen = seen_of(shard, name->hash);
    uint16_t tag = tag_of(name->kind, name->hash);
    if (atomic_load_explicit(seen, memory_order_relaxed) == tag)
        return true;
    atomic_store_explicit(seen, tag, memory_order_relaxed);
    return false;
}

/* A run is much to gather for a scan that wants one entry of it. Where writes and scans take turns
 * nobody would find it again. */
static void forget_run_was_seen(struct shard *shard, uint64_t run_hash)
{
    _Atomic(uint16_t) *seen = seen_of(shard, run_hash);
    if (atomic_load_explicit(seen, memory_order_relaxed) == tag_of(STORE_CACHE_RUN, run_hash))
        atomic_store_explicit(seen, 0, memory_order_relaxed);
}

static bool is_changing(struct store_cache *cache, struct shard *shard, uint64_t run_hash)
{
    return atomic_load(&stripe_of(shard, run_hash)->changing) != 0 ||
           atomic_load(&cache->removals) != 0;
}

/* True if a view of `generation` may use the entry; `*wanted` as in store_cache_lend. Finds that
 * are counted at the same moment may count as one. */
static bool is_found(struct store_cache_entry *entry, uint64_t generation, bool *wanted)
{
    if (entry->generation > generation)
        return false;
    unsigned found = atomic_load_explicit(&entry->found, memory_order_relaxed);
    if (found < STORE_CACHE_RENDER_FINDS)
        atomic_store_explicit(&entry->found, (uint8_t)++found, memory_order_relaxed);
    *wanted = found == STORE_CACHE_RENDER_FINDS && atomic_load(&entry->rendered) == NULL;
    return true;
}

struct store_cache_entry *store_cache_find(struct store_cache *cache,
                                           const struct store_cache_name *name, uint64_t generation,
                                           bool *wanted)
{
    struct shard *shard = shard_of(cache, name->run_hash);
    struct store_cache_entry *entry = NULL;
    *wanted = false;
    pthread_mutex_lock(&shard->mutex);
    if (!is_changing(cache, shard, name->run_hash)) {
        entry = atomic_load(locate(cache, shard, name));
        if (entry == NULL)
            *wanted = was_seen(shard, name);
        else if (is_found(entry, generation, wanted))
            atomic_fetch_add(&entry->references, 1);
        else
            entry = NULL;
    }
    pthread_mutex_unlock(&shard->mutex);
    return entry;
}

enum walked { WALKED_TO_ENTRY, WALKED_TO_END, WALKED_IN_VAIN };

/* The entry that was come to is in one of the hazards, the one before it perhaps in the other. In
 * vain if a removal came in between, or if the thread has no hazard left. */
static enum walked walk(const entry_link *bucket, const struct store_cache_name *name,
                        struct hazard *hazards[2], struct store_cache_loan *loan)
{
    const entry_link *link = bucket;
    const struct store_cache_entry *before = NULL;
    for (size_t turn = 0;; turn = 1 - turn) {
        struct store_cache_entry *entry = atomic_load(link);
        if (entry == NULL)
            return WALKED_TO_END;
        if (hazards[turn] != NULL)
            hazard_set(hazards[turn], entry);
        else if ((hazards[turn] = hazard_take(HAZARDS_PER_THREAD, entry)) == NULL)
            return WALKED_IN_VAIN;
        if (atomic_load(link) != entry || (before != NULL && !atomic_load(&before->linked)))
            return WALKED_IN_VAIN;
        if (is_named(entry, name)) {
            *loan = (struct store_cache_loan){ .entry = entry, .hazard = hazards[turn] };
            return WALKED_TO_ENTRY;
        }
        before = entry;
        link = &entry->bucket_next;
    }
}

bool store_cache_lend(struct store_cache *cache, const struct store_cache_name *name,
                      uint64_t generation, struct store_cache_loan *loan, bool *wanted)
{
    struct shard *shard = shard_of(cache, name->run_hash);
    struct hazard *hazards[2] = { NULL, NULL };
    *wanted = false;
    *loan = (struct store_cache_loan){ 0 };
    if (is_changing(cache, shard, name->run_hash)) /* Before the walk: see the header. */
        return false;
    enum walked walked = walk(bucket_of(cache, shard, name->hash), name, hazards, loan);
    if (walked == WALKED_TO_ENTRY && !is_found(loan->entry, generation, wanted))
        *loan = (struct store_cache_loan){ 0 };
    if (walked == WALKED_TO_END)
        *wanted = was_seen(shard, name);
    for (size_t i = 0; i < COUNT_OF(hazards); i++)
        if (hazards[i] != loan->hazard)
            hazard_clear(hazards[i]);
    if (UNLIKELY(walked == WALKED_IN_VAIN))
        loan->entry = store_cache_find(cache, name, generation, wanted);
    return loan->entry != NULL;
}

/* --- Keeping --- */

static void make_room(struct store_cache *cache, struct shard *shard, size_t size)
{
    while (shard->size + size > cache->shard_capacity) {
        struct store_cache_entry *entry = shard->hand;
        assert(entry != NULL); /* What is kept is smaller than a shard. */
        if (atomic_load_explicit(&entry->found, memory_order_relaxed) > 0) {
            atomic_store_explicit(&entry->found, 0, memory_order_relaxed);
            shard->hand = entry->next;
        } else {
            remove_entry(cache, shard, entry);
        }
    }
}

/* Just behind the hand, so that it comes by all others before this one. */
static void link_entry(struct shard *shard, entry_link *bucket, struct store_cache_entry *entry)
{
    if (shard->hand == NULL) {
        entry->previous = entry->next = entry;
        shard->hand = entry;
    } else {
        entry->next = shard->hand;
        entry->previous = shard->hand->previous;
        entry->previous->next = entry;
        shard->hand->previous = entry;
    }
    shard->size += size_of(entry);
    atomic_init(&entry->bucket_next, atomic_load(bucket));
    atomic_init(&entry->linked, true);
    atomic_store(bucket, entry); /* From here on others have it. */
}

static struct store_cache_entry *create_entry(const struct store_cache_name *name,
                                              uint64_t generation, struct bytes content)
{
    struct store_cache_entry *entry = malloc(sizeof *entry + content.len + name->key.len);
    if (entry == NULL)
        abort();
    atomic_init(&entry->references, 0);
    entry->hash = name->hash;
    entry->generation = generation;
    entry->kind = name->kind;
    atomic_init(&entry->found, 0);
    atomic_init(&entry->linked, false);
    atomic_init(&entry->bucket_next, NULL);
    entry->next = NULL;
    atomic_init(&entry->rendered, NULL);
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
    bool is_current = !is_changing(cache, shard, name->run_hash) &&
                      generation >= stripe->first_generation &&
                      generation >= shard->first_generation;
    if (is_current && atomic_load(locate(cache, shard, name)) == NULL) {
        make_room(cache, shard, size_of(entry));
        link_entry(shard, bucket_of(cache, shard, name->hash), entry);
        entry = NULL;
    }
    unlock(cache, shard);
    destroy_all(entry);
}

static struct rendered *create_rendered(struct bytes rendered)
{
    struct rendered *created = malloc(sizeof *created + rendered.len);
    if (created == NULL)
        abort();
    created->size = rendered.len;
    if (rendered.len > 0)
        memcpy(created->bytes, rendered.data, rendered.len);
    return created;
}

void store_cache_give_rendered(struct store_cache *cache, struct store_cache_entry *entry,
                               struct bytes rendered)
{
    if (size_of(entry) + rendered_size(rendered.len) >
        cache->shard_capacity / STORE_CACHE_ENTRY_SHARE)
        rendered = (struct bytes){ 0 };
    struct rendered *created = create_rendered(rendered);
    struct shard *shard = shard_of(cache, entry->run_hash);
    pthread_mutex_lock(&shard->mutex);
    if (atomic_load(&entry->linked) && atomic_load(&entry->rendered) == NULL) {
        make_room(cache, shard, rendered_size(rendered.len));
        if (atomic_load(&entry->linked)) /* It may have been what had to go. */
            shard->size += rendered_size(rendered.len);
        else
            shard->retired_size += rendered_size(rendered.len);
        atomic_store(&entry->rendered, created);
        created = NULL;
    }
    unlock(cache, shard);
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
                        uint64_t hash, struct store_cache_removed *removed)
{
    entry_link *at = bucket_of(cache, shard, hash);
    struct store_cache_entry *entry;
    while ((entry = atomic_load(at)) != NULL)
        if (entry->hash == hash && entry->kind == kind) {
            unlink_at(shard, at);
            entry->next = removed->first;
            removed->first = entry;
            removed->count++;
        } else {
            at = &entry->bucket_next;
        }
}

/* `entry` takes the place of what is removed; NULL: nothing does. A removal that begins after the
 * look at their count has still to come by this shard, and finds the entry. */
static void end_change(struct store_cache *cache, const struct store_cache_touch *touch,
                       uint64_t moment, uint64_t generation, struct store_cache_entry *entry,
                       struct store_cache_removed *removed)
{
    struct shard *shard = shard_of(cache, touch->run_hash);
    struct stripe *stripe = stripe_of(shard, touch->run_hash);
    pthread_mutex_lock(&shard->mutex);
    remove_hash(cache, shard, STORE_CACHE_VALUE, touch->hash, removed);
    remove_hash(cache, shard, STORE_CACHE_RUN, touch->run_hash, removed);
    forget_run_was_seen(shard, touch->run_hash);
    if (stripe->first_generation <= generation)
        stripe->first_generation = generation + 1;
    if (entry != NULL && atomic_load(&cache->removals_begun) == moment) {
        make_room(cache, shard, size_of(entry));
        link_entry(shard, bucket_of(cache, shard, entry->hash), entry);
        entry = NULL;
    }
    struct store_cache_entry *unused = take_unused_locked(cache, shard);
    pthread_mutex_unlock(&shard->mutex);
    atomic_fetch_sub(&stripe->changing, 1); /* First: until then nobody finds what is there. */
    destroy_all(unused);
    destroy_all(entry);
}

void store_cache_end_change(struct store_cache *cache, const struct store_cache_touch *touch,
                            uint64_t generation, struct store_cache_removed *removed)
{
    end_change(cache, touch, DISTURBED, generation, NULL, removed);
}

/* As in take_unused_locked, a counter is read after the look at the hazards. */
void store_cache_free_removed(struct store_cache *cache, struct store_cache_removed *removed)
{
    struct store_cache_entry *entry = removed->first, *unused = NULL;
    struct hazard_list held;
    if (entry == NULL)
        return;
    *removed = (struct store_cache_removed){ 0 };
    hazard_collect(&held);
    for (struct store_cache_entry *next; entry != NULL; entry = next) {
        next = entry->next;
        if (LIKELY(!hazard_list_has(&held, entry) && atomic_load(&entry->references) == 0)) {
            entry->next = unused;
            unused = entry;
            continue;
        }
        struct shard *shard = shard_of(cache, entry->run_hash);
        pthread_mutex_lock(&shard->mutex);
        retire(shard, entry);
        unlock(cache, shard);
    }
    destroy_all(unused);
}

uint64_t store_cache_moment(struct store_cache *cache)
{
    uint64_t begun = atomic_load(&cache->removals_begun);
    return atomic_load(&cache->removals) == 0 ? begun : DISTURBED;
}

void store_cache_replace(struct store_cache *cache, const struct store_cache_name *name,
                         uint64_t moment, uint64_t generation, struct bytes content,
                         struct store_cache_removed *removed)
{
    struct store_cache_touch touch = { .run_hash = name->run_hash, .hash = name->hash };
    assert(name->kind == STORE_CACHE_VALUE);
    end_change(cache, &touch, moment, generation,
               fits(cache, name, content) ? create_entry(name, generation + 1, content) : NULL,
               removed);
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
        entry_link *at = &shard->buckets[i];
        struct store_cache_entry *entry;
        while ((entry = atomic_load(at)) != NULL) {
            uint64_t owner = load_u64_be(entry->bytes + entry->content_size);
            if (owner >= first && owner <= last)
                retire(shard, unlink_at(shard, at));
            else
                at = &entry->bucket_next;
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
        unlock(cache, shard);
    }
    atomic_fetch_sub(&cache->removals, 1);
}

size_t store_cache_capacity(const struct store_cache *cache)
{
    return cache->shard_capacity * STORE_CACHE_SHARDS;
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

size_t store_cache_retired_count(struct store_cache *cache)
{
    size_t count = 0;
    for (size_t i = 0; i < STORE_CACHE_SHARDS; i++) {
        pthread_mutex_lock(&cache->shards[i].mutex);
        count += cache->shards[i].retired_count;
        pthread_mutex_unlock(&cache->shards[i].mutex);
    }
    return count;
}
