/* live_keys.h -- the access keys of a running server, reloaded when their file changes.
 *
 * A thread looks at the file every LIVE_KEYS_INTERVAL_MS and reads it if it has changed, so that
 * whoever needs the keys never waits for the disk. A file that can no longer be read counts as
 * empty: damaging it locks people out, and lets nobody in. Any thread may call.
 *
 * The server changes the file as the commands do: with the lock held it reads, edits and replaces
 * it. So neither overwrites a change of the other.
 */
#ifndef STATOR_AUTH_LIVE_KEYS_H
#define STATOR_AUTH_LIVE_KEYS_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "auth/key_file.h"
#include "auth/key_ring.h"
#include "base/compiler.h"

struct arena;
struct error;
struct live_keys;

enum {
    LIVE_KEYS_INTERVAL_MS = 500,  /* A change holds within a second, reading included. */
    LIVE_KEYS_LOCK_MS_MAX = 2000, /* How long an edit waits for other writers of the file. */
};

/* The keys as read at one time. Immutable. */
struct live_ring {
    struct key_ring ring;
    uint64_t generation; /* Differs for each reading. */
    struct arena *arena;
    atomic_uint references;
};

/* NULL with one line for people if the file exists and cannot be read. */
MUST_CHECK struct live_keys *live_keys_open(const struct key_file *file,
                                            char message[KEY_FILE_MESSAGE_MAX]);
void live_keys_close(struct live_keys *keys); /* Closing NULL is allowed. */

/* Starts the thread, once. False if the system refuses it. */
MUST_CHECK bool live_keys_follow(struct live_keys *keys);
/* What the thread does: reads the file if it has changed. Not for event loops. */
void live_keys_check(struct live_keys *keys);

/* The current keys; to be released with live_keys_release. Never waits for the disk. */
struct live_ring *live_keys_acquire(struct live_keys *keys);
void live_keys_release(struct live_ring *ring);

/* Changes the ring with key_ring.h's functions, in the arena; false with `err` set. */
typedef bool live_keys_change(struct arena *arena, struct key_ring *ring, void *context,
                              struct error *err);

/* Reads the keys from their file, changes them and writes them back; expired temporary keys are
 * deleted. Returns true once the change is on disk and live_keys_acquire returns it. Otherwise the
 * file is unchanged, unless it could not be synced or read again, and `err` is set. Waits for the
 * disk and for other writers, so no event loop may call it. */
MUST_CHECK bool live_keys_edit(struct live_keys *keys, struct arena *arena, int64_t now_ms,
                               live_keys_change *change, void *context, struct error *err);

#endif
