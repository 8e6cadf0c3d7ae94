/* main.c -- the program: reads the settings, then serves, checks, copies or prints what was asked
 * for. The commands that ask a running server, or make a certificate, have flags of their own. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "command/backup_command.h"
#include "base/arena.h"
#include "base/log.h"
#include "command/cert_command.h"
#include "command/check_command.h"
#include "config/config.h"
#include "command/key_command.h"
#include "command/serve.h"
#include "command/trigger_command.h"

enum { EXIT_USAGE = 2 };

static int print(struct bytes text)
{
    return fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0 ? 0 : 1;
}

static int run(struct arena *arena, const struct config_result *result)
{
    switch (result->action) {
    case CONFIG_SHOW_HELP:
        return print(config_help(arena));
    case CONFIG_SHOW_VERSION:
        return print(BYTES("stator " STATOR_VERSION "\n"));
    case CONFIG_SHOW_SETTINGS:
        return print(config_print(arena, &result->config));
    case CONFIG_KEY:
    case CONFIG_POLICY:
    case CONFIG_CHECK:
    case CONFIG_BACKUP:
    case CONFIG_RESTORE:
    case CONFIG_SERVE:
        break;
    }
    log_set_level((enum log_level)result->config.log_level);
    if (result->note != NULL)
        log_write(LOG_INFO, "config", "%s", result->note);
    if (result->action == CONFIG_CHECK)
        return check_command(&result->config);
    if (result->action == CONFIG_BACKUP || result->action == CONFIG_RESTORE)
        return backup_command(result);
    if (result->action == CONFIG_KEY || result->action == CONFIG_POLICY)
        return key_command(arena, result);
    serve_block_signals();
    return serve(&result->config);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "trigger") == 0)
        return trigger_command(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "cert") == 0)
        return cert_command(argc - 2, argv + 2);
    struct arena *arena = arena_create();
    struct config_input input = { .argc = argc,
                                  .argv = argv,
                                  .environment = (const char *const *)environ,
                                  .read_file = config_read_file };
    struct config_result result;
    struct config_error err;
    int code = EXIT_USAGE;
    if (config_read(arena, &input, &result, &err))
        code = run(arena, &result);
    else
        fprintf(stderr, "stator: %s\n", err.text);
    arena_destroy(arena);
    return code;
}
