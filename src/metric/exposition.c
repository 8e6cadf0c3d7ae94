/* exposition.c -- see exposition.h. */
#include "metric/exposition.h"
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "metric/histogram.h"

enum { NUMBER_SIZE_MAX = 40, ENDS_MAX = 64, QUALITY_ONE = 1000 };

struct exposition_family {
    struct exposition *page;
    enum exposition_type type;
    const char *name;
    const char *unit;
    const char *help;
    struct buffer samples;
};

struct exposition {
    struct arena *arena;
    bool open_metrics;
    size_t size_max;
    size_t size; /* Of all samples. */
    uint64_t left_out;
    struct exposition_family families[EXPOSITION_FAMILIES_MAX];
    size_t family_count;
};

struct exposition *exposition_create(struct arena *arena, bool open_metrics, size_t size_max)
{
    struct exposition *page = arena_alloc_zeroed(arena, sizeof *page);
    page->arena = arena;
    page->open_metrics = open_metrics;
    page->size_max = size_max;
    return page;
}

struct exposition_family *exposition_add(struct exposition *page, enum exposition_type type,
                                         const char *name, const char *unit, const char *help)
{
    assert(page->family_count < EXPOSITION_FAMILIES_MAX);
    struct exposition_family *family = &page->families[page->family_count++];
    *family = (struct exposition_family){
        .page = page, .type = type, .name = name, .unit = unit, .help = help
    };
    buffer_init(&family->samples, page->arena);
    return family;
}

/* --- Samples --- */

static void append_text(struct buffer *out, const char *text)
{
    buffer_append(out, text, strlen(text));
}

static void append_escaped(struct buffer *out, struct bytes value)
{
    for (size_t i = 0; i < value.len; i++) {
        uint8_t byte = value.data[i];
        if (byte == '\\' || byte == '"')
            buffer_append_byte(out, '\\');
        if (byte == '\n')
            buffer_append(out, "\\n", 2);
        else
            buffer_append_byte(out, byte);
    }
}

/* One line. `end` is the label "le" of a bucket; NULL: it has none. */
static void append_sample(struct exposition_family *family, const char *suffix,
                          const struct exposition_label *labels, size_t label_count,
                          const char *end, const char *value)
{
    assert(label_count <= EXPOSITION_LABELS_MAX);
    struct exposition *page = family->page;
    struct buffer *out = &family->samples;
    size_t before = out->len;
    if (page->size >= page->size_max) {
        page->left_out++;
        return;
    }
    append_text(out, family->name);
    append_text(out, suffix);
    for (size_t i = 0; i < label_count + (end != NULL); i++) {
        buffer_append_byte(out, i == 0 ? '{' : ',');
        append_text(out, i < label_count ? labels[i].name : "le");
        append_text(out, "=\"");
        append_escaped(out, i < label_count ? labels[i].value : bytes_from_text(end));
        buffer_append_byte(out, '"');
    }
    if (label_count > 0 || end != NULL)
        buffer_append_byte(out, '}');
    buffer_append_byte(out, ' ');
    append_text(out, value);
    buffer_append_byte(out, '\n');
    page->size += out->len - before;
}

static const char *suffix_of(const struct exposition_family *family)
{
    return family->type == EXPOSITION_COUNTER ? "_total" : "";
}

void exposition_integer(struct exposition_family *family, const struct exposition_label *labels,
                        size_t label_count, uint64_t value)
{
    char text[NUMBER_SIZE_MAX];
    snprintf(text, sizeof text, "%" PRIu64, value);
    append_sample(family, suffix_of(family), labels, label_count, NULL, text);
}

static void format_number(double value, char text[NUMBER_SIZE_MAX])
{
    if (isnan(value))
        snprintf(text, NUMBER_SIZE_MAX, "NaN");
    else if (isinf(value))
        snprintf(text, NUMBER_SIZE_MAX, value > 0 ? "+Inf" : "-Inf");
    else
        snprintf(text, NUMBER_SIZE_MAX, "%.15g", value);
}

void exposition_number(struct exposition_family *family, const struct exposition_label *labels,
                       size_t label_count, double value)
{
    char text[NUMBER_SIZE_MAX];
    format_number(value, text);
    append_sample(family, suffix_of(family), labels, label_count, NULL, text);
}

void exposition_halves(struct exposition_family *family, const struct exposition_label *labels,
                       size_t label_count, uint64_t halves)
{
    char text[NUMBER_SIZE_MAX];
    snprintf(text, sizeof text, "%" PRIu64 "%s", halves / 2, halves % 2 == 0 ? "" : ".5");
    append_sample(family, suffix_of(family), labels, label_count, NULL, text);
}

/* OpenMetrics wants a floating-point form of every end: "1.0", where the older format has "1". */
static void format_end(bool open_metrics, double end, char text[NUMBER_SIZE_MAX])
{
    format_number(end, text);
    if (open_metrics && strpbrk(text, ".eIN") == NULL)
        strncat(text, ".0", NUMBER_SIZE_MAX - strlen(text) - 1);
}

