/* system_limits.h -- what the operating system lets the server have: files, threads, memory.
 *
 * Looked at before anything is opened, so that a server that cannot do its work says so at the
 * start and not in the middle of it: an engine may end the process if it gets no thread, and
 * clients must not take the descriptors that its files need.
 */
#ifndef STATOR_COMMAND_SYSTEM_LIMITS_H
#define STATOR_COMMAND_SYSTEM_LIMITS_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"

struct config;

enum { SYSTEM_LIMITS_MESSAGE_MAX = 256 };

/* How the open files are shared. */
struct file_shares {
    uint64_t connections;
    uint64_t refused_per_loop; /* Connections beyond those, while they are told so. */
    uint64_t table_files;      /* That the engine keeps open. */
};

/* Of `limit` files, for so many loops and at most so many connections. False if too few are left
 * for the connections. */
MUST_CHECK bool file_shares_of(uint64_t limit, unsigned loop_count, uint64_t connections_max,
                               struct file_shares *out);

/* Raises what may be raised. False with one line in `message` if the rest is not enough. */
MUST_CHECK bool system_limits_prepare(const struct config *config, struct file_shares *out,
                                      char message[SYSTEM_LIMITS_MESSAGE_MAX]);

#endif
