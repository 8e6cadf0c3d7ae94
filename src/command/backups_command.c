/* backups_command.c -- `stator backups import DIR`: makes the backups in a folder known to a store
 * that no server uses, such as a fresh one.
 *
 * A backup is a sub-folder with a manifest (archive/archive.h). Its files are copied next to those
 * that the store has, and its record is stored last, so that an interrupted import leaves at most
 * files that the next one overwrites. Everything read is verified before it is stored.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/table_manifest.h"
#include "archive/archive.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "command/command.h"
#include "config/config.h"
#include "engine/engine.h"
#include "jobs/job_record.h"

enum { COPY_SIZE = 1024 * 1024, BACKUPS_MAX = 100 * 1000 };

struct import {
    struct arena *arena;
    struct engine *engine;
    int from;       /* The folder that is imported. */
    int to;         /* "backups" of the data directory. */
    uint8_t *bytes; /* COPY_SIZE. */
    size_t imported, known, skipped;
};

static bool warn(const char *name, const char *why)
{
    fprintf(stderr, "stator: backup %s: %s\n", name, why);
    return false;
}

/* --- One file --- */

static bool copy_bytes(struct import *import, int from, int to)
{
    for (;;) {
        ssize_t size = read(from, import->bytes, COPY_SIZE);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return size == 0;
        if (!file_write(to, bytes_of(import->bytes, (size_t)size)))
            return false;
    }
}

struct copy {
    struct import *import;
    int to;
};

static bool copy_file(int folder, const char *name, void *context)
{
    const struct copy *copy = context;
    int from = file_open_at(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    int to =
        file_open_at(copy->to, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = from >= 0 && to >= 0 && copy_bytes(copy->import, from, to) && fsync(to) == 0;
    file_close(from);
    file_close(to);
    return ok;
}

static bool copy_files(struct import *import, int from, const char *name)
{
    struct copy copy = { .import = import };
    if (mkdirat(import->to, name, 0700) != 0 && errno != EEXIST)
        return false;
    copy.to = file_open_at(import->to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    bool ok = copy.to >= 0 && folder_visit(from, copy_file, &copy) && fsync(copy.to) == 0 &&
              fsync(import->to) == 0;
    file_close(copy.to);
    return ok;
}

/* --- One backup --- */

static bool read_manifest(struct import *import, int folder, struct bytes *out)
{
    struct stat status;
    int file = file_open_at(folder, "manifest.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0);
    bool ok = file >= 0 && fstat(file, &status) == 0 && status.st_size > 0 &&
              status.st_size <= ARCHIVE_MANIFEST_SIZE_MAX;
    if (ok) {
        uint8_t *bytes = arena_alloc(import->arena, (size_t)status.st_size);
        ssize_t size = read(file, bytes, (size_t)status.st_size);
        ok = size == (ssize_t)status.st_size;
        *out = bytes_of(bytes, ok ? (size_t)size : 0);
    }
    file_close(file);
    return ok;
}

static bool is_known(struct import *import, const char *name)
{
    struct job_record record;
    return job_record_load(import->engine, import->arena, JOB_BACKUP, bytes_from_text(name),
                           &record) == ENGINE_OK;
}

static bool store_record(struct import *import, struct bytes key, struct bytes stored)
{
    struct engine_write *write = NULL;
    const struct engine_address address = { .place = job_record_place, .key = key };
    if (engine_write_begin(import->engine, NULL, 0, &write) != ENGINE_OK)
        return false;
    engine_write_put(write, &address, stored);
    return engine_write_commit_wait(write) == ENGINE_OK;
}

/* Called for each name in the folder. False ends the import: the store or the disk failed. */
static bool import_backup(int folder, const char *name, void *context)
{
    struct import *import = context;
    struct bytes manifest, key, stored;
    if (!job_record_is_id(bytes_from_text(name)))
        return true;
    arena_reset(import->arena);
    int from = file_open_at(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    bool whole = from >= 0 && read_manifest(import, from, &manifest);
    if (!whole ||
        !table_manifest_read(import->arena, manifest, bytes_from_text(name), &key, &stored)) {
        warn(name, whole ? "its manifest is damaged" : "it has no manifest, so it is not complete");
        import->skipped++;
        file_close(from);
        return true;
    }
    if (is_known(import, name)) {
        import->known++;
        file_close(from);
        return true;
    }
    bool ok = copy_files(import, from, name) || warn(name, strerror(errno));
    ok = ok && (store_record(import, key, stored) || warn(name, "the store refuses its record"));
    import->imported += ok;
    file_close(from);
    return ok;
}

/* --- The command --- */

static struct engine *open_store(const struct config *config)
{
    const struct engine_options options = { .directory = config->data_dir,
                                            .durability = ENGINE_DURABILITY_SYNC,
                                            .block_cache_size = config->block_cache_size,
                                            .write_buffer_size = config->write_buffer_size };
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL)
        fprintf(stderr, "stator: %s\n", message);
    return engine;
}

static int run_import(struct import *import, const char *directory, const char *data_dir)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/backups", data_dir);
    import->from = file_open_at(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (import->from < 0)
        return command_fail(COMMAND_FAILED, directory, strerror(errno));
    if (!folder_create(path))
        return command_fail(COMMAND_FAILED, path, strerror(errno));
    import->to = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (import->to < 0)
        return command_fail(COMMAND_FAILED, path, strerror(errno));
    if (!folder_visit(import->from, import_backup, import))
        return COMMAND_FAILED; /* import_backup has said why. */
    printf("%zu backups imported, %zu known already, %zu not usable\n", import->imported,
           import->known, import->skipped);
    return import->skipped > 0 ? COMMAND_FAILED : command_flush();
}

int backups_command(const struct command_call *call)
{
    struct import import = { .from = -1, .to = -1 };
    import.engine = open_store(call->config);
    if (import.engine == NULL)
        return COMMAND_FAILED;
    import.arena = arena_create();
    import.bytes = memory_checked(malloc(COPY_SIZE));
    int code = run_import(&import, call->words[0], call->config->data_dir);
    file_close(import.from);
    file_close(import.to);
    free(import.bytes);
    arena_destroy(import.arena);
    engine_close(import.engine);
    return code;
}
