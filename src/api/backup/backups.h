/* backups.h -- where on-demand backups are stored: a folder of ours, or a bucket. */
#ifndef STATOR_API_BACKUP_BACKUPS_H
#define STATOR_API_BACKUP_BACKUPS_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "object/object_store.h"

struct arena;
struct backups;
struct clock;
struct engine_view;
struct job;

struct backups_options {
    const struct clock *clock;
    /* The bucket of a store for backups. NULL: no bucket is configured. */
    struct object_store *store;
    const char *bucket;
    /* Without one: the folder in which the folder "backups" is, or is made. NULL or "": one below
     * the system's temporary folder, which is removed when the server stops, for a server that
     * keeps its data in memory. */
    const char *folder;
};

/* A view keeps the store from removing what is overwritten or deleted, and jobs may wait for long.
 */
enum { BACKUPS_VIEWS_MAX = 8 };

/* The texts must outlive it. Nothing is made or opened before it is needed. */
struct backups *backups_create(const struct backups_options *options);
void backups_destroy(struct backups *backups); /* NULL is allowed. */

/* Opens the bucket for a job, whose end cancels what waits for a server; the caller closes it.
 * Makes the folder if it is ours and missing. Any thread that may wait. */
MUST_CHECK struct object_bucket *backups_open_bucket(struct backups *backups, struct job *job,
                                                     struct object_error *err);
/* The table as it was at the request, for a backup of a table without a history: kept for the job
 * of that id until it takes it, or the server stops. Takes over a view that may move between
 * threads. Only if there is room, which one thread at a time may ask for and use: that of requests
 * to create a backup. */
bool backups_has_room(struct backups *backups);
void backups_keep_view(struct backups *backups, struct bytes id, struct engine_view *view);
/* NULL: there is none. The caller closes it. */
struct engine_view *backups_take_view(struct backups *backups, struct bytes id);
bool backups_has_view(struct backups *backups, struct bytes id);

/* What the keys of a backup's objects begin with, in the arena. */
struct bytes backups_prefix(const struct backups *backups, struct arena *arena, struct bytes id);

#endif
