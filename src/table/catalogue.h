/* catalogue.h -- the catalogue of tables: stored in the engine, held in memory, found by name.
 *
 * Readers get an immutable `struct table` and hold a reference while they use it; a change makes
 * a new one and leaves the old to its holders. A reference also keeps a dropped table's data in
 * place, so whoever got one before the drop still works on whole data. Requests that read borrow
 * their tables, which writes to no memory that other cores write; requests that write count them,
 * since they end on another thread.
 *
 * Any thread may look up and release. The functions marked "control" change the catalogue and
 * wait for the disk; they run one at a time, on the control thread (control/control.h).
 */
#ifndef STATOR_TABLE_CATALOGUE_H
#define STATOR_TABLE_CATALOGUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"

struct arena;
struct catalogue;
struct index_definition;
struct partition_runtime;
struct table;
struct table_definition;
struct table_runtime;

enum { CATALOGUE_ON_DEMAND_PARTITIONS = 4 }; /* Of a new on-demand table or global index. */

/* Loads every table. NULL with the engine's status if the store cannot be read. */
MUST_CHECK struct catalogue *catalogue_open(struct engine *engine, enum engine_status *status);
/* Derives data for a layer above from each version of a table, once, in the version's own arena.
 * Called on the thread that loads or changes the catalogue. */
typedef const void *catalogue_attach(struct arena *arena,
                                     const struct table_definition *definition);
MUST_CHECK struct catalogue *catalogue_open_attaching(struct engine *engine,
                                                      catalogue_attach *attach,
                                                      enum engine_status *status);
void catalogue_close(struct catalogue *catalogue); /* Closing NULL is allowed. */

/* NULL if there is none of that name. The caller owes a table_release, on any thread. */
struct table *catalogue_find(struct catalogue *catalogue, struct bytes name);
/* The same, to be released on the calling thread. */
struct table *catalogue_borrow(struct catalogue *catalogue, struct bytes name);
void table_release(struct table *table); /* Releasing NULL is allowed. */
/* Valid as long as the reference. */
const struct table_definition *table_definition(const struct table *table);
/* What catalogue_attach made of the definition; NULL: nothing attaches anything. As valid. */
const void *table_attachment(const struct table *table);
/* Shared by all versions of the table (table_runtime.h). As valid as the reference. */
struct table_runtime *table_runtime(const struct table *table);
/* That of a partition of the table, or of an index among the definition's if it is not NULL. A
 * local index has no partitions of its own. */
struct partition_runtime *table_partition_runtime(const struct table *table,
                                                  const struct index_definition *index,
                                                  size_t partition);
/* True if no other version of the table is referenced, i.e. all work started under an older one has
 * finished. Stays true until there is a newer version. */
bool table_is_only_version(const struct table *table);
/* Whether a lookup finds this version now. */
bool catalogue_is_current(struct catalogue *catalogue, const struct table *table);

size_t catalogue_table_count(struct catalogue *catalogue);
/* Up to `names_max` names behind `after` (empty: from the start), in byte order, copied into the
 * arena. */
size_t catalogue_list(struct catalogue *catalogue, struct arena *arena, struct bytes after,
                      struct bytes *names, size_t names_max);

/* The table whose transient status ends first; NULL if all are at rest. The caller owes a
 * table_release. */
struct table *catalogue_find_transient(struct catalogue *catalogue);

/* The first table behind `after` (empty: of all), in byte order of the names, that `test` accepts;
 * NULL if there is none. The caller owes a table_release. `test` must not wait. */
struct table *catalogue_find_next(struct catalogue *catalogue, struct bytes after,
                                  bool (*test)(const struct table_definition *definition,
                                               void *context),
                                  void *context);

/* Records of others that a change of the catalogue stores in its own batch, so that both happen or
 * neither does. */
struct catalogue_extra {
    struct engine_address address;
    struct bytes value;
};

/* Control. Gives the draft its table, index and partition ids (written into `draft`), and one to
 * the log of its changes if it needs one, stores it and makes it findable. The name must be free.
 */
MUST_CHECK enum engine_status catalogue_create(struct catalogue *catalogue, struct arena *arena,
                                               struct table_definition *draft);
