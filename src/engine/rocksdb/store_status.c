/* store_status.c -- see store_status.h.
 *
 * A RocksDB status prints as "<code>: [<subcode>: ]<details>". Codes and subcodes are constants of
 * RocksDB; the details are not looked at.
 */
#include "engine/rocksdb/store_status.h"
#include <rocksdb/c.h>
#include <string.h>
#include "base/log.h"

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

enum engine_status store_status_of(const char *error)
{
    if (starts_with(error, "IO error: No space left on device") ||
        starts_with(error, "IO error: Space limit reached"))
        return ENGINE_FULL;
    if (starts_with(error, "Corruption"))
        return ENGINE_CORRUPT;
    return ENGINE_IO;
}

bool store_status_is_stall(const char *error)
{
    return starts_with(error, "Result incomplete");
}

enum engine_status store_status_take(char *error, const char *action)
{
    enum engine_status status = store_status_of(error);
    log_write(LOG_ERROR, "engine", "%s failed: %s", action, error);
    rocksdb_free(error);
    return status;
}
