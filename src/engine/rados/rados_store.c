/* rados_store.c -- opening a pool, its list of partitions, and what errors mean. rados_run.c has
 * the operations. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "base/memory.h"
#include "engine/rados/rados_connection.h"
#include "engine/rados/rados_key.h"

/* doc/disk-format-rados.md. */
#define FORMAT_OBJECT "format"
#define FORMAT "stator rados 1\n"
enum { FORMAT_SIZE_MAX = 64 };

/* --- Errors --- */

enum partition_status rados_write_status(int error)
{
    switch (error) {
    case 0:
        return PARTITION_OK;
    case -ECANCELED: /* A comparison. */
        return PARTITION_REFUSED;
    case -ENOSPC:
    case -EDQUOT:
        return PARTITION_FULL;
    case -EINVAL:
    case -EMSGSIZE:
    case -EOPNOTSUPP:
        return PARTITION_FAILED; /* It can never be carried out. */
    default:
        /* Also of errors that name a reason, such as EPERM or ESHUTDOWN (the cluster shut this
         * client out): librados may have sent the operation before, and lost the answer. */
        return PARTITION_UNKNOWN;
    }
}

enum partition_status rados_read_status(int error)
{
    if (error >= 0)
        return PARTITION_OK;
    /* What all copies of an object answer when their checksums do not agree. */
    return error == -EIO ? PARTITION_CORRUPT : PARTITION_FAILED;
}

void rados_log_failure(const char *what, const char *object, int error)
{
    static struct log_limit failures = LOG_LIMIT(5, 20);
    uint64_t suppressed;
    if (log_limit_take(&failures, clock_monotonic_ns(), &suppressed))
        log_write(LOG_ERROR, "rados",
                  "%s of object %s failed: %s (%" PRIu64 " such lines suppressed)", what, object,
                  error < 0 ? strerror(-error) : "what is stored there is damaged", suppressed);
}

enum partition_status rados_absence_status(struct rados_store *store, const char *object)
{
    const struct rados_library *library = &store->library;
    int64_t found = library->pool_lookup(store->cluster, store->pool_name);
    if (found >= 0 && found == library->ioctx_get_id(store->pool))
        return PARTITION_OK;
    rados_log_failure("reading", object, found < 0 ? (int)found : -ENXIO);
    return PARTITION_FAILED;
}

/* --- The list of partitions --- */

static enum partition_status next_partition(struct partition_store *base,
                                            const struct partition_id *after,
                                            struct partition_id *out)
{
    struct rados_store *store = (struct rados_store *)base;
    const struct rados_library *library = &store->library;
    char start[RADOS_PARTITION_SIZE + 1] = "";
    if (after != NULL)
        rados_key_format_partition(after, start);
    rados_omap_iter_t entries = NULL;
    unsigned char more = 0;
    int result = 0;
    rados_completion_t completion = NULL;
    rados_read_op_t read = library->create_read_op();
    library->read_op_assert_exists(read);
    library->read_op_omap_get_vals2(read, start, "", 1, &entries, &more, &result);
    int error = library->aio_create_completion2(NULL, NULL, &completion);
    if (error == 0) {
        atomic_fetch_add(&store->reads, 1);
        error = library->aio_read_op_operate(read, store->pool, completion, RADOS_LIST_OBJECT, 0);
        if (error == 0) {
            library->aio_wait_for_complete(completion);
            error = library->aio_get_return_value(completion);
        }
        library->aio_release(completion);
    }
    char *key = NULL, *value = NULL;
    size_t key_size = 0, value_size = 0;
    enum partition_status status = PARTITION_REFUSED; /* Also before the first write of all. */
    if (error == -ENOENT) {
        if (rados_absence_status(store, RADOS_LIST_OBJECT) != PARTITION_OK)
            status = PARTITION_FAILED;
    } else if (error < 0) {
        rados_log_failure("reading", RADOS_LIST_OBJECT, error);
        status = rados_read_status(error);
    } else if (library->omap_get_next2(entries, &key, &value, &key_size, &value_size) == 0 &&
               key != NULL) {
        status = rados_key_parse_partition(bytes_of(key, key_size), out) ? PARTITION_OK
                                                                         : PARTITION_CORRUPT;
        if (status == PARTITION_CORRUPT)
            rados_log_failure("reading", RADOS_LIST_OBJECT, 0);
    }
    library->omap_get_end(entries);
    library->release_read_op(read);
    return status;
}

/* --- Opening and closing --- */

static void close_store(struct partition_store *base)
{
    struct rados_store *store = (struct rados_store *)base;
    if (store->pool != NULL)
        store->library.ioctx_destroy(store->pool);
    if (store->cluster != NULL)
        store->library.shutdown(store->cluster);
    free(store);
}

static const struct partition_store_ops rados_ops = {
    .reverse = false,
    .changes_max = RADOS_CHANGES_MAX,
    .size_max = RADOS_WRITE_SIZE_MAX,
    .run = rados_store_run,
    .next_partition = next_partition,
    .close = close_store,
};

