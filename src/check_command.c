/* check_command.c -- see check_command.h. */
#include "check_command.h"
#include <inttypes.h>
#include <stdio.h>
#include "backup/backup.h"
#include "check/check.h"
#include "config/config.h"
#include "engine/engine.h"
#include "open_store.h"

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

int check_command(const struct config *config)
{
    struct engine *engine = open_store(config, config->data_dir);
    if (engine == NULL)
        return 1;
    uint64_t printed = 0, damaged = 0;
    if (backup_exists(config->data_dir))
        damaged = backup_verify(config->data_dir, print_problem, &printed);
    struct check_result result = check_store(engine, print_problem, &printed);
    result.problem_count += damaged;
    engine_close(engine);
    print_summary(&result);
    bool told = fflush(stdout) == 0 && !ferror(stdout);
    return result.problem_count == 0 && told ? 0 : 1;
}
