/* trigger_definition.h -- the settings of a trigger: which stream, which endpoint, and how; and
 * where they are stored.
 *
 * A trigger belongs to one stream for good, as an event source mapping of Lambda does. The words
 * are Lambda's. The stored form is an item; doc/disk-format.md, "Triggers".
 */
#ifndef STATOR_TRIGGER_TRIGGER_DEFINITION_H
#define STATOR_TRIGGER_TRIGGER_DEFINITION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "engine/engine.h"
#include "model/item.h"

struct arena;

enum {
    TRIGGER_BATCH_SIZE_MAX = 10000,
    TRIGGER_BATCH_SIZE_DEFAULT = 100,
    TRIGGER_WINDOW_S_MAX = 300,
    TRIGGER_TIMEOUT_S_MAX = 900, /* Lambda's, of a function. */
    TRIGGER_TIMEOUT_S_DEFAULT = 60,
    TRIGGER_RETRIES_MAX = 10000,
    TRIGGER_AGE_S_MAX = 604800,
    TRIGGER_UNLIMITED = -1, /* Retries and age: until the record is trimmed. */
    TRIGGER_FILTERS_MAX = 10,
    TRIGGER_DEAD_LETTER_FILE_SIZE_MAX = 128,

    TRIGGER_DEFINITION_KEY_SIZE = 1 + UUID_TEXT_SIZE, /* CONSUMER_TRIGGER_KEY, then the UUID. */
};

struct trigger_definition {
    struct bytes uuid; /* Identifies it. */
    struct bytes table_name;
    struct bytes label; /* Of the stream. */
    uint64_t log_id;    /* The stream's. */
    struct bytes url;
    int64_t created_ms;
    int64_t batch_size;
    int64_t window_s; /* How long to wait for a batch to become full. */
    int64_t timeout_s;
    int64_t retries_max; /* Or TRIGGER_UNLIMITED. */
    int64_t age_max_s;   /* Or TRIGGER_UNLIMITED. */
    bool from_latest;    /* Started with the newest records, not with the oldest. */
    bool bisect;
    bool reports_failures;         /* The function reports which records of a batch failed. */
    struct bytes dead_letter_file; /* A name without a folder; len 0: none. */
    struct bytes filters[TRIGGER_FILTERS_MAX];
    size_t filter_count; /* 0: every record. */
};

/* "orders.jsonl": letters, digits, '.', '_' and '-', and no '.' at the beginning. */
bool trigger_definition_is_file_name(struct bytes name);

/* NULL if the URL can be called; otherwise what is wrong with it, for people. */
const char *trigger_definition_url_problem(struct bytes url);

/* The URL as it may be shown: without user info, query and fragment, which may hold secrets. */
struct bytes trigger_definition_shown_url(struct arena *arena,
                                          const struct trigger_definition *definition);

/* Both results live in the arena. Decoding refuses what encoding would not have written. */
struct item trigger_definition_encode(struct arena *arena,
                                      const struct trigger_definition *definition);
MUST_CHECK bool trigger_definition_decode(struct arena *arena, struct bytes uuid,
                                          const struct item *record,
                                          struct trigger_definition *out);

/* --- In the store, beside the positions (consumer/consumer_position.h) --- */

/* The key lives in the arena. */
struct engine_address trigger_definition_address(struct arena *arena, struct bytes uuid);
void trigger_definition_put(struct arena *arena, struct engine_write *write,
                            const struct trigger_definition *definition);
/* Deletes the definition with all positions, in one batch. ENGINE_NOT_FOUND if there is none. A
 * runner that stores a position holds the definition and finds it there or not (consumer.h). */
MUST_CHECK enum engine_status trigger_definition_delete(struct arena *arena, struct engine *engine,
                                                        struct bytes uuid);

/* What an entry beside the positions is. */
enum trigger_record_kind {
    TRIGGER_RECORD_DEFINITION,
    TRIGGER_RECORD_POSITION, /* Of a trigger or a Kinesis destination. */
    TRIGGER_RECORD_DESTINATION,
    TRIGGER_RECORD_NONE
};
struct trigger_record {
    enum trigger_record_kind kind; /* NONE: damaged or unknown. */
    struct bytes uuid;             /* Borrows the key. */
    uint64_t partition;            /* Of a position. */
    uint64_t next;
};
/* A definition is decoded into the arena. */
struct trigger_record trigger_definition_open_entry(struct arena *arena,
                                                    const struct engine_entry *entry,
                                                    struct trigger_definition *definition);

#endif
