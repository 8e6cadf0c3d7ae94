/* check_command.c -- see check_command.h. */
#include "command/check_command.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "auth/key_file.h"
#include "backup/backup.h"
#include "base/arena.h"
#include "check/check.h"
#include "config/config.h"
#include "engine/engine.h"
#include "command/open_store.h"

/* `context` counts the problems. */
static void print_problem(void *context, const char *line)
{
    uint64_t *count = context;
    if (++*count <= CHECK_COMMAND_LINES_MAX)
        puts(line);
}

static void print_count(uint64_t count, const char *one, const char *many)
{
    printf("%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void print_summary(const struct check_result *result)
{
    if (result->problem_count > CHECK_COMMAND_LINES_MAX)
        printf("... and %" PRIu64 " more\n", result->problem_count - CHECK_COMMAND_LINES_MAX);
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

/* The access keys, which are no part of the store. False with one line on standard error if the
 * master key cannot be used. */
static bool check_keys(const struct config *config, uint64_t *printed)
{
    struct key_file file = { 0 };
    char message[KEY_FILE_MESSAGE_MAX];
    bool has_master = config->master_key_file[0] != '\0';
    if (has_master && !key_file_init(&file, config->data_dir, config->master_key_file, message)) {
        fprintf(stderr, "stator: %s\n", message);
        return false;
    }
    struct arena *arena = arena_create();
    if (!key_file_verify(arena, config->data_dir, has_master ? &file : NULL, message))
        print_problem(printed, message);
    arena_destroy(arena);
    explicit_bzero(file.master, sizeof file.master);
    return true;
}

int check_command(const struct config *config)
{
    uint64_t printed = 0, damaged = 0;
    struct engine *engine = open_store(config, config->data_dir);
    if (engine == NULL)
        return 1;
    if (!check_keys(config, &printed)) {
        engine_close(engine);
        return 1;
    }
    damaged = printed;
    if (backup_exists(config->data_dir))
        damaged += backup_verify(config->data_dir, print_problem, &printed);
    struct check_result result = check_store(engine, print_problem, &printed);
    result.problem_count += damaged;
    engine_close(engine);
    print_summary(&result);
    bool told = fflush(stdout) == 0 && !ferror(stdout);
    return result.problem_count == 0 && told ? 0 : 1;
}
