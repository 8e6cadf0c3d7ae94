/* model_live.h -- models and the tables of a running server: `stator model apply`, `diff` and
 * `infer`. */
#ifndef STATOR_COMMAND_MODEL_LIVE_H
#define STATOR_COMMAND_MODEL_LIVE_H
#include <stdbool.h>
#include "base/compiler.h"

struct command_call;
struct model_file;

/* Prints what leads from one model to another. `from` NULL: from the server's tables. */
MUST_CHECK int model_live_diff(const struct command_call *call, const struct model_file *from,
                               const struct model_file *to);
/* Prints the plan, and with the flag `yes` carries it out. */
MUST_CHECK int model_live_apply(const struct command_call *call, const struct model_file *model);
/* Prints a model of a live table, with the entities that its items seem to be of. */
MUST_CHECK int model_live_infer(const struct command_call *call, const char *table);

#endif
