/* unit.c -- see unit.h. */
#include "cloudwatch/unit.h"
#include <assert.h>

static const char *const names[UNIT_KIND_COUNT] = {
    [UNIT_NONE] = "None",
    [UNIT_SECONDS] = "Seconds",
    [UNIT_MICROSECONDS] = "Microseconds",
    [UNIT_MILLISECONDS] = "Milliseconds",
    [UNIT_BYTES] = "Bytes",
    [UNIT_KILOBYTES] = "Kilobytes",
    [UNIT_MEGABYTES] = "Megabytes",
    [UNIT_GIGABYTES] = "Gigabytes",
    [UNIT_TERABYTES] = "Terabytes",
    [UNIT_BITS] = "Bits",
    [UNIT_KILOBITS] = "Kilobits",
    [UNIT_MEGABITS] = "Megabits",
    [UNIT_GIGABITS] = "Gigabits",
    [UNIT_TERABITS] = "Terabits",
    [UNIT_PERCENT] = "Percent",
    [UNIT_COUNT] = "Count",
    [UNIT_BYTES_PER_SECOND] = "Bytes/Second",
    [UNIT_KILOBYTES_PER_SECOND] = "Kilobytes/Second",
    [UNIT_MEGABYTES_PER_SECOND] = "Megabytes/Second",
    [UNIT_GIGABYTES_PER_SECOND] = "Gigabytes/Second",
    [UNIT_TERABYTES_PER_SECOND] = "Terabytes/Second",
    [UNIT_BITS_PER_SECOND] = "Bits/Second",
    [UNIT_KILOBITS_PER_SECOND] = "Kilobits/Second",
    [UNIT_MEGABITS_PER_SECOND] = "Megabits/Second",
    [UNIT_GIGABITS_PER_SECOND] = "Gigabits/Second",
    [UNIT_TERABITS_PER_SECOND] = "Terabits/Second",
    [UNIT_COUNT_PER_SECOND] = "Count/Second",
};

const char *const unit_names[] = {
    "Seconds",
    "Microseconds",
    "Milliseconds",
    "Bytes",
    "Kilobytes",
    "Megabytes",
    "Gigabytes",
    "Terabytes",
    "Bits",
    "Kilobits",
    "Megabits",
    "Gigabits",
    "Terabits",
    "Percent",
    "Count",
    "Bytes/Second",
    "Kilobytes/Second",
    "Megabytes/Second",
    "Gigabytes/Second",
    "Terabytes/Second",
    "Bits/Second",
    "Kilobits/Second",
    "Megabits/Second",
    "Gigabits/Second",
    "Terabits/Second",
    "Count/Second",
    "None",
    NULL,
};

const char *unit_name(enum unit unit)
{
    assert(unit > UNIT_ANY && unit < UNIT_KIND_COUNT);
    return names[unit];
}

bool unit_parse(struct bytes name, enum unit *out)
{
    for (enum unit unit = UNIT_NONE; unit < UNIT_KIND_COUNT; unit++) {
        if (bytes_equal_text(name, names[unit])) {
            *out = unit;
            return true;
        }
    }
    return false;
}
