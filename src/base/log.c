/* log.c -- see log.h. Control characters are replaced, so that a client can neither forge a line
 * nor send commands to the terminal that shows it.
 */
#include "base/log.h"
#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "base/log_writer.h"

static enum log_level level_min = LOG_INFO; /* Written once at start-up, then only read. */

void log_set_level(enum log_level level)
{
    level_min = level;
}

static size_t line_prefix(char *line, size_t size, enum log_level level, const char *area)
{
    static const char *const level_names[] = { "debug", "info", "warn", "error" };
    struct timespec now;
    struct tm day;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &day);
    size_t used = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &day);
    int more = snprintf(line + used, size - used, ".%03ldZ %s %.*s: ", now.tv_nsec / 1000000,
                        level_names[level], LOG_AREA_MAX, area);
    return used + (size_t)more;
}

static void replace_controls(unsigned char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        /* U+0080 to U+009F are control characters too, two bytes each in UTF-8. */
        bool high = i + 1 < size && text[i] == 0xC2 && text[i + 1] >= 0x80 && text[i + 1] <= 0x9F;
        if (text[i] < 0x20 || text[i] == 0x7F || high)
            text[i] = '?';
        if (high)
            text[i + 1] = '?';
    }
}

static size_t format_line(char line[LOG_LINE_MAX], enum log_level level, const char *area,
                          const char *format, va_list arguments)
{
    size_t used = line_prefix(line, LOG_LINE_MAX, level, area);
    int length = vsnprintf(line + used, LOG_LINE_MAX - used, format, arguments);
    size_t end = used + (length > 0 ? (size_t)length : 0);
    if (end > LOG_LINE_MAX - 1)
        end = LOG_LINE_MAX - 1;
    replace_controls((unsigned char *)line + used, end - used);
    line[end++] = '\n';
    return end;
}

size_t log_format(char line[LOG_LINE_MAX], enum log_level level, const char *area,
                  const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t size = format_line(line, level, area, format, arguments);
    va_end(arguments);
    return size;
}

void log_write(enum log_level level, const char *area, const char *format, ...)
{
    char line[LOG_LINE_MAX];
    va_list arguments;
    if (level < level_min)
        return;
    va_start(arguments, format);
    size_t size = format_line(line, level, area, format, arguments);
    va_end(arguments);
    log_writer_put(bytes_of(line, size), level == LOG_ERROR);
}

/* Takes the place of libc's, which assert() calls and which writes to standard error itself: if
 * that is a pipe that nobody reads, it would wait there for ever instead of ending the process. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
    log_write(LOG_ERROR, "assert", "%s:%u: %s: Assertion `%s' failed.", file, line, function,
              assertion);
    abort();
}
