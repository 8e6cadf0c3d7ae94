/* store_status.h -- RocksDB's error texts as engine statuses. */
#ifndef STATOR_ENGINE_ROCKSDB_STORE_STATUS_H
#define STATOR_ENGINE_ROCKSDB_STORE_STATUS_H
#include <stdbool.h>
#include "engine/engine.h"

/* What RocksDB's C interface reports is text only. */
enum engine_status store_status_of(const char *error);
/* Whether a write with no_slowdown was turned away because it would have had to wait. */
bool store_status_is_stall(const char *error);
/* As store_status_of; logs one line that names `action`, and frees `error`. */
enum engine_status store_status_take(char *error, const char *action);

#endif
