/* engine_registry.c -- the storage engines that this program has.
 *
 * The one file outside an engine's folder that knows it. A new engine is a folder beside rocksdb/,
 * an include and a line in the table.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine/engine_ops.h"
#include "engine/rocksdb/rocksdb_engine.h"

/* The first one is the default. */
static const struct engine_registration engine_registry[] = {
    { "rocksdb", rocksdb_engine_open },
};

static const struct engine_registration *find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(engine_registry); i++)
        if (name == NULL || strcmp(engine_registry[i].name, name) == 0)
            return &engine_registry[i];
    return NULL;
}

struct engine *engine_open(const struct engine_options *options, char message[ENGINE_MESSAGE_MAX])
{
    assert(options->in_memory || options->directory != NULL);
    assert(!options->in_memory || !options->read_only);
    const struct engine_registration *found = find(options->engine);
    message[0] = '\0';
    if (found == NULL) {
        snprintf(message, ENGINE_MESSAGE_MAX, "there is no storage engine named \"%s\"",
                 options->engine);
        return NULL;
    }
    struct engine *engine = found->open(options, message);
    assert((engine == NULL) == (message[0] != '\0'));
    return engine;
}
