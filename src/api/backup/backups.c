/* backups.c -- see backups.h. */
#include "api/backup/backups.h"
#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "api/table_manifest.h" /* BACKUPS_BUCKET_PREFIX */
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "engine/engine.h"
#include "jobs/job_runner.h"

#define FOLDER_NAME "backups" /* Of the folder that is ours. */

/* A view that waits for its job. */
struct kept_view {
    struct kept_view *next;
    struct engine_view *view;
    size_t id_size;
    uint8_t id[];
};

struct backups {
    struct backups_options options;
    pthread_mutex_t mutex;          /* Guards what follows. */
    struct object_store *own_store; /* NULL: not opened yet, or a bucket is configured. */
    char folder[PATH_MAX];          /* In which FOLDER_NAME is. Empty: not known yet. */
    bool is_temporary;
    struct kept_view *views; /* At most one for each active backup. */
    size_t view_count;       /* At most BACKUPS_VIEWS_MAX. */
};

struct backups *backups_create(const struct backups_options *options)
{
    struct backups *backups = memory_checked(calloc(1, sizeof *backups));
    backups->options = *options;
    pthread_mutex_init(&backups->mutex, NULL);
    return backups;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static bool remove_folder(const char *path)
{
    enum { OPEN_FILES_MAX = 16 };
    return nftw(path, remove_entry, OPEN_FILES_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) == 0;
}

void backups_destroy(struct backups *backups)
{
    if (backups == NULL)
        return;
    object_store_close(backups->own_store);
    while (backups->views != NULL) {
        struct kept_view *kept = backups->views;
        backups->views = kept->next;
        engine_view_close(kept->view);
        free(kept);
    }
    if (backups->is_temporary && !remove_folder(backups->folder))
        log_write(LOG_WARN, "backup", "cannot remove the folder %s", backups->folder);
    pthread_mutex_destroy(&backups->mutex);
    free(backups);
}

bool backups_has_room(struct backups *backups)
{
    pthread_mutex_lock(&backups->mutex);
    bool has_room = backups->view_count < BACKUPS_VIEWS_MAX;
    pthread_mutex_unlock(&backups->mutex);
    return has_room;
}

void backups_keep_view(struct backups *backups, struct bytes id, struct engine_view *view)
{
    struct kept_view *kept = memory_checked(malloc(sizeof *kept + id.len));
    *kept = (struct kept_view){ .view = view, .id_size = id.len };
    memcpy(kept->id, id.data, id.len);
    pthread_mutex_lock(&backups->mutex);
    assert(backups->view_count < BACKUPS_VIEWS_MAX);
    backups->view_count++;
    kept->next = backups->views;
    backups->views = kept;
    pthread_mutex_unlock(&backups->mutex);
}

static struct kept_view **find_view_locked(struct backups *backups, struct bytes id)
{
    struct kept_view **link = &backups->views;
    while (*link != NULL && !bytes_equal(bytes_of((*link)->id, (*link)->id_size), id))
        link = &(*link)->next;
    return link;
}

struct engine_view *backups_take_view(struct backups *backups, struct bytes id)
{
    struct engine_view *view = NULL;
    pthread_mutex_lock(&backups->mutex);
    struct kept_view **link = find_view_locked(backups, id);
    struct kept_view *kept = *link;
    if (kept != NULL) {
        view = kept->view;
        *link = kept->next;
        backups->view_count--;
    }
    pthread_mutex_unlock(&backups->mutex);
    free(kept);
    return view;
}

bool backups_has_view(struct backups *backups, struct bytes id)
{
    pthread_mutex_lock(&backups->mutex);
    bool has = *find_view_locked(backups, id) != NULL;
    pthread_mutex_unlock(&backups->mutex);
    return has;
}

static bool fail(struct object_error *err, const char *what, const char *path)
{
    *err = (struct object_error){ .status = errno == ENOSPC ? OBJECT_FULL : OBJECT_FAILED };
    snprintf(err->text, sizeof err->text, "%s %s: %s", what, path, strerror(errno));
    return false;
}

static bool make_temporary(struct backups *backups, struct object_error *err)
{
    const char *parent = getenv("TMPDIR");
    int size = snprintf(backups->folder, sizeof backups->folder, "%s/stator-backups-XXXXXX",
                        parent == NULL || parent[0] == '\0' ? "/tmp" : parent);
    if ((size_t)size >= sizeof backups->folder || mkdtemp(backups->folder) == NULL) {
        backups->folder[0] = '\0';
        return fail(err, "cannot make a folder for backups below",
                    parent == NULL ? "/tmp" : parent);
    }
    backups->is_temporary = true;
    return true;
}

static bool open_store_locked(struct backups *backups, struct object_error *err)
{
    const struct backups_options *options = &backups->options;
    char path[PATH_MAX + sizeof FOLDER_NAME + 1], message[OBJECT_MESSAGE_MAX];
    if (backups->own_store != NULL)
        return true;
    if (options->folder != NULL && options->folder[0] != '\0')
        snprintf(backups->folder, sizeof backups->folder, "%s", options->folder);
    else if (backups->folder[0] == '\0' && !make_temporary(backups, err))
        return false;
    snprintf(path, sizeof path, "%s/" FOLDER_NAME, backups->folder);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail(err, "cannot make the folder", path);
    backups->own_store = object_store_open(
        &(struct object_store_options){ .folder = backups->folder, .clock = options->clock },
        message);
    if (backups->own_store != NULL)
        return true;
    *err = (struct object_error){ .status = OBJECT_FAILED };
    snprintf(err->text, sizeof err->text, "%.*s", (int)sizeof err->text - 1, message);
    return false;
}

static bool is_stopping(void *context)
{
    return job_is_stopping(context);
}

struct object_bucket *backups_open_bucket(struct backups *backups, struct job *job,
                                          struct object_error *err)
{
    struct object_store *store = backups->options.store;
    const char *name = backups->options.bucket;
    if (store == NULL) {
        pthread_mutex_lock(&backups->mutex);
        bool opened = open_store_locked(backups, err);
        store = backups->own_store;
        pthread_mutex_unlock(&backups->mutex);
        name = FOLDER_NAME;
        if (!opened)
            return NULL;
    }
    const struct object_bucket_options options = { .name = bytes_from_text(name),
                                                   .is_cancelled = is_stopping,
                                                   .cancel_context = job };
    return object_bucket_open(store, &options, err);
}

struct bytes backups_prefix(const struct backups *backups, struct arena *arena, struct bytes id)
{
    return arena_printf(arena, "%s%.*s/",
                        backups->options.store == NULL ? "" : BACKUPS_BUCKET_PREFIX, BYTES_FMT(id));
}
