/* system_limits.h -- checks the operating system's limits: open files, threads, memory.
 *
 * Done before anything is opened, so that a server that lacks resources fails at the start and not
 * under load: an engine may end the process if it gets no thread, and connections must not use up
 * the descriptors that its files need.
 */
#ifndef STATOR_COMMAND_SYSTEM_LIMITS_H
#define STATOR_COMMAND_SYSTEM_LIMITS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct config;

enum { SYSTEM_LIMITS_MESSAGE_MAX = 256 };

/* How the allowed number of open files is divided. */
struct file_shares {
    uint64_t connections;
    uint64_t refused_per_loop; /* Further connections, while they are sent a refusal. */
    uint64_t table_files;      /* That the engine keeps open. */
};

/* Divides `limit` files among `loop_count` loops and at most `connections_max` connections. False
 * if too few are left for the connections. */
MUST_CHECK bool file_shares_of(uint64_t limit, unsigned loop_count, uint64_t connections_max,
                               struct file_shares *out);

/* Raises the soft limits. False with one line in `message` if the limits are too low. */
MUST_CHECK bool system_limits_prepare(const struct config *config, struct file_shares *out,
                                      char message[SYSTEM_LIMITS_MESSAGE_MAX]);

#endif
