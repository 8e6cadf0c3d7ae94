/* statistic.c -- see statistic.h. */
#include "cloudwatch/statistic.h"
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include "base/compiler.h"
#include "cloudwatch/sample_set.h"
#include "cloudwatch/value_histogram.h"

/* --- Names --- */

static const char *const simple_names[] = {
    [STATISTIC_SAMPLE_COUNT] = "SampleCount",
    [STATISTIC_AVERAGE] = "Average",
    [STATISTIC_SUM] = "Sum",
    [STATISTIC_MINIMUM] = "Minimum",
    [STATISTIC_MAXIMUM] = "Maximum",
};

const char *statistic_name(enum statistic_kind kind)
{
    assert(kind < COUNT_OF(simple_names));
    return simple_names[kind];
}

bool statistic_parse_simple(struct bytes name, struct statistic *out)
{
    for (size_t i = 0; i < COUNT_OF(simple_names); i++) {
        if (bytes_equal_text(name, simple_names[i])) {
            *out = (struct statistic){ .kind = (enum statistic_kind)i };
            return true;
        }
    }
    return false;
}

static void skip(struct bytes *in, size_t size)
{
    *in = bytes_of(in->data + size, in->len - size);
}

static bool take(struct bytes *in, char wanted)
{
    if (in->len == 0 || in->data[0] != (uint8_t)wanted)
        return false;
    skip(in, 1);
    return true;
}

/* Digits, perhaps with a fraction or a sign. */
static bool read_decimal(struct bytes *in, double *out)
{
    char text[64];
    size_t size = 0, digits = 0;
    while (size < in->len && size < sizeof text - 1) {
        char c = (char)in->data[size];
        if (isdigit((unsigned char)c))
            digits++;
        else if (c != '.' && !(c == '-' && size == 0))
            break;
        text[size++] = c;
    }
    text[size] = '\0';
    char *end;
    *out = strtod(text, &end);
    skip(in, size);
    return digits > 0 && *end == '\0';
}

/* "(low:high)", each with a % or none; either may be left out. */
static bool read_range(struct bytes *in, struct statistic *out)
{
    bool low_is_percent = false, high_is_percent = false;
    if (!take(in, '('))
        return false;
    if (in->len > 0 && in->data[0] != ':') {
        if (!read_decimal(in, &out->low))
            return false;
        out->has_low = true;
        low_is_percent = take(in, '%');
    }
    if (!take(in, ':'))
        return false;
    if (in->len > 0 && in->data[0] != ')') {
        if (!read_decimal(in, &out->high))
            return false;
        out->has_high = true;
        high_is_percent = take(in, '%');
    }
    if (!take(in, ')') || (!out->has_low && !out->has_high) ||
        (out->has_low && out->has_high && low_is_percent != high_is_percent))
        return false;
    out->by_value = !(low_is_percent || high_is_percent);
    return !(out->has_low && out->has_high) || out->low < out->high;
}

static bool is_percentage(double value)
{
    return value >= 0 && value <= 100;
}

static bool has_prefix(struct bytes name, const char *prefix)
{
    return name.len >= 2 && tolower(name.data[0]) == prefix[0] &&
           tolower(name.data[1]) == prefix[1];
}

/* p99.9 */
static bool parse_percentile(struct bytes name, struct statistic *out)
{
    *out = (struct statistic){ .kind = STATISTIC_PERCENTILE, .has_high = true };
    skip(&name, 1);
    return read_decimal(&name, &out->high) && name.len == 0 && is_percentage(out->high);
}

/* Behind the two letters: tm90 is tm(:90%). */
static bool parse_bounds(struct bytes rest, struct statistic *out)
{
    if (rest.len > 0 && isdigit(rest.data[0])) {
        out->has_high = true;
        return read_decimal(&rest, &out->high) && rest.len == 0 && is_percentage(out->high);
    }
    if (!read_range(&rest, out) || rest.len > 0)
        return false;
    return out->by_value || ((!out->has_low || is_percentage(out->low)) &&
                             (!out->has_high || is_percentage(out->high)));
}

bool statistic_parse_extended(struct bytes name, struct statistic *out)
{
    static const struct {
        const char *prefix;
        enum statistic_kind kind;
    } kinds[] = { { "tm", STATISTIC_TRIMMED_MEAN },
                  { "wm", STATISTIC_WINSORIZED_MEAN },
                  { "tc", STATISTIC_TRIMMED_COUNT },
                  { "ts", STATISTIC_TRIMMED_SUM },
                  { "pr", STATISTIC_PERCENTILE_RANK } };
    if (bytes_equal_text(name, "IQM") || bytes_equal_text(name, "iqm")) {
        *out = (struct statistic){
            .kind = STATISTIC_TRIMMED_MEAN, .has_low = true, .has_high = true, .low = 25, .high = 75
        };
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (!has_prefix(name, kinds[i].prefix))
            continue;
        *out = (struct statistic){ .kind = kinds[i].kind };
        /* A rank is of values, and nothing but a range. */
        return parse_bounds(bytes_of(name.data + 2, name.len - 2), out) &&
               (out->kind != STATISTIC_PERCENTILE_RANK || out->by_value);
    }
    return name.len >= 2 && tolower(name.data[0]) == 'p' && parse_percentile(name, out);
}

