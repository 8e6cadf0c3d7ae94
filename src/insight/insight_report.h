/* insight_report.h -- reads what a rule has counted within a window of time, piece by piece.
 *
 * A piece is a minute, or an hour where minutes are not kept any more. Pieces come in the order of
 * time, from the store and from memory, all as they were when the report was opened: the open
 * minute is among them. Any thread may continue with a report after insight_report_pause, and close
 * it.
 */
#ifndef STATOR_INSIGHT_INSIGHT_REPORT_H
#define STATOR_INSIGHT_INSIGHT_REPORT_H
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/insight_definition.h"

struct arena;
struct insight_report; /* Opaque. */
struct insights;
struct key_summary;
struct table_runtime;

struct insight_report_options {
    struct insights *insights;
    struct table_runtime *runtime; /* The caller holds the table. */
    uint64_t target;
    enum insight_rule rule;
    int64_t from_ms;  /* Inclusive, */
    int64_t until_ms; /* exclusive: pieces that begin within. */
    int64_t wall_ms;  /* Now. */
};
/* Lives in the arena, except for what insight_report_close releases. NULL with the engine's status
 * if the store cannot be read. */
MUST_CHECK struct insight_report *insight_report_open(struct arena *arena,
                                                      const struct insight_report_options *options,
                                                      enum engine_status *status);
void insight_report_close(struct insight_report *report); /* NULL is allowed. */

/* ENGINE_OK with the next piece, which is valid until the next call, or ENGINE_END. A damaged piece
 * is logged and left out. */
MUST_CHECK enum engine_status insight_report_next(struct insight_report *report, int64_t *time_ms,
                                                  const struct key_summary **piece);
/* Lets go of what belongs to this thread. */
void insight_report_pause(struct insight_report *report);
/* Starts again with the first piece. */
void insight_report_rewind(struct insight_report *report);

/* --- Counters by what is certain --- */

/* A key, the weight it has at least, and how much more it may have. */
struct insight_contributor {
    struct bytes key; /* Encoded parts; borrowed from the summary. */
    uint64_t weight;
    uint64_t error;
};
/* The heaviest by that weight, equal ones by key. `out` has room for `count_max`. */
size_t insight_report_top(const struct key_summary *summary, struct insight_contributor *out,
                          size_t count_max);
/* What is known of a key. Without a counter its weight is 0 and its error what it may have. */
struct insight_contributor insight_report_find(const struct key_summary *summary, struct bytes key);

#endif
