/* schedule.c -- see schedule.h. */
#include "scaling/schedule.h"
#include <assert.h>
#include <string.h>
#include "base/compiler.h"
#include "scaling/time_zone.h"

enum { DAY_S = 86400, RATE_DIGITS_MAX = 9 };

/* --- Reading --- */

static bool take(struct bytes *text, const char *prefix)
{
    struct bytes sought = bytes_from_text(prefix);
    if (!bytes_starts_with(*text, sought))
        return false;
    *text = bytes_of(text->data + sought.len, text->len - sought.len);
    return true;
}

static bool take_number(struct bytes *text, size_t digits_max, int64_t *out)
{
    size_t digits = 0;
    *out = 0;
    while (digits < text->len && digits < digits_max && text->data[digits] >= '0' &&
           text->data[digits] <= '9') {
        *out = *out * 10 + (text->data[digits] - '0');
        digits++;
    }
    *text = bytes_of(text->data + digits, text->len - digits);
    return digits > 0;
}

/* Exactly so many digits, within bounds. */
static bool take_digits(struct bytes *text, size_t digits, int64_t min, int64_t max, int64_t *out)
{
    size_t before = text->len;
    return take_number(text, digits, out) && before - text->len == digits && *out >= min &&
           *out <= max;
}

static bool parse_at(struct bytes text, struct schedule *out)
{
    int64_t year, month, day, hour, minute, second;
    bool ok = take_digits(&text, 4, SCHEDULE_YEAR_MIN, SCHEDULE_YEAR_MAX, &year) &&
              take(&text, "-") && take_digits(&text, 2, 1, 12, &month) && take(&text, "-") &&
              take_digits(&text, 2, 1, 31, &day) && take(&text, "T") &&
              take_digits(&text, 2, 0, 23, &hour) && take(&text, ":") &&
              take_digits(&text, 2, 0, 59, &minute) && take(&text, ":") &&
              take_digits(&text, 2, 0, 59, &second) && text.len == 0;
    if (!ok || day > time_zone_days_in_month(year, (int)month))
        return false;
    out->at_s =
        time_zone_days(year, (int)month, (int)day) * DAY_S + hour * 3600 + minute * 60 + second;
    return true;
}

static bool parse_rate(struct bytes text, struct schedule *out)
{
    static const struct {
        const char *one, *many;
        int64_t seconds;
    } units[] = { { "minute", "minutes", 60 },
                  { "hour", "hours", 3600 },
                  { "day", "days", DAY_S } };
    int64_t count;
    if (!take_number(&text, RATE_DIGITS_MAX, &count) || count < 1 || !take(&text, " "))
        return false;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (bytes_equal_text(text, count == 1 ? units[i].one : units[i].many)) {
            out->rate_s = count * units[i].seconds;
            return true;
        }
    }
    return false;
}

/* --- Fields of cron --- */

struct field {
    int64_t min, max;
    const char *const *names; /* Of the values from `min` on; NULL: none. */
    size_t name_count;
};

