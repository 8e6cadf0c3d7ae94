/* live_keys.c -- see live_keys.h. */
#include "auth/live_keys.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"

struct live_keys {
    struct key_file file;
    _Atomic int64_t checked_at_ms;
    pthread_mutex_t lock; /* Guards the rest. */
    struct live_ring *current;
    struct stat state; /* Of the file that `current` was read from. */
    uint64_t generation;
};

/* Reads the file. On failure returns false and an empty ring. */
static bool read_ring(const struct key_file *file, uint64_t generation, struct live_ring **out,
                      struct stat *state, char message[KEY_FILE_MESSAGE_MAX])
{
    struct live_ring *ring = memory_checked(malloc(sizeof *ring));
    *ring = (struct live_ring){ .arena = arena_create(), .generation = generation };
    atomic_init(&ring->references, 1);
    *out = ring;
    if (key_file_read(ring->arena, file, &ring->ring, state, message))
        return true;
    ring->ring = (struct key_ring){ 0 };
    return false;
}

struct live_keys *live_keys_open(const struct key_file *file, char message[KEY_FILE_MESSAGE_MAX])
{
    struct live_keys *keys = memory_checked(malloc(sizeof *keys));
    *keys = (struct live_keys){ .file = *file };
    pthread_mutex_init(&keys->lock, NULL);
    atomic_init(&keys->checked_at_ms, 0);
    if (read_ring(file, 0, &keys->current, &keys->state, message))
        return keys;
    live_keys_close(keys);
    return NULL;
}

void live_keys_close(struct live_keys *keys)
{
    if (keys == NULL)
        return;
    live_keys_release(keys->current);
    pthread_mutex_destroy(&keys->lock);
    explicit_bzero(keys, sizeof *keys);
    free(keys);
}

/* Compares mode and owner too: changing them may make the file usable, or unusable. */
static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_uid == b->st_uid && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static void reload_if_changed(struct live_keys *keys)
{
    char message[KEY_FILE_MESSAGE_MAX];
    struct stat state = { 0 };
    struct live_ring *ring;
    if (!key_file_stat(&keys->file, &state))
        state = (struct stat){ 0 };
    pthread_mutex_lock(&keys->lock);
    bool same = same_file(&state, &keys->state);
    uint64_t generation = same ? 0 : ++keys->generation;
    pthread_mutex_unlock(&keys->lock);
    if (same)
        return;
    bool ok = read_ring(&keys->file, generation, &ring, &state, message);
    if (ok)
        log_write(LOG_INFO, "auth", "read %zu access keys", ring->ring.count);
    else
        log_write(LOG_ERROR, "auth", "all requests are refused: %s", message);
    pthread_mutex_lock(&keys->lock);
    if (generation == keys->generation) { /* Otherwise another thread has read the file since. */
        struct live_ring *old = keys->current;
        keys->current = ring;
        keys->state = state;
        ring = old;
    }
    pthread_mutex_unlock(&keys->lock);
    live_keys_release(ring);
}

struct live_ring *live_keys_acquire(struct live_keys *keys, int64_t now_ms)
{
    int64_t checked_at = atomic_load_explicit(&keys->checked_at_ms, memory_order_relaxed);
    bool due = now_ms - checked_at >= LIVE_KEYS_INTERVAL_MS || now_ms < checked_at;
    if (due && atomic_compare_exchange_strong(&keys->checked_at_ms, &checked_at, now_ms))
        reload_if_changed(keys);
    pthread_mutex_lock(&keys->lock);
    struct live_ring *ring = keys->current;
    atomic_fetch_add_explicit(&ring->references, 1, memory_order_relaxed);
    pthread_mutex_unlock(&keys->lock);
    return ring;
}

void live_keys_release(struct live_ring *ring)
{
    unsigned references = atomic_fetch_sub_explicit(&ring->references, 1, memory_order_acq_rel);
    assert(references > 0);
    if (references > 1)
        return;
    arena_destroy(ring->arena);
    free(ring);
}
