/* backups_command.c -- `stator backups import [DIR]`: makes the backups in a folder, or in the
 * bucket of the setting backup-bucket, known to a store that no server uses, such as a fresh one.
 *
 * A backup is a sub-folder with a manifest (archive/archive.h). Its files are copied next to those
 * that the store has, and its record is stored last, so that an interrupted import leaves at most
 * files that the next one overwrites. Those in the bucket stay where they are, and so do those in
 * the store's own folder: the server reads them there. Everything read is verified before it is
 * stored.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "api/table_manifest.h"
#include "archive/archive.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/memory.h"
#include "command/command.h"
#include "config/config.h"
#include "engine/engine.h"
#include "jobs/job_record.h"
#include "object/object_store.h"
#include "outbound/outbound.h"

enum { COPY_SIZE = 1024 * 1024 };

struct import {
    struct arena *arena;
    struct engine *engine;
    int from;       /* The folder that is imported. */
    int to;         /* "backups" of the data directory. */
    uint8_t *bytes; /* COPY_SIZE. */
    size_t imported, known, skipped;
};

/* O_NONBLOCK: opening a pipe must not wait for its writer. */
enum { READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

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

/* A file of that name is replaced, never written to: it may be a link to the one that is copied. */
static bool copy_file(int folder, const char *name, void *context)
{
    const struct copy *copy = context;
    struct stat state;
    int from = file_open_at(folder, name, READ_FLAGS, 0);
    bool ok = from >= 0 && fstat(from, &state) == 0;
    if (ok && !S_ISREG(state.st_mode)) {
        file_close(from);
        return true; /* No file of a backup. */
    }
    ok = ok && (unlinkat(copy->to, name, 0) == 0 || errno == ENOENT);
    int to = ok ? file_open_at(copy->to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    ok = to >= 0 && copy_bytes(copy->import, from, to) && fsync(to) == 0;
    file_close(from);
    file_close(to);
    return ok;
}

/* Of a file that is taken over where it lies: the record that names it will be durable. */
static bool sync_file(int folder, const char *name, void *context)
{
    (void)context;
    struct stat state;
    int file = file_open_at(folder, name, READ_FLAGS, 0);
    bool ok =
        file >= 0 && fstat(file, &state) == 0 && (!S_ISREG(state.st_mode) || fsync(file) == 0);
    file_close(file);
    return ok;
}

static bool is_same_folder(int one, int other)
{
    struct stat a, b;
    return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static bool copy_files(struct import *import, int from, const char *name)
{
    struct copy copy = { .import = import };
    if (mkdirat(import->to, name, 0700) != 0 && errno != EEXIST)
        return false;
    copy.to = file_open_at(import->to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    bool ok = copy.to >= 0 &&
              (is_same_folder(from, copy.to) ? folder_visit(from, sync_file, NULL)
                                             : folder_visit(from, copy_file, &copy)) &&
              fsync(copy.to) == 0 && fsync(import->to) == 0;
    file_close(copy.to);
    return ok;
}

/* --- One backup --- */

static bool read_manifest(struct import *import, int folder, struct bytes *out)
{
    struct stat status;
    int file = file_open_at(folder, "manifest.json", READ_FLAGS, 0);
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

/* Whether the backup is one to be taken over, with its record. Counts the others. `manifest` data
 * NULL: it has none. */
static bool is_wanted(struct import *import, const char *name, struct bytes manifest,
                      struct bytes *key, struct bytes *stored)
{
    const char *problem = manifest.data == NULL ? "it has no manifest, so it is not complete"
                                                : "its manifest is damaged";
    if (manifest.data == NULL ||
        !table_manifest_read(import->arena, manifest, bytes_from_text(name), key, stored)) {
        warn(name, problem);
        import->skipped++;
        return false;
    }
    bool known = is_known(import, name);
    import->known += known;
    return !known;
}

/* Called for each name in the folder. False ends the import: the store or the disk failed. */
static bool import_backup(int folder, const char *name, void *context)
{
    struct import *import = context;
    struct bytes manifest = { 0 }, key, stored;
    if (!job_record_is_id(bytes_from_text(name)))
        return true;
    arena_reset(import->arena);
    int from = file_open_at(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (from < 0 || !read_manifest(import, from, &manifest))
        manifest = (struct bytes){ 0 };
    if (!is_wanted(import, name, manifest, &key, &stored)) {
        file_close(from);
        return true;
    }
    bool ok = copy_files(import, from, name) || warn(name, strerror(errno));
    ok = ok && (store_record(import, key, stored) || warn(name, "the store refuses its record"));
    import->imported += ok;
    file_close(from);
    return ok;
}

/* --- The bucket of the setting backup-bucket --- */

/* The backup whose keys are being listed; "": none yet. */
struct listed {
    char id[JOB_ID_SIZE + 1];
    bool has_manifest;
};

/* All keys of a backup were listed. */
static void end_listed(struct import *import, const struct listed *listed)
{
    struct bytes key, stored;
    if (listed->id[0] != '\0' && !listed->has_manifest) {
        bool wanted = is_wanted(import, listed->id, (struct bytes){ 0 }, &key, &stored);
        assert(!wanted);
        (void)wanted;
    }
}

/* False if the bucket or the store failed. */
static bool take_over(struct import *import, struct object_bucket *bucket,
                      const struct object_entry *entry, const char *id, struct object_error *err)
{
    struct bytes manifest = BYTES(""), key, stored;
    size_t size = 0;
    arena_reset(import->arena);
    if (entry->size > 0 && entry->size <= ARCHIVE_MANIFEST_SIZE_MAX) {
        uint8_t *bytes = arena_alloc(import->arena, (size_t)entry->size);
        if (!object_read(bucket, entry->key, entry->etag, 0, bytes, (size_t)entry->size, &size,
                         err))
            return warn(id, err->text);
        manifest = bytes_of(bytes, size);
    }
    if (!is_wanted(import, id, manifest, &key, &stored))
        return true;
    bool ok = store_record(import, key, stored) || warn(id, "the store refuses its record");
    import->imported += ok;
    return ok;
}

/* "<prefix><id>/<name>". The keys of a backup follow each other. */
static bool import_object(struct import *import, struct object_bucket *bucket,
                          const struct object_entry *entry, struct listed *listed,
                          struct object_error *err)
{
    const size_t id_at = sizeof BACKUPS_BUCKET_PREFIX - 1, name_at = id_at + JOB_ID_SIZE + 1;
    if (entry->key.len <= name_at || entry->key.data[name_at - 1] != '/' ||
        !job_record_is_id(bytes_of(entry->key.data + id_at, JOB_ID_SIZE)))
        return true; /* Not ours. */
    if (memcmp(listed->id, entry->key.data + id_at, JOB_ID_SIZE) != 0) {
        end_listed(import, listed);
        *listed = (struct listed){ .has_manifest = false };
        memcpy(listed->id, entry->key.data + id_at, JOB_ID_SIZE);
    }
    struct bytes name = bytes_of(entry->key.data + name_at, entry->key.len - name_at);
    if (!bytes_equal_text(name, "manifest.json"))
        return true;
    listed->has_manifest = true;
    return take_over(import, bucket, entry, listed->id, err);
}

static bool import_objects(struct import *import, struct object_bucket *bucket)
{
    struct arena *arena = arena_create();
    struct listed listed = { .id = "" };
    struct object_page page = { .more = true };
    struct object_error err;
    char last[OBJECT_KEY_SIZE_MAX];
    struct bytes after = BYTES("");
    bool ok = true;
    while (ok && page.more) {
        arena_reset(arena);
        if (!object_list(bucket, arena, BYTES(BACKUPS_BUCKET_PREFIX), after, &page, &err)) {
            command_fail(COMMAND_FAILED, "the bucket of backups", err.text);
            ok = false;
            break;
        }
        for (size_t i = 0; ok && i < page.count; i++)
            ok = import_object(import, bucket, &page.entries[i], &listed, &err);
        if (page.count > 0) {
            struct bytes key = page.entries[page.count - 1].key;
            memcpy(last, key.data, key.len);
            after = bytes_of(last, key.len);
        }
    }
    if (ok)
        end_listed(import, &listed);
    arena_destroy(arena);
    return ok;
}

static int run_bucket(struct import *import, const struct config *config, struct outbound *network)
{
    const struct object_store_options options = {
        .folder = config->buckets,
        .endpoint = config->s3_endpoint,
        .region = config->s3_region[0] != '\0' ? config->s3_region : config->region,
        .key_file = config->s3_key_file,
        .account = config->account_id,
        .outbound = network,
        .clock = &clock_system,
        .retry_ms = (int64_t)config->s3_retry_ms,
    };
    const struct object_bucket_options bucket_options = { .name = bytes_from_text(
                                                              config->backup_bucket) };
    char message[OBJECT_MESSAGE_MAX];
    struct object_error err = { .text = "" };
    struct object_store *store = object_store_open(&options, message);
    if (store == NULL)
        return command_fail(COMMAND_FAILED, "backup-bucket", message);
    struct object_bucket *bucket = object_bucket_open(store, &bucket_options, &err);
    int code = COMMAND_FAILED;
    if (bucket == NULL)
        command_fail(code, config->backup_bucket, err.text);
    else if (import_objects(import, bucket))
        code = COMMAND_OK;
    object_bucket_close(bucket);
    object_store_close(store);
    return code;
}

static int import_from_bucket(struct import *import, const struct config *config)
{
    const struct outbound_options options = { .ca_file = config->outbound_ca_file,
                                              .proxy = config->outbound_proxy };
    char message[OUTBOUND_MESSAGE_MAX];
    signal(SIGPIPE, SIG_IGN); /* A closed connection is an error of write, not a signal. */
    struct outbound *network = outbound_open(&options, message);
    if (network == NULL)
        return command_fail(COMMAND_FAILED, "backup-bucket", message);
    int code = run_bucket(import, config, network);
    outbound_close(network);
    return code;
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

static int import_from_folder(struct import *import, const char *directory, const char *data_dir)
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
    return COMMAND_OK;
}

static int run_import(struct import *import, const struct command_call *call)
{
    int code = call->word_count > 0
                   ? import_from_folder(import, call->words[0], call->config->data_dir)
                   : import_from_bucket(import, call->config);
    if (code != COMMAND_OK)
        return code;
    printf("%zu backups imported, %zu known already, %zu not usable\n", import->imported,
           import->known, import->skipped);
    return import->skipped > 0 ? COMMAND_FAILED : command_flush();
}

/* A server with a bucket for backups looks for them there alone. */
static int check_source(const struct command_call *call)
{
    bool has_bucket = call->config->backup_bucket[0] != '\0';
    if (has_bucket && call->word_count > 0)
        return command_fail(COMMAND_MISUSED, call->words[0],
                            "the setting backup-bucket is set, so the server looks for backups in "
                            "that bucket: copy the folder there, below " BACKUPS_BUCKET_PREFIX
                            ", and leave it out here");
    if (!has_bucket && call->word_count == 0)
        return command_fail(COMMAND_MISUSED, "backups import",
                            "name a folder, or set backup-bucket");
    return COMMAND_OK;
}

int backups_command(const struct command_call *call)
{
    struct import import = { .from = -1, .to = -1 };
    int checked = check_source(call);
    if (checked != COMMAND_OK)
        return checked;
    import.engine = open_store(call->config);
    if (import.engine == NULL)
        return COMMAND_FAILED;
    import.arena = arena_create();
    import.bytes = memory_checked(malloc(COPY_SIZE));
    int code = run_import(&import, call);
    file_close(import.from);
    file_close(import.to);
    free(import.bytes);
    arena_destroy(import.arena);
    engine_close(import.engine);
    return code;
}
