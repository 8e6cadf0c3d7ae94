/* check_report.h -- problems: one line each, counted and passed on.
 *
 * One broken disk may fail a million reads, and the engine logs each failure, so the check gives up
 * after CHECK_REPORT_UNREADABLE_MAX of them.
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
    CHECK_REPORT_STEPS = 10000,
};

/* `line` has no newline and no control characters. Valid during the call. */
typedef void check_report_sink(void *context, const char *line);

/* How many items and index entries were read so far. Called every CHECK_REPORT_STEPS of them. */
typedef void check_report_progress(void *context, uint64_t read_count);

struct check_report {
    check_report_sink *sink;
    check_report_progress *progress; /* NULL: nobody watches. */
    void *context;                   /* Of both. */
    uint64_t read_count;
    uint64_t problem_count;
    unsigned unreadable_count;
};

void check_report_problem(struct check_report *report, const char *format, ...) PRINTF_LIKE(2, 3);
/* Reports something that could not be read: `format` names it. */
void check_report_unreadable(struct check_report *report, enum engine_status status,
                             const char *format, ...) PRINTF_LIKE(3, 4);
/* Counts an item or an index entry that was read. */
void check_report_step(struct check_report *report);
/* True if too much was unreadable for the check to continue. */
bool check_report_gave_up(const struct check_report *report);

/* Shows bytes: unprintable ones as \xNN, and no more than CHECK_REPORT_KEY_SHOWN_MAX. */
void check_report_format_bytes(struct bytes bytes, char out[CHECK_REPORT_KEY_TEXT_MAX]);
/* A stored key of an item or an index entry: its hash in hexadecimal, then the rest as above. */
void check_report_format_key(struct bytes key, char out[CHECK_REPORT_KEY_TEXT_MAX]);

#endif
