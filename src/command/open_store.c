/* open_store.c -- see open_store.h. */
#include "command/open_store.h"
#include <stdio.h>
#include "config/config.h"
#include "engine/engine.h"

struct engine *open_store(const struct config *config, const char *directory)
{
    struct engine_options options = {
        .directory = directory,
        .read_only = true,
        .block_cache_size = config->block_cache_size,
        .write_buffer_size = config->write_buffer_size,
    };
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL)
        fprintf(stderr, "stator: %s\n", message);
    return engine;
}
