/* bulk_load.h -- fills a table that is being made: restores and imports.
 *
 * Items are written in large batches together with their index entries, the table's statistics and
 * the sizes of item collections. The job's record, with its new position, goes into the same batch,
 * so after a crash the job resumes exactly behind the last item that was stored. There is no change
 * log, no expiry queue and no history: a table that is CREATING has none of them, and nobody else
 * reads or writes it (the caller makes sure of that).
 *
 * This is no second write path for tables in use: those go through txn/.
 *
 * While a batch becomes durable the next one is put together. A batch is committed only after the
 * one before it succeeded, so that a stored position never stands for items that were not stored.
 * One thread at a time.
 */
#ifndef STATOR_JOBS_BULK_LOAD_H
#define STATOR_JOBS_BULK_LOAD_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct bulk_load;
struct error;
struct item;
struct job;
struct table_definition;

enum {
    /* A batch is written once it has so many bytes of items, or so many items. Other writers wait
     * for the engine to take it, a few milliseconds. */
    BULK_LOAD_BATCH_SIZE = 512 * 1024,
    BULK_LOAD_BATCH_ITEMS = 2048,
};

struct bulk_load_options {
    struct engine *engine; /* Borrowed, like the definition; both must outlive the load. */
    const struct table_definition *table;
    /* Keys may repeat, so that a later item replaces an earlier one: for imports. Then each item's
     * place is read first, without a latch, since nobody else writes to the table. Otherwise no key
     * comes twice, as in a restore, and nothing is read. Any order of keys is allowed in both, and
     * the order of stored keys is the fastest. */
    bool keys_may_repeat;
};

struct bulk_load *bulk_load_create(const struct bulk_load_options *options);
/* Waits for a batch that is being committed; what was added and not written is forgotten.
 * Destroying NULL is allowed. */
void bulk_load_destroy(struct bulk_load *load);

/* Adds a copy of the item to the batch. False, in the service's words, if its key attributes do not
 * fit the table's key; nothing was added. Sizes and keys of indexes are the caller's to check. */
MUST_CHECK bool bulk_load_add(struct bulk_load *load, const struct item *item, struct error *err);
/* True if the batch must be written before anything is added. */
bool bulk_load_is_full(const struct bulk_load *load);
/* How many items the batch has. */
size_t bulk_load_count(const struct bulk_load *load);

/* Writes the batch, even if it is empty, together with the job's record at the new position
 * (job_set_position; job_runner.h). `job` NULL: no record. Waits for the batch before this one, and
 * returns how that, or the beginning of this one, ended. After a failure the load must be
 * destroyed: the job resumes from its stored position. */
MUST_CHECK enum engine_status bulk_load_write(struct bulk_load *load, struct job *job);
/* Waits until everything written is durable. */
MUST_CHECK enum engine_status bulk_load_wait(struct bulk_load *load);

#endif
