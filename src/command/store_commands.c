/* store_commands.c -- `stator check`, `backup` and `restore`: work on a store that no server owns.
 *
 * Each opens the store or the backup read-only first. That proves that it can be opened, and its
 * lock keeps others from changing it meanwhile.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "auth/key_file.h"
#include "backup/backup.h"
#include "backup/backup_service.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "check/check.h"
#include "command/command.h"
#include "command/table_backups.h"
#include "config/config.h"
#include "engine/engine.h"

enum {
    PROBLEM_LINES_MAX = 100, /* Further problems are only counted. */
    PROGRESS_INTERVAL_NS = 100 * 1000 * 1000,
};

#define CLEAR_LINE "\033[K" /* From the cursor on. */

static int fail(const char *message)
{
    fprintf(stderr, "stator: %s\n", message);
    return COMMAND_FAILED;
}

/* The store in `directory`, read-only and locked. NULL with one line on standard error if it cannot
 * be opened; `noun` is what that line calls it: "data directory", "backup". */
static struct engine *open_store(const struct config *config, const char *directory,
                                 const char *noun)
{
    static const char prefix[] = "cannot use data directory ";
    struct engine_options options = {
        .directory = directory,
        .read_only = true,
        .block_cache_size = config->block_cache_size,
        .write_buffer_size = config->write_buffer_size,
    };
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = engine_open(&options, message);
    if (engine == NULL && strncmp(message, prefix, sizeof prefix - 1) == 0)
        fprintf(stderr, "stator: cannot use %s %s\n", noun, message + sizeof prefix - 1);
    else if (engine == NULL)
        fprintf(stderr, "stator: %s\n", message);
    return engine;
}

/* --- Progress --- */

/* A line on standard error that is overwritten as work proceeds, if a terminal shows it. */
struct progress {
    const char *doing;      /* "copied", "compared" */
    bool is_shown;          /* Standard error is a terminal. */
    int64_t next_ns;        /* When to write again, by the monotonic clock. */
    uint64_t problem_count; /* For `check`, which passes one context to all callbacks. */
};

static struct progress progress_start(const char *doing)
{
    return (struct progress){ .doing = doing, .is_shown = isatty(STDERR_FILENO) == 1 };
}

static bool is_due(struct progress *progress)
{
    int64_t now_ns = (int64_t)clock_monotonic_ns();
    if (!progress->is_shown || now_ns < progress->next_ns)
        return false;
    progress->next_ns = now_ns + PROGRESS_INTERVAL_NS;
    return true;
}

static void show_files(void *context, uint64_t file_count, uint64_t file_total)
{
    struct progress *progress = context;
    if (is_due(progress))
        fprintf(stderr, "\r" CLEAR_LINE "%s %" PRIu64 " of %" PRIu64 " files", progress->doing,
                file_count, file_total);
}

static void show_entries(void *context, uint64_t read_count)
{
    struct progress *progress = context;
    if (is_due(progress))
        fprintf(stderr, "\r" CLEAR_LINE "checked %" PRIu64 " items and index entries", read_count);
}

/* Leaves the terminal as it was, for the lines that follow. */
static void progress_end(const struct progress *progress)
{
    if (progress->is_shown)
        fputs("\r" CLEAR_LINE, stderr);
}

/* --- check --- */

static void print_problem(void *context, const char *line)
{
    struct progress *progress = context;
    progress_end(progress);
    if (++progress->problem_count <= PROBLEM_LINES_MAX)
        puts(line);
}

