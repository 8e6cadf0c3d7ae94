/* model_server.h -- a database of the program's own, in memory, in which a model is tried. */
#ifndef STATOR_COMMAND_MODEL_SERVER_H
#define STATOR_COMMAND_MODEL_SERVER_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct model_server;

/* NULL with one line on standard error. */
MUST_CHECK struct model_server *model_server_open(void);
void model_server_close(struct model_server *server); /* NULL is allowed. */

/* Runs an operation, and waits. True with the answer's JSON; false with "Exception: message". Both
 * live in the arena. */
MUST_CHECK bool model_server_call(struct model_server *server, struct arena *arena,
                                  const char *operation, struct bytes body, struct bytes *answer);

#endif
