/* schedule.h -- when a scheduled action fires: at(...), rate(...) and cron(...) as Application Auto
 * Scaling and EventBridge write them.
 *
 *   at(2026-11-16T08:00:00)       once, by the zone's clocks
 *   rate(5 minutes)               every so often, from the start on
 *   cron(0 8 ? * MON-FRI *)       minutes, hours, day of month, month, day of week, year
 *
 * A time that the zone's clocks skip fires at the skip; one that they show twice fires once.
 */
#ifndef STATOR_SCALING_SCHEDULE_H
#define STATOR_SCALING_SCHEDULE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct time_zone;

enum { SCHEDULE_YEAR_MIN = 1970, SCHEDULE_YEAR_MAX = 2199, SCHEDULE_TEXT_SIZE_MAX = 1600 };

#define SCHEDULE_NEVER INT64_MAX

enum schedule_kind { SCHEDULE_AT, SCHEDULE_RATE, SCHEDULE_CRON };

/* Which days a cron expression means; the other of its two fields is '?'. */
enum schedule_days {
    SCHEDULE_DAYS_OF_MONTH,
    SCHEDULE_LAST_OF_MONTH, /* L */
    SCHEDULE_WEEKDAY_NEAR,  /* 15W */
    SCHEDULE_LAST_WEEKDAY,  /* LW */
    SCHEDULE_DAYS_OF_WEEK,
    SCHEDULE_LAST_DAY_OF_WEEK, /* 6L: the last Friday */
    SCHEDULE_NTH_DAY_OF_WEEK,  /* 6#3: the third Friday */
};

struct schedule {
    enum schedule_kind kind;
    int64_t at_s;   /* By the zone's clocks, as seconds since 1970. */
    int64_t rate_s; /* Above 0. */
    /* Bit n stands for the value n; days of the week count from Sunday = 1. */
    uint64_t minutes;
    uint32_t hours, days_of_month, months, days_of_week;
    enum schedule_days days;
    int nth; /* Of NTH_DAY_OF_WEEK; or the day of WEEKDAY_NEAR. */
    uint64_t years[(SCHEDULE_YEAR_MAX - SCHEDULE_YEAR_MIN) / 64 + 1]; /* From 1970 on. */
};

/* False if it is malformed. */
MUST_CHECK bool schedule_parse(struct bytes text, struct schedule *out);

/* The first time after `after_s` at which it fires, in UTC; SCHEDULE_NEVER if there is none.
 * `start_s` is where a rate counts from. */
int64_t schedule_next(const struct schedule *schedule, const struct time_zone *zone,
                      int64_t start_s, int64_t after_s);

#endif
