/* engine.h -- the storage contract: addressed bytes, consistent views, atomic writes.
 *
 * Small and independent of any one store, so that a distributed store can implement it. An address
 * is a place (owner, partition, space) and a key; keys sort by memcmp within a place.
 *
 * The layers above rely on two promises:
 *   1. A completion says ENGINE_OK only when the write would survive a power cut (or whatever the
 *      configured durability promises).
 *   2. A view shows only such writes, and every write whose completion ran before the view opened.
 * So nothing that was visible is ever lost, and an acknowledged write is visible to all.
 *
 * Any thread may call any function. A view, with its scans, belongs to the thread that opened it,
 * which also closes it: an engine may keep a view in memory of that thread alone, so that reads on
 * different cores share no cache line. engine_view_share returns a view that may move. A write
 * belongs to one thread at a time. Writes wait for one another; threads need not: a thread that
 * must not block gets a callback when its write begins (struct engine_wait). A thread that blocks
 * ends its write before it begins another, because a pessimistic engine would otherwise wait for
 * itself. Implementations fill in engine_ops (engine_ops.h) in folders beside this file.
 */
#ifndef STATOR_ENGINE_ENGINE_H
#define STATOR_ENGINE_ENGINE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct engine;
struct engine_view;
struct engine_scan;
struct engine_write;

enum engine_status {
    ENGINE_OK,
    ENGINE_NOT_FOUND,
    ENGINE_END,         /* A scan has nothing more within its range and limits. */
    ENGINE_CONFLICT,    /* What the write depended on changed; decide again. */
    ENGINE_BUSY,        /* Others held what the write depends on for too long; nothing was done. */
    ENGINE_WAITING,     /* Others hold it now: struct engine_wait will be called. */
    ENGINE_UNKNOWN,     /* The write may or may not have taken place. */
    ENGINE_CORRUPT,     /* Stored bytes failed their check. */
    ENGINE_FULL,        /* No space left. */
    ENGINE_IO,          /* Any other failure of the store. */
    ENGINE_LOST,        /* The store's files were removed or replaced under the server. */
    ENGINE_TOO_LARGE,   /* More than one write may change; nothing was done. */
    ENGINE_UNSUPPORTED, /* A capability that this engine does not have. */
};
const char *engine_status_name(enum engine_status status);

enum engine_capability {
    ENGINE_GLOBAL_ATOMIC =
        1 << 0,                   /* One write may span partitions and owners. api_open needs it. */
    ENGINE_REVERSE = 1 << 1,      /* Scans run backward; without it they do so at a price. */
    ENGINE_CHECKPOINT = 1 << 2,   /* A copy can be made while writes go on. */
    ENGINE_RANGE_DELETE = 1 << 3, /* One write deletes any range; see engine_write_delete_range. */
    /* A write of several partitions costs what it costs in one; without it, what need not be one
     * write should not be made one across partitions. */
    ENGINE_SPANS_FREELY = 1 << 4,
};

/* Stored in keys: values never change. */
enum engine_space {
    ENGINE_SPACE_CATALOGUE = 1,
    ENGINE_SPACE_ITEMS = 2,
    /* Entries of a local index, or of a global one in its own partitions. */
    ENGINE_SPACE_INDEX = 3,
    ENGINE_SPACE_CHANGES = 4,
    ENGINE_SPACE_EXPIRY = 5,
    ENGINE_SPACE_TOKENS = 6,
    ENGINE_SPACE_STATS = 7,       /* Item counts and sizes. */
    ENGINE_SPACE_COLLECTIONS = 8, /* Sizes of item collections. */
    ENGINE_SPACE_HISTORY = 9,     /* What items were before their changes. */
    /* Stamps of the items of global tables, and which of them wait for which region. */
    ENGINE_SPACE_REPLICAS = 10,
    ENGINE_SPACE_METRICS = 11,  /* Samples of metrics. */
    ENGINE_SPACE_INSIGHTS = 12, /* Which keys were accessed most. */
    ENGINE_SPACE_MONITORS = 13, /* Alarms, dashboards, scaling policies. */
};

