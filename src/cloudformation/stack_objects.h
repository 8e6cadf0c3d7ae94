/* stack_objects.h -- stacks, their resources, events and change sets, and their stored form.
 *
 * Each object is a record of its own: a step of a deployment writes the resource that it is about,
 * an event, and perhaps the stack. Templates and uploaded files are records as well (struct
 * stack_blob), which stay on disk.
 */
#ifndef STATOR_CLOUDFORMATION_STACK_OBJECTS_H
#define STATOR_CLOUDFORMATION_STACK_OBJECTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudformation/stack_status.h"
#include "engine/engine.h"
#include "shape/shape.h"

struct arena;

enum {
    STACK_NAME_SIZE_MAX = 128,
    STACK_TEMPLATE_SIZE_MAX = 1024 * 1024,
    STACK_RESOURCES_MAX = 500,
    STACK_PARAMETERS_MAX = 200,
    STACK_OUTPUTS_MAX = 200,
    STACK_TAGS_MAX = 50,
    STACK_CAPABILITIES_MAX = 8,
    STACK_ARNS_MAX = 5,              /* For notifications, to whom none are sent. */
    STACK_TEXT_SIZE_MAX = 8192,      /* Of any text in an object that has no other bound. */
    STACK_LOGICAL_ID_SIZE_MAX = 255, /* The service's, as the next one. */
    STACK_TYPE_SIZE_MAX = 256,
    STACK_REASON_SIZE_MAX = 1024,         /* Longer ones are cut. */
    STACK_CALLER_SIZE_MAX = 16 * 1024,    /* In base64; most of it headers of the request. */
    STACK_CHANGES_SIZE_MAX = 1024 * 1024, /* Of the list of changes of a change set. */
    STACK_DOCUMENT_SIZE_MAX = 4 * 1024 * 1024,
    STACK_ASSET_SIZE_MAX = 64 * 1024 * 1024, /* Larger ones than a request come in parts. */
    STACK_ASSET_NAME_SIZE_MAX = 1024 + 64,   /* Bucket, slash and key. */
    STACK_MEDIA_TYPE_SIZE_MAX = 255,
};

enum stack_kind { STACK_STACK, STACK_RESOURCE, STACK_EVENT, STACK_CHANGE_SET, STACK_KIND_COUNT };

/* How every object begins. */
struct stack_head {
    struct bytes stack_uid; /* UUID of the stack: the end of its ARN. */
    /* A stack: empty. A resource: its logical id. An event: its number, 12 digits. A change set:
     * its UUID. */
    struct bytes id;
};

struct stack_pair {
    struct bytes key;
    struct bytes value;
};

struct stack_output {
    struct bytes key;
    struct bytes value;
    struct bytes description; /* data NULL: none; so are the others that may be absent. */
    struct bytes export_name;
};

/* What a request may set, beside the template. */
struct stack_settings {
    struct shape_list parameters;    /* of struct stack_pair *: all of the template's. */
    struct shape_list tags;          /* of struct stack_pair * */
    struct shape_list capabilities;  /* of struct bytes */
    struct shape_list notifications; /* of struct bytes */
    struct bytes role_arn;
    struct bytes description;  /* The template's. */
    struct shape_list no_echo; /* of struct bytes: parameters whose values are not shown. */
    /* of struct stack_pair *: the exports that the template imports, with the values that the
     * request found. Policies were asked about these, so the deployment uses no others. Absent: an
     * earlier version stored it. */
    struct shape_list imported;
};

struct stack {
    struct stack_head head;
    struct bytes name;
    struct bytes status_name;
    struct bytes reason;
    struct shape_integer created_ms;
    struct shape_integer updated_ms;
    struct shape_integer deleted_ms;
    struct stack_settings *settings;
    /* Of an update under way, whose template is STACK_TEMPLATE_NEXT; NULL: none. */
    struct stack_settings *next;
    struct shape_list outputs; /* of struct stack_output * */
    struct shape_list imports; /* of struct bytes: names of exports of other stacks. */
    struct shape_boolean disable_rollback;
    struct shape_integer timeout_ms;   /* Of its creation; absent: none. */
    struct bytes on_failure;           /* DO_NOTHING, ROLLBACK or DELETE. */
    struct shape_boolean is_protected; /* EnableTerminationProtection. */
    struct shape_list retained;        /* of struct bytes: logical ids that a deletion retains. */
    struct bytes change_set_id;        /* The ARN of the one executed last. */
    struct bytes token;                /* ClientRequestToken of the operation under way. */
    /* Who began the operation, as api/stored_caller.h encodes it, in base64. Empty: callers were
     * not distinguished. data NULL: an earlier version began it, or nothing was begun yet. */
    struct bytes caller;
    /* Counts operations, rollbacks among them. A resource whose number is this one and whose status
     * is complete has been dealt with. */
    struct shape_integer generation;
    /* The last operation after which all resources were as the template says. Those with a later
     * number were touched by updates that failed and were not rolled back. Absent: none was. */
    struct shape_integer stable_generation;
    struct shape_integer event_count; /* Of all events ever: the next one's number. */
};