/* Control. The same with a record of somebody else in the same batch. */
MUST_CHECK enum engine_status catalogue_create_with(struct catalogue *catalogue,
                                                    struct arena *arena,
                                                    struct table_definition *draft,
                                                    const struct catalogue_extra *extra);
/* Control. Replaces the definition of the table of that name and id; gives ids, and partitions of
 * their own to global ones, to indexes that have none, one to a partition that is split off, whose
 * split is then under way, and one to a history; the log of its changes
 * gets one when it is first needed and loses it when it is not. */
MUST_CHECK enum engine_status catalogue_update(struct catalogue *catalogue, struct arena *arena,
                                               struct table_definition *changed);
/* Control. The same with a record of somebody else in the same batch. */
MUST_CHECK enum engine_status catalogue_update_with(struct catalogue *catalogue,
                                                    struct arena *arena,
                                                    struct table_definition *changed,
                                                    const struct catalogue_extra *extra);
/* Control. The same with a definition that lacks an index; the entries of that one, whose id it is,
 * go in the same step. */
MUST_CHECK enum engine_status catalogue_remove_index(struct catalogue *catalogue,
                                                     struct arena *arena,
                                                     struct table_definition *changed,
                                                     uint64_t index_id);
/* Control. The same with a definition without time to live; the expiry queue goes in the same step.
 */
MUST_CHECK enum engine_status catalogue_remove_expiry(struct catalogue *catalogue,
                                                      struct arena *arena,
                                                      struct table_definition *changed);
/* Control. The same with a definition without a group of regions; stamps and queues go in the same
 * step. */
MUST_CHECK enum engine_status catalogue_remove_replicas(struct catalogue *catalogue,
                                                        struct arena *arena,
                                                        struct table_definition *changed);
/* Control. The same with a definition without a history; the history, whose owner it is, goes in
 * the same step. */
MUST_CHECK enum engine_status catalogue_remove_history(struct catalogue *catalogue,
                                                       struct arena *arena,
                                                       struct table_definition *changed,
                                                       uint64_t history_id);

/* What becomes of the data of dropped tables. Both may be NULL. */
struct catalogue_keeper {
    /* Asked when a table is dropped. `*is_kept`: the items and the history belong to a record that
     * it has put into `write`, which is the write that drops the table. If it fails, the table
     * stays. */
    enum engine_status (*keep)(void *context, struct arena *arena,
                               const struct table_definition *definition,
                               struct engine_write *write, bool *is_kept);
    /* Whether somebody still reads the data of a table that was dropped. */
    bool (*is_read)(void *context, uint64_t table_id);
    void *context;
};
/* Before the control thread starts. The keeper is copied. Without one nothing is kept. */
void catalogue_set_keeper(struct catalogue *catalogue, const struct catalogue_keeper *keeper);

/* Control. Takes the table out of the catalogue and notes its data for removal. Returns when that
 * is durable; the data goes later (catalogue_remove_dropped). */
MUST_CHECK enum engine_status catalogue_drop(struct catalogue *catalogue, struct arena *arena,
                                             struct bytes name);
/* Control. The same with a record of somebody else in the same batch. */
MUST_CHECK enum engine_status catalogue_drop_with(struct catalogue *catalogue, struct arena *arena,
                                                  struct bytes name,
                                                  const struct catalogue_extra *extra);

/* Control. Removes a record that kept data of a dropped table, and notes the owners of that data,
 * the table's first, for removal. Returns when that is durable. */
MUST_CHECK enum engine_status catalogue_give_up(struct catalogue *catalogue, struct arena *arena,
                                                const struct engine_address *record,
                                                const uint64_t *owners, size_t owner_count);

/* Control. Removes the data of one dropped table that nobody holds any more. ENGINE_END if there is
 * none to do now; `*waiting`: some are still referenced. */
MUST_CHECK enum engine_status catalogue_remove_dropped(struct catalogue *catalogue,
                                                       struct arena *arena, bool *waiting);
/* Control. Whether all dropped tables that are left are read by jobs, which takes long: no request
 * uses one any more. */
bool catalogue_waits_for_jobs(struct catalogue *catalogue);

#endif
