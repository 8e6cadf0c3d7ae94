/* log.h -- one line per event on standard error.
 *
 * `2026-11-15T05:40:04.123Z warn engine: text`. Secrets and item data never belong in a line.
 * Any thread may log. A line is written by one system call, so lines never mix; who makes that
 * call, and what happens if standard error takes nothing: log_writer.h.
 */
#ifndef STATOR_BASE_LOG_H
#define STATOR_BASE_LOG_H
#include <stddef.h>
#include "base/compiler.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

enum {
    LOG_LINE_MAX = 2048, /* With the line feed. Longer lines are cut. */
    LOG_AREA_MAX = 32,   /* The same for the name of the area. */
};

/* Lines below `level` are not written. Call it once, before the threads start. */
void log_set_level(enum log_level level);
void log_write(enum log_level level, const char *area, const char *format, ...) PRINTF_LIKE(3, 4);
/* Such a line with its line feed, and without a NUL; returns its size. */
size_t log_format(char line[LOG_LINE_MAX], enum log_level level, const char *area,
                  const char *format, ...) PRINTF_LIKE(4, 5);

#endif