static void print_count(uint64_t count, const char *one, const char *many)
{
    printf("%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_summary(const struct check_result *result)
{
    if (result->problem_count > PROBLEM_LINES_MAX)
        printf("... and %" PRIu64 " more\n", result->problem_count - PROBLEM_LINES_MAX);
    if (result->gave_up)
        puts("gave up: too much cannot be read; what follows is not all there is");
    print_count(result->table_count, "table, ", "tables, ");
    print_count(result->item_count, "item, ", "items, ");
    print_count(result->entry_count, "index entry: ", "index entries: ");
    if (result->problem_count == 0)
        printf("no problems\n");
    else
        print_count(result->problem_count, "problem\n", "problems\n");
}

/* Checks the access keys, which are not part of the store. False with one line on standard error if
 * the master key cannot be used. */
static bool check_keys(const struct config *config, struct progress *progress)
{
    struct key_file file = { 0 };
    char message[KEY_FILE_MESSAGE_MAX];
    bool has_master = config->master_key_file[0] != '\0';
    if (has_master &&
        !key_file_init(&file, config_keys_dir(config), config->master_key_file, message)) {
        fail(message);
        return false;
    }
    struct arena *arena = arena_create();
    if (!key_file_verify(arena, config_keys_dir(config), has_master ? &file : NULL, message))
        print_problem(progress, message);
    arena_destroy(arena);
    explicit_bzero(file.master, sizeof file.master);
    return true;
}

/* No problem of the store: the files may be in a bucket, or somewhere else. */
static void warn_of_missing_backups(const struct config *config, struct engine *engine)
{
    struct table_backups backups;
    if (config->backup_bucket[0] == '\0' &&
        table_backups_count(engine, config->data_dir, &backups) == ENGINE_OK &&
        backups.missing_count > 0)
        fprintf(
            stderr,
            "stator: backups of tables (%zu) are not in %s/backups, the first one is %s: unless "
            "they are in a bucket, copy that folder from where the store was\n",
            backups.missing_count, config->data_dir, backups.missing_id);
}

int check_command(const struct command_call *call)
{
    const struct config *config = call->config;
    struct progress progress = progress_start("compared");
    struct engine *engine = open_store(config, config->data_dir, "data directory");
    if (engine == NULL)
        return COMMAND_FAILED;
    if (!check_keys(config, &progress)) {
        engine_close(engine);
        return COMMAND_FAILED;
    }
    if (backup_exists(config->data_dir))
        backup_verify(config->data_dir, print_problem, show_files, &progress);
    uint64_t outside_store = progress.problem_count;
    struct check_result result =
        check_store_watched(engine, print_problem, show_entries, &progress);
    result.problem_count += outside_store;
    progress_end(&progress);
    warn_of_missing_backups(config, engine);
    engine_close(engine);
    print_summary(&result);
    int code = command_flush();
    return result.problem_count == 0 ? code : COMMAND_FAILED;
}

/* --- backup and restore --- */

static int print_result(const char *done, const struct backup_result *result, const char *target)
{
    printf("%s %" PRIu64 " files, %" PRIu64 " bytes, to %s\n", done, result->file_count,
           result->size, target);
    return command_flush();
}

static void warn_of_left_out_backups(const struct config *config, struct engine *engine)
{
    struct table_backups backups;
    if (table_backups_count(engine, config->data_dir, &backups) == ENGINE_OK &&
        backups.present_count > 0)
        fprintf(stderr,
                "stator: the backups of tables in %s/backups are not part of the copy: "
                "copy that folder too\n",
                config->data_dir);
}

/* Copies the store in `store`: a data directory without a server, or a server's checkpoint, which
 * exists as long as `connection` is open. */
static int copy_store(const struct config *config, const char *store,
                      const struct backup_connection *connection, const char *target)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    struct progress progress = progress_start("copied");
    struct backup_options options = { .store = store,
                                      .data_dir = config->data_dir,
                                      .version = STATOR_VERSION,
                                      .now_ms = clock_wall_ms(&clock_system),
                                      .progress = show_files,
                                      .context = &progress };
    struct engine *engine = open_store(config, store, "data directory");
    if (engine == NULL)
        return COMMAND_FAILED;
    bool ok = backup_make(&options, target, &result, message);
    progress_end(&progress);
    if (ok)
        warn_of_left_out_backups(config, engine);
    engine_close(engine);
    if (ok)
        return print_result("backed up", &result, target);
    if (connection->fd >= 0 && !backup_service_holds(connection))
        return fail("the server ended before its store was copied");
    return fail(message);
}

int backup_command(const struct command_call *call)
{
    const struct config *config = call->config;
    char message[BACKUP_MESSAGE_MAX];
    struct backup_connection connection;
    assert(call->word_count == 1);
    enum backup_service_answer answer = backup_service_ask(config->data_dir, &connection, message);
    if (answer == BACKUP_SERVICE_REFUSED)
        return fail(message);
    int code =
        copy_store(config, answer == BACKUP_SERVICE_READY ? connection.path : config->data_dir,
                   &connection, call->words[0]);
    file_close(connection.fd);
    return code;
}

int restore_command(const struct command_call *call)
{
    const struct config *config = call->config;
    const char *source = call->words[0];
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    assert(call->word_count == 1);
    struct engine *engine = open_store(config, source, "backup");
    if (engine == NULL)
        return COMMAND_FAILED;
    struct progress progress = progress_start("restored");
    bool ok = backup_restore(source, config->data_dir, show_files, &progress, &result, message);
    engine_close(engine);
    progress_end(&progress);
    return ok ? print_result("restored", &result, config->data_dir) : fail(message);
}
