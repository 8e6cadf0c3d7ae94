/* destination_definition.h -- a Kinesis stream that a table sends its changes to, and where it is
 * stored.
 *
 * The words are the service's. A destination that ended stays as an entry of its table, DISABLED or
 * ENABLE_FAILED, until it is enabled again. The stored form is an item; doc/disk-format.md,
 * "Kinesis destinations".
 */
#ifndef STATOR_KINESIS_DESTINATION_DEFINITION_H
#define STATOR_KINESIS_DESTINATION_DEFINITION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;

enum {
    DESTINATION_ARN_SIZE_MIN = 37,
    DESTINATION_ARN_SIZE_MAX = 1024,
    DESTINATION_DESCRIPTION_SIZE_MAX = 256,
    DESTINATION_KEY_SIZE = 1 + UUID_TEXT_SIZE, /* CONSUMER_DESTINATION_KEY, then the UUID. */
};

enum destination_status {
    DESTINATION_ENABLING, /* Its log is not open yet, or its Kinesis stream was not found yet. */
    DESTINATION_ACTIVE,
    DESTINATION_UPDATING,
    DESTINATION_DISABLING, /* Its thread is ending. */
    DESTINATION_DISABLED,
    DESTINATION_ENABLE_FAILED,
    DESTINATION_STATUS_COUNT,
};
const char *destination_status_name(enum destination_status status);
/* The life cycle: true if a destination may move from one status to the other. */
bool destination_status_may_follow(enum destination_status from, enum destination_status to);
/* True unless it has ended. A table has one such destination at most. */
static inline bool destination_status_is_live(enum destination_status status)
{
    return status != DESTINATION_DISABLED && status != DESTINATION_ENABLE_FAILED;
}

/* ApproximateCreationDateTimePrecision. Stored: values never change. */
enum destination_precision {
    DESTINATION_PRECISION_DEFAULT = 0, /* None was given: milliseconds. */
    DESTINATION_MILLISECOND = 1,
    DESTINATION_MICROSECOND = 2,
};
/* "MILLISECOND" or "MICROSECOND". */
const char *destination_precision_name(enum destination_precision precision);

struct destination_definition {
    struct bytes uuid; /* Identifies it, and its positions. */
    struct bytes table_name;
    struct bytes table_uuid; /* TableId: a new table of the same name is another one. */
    struct bytes stream_arn;
    enum destination_status status;
    struct bytes description; /* Why it failed or ended; len 0: nothing is shown. */
    enum destination_precision precision;
    /* The table's, from which it reads; 0: its positions are not stored yet, or not any more. */
    uint64_t log_id;
    int64_t created_ms;
};

/* The name in "arn:aws:kinesis:REGION:ACCOUNT:stream/NAME", and the region. False if it has no such
 * form. Both borrow the ARN. */
MUST_CHECK bool destination_definition_parse_arn(struct bytes arn, struct bytes *region,
                                                 struct bytes *name);

/* Both results live in the arena. Decoding refuses what encoding would not have written. */
struct item destination_definition_encode(struct arena *arena,
                                          const struct destination_definition *definition);
MUST_CHECK bool destination_definition_decode(struct arena *arena, struct bytes uuid,
                                              const struct item *record,
                                              struct destination_definition *out);

/* --- In the store, beside the positions (consumer/consumer_position.h) --- */

/* The key lives in the arena. */
struct engine_address destination_definition_address(struct arena *arena, struct bytes uuid);
/* True if the entry's key is that of a destination; then `*ok` says if it could be decoded. */
bool destination_definition_open_entry(struct arena *arena, const struct engine_entry *entry,
                                       struct destination_definition *out, bool *ok);

#endif
