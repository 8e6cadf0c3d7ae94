/* model_scan.h -- the job that finds the items of a table which do not follow its model.
 *
 * Reads the table in key order, a slice at a time, and changes nothing. Its position and what it
 * has found are stored every few thousand items, so that a restart resumes there. Items that are
 * written while it runs are checked as they are written, and perhaps here too.
 */
#ifndef STATOR_API_MODEL_MODEL_SCAN_H
#define STATOR_API_MODEL_MODEL_SCAN_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "jobs/job_runner.h"
#include "schema/entity_rules.h"

struct api;
struct arena;
struct job_record;

enum {
    MODEL_SCANS_MAX = 10, /* Active ones. */
    MODEL_SCAN_EXAMPLES_MAX = 100,
    MODEL_SCAN_EXAMPLES_SIZE_MAX = 128 * 1024,
    MODEL_SCAN_SLICE_ITEMS = 256, /* Read from one view, with one version of the table. */
    MODEL_SCAN_SAVE_ITEMS = 8192,
};

/* What a scan has found so far: the `detail` of its record. */
struct model_scan_report {
    uint64_t counts[ENTITY_RULE_COUNT]; /* Items, by the rule that each breaks. */
    struct bytes examples;              /* Elements of a JSON array, with commas; may be empty. */
    uint64_t example_count;
};
struct bytes model_scan_report_encode(struct arena *arena, const struct model_scan_report *report);
/* False if the bytes are none. An absent detail (data NULL) is an empty report. */
MUST_CHECK bool model_scan_report_decode(struct arena *arena, struct bytes detail,
                                         struct model_scan_report *out);

struct job_kind model_scan_kind(struct api *api);

#endif
