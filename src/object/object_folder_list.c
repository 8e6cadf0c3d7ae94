/* object_folder_list.c -- the objects of a bucket that is a folder, in the order of their keys.
 *
 * Keys are compared as bytes. A folder "a" stands for keys that begin with "a/", so it comes after
 * a file "a.b" and before one "a0": names are sorted with that slash. Memory is bounded however
 * many files a folder has: of each folder on the path, the first names that a page may need are
 * kept, and the folder is read again if these were not enough.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "object/object_folder.h"

enum {
    NAMES_MAX = OBJECT_PAGE_ENTRIES_MAX + 1,
    NAMES_FIRST = 64,
    NAMES_PER_QUESTION = 1000, /* How often to ask whether the work was cancelled. */
};

struct name {
    uint16_t size; /* With the slash of a folder. */
    bool is_folder;
    char text[OBJECT_KEY_PART_SIZE_MAX + 2];
};

struct listing {
    struct object_bucket *bucket;
    struct arena *arena;
    struct bytes prefix;
    struct bytes after;
    struct object_entry *entries; /* One more than a page has: then there is another one. */
    size_t count;
    uint8_t path[OBJECT_KEY_SIZE_MAX + OBJECT_KEY_PART_SIZE_MAX + 2];
    size_t path_size; /* Of the folder: empty, or with a slash behind it. */
};

/* The first names of a folder that a page needs. */
struct selection {
    struct listing *listing;
    struct bytes after; /* Of names: those up to it were processed. */
    struct name *names;
    size_t count, capacity;
    size_t visited;
    bool cut; /* There are more. */
};

static struct bytes name_bytes(const struct name *name)
{
    return bytes_of(name->text, name->size);
}

static int compare_names(const void *left, const void *right)
{
    return bytes_compare(name_bytes(left), name_bytes(right));
}

/* The name with the path before it. */
static struct bytes key_of(struct listing *listing, const struct name *name)
{
    memcpy(listing->path + listing->path_size, name->text, name->size);
    return bytes_of(listing->path, listing->path_size + name->size);
}

/* True if it is such an object, or a folder that may have some. */
static bool is_wanted(const struct listing *listing, struct bytes key, bool is_folder)
{
    if (key.len > OBJECT_KEY_SIZE_MAX)
        return false;
    bool in_prefix = bytes_starts_with(key, listing->prefix);
    bool is_after = bytes_compare(key, listing->after) > 0;
    if (!is_folder)
        return in_prefix && is_after;
    return (in_prefix || bytes_starts_with(listing->prefix, key)) &&
           (is_after || bytes_starts_with(listing->after, key));
}

static void make_room(struct selection *selection)
{
    if (selection->count < selection->capacity)
        return;
    if (selection->capacity < 2 * NAMES_MAX) {
        selection->capacity = selection->capacity == 0 ? NAMES_FIRST : 2 * selection->capacity;
        selection->names = memory_checked(
            realloc(selection->names, selection->capacity * sizeof *selection->names));
        return;
    }
    qsort(selection->names, selection->count, sizeof *selection->names, compare_names);
    selection->count = NAMES_MAX;
    selection->cut = true;
}

/* Sets the name, with the slash of a folder. True if it is wanted as such. */
static bool is_selected(struct selection *selection, struct bytes text, bool is_folder,
                        struct name *name)
{
    memcpy(name->text, text.data, text.len);
    name->text[text.len] = '/';
    name->is_folder = is_folder;
    name->size = (uint16_t)(text.len + is_folder);
    return bytes_compare(name_bytes(name), selection->after) > 0 &&
           is_wanted(selection->listing, key_of(selection->listing, name), is_folder);
}

