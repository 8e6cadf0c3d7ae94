/* check_report.c -- see check_report.h. */
#include "check/check_report.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/byte_order.h"
#include "table/layout.h"

enum { BYTES_TEXT_MAX = CHECK_REPORT_KEY_TEXT_MAX - 2 * LAYOUT_HASH_SIZE - 1 };

static void pass_on(struct check_report *report, char *line)
{
    for (char *at = line; *at != '\0'; at++)
        if (*at < 0x20 || *at >= 0x7F)
            *at = '?'; /* A damaged record may contain any byte. */
    report->problem_count++;
    report->sink(report->context, line);
}

void check_report_problem(struct check_report *report, const char *format, ...)
{
    char line[CHECK_REPORT_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    pass_on(report, line);
}

void check_report_unreadable(struct check_report *report, enum engine_status status,
                             const char *format, ...)
{
    char what[CHECK_REPORT_LINE_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    check_report_problem(report, "%.1400s: cannot be read: %s", what, engine_status_name(status));
    report->unreadable_count++;
}

void check_report_step(struct check_report *report)
{
    report->read_count++;
    if (report->progress != NULL && report->read_count % CHECK_REPORT_STEPS == 0)
        report->progress(report->context, report->read_count);
}

bool check_report_gave_up(const struct check_report *report)
{
    return report->unreadable_count >= CHECK_REPORT_UNREADABLE_MAX;
}

void check_report_format_bytes(struct bytes bytes, char out[CHECK_REPORT_KEY_TEXT_MAX])
{
    size_t used = 0;
    size_t end = bytes.len < CHECK_REPORT_KEY_SHOWN_MAX ? bytes.len : CHECK_REPORT_KEY_SHOWN_MAX;
    for (size_t at = 0; at < end; at++) {
        bool prints = bytes.data[at] > 0x20 && bytes.data[at] < 0x7F && bytes.data[at] != '\\';
        used += (size_t)snprintf(out + used, CHECK_REPORT_KEY_TEXT_MAX - used,
                                 prints ? "%c" : "\\x%02x", bytes.data[at]);
    }
    snprintf(out + used, CHECK_REPORT_KEY_TEXT_MAX - used, "%s", end < bytes.len ? "..." : "");
}

void check_report_format_key(struct bytes key, char out[CHECK_REPORT_KEY_TEXT_MAX])
{
    char rest[CHECK_REPORT_KEY_TEXT_MAX];
    if (key.len < LAYOUT_HASH_SIZE) {
        check_report_format_bytes(key, out);
        return;
    }
    check_report_format_bytes(bytes_of(key.data + LAYOUT_HASH_SIZE, key.len - LAYOUT_HASH_SIZE),
                              rest);
    snprintf(out, CHECK_REPORT_KEY_TEXT_MAX, "%016" PRIx64 "/%.*s", load_u64_be(key.data),
             BYTES_TEXT_MAX - 1, rest);
}
