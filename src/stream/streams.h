/* streams.h -- the list of streams: stored in the engine, held in memory, found by name.
 *
 * Like the catalogue of tables: readers get an immutable `struct stream` and hold a reference while
 * they use it; a change publishes a new one after its batch is durable. Any thread may look up and
 * release. The functions marked "control" run on the control thread (control/control.h).
 */
#ifndef STATOR_STREAM_STREAMS_H
#define STATOR_STREAM_STREAMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct clock;
struct stream;
struct stream_definition;
struct streams;

/* Loads every stream, and raises the clock's commit time to the latest one in their logs. NULL with
 * the engine's status if the store cannot be read. */
MUST_CHECK struct streams *streams_open(struct engine *engine, const struct clock *clock,
                                        enum engine_status *status);
void streams_close(struct streams *streams); /* Closing NULL is allowed. */

/* NULL if there is none of that name, or it is hidden. The caller owes a stream_release. */
struct stream *streams_find(struct streams *streams, struct bytes table_name, struct bytes label);
/* The log's main definition, hidden or not; NULL if there is none. The caller owes a
 * stream_release. Linear. */
struct stream *streams_find_log(struct streams *streams, uint64_t log_id);
void stream_release(struct stream *stream); /* Releasing NULL is allowed. */
/* Valid as long as the reference. */
const struct stream_definition *stream_definition(const struct stream *stream);

struct stream_name {
    struct bytes table_name;
    struct bytes label;
};
/* Without hidden ones. Copies up to `names_max` names behind `after` (empty: from the start) into
 * the arena, sorted by table and label. `table_name` with data NULL: of all tables. */
size_t streams_list(struct streams *streams, struct arena *arena, struct bytes table_name,
                    struct stream_name after, struct stream_name *names, size_t names_max);

/* Where the records of streams are, each under its log's id, and a detached one's label. */
extern const struct engine_place streams_place;
/* Decodes an entry of it into the arena. False if it is damaged. */
MUST_CHECK bool streams_open_entry(struct arena *arena, const struct engine_entry *entry,
                                   struct stream_definition *out);
/* The definition as a view has it, which fits the shards that the view has: the list learns of a
 * partition that was split off a moment after views show that its parent's shard has ended. As
 * given, if the view does not have it under its name. The result lives in the arena, and borrows
 * from `definition`. */
MUST_CHECK enum engine_status streams_view(struct arena *arena, struct engine_view *view,
                                           const struct stream_definition *definition,
                                           struct stream_definition *out);

/* --- Control --- */

size_t streams_count(const struct streams *streams);
/* Valid until the next change. */
const struct stream_definition *streams_at(const struct streams *streams, size_t index);
/* Both return NULL if there is none. Valid until the next change. The second one is linear, and
 * finds the log's main definition. */
const struct stream_definition *streams_named(const struct streams *streams,
                                              struct bytes table_name, struct bytes label);
const struct stream_definition *streams_of_log(const struct streams *streams, uint64_t log_id);

/* Put a stream's record into a write, or delete it. The caller publishes the change once it is
 * durable. */
void streams_put(struct arena *arena, struct engine_write *write,
                 const struct stream_definition *definition);
void streams_delete(struct arena *arena, struct engine_write *write,
                    const struct stream_definition *definition);
/* Replaces the log's main definition, or adds one; a detached one replaces itself. */
void streams_publish(struct streams *streams, const struct stream_definition *definition);
void streams_unpublish(struct streams *streams, const struct stream_definition *definition);
/* True if a client can see a stream of that log: its main definition, or a detached one. */
bool streams_shows_log(const struct streams *streams, uint64_t log_id);
bool streams_has_detached(const struct streams *streams, uint64_t log_id);

#endif
