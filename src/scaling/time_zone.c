/* time_zone.c -- see time_zone.h. */
#include "scaling/time_zone.h"
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"

#define DATABASE "/usr/share/zoneinfo/"

enum { DAY_S = 86400, OFFSET_S_MAX = 26 * 3600, HEADER_SIZE = 44, TYPE_SIZE = 6 };

/* A day of the year on which the offset changes, and the second of it by the local clock. */
struct change_rule {
    enum { ON_DAY_1, ON_DAY_0, ON_WEEKDAY } kind; /* Jn, n, Mm.w.d of POSIX. */
    int month, week, day;
    int32_t second;
};

/* What holds behind the last transition. */
struct footer {
    bool exists;
    bool has_summer;
    int32_t standard_s, summer_s;
    struct change_rule to_summer, to_standard;
};

struct time_zone {
    size_t count;
    int32_t first_s; /* The offset before the first transition. */
    int64_t times[TIME_ZONE_TRANSITIONS_MAX];
    int32_t offsets[TIME_ZONE_TRANSITIONS_MAX];
    struct footer footer;
};

/* --- Calendar --- */

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int time_zone_days_in_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    assert(month >= 1 && month <= 12);
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Leap days from year 1 to the end of `year`. */
static int64_t leap_days(int64_t year)
{
    return year / 4 - year / 100 + year / 400;
}

int64_t time_zone_days(int64_t year, int month, int day)
{
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
    assert(year >= 1 && month >= 1 && month <= 12);
    int64_t days = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    return days + before[month - 1] + (month > 2 && is_leap(year)) + day - 1;
}

/* The year of a second, by counting from an estimate that is never too late. */
static int64_t year_of(int64_t second)
{
    int64_t year = 1970 + second / (INT64_C(366) * DAY_S);
    if (second < 0)
        year = 1970 + second / (INT64_C(365) * DAY_S) - 1;
    while (time_zone_days(year + 1, 1, 1) * DAY_S <= second)
        year++;
    return year;
}

/* --- The footer: a time zone as in POSIX's TZ variable, "CET-1CEST,M3.5.0,M10.5.0/3" --- */

static bool take(struct bytes *text, char c)
{
    if (text->len == 0 || text->data[0] != (uint8_t)c)
        return false;
    *text = bytes_of(text->data + 1, text->len - 1);
    return true;
}

static bool take_number(struct bytes *text, int min, int max, int *out)
{
    size_t digits = 0;
    *out = 0;
    while (digits < text->len && digits < 4 && text->data[digits] >= '0' &&
           text->data[digits] <= '9') {
        *out = *out * 10 + (text->data[digits] - '0');
        digits++;
    }
    *text = bytes_of(text->data + digits, text->len - digits);
    return digits > 0 && *out >= min && *out <= max;
}

/* "[+-]hh[:mm[:ss]]", up to 167 hours. */
static bool take_time(struct bytes *text, int32_t *out)
{
    int parts[3] = { 0 };
    bool negative = take(text, '-');
    if (!negative)
        (void)take(text, '+');
    if (!take_number(text, 0, 167, &parts[0]))
        return false;
    for (int i = 1; i < 3 && take(text, ':'); i++)
        if (!take_number(text, 0, 59, &parts[i]))
            return false;
    int32_t seconds = parts[0] * 3600 + parts[1] * 60 + parts[2];
    *out = negative ? -seconds : seconds;
    return true;
}

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "CET" or "<+03>". */
static bool take_name(struct bytes *text)
{
    size_t size = 0;
    if (take(text, '<')) {
        const uint8_t *end = text->len == 0 ? NULL : memchr(text->data, '>', text->len);
        if (end == NULL)
            return false;
        size = (size_t)(end - text->data) + 1;
    } else {
        while (size < text->len && is_letter(text->data[size]))
            size++;
    }
    *text = bytes_of(text->data + size, text->len - size);
    return size > 0;
}

/* POSIX counts offsets westward. */
static bool take_offset(struct bytes *text, int32_t *out)
{
    if (!take_time(text, out) || *out > OFFSET_S_MAX || *out < -OFFSET_S_MAX)
        return false;
    *out = -*out;
    return true;
}