struct stack_resource {
    struct stack_head head;
    struct bytes type;
    struct bytes physical_id; /* data NULL: none yet. */
    /* The table that this one replaced, until the update has ended. */
    struct bytes old_physical_id;
    struct bytes status_name;
    struct bytes reason;
    struct shape_integer updated_ms;
    struct shape_integer order; /* In which it was created; deleted in reverse. */
    struct shape_integer generation;
    struct bytes deletion_policy;    /* data NULL: Delete. */
    struct shape_boolean is_skipped; /* Of another service: nothing is done. */
    struct shape_boolean is_new;     /* Made by the operation under way: a rollback deletes it. */
};

struct stack_event {
    struct stack_head head;
    struct bytes uid; /* EventId. */
    struct bytes logical_id;
    struct bytes physical_id;
    struct bytes type;
    struct bytes status_name;
    struct bytes reason;
    struct bytes token;
    struct shape_integer at_ms;
};

struct stack_change_set {
    struct stack_head head;
    struct bytes name;
    struct bytes type;   /* CREATE or UPDATE. */
    struct bytes status; /* CREATE_COMPLETE or FAILED. */
    struct bytes reason;
    struct bytes execution;   /* AVAILABLE, UNAVAILABLE, OBSOLETE, EXECUTE_COMPLETE. */
    struct bytes description; /* By the request. */
    struct shape_integer created_ms;
    struct stack_settings *settings;
    struct bytes changes; /* JSON: the answer's list. */
    struct bytes on_failure;
};

static inline enum stack_status stack_status_of(struct bytes name)
{
    return stack_status_find(name);
}

extern const struct engine_place stack_place;

/* The bounds of these shapes are those of stored records. */
extern const struct shape stack_settings_shape;
size_t stack_object_size(enum stack_kind kind);

/* Letter, UUID of the stack, id. */
struct bytes stack_key(struct arena *arena, enum stack_kind kind, const struct stack_head *head);
struct bytes stack_key_prefix(struct arena *arena, enum stack_kind kind, struct bytes stack_uid);
struct bytes stack_encode(struct arena *arena, enum stack_kind kind, const void *object);
/* NULL for what stack_encode would not have written under that key. Copies what it keeps. */
MUST_CHECK void *stack_decode(struct arena *arena, const struct engine_entry *entry,
                              enum stack_kind *kind);
/* The same whatever the key. */
MUST_CHECK void *stack_decode_any(struct arena *arena, enum stack_kind kind, struct bytes value);
/* A copy in the arena, by way of the stored form. NULL if the object exceeds a bound. */
MUST_CHECK void *stack_copy(struct arena *arena, enum stack_kind kind, const void *object);

/* --- Templates and files --- */

enum { STACK_KEY_TEMPLATE = 'T', STACK_KEY_ASSET = 'A' };

/* Which template of a stack; one of a change set is named by its UUID. */
#define STACK_TEMPLATE_NOW BYTES("now")
#define STACK_TEMPLATE_NEXT BYTES("next")

struct stack_blob {
    struct bytes bytes;
    int64_t modified_ms;
    struct bytes media_type; /* data NULL: none. */
};
struct bytes stack_template_key(struct arena *arena, struct bytes stack_uid, struct bytes which);
/* `name` is bucket, slash and key. */
struct bytes stack_asset_key(struct arena *arena, struct bytes name);
struct bytes stack_blob_encode(struct arena *arena, const struct stack_blob *blob);
/* False for what stack_blob_encode would not have written. Borrows `stored`. */
MUST_CHECK bool stack_blob_decode(struct arena *arena, struct bytes stored, struct stack_blob *out);

/* Whether a record of stack_place is whole: for `stator check`. */
MUST_CHECK bool stack_record_is_whole(struct arena *arena, const struct engine_entry *entry);

/* A letter, then letters, digits and hyphens; at most STACK_NAME_SIZE_MAX. */
bool stack_is_name(struct bytes name);

/* Of a list of struct stack_pair *; NULL: it has none of that key. */
const struct stack_pair *stack_find_pair(const struct shape_list *list, struct bytes key);
/* Whether two lists of struct stack_pair * have the same pairs in the same order. */
bool stack_same_pairs(const struct shape_list *a, const struct shape_list *b);

#endif
