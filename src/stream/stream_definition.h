/* stream_definition.h -- a stream, without its shards and records.
 *
 * It contains everything needed to describe and read the stream, which outlives its table. The
 * stored form is an item; doc/disk-format.md, "Streams".
 *
 * A log has one main definition, which says whether the log is open. It usually is the stream that
 * shows the log. A log that other readers need too (table_definition_log_needs) may outlive a
 * stream or begin before one:
 *
 *   - While no stream shows the log, its main definition is hidden: no client ever sees it.
 *   - A stream that was disabled while the log went on has a definition of its own, which is
 *     detached: it is DISABLED, and shows the shards up to `ends`.
 *   - A stream that was enabled on an open log shows the shards from `firsts` on.
 */
#ifndef STATOR_STREAM_STREAM_DEFINITION_H
#define STATOR_STREAM_STREAM_DEFINITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/key.h"

struct arena;

enum stream_status {
    STREAM_ENABLING, /* Its log is not open yet. */
    STREAM_ENABLED,
    STREAM_DISABLED, /* Its log is closed, and readable for STREAM_RETENTION_MS more. */
    STREAM_STATUS_COUNT,
};
const char *stream_status_name(enum stream_status status);
/* The life cycle: true if a stream may move from one status to the other. */
bool stream_status_may_follow(enum stream_status from, enum stream_status to);

/* How much server time records stay readable, and a disabled stream with them. */
#define STREAM_RETENTION_MS (INT64_C(24) * 60 * 60 * 1000)

struct stream_definition {
    uint64_t log_id; /* The owner of its records. */
    struct bytes table_name;
    struct bytes label;     /* With the table's name it identifies the definition. */
    struct bytes view_type; /* Empty: it is hidden. */
    struct key_schema key;  /* The table's. */
    /* The stream's resource policy, as its table's definition had it last: the definition holds
     * that of the latest stream only, and a stream outlives its table. NULL: none. */
    struct bytes policy;
    enum stream_status status;
    /* enum change_image: what the records of its log hold; the stream may show less. */
    unsigned images;
    int64_t created_ms;
    int64_t rolled_ms;          /* When its newest shards began; 0: it has none. */
    int64_t disabled_ms;        /* 0: it was not disabled. */
    int64_t disabled_server_ms; /* Server time; 0: not disabled, or stored without one. */
    uint64_t *partitions;       /* The table's when the log was opened; then those split off. */
    size_t partition_count;
    /* For each partition, sequence numbers at which shards begin. */
    uint64_t *firsts; /* The stream's first shard; NULL: the log's. */
    uint64_t *ends;   /* The first shard that is not the stream's any more; NULL: not detached. */
};

static inline bool stream_definition_is_hidden(const struct stream_definition *definition)
{
    return definition->view_type.len == 0;
}

static inline bool stream_definition_is_detached(const struct stream_definition *definition)
{
    return definition->ends != NULL;
}

/* The label of a hidden definition. No stream has it: labels of streams are times. */
struct bytes stream_definition_hidden_label(struct arena *arena, uint64_t log_id);

bool stream_definition_has_partition(const struct stream_definition *definition,
                                     uint64_t partition);
/* True if the stream shows the shard that begins with the number `first`. */
bool stream_definition_has_shard(const struct stream_definition *definition, uint64_t partition,
                                 uint64_t first);

/* Both results live in the arena. Decoding refuses what encoding would not have written. */
struct item stream_definition_encode(struct arena *arena,
                                     const struct stream_definition *definition);
MUST_CHECK bool stream_definition_decode(struct arena *arena, uint64_t log_id,
                                         const struct item *record, struct stream_definition *out);

#endif
