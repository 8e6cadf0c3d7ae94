/* main.c -- the program: parses the command line, reads the settings, runs the command. */
#include <stdio.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/log.h"
#include "command/command.h"
#include "command/command_line.h"
#include "command/help.h"
#include "config/config.h"

static int print(struct bytes text)
{
    fwrite(text.data, 1, text.len, stdout);
    return command_flush();
}

static int misused(const struct config_error *err)
{
    fprintf(stderr, "stator: %s\n", err->text);
    return COMMAND_MISUSED;
}

static int run(struct arena *arena, struct command_line *line)
{
    const struct command *command = line->call.command;
    struct config config;
    struct config_error err;
    struct config_input input = { .flags = line->settings,
                                  .flag_count = line->setting_count,
                                  .environment = (const char *const *)environ,
                                  .read_file = config_read_file,
                                  .listens = command->listens,
                                  .needs_master_key = command->needs_master_key,
                                  .needs_disk = command->needs_disk };
    if (command->settings != NULL) {
        if (!config_read(arena, &input, &config, &err))
            return misused(&err);
        if (line->request == COMMAND_LINE_SETTINGS)
            return print(config_print(arena, &config));
        line->call.config = &config;
        log_set_level((enum log_level)config.log_level);
    }
    if (line->note != NULL)
        log_write(LOG_INFO, "config", "%s", line->note);
    return command->run(&line->call);
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct command_line line;
    struct config_error err;
    int code;
    if (!command_line_parse(arena, argc, argv, &line, &err))
        code = misused(&err);
    else if (line.request == COMMAND_LINE_HELP)
        code = print(help_text(arena, line.is_named ? line.call.command : NULL));
    else if (line.request == COMMAND_LINE_VERSION)
        code = version_command(&line.call);
    else
        code = run(arena, &line);
    arena_destroy(arena);
    return code;
}
