/* store_version.h -- which RocksDB this program was compiled for, and which one it runs with. */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_VERSION_H
#define STATOR_ENGINE_ROCKSDB_STORE_VERSION_H
#include <stdbool.h>
#include "base/compiler.h"

enum { STORE_VERSION_MAX = 32 };

/* As in the header that the compiler read: "7.8.3". */
const char *store_version_compiled(void);

/* The version of the library that wrote the newest options file of the open `directory`, which
 * RocksDB does whenever it opens a store. False if there is none that can be read. */
MUST_CHECK bool store_version_running(int directory, char out[STORE_VERSION_MAX]);

#endif
