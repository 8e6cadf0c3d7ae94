/* change_record.h -- one change of one item, as the change log keeps it.
 *
 * A record holds the images that the readers of the log need, or only the item's key attributes if
 * they need none. Layout: doc/disk-format.md, "Change log".
 */
#ifndef STATOR_LOG_CHANGE_RECORD_H
#define STATOR_LOG_CHANGE_RECORD_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/change_image.h"
#include "model/item.h"

struct arena;
struct key_schema;

/* Stored: values never change. */
enum change_event { CHANGE_INSERT = 1, CHANGE_MODIFY = 2, CHANGE_REMOVE = 3 };
/* "INSERT", ... */
const char *change_event_name(enum change_event event);

struct change_record {
    enum change_event event;
    bool by_service; /* The item expired: the service deleted it, not a client. */
    /* Neither decreases within a partition's log. */
    int64_t commit_us; /* Commit time of the write (change_log.h), which clients see in seconds. */
    int64_t server_ms; /* Server time, by which it ages; 0: it was stored without one. */
    unsigned images;   /* enum change_image: which of the two below are set. */
    struct item new_image;
    struct item old_image;
    struct item keys; /* Set if there is no image. */
};

/* The record of a change from `before` to `after`; NULL: the item does not exist. Holds the
 * `wanted` images that exist. The caller sets time and cause. The result borrows the items; `keys`
 * live in the arena. */
struct change_record change_record_between(struct arena *arena, const struct key_schema *schema,
                                           const struct item *before, const struct item *after,
                                           unsigned wanted);
/* The key attributes of a record's item; they live in the arena or are borrowed. */
struct item change_record_keys(struct arena *arena, const struct key_schema *schema,
                               const struct change_record *record);

struct bytes change_record_encode(struct arena *arena, const struct change_record *record);
/* False if the bytes are not a record. The result borrows them. */
MUST_CHECK bool change_record_decode(struct bytes encoded, struct change_record *out);

#endif
