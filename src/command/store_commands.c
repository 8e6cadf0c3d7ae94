/* store_commands.c -- `stator check`, `backup` and `restore`: work on a store that no server owns.
 *
 * Each opens the store or the backup read-only first. That proves that it can be opened, and its
 * lock keeps others from changing it meanwhile.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "auth/key_file.h"
#include "backup/backup.h"
#include "backup/backup_service.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "check/check.h"
#include "command/command.h"
#include "config/config.h"
#include "engine/engine.h"

enum { PROBLEM_LINES_MAX = 100 }; /* Further problems are only counted. */

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

/* --- check --- */

/* `context` counts the problems. */
static void print_problem(void *context, const char *line)
{
    uint64_t *count = context;
    if (++*count <= PROBLEM_LINES_MAX)
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
static bool check_keys(const struct config *config, uint64_t *problem_count)
{
    struct key_file file = { 0 };
    char message[KEY_FILE_MESSAGE_MAX];
    bool has_master = config->master_key_file[0] != '\0';
    if (has_master && !key_file_init(&file, config->data_dir, config->master_key_file, message)) {
        fail(message);
        return false;
    }
    struct arena *arena = arena_create();
    if (!key_file_verify(arena, config->data_dir, has_master ? &file : NULL, message))
        print_problem(problem_count, message);
    arena_destroy(arena);
    explicit_bzero(file.master, sizeof file.master);
    return true;
}

int check_command(const struct command_call *call)
{
    const struct config *config = call->config;
    uint64_t printed = 0;
    struct engine *engine = open_store(config, config->data_dir, "data directory");
    if (engine == NULL)
        return COMMAND_FAILED;
    if (!check_keys(config, &printed)) {
        engine_close(engine);
        return COMMAND_FAILED;
    }
    uint64_t outside_store = printed;
    if (backup_exists(config->data_dir))
        outside_store += backup_verify(config->data_dir, print_problem, &printed);
    struct check_result result = check_store(engine, print_problem, &printed);
    result.problem_count += outside_store;
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

/* Copies the store in `store`: a data directory without a server, or a server's checkpoint, which
 * exists as long as `connection` is open. */
static int copy_store(const struct config *config, const char *store,
                      const struct backup_connection *connection, const char *target)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    struct backup_options options = { .store = store,
                                      .data_dir = config->data_dir,
                                      .version = STATOR_VERSION,
                                      .now_ms = clock_wall_ms(&clock_system) };
    struct engine *engine = open_store(config, store, "data directory");
    if (engine == NULL)
        return COMMAND_FAILED;
    bool ok = backup_make(&options, target, &result, message);
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
    bool ok = backup_restore(source, config->data_dir, &result, message);
    engine_close(engine);
    return ok ? print_result("restored", &result, config->data_dir) : fail(message);
}
