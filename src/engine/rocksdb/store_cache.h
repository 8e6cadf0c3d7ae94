/* store_cache.h -- the item cache: hot reads that need not ask RocksDB.
 *
 * Holds copies of stored bytes of the spaces that clients read, of two kinds: the value at one key,
 * and a run, which is everything whose keys begin with the same STORE_KEY_FILTERED_SIZE bytes, such
 * as the items of one partition key.
 *
 * An entry is never stale. Views are numbered: each has a generation that is counted up before its
 * snapshot is taken. An entry knows the generation it was read at, and every write that touches it
 * removes it:
 *
 *   1. store_cache_begin_change, before RocksDB has the batch: counts the stripe of what it touches
 *      as changing, and from here on nobody finds that;
 *   2. RocksDB takes the batch;
 *   3. store_cache_end_change, with the generation counted by then: removes the entries, and from
 *      here on refuses to keep what was read at that generation or an earlier one, since such a
 *      snapshot may have been taken before the batch;
 *   4. the stripe no longer counts as changing on its account.
 *
 * So while an entry can be found, nothing that it holds was written since its generation, and it
 * shows what any view of that generation or a later one shows. A view that is older finds nothing.
 * A write that holds a key's latch finds what was written last: STORE_CACHE_NEWEST.
 *
 * Writers find entries under the mutex of a shard (store_cache_find). Views take no lock and write
 * no line that others write (store_cache_lend). They look at the stripe's counter first and then
 * walk along the bucket's chain, each entry in a hazard (base/hazard.h). Two things must hold.
 *
 * What a view is lent is not stale. Let W be a write that changes what an entry holds, and V the
 * view that is lent the entry.
 *   - V does not show W. An entry with W's value has a generation counted after W's batch, hence
 *     after V's snapshot and after V's generation: V passes it over. The entry from before W is
 *     what V shows.
 *   - V shows W. Then W's batch, and so W's step 1, happened before V's snapshot was taken,
 *     published and opened, hence before V looks at the counter. V reads 0 there, and since W's
 *     step 1 the counter can only be 0 after W's step 4, which happened after the entry from before
 *     W was removed. The look is an acquire and step 4 a release, so the walk, which comes later,
 *     does not meet that entry. This is why the look comes first: after a walk it would prove
 *     nothing, since steps 3 and 4 may come between the two.
 * A removal of ranges is such a write, with one counter for all stripes.
 *
 * What a walk reads is not freed. An entry is removed in two steps: it is flagged as not linked,
 * then what pointed to it points behind it. A walk that came to entry B by entry A sets a hazard
 * for B, reads A's pointer again, and then A's flag. If the pointer still leads to B and A is
 * linked, B was in the chain when its hazard was already set: had B been removed before, A's
 * pointer would have been changed, unless A had been removed even earlier, and then A is not
 * linked. So a thread that removes B later finds the hazard. Otherwise the view finds the entry
 * under the mutex, as a writer does. What a write removes is freed when the write has made all its
 * changes, while it is still in the processor's caches. Other removed entries, and those that were
 * in use at that moment, are freed in batches: no more wait for that than STORE_CACHE_RETIRED_MAX
 * in each shard, with a STORE_CACHE_RETIRED_SHARE of its capacity, besides those that are in use.
 *
 * An entry that is found again and again is rendered (engine_render): a value by itself, a run as a
 * block with each of its values rendered. The result follows from the entry, so it is as fresh.
 * Finds are counted up to STORE_CACHE_RENDER_FINDS, so that nobody writes to a hot entry.
 *
 * Bounded by its capacity in bytes. A key is cached on its second recent read, so that a scan of a
 * large table does not evict hot entries. For a run, a write forgets the first read.
 * Every function may be called from any thread; the locks here are leaves.
 */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_CACHE_H
#define STATOR_ENGINE_ROCKSDB_STORE_CACHE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct hazard;
struct store_cache;
struct store_cache_entry;
struct store_key;

enum {
    STORE_CACHE_SHARDS = 32,
    STORE_CACHE_ENTRY_SHARE = 4, /* An entry may take this part of its shard's capacity. */
    /* Finds after which an entry is rendered: for one that is written every few reads, rendering
     * would never pay. */
    STORE_CACHE_RENDER_FINDS = 4,
    /* Removed entries that wait to be freed, in each shard: so many, or this part of its capacity.
     */
    STORE_CACHE_RETIRED_MAX = 8,
    STORE_CACHE_RETIRED_SHARE = 8,
    /* glibc's malloc hands out up to seven blocks of a size that were freed last without a search.
     */
    STORE_CACHE_REMOVED_MAX = 7,
};

#define STORE_CACHE_NEWEST UINT64_MAX /* For a writer, which needs what was written last. */

