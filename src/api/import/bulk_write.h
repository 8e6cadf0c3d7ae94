/* bulk_write.h -- batches of puts into a table in use, each with its own condition.
 *
 * Goes through txn/, like every write: indexes, streams, histories and statistics follow. The job's
 * record is part of each batch, with what the batch did, so that after a crash the job resumes
 * exactly behind the last item that was decided, and a condition is never evaluated twice. While
 * one batch becomes durable the next one is put together. One thread at a time.
 */
#ifndef STATOR_API_IMPORT_BULK_WRITE_H
#define STATOR_API_IMPORT_BULK_WRITE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct api;
struct bulk_write;
struct error;
struct item_record;
struct job;
struct job_record;
struct table;

enum {
    BULK_WRITE_ITEMS = 64, /* Others wait for the latches of no more items than this. */
    BULK_WRITE_SIZE = 1024 * 1024,
    /* Of all records that were added to a batch, with their conditions, or refused: all of them
     * take memory until the batch is written. And one more record. */
    BULK_WRITE_READ_SIZE = 4 * 1024 * 1024,
};

/* An item that was not written. */
struct bulk_refusal {
    struct bytes key;     /* Of the object. */
    uint64_t index;       /* Of the record within it. */
    struct bytes error;   /* What the item breaks; data NULL: its condition was false. */
    struct item item;     /* If refusals have the items, like the next one. */
    struct item existing; /* encoded.data NULL: there was none. */
};

/* What a batch did. */
struct bulk_outcome {
    uint64_t written;
    uint64_t table_bytes;
    uint64_t index_bytes;
    uint64_t units; /* Of write capacity. */
    const struct bulk_refusal *refusals;
    size_t refusal_count;
    size_t error_count; /* Of these. */
    const struct table *table;
};

struct bulk_write_options {
    struct api *api;
    struct job *job;
    struct bytes table_name;
    struct bytes table_uuid;
    bool shows_existing; /* Refusals have the items. */
    /* Completes the job's record, which is stored with the batch, by what the batch does. Called
     * under the latches, on any thread: it looks at nothing else. `position` is the record's. */
    void (*stamp)(struct job_record *record, uint8_t *position, const struct bulk_outcome *outcome);
    /* Called on the calling thread when a batch is durable, in the order of the batches. The
     * outcome is valid during the call. */
    void (*written)(void *context, const struct bulk_outcome *outcome);
    void *context;
};

struct bulk_write *bulk_write_create(const struct bulk_write_options *options);
/* Waits for what is under way. Destroying NULL is allowed. */
void bulk_write_destroy(struct bulk_write *write);

enum bulk_add {
    BULK_ADD_OK,
    BULK_ADD_FULL, /* Write the batch first, then add again: also if it has the item already. */
    BULK_ADD_BAD,  /* The item or its condition breaks a rule: `err`. */
    BULK_ADD_NO_TABLE,
};
/* Adds a copy. `key` is the object's. */
MUST_CHECK enum bulk_add bulk_write_add(struct bulk_write *write, const struct item_record *record,
                                        struct bytes key, struct error *err);
/* Writes the batch, even an empty one, with the job's record, whose position and progress the
 * caller has set: after bulk_write_wait, so that they stand for the batch before this one too. */
MUST_CHECK enum engine_status bulk_write_flush(struct bulk_write *write);
/* Whether it holds a version of the table: changes of the table wait for that, so it must be
 * written and waited for before anything that may take long. */
bool bulk_write_holds_table(const struct bulk_write *write);
/* Waits until everything is durable. */
MUST_CHECK enum engine_status bulk_write_wait(struct bulk_write *write);

#endif