static const char *const month_names[] = { "JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                           "JUL", "AUG", "SEP", "OCT", "NOV", "DEC" };
static const char *const day_names[] = { "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT" };

static const struct field minutes_field = { 0, 59, NULL, 0 };
static const struct field hours_field = { 0, 23, NULL, 0 };
static const struct field days_of_month_field = { 1, 31, NULL, 0 };
static const struct field months_field = { 1, 12, month_names, COUNT_OF(month_names) };
static const struct field days_of_week_field = { 1, 7, day_names, COUNT_OF(day_names) };
static const struct field years_field = { SCHEDULE_YEAR_MIN, SCHEDULE_YEAR_MAX, NULL, 0 };

static bool take_name(struct bytes *text, const char *name)
{
    if (text->len < 3)
        return false;
    for (size_t i = 0; i < 3; i++) {
        uint8_t c = text->data[i];
        if ((c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c) != name[i])
            return false;
    }
    *text = bytes_of(text->data + 3, text->len - 3);
    return true;
}

static bool take_value(struct bytes *text, const struct field *field, int64_t *out)
{
    for (size_t i = 0; i < field->name_count; i++) {
        if (take_name(text, field->names[i])) {
            *out = field->min + (int64_t)i;
            return true;
        }
    }
    return take_number(text, 4, out) && *out >= field->min && *out <= field->max;
}

/* One part of a list: "*", "a", "a-b", each perhaps with "/step". A range that ends before it
 * begins goes around: FRI-MON. */
static bool take_part(struct bytes *text, const struct field *field, uint64_t *bits)
{
    int64_t first = field->min, last = field->max, step = 1;
    if (!take(text, "*")) {
        if (!take_value(text, field, &first))
            return false;
        last = first;
        bool is_range = take(text, "-");
        if (is_range && !take_value(text, field, &last))
            return false;
        if (!is_range && text->len > 0 && text->data[0] == '/')
            last = field->max; /* "5/10" begins at 5; "5-5/10" is 5 alone. */
    }
    if (take(text, "/") &&
        (!take_number(text, 4, &step) || step < 1 || step > field->max - field->min + 1))
        return false;
    int64_t span = field->max - field->min + 1;
    int64_t length = last >= first ? last - first : last - first + span;
    for (int64_t i = 0; i <= length; i += step) {
        int64_t bit = (first - field->min + i) % span;
        bits[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return true;
}

/* `bits` counts from the field's smallest value. */
static bool parse_list(struct bytes text, const struct field *field, uint64_t *bits)
{
    do {
        if (!take_part(&text, field, bits))
            return false;
    } while (take(&text, ","));
    return text.len == 0;
}

static bool parse_small(struct bytes text, const struct field *field, uint64_t *out)
{
    uint64_t bits = 0;
    bool ok = parse_list(text, field, &bits);
    *out = bits << field->min;
    return ok;
}

static bool parse_day_of_month(struct bytes text, struct schedule *out)
{
    int64_t day;
    uint64_t bits;
    struct bytes rest = text;
    if (bytes_equal_text(text, "L")) {
        out->days = SCHEDULE_LAST_OF_MONTH;
        return true;
    }
    if (bytes_equal_text(text, "LW")) {
        out->days = SCHEDULE_LAST_WEEKDAY;
        return true;
    }
    if (take_value(&rest, &days_of_month_field, &day) && bytes_equal_text(rest, "W")) {
        out->days = SCHEDULE_WEEKDAY_NEAR;
        out->nth = (int)day;
        return true;
    }
    out->days = SCHEDULE_DAYS_OF_MONTH;
    bool ok = parse_small(text, &days_of_month_field, &bits);
    out->days_of_month = (uint32_t)bits;
    return ok;
}

static bool parse_day_of_week(struct bytes text, struct schedule *out)
{
    int64_t day, nth;
    uint64_t bits;
    struct bytes rest = text;
    if (bytes_equal_text(text, "L"))
        text = BYTES("7"); /* The last day of a week, not of a month. */
    else if (take_value(&rest, &days_of_week_field, &day)) {
        out->days_of_week = (uint32_t)1 << day;
        if (bytes_equal_text(rest, "L")) {
            out->days = SCHEDULE_LAST_DAY_OF_WEEK;
            return true;
        }
        if (take(&rest, "#")) {
            out->days = SCHEDULE_NTH_DAY_OF_WEEK;
            bool ok = take_digits(&rest, 1, 1, 5, &nth) && rest.len == 0;
            out->nth = (int)nth;
            return ok;
        }
    }
    out->days = SCHEDULE_DAYS_OF_WEEK;
    bool ok = parse_small(text, &days_of_week_field, &bits);
    out->days_of_week = (uint32_t)bits;
    return ok;
}

static bool next_word(struct bytes *text, struct bytes *word)
{
    size_t size = 0;
    while (text->len > 0 && text->data[0] == ' ')
        *text = bytes_of(text->data + 1, text->len - 1);
    while (size < text->len && text->data[size] != ' ')
        size++;
    *word = bytes_of(text->data, size);
    *text = bytes_of(text->data + size, text->len - size);
    return size > 0;
}

static bool parse_cron(struct bytes text, struct schedule *out)
{
    enum { MINUTES, HOURS, DAY_OF_MONTH, MONTHS, DAY_OF_WEEK, YEARS, WORDS };
    struct bytes words[WORDS], more;
    uint64_t hours, months;
    for (size_t i = 0; i < WORDS; i++)
        if (!next_word(&text, &words[i]))
            return false;
    bool any_month_day = bytes_equal_text(words[DAY_OF_MONTH], "?");
    bool any_week_day = bytes_equal_text(words[DAY_OF_WEEK], "?");
    if (next_word(&text, &more) || any_month_day == any_week_day)
        return false; /* One of the two must be '?'. */
    if (!parse_small(words[MINUTES], &minutes_field, &out->minutes) ||
        !parse_small(words[HOURS], &hours_field, &hours) ||
        !parse_small(words[MONTHS], &months_field, &months) ||
        !parse_list(words[YEARS], &years_field, out->years))
        return false;
    out->hours = (uint32_t)hours;
    out->months = (uint32_t)months;
    return any_month_day ? parse_day_of_week(words[DAY_OF_WEEK], out)
                         : parse_day_of_month(words[DAY_OF_MONTH], out);
}

bool schedule_parse(struct bytes text, struct schedule *out)
{
    *out = (struct schedule){ 0 };
    if (text.len > SCHEDULE_TEXT_SIZE_MAX || text.len == 0 || text.data[text.len - 1] != ')')
        return false;
    text.len--;
    if (take(&text, "at(")) {
        out->kind = SCHEDULE_AT;
        return parse_at(text, out);
    }
    if (take(&text, "rate(")) {
        out->kind = SCHEDULE_RATE;
        return parse_rate(text, out);
    }
    out->kind = SCHEDULE_CRON;
    return take(&text, "cron(") && parse_cron(text, out);
}

/* --- The next time --- */

/* 1 for Sunday to 7 for Saturday. 1970-01-01 was a Thursday. */
static int weekday_of(int64_t days)
{
    return (int)((days % 7 + 7 + 4) % 7) + 1;
}

/* The weekday, Monday to Friday, that is nearest to a day and in the same month. */
static int nearest_weekday(int64_t year, int month, int day, int days_in_month)
{
    if (day > days_in_month)
        return 0; /* This month has no such day. */
    int weekday = weekday_of(time_zone_days(year, month, day));
    if (weekday == 7)
        return day > 1 ? day - 1 : day + 2;
    if (weekday == 1)
        return day < days_in_month ? day + 1 : day - 2;
    return day;
}

static bool fires_on_day(const struct schedule *schedule, int64_t year, int month, int day)
{
    int last = time_zone_days_in_month(year, month);
    int weekday = weekday_of(time_zone_days(year, month, day));
    bool is_day_of_week = (schedule->days_of_week >> weekday & 1) != 0;
    switch (schedule->days) {
    case SCHEDULE_DAYS_OF_MONTH:
        return (schedule->days_of_month >> day & 1) != 0;
    case SCHEDULE_LAST_OF_MONTH:
        return day == last;
    case SCHEDULE_WEEKDAY_NEAR:
        return day == nearest_weekday(year, month, schedule->nth, last);
    case SCHEDULE_LAST_WEEKDAY:
        return day == nearest_weekday(year, month, last, last);
    case SCHEDULE_DAYS_OF_WEEK:
        return is_day_of_week;
    case SCHEDULE_LAST_DAY_OF_WEEK:
        return is_day_of_week && day + 7 > last;
    case SCHEDULE_NTH_DAY_OF_WEEK:
        return is_day_of_week && (day - 1) / 7 + 1 == schedule->nth;
    }
    return false;
}

static bool has_year(const struct schedule *schedule, int64_t year)
{
    int64_t bit = year - SCHEDULE_YEAR_MIN;
    return (schedule->years[bit / 64] >> (bit % 64) & 1) != 0;
}

/* The first minute of a day at which cron fires after `after_s`. */
static int64_t next_on_day(const struct schedule *schedule, const struct time_zone *zone,
                           int64_t day_s, int64_t after_s)
{
    for (int64_t minute = 0; minute < DAY_S / 60; minute++) {
        if ((schedule->hours >> (minute / 60) & 1) == 0 ||
            (schedule->minutes >> (minute % 60) & 1) == 0)
            continue;
        int64_t time = time_zone_to_utc(zone, day_s + minute * 60);
        if (time > after_s)
            return time;
    }
    return SCHEDULE_NEVER;
}

/* Visits each month until the last year, and of matching months each day: at most 2,760 months. */
static int64_t next_of_cron(const struct schedule *schedule, const struct time_zone *zone,
                            int64_t after_s)
{
    int64_t local_s = after_s + time_zone_offset(zone, after_s) - DAY_S; /* A clock may go back. */
    int64_t first_day_s = local_s < 0 ? 0 : local_s / DAY_S * DAY_S;
    for (int64_t year = SCHEDULE_YEAR_MIN; year <= SCHEDULE_YEAR_MAX; year++) {
        if (!has_year(schedule, year) || time_zone_days(year + 1, 1, 1) * DAY_S <= first_day_s)
            continue;
        for (int month = 1; month <= 12; month++) {
            if ((schedule->months >> month & 1) == 0)
                continue;
            for (int day = 1; day <= time_zone_days_in_month(year, month); day++) {
                int64_t day_s = time_zone_days(year, month, day) * DAY_S;
                if (day_s < first_day_s || !fires_on_day(schedule, year, month, day))
                    continue;
                int64_t time = next_on_day(schedule, zone, day_s, after_s);
                if (time != SCHEDULE_NEVER)
                    return time;
            }
        }
    }
    return SCHEDULE_NEVER;
}

int64_t schedule_next(const struct schedule *schedule, const struct time_zone *zone,
                      int64_t start_s, int64_t after_s)
{
    switch (schedule->kind) {
    case SCHEDULE_AT: {
        int64_t time = time_zone_to_utc(zone, schedule->at_s);
        return time > after_s ? time : SCHEDULE_NEVER;
    }
    case SCHEDULE_RATE: {
        assert(schedule->rate_s > 0);
        if (after_s < start_s)
            return start_s;
        return start_s + ((after_s - start_s) / schedule->rate_s + 1) * schedule->rate_s;
    }
    case SCHEDULE_CRON:
        return next_of_cron(schedule, zone, after_s);
    }
    return SCHEDULE_NEVER;
}
