/* live_keys.c -- see live_keys.h. */
#include "auth/live_keys.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "model/error.h"

struct live_keys {
    struct key_file file;
    pthread_t thread;
    bool follows;         /* There is a thread. */
    pthread_mutex_t lock; /* Guards the rest. */
    struct live_ring *current;
    struct stat state; /* Of the file that `current` was read from. */
    uint64_t generation;
    pthread_cond_t stopped;
    bool is_stopping;
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
    timed_wait_init(&keys->stopped);
    if (read_ring(file, 0, &keys->current, &keys->state, message))
        return keys;
    live_keys_close(keys);
    return NULL;
}

void live_keys_close(struct live_keys *keys)
{
    if (keys == NULL)
        return;
    pthread_mutex_lock(&keys->lock);
    keys->is_stopping = true;
    pthread_cond_signal(&keys->stopped);
    pthread_mutex_unlock(&keys->lock);
    if (keys->follows)
        pthread_join(keys->thread, NULL);
    live_keys_release(keys->current);
    pthread_cond_destroy(&keys->stopped);
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

static uint64_t next_generation(struct live_keys *keys)
{
    pthread_mutex_lock(&keys->lock);
    uint64_t generation = ++keys->generation;
    pthread_mutex_unlock(&keys->lock);
    return generation;
}

/* Reads the file and publishes it. The caller took the generation before: whatever the file held
 * then, every ring of this generation or a later one has it. So a reader that was overtaken drops
 * what it read. */
static bool reload(struct live_keys *keys, uint64_t generation)
{
    char message[KEY_FILE_MESSAGE_MAX];
    struct stat state = { 0 };
    struct live_ring *ring;
    bool ok = read_ring(&keys->file, generation, &ring, &state, message);
    if (ok)
        log_write(LOG_INFO, "auth", "read %zu access keys", ring->ring.count);
    else
        log_write(LOG_ERROR, "auth", "all requests are refused: %s", message);
    pthread_mutex_lock(&keys->lock);
    if (generation > keys->current->generation) {
        struct live_ring *old = keys->current;
        keys->current = ring;
        keys->state = state;
        ring = old;
    }
    pthread_mutex_unlock(&keys->lock);
    live_keys_release(ring);
    return ok;
}

void live_keys_check(struct live_keys *keys)
{
    struct stat state = { 0 };
    if (!key_file_stat(&keys->file, &state))
        state = (struct stat){ 0 };
    pthread_mutex_lock(&keys->lock);
    bool same = same_file(&state, &keys->state);
    pthread_mutex_unlock(&keys->lock);
    if (!same)
        (void)reload(keys, next_generation(keys));
}

/* Waits for as long, or less. False: the thread is to end. */
static bool wait_until_due(struct live_keys *keys, int64_t wait_ms)
{
    pthread_mutex_lock(&keys->lock);
    if (!keys->is_stopping)
        timed_wait(&keys->stopped, &keys->lock, wait_ms);
    bool stops = keys->is_stopping;
    pthread_mutex_unlock(&keys->lock);
    return !stops;
}

static void *follow(void *context)
{
    struct live_keys *keys = context;
    pthread_setname_np(pthread_self(), "stator:keys");
    while (wait_until_due(keys, LIVE_KEYS_INTERVAL_MS))
        live_keys_check(keys);
    return NULL;
}

bool live_keys_follow(struct live_keys *keys)
{
    assert(!keys->follows);
    keys->follows = pthread_create(&keys->thread, NULL, follow, keys) == 0;
    return keys->follows;
}

struct live_ring *live_keys_acquire(struct live_keys *keys)
{
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

/* --- Changes --- */

static bool fail(struct error *err, const char *message)
{
    log_write(LOG_ERROR, "auth", "the access keys could not be changed: %s", message);
    return error_set(err, ERROR_INTERNAL,
                     "The access keys could not be changed: see the server's "
                     "log");
}

/* With the file's lock held. */
static bool edit_locked(struct live_keys *keys, struct arena *arena, int64_t now_ms,
                        live_keys_change *change, void *context, struct error *err)
{
    char message[KEY_FILE_MESSAGE_MAX];
    struct key_ring ring;
    struct stat state;
    if (!key_file_read(arena, &keys->file, &ring, &state, message))
        return fail(err, message);
    key_edit_drop_expired(&ring, now_ms);
    if (!change(arena, &ring, context, err))
        return false;
    bool is_written = key_file_write(arena, &keys->file, &ring, message);
    /* Also after a failure: the file may have been replaced and only its folder not synced. */
    bool is_read = reload(keys, next_generation(keys));
    if (!is_written)
        return fail(err, message);
    return is_read || fail(err, "the file could not be read again");
}

bool live_keys_edit(struct live_keys *keys, struct arena *arena, int64_t now_ms,
                    live_keys_change *change, void *context, struct error *err)
{
    char message[KEY_FILE_MESSAGE_MAX];
    bool is_busy;
    int lock = key_file_lock_within(&keys->file, LIVE_KEYS_LOCK_MS_MAX, &is_busy, message);
    if (lock < 0 && is_busy)
        return error_set(err, ERROR_THROTTLING,
                         "The access keys are being changed by somebody else: try again");
    if (lock < 0)
        return fail(err, message);
    bool ok = edit_locked(keys, arena, now_ms, change, context, err);
    key_file_unlock(lock);
    assert(ok != error_is_set(err));
    return ok;
}
