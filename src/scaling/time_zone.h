/* time_zone.h -- the offset of a time zone from UTC, by the system's time zone database.
 *
 * Scheduled actions name an IANA time zone. The C library knows one zone per process, so this reads
 * the database's files (RFC 8536) itself: explicit transitions, and behind the last one the rule in
 * the file's footer.
 */
#ifndef STATOR_SCALING_TIME_ZONE_H
#define STATOR_SCALING_TIME_ZONE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    TIME_ZONE_NAME_SIZE_MAX = 64,
    TIME_ZONE_FILE_SIZE_MAX = 64 * 1024,
    TIME_ZONE_TRANSITIONS_MAX = 2000,
};

struct time_zone;

/* NULL if the database has no zone of that name, or cannot be read. "UTC" is always there. */
MUST_CHECK struct time_zone *time_zone_open(struct bytes name);
/* From the contents of a file; NULL if they are malformed. */
MUST_CHECK struct time_zone *time_zone_parse(struct bytes file);
void time_zone_close(struct time_zone *zone); /* NULL is allowed. */

/* How far the zone's clocks are ahead of UTC at that time, in seconds. */
int64_t time_zone_offset(const struct time_zone *zone, int64_t utc_s);
/* The UTC time at which the zone's clocks show `local_s`. If they show it twice, the first one. If
 * they skip it, the time of the skip. */
int64_t time_zone_to_utc(const struct time_zone *zone, int64_t local_s);

/* Days since 1970-01-01 in the proleptic Gregorian calendar; month 1 to 12, day from 1 on. */
int64_t time_zone_days(int64_t year, int month, int day);
int time_zone_days_in_month(int64_t year, int month);

#endif