static bool take_rule(struct bytes *text, struct change_rule *rule)
{
    bool ok = take(text, ',');
    if (ok && take(text, 'M')) {
        rule->kind = ON_WEEKDAY;
        ok = take_number(text, 1, 12, &rule->month) && take(text, '.') &&
             take_number(text, 1, 5, &rule->week) && take(text, '.') &&
             take_number(text, 0, 6, &rule->day);
    } else if (ok && take(text, 'J')) {
        rule->kind = ON_DAY_1;
        ok = take_number(text, 1, 365, &rule->day);
    } else if (ok) {
        rule->kind = ON_DAY_0;
        ok = take_number(text, 0, 365, &rule->day);
    }
    rule->second = 2 * 3600;
    return ok && (!take(text, '/') || take_time(text, &rule->second));
}

static bool parse_footer(struct bytes text, struct footer *out)
{
    out->exists = text.len > 0;
    if (!out->exists)
        return true;
    if (!take_name(&text) || !take_offset(&text, &out->standard_s))
        return false;
    out->has_summer = text.len > 0;
    if (!out->has_summer)
        return true;
    out->summer_s = out->standard_s + 3600;
    return take_name(&text) &&
           (text.len == 0 || text.data[0] == ',' || take_offset(&text, &out->summer_s)) &&
           take_rule(&text, &out->to_summer) && take_rule(&text, &out->to_standard) &&
           text.len == 0;
}

