/* backup.c -- see backup.h. */
#include "backup/backup.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/backup_manifest.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "crypto/sha256.h"
#include "engine/data_directory.h"

#define KEYS_FILE "KEYS"

/* --- One file --- */

/* What copying needs, kept from file to file. */
struct copier {
    struct sha256 *hasher;
    uint8_t *block;
};

enum copy_result {
    COPY_OK,
    COPY_SOURCE_FAILED, /* With errno set. */
    COPY_TARGET_FAILED, /* The same. */
};

enum { BLOCK_SIZE = 1024 * 1024 };

static void copier_init(struct copier *copier)
{
    copier->hasher = sha256_create();
    copier->block = memory_checked(malloc(BLOCK_SIZE));
}

static void copier_deinit(struct copier *copier)
{
    sha256_destroy(copier->hasher);
    free(copier->block);
}

/* Only a regular file: a link could lead out of the directory, and a pipe could block. */
static int open_regular(int source, const char *name)
{
    struct stat status;
    int fd = file_open_at(source, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

/* `to` -1: nowhere. */
static enum copy_result copy_bytes(struct copier *copier, int from, int to, struct backup_file *out)
{
    uint8_t digest[SHA256_SIZE];
    out->size = 0;
    sha256_begin(copier->hasher);
    for (;;) {
        ssize_t size = read(from, copier->block, BLOCK_SIZE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return COPY_SOURCE_FAILED;
        if (size == 0)
            break;
        sha256_add(copier->hasher, bytes_of(copier->block, (size_t)size));
        out->size += (uint64_t)size;
        if (to >= 0 && !file_write(to, bytes_of(copier->block, (size_t)size)))
            return COPY_TARGET_FAILED;
    }
    sha256_finish(copier->hasher, digest);
    sha256_hex(digest, out->digest);
    return to < 0 || fsync(to) == 0 ? COPY_OK : COPY_TARGET_FAILED;
}

/* Copies the regular file `name` of the directory `source` and syncs the copy; `target` NULL: only
 * reads it. Sets the size and the digest of `out`. */
static enum copy_result copier_run(struct copier *copier, int source,
                                   const struct backup_directory *target, const char *name,
                                   struct backup_file *out)
{
    int to = -1;
    int from = open_regular(source, name);
    if (from < 0)
        return COPY_SOURCE_FAILED;
    enum copy_result result = COPY_TARGET_FAILED;
    if (target == NULL || (to = backup_directory_create_file(target, name)) >= 0)
        result = copy_bytes(copier, from, to, out);
    file_close(to);
    file_close(from);
    return result;
}

/* --- A backup or a restore under way --- */

struct backup_work {
    struct arena *arena;
    struct copier copier;
    struct backup_manifest manifest;
    struct backup_directory target;
    const char *source;
    int source_fd;
    backup_progress *progress;
    void *context; /* Of `progress`. */
    char *message;
};

static bool refuse_file(const struct backup_work *work, const char *directory, struct bytes name,
                        const char *reason)
{
    struct bytes path = arena_printf(work->arena, "%.200s/%.*s", directory, BYTES_FMT(name));
    return backup_directory_refuse(work->message, (const char *)path.data, reason);
}

static bool open_source(struct backup_work *work, const char *path)
{
    work->source = path;
    work->source_fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    return work->source_fd >= 0 || backup_directory_refuse(work->message, path, strerror(errno));
}

static void work_init(struct backup_work *work, char *message)
{
    *work = (struct backup_work){ .arena = arena_create(), .source_fd = -1, .message = message };
    copier_init(&work->copier);
    work->target.fd = -1;
}

/* A target that was begun and not finished is discarded. */
static void work_deinit(struct backup_work *work)
{
    if (work->target.fd >= 0)
        backup_directory_discard(&work->target);
    file_close(work->source_fd);
    copier_deinit(&work->copier);
    arena_destroy(work->arena);
}

/* Copies a file of `directory`, whose descriptor is `fd`. */
static bool copy_file(struct backup_work *work, const char *directory, int fd,
                      struct backup_file *file)
{
    const char *name = (const char *)arena_printf(work->arena, "%.*s", BYTES_FMT(file->name)).data;
    switch (copier_run(&work->copier, fd, &work->target, name, file)) {
    case COPY_OK:
        return true;
    case COPY_SOURCE_FAILED:
        return refuse_file(work, directory, file->name, strerror(errno));
    case COPY_TARGET_FAILED:
        break;
    }
    return refuse_file(work, work->target.path, file->name, strerror(errno));
}

static void report_progress(const struct backup_work *work, size_t file_count)
{
    if (work->progress != NULL)
        work->progress(work->context, file_count, work->manifest.file_count);
}

static void add_result(struct backup_result *result, const struct backup_manifest *manifest)
{
    *result = (struct backup_result){ .file_count = manifest->file_count };
    for (size_t i = 0; i < manifest->file_count; i++)
        result->size += manifest->files[i].size;
}

/* --- Making one --- */

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && strcmp(name + size - end_size, end) == 0;
}

/* Every file is part of the store except locks, the reserve, the engine's own log, and temporary
 * files that are renamed when they are complete. Copying a file too many does no harm. */
static bool is_of_store(int directory, const char *name)
{
    struct stat status;
    return backup_manifest_is_name(bytes_from_text(name)) && strcmp(name, "LOCK") != 0 &&
           strcmp(name, "RESERVE") != 0 && strcmp(name, "LOG") != 0 &&
           strncmp(name, "LOG.old.", 8) != 0 && !ends_with(name, ".lock") &&
           !ends_with(name, ".new") && !ends_with(name, ".dbtmp") &&
           fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

static bool add_file(struct backup_work *work, const char *name)
{
    struct backup_manifest *manifest = &work->manifest;
    assert(backup_manifest_is_name(bytes_from_text(name)));
    if (manifest->file_count == BACKUP_FILES_MAX) {
        errno = EFBIG;
        return false;
    }
    manifest->files[manifest->file_count++] =
        (struct backup_file){ .name = arena_copy(work->arena, bytes_from_text(name)) };
    return true;
}

static bool visit_name(int directory, const char *name, void *context)
{
    return !is_of_store(directory, name) || add_file(context, name);
}

static int compare_files(const void *a, const void *b)
{
    return bytes_compare(((const struct backup_file *)a)->name,
                         ((const struct backup_file *)b)->name);
}

static bool is_keys(const struct backup_file *file)
{
    return bytes_equal_text(file->name, KEYS_FILE);
}

/* Lists the files of the store, and the keys, which a checkpoint lacks, if there are any. */
static bool list_files(struct backup_work *work, const struct backup_options *options, int keys_fd)
{
    struct backup_manifest *manifest = &work->manifest;
    manifest->files = arena_alloc(work->arena, sizeof manifest->files[0] * BACKUP_FILES_MAX);
    if (!folder_visit(work->source_fd, visit_name, work))
        return backup_directory_refuse(work->message, options->store, strerror(errno));
    bool has_keys = false;
    for (size_t i = 0; i < manifest->file_count; i++)
        has_keys = has_keys || is_keys(&manifest->files[i]);
    if (!has_keys && is_of_store(keys_fd, KEYS_FILE) && !add_file(work, KEYS_FILE))
        return backup_directory_refuse(work->message, options->store, strerror(errno));
    qsort(manifest->files, manifest->file_count, sizeof manifest->files[0], compare_files);
    return true;
}

static bool copy_store(struct backup_work *work, const struct backup_options *options, int keys_fd)
{
    struct backup_manifest *manifest = &work->manifest;
    for (size_t i = 0; i < manifest->file_count; i++) {
        struct backup_file *file = &manifest->files[i];
        if (is_keys(file) ? !copy_file(work, options->data_dir, keys_fd, file)
                          : !copy_file(work, options->store, work->source_fd, file))
            return false;
        report_progress(work, i + 1);
    }
    return true;
}

static bool put_manifest(struct backup_work *work, const struct backup_options *options)
{
    struct buffer text;
    char time[CLOCK_TEXT_SIZE];
    clock_format_utc(options->now_ms, time);
    work->manifest.time = arena_copy(work->arena, bytes_from_text(time));
    work->manifest.version = bytes_from_text(options->version);
    buffer_init(&text, work->arena);
    backup_manifest_write(&work->manifest, work->copier.hasher, &text);
    return backup_directory_put_file(&work->target, DATA_DIRECTORY_BACKUP, buffer_bytes(&text)) ||
           refuse_file(work, work->target.path, BYTES(DATA_DIRECTORY_BACKUP), strerror(errno));
}

bool backup_make(const struct backup_options *options, const char *target,
                 struct backup_result *result, char message[BACKUP_MESSAGE_MAX])
{
    struct backup_work work;
    assert(options->store != NULL && options->data_dir != NULL && options->version != NULL);
    work_init(&work, message);
    work.progress = options->progress;
    work.context = options->context;
    int keys_fd = file_open_at(AT_FDCWD, options->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool ok =
        (keys_fd >= 0 || backup_directory_refuse(message, options->data_dir, strerror(errno))) &&
        open_source(&work, options->store) && list_files(&work, options, keys_fd) &&
        backup_directory_begin(&work.target, target, message) &&
        copy_store(&work, options, keys_fd) && put_manifest(&work, options) &&
        backup_directory_finish(&work.target, message);
    if (ok)
        add_result(result, &work.manifest);
    file_close(keys_fd);
    work_deinit(&work);
    return ok;
}

/* --- Reading one --- */

/* False with errno set. */
static bool read_text(struct backup_work *work, struct bytes *out)
{
    int fd =
        file_open_at(work->source_fd, DATA_DIRECTORY_BACKUP, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    struct buffer text;
    ssize_t size;
    buffer_init(&text, work->arena);
    do {
        enum { PIECE_SIZE = 64 * 1024 };
        size = read(fd, buffer_reserve(&text, PIECE_SIZE), PIECE_SIZE);
        if (size > 0)
            text.len += (size_t)size;
    } while (size > 0 && text.len <= BACKUP_MANIFEST_SIZE_MAX);
    file_close(fd);
    *out = buffer_bytes(&text);
    return size >= 0;
}

static bool read_manifest(struct backup_work *work, const char *directory)
{
    struct bytes text;
    if (!open_source(work, directory))
        return false;
    if (!read_text(work, &text))
        return errno == ENOENT
                   ? backup_directory_refuse(work->message, directory, "holds no complete backup")
                   : refuse_file(work, directory, BYTES(DATA_DIRECTORY_BACKUP), strerror(errno));
    return backup_manifest_parse(work->arena, work->copier.hasher, text, &work->manifest) ||
           refuse_file(work, directory, BYTES(DATA_DIRECTORY_BACKUP),
                       "damaged, or written by another version");
}

static bool is_same(const struct backup_file *want, const struct backup_file *got)
{
    return want->size == got->size && memcmp(want->digest, got->digest, SHA256_HEX_SIZE) == 0;
}

static const char differs[] = "damaged: not what was backed up";

static bool restore_files(struct backup_work *work)
{
    for (size_t i = 0; i < work->manifest.file_count; i++) {
        const struct backup_file *want = &work->manifest.files[i];
        struct backup_file got = { .name = want->name };
        if (!copy_file(work, work->source, work->source_fd, &got))
            return false;
        if (!is_same(want, &got))
            return refuse_file(work, work->source, want->name, differs);
        report_progress(work, i + 1);
    }
    return true;
}

/* What the store has said to others since the backup, it does not know any more. */
static bool put_mark(const struct backup_work *work)
{
    return backup_directory_put_file(&work->target, DATA_DIRECTORY_RESTORED, BYTES("")) ||
           refuse_file(work, work->target.path, BYTES(DATA_DIRECTORY_RESTORED), strerror(errno));
}

bool backup_restore(const char *source, const char *target, backup_progress *progress,
                    void *context, struct backup_result *result, char message[BACKUP_MESSAGE_MAX])
{
    struct backup_work work;
    work_init(&work, message);
    work.progress = progress;
    work.context = context;
    bool ok = read_manifest(&work, source) &&
              backup_directory_begin(&work.target, target, message) && restore_files(&work) &&
              put_mark(&work) && backup_directory_finish(&work.target, message);
    if (ok)
        add_result(result, &work.manifest);
    work_deinit(&work);
    return ok;
}

bool backup_is_restored(const char *data_dir)
{
    int fd = file_open_at(AT_FDCWD, data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool is_there = fd >= 0 && faccessat(fd, DATA_DIRECTORY_RESTORED, F_OK, 0) == 0;
    file_close(fd);
    return is_there;
}

bool backup_note_start(const char *data_dir)
{
    int fd = file_open_at(AT_FDCWD, data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool ok = fd >= 0 && unlinkat(fd, DATA_DIRECTORY_RESTORED, 0) == 0 && fsync(fd) == 0;
    file_close(fd);
    return ok;
}

bool backup_exists(const char *directory)
{
    int fd = file_open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    bool exists = fd >= 0 && faccessat(fd, DATA_DIRECTORY_BACKUP, F_OK, 0) == 0;
    file_close(fd);
    return exists;
}

/* False with the problem in work->message. */
static bool verify_file(struct backup_work *work, const struct backup_file *want)
{
    struct backup_file got = { .name = want->name };
    const char *name = (const char *)arena_printf(work->arena, "%.*s", BYTES_FMT(want->name)).data;
    if (copier_run(&work->copier, work->source_fd, NULL, name, &got) != COPY_OK)
        return refuse_file(work, work->source, want->name, strerror(errno));
    return is_same(want, &got) || refuse_file(work, work->source, want->name, differs);
}

uint64_t backup_verify(const char *directory, void (*report)(void *context, const char *line),
                       backup_progress *progress, void *context)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_work work;
    uint64_t problems = 0;
    work_init(&work, message);
    work.progress = progress;
    work.context = context;
    bool readable = read_manifest(&work, directory);
    if (!readable) {
        problems++;
        report(context, message);
    }
    for (size_t i = 0; readable && i < work.manifest.file_count; i++) {
        if (!verify_file(&work, &work.manifest.files[i])) {
            problems++;
            report(context, message);
        }
        report_progress(&work, i + 1);
    }
    work_deinit(&work);
    return problems;
}
