/* stacks.h -- all stacks, resources, events and change sets: held in memory, stored durably.
 *
 * A change is a set of objects and templates to put and to delete. It is one engine write, and it
 * shows in memory once it is durable. Everything here happens between stacks_lock and
 * stacks_unlock, which may wait for the disk: never on an event loop. Templates and uploaded files
 * are not in memory.
 */
#ifndef STATOR_CLOUDFORMATION_STACKS_H
#define STATOR_CLOUDFORMATION_STACKS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "cloudformation/stack_objects.h"
#include "engine/engine.h"

struct arena;
struct stacks;

enum {
    STACKS_MAX = 500,         /* Those that were deleted are not counted. */
    STACKS_DELETED_MAX = 100, /* That are still shown; the oldest go first. */
    STACK_EVENTS_MAX = 1000,  /* Of one stack; the oldest go first. */
    STACK_CHANGE_SETS_MAX = 100,
    /* Of one stack: those of its template, and those that updates without a rollback left. */
    STACK_RESOURCE_RECORDS_MAX = 2 * STACK_RESOURCES_MAX,
    /* Of all records that are kept, in memory. Requests that would add some are refused beyond it;
     * deployments under way go on, and their oldest events go first. */
    STACKS_MEMORY_MAX = 256 * 1024 * 1024,
    STACK_EVENTS_SCARCE_MAX = 100, /* Of one stack, when memory is full. */
    /* Files of clients, of all buckets together. The oldest go first: clients look whether a file
     * is there before they rely on it. */
    STACK_ASSETS_MAX = 10000,
    STACK_ASSETS_SIZE_MAX = 256 * 1024 * 1024,
    /* Uploads in parts that were not completed. The oldest goes first, and each after a day. */
    STACK_UPLOADS_MAX = 100,
    STACK_UPLOAD_AGE_MS_MAX = 24 * 60 * 60 * 1000,
    STACK_PARTS_MAX = 10000, /* S3's. */
};

/* NULL with the engine's status if the store cannot be read; ENGINE_CORRUPT for a damaged record.
 */
MUST_CHECK struct stacks *stacks_open(struct engine *engine, enum engine_status *status);
void stacks_close(struct stacks *stacks); /* NULL is allowed. */

/* The calling thread does not give way (base/give_way.h) before it unlocks. */
void stacks_lock(struct stacks *stacks);
void stacks_unlock(struct stacks *stacks);

/* --- Reading. What these return is valid until the next change. --- */

size_t stacks_count(const struct stacks *stacks); /* Deleted ones included. */
const struct stack *stacks_at(const struct stacks *stacks, size_t index);
/* By the UUID in its ARN, or by name, of one that was not deleted: a stack whose name is the UUID
 * of another does not hide that one. NULL: none. */
const struct stack *stacks_find(const struct stacks *stacks, struct bytes name_or_uid);
/* The objects of one stack, in the order of their ids: `*first` is the first one, the others follow
 * it in stacks_object. Returns how many. Not for stacks themselves. */
size_t stacks_of(const struct stacks *stacks, enum stack_kind kind, struct bytes stack_uid,
                 size_t *first);
const void *stacks_object(const struct stacks *stacks, enum stack_kind kind, size_t index);
const struct stack_resource *stacks_find_resource(const struct stacks *stacks,
                                                  struct bytes stack_uid, struct bytes logical_id);
/* Whether no further stack has room. */
bool stacks_are_full(const struct stacks *stacks);
/* Whether the records have reached STACKS_MEMORY_MAX. */
bool stacks_fill_memory(const struct stacks *stacks);

/* A template, in the arena. ENGINE_NOT_FOUND if there is none. */
MUST_CHECK enum engine_status stacks_read_template(struct stacks *stacks, struct arena *arena,
                                                   struct bytes stack_uid, struct bytes which,
                                                   struct bytes *out);

/* --- Changing --- */

/* Grows as needed. The bounds of a stack bound the largest one, which forgets a stack. */
struct stacks_change;
struct stacks_change *stacks_change_begin(struct stacks *stacks, struct arena *arena);
/* The objects must live until the commit. A put replaces the object of the same key. */
void stacks_put(struct stacks_change *change, enum stack_kind kind, const void *object);
void stacks_delete(struct stacks_change *change, enum stack_kind kind, const void *object);
void stacks_put_template(struct stacks_change *change, struct bytes stack_uid, struct bytes which,
                         struct bytes text, int64_t now_ms);
