/* iso_time.c -- see iso_time.h. */
#include "codec/iso_time.h"
#include <stdio.h>
#include <time.h>
#include "base/clock.h"

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static bool take(struct cursor *cursor, char expected)
{
    if (cursor->at == cursor->end || *cursor->at != (uint8_t)expected)
        return false;
    cursor->at++;
    return true;
}

static bool is_digit_next(const struct cursor *cursor)
{
    return cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9';
}

static bool take_number(struct cursor *cursor, int digits, int *out)
{
    *out = 0;
    for (int i = 0; i < digits; i++) {
        if (!is_digit_next(cursor))
            return false;
        *out = *out * 10 + (*cursor->at++ - '0');
    }
    return true;
}

static bool take_date(struct cursor *cursor, struct tm *parts)
{
    if (!take_number(cursor, 4, &parts->tm_year) || !take(cursor, '-') ||
        !take_number(cursor, 2, &parts->tm_mon) || !take(cursor, '-') ||
        !take_number(cursor, 2, &parts->tm_mday))
        return false;
    if (parts->tm_year < 1)
        return false;
    parts->tm_year -= 1900;
    parts->tm_mon--;
    return true;
}

static bool take_fraction(struct cursor *cursor, int *out_ms)
{
    if (!take(cursor, '.'))
        return true;
    if (!is_digit_next(cursor))
        return false;
    for (int scale = 100; is_digit_next(cursor); cursor->at++, scale /= 10)
        *out_ms += (*cursor->at - '0') * scale;
    return true;
}

static bool take_time(struct cursor *cursor, struct tm *parts, int *out_ms)
{
    if (!take_number(cursor, 2, &parts->tm_hour) || !take(cursor, ':') ||
        !take_number(cursor, 2, &parts->tm_min))
        return false;
    return !take(cursor, ':') ||
           (take_number(cursor, 2, &parts->tm_sec) && take_fraction(cursor, out_ms));
}

static bool take_offset(struct cursor *cursor, int *out_minutes)
{
    bool ahead = take(cursor, '+');
    int hours, minutes;
    if (!ahead && !take(cursor, '-'))
        return take(cursor, 'Z') || cursor->at == cursor->end;
    if (!take_number(cursor, 2, &hours) || (take(cursor, ':'), !take_number(cursor, 2, &minutes)) ||
        hours > 23 || minutes > 59)
        return false;
    *out_minutes = (ahead ? 1 : -1) * (hours * 60 + minutes);
    return true;
}

bool iso_time_parse(struct bytes text, int64_t *out_ms)
{
    struct cursor cursor = { text.data, text.data + text.len };
    struct tm parts = { 0 };
    int milliseconds = 0, offset_minutes = 0;
    if (!take_date(&cursor, &parts))
        return false;
    if (take(&cursor, 'T') &&
        (!take_time(&cursor, &parts, &milliseconds) || !take_offset(&cursor, &offset_minutes)))
        return false;
    if (cursor.at != cursor.end)
        return false;
    struct tm normal = parts; /* Normalising changes a day or minute that does not exist. */
    int64_t second = (int64_t)timegm(&normal);
    if (normal.tm_mon != parts.tm_mon || normal.tm_mday != parts.tm_mday ||
        normal.tm_hour != parts.tm_hour || normal.tm_min != parts.tm_min ||
        normal.tm_sec != parts.tm_sec)
        return false;
    *out_ms = (second - offset_minutes * 60) * 1000 + milliseconds;
    return true;
}

void iso_time_format(int64_t time_ms, char out[ISO_TIME_TEXT_SIZE])
{
    int64_t second = clock_second_of_ms(time_ms);
    struct tm parts = clock_utc(second);
    int milliseconds = (int)(time_ms - second * 1000);
    if (second < CLOCK_SHOWN_SECOND_MIN || second > CLOCK_SHOWN_SECOND_MAX)
        milliseconds = 0;
    size_t size = strftime(out, ISO_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
    if (milliseconds == 0)
        snprintf(out + size, ISO_TIME_TEXT_SIZE - size, "Z");
    else
        snprintf(out + size, ISO_TIME_TEXT_SIZE - size, ".%03dZ", milliseconds);
}
