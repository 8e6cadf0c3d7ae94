/* template_error.c -- see template_error.h. */
#include "template/template_error.h"
#include <stdarg.h>
#include "base/arena.h"

bool template_error_set(struct arena *arena, struct template_error *err, unsigned line,
                        const char *format, ...)
{
    va_list arguments;
    if (err->message.data != NULL)
        return false;
    va_start(arguments, format);
    err->message = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    err->line = line;
    return false;
}

struct bytes template_error_text(struct arena *arena, const struct template_error *err)
{
    if (err->line == 0)
        return arena_printf(arena, "%.*s: %.*s", BYTES_FMT(err->file), BYTES_FMT(err->message));
    return arena_printf(arena, "%.*s:%u: %.*s", BYTES_FMT(err->file), err->line,
                        BYTES_FMT(err->message));
}