bool statistic_parse(struct bytes name, struct statistic *out)
{
    return statistic_parse_simple(name, out) || statistic_parse_extended(name, out);
}

/* --- Values --- */

/* The values of a set as runs, ascending. Within a run they are spread evenly. */
struct run {
    double low, high, count;
};

static size_t make_runs(const struct sample_set *set, struct run runs[VALUE_HISTOGRAM_BUCKETS_MAX])
{
    if (set->histogram == NULL) {
        runs[0] = (struct run){ set->minimum, set->maximum, set->count };
        return 1;
    }
    for (size_t i = 0; i < set->histogram->count; i++) {
        struct run *run = &runs[i];
        value_histogram_bounds(set->histogram, i, &run->low, &run->high);
        run->low = fmin(fmax(run->low, set->minimum), set->maximum);
        run->high = fmax(fmin(run->high, set->maximum), set->minimum);
        run->count = set->histogram->buckets[i].count;
    }
    return set->histogram->count;
}

/* The value below which `rank` of the values are. */
static double value_at(const struct run *runs, size_t count, double rank)
{
    for (size_t i = 0; i < count; i++) {
        if (rank <= runs[i].count || i + 1 == count) {
            double part = fmin(fmax(rank / runs[i].count, 0), 1);
            return runs[i].low + (runs[i].high - runs[i].low) * part;
        }
        rank -= runs[i].count;
    }
    return 0;
}

/* How many of the values are below `value`, or equal to it. */
static double rank_of(const struct run *runs, size_t count, double value)
{
    double rank = 0;
    for (size_t i = 0; i < count; i++) {
        if (value >= runs[i].high)
            rank += runs[i].count;
        else if (value > runs[i].low)
            rank += runs[i].count * (value - runs[i].low) / (runs[i].high - runs[i].low);
    }
    return rank;
}

/* Number and sum of the values between two ranks. */
static void sum_between(const struct run *runs, size_t count, double from, double to,
                        double *number, double *sum)
{
    double before = 0;
    *number = *sum = 0;
    for (size_t i = 0; i < count; i++) {
        double low = fmax(from, before), high = fmin(to, before + runs[i].count);
        if (high > low) {
            double width = runs[i].high - runs[i].low;
            double middle = ((low + high) / 2 - before) / runs[i].count;
            *number += high - low;
            *sum += (high - low) * (runs[i].low + width * middle);
        }
        before += runs[i].count;
    }
}

static bool bounded_value(const struct statistic *statistic, const struct run *runs, size_t count,
                          double total, double *out)
{
    double from = 0, to = total, number, sum;
    if (statistic->has_low)
        from = statistic->by_value ? rank_of(runs, count, statistic->low)
                                   : total * statistic->low / 100;
    if (statistic->has_high)
        to = statistic->by_value ? rank_of(runs, count, statistic->high)
                                 : total * statistic->high / 100;
    sum_between(runs, count, from, to, &number, &sum);
    switch (statistic->kind) {
    case STATISTIC_TRIMMED_COUNT:
        *out = number;
        return true;
    case STATISTIC_TRIMMED_SUM:
        *out = sum;
        return true;
    case STATISTIC_PERCENTILE_RANK:
        *out = 100 * number / total;
        return true;
    case STATISTIC_WINSORIZED_MEAN: /* What is outside counts as the bound. */
        sum += from * (statistic->by_value && statistic->has_low ? statistic->low
                                                                 : value_at(runs, count, from));
        sum +=
            (total - to) * (statistic->by_value && statistic->has_high ? statistic->high
                                                                       : value_at(runs, count, to));
        *out = sum / total;
        return true;
    default:
        *out = number > 0 ? sum / number : 0;
        return number > 0;
    }
}

bool statistic_value(const struct statistic *statistic, const struct sample_set *set, double *out)
{
    struct run runs[VALUE_HISTOGRAM_BUCKETS_MAX];
    assert(set->count > 0);
    switch (statistic->kind) {
    case STATISTIC_SAMPLE_COUNT:
        *out = set->count;
        return true;
    case STATISTIC_AVERAGE:
        *out = set->sum / set->count;
        return true;
    case STATISTIC_SUM:
        *out = set->sum;
        return true;
    case STATISTIC_MINIMUM:
        *out = set->minimum;
        return true;
    case STATISTIC_MAXIMUM:
        *out = set->maximum;
        return true;
    default:
        break;
    }
    if (!set->is_distributed)
        return false;
    size_t count = make_runs(set, runs);
    if (statistic->kind == STATISTIC_PERCENTILE) {
        *out = value_at(runs, count, set->count * statistic->high / 100);
        return true;
    }
    return bounded_value(statistic, runs, count, set->count, out);
}