static bool select_name(int folder, const char *text, void *context)
{
    struct selection *selection = context;
    struct stat state;
    struct name name;
    struct bytes part = bytes_from_text(text);
    if (++selection->visited % NAMES_PER_QUESTION == 0 &&
        object_bucket_is_cancelled(selection->listing->bucket)) {
        errno = ECANCELED;
        return false;
    }
    if (!object_folder_is_part(part))
        return true;
    /* A folder may have very many others, and each question to the file system takes a while. */
    if (!is_selected(selection, part, false, &name) && !is_selected(selection, part, true, &name))
        return true;
    if (fstatat(folder, text, &state, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT; /* Just deleted. */
    if (!S_ISDIR(state.st_mode) && !S_ISREG(state.st_mode))
        return true;
    if (!is_selected(selection, part, S_ISDIR(state.st_mode), &name))
        return true;
    make_room(selection);
    selection->names[selection->count++] = name;
    return true;
}

static void add_entry(struct listing *listing, struct bytes key, const struct stat *state)
{
    char etag[OBJECT_FOLDER_ETAG_SIZE];
    object_folder_etag(state, etag);
    listing->entries[listing->count++] =
        (struct object_entry){ .key = arena_copy(listing->arena, key),
                               .size = (uint64_t)state->st_size,
                               .etag = arena_copy(listing->arena, bytes_from_text(etag)) };
}

static bool is_full(const struct listing *listing)
{
    return listing->count == OBJECT_PAGE_ENTRIES_MAX + 1;
}

static bool list_folder(struct listing *listing, int folder, size_t depth);

static bool list_name(struct listing *listing, int folder, const struct name *name, size_t depth)
{
    struct stat state;
    char text[OBJECT_KEY_PART_SIZE_MAX + 1];
    size_t text_size = name->size - (size_t)name->is_folder;
    memcpy(text, name->text, text_size);
    text[text_size] = '\0';
    struct bytes key = key_of(listing, name);
    if (!name->is_folder) {
        if (fstatat(folder, text, &state, AT_SYMLINK_NOFOLLOW) != 0)
            return errno == ENOENT;
        if (S_ISREG(state.st_mode))
            add_entry(listing, key, &state);
        return true;
    }
    if (depth == OBJECT_KEY_DEPTH_MAX)
        return true;
    int below = file_open_at(folder, text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (below < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    size_t path_size = listing->path_size;
    listing->path_size = key.len;
    bool ok = list_folder(listing, below, depth + 1);
    listing->path_size = path_size;
    file_close(below);
    return ok;
}

/* At most OBJECT_KEY_DEPTH_MAX calls deep. */
static bool list_folder(struct listing *listing, int folder, size_t depth)
{
    struct selection selection = { .listing = listing };
    struct name last = { .size = 0 };
    bool ok = true;
    do {
        if (object_bucket_is_cancelled(listing->bucket)) {
            errno = ECANCELED;
            ok = false;
            break;
        }
        selection.count = 0;
        selection.cut = false;
        selection.after = name_bytes(&last);
        ok = folder_visit(folder, select_name, &selection);
        if (selection.count > 0)
            qsort(selection.names, selection.count, sizeof *selection.names, compare_names);
        /* Beyond them, names are missing that were dropped on the way. */
        if (selection.cut && selection.count > NAMES_MAX)
            selection.count = NAMES_MAX;
        for (size_t i = 0; ok && i < selection.count && !is_full(listing); i++)
            ok = list_name(listing, folder, &selection.names[i], depth);
        if (selection.count > 0)
            last = selection.names[selection.count - 1];
    } while (ok && selection.cut && !is_full(listing));
    free(selection.names);
    return ok;
}

bool object_folder_list(struct object_bucket *bucket, struct arena *arena, struct bytes prefix,
                        struct bytes after, struct object_page *out, struct object_error *err)
{
    struct listing listing = { .bucket = bucket, .arena = arena, .prefix = prefix, .after = after };
    listing.entries = arena_alloc(arena, (OBJECT_PAGE_ENTRIES_MAX + 1) * sizeof *listing.entries);
    if (!list_folder(&listing, bucket->folder, 1)) {
        if (atomic_load(&bucket->cancelled))
            return object_error_set(err, OBJECT_CANCELLED, "the work was cancelled");
        return object_folder_fail(err, prefix);
    }
    *out = (struct object_page){ .entries = listing.entries,
                                 .count = listing.count,
                                 .more = listing.count > OBJECT_PAGE_ENTRIES_MAX };
    out->count -= out->more;
    return true;
}