/* The local second of the change in that year. */
static int64_t second_of_rule(const struct change_rule *rule, int64_t year)
{
    int64_t day;
    if (rule->kind == ON_WEEKDAY) {
        int64_t first = time_zone_days(year, rule->month, 1);
        int weekday = (int)((first % 7 + 7 + 4) % 7); /* 1970-01-01 was a Thursday. */
        day = first + (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
        if (day >= first + time_zone_days_in_month(year, rule->month))
            day -= 7;
    } else {
        bool skips_leap_day = rule->kind == ON_DAY_1 && is_leap(year) && rule->day >= 60;
        day = time_zone_days(year, 1, 1) + rule->day - (rule->kind == ON_DAY_1) + skips_leap_day;
    }
    return day * DAY_S + rule->second;
}

static int64_t offset_of_footer(const struct footer *footer, int64_t utc_s)
{
    if (!footer->has_summer)
        return footer->standard_s;
    int64_t year = year_of(utc_s + footer->standard_s);
    int64_t start = second_of_rule(&footer->to_summer, year) - footer->standard_s;
    int64_t end = second_of_rule(&footer->to_standard, year) - footer->summer_s;
    bool is_summer = start < end ? utc_s >= start && utc_s < end : utc_s >= start || utc_s < end;
    return is_summer ? footer->summer_s : footer->standard_s;
}

/* --- Files --- */

struct header {
    uint32_t is_ut, is_standard, leaps, times, types, letters;
    uint8_t version;
};

static uint32_t get_32(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static int64_t get_64(const uint8_t *data)
{
    return (int64_t)((uint64_t)get_32(data) << 32 | get_32(data + 4));
}

static bool read_header(struct bytes *file, struct header *out)
{
    if (file->len < HEADER_SIZE || memcmp(file->data, "TZif", 4) != 0)
        return false;
    const uint8_t *counts = file->data + 20;
    *out = (struct header){ .version = file->data[4],
                            .is_ut = get_32(counts),
                            .is_standard = get_32(counts + 4),
                            .leaps = get_32(counts + 8),
                            .times = get_32(counts + 12),
                            .types = get_32(counts + 16),
                            .letters = get_32(counts + 20) };
    *file = bytes_of(file->data + HEADER_SIZE, file->len - HEADER_SIZE);
    return out->is_ut <= 256 && out->is_standard <= 256 && out->leaps <= 256 &&
           out->times <= TIME_ZONE_TRANSITIONS_MAX && out->types >= 1 && out->types <= 256 &&
           out->letters <= 4096;
}

static size_t block_size(const struct header *header, size_t time_size)
{
    return header->times * (time_size + 1) + header->types * TYPE_SIZE + header->letters +
           header->leaps * (time_size + 4) + header->is_standard + header->is_ut;
}

static bool read_block(struct bytes block, const struct header *header, struct time_zone *out)
{
    const uint8_t *indexes = block.data + 8 * (size_t)header->times;
    const uint8_t *types = indexes + header->times;
    int32_t offsets[256];
    for (uint32_t i = 0; i < header->types; i++) {
        offsets[i] = (int32_t)get_32(types + TYPE_SIZE * (size_t)i);
        if (offsets[i] > OFFSET_S_MAX || offsets[i] < -OFFSET_S_MAX)
            return false;
    }
    out->first_s = offsets[0];
    out->count = header->times;
    for (uint32_t i = 0; i < header->times; i++) {
        out->times[i] = get_64(block.data + 8 * (size_t)i);
        if (indexes[i] >= header->types || (i > 0 && out->times[i] <= out->times[i - 1]))
            return false;
        out->offsets[i] = offsets[indexes[i]];
    }
    return true;
}

static bool parse_file(struct bytes file, struct time_zone *out)
{
    struct header header;
    if (!read_header(&file, &header) || header.version < '2')
        return false;
    size_t skipped = block_size(&header, 4); /* The times of before 2038, for old readers. */
    if (file.len < skipped)
        return false;
    file = bytes_of(file.data + skipped, file.len - skipped);
    if (!read_header(&file, &header))
        return false;
    size_t size = block_size(&header, 8);
    if (file.len < size || !read_block(file, &header, out))
        return false;
    file = bytes_of(file.data + size, file.len - size);
    const uint8_t *end = file.len < 2 ? NULL : memchr(file.data + 1, '\n', file.len - 1);
    return end != NULL && file.data[0] == '\n' &&
           parse_footer(bytes_of(file.data + 1, (size_t)(end - file.data) - 1), &out->footer);
}

struct time_zone *time_zone_parse(struct bytes file)
{
    struct time_zone *zone = memory_checked(calloc(1, sizeof *zone));
    if (parse_file(file, zone))
        return zone;
    free(zone);
    return NULL;
}

/* Names come from clients and become paths: letters, digits, '_', '+', '-' and single slashes
 * between them, so nothing outside of the database can be named. */
static bool is_name(struct bytes name)
{
    bool after_slash = true;
    if (name.len == 0 || name.len > TIME_ZONE_NAME_SIZE_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        bool is_plain = is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '+' || c == '-';
        if (!is_plain && (c != '/' || after_slash))
            return false;
        after_slash = c == '/';
    }
    return !after_slash;
}

struct time_zone *time_zone_open(struct bytes name)
{
    char path[sizeof DATABASE + TIME_ZONE_NAME_SIZE_MAX];
    uint8_t *data;
    if (bytes_equal_text(name, "UTC"))
        return memory_checked(calloc(1, sizeof(struct time_zone)));
    if (!is_name(name))
        return NULL;
    snprintf(path, sizeof path, DATABASE "%.*s", BYTES_FMT(name));
    int file = file_open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return NULL;
    data = memory_checked(malloc(TIME_ZONE_FILE_SIZE_MAX));
    ssize_t size = read(file, data, TIME_ZONE_FILE_SIZE_MAX);
    struct time_zone *zone = size > 0 ? time_zone_parse(bytes_of(data, (size_t)size)) : NULL;
    free(data);
    file_close(file);
    return zone;
}

void time_zone_close(struct time_zone *zone)
{
    free(zone);
}

/* --- Times --- */

int64_t time_zone_offset(const struct time_zone *zone, int64_t utc_s)
{
    size_t low = 0, high = zone->count; /* The first transition after the time. */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->times[middle] <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->footer.exists)
        return offset_of_footer(&zone->footer, utc_s);
    return low == 0 ? zone->first_s : zone->offsets[low - 1];
}

/* The offsets a day before and a day after are the only candidates: no zone changes twice within
 * two days. */
int64_t time_zone_to_utc(const struct time_zone *zone, int64_t local_s)
{
    int64_t before = time_zone_offset(zone, local_s - DAY_S - OFFSET_S_MAX / 2);
    int64_t after = time_zone_offset(zone, local_s + DAY_S + OFFSET_S_MAX / 2);
    int64_t early = local_s - before, late = local_s - after;
    bool early_fits = time_zone_offset(zone, early) == before;
    bool late_fits = time_zone_offset(zone, late) == after;
    if (early_fits && late_fits)
        return early < late ? early : late;
    if (early_fits || late_fits)
        return early_fits ? early : late;
    /* Skipped: the change lies between the two. */
    int64_t low = late < early ? late : early, high = late < early ? early : late;
    int64_t old = time_zone_offset(zone, low);
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (time_zone_offset(zone, middle) == old)
            low = middle;
        else
            high = middle;
    }
    return high;
}
