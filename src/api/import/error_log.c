/* error_log.c -- see error_log.h. */
#include "api/import/error_log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "base/memory.h"
#include "json/writer.h"

enum { PATH_SIZE_MAX = 4352, NAME_SIZE_MAX = 32, FILE_MODE = 0600, PIECE_SIZE = 256 * 1024 };

struct error_log {
    char folder[PATH_SIZE_MAX]; /* Of the job; "": there is no file. */
    char parent[PATH_SIZE_MAX];
    const char *name;
    int file; /* -1: not open. */
    uint64_t size;
    bool is_full; /* The last line says that there are more. */
    bool has_failed;
    struct arena *arena;
    struct buffer lines;
};

struct error_log *error_log_open(const char *folder, const char *id, const char *name,
                                 uint64_t size)
{
    struct error_log *log = memory_checked(calloc(1, sizeof *log));
    log->file = -1;
    log->name = name;
    log->size = size;
    log->is_full = size > ERROR_LOG_SIZE_MAX;
    log->arena = arena_create();
    buffer_init(&log->lines, log->arena);
    if (folder != NULL) {
        snprintf(log->parent, sizeof log->parent, "%s", folder);
        int length = snprintf(log->folder, sizeof log->folder, "%s/%s", folder, id);
        if (length < 0 || (size_t)length >= sizeof log->folder - NAME_SIZE_MAX)
            log->folder[0] = 0; /* No path of a data directory that could be opened is as long. */
    }
    return log;
}

void error_log_close(struct error_log *log)
{
    if (log == NULL)
        return;
    file_close(log->file);
    arena_destroy(log->arena);
    free(log);
}

uint64_t error_log_size(const struct error_log *log)
{
    return log->size;
}

bool error_log_is_full(const struct error_log *log)
{
    return log->lines.len >= ERROR_LOG_BUFFER_SIZE;
}

/* --- Lines --- */

static void write_item(struct json_writer *writer, const char *name, struct bytes json)
{
    if (json.data == NULL)
        return;
    json_write_name(writer, name);
    json_write_raw(writer, json);
}

static void write_line(struct buffer *out, const struct error_line *line)
{
    struct json_writer writer;
    json_writer_init(&writer, out);
    json_open_object(&writer);
    json_write_name(&writer, "itemS3Pointer");
    json_open_object(&writer);
    json_write_name(&writer, "bucket");
    json_write_string(&writer, line->bucket);
    json_write_name(&writer, "key");
    json_write_string(&writer, line->key);
    json_write_name(&writer, "itemIndex");
    json_write_integer(&writer, (int64_t)line->index);
    json_close_object(&writer);
    json_write_name(&writer, line->arn_name);
    json_write_string(&writer, line->arn);
    json_write_name(&writer, "errorMessages");
    json_open_array(&writer);
    json_write_string(&writer, line->message);
    json_close_array(&writer);
    write_item(&writer, "item", line->item_json);
    write_item(&writer, "existingItem", line->existing_json);
    json_close_object(&writer);
    buffer_append_byte(out, '\n');
}

void error_log_add(struct error_log *log, const struct error_line *line)
{
    if (log->folder[0] == 0 || log->is_full)
        return;
    if (log->size + log->lines.len < ERROR_LOG_SIZE_MAX) {
        write_line(&log->lines, line);
        return;
    }
    struct error_line last = *line;
    last.item_json = last.existing_json = (struct bytes){ 0 };
    last.message = BYTES("There are more errors, which are counted but not listed");
    write_line(&log->lines, &last);
    log->is_full = true;
}

/* --- The file --- */

static bool open_file(struct error_log *log)
{
    char path[PATH_SIZE_MAX + NAME_SIZE_MAX];
    if (log->file >= 0)
        return true;
    snprintf(path, sizeof path, "%s/%s", log->folder, log->name);
    if (!folder_create(log->parent) || !folder_create(log->folder))
        return false;
    log->file = file_open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
    return log->file >= 0 && ftruncate(log->file, (off_t)log->size) == 0;
}

void error_log_sync(struct error_log *log)
{
    if (log->lines.len == 0)
        return;
    struct bytes lines = buffer_bytes(&log->lines);
    bool ok = open_file(log) && file_write_at(log->file, lines, (int64_t)log->size) &&
              fsync(log->file) == 0;
    if (ok)
        log->size += lines.len;
    else if (!log->has_failed)
        log_write(LOG_ERROR, "import", "cannot write %s/%s: %s", log->folder, log->name,
                  strerror(errno));
    log->has_failed = log->has_failed || !ok;
    arena_reset(log->arena);
    buffer_init(&log->lines, log->arena);
}

bool error_log_read(const struct error_log *log, bool (*take)(void *context, struct bytes piece),
                    void *context)
{
    char path[PATH_SIZE_MAX + NAME_SIZE_MAX];
    if (log->folder[0] == 0 || log->size == 0)
        return true;
    snprintf(path, sizeof path, "%s/%s", log->folder, log->name);
    int file = file_open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return false;
    uint8_t *piece = memory_checked(malloc(PIECE_SIZE));
    bool ok = true;
    for (uint64_t at = 0; at < log->size && ok;) {
        size_t wanted = log->size - at < PIECE_SIZE ? (size_t)(log->size - at) : PIECE_SIZE;
        ssize_t got = pread(file, piece, wanted, (off_t)at);
        ok = got > 0 && take(context, bytes_of(piece, (size_t)got));
        at += ok ? (uint64_t)got : 0;
    }
    free(piece);
    file_close(file);
    return ok;
}

/* --- Files of jobs that are forgotten --- */

struct sweep {
    bool (*knows)(void *context, const char *id);
    void *context;
};

static bool sweep_one(int folder, const char *name, void *context)
{
    const struct sweep *sweep = context;
    char file[PATH_SIZE_MAX];
    if (strlen(name) > 64 || sweep->knows(sweep->context, name))
        return true;
    static const char *const names[] = { "error", "condition" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(file, sizeof file, "%s/%s", name, names[i]);
        (void)!unlinkat(folder, file, 0);
    }
    (void)!unlinkat(folder, name, AT_REMOVEDIR); /* Whatever else is in it is not ours. */
    return true;
}

void error_log_sweep(const char *folder, bool (*knows)(void *context, const char *id),
                     void *context)
{
    struct sweep sweep = { .knows = knows, .context = context };
    if (folder == NULL)
        return;
    int descriptor = file_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (descriptor < 0)
        return; /* No import ever had an error. */
    (void)!folder_visit(descriptor, sweep_one, &sweep);
    file_close(descriptor);
}