void exposition_buckets(struct exposition_family *family, const struct exposition_label *labels,
                        size_t label_count, const double *ends, size_t end_count,
                        const uint64_t *counts, double sum)
{
    assert(family->type == EXPOSITION_HISTOGRAM);
    char end[NUMBER_SIZE_MAX], value[NUMBER_SIZE_MAX];
    uint64_t count = 0;
    for (size_t i = 0; i <= end_count; i++) {
        count += counts[i];
        format_end(family->page->open_metrics, i < end_count ? ends[i] : INFINITY, end);
        snprintf(value, sizeof value, "%" PRIu64, count);
        append_sample(family, "_bucket", labels, label_count, end, value);
    }
    append_sample(family, "_count", labels, label_count, NULL, value);
    format_number(sum, value);
    append_sample(family, "_sum", labels, label_count, NULL, value);
}

void exposition_histogram(struct exposition_family *family, const struct exposition_label *labels,
                          size_t label_count, const double *ends, size_t end_count,
                          const struct histogram *histogram, double scale)
{
    uint64_t counts[ENDS_MAX + 1] = { 0 };
    assert(end_count <= ENDS_MAX);
    size_t end = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        while (end < end_count && (double)histogram_bucket_last(i) * scale > ends[end])
            end++;
        counts[end] += histogram->buckets[i];
    }
    exposition_buckets(family, labels, label_count, ends, end_count, counts,
                       (double)histogram->sum * scale);
}

/* --- The page --- */

uint64_t exposition_left_out(const struct exposition *page)
{
    return page->left_out;
}

struct bytes exposition_content_type(bool open_metrics)
{
    return open_metrics ? BYTES("application/openmetrics-text; version=1.0.0; charset=utf-8")
                        : BYTES("text/plain; version=0.0.4; charset=utf-8");
}

static void append_header(struct buffer *out, const struct exposition_family *family)
{
    static const char *const types[] = { [EXPOSITION_COUNTER] = "counter",
                                         [EXPOSITION_GAUGE] = "gauge",
                                         [EXPOSITION_HISTOGRAM] = "histogram" };
    bool open_metrics = family->page->open_metrics;
    const char *parts[] = {
        "# HELP ",   family->name, open_metrics ? "" : suffix_of(family), " ", family->help,
        "\n# TYPE ", family->name, open_metrics ? "" : suffix_of(family), " ", types[family->type],
        "\n"
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        append_text(out, parts[i]);
    if (!open_metrics || family->unit == NULL)
        return;
    append_text(out, "# UNIT ");
    append_text(out, family->name);
    buffer_append_byte(out, ' ');
    append_text(out, family->unit);
    buffer_append_byte(out, '\n');
}

struct bytes exposition_finish(struct exposition *page)
{
    struct buffer out;
    buffer_init(&out, page->arena);
    for (size_t i = 0; i < page->family_count; i++) {
        const struct exposition_family *family = &page->families[i];
        if (family->samples.len == 0)
            continue;
        append_header(&out, family);
        buffer_append_bytes(&out, buffer_bytes(&family->samples));
    }
    if (page->open_metrics)
        append_text(&out, "# EOF\n");
    return buffer_bytes(&out);
}

/* --- Accept --- */

static struct bytes trim(struct bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

/* Cuts off everything up to the separator, which may be the end. */
static struct bytes next_part(struct bytes *rest, char separator)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    size_t size = found == NULL ? rest->len : (size_t)(found - rest->data);
    struct bytes part = bytes_of(rest->data, size);
    size_t used = found == NULL ? size : size + 1;
    *rest = bytes_of(rest->data + used, rest->len - used);
    return trim(part);
}

static bool equals(struct bytes text, const char *word)
{
    return text.len == strlen(word) && strncasecmp((const char *)text.data, word, text.len) == 0;
}

/* "0.75" in thousandths; what is no quality counts as 1. */
static int parse_quality(struct bytes text)
{
    if (text.len == 0 || (text.data[0] != '0' && text.data[0] != '1'))
        return QUALITY_ONE;
    int quality = (text.data[0] - '0') * QUALITY_ONE, weight = QUALITY_ONE / 10;
    for (size_t i = 2; i < text.len && i < 5 && text.data[1] == '.'; i++, weight /= 10) {
        if (!isdigit(text.data[i]))
            return QUALITY_ONE;
        quality += (text.data[i] - '0') * weight;
    }
    return quality > QUALITY_ONE ? QUALITY_ONE : quality;
}

bool exposition_wants_open_metrics(struct bytes accept)
{
    int best_open = 0, best_plain = 0;
    if (accept.data == NULL)
        return false;
    while (accept.len > 0) {
        struct bytes range = next_part(&accept, ',');
        struct bytes type = next_part(&range, ';');
        int quality = QUALITY_ONE;
        bool has_version = false, version_fits = false;
        while (range.len > 0) {
            struct bytes value = next_part(&range, ';');
            struct bytes name = next_part(&value, '=');
            if (equals(name, "q"))
                quality = parse_quality(trim(value));
            else if (equals(name, "version")) {
                has_version = true;
                version_fits = equals(trim(value), "1.0.0");
            }
        }
        if (equals(type, "application/openmetrics-text") && (version_fits || !has_version))
            best_open = quality > best_open ? quality : best_open;
        else if (equals(type, "text/plain"))
            best_plain = quality > best_plain ? quality : best_plain;
    }
    return best_open > 0 && best_open >= best_plain;
}
