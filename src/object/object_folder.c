/* object_folder.c -- buckets that are folders of this machine.
 *
 * Keys come from clients, and must not lead out of the bucket. They become paths part by part: each
 * folder is opened from the one above it and never through a link (O_NOFOLLOW), and no part is "."
 * or "..". So neither a link nor a race can lead out. openat2 with RESOLVE_BENEATH would say the
 * same in one call, but missing folders must be made one by one anyway, and containers exist whose
 * filters refuse openat2.
 *
 * A file is written beside its place under a name that no key has, synced and renamed; the folder
 * is synced after that. The name has a hash of the key, so that a file which a crash has left is
 * found again by its key.
 */
#include "object/object_folder.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "base/random.h"
#include "json/utf8.h"

enum {
    FILE_MODE = 0666, /* The process's umask takes away from both. */
    FOLDER_MODE = 0777,
    FOLDER_FLAGS = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
    HASH_DIGITS = 16,
    UPLOAD_NAME_SIZE = sizeof OBJECT_FOLDER_UPLOAD_PREFIX + 2 * HASH_DIGITS + 1,
};

struct folder_upload {
    int folder; /* Where the object will be. */
    int file;
    char beside[UPLOAD_NAME_SIZE];
    char name[OBJECT_KEY_PART_SIZE_MAX + 1];
};

/* --- Names --- */

bool object_folder_is_part(struct bytes part)
{
    if (part.len == 0 || part.len > OBJECT_KEY_PART_SIZE_MAX || bytes_equal_text(part, ".") ||
        bytes_equal_text(part, "..") || bytes_starts_with(part, BYTES(OBJECT_FOLDER_UPLOAD_PREFIX)))
        return false;
    for (size_t i = 0; i < part.len; i++)
        if (part.data[i] < ' ' || part.data[i] == 0x7F || part.data[i] == '/')
            return false;
    return utf8_prefix(part, part.len) == part.len;
}

/* Cuts the first part off, with the slash behind it. */
static struct bytes take_part(struct bytes *rest)
{
    const uint8_t *slash = rest->len == 0 ? NULL : memchr(rest->data, '/', rest->len);
    size_t size = slash == NULL ? rest->len : (size_t)(slash - rest->data);
    size_t taken = slash == NULL ? size : size + 1;
    struct bytes part = bytes_of(rest->data, size);
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return part;
}

static bool check_key(struct bytes key, struct object_error *err)
{
    struct bytes rest = key;
    size_t depth = 0;
    bool valid = key.data[key.len - 1] != '/';
    while (valid && rest.len > 0)
        valid = object_folder_is_part(take_part(&rest)) && ++depth <= OBJECT_KEY_DEPTH_MAX;
    if (!valid)
        return object_error_set(err, OBJECT_BAD_KEY,
                                "The key of an object cannot be the path of a file: its parts "
                                "between slashes have 1 to %d bytes of UTF-8 without control "
                                "characters, are not \".\" or \"..\", and are at most %d",
                                OBJECT_KEY_PART_SIZE_MAX, OBJECT_KEY_DEPTH_MAX);
    return true;
}

bool object_folder_fail(struct object_error *err, struct bytes key)
{
    const int error = errno;
    const char *reason = strerror(error);
    enum object_status status = OBJECT_FAILED;
    if (error == EACCES || error == EPERM || error == EROFS)
        status = OBJECT_DENIED;
    else if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        status = OBJECT_FULL;
    else if (error == ENOENT)
        status = OBJECT_NO_KEY;
    else if (error == ENOTDIR || error == ELOOP || error == EISDIR || error == ENOTEMPTY ||
             error == EEXIST || error == ENAMETOOLONG)
        status = OBJECT_BAD_KEY;
    return object_error_set(err, status, "%.*s: %s", BYTES_FMT(key), reason);
}

static int open_folder(int folder, const char *name)
{
    return file_open_at(folder, name, FOLDER_FLAGS, 0);
}

