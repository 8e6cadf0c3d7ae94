/* log_writer.h -- brings log lines to standard error without making anybody wait for it.
 *
 * Between start and stop, lines go into a buffer of LOG_WAITING_SIZE_MAX bytes, which one thread
 * writes out in order. A line that finds no room is dropped and counted, and so are those
 * that follow until the buffer is empty. Then a line reports how many were dropped. Lines that
 * report errors have a part of the buffer for themselves, so that less important lines cannot crowd
 * them out.
 *
 * Before start and after stop, each thread writes its own lines. It waits at most
 * LOG_DIRECT_WAIT_MS for a standard error that takes nothing.
 *
 * There is one writer per process, since there is one standard error.
 */
#ifndef STATOR_BASE_LOG_WRITER_H
#define STATOR_BASE_LOG_WRITER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    LOG_WAITING_SIZE_MAX = 256 * 1024,
    LOG_ERRORS_SIZE = 32 * 1024, /* The part of it that only errors may use. */
    LOG_STOP_WAIT_MS = 1000,     /* How long stop waits for the last lines to be written. */
    LOG_ABORT_WAIT_MS = 1000,    /* The same for abort(). */
    LOG_DIRECT_WAIT_MS = 1000,
};

/* Until stop, abort() waits for the lines logged before it, that of a failed assertion among them.
 * False if no thread can be started; then everything stays as it was. */
MUST_CHECK bool log_writer_start(void);
/* Writes what waits, as far as standard error takes it in LOG_STOP_WAIT_MS. Does nothing if the
 * writer was not started. */
void log_writer_stop(void);

/* `line` ends with its only line feed and has at most LOG_LINE_MAX bytes. Any thread may call. */
void log_writer_put(struct bytes line, bool is_error);

/* How many lines were dropped since the process started. */
uint64_t log_writer_dropped(void);

#endif
