/* regions.h -- `stator serve --regions`: servers of further regions on this machine, for
 * development.
 *
 * Each further region is a process of its own, with its own data directory below the first one's,
 * on a free port of the loopback interface. Each server knows all others, relays requests to them
 * (relay/) and has the access keys of the first.
 * Processes rather than several servers in one: signals, logs, limits of descriptors and the
 * engine's caches belong to a process, a region can be killed alone, and what runs is what runs in
 * production. A child ends when its parent does, however that ends.
 */
#ifndef STATOR_COMMAND_REGIONS_H
#define STATOR_COMMAND_REGIONS_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/buffer.h"
#include "base/compiler.h"

struct arena;
struct config;

enum {
    REGIONS_MAX = 16, /* Beside the first. */
    REGIONS_START_TIMEOUT_MS = 60000,
    REGIONS_STOP_TIMEOUT_MS = 30000,
    REGIONS_MESSAGE_MAX = 256,
};

/* Starts as zeros. */
struct regions {
    pid_t children[REGIONS_MAX];
    size_t count;
};

/* Makes the first region of the list the server's, if `region` has its default value. */
void regions_name_first(struct arena *arena, struct config *config);
/* True if the setting lists regions, the first of which is this server's. */
MUST_CHECK bool regions_check(const struct config *config, char message[REGIONS_MESSAGE_MAX]);
/* Starts a server for each region but the first, which all know each other, waits until they
 * listen, and appends them to `peers` as region-peers has them. Chooses the port of the first, too,
 * if it may be any. False with one line for people; then regions_stop is due. */
MUST_CHECK bool regions_start(struct regions *regions, struct arena *arena, struct config *config,
                              struct buffer *peers, char message[REGIONS_MESSAGE_MAX]);
/* Asks the servers to stop, and waits for them; kills those that take too long. */
void regions_stop(struct regions *regions);

#endif
