/* stream_lifecycle.h -- the steps in a stream's life: announced, opened, rolled over, closed,
 * removed. Control thread.
 *
 * Each step changes the stream's record, the heads of its log and its shards in one batch. While a
 * step holds the heads no writer takes a number, so that a shard ends exactly where the next one
 * begins. A log of very many partitions takes several batches; then the last one changes the
 * stream's record, and a step that was cut short is done again for what is left.
 */
#ifndef STATOR_STREAM_STREAM_LIFECYCLE_H
#define STATOR_STREAM_STREAM_LIFECYCLE_H
#include <stdint.h>
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct streams;
struct stream_definition;
struct table_definition;

/* What each step works with. `definition` is one of the streams, or a draft. */
struct stream_step {
    struct engine *engine;
    struct streams *streams;
    struct arena *arena;
    int64_t now_ms;    /* Wall time, for names and for what clients are shown. */
    int64_t server_ms; /* Server time, for what must last, */
    int64_t origin_ms; /* and the one that counts for what has none (base/clock.h). */
};

/* The server time since `stamp_ms`. */
static inline int64_t stream_step_age_ms(const struct stream_step *step, int64_t stamp_ms)
{
    return step->server_ms - (stamp_ms > step->origin_ms ? stamp_ms : step->origin_ms);
}

/* Notes the stream that the table's definition tells of: ENABLING. */
MUST_CHECK enum engine_status stream_lifecycle_announce(const struct stream_step *step,
                                                        const struct table_definition *table);
/* Opens the log: ENABLED. Nobody may work with a definition of the table that does not know the
 * log: such a writer's changes would be missing between others. */
MUST_CHECK enum engine_status stream_lifecycle_open(const struct stream_step *step,
                                                    const struct stream_definition *definition,
                                                    const struct table_definition *table);
/* Has records hold other images from now on. */
MUST_CHECK enum engine_status
stream_lifecycle_set_images(const struct stream_step *step,
                            const struct stream_definition *definition, unsigned images);
/* Ends the open shards and begins their children. */
MUST_CHECK enum engine_status stream_lifecycle_roll(const struct stream_step *step,
                                                    const struct stream_definition *definition);
/* Ends the open shards: DISABLED. From then on nothing is logged. */
MUST_CHECK enum engine_status stream_lifecycle_close(const struct stream_step *step,
                                                     const struct stream_definition *definition);
/* Removes the stream with all of its records. */
MUST_CHECK enum engine_status stream_lifecycle_remove(const struct stream_step *step,
                                                      const struct stream_definition *definition);

#endif
