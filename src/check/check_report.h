/* check_report.h -- what is wrong, one line each, handed on and counted.
 *
 * Where reading fails, one cause may show a million times, and each is logged by the engine: after
 * CHECK_REPORT_UNREADABLE_MAX of those the check gives up.
 */
#ifndef STATOR_CHECK_CHECK_REPORT_H
#define STATOR_CHECK_CHECK_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

enum {
    CHECK_REPORT_LINE_MAX = 1536, /* With its NUL: two names of 255 bytes, a key, and words. */
    CHECK_REPORT_KEY_SHOWN_MAX = 64,
    /* The hash in hexadecimal, a slash, each byte escaped, an ellipsis, a NUL. */
    CHECK_REPORT_KEY_TEXT_MAX = 2 * 8 + 1 + 4 * CHECK_REPORT_KEY_SHOWN_MAX + 3 + 1,
    CHECK_REPORT_UNREADABLE_MAX = 1000,
};

/* One line without its end; free of control characters. Valid during the call. */
typedef void check_report_sink(void *context, const char *line);

struct check_report {
    check_report_sink *sink;
    void *context;
    uint64_t problem_count;
    unsigned unreadable_count;
};

void check_report_problem(struct check_report *report, const char *format, ...) PRINTF_LIKE(2, 3);
/* Something could not be read at all: `format` names it. */
void check_report_unreadable(struct check_report *report, enum engine_status status,
                             const char *format, ...) PRINTF_LIKE(3, 4);
/* Whether so much was unreadable that nothing more is looked at. */
bool check_report_gave_up(const struct check_report *report);

/* Bytes for people: those that do not print as \xNN, cut after CHECK_REPORT_KEY_SHOWN_MAX. */
void check_report_format_bytes(struct bytes bytes, char out[CHECK_REPORT_KEY_TEXT_MAX]);
/* A stored key of an item or an index entry: its hash in hexadecimal, then the rest like that. */
void check_report_format_key(struct bytes key, char out[CHECK_REPORT_KEY_TEXT_MAX]);

#endif
