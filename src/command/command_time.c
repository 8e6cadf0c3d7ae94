/* command_time.c -- see command_time.h. */
#include "command/command_time.h"
#include <stdlib.h>
#include "codec/iso_time.h"

bool command_time_parse(const char *text, int64_t *out_ms)
{
    enum { SECONDS_MAX = 253402300799 / 1000 }; /* In thousands: the year 9999. */
    char *end;
    double seconds = strtod(text, &end);
    if (end != text && *end == '\0') {
        if (!(seconds >= 0 && seconds / 1000 <= SECONDS_MAX))
            return false;
        *out_ms = (int64_t)(seconds * 1000);
        return true;
    }
    return iso_time_parse(bytes_from_text(text), out_ms);
}