void stacks_delete_template(struct stacks_change *change, struct bytes stack_uid,
                            struct bytes which);
/* Deletes a stack with everything that belongs to it. */
void stacks_forget(struct stacks_change *change, const struct stack *stack);
/* Adds an event about the stack or one of its resources, and counts it in the stack, which the
 * caller puts as well. Forgets the stack's oldest event if there are too many. */
void stacks_add_event(struct stacks_change *change, struct stack *stack,
                      const struct stack_resource *resource, struct bytes stack_id, int64_t now_ms);
/* Either all or nothing has happened. ENGINE_CORRUPT, and nothing is written, if an object exceeds
 * a bound. */
MUST_CHECK enum engine_status stacks_commit(struct stacks_change *change);

/* --- Files of clients: any thread, without the lock --- */

struct stack_asset {
    struct bytes name; /* Bucket, slash and key. */
    size_t size;
    int64_t modified_ms;
};
/* ENGINE_NOT_FOUND if there is none. The bytes live in the arena. */
MUST_CHECK enum engine_status stacks_read_asset(struct stacks *stacks, struct arena *arena,
                                                struct bytes name, struct stack_blob *out);
/* Forgets the oldest ones to make room. ENGINE_CORRUPT, and nothing is written, if the file could
 * not be read back. */
MUST_CHECK enum engine_status stacks_put_asset(struct stacks *stacks, struct arena *arena,
                                               struct bytes name, const struct stack_blob *blob);
/* No failure if there is none. */
MUST_CHECK enum engine_status stacks_delete_asset(struct stacks *stacks, struct arena *arena,
                                                  struct bytes name);
/* The first one behind `after` whose name starts with `prefix`; `after` data NULL: of all. */
MUST_CHECK bool stacks_next_asset(struct stacks *stacks, struct arena *arena, struct bytes prefix,
                                  struct bytes after, struct stack_asset *out);

/* --- Uploads in parts: the same ---
 *
 * An upload is a file whose name is a slash and the upload's id, and whose bytes are the name of
 * the file to be; its parts have the id, a slash and five digits. No client can name them, since
 * names begin with a bucket. So they are as durable and as bounded as other files. */

/* Forgets uploads that are too old, and the oldest if there are too many. `blob` has the media
 * type and the time; `id` is a UUID. */
MUST_CHECK enum engine_status stacks_begin_upload(struct stacks *stacks, struct arena *arena,
                                                  struct bytes id, struct bytes name,
                                                  const struct stack_blob *blob);
/* ENGINE_NOT_FOUND if there is no such upload for a file of that name. */
MUST_CHECK enum engine_status stacks_find_upload(struct stacks *stacks, struct arena *arena,
                                                 struct bytes id, struct bytes name,
                                                 struct stack_blob *out);
/* The name of a part, for stacks_put_asset. */
struct bytes stacks_part_name(struct arena *arena, struct bytes id, unsigned number);
struct stacks_part {
    unsigned number;
    struct bytes etag; /* Set by the caller; data NULL: any. */
    struct bytes name; /* Set by the callee, as the next one. */
    size_t size;
};
/* Fills in the names and sizes of parts. False: one of them is not there. */
MUST_CHECK bool stacks_find_parts(struct stacks *stacks, struct arena *arena, struct bytes id,
                                  struct stacks_part *parts, size_t count);
/* Makes the file of its parts, in one write with the end of the upload. `blob` has media type and
 * time, and receives the bytes. ENGINE_NOT_FOUND if a part has gone since it was found. */
MUST_CHECK enum engine_status stacks_end_upload(struct stacks *stacks, struct arena *arena,
                                                struct bytes id, struct bytes name,
                                                const struct stacks_part *parts, size_t count,
                                                struct stack_blob *blob);
/* Forgets the upload and its parts. */
MUST_CHECK enum engine_status stacks_abort_upload(struct stacks *stacks, struct arena *arena,
                                                  struct bytes id);

#endif
