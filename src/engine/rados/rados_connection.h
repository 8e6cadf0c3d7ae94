/* rados_connection.h -- what rados_store.c and rados_run.c share. */
#ifndef STATOR_ENGINE_RADOS_RADOS_CONNECTION_H
#define STATOR_ENGINE_RADOS_RADOS_CONNECTION_H
#include <stdatomic.h>
#include "engine/rados/rados_library.h"
#include "engine/rados/rados_store.h"

/* The object whose omap lists all partitions (rados_key_format_partition). */
#define RADOS_LIST_OBJECT "partitions"

enum { RADOS_HINTS = 256 };

struct rados_store {
    struct partition_store base;
    struct rados_library library;
    rados_t cluster;
    rados_ioctx_t pool;
    char pool_name[RADOS_NAME_SIZE_MAX + 1];
    atomic_uint_fast64_t reads, writes; /* That were sent. */
    /* What rados_page.h remembers, by a hash of partition and key. */
    atomic_uint_fast32_t hints[RADOS_HINTS];
};

/* What an error of librados (negative) means for a write that was sent. */
enum partition_status rados_write_status(int error);
enum partition_status rados_read_status(int error);
/* After ENOENT of a read: PARTITION_OK if only the object is missing, PARTITION_FAILED, logged, if
 * the pool is. A pool that was deleted, and perhaps created again under its name, must not look
 * like an empty store. Asks the map of the cluster that this client has. */
enum partition_status rados_absence_status(struct rados_store *store, const char *object);
/* Logs an error that a caller will only see as a status; 0: what was read makes no sense. */
void rados_log_failure(const char *what, const char *object, int error);

void rados_store_run(struct partition_store *store, struct arena *arena,
                     struct partition_operation *operations, size_t count);

#endif
