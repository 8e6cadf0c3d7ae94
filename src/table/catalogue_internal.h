/* catalogue_internal.h -- what catalogue.c and catalogue_store.c share.
 *
 * catalogue.c has the tables in memory, for readers on all threads; catalogue_store.c the records
 * on disk, for the control thread.
 */
#ifndef STATOR_TABLE_CATALOGUE_INTERNAL_H
#define STATOR_TABLE_CATALOGUE_INTERNAL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "model/table_definition.h"
#include "table/catalogue.h"

struct arena;
struct engine;
struct partition_runtime;
struct table_runtime;

enum { CATALOGUE_LINE_SIZE = 64 }; /* Of a cache line. */

struct table {
    struct catalogue *catalogue;
    struct arena *arena; /* Holds the definition. */
    struct table_definition definition;
    struct table_runtime *runtime;
    /* Of the table's partitions, then of each index's, in the definition's order. In the arena. */
    struct partition_runtime **partitions;
    size_t partition_count;
    const void *attachment;     /* In the arena. */
    struct table *next_retired; /* Guarded by the catalogue's mutex. */
    /* Those of catalogue_find, which writes take. In a line of its own: reads look at the rest. */
    _Alignas(CATALOGUE_LINE_SIZE) atomic_uint references;
};

/* The tables at one moment. */
struct listing {
    struct listing *next;  /* The one that replaced it. Guarded by the catalogue's mutex. */
    struct table *removed; /* The one that `next` lacks; NULL: none. Guarded likewise. */
    size_t count;
    struct table *tables[]; /* Sorted by name. */
};

/* A table that left the catalogue and whose data is still there. */
struct dropped_table {
    struct dropped_table *next;
    uint64_t id; /* The first owner: the table, unless somebody keeps its items. */
    struct table_runtime *runtime; /* Has no other reference once the last version is gone. */
    size_t owner_count;
    uint64_t owners[]; /* The table and its indexes. */
};

struct catalogue {
    struct engine *engine;
    catalogue_attach *attach; /* NULL: nothing. */
    struct catalogue_keeper keeper;
    _Atomic(struct listing *) listing; /* Set under the mutex. */

    /* Guards what was withdrawn. A leaf: the engine is not called under it. */
    _Alignas(CATALOGUE_LINE_SIZE) pthread_mutex_t mutex;
    struct listing *oldest; /* That is not freed; the others follow, the current one is the last. */
    struct table *retired;  /* Tables that no listing has. */

    uint64_t next_id;              /* Control thread only. */
    struct dropped_table *dropped; /* Control thread only. */
};

/* --- catalogue.c, for the control thread --- */

/* `before` is the current version of the table; NULL: it is new. NULL if the record is no
 * definition. */
struct table *catalogue_table_create(struct catalogue *catalogue, struct bytes record,
                                     const struct table *before);
void catalogue_table_destroy(struct table *table);
/* Its `tables` are not set. */
struct listing *catalogue_listing_create(size_t count);
/* Puts `table` in the place of the one of its name, or among the others if there is none. */
void catalogue_publish_with(struct catalogue *catalogue, struct table *table);
/* Removes the table of that name, which there is. */
void catalogue_publish_without(struct catalogue *catalogue, struct bytes name);
/* Frees what no reader uses any more. */
void catalogue_release_unused(struct catalogue *catalogue);

#endif
