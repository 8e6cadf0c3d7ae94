/* config_error.c -- see config_error.h. */
#include "config/config_error.h"
#include <stdarg.h>
#include <stdio.h>

bool config_error_set(struct config_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    /* A value is quoted as it was given, and may hold a line end. */
    for (char *c = err->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return false;
}
