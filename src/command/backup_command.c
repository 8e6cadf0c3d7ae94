/* backup_command.c -- see backup_command.h.
 *
 * Whatever is copied is open for reading meanwhile: so it is a store that can be opened, and its
 * lock keeps others from changing it.
 */
#include "command/backup_command.h"
#include <inttypes.h>
#include <stdio.h>
#include "backup/backup.h"
#include "backup/backup_service.h"
#include "base/clock.h"
#include "base/file.h"
#include "config/config.h"
#include "engine/engine.h"
#include "command/open_store.h"

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

static int fail(const char *message)
{
    fprintf(stderr, "stator: %s\n", message);
    return EXIT_FAILED;
}

static int print_result(const char *done, const struct backup_result *result, const char *target)
{
    printf("%s %" PRIu64 " files, %" PRIu64 " bytes, to %s\n", done, result->file_count,
           result->size, target);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : EXIT_FAILED;
}

/* Copies the store in `store`: the data directory of no server, or a server's checkpoint; then
 * `connection` holds it. */
static int make(const struct config *config, const char *store,
                const struct backup_connection *connection, const char *target)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    struct backup_options options = { .store = store,
                                      .data_dir = config->data_dir,
                                      .version = STATOR_VERSION,
                                      .now_ms = clock_wall_ms(&clock_system) };
    struct engine *engine = open_store(config, store);
    if (engine == NULL)
        return EXIT_FAILED;
    bool ok = backup_make(&options, target, &result, message);
    engine_close(engine);
    if (ok)
        return print_result("backed up", &result, target);
    if (connection->fd >= 0 && !backup_service_holds(connection))
        return fail("the server ended before its store was copied");
    return fail(message);
}

static int back_up(const struct config *config, const char *target)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_connection connection;
    enum backup_service_answer answer = backup_service_ask(config->data_dir, &connection, message);
    if (answer == BACKUP_SERVICE_REFUSED)
        return fail(message);
    int code = make(config, answer == BACKUP_SERVICE_READY ? connection.path : config->data_dir,
                    &connection, target);
    file_close(connection.fd);
    return code;
}

static int restore(const struct config *config, const char *source)
{
    char message[BACKUP_MESSAGE_MAX];
    struct backup_result result;
    struct engine *engine = open_store(config, source);
    if (engine == NULL)
        return EXIT_FAILED;
    bool ok = backup_restore(source, config->data_dir, &result, message);
    engine_close(engine);
    return ok ? print_result("restored", &result, config->data_dir) : fail(message);
}

int backup_command(const struct config_result *result)
{
    bool restores = result->action == CONFIG_RESTORE;
    if (result->word_count != 1 || result->words[0][0] == '\0') {
        fprintf(stderr, "stator: %s: needs one directory (see --help)\n",
                restores ? "restore" : "backup");
        return EXIT_USAGE;
    }
    return restores ? restore(&result->config, result->words[0])
                    : back_up(&result->config, result->words[0]);
}
