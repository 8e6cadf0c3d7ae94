/* scaling_objects.h -- what Application Auto Scaling keeps: targets, policies, scheduled actions
 * and activities; and how each is stored.
 *
 * The stored form is JSON in an item, read by a shape, so that the reader is the one of requests.
 * Keys begin with the kind, so that each kind is one range: doc/disk-format-monitoring.md,
 * "Scaling".
 */
#ifndef STATOR_SCALING_SCALING_OBJECTS_H
#define STATOR_SCALING_SCALING_OBJECTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct arena;

enum {
    SCALING_RESOURCE_ID_SIZE_MAX = 1600,
    SCALING_NAME_SIZE_MAX = 256 * 4, /* Of a policy; 256 characters. */
    SCALING_ACTION_NAME_SIZE_MAX = 256 * 4,
    SCALING_TEXT_SIZE_MAX = 4096,
    SCALING_TAGS_MAX = 50,
    SCALING_TAG_KEY_LENGTH_MAX = 128,
    SCALING_TAG_VALUE_LENGTH_MAX = 256,
    /* Of an object as JSON. All tags take 115 KB if each of their characters is escaped. */
    SCALING_DOCUMENT_SIZE_MAX = 256 * 1024,
};

/* What of a resource is scaled. Stored: values never change. */
enum scaling_dimension {
    SCALING_TABLE_READ,
    SCALING_TABLE_WRITE,
    SCALING_INDEX_READ,
    SCALING_INDEX_WRITE,
    SCALING_DIMENSION_COUNT,
};
/* "dynamodb:table:ReadCapacityUnits"; SCALING_DIMENSION_COUNT if there is no such dimension. */
const char *scaling_dimension_name(enum scaling_dimension dimension);
enum scaling_dimension scaling_dimension_find(struct bytes name);
static inline bool scaling_dimension_is_read(enum scaling_dimension dimension)
{
    return dimension == SCALING_TABLE_READ || dimension == SCALING_INDEX_READ;
}

/* The table or index that "table/T" or "table/T/index/I" names. False if it is neither. */
struct scaling_resource {
    struct bytes table;
    struct bytes index; /* data NULL: the table itself. */
};
MUST_CHECK bool scaling_resource_parse(struct bytes resource_id, struct scaling_resource *out);
/* True if the dimension is one of tables, or of indexes, as the resource is. */
bool scaling_resource_has(const struct scaling_resource *resource,
                          enum scaling_dimension dimension);

/* What a target is found by. */
struct scaling_id {
    struct bytes resource_id;
    enum scaling_dimension dimension;
};

enum scaling_kind {
    SCALING_TARGET,
    SCALING_POLICY,
    SCALING_ACTION,
    SCALING_ACTIVITY,
    SCALING_KIND_COUNT,
};

/* Common to all kinds, and first in each structure. */
struct scaling_head {
    struct bytes resource_id;
    struct shape_integer dimension; /* enum scaling_dimension */
    /* Of a policy or scheduled action: its name. Of an activity: its start and its id, so that
     * activities are sorted by time. Of a target: empty. */
    struct bytes name;
    struct bytes uuid;
    struct shape_integer created_ms;
};

struct scaling_target {
    struct scaling_head head;
    struct shape_integer min, max;
    struct shape_boolean in_suspended, out_suspended, scheduled_suspended;
    struct shape_map tags; /* of struct bytes */
    /* Its bounds have changed, and its capacity was not compared with them yet: why. data NULL: it
     * was. Empty: they were set by a request. */
    struct bytes unsettled;
};

struct scaling_policy {
    struct scaling_head head;
    struct shape_double target_value; /* Percent. */
    struct shape_integer out_cooldown_s, in_cooldown_s;
    struct shape_boolean disable_scale_in;
    /* The alarms that it has made, and the capacity that they were made for. */
    struct bytes created_by;  /* A UUID. */
    struct shape_list alarms; /* of struct bytes */
    struct shape_integer alarms_capacity;
    struct shape_integer last_out_ms, last_in_ms; /* For the cooldowns; absent: never. */
};

struct scaling_action {
    struct scaling_head head;
    struct bytes schedule;
    struct bytes time_zone; /* data NULL: not given. */
    struct shape_integer start_ms, end_ms;
    struct shape_integer min, max;
    struct shape_integer next_ms; /* When it fires next; absent: never again. */
};

struct scaling_activity {
    struct scaling_head head; /* `uuid` is the activity's id, `created_ms` its start. */
    struct bytes description, cause, status, message;
    struct shape_integer end_ms;
    struct shape_integer capacity;          /* That was set. */
    struct bytes not_scaled_reason;         /* A code; data NULL: it scaled, or tried to. */
    struct shape_integer current, min, max; /* Of one that was not scaled. */
};

/* All begin with a scaling_head. */
struct scaling_id scaling_id_of(const void *object);
size_t scaling_object_size(enum scaling_kind kind);

extern const struct engine_place scaling_place;

/* The key of an object, and the prefix of the keys of all objects of a target. */
struct bytes scaling_key(struct arena *arena, enum scaling_kind kind, const void *object);
struct bytes scaling_key_prefix(struct arena *arena, enum scaling_kind kind,
                                const struct scaling_id *id);
/* Encoding and decoding are inverse; decoding refuses what encoding would not have written. */
struct bytes scaling_encode(struct arena *arena, enum scaling_kind kind, const void *object);
/* NULL if the entry is damaged. Lives in the arena. */
MUST_CHECK void *scaling_decode(struct arena *arena, const struct engine_entry *entry,
                                enum scaling_kind *kind);
/* The same for a record that may stand under any key of its kind: for a fuzzer. */
MUST_CHECK void *scaling_decode_any(struct arena *arena, const struct engine_entry *entry,
                                    enum scaling_kind *kind);

#endif
