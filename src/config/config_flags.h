/* config_flags.h -- the command line as a list of settings and one action.
 *
 * Beside our own flags (`--name value`, `--name=value`, `--name`, `--no-name`) DynamoDB Local's
 * are taken, so that scripts and compose files written for it start stator unchanged.
 */
#ifndef STATOR_CONFIG_CONFIG_FLAGS_H
#define STATOR_CONFIG_CONFIG_FLAGS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "config/config.h"

struct setting;

struct config_flag {
    const struct setting *setting;
    struct bytes value;
    const char *origin; /* The flag as it was written: "--port", "-port". */
};

enum { CONFIG_FLAGS_MAX = 256 }; /* Words on the command line. */

struct config_flags {
    enum config_action action;
    struct config_flag *flags; /* In the order given. */
    size_t count;
    const char **words; /* Of `key` and `policy`, in the order given. */
    size_t word_count;
    const char *note; /* Names the flags that have no effect; NULL: there are none. */
};

/* Everything lives in the arena or is borrowed from `argv`. */
MUST_CHECK bool config_flags_parse(struct arena *arena, int argc, char *const *argv,
                                   struct config_flags *out, struct config_error *err);

#endif