/* Opens a folder, and makes it if it is missing. Its entry is on the disk when this returns: the
 * server that made it may have been killed before the sync. */
static int make_folder(int above, const char *name)
{
    if (mkdirat(above, name, FOLDER_MODE) != 0 && errno != EEXIST)
        return -1;
    int folder = open_folder(above, name);
    if (folder >= 0 && fsync(above) != 0) {
        file_close(folder);
        return -1;
    }
    return folder;
}

/* Opens the folder that a checked key is in, and copies the name that it has there. -1 with errno
 * set. */
static int open_parent(int bucket, struct bytes key, bool makes_folders,
                       char name[OBJECT_KEY_PART_SIZE_MAX + 1])
{
    int folder = file_open_at(bucket, ".", FOLDER_FLAGS, 0);
    struct bytes rest = key;
    while (folder >= 0) {
        struct bytes part = take_part(&rest);
        assert(part.len <= OBJECT_KEY_PART_SIZE_MAX);
        memcpy(name, part.data, part.len);
        name[part.len] = '\0';
        if (rest.len == 0)
            break;
        int below = makes_folders ? make_folder(folder, name) : open_folder(folder, name);
        file_close(folder);
        folder = below;
    }
    return folder;
}

/* The beginning of the names of files that become the object of this key. */
static void format_upload_prefix(struct bytes key, char out[UPLOAD_NAME_SIZE])
{
    uint8_t digest[MD5_DIGEST_SIZE];
    struct md5 md5;
    md5_init(&md5);
    md5_add(&md5, key);
    md5_finish(&md5, digest);
    int size = snprintf(out, UPLOAD_NAME_SIZE, "%s", OBJECT_FOLDER_UPLOAD_PREFIX);
    for (size_t i = 0; i < HASH_DIGITS / 2; i++)
        size += snprintf(out + size, UPLOAD_NAME_SIZE - (size_t)size, "%02x", digest[i]);
    snprintf(out + size, UPLOAD_NAME_SIZE - (size_t)size, "-");
}

/* --- Buckets --- */