/* True for spaces that many writes share, so that each should hold their addresses for a moment
 * only: see engine_write_extend. */
static inline bool engine_space_is_shared(enum engine_space space)
{
    return space == ENGINE_SPACE_STATS || space == ENGINE_SPACE_CHANGES;
}

/* Far above what DynamoDB's key limits lead to, even with every byte escaped. */
enum { ENGINE_KEY_SIZE_MAX = 64 * 1024 };
/* Never an owner, so that every owner has a successor. */
#define ENGINE_OWNER_MAX UINT64_MAX

struct engine_place {
    uint64_t owner;     /* A table, an index or the catalogue. Never reused. */
    uint64_t partition; /* Never reused. */
    enum engine_space space;
};

struct engine_address {
    struct engine_place place;
    struct bytes key;
};

static inline bool engine_place_equal(const struct engine_place *a, const struct engine_place *b)
{
    return a->owner == b->owner && a->partition == b->partition && a->space == b->space;
}
static inline bool engine_address_equal(const struct engine_address *a,
                                        const struct engine_address *b)
{
    return engine_place_equal(&a->place, &b->place) && bytes_equal(a->key, b->key);
}

/* Renders a value as readers want it, in the arena, so that they need not do it again and again;
 * data NULL: it cannot be rendered. An engine that caches values may cache them rendered, too. */
typedef struct bytes engine_render(struct arena *arena, struct bytes value);

/* Bytes borrowed from the engine until released. Releasing a zeroed one is allowed. */
struct engine_value {
    struct bytes bytes;
    struct bytes
        rendered; /* By engine_render, of a value of a view; data NULL if the engine has none. */
    void *handle; /* The engine's own. */
    void (*release)(void *handle);
};
static inline void engine_value_release(struct engine_value *value)
{
    if (value->release != NULL)
        value->release(value->handle);
    *value = (struct engine_value){ 0 };
}

/* --- Opening and closing --- */

enum engine_durability {
    /* A completion means: synced to the disk. */
    ENGINE_DURABILITY_SYNC,
    /* A completion means: handed to the operating system. Survives a crash of the process, not of
     * the machine. */
    ENGINE_DURABILITY_OS,
};

/* An engine ignores the options that it has no use for. */
struct engine_options {
    const char *engine;    /* A name in the registry (engine_registry.c); NULL: the first one. */
    const char *directory; /* Created if missing, unless read-only. Not used when in memory. */
    bool in_memory;
    /* The directory must hold a store. Neither opening nor anything after it changes a byte in
     * there, and writes are refused. It is locked all the same. */
    bool read_only;
    enum engine_durability durability;
    /* Do not extend the write-ahead log before it is needed (rocksdb/store_ahead.h). */
    bool leaves_log_alone;
    /* How long a write waits for those that have its addresses; 0: ENGINE_WRITE_WAIT_MS. */
    unsigned write_wait_ms;
    /* How long the disk may take before it counts as stuck; 0: ENGINE_STUCK_MS. */
    unsigned stuck_ms;
    size_t item_cache_size; /* 0: none. */
    engine_render *render;  /* For the items in it; NULL: none. */
    size_t block_cache_size;
    size_t write_buffer_size;
    unsigned open_files_max; /* Files kept open; 0: ENGINE_OPEN_FILES_MAX. */
};

enum {
    ENGINE_MESSAGE_MAX = 512,
    /* A write that waits occupies no thread, so it need not be refused soon; but its client should
     * get an answer before it gives up. */
    ENGINE_WRITE_WAIT_MS = 5000,
    /* A busy disk syncs within a second or two. */
    ENGINE_STUCK_MS = 10 * 1000,
    ENGINE_OPEN_FILES_MAX = 512, /* The rest of the usual limit is for connections. */
};

/* NULL with one line for people in `message` if the store cannot be used: unknown engine, missing
 * rights, no space, in use by another process, damaged. */
