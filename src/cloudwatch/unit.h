/* unit.h -- the units of CloudWatch's metrics. */
#ifndef STATOR_CLOUDWATCH_UNIT_H
#define STATOR_CLOUDWATCH_UNIT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

/* Stored: values never change. UNIT_ANY is not stored: a reader that does not choose. */
enum unit {
    UNIT_ANY,
    UNIT_NONE,
    UNIT_SECONDS,
    UNIT_MICROSECONDS,
    UNIT_MILLISECONDS,
    UNIT_BYTES,
    UNIT_KILOBYTES,
    UNIT_MEGABYTES,
    UNIT_GIGABYTES,
    UNIT_TERABYTES,
    UNIT_BITS,
    UNIT_KILOBITS,
    UNIT_MEGABITS,
    UNIT_GIGABITS,
    UNIT_TERABITS,
    UNIT_PERCENT,
    UNIT_COUNT,
    UNIT_BYTES_PER_SECOND,
    UNIT_KILOBYTES_PER_SECOND,
    UNIT_MEGABYTES_PER_SECOND,
    UNIT_GIGABYTES_PER_SECOND,
    UNIT_TERABYTES_PER_SECOND,
    UNIT_BITS_PER_SECOND,
    UNIT_KILOBITS_PER_SECOND,
    UNIT_MEGABITS_PER_SECOND,
    UNIT_GIGABITS_PER_SECOND,
    UNIT_TERABITS_PER_SECOND,
    UNIT_COUNT_PER_SECOND,
    UNIT_KIND_COUNT,
};

/* "Count"; not for UNIT_ANY. */
const char *unit_name(enum unit unit);
/* False if there is no such unit. */
MUST_CHECK bool unit_parse(struct bytes name, enum unit *out);
/* All names in the order in which the service lists them, NULL at the end: for shapes. */
extern const char *const unit_names[];

#endif