static bool check(const struct object_store *store, char message[OBJECT_MESSAGE_MAX])
{
    int folder =
        file_open_at(AT_FDCWD, store->options.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (folder < 0)
        snprintf(message, OBJECT_MESSAGE_MAX, "%s: %s", store->options.folder, strerror(errno));
    file_close(folder);
    return folder >= 0;
}

static bool open_bucket(struct object_bucket *bucket, struct object_error *err)
{
    if (!object_folder_is_part(bytes_from_text(bucket->name)) || bucket->name[0] == '.')
        return object_error_set_missing_bucket(err);
    /* The folder of buckets is the operator's choice, so it may be a link. */
    int all = file_open_at(AT_FDCWD, bucket->store->options.folder,
                           O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bucket->folder = all < 0 ? -1 : open_folder(all, bucket->name);
    file_close(all);
    if (bucket->folder >= 0)
        return true;
    if (errno == EACCES || errno == EPERM)
        return object_error_set_denied(err);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
        return object_error_set_missing_bucket(err);
    return object_folder_fail(err, bytes_from_text(bucket->name));
}

static void close_bucket(struct object_bucket *bucket)
{
    file_close(bucket->folder);
}

static void cancel(struct object_bucket *bucket)
{
    (void)bucket; /* The flag is enough: no call waits for long. */
}

/* --- Writing --- */

static void release(struct object_upload *upload)
{
    if (upload->file == NULL)
        return;
    file_close(upload->file->file);
    file_close(upload->file->folder);
    free(upload->file);
    upload->file = NULL;
}

static bool begin(struct object_upload *upload, struct object_error *err)
{
    struct bytes key = object_upload_key(upload);
    struct folder_upload *file = memory_checked(calloc(1, sizeof *file));
    struct random random;
    upload->file = file;
    file->file = -1;
    file->folder = open_parent(upload->bucket->folder, key, true, file->name);
    if (file->folder >= 0) {
        random_init_from_system(&random);
        format_upload_prefix(key, file->beside);
        size_t size = strlen(file->beside);
        snprintf(file->beside + size, sizeof file->beside - size, "%016llx",
                 (unsigned long long)random_next(&random));
        file->file = file_open_at(file->folder, file->beside,
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
    }
    if (file->file >= 0)
        return true;
    object_folder_fail(err, key);
    release(upload);
    return false;
}

static bool put_part(struct object_upload *upload, uint32_t number, struct bytes part,
                     const uint8_t digest[MD5_DIGEST_SIZE], struct object_error *err)
{
    (void)number;
    (void)digest;
    return file_write(upload->file->file, part) ||
           object_folder_fail(err, object_upload_key(upload));
}

static bool complete(struct object_upload *upload, struct object_written *out,
                     struct object_error *err)
{
    const struct folder_upload *file = upload->file;
    (void)out;
    if (fsync(file->file) != 0 ||
        renameat(file->folder, file->beside, file->folder, file->name) != 0 ||
        fsync(file->folder) != 0)
        return object_folder_fail(err, object_upload_key(upload));
    return true;
}

static void abort_upload(struct object_upload *upload)
{
    unlinkat(upload->file->folder, upload->file->beside, 0); /* It may be renamed already. */
}

static bool put(struct object_bucket *bucket, struct bytes key, struct bytes body,
                struct object_error *err)
{
    struct object_upload upload = { .bucket = bucket, .key_size = key.len };
    memcpy(upload.key, key.data, key.len);
    if (!begin(&upload, err))
        return false;
    bool ok = put_part(&upload, 1, body, NULL, err) && complete(&upload, NULL, err);
    if (!ok)
        abort_upload(&upload);
    release(&upload);
    return ok;
}

static bool delete_object(struct object_bucket *bucket, struct bytes key, struct object_error *err)
{
    char name[OBJECT_KEY_PART_SIZE_MAX + 1];
    int folder = open_parent(bucket->folder, key, false, name);
    bool ok = folder >= 0 && unlinkat(folder, name, 0) == 0 && fsync(folder) == 0;
    /* A folder is no object. */
    ok = ok || errno == ENOENT || errno == ENOTDIR || errno == ELOOP || errno == EISDIR;
    file_close(folder);
    return ok || object_folder_fail(err, key);
}

/* --- What uploads have left behind --- */

struct leftovers {
    const char *prefix; /* Of names to remove. */
    bool is_tree;       /* Those of folders below too. */
    size_t depth;
};

static bool remove_leftover(int folder, const char *name, void *context)
{
    struct leftovers *leftovers = context;
    if (strncmp(name, leftovers->prefix, strlen(leftovers->prefix)) == 0)
        return unlinkat(folder, name, 0) == 0 || errno == ENOENT || errno == EISDIR;
    if (!leftovers->is_tree || leftovers->depth == OBJECT_KEY_DEPTH_MAX)
        return true;
    int below = open_folder(folder, name);
    if (below < 0)
        return true;    /* A file, or a link. */
    leftovers->depth++; /* At most OBJECT_KEY_DEPTH_MAX calls deep. */
    bool ok = folder_visit(below, remove_leftover, leftovers);
    leftovers->depth--;
    file_close(below);
    return ok;
}

static bool abort_uploads(struct object_bucket *bucket, struct bytes prefix,
                          struct object_error *err)
{
    char name[OBJECT_KEY_PART_SIZE_MAX + 1], uploads[UPLOAD_NAME_SIZE];
    struct leftovers leftovers = { .prefix = OBJECT_FOLDER_UPLOAD_PREFIX, .is_tree = true };
    struct bytes path = prefix;
    int folder;
    if (prefix.len == 0 || prefix.data[prefix.len - 1] == '/') {
        path.len -= prefix.len > 0;
        if (path.len > 0 && !check_key(path, err))
            return false;
        folder = open_parent(bucket->folder, path.len == 0 ? BYTES(".") : path, false, name);
        int below = folder < 0 ? -1 : path.len == 0 ? dup(folder) : open_folder(folder, name);
        file_close(folder);
        folder = below;
    } else {
        if (!check_key(path, err))
            return false;
        format_upload_prefix(path, uploads);
        leftovers = (struct leftovers){ .prefix = uploads };
        folder = open_parent(bucket->folder, path, false, name);
    }
    bool ok = folder >= 0 ? folder_visit(folder, remove_leftover, &leftovers)
                          : errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
    file_close(folder);
    return ok || object_folder_fail(err, prefix);
}

/* --- Reading --- */

void object_folder_etag(const struct stat *state, char out[OBJECT_FOLDER_ETAG_SIZE])
{
    snprintf(out, OBJECT_FOLDER_ETAG_SIZE, "%llx-%llx-%llx.%lx", (unsigned long long)state->st_ino,
             (unsigned long long)state->st_size, (unsigned long long)state->st_mtim.tv_sec,
             (unsigned long)state->st_mtim.tv_nsec);
}

/* Opens a regular file; whatever else has the name is no object. */
static int open_object(struct object_bucket *bucket, struct bytes key, struct stat *state,
                       struct object_error *err)
{
    char name[OBJECT_KEY_PART_SIZE_MAX + 1];
    int folder = open_parent(bucket->folder, key, false, name);
    /* O_NONBLOCK: opening a pipe must not wait for its writer. */
    int file = folder < 0
                   ? -1
                   : file_open_at(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    file_close(folder);
    if (file >= 0 && fstat(file, state) == 0 && S_ISREG(state->st_mode))
        return file;
    if (file >= 0 || errno == ENOTDIR || errno == ELOOP || errno == ENXIO)
        errno = ENOENT;
    file_close(file);
    object_folder_fail(err, key);
    return -1;
}

static bool stat_object(struct object_bucket *bucket, struct arena *arena, struct bytes key,
                        struct object_entry *out, struct object_error *err)
{
    struct stat state;
    char etag[OBJECT_FOLDER_ETAG_SIZE];
    int file = open_object(bucket, key, &state, err);
    if (file < 0)
        return false;
    file_close(file);
    object_folder_etag(&state, etag);
    *out = (struct object_entry){ .key = arena_copy(arena, key),
                                  .size = (uint64_t)state.st_size,
                                  .etag = arena_copy(arena, bytes_from_text(etag)) };
    return true;
}

static bool read_object(struct object_bucket *bucket, struct bytes key, struct bytes etag,
                        uint64_t offset, uint8_t *out, size_t size, size_t *read_size,
                        struct object_error *err)
{
    struct stat state;
    char found[OBJECT_FOLDER_ETAG_SIZE];
    int file = open_object(bucket, key, &state, err);
    if (file < 0)
        return false;
    object_folder_etag(&state, found);
    bool ok = etag.data == NULL || bytes_equal_text(etag, found);
    if (!ok)
        object_error_set(err, OBJECT_CHANGED, "%.*s: the object has changed", BYTES_FMT(key));
    while (ok && *read_size < size) {
        ssize_t got =
            pread(file, out + *read_size, size - *read_size, (off_t)(offset + *read_size));
        if (got == 0)
            break;
        if (got > 0)
            *read_size += (size_t)got;
        else if (errno != EINTR)
            ok = object_folder_fail(err, key);
    }
    file_close(file);
    return ok;
}

const struct object_kind object_folder_kind = {
    .check = check,
    .open = open_bucket,
    .close = close_bucket,
    .cancel = cancel,
    .check_key = check_key,
    .put = put,
    .begin = begin,
    .put_part = put_part,
    .complete = complete,
    .abort = abort_upload,
    .release = release,
    .abort_uploads = abort_uploads,
    .delete = delete_object,
    .stat = stat_object,
    .read = read_object,
    .list = object_folder_list,
};
