/* run_length.c -- see run_length.h. */
#include "run_length.h"
#include <stdlib.h>
#include <string.h>

uint64_t run_length_setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

uint64_t run_length(const char *name, uint64_t in_short, uint64_t in_long)
{
    const char *is_long = getenv("STATOR_TEST_LONG");
    return run_length_setting(name,
                              is_long != NULL && strcmp(is_long, "1") == 0 ? in_long : in_short);
}