MUST_CHECK struct engine *engine_open(const struct engine_options *options,
                                      char message[ENGINE_MESSAGE_MAX]);

unsigned engine_capabilities(const struct engine *engine);
/* Waits for writes under way, makes everything durable, and frees it. Closing NULL is allowed. */
void engine_close(struct engine *engine);

/* Whether writes can succeed now. */
enum engine_health {
    ENGINE_HEALTH_OK,
    ENGINE_HEALTH_FULL,   /* Items can be read and deleted, but not stored. */
    ENGINE_HEALTH_FAILED, /* The store refused a write and has not taken one since. */
    ENGINE_HEALTH_LOST,   /* ENGINE_LOST; only a restart ends it. */
    /* Nothing has failed, but a sync, or a write, has waited for the disk for `stuck_ms`. */
    ENGINE_HEALTH_STUCK,
};
/* Reads a few words of memory, so it may be called for every request. Shows a failure, or its
 * end, at the latest a second after the engine noticed it. */
enum engine_health engine_health(const struct engine *engine);

enum { ENGINE_SYNC_OCTAVES = 40 };

/* What the engine did since it was opened, and how it is now. What an engine cannot tell is 0. */
struct engine_statistics {
    bool has_disk;  /* False: there is nothing to sync. */
    uint64_t syncs; /* Of the log; each makes all writes durable that waited for it. */
    uint64_t sync_ns;
    uint64_t sync_octaves[ENGINE_SYNC_OCTAVES]; /* Syncs of up to 2^i ns, above the one before. */
    uint64_t writes;                            /* Batches that the store has taken. */
    uint64_t written_size;
    uint64_t sync_queue;  /* Writes that wait for a sync. */
    uint64_t stall_queue; /* Writes that wait because the store takes none. */
    uint64_t stalls;      /* Writes that had to wait so. */
    bool is_stalled;
    uint64_t item_cache_hits;
    uint64_t item_cache_misses;
    uint64_t item_cache_size;
    uint64_t item_cache_size_max;
    /* Of every ENGINE_BLOCK_SAMPLE_RATE-th read that asks for blocks: counting each would cost a
     * tenth of it. */
    uint64_t block_cache_hits_sampled;
    uint64_t block_cache_misses_sampled;
    uint64_t block_cache_size;
    uint64_t block_cache_size_max;
    uint64_t memtable_size;
    uint64_t file_size; /* Table files, all that exist. */
    uint64_t live_size; /* An estimate of what they would take without garbage. */
    uint64_t file_count;
    uint64_t compactions_running;
    uint64_t flushes_running;
    uint64_t compaction_pending_size; /* An estimate of what compactions should rewrite. */
};
enum { ENGINE_BLOCK_SAMPLE_RATE = 64 };

/* Fills in `out`. Takes the store's short locks, so it is no call for a loop; waits for no disk. */
void engine_read_statistics(struct engine *engine, struct engine_statistics *out);

/* Copies the whole store at one moment to `path`, which must not exist, on the store's own file
 * system. The copy can be opened like the store itself. It holds every write that was completed
 * before the call, and each write whole or not at all. Waits for the disk; writes continue
 * meanwhile. The caller removes the copy, also what is left of one that failed. ENGINE_UNSUPPORTED
 * without ENGINE_CHECKPOINT, or if the store is in memory or was opened for reading only. */
MUST_CHECK enum engine_status engine_checkpoint(struct engine *engine, const char *path);

/* --- Views --- */

enum engine_consistency {
    ENGINE_STRONG,   /* Shows every write completed before the view was opened. */
    ENGINE_EVENTUAL, /* May be older; on some engines it is cheaper. */
    /* As strong, but what two reads show need not be of one moment. For readers of one thing after
     * another, and for those who decide again in a write: an engine that keeps no old versions
     * answers ENGINE_CONFLICT to a strong view whose partition others change meanwhile, so such a
     * reader would never come through a busy one. The others pay nothing for either. */
    ENGINE_NEWEST,
};