static bool connect_cluster(struct rados_store *store, const struct rados_options *options,
                            char message[RADOS_MESSAGE_MAX])
{
    const struct rados_library *library = &store->library;
    char user[RADOS_NAME_SIZE_MAX + sizeof "client."], timeout[16];
    snprintf(user, sizeof user, "client.%s", options->user == NULL ? "admin" : options->user);
    snprintf(timeout, sizeof timeout, "%u",
             options->timeout_s == 0 ? RADOS_TIMEOUT_S : options->timeout_s);
    int error = library->create2(&store->cluster, "ceph", user, 0);
    if (error < 0) {
        store->cluster = NULL;
        snprintf(message, RADOS_MESSAGE_MAX, "librados cannot be used as %s: %s", user,
                 strerror(-error));
        return false;
    }
    error = library->conf_read_file(store->cluster, options->conf);
    if (error < 0) {
        snprintf(message, RADOS_MESSAGE_MAX, "cannot read the Ceph configuration %s: %s",
                 options->conf, strerror(-error));
        return false;
    }
    static const char *const timeouts[] = { "rados_osd_op_timeout", "rados_mon_op_timeout",
                                            "client_mount_timeout" };
    for (size_t i = 0; error == 0 && i < COUNT_OF(timeouts); i++)
        error = library->conf_set(store->cluster, timeouts[i], timeout);
    if (error == 0)
        error = library->connect(store->cluster);
    if (error < 0)
        snprintf(message, RADOS_MESSAGE_MAX, "cannot connect to the Ceph cluster of %s as %s: %s",
                 options->conf, user, strerror(-error));
    return error == 0;
}

/* The empty list, and then the format. Fails in a pool of erasure codes, which has no omap. */
static int create_format(struct rados_store *store)
{
    const struct rados_library *library = &store->library;
    const char *key = "-";
    size_t key_size = 1;
    rados_write_op_t list = library->create_write_op(), format = library->create_write_op();
    library->write_op_create(list, LIBRADOS_CREATE_IDEMPOTENT, NULL);
    library->write_op_omap_rm_keys2(list, &key, &key_size, 1);
    library->write_op_create(format, LIBRADOS_CREATE_EXCLUSIVE, NULL);
    library->write_op_write_full(format, FORMAT, sizeof FORMAT - 1);
    int error = library->write_op_operate(list, store->pool, RADOS_LIST_OBJECT, NULL, 0);
    if (error == 0)
        error = library->write_op_operate(format, store->pool, FORMAT_OBJECT, NULL, 0);
    library->release_write_op(list);
    library->release_write_op(format);
    return error == -EEXIST ? 0 : error; /* Another server was faster. */
}

/* Stores the format where there is none, and compares it. */
static bool check_format(struct rados_store *store, const struct rados_options *options,
                         char message[RADOS_MESSAGE_MAX])
{
    const struct rados_library *library = &store->library;
    char found[FORMAT_SIZE_MAX];
    int size = library->read(store->pool, FORMAT_OBJECT, found, sizeof found, 0);
    if (size == -ENOENT) {
        size = create_format(store);
        if (size == 0)
            size = library->read(store->pool, FORMAT_OBJECT, found, sizeof found, 0);
    }
    if (size < 0) {
        snprintf(message, RADOS_MESSAGE_MAX, "cannot use the pool %s: %s", options->pool,
                 strerror(-size));
        return false;
    }
    if (bytes_equal(bytes_of(found, (size_t)size), BYTES(FORMAT)))
        return true;
    snprintf(message, RADOS_MESSAGE_MAX,
             "what the pool %s holds was not written by this version of stator: use another pool, "
             "or the version that wrote it",
             options->pool);
    return false;
}

static bool names_fit(const struct rados_options *options, char message[RADOS_MESSAGE_MAX])
{
    const char *const names[] = { options->pool, options->user, options->space };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i] != NULL && (names[i][0] == '\0' || strlen(names[i]) > RADOS_NAME_SIZE_MAX)) {
            snprintf(message, RADOS_MESSAGE_MAX,
                     "a name of a pool, user or namespace has 1 to %d bytes", RADOS_NAME_SIZE_MAX);
            return false;
        }
    return true;
}

struct partition_store *rados_store_open(const struct rados_options *options,
                                         char message[RADOS_MESSAGE_MAX])
{
    struct rados_store *store = memory_checked(calloc(1, sizeof *store));
    store->base.ops = &rados_ops;
    snprintf(store->pool_name, sizeof store->pool_name, "%s", options->pool);
    bool ok = names_fit(options, message) &&
              rados_library_load(&store->library, RADOS_LIBRARY_FILE, message, RADOS_MESSAGE_MAX) &&
              connect_cluster(store, options, message);
    if (ok) {
        int error = store->library.ioctx_create(store->cluster, options->pool, &store->pool);
        ok = error == 0;
        if (!ok) {
            store->pool = NULL;
            snprintf(message, RADOS_MESSAGE_MAX, "cannot open the pool %s: %s", options->pool,
                     strerror(-error));
        }
    }
    if (ok) {
        store->library.ioctx_set_namespace(store->pool,
                                           options->space == NULL ? "stator" : options->space);
        ok = check_format(store, options, message);
    }
    if (ok)
        return &store->base;
    close_store(&store->base);
    return NULL;
}

struct rados_counts rados_store_counts(struct partition_store *base)
{
    struct rados_store *store = (struct rados_store *)base;
    return (struct rados_counts){ atomic_load(&store->reads), atomic_load(&store->writes) };
}
