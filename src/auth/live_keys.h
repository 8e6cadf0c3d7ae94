/* live_keys.h -- the access keys as a running server sees them: those in the file, which others may
 * change at any time.
 *
 * The file is looked at again once a second. One that cannot be read any more holds no keys: who
 * damages it shuts people out, and lets nobody in. Any thread may call.
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

/* What was read at one time. Unchanging. */
struct live_ring {
    struct key_ring ring;
    uint64_t generation; /* Another one for each reading. */
    struct arena *arena;
    atomic_uint references;
};

/* NULL with one line for people if the file is there and cannot be read. */
MUST_CHECK struct live_keys *live_keys_open(const struct key_file *file,
                                            char message[KEY_FILE_MESSAGE_MAX]);
void live_keys_close(struct live_keys *keys); /* Closing NULL is allowed. */

/* The keys as they are now. The caller owes a live_keys_release. */
struct live_ring *live_keys_acquire(struct live_keys *keys, int64_t now_ms);
void live_keys_release(struct live_ring *ring);

#endif