MUST_CHECK enum engine_status engine_view_open(struct engine *engine,
                                               enum engine_consistency consistency,
                                               struct engine_view **out);
/* Another view of the same state, which may move between threads and which any thread may close.
 * For views that are kept for long or passed on. The caller makes sure that `view` is not closed
 * meanwhile. */
struct engine_view *engine_view_share(struct engine_view *view);
/* Replaces `view`, which is closed, by one that another thread may continue with. */
struct engine_view *engine_view_move(struct engine_view *view);
/* Closing NULL is allowed. Values and scans of the view must be gone before. */
void engine_view_close(struct engine_view *view);

/* ENGINE_NOT_FOUND if nothing is stored there. The value must be released before the view closes.
 */
MUST_CHECK enum engine_status engine_view_get(struct engine_view *view,
                                              const struct engine_address *address,
                                              struct engine_value *out);

struct engine_range {
    struct engine_place place;
    struct bytes first; /* Inclusive; empty: from the start. */
    struct bytes last;  /* Exclusive; empty: to the end. */
    bool reverse;       /* From the end of the range down. */
    size_t count_max;   /* Stop after so many entries; 0: no limit. */
    /* Stop once the keys and values handed out reach this many bytes; 0: no limit. The entry that
     * reaches it is still handed out, so that one larger than the limit does not block a caller. */
    size_t bytes_max;
};
struct engine_entry {
    struct bytes key; /* Within the place. Borrowed until the next step. */
    struct bytes value;
    struct bytes rendered; /* As a value's. */
};
/* `range`'s bytes are copied as needed. A range that ends before it starts is empty. */
MUST_CHECK enum engine_status engine_scan_open(struct engine_view *view,
                                               const struct engine_range *range,
                                               struct engine_scan **out);
/* ENGINE_OK with an entry, or ENGINE_END. To go on after a limit, open a scan behind the last key.
 */
MUST_CHECK enum engine_status engine_scan_next(struct engine_scan *scan, struct engine_entry *out);
void engine_scan_close(struct engine_scan *scan); /* Closing NULL is allowed. */

/* The first place behind `after` that holds anything; NULL: the first of all. Places are in the
 * order of owner, partition and space. ENGINE_END if there is none. `after` need not hold anything
 * and may be `out`. Either may have an owner or a space that no caller writes to: `stator check`
 * finds stray data by this. */
MUST_CHECK enum engine_status engine_view_next_place(struct engine_view *view,
                                                     const struct engine_place *after,
                                                     struct engine_place *out);

/* --- Writes --- */

/* Embedded in the caller's own structure; must live until `done` was called. */
struct engine_completion {
    /* Called exactly once, on any thread, possibly before engine_write_commit returns. Must not
     * block. */
    void (*done)(struct engine_completion *completion, enum engine_status status);
    struct engine_completion *next; /* The engine's own while it holds the completion. */
};

/* Embedded in the caller's own structure; must live until `ready` was called. */
struct engine_wait {
    /* Called exactly once after ENGINE_WAITING, on any thread, perhaps before the caller sees
     * ENGINE_WAITING: with ENGINE_OK and the write, or with how it failed. Must not block, and must
     * not use the write: the caller's own thread does that. */
    void (*ready)(struct engine_wait *wait, enum engine_status status, struct engine_write *write);
    /* Identifies the thread that continues the write; NULL: any. An engine may pass what a write
     * releases to the next write of the same thread first, within bounds. */
    const void *thread;
    /* A thread is blocked until `ready`, so there are few such writes: the engine does not refuse
     * them for being too many. */
    bool blocks;
};

enum { ENGINE_WRITE_ADDRESSES_MAX = 640 };

/* Starts a write whose decision depends on `addresses` (at most ENGINE_WRITE_ADDRESSES_MAX; all
 * that it will get). A pessimistic engine holds them until the commit, and waits for others who do,
 * in a fair order, but not for ever: ENGINE_BUSY. Duplicates are allowed.
 * ENGINE_UNSUPPORTED if the store was opened for reading only. */
