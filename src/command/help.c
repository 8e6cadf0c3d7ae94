/* help.c -- what --help and `stator help` print; see help.h. */
#include "command/help.h"
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "command/command.h"
#include "config/setting.h"

enum { HELP_COLUMN = 31, NAME_COLUMN = 17, USAGE_COLUMN = 28 };

static void append(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

/* "  --port PORT    TCP port ..."; an empty `flag` continues the line before. */
static void append_row(struct buffer *out, int column, const char *name, const char *help)
{
    buffer_append_bytes(out, arena_printf(out->arena, "  %-*s %s\n", column, name, help));
}

static void append_setting(struct buffer *out, const struct setting *setting)
{
    struct arena *arena = out->arena;
    struct bytes flag = setting->placeholder == NULL
                            ? arena_printf(arena, "--[no-]%s", setting->name)
                            : arena_printf(arena, "--%s %s", setting->name, setting->placeholder);
    bool has_default = setting->default_value != NULL && setting->default_value[0] != '\0' &&
                       setting->kind != SETTING_FLAG;
    struct bytes help = has_default
                            ? arena_printf(arena, "%s [%s]", setting->help, setting->default_value)
                            : bytes_from_text(setting->help);
    append_row(out, HELP_COLUMN, (const char *)flag.data, (const char *)help.data);
}

static void append_flag(struct buffer *out, const struct command_flag *flag)
{
    if (flag->is_hidden)
        return;
    struct bytes name = flag->placeholder == NULL
                            ? arena_printf(out->arena, "--%s", flag->name)
                            : arena_printf(out->arena, "--%s %s", flag->name, flag->placeholder);
    append_row(out, HELP_COLUMN, (const char *)name.data, flag->help);
}

static void append_settings(struct buffer *out, const struct command *command)
{
    bool takes_all = strcmp(command->settings, "*") == 0;
    struct bytes list = arena_printf(out->arena, " %s ", command->settings);
    append(out, "\nSettings:\n");
    for (size_t i = 0; i < setting_count; i++) {
        struct bytes name = arena_printf(out->arena, " %s ", setting_table[i].name);
        if (takes_all || strstr((const char *)list.data, (const char *)name.data) != NULL)
            append_setting(out, &setting_table[i]);
    }
    append_row(out, HELP_COLUMN, "--print-config", "print the settings as a file, and exit");
    append(out, takes_all ? ""
                          : "\nAll settings of `stator serve` are accepted; the others have no "
                            "effect here.\n");
    append(out,
           "\nA setting also comes from a variable (STATOR_DATA_DIR for --data-dir) or from the "
           "file of\n--config. Flags override variables, and variables override the file.\n");
}

struct bytes help_usage(struct arena *arena, const struct command *command,
                        const struct command_verb *verb)
{
    struct buffer line;
    buffer_init(&line, arena);
    const char *const parts[] = { command->name, verb->name, verb->words, verb->flags };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i] == NULL || parts[i][0] == '\0')
            continue;
        append(&line, line.len > 0 ? " " : "");
        append(&line, parts[i]);
    }
    buffer_append_byte(&line, '\0');
    line.len--;
    return buffer_bytes(&line);
}

static void append_command(struct buffer *out, const struct command *command)
{
    for (size_t i = 0; i < command->verb_count; i++) {
        struct bytes line = help_usage(out->arena, command, &command->verbs[i]);
        append(out, i == 0 ? "Usage: stator " : "       stator ");
        buffer_append_bytes(out, line);
        append(out, "\n");
    }
    append(out, "\n");
    append(out, command->description);
    if (command->verbs[0].name != NULL) {
        append(out, "\n");
        for (size_t i = 0; i < command->verb_count; i++) {
            const struct command_verb *verb = &command->verbs[i];
            struct bytes name = verb->words == NULL
                                    ? bytes_from_text(verb->name)
                                    : arena_printf(out->arena, "%s %s", verb->name, verb->words);
            append_row(out, USAGE_COLUMN, (const char *)name.data, verb->help);
        }
    }
    if (command->flag_count > 0 && !command->flags[0].is_hidden) {
        append(out, "\nFlags:\n");
        for (size_t i = 0; i < command->flag_count; i++)
            append_flag(out, &command->flags[i]);
    }
    if (command->settings != NULL)
        append_settings(out, command);
}

static const char *const group_titles[COMMAND_GROUP_COUNT] = {
    [COMMAND_FOR_SERVER] = "Server",         [COMMAND_FOR_ACCESS] = "Access and TLS",
    [COMMAND_FOR_TABLES] = "Tables",         [COMMAND_FOR_RECOVERY] = "Recovery",
    [COMMAND_FOR_MONITORING] = "Monitoring",
};

static void append_group(struct buffer *out, enum command_group group)
{
    append(out, "\n");
    append(out, group_titles[group]);
    append(out, ":\n");
    for (size_t i = 0; i < command_count; i++)
        if (command_table[i].group == group)
            append_row(out, NAME_COLUMN, command_table[i].name, command_table[i].purpose);
}

static void append_overview(struct buffer *out)
{
    append(out, "Usage: stator [COMMAND] [FLAGS]\n"
                "\n"
                "A database that speaks DynamoDB's API.\n");
    for (enum command_group group = 0; group < COMMAND_GROUP_COUNT; group++)
        append_group(out, group);
    append(
        out,
        "\n"
        "`stator help COMMAND` or `stator COMMAND --help` explains a command; `stator help serve`\n"
        "lists the settings. -V or --version prints the version.\n");
}

struct bytes help_text(struct arena *arena, const struct command *command)
{
    struct buffer out;
    buffer_init(&out, arena);
    if (command == NULL)
        append_overview(&out);
    else
        append_command(&out, command);
    return buffer_bytes(&out);
}

static const struct {
    const char *name;
    void (*write)(struct buffer *out);
} formats[] = {
    { "man", manual_write_command_page },  { "man-conf", manual_write_settings_page },
    { "markdown", manual_write_markdown }, { "bash", completion_write_bash },
    { "zsh", completion_write_zsh },
};

int help_command(const struct command_call *call)
{
    const char *format = command_value_of(call, "format");
    const struct command *command = NULL;
    struct buffer out;
    buffer_init(&out, call->arena);
    if (call->word_count > 0) {
        command = command_find(call->words[0]);
        if (command == NULL)
            return command_fail(COMMAND_MISUSED, call->words[0], "no such command (see --help)");
    }
    if (format == NULL)
        buffer_append_bytes(&out, help_text(call->arena, command));
    for (size_t i = 0; format != NULL && i < COUNT_OF(formats); i++)
        if (strcmp(format, formats[i].name) == 0)
            formats[i].write(&out);
    if (out.len == 0)
        return command_fail(COMMAND_MISUSED, "--format", "no such format");
    fwrite(out.data, 1, out.len, stdout);
    return command_flush();
}
