/* storage_error.c -- see storage_error.h. */
#include "table/storage_error.h"
#include <assert.h>
#include <inttypes.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/log_limit.h"
#include "model/error.h"

/* One for the process, as the log is: a disk that fails, fails every request. */
static struct log_limit limit = LOG_LIMIT(20, 200);

static void log_failure(const char *doing, enum engine_status status)
{
    assert(doing != NULL);
    uint64_t suppressed;
    if (!log_limit_take(&limit, clock_monotonic_ns(), &suppressed))
        return;
    if (suppressed > 0)
        log_write(LOG_ERROR, "storage", "%s: %s (%" PRIu64 " failures before it were not logged)",
                  doing, engine_status_name(status), suppressed);
    else
        log_write(LOG_ERROR, "storage", "%s: %s", doing, engine_status_name(status));
}

bool storage_error_set_for_table(struct error *err, enum engine_status status, const char *doing)
{
    assert(status != ENGINE_OK && status != ENGINE_END);
    if (status == ENGINE_FULL) /* The engine logs when that begins and when it ends. */
        return error_set(err, ERROR_INTERNAL,
                         "The disk is full: items can be read and deleted, but not written");
    if (status == ENGINE_LOST) /* The same. */
        return error_set(err, ERROR_INTERNAL,
                         "The data directory was removed or replaced: nothing can be written until "
                         "the server is restarted");
    if (status == ENGINE_TOO_LARGE)
        return error_validation(err, "The index entries of one write take too much memory");
    log_failure(doing, status);
    return error_set(err, ERROR_INTERNAL, "Internal server error");
}

bool storage_error_set(struct error *err, enum engine_status status, const char *doing)
{
    assert(status != ENGINE_OK && status != ENGINE_WAITING);
    if (status == ENGINE_CONFLICT)
        return error_set(err, ERROR_TRANSACTION_CONFLICT, "Transaction is ongoing for the item");
    if (status == ENGINE_BUSY)
        return error_set(err, ERROR_THROTTLING,
                         "Other writes kept the item busy for too long, and nothing was written. "
                         "Please try again shortly");
    return storage_error_set_for_table(err, status, doing);
}