enum store_cache_kind { STORE_CACHE_VALUE, STORE_CACHE_RUN };

/* What an entry is found by. Borrows the key it was made of. */
struct store_cache_name {
    enum store_cache_kind kind;
    struct bytes key;
    uint64_t run_hash; /* Of the run that the key lies in. */
    uint64_t hash;
};

/* What a write changes: the value at a key, and with it the key's run. */
struct store_cache_touch {
    uint64_t run_hash;
    uint64_t hash;
};

/* True if keys of this space are cached at all. */
bool store_cache_serves(enum engine_space space);
/* `key` is at least STORE_KEY_FILTERED_SIZE long; false if it is not. */
MUST_CHECK bool store_cache_name_value(const struct store_key *key, struct store_cache_name *out);
MUST_CHECK bool store_cache_name_run(const struct store_key *key, struct store_cache_name *out);

struct store_cache *store_cache_create(size_t capacity);
void store_cache_destroy(struct store_cache *cache); /* NULL is allowed. No entry may be in use. */

/* An entry that a view has found. */
struct store_cache_loan {
    struct store_cache_entry *entry;
    struct hazard *hazard; /* NULL: the entry counts it. */
};
/* False if a view of `generation` must ask RocksDB; `*wanted` then tells whether what it finds
 * there is worth keeping, and otherwise whether the entry should be rendered. The entry is the
 * caller's until store_cache_return, which any thread may call. */
MUST_CHECK bool store_cache_lend(struct store_cache *cache, const struct store_cache_name *name,
                                 uint64_t generation, struct store_cache_loan *loan, bool *wanted);
void store_cache_return(struct store_cache_loan *loan); /* Leaves it without an entry. */
/* The content, returned by releasing the value. */
struct engine_value store_cache_lent_value(const struct store_cache_loan *loan);

/* The same for writers, who may have hundreds of entries at a time; NULL: not found. The entry is
 * counted, and the caller's until store_cache_release. */
struct store_cache_entry *store_cache_find(struct store_cache *cache,
                                           const struct store_cache_name *name, uint64_t generation,
                                           bool *wanted);
struct bytes store_cache_content(const struct store_cache_entry *entry); /* Aligned to 8 bytes. */
/* What store_cache_give_rendered was given; data NULL: nothing yet, or there is none. Aligned too.
 */
struct bytes store_cache_rendered(const struct store_cache_entry *entry);
/* Keeps a copy of `rendered` with an entry, unless it is too large; data NULL: there is none. Both
 * are final. */
void store_cache_give_rendered(struct store_cache *cache, struct store_cache_entry *entry,
                               struct bytes rendered);
void store_cache_release(void *entry);
/* The content, released by releasing the value. */
struct engine_value store_cache_value(struct store_cache_entry *entry);
/* Keeps a copy of what a view of `generation` has read, unless it may be out of date already or is
 * too large. */
void store_cache_keep(struct store_cache *cache, const struct store_cache_name *name,
                      uint64_t generation, struct bytes content);

void store_cache_begin_change(struct store_cache *cache, const struct store_cache_touch *touch);
/* Entries that a write has removed. All zero is empty. */
struct store_cache_removed {
    struct store_cache_entry *first;
    size_t count;
};
/* Puts what it removes into `removed`, for store_cache_free_removed. */
void store_cache_end_change(struct store_cache *cache, const struct store_cache_touch *touch,
                            uint64_t generation, struct store_cache_removed *removed);
/* Frees them, but for those in use, which are freed later. To be called at the end of a batch, and
 * within it whenever STORE_CACHE_REMOVED_MAX have come together, not for each: it looks at the
 * hazards of all threads. */
void store_cache_free_removed(struct store_cache *cache, struct store_cache_removed *removed);
/* Call it before RocksDB has the batch. store_cache_replace learns from it whether a removal was
 * under way beside the change, so that the order of the two is unknown. */
uint64_t store_cache_moment(struct store_cache *cache);
/* Ends the change of the value `name` as store_cache_end_change does, and keeps what was written,
 * which views of later generations show, unless there was such a removal. */
void store_cache_replace(struct store_cache *cache, const struct store_cache_name *name,
                         uint64_t moment, uint64_t generation, struct bytes content,
                         struct store_cache_removed *removed);
/* The same for a write that deletes ranges: everything of the owners from `first` to `last`. */
void store_cache_begin_removal(struct store_cache *cache);
void store_cache_end_removal(struct store_cache *cache, uint64_t first, uint64_t last,
                             uint64_t generation);

size_t store_cache_capacity(const struct store_cache *cache);
/* What the entries take, and, for tests, how many that were removed are not freed yet. */
size_t store_cache_size(struct store_cache *cache);
size_t store_cache_retired_count(struct store_cache *cache);

#endif
