/* live_keys.h -- the access keys of a running server, reloaded when their file changes.
 *
 * The file is checked once a second. A file that can no longer be read counts as empty: damaging it
 * locks people out, and lets nobody in. Any thread may call.
 */
#ifndef STATOR_AUTH_LIVE_KEYS_H
#define STATOR_AUTH_LIVE_KEYS_H
#include <stdatomic.h>
#include <stdint.h>
#include "auth/key_file.h"
#include "auth/key_ring.h"
#include "base/compiler.h"

struct live_keys;

enum { LIVE_KEYS_INTERVAL_MS = 1000 };

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

/* The current keys; to be released with live_keys_release. */
struct live_ring *live_keys_acquire(struct live_keys *keys, int64_t now_ms);
void live_keys_release(struct live_ring *ring);

#endif