MUST_CHECK enum engine_status engine_write_begin(struct engine *engine,
                                                 const struct engine_address *addresses,
                                                 size_t address_count, struct engine_write **out);
/* The same for threads that must not wait: ENGINE_WAITING if others hold an address. `addresses`
 * are not needed any more when this has returned. */
MUST_CHECK enum engine_status
engine_write_begin_later(struct engine *engine, const struct engine_address *addresses,
                         size_t address_count, struct engine_wait *wait, struct engine_write **out);
/* The same, now or not at all: ENGINE_BUSY if others hold an address, with `busy` set for each that
 * is held. It has one element for each address, and is only valid then. If none is set, the engine
 * cannot take any write now. */
MUST_CHECK enum engine_status engine_write_try(struct engine *engine,
                                               const struct engine_address *addresses,
                                               size_t address_count, bool *busy,
                                               struct engine_write **out);
/* Adds addresses of shared spaces (engine_space_is_shared) to a write that began without any, so
 * that it holds them for its end only. Once for each write. Unless it ends with ENGINE_OK, the
 * write can only be abandoned. */
MUST_CHECK enum engine_status engine_write_extend(struct engine_write *write,
                                                  const struct engine_address *addresses,
                                                  size_t address_count);
/* The same for threads that must not wait. */
MUST_CHECK enum engine_status engine_write_extend_later(struct engine_write *write,
                                                        const struct engine_address *addresses,
                                                        size_t address_count,
                                                        struct engine_wait *wait);
/* Reads the newest state, which may not be durable yet, without this write's own puts. The address
 * must be among those of the write, or be that of an index entry (ENGINE_SPACE_INDEX) or of a stamp
 * or queue entry (ENGINE_SPACE_REPLICAS): both only change in writes that began with their item.
 * The value must be released before the commit. */
MUST_CHECK enum engine_status engine_write_get(struct engine_write *write,
                                               const struct engine_address *address,
                                               struct engine_value *out);
void engine_write_put(struct engine_write *write, const struct engine_address *address,
                      struct bytes value);
void engine_write_delete(struct engine_write *write, const struct engine_address *address);
/* Changes take effect in the order of the calls, so a later one wins over an earlier one.
 * Deletes [first, last) of a place; `last` empty: to its end.
 *
 * Without ENGINE_RANGE_DELETE, this deletes the keys that a view opened now shows, one by one: what
 * this write itself has put into the range stays, and if there are more than ENGINE_RANGE_KEYS_MAX
 * keys the commit fails with ENGINE_TOO_LARGE. Unless the range is known to be that small, call
 * engine_prepare_delete_range before the write begins. */
void engine_write_delete_range(struct engine_write *write, const struct engine_place *place,
                               struct bytes first, struct bytes last);
/* The same for all places of an owner. */
void engine_write_delete_owner(struct engine_write *write, uint64_t owner);

enum { ENGINE_RANGE_KEYS_MAX = 4096 };
/* For a range that nobody writes to any more: without ENGINE_RANGE_DELETE, empties it by writes of
 * at most ENGINE_RANGE_KEYS_MAX keys each, and waits for them, so that the write that deletes it
 * finds little left to do. A crash may leave any part of the range. With it, does nothing. */
MUST_CHECK enum engine_status engine_prepare_delete_range(struct engine *engine,
                                                          const struct engine_place *place,
                                                          struct bytes first, struct bytes last);
MUST_CHECK enum engine_status engine_prepare_delete_owner(struct engine *engine, uint64_t owner);

/* Applies all puts and deletes in one step, frees `write`, and answers through `completion`. A
 * write without any still completes only when all it has read is durable: a refusal must not reveal
 * what a power cut may undo. */
void engine_write_commit(struct engine_write *write, struct engine_completion *completion);
/* Frees `write` without applying it and without waiting: for callers that answer nothing. */
void engine_write_abandon(struct engine_write *write);
/* engine_write_commit for threads that may wait. */
MUST_CHECK enum engine_status engine_write_commit_wait(struct engine_write *write);

#endif
