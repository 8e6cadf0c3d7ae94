/* check.h -- proves that a store at rest is whole, or names what is wrong with it.
 *
 * Reads everything once through the engine contract, page by page, and changes nothing. README.md
 * lists what is checked.
 */
#ifndef STATOR_CHECK_CHECK_H
#define STATOR_CHECK_CHECK_H
#include <stdbool.h>
#include <stdint.h>
#include "check/check_report.h"

struct engine;

struct check_result {
    uint64_t table_count;
    uint64_t item_count;
    uint64_t entry_count; /* Of indexes. */
    uint64_t problem_count;
    bool gave_up; /* Too much was unreadable: the rest was not checked. */
};

/* Checks what a view opened now shows. Each problem goes to `sink` as one line. */
struct check_result check_store(struct engine *engine, check_report_sink *sink, void *context);
/* The same, and calls `progress` from time to time; it may be NULL. */
struct check_result check_store_watched(struct engine *engine, check_report_sink *sink,
                                        check_report_progress *progress, void *context);

#endif
