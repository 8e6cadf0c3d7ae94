/* manual.c -- the manual pages and the document of the settings; see help.h.
 *
 * Texts of the tables use `backquotes` for literals: troff gets them in bold, Markdown as they are.
 */
#include <ctype.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "command/command.h"
#include "command/help.h"
#include "config/config.h"
#include "config/setting.h"

static void append(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

static void append_printf(struct buffer *out, const char *format, ...) PRINTF_LIKE(2, 3);
static void append_printf(struct buffer *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_append_bytes(out, arena_vprintf(out->arena, format, arguments));
    va_end(arguments);
}

/* Ends an unfinished sentence of a table: "address to listen on" -> "Address to listen on." */
static const char *sentence(struct arena *arena, const char *text)
{
    struct bytes copy = arena_printf(arena, "%s%s", text, text[strlen(text) - 1] == '.' ? "" : ".");
    char *first = (char *)copy.data;
    /* An acronym or a literal stays as it is. */
    if (islower((unsigned char)first[0]))
        first[0] = (char)toupper((unsigned char)first[0]);
    return first;
}

/* --- troff --- */

/* A hyphen in troff is not the ASCII character that readers copy; a leading dot or quote would be a
 * request. */
static void append_troff(struct buffer *out, const char *text)
{
    bool is_bold = false, at_start = true;
    for (const char *at = text; *at != '\0'; at++) {
        if (at_start && (*at == '.' || *at == '\''))
            append(out, "\\&");
        at_start = *at == '\n';
        if (*at == '`') {
            is_bold = !is_bold;
            append(out, is_bold ? "\\fB" : "\\fR");
        } else if (*at == '-') {
            append(out, "\\-");
        } else if (*at == '\\') {
            append(out, "\\e");
        } else {
            buffer_append_byte(out, (uint8_t)*at);
        }
    }
}

static void append_tagged(struct buffer *out, const char *tag, const char *text)
{
    append(out, ".TP\n.B ");
    append_troff(out, tag);
    append(out, "\n");
    append_troff(out, sentence(out->arena, text));
    append(out, "\n");
}

static const char *flag_text(struct arena *arena, const char *name, const char *placeholder)
{
    struct bytes text = placeholder == NULL ? arena_printf(arena, "--%s", name)
                                            : arena_printf(arena, "--%s %s", name, placeholder);
    return (const char *)text.data;
}

static void append_command(struct buffer *out, const struct command *command)
{
    append(out, ".SS stator ");
    append_troff(out, command->name);
    append(out, "\n");
    append_troff(out, command->description);
    for (size_t i = 0; i < command->verb_count; i++) {
        const struct command_verb *verb = &command->verbs[i];
        const char *usage = (const char *)help_usage(out->arena, command, verb).data;
        append_tagged(out, (const char *)arena_printf(out->arena, "stator %s", usage).data,
                      verb->help != NULL ? verb->help : command->purpose);
    }
    for (size_t i = 0; i < command->flag_count; i++) {
        const struct command_flag *flag = &command->flags[i];
        if (!flag->is_hidden)
            append_tagged(out, flag_text(out->arena, flag->name, flag->placeholder), flag->help);
    }
}

static const char *const exit_codes[][2] = {
    { "0", "Success; for `check`, no problems." },
    { "1", "The command failed, or `check` found problems. One line on standard error says why." },
    { "2", "The command line or the settings are invalid." },
};

void manual_write_command_page(struct buffer *out)
{
    append(out,
           ".TH STATOR 1 \"\" \"stator " STATOR_VERSION "\" \"User Commands\"\n"
           ".SH NAME\nstator \\- a database that speaks DynamoDB's API\n"
           ".SH SYNOPSIS\n.B stator\n[\\fICOMMAND\\fR] [\\fIFLAGS\\fR]\n"
           ".SH DESCRIPTION\n"
           "stator stores tables durably in one directory and serves Amazon DynamoDB's HTTP API,\n"
           "so that AWS's SDKs and command line work with it unchanged.\n"
           "Without a command it serves.\n"
           ".SH COMMANDS\n");
    for (size_t i = 0; i < command_count; i++)
        append_command(out, &command_table[i]);
    append(out, ".SH OPTIONS\n");
    append_tagged(out, "-h, --help", "print help for the command, or for the program");
    append_tagged(out, "-V, --version", "print the version");
    append_tagged(out, "--print-config", "print the settings as a file, and exit");
    append(out, ".PP\nCommands that work on a data directory also accept every setting of\n"
                ".BR stator.conf (5)\nas a flag, such as\n.BR \\-\\-data\\-dir .\n"
                ".SH EXIT STATUS\n");
    for (size_t i = 0; i < COUNT_OF(exit_codes); i++)
        append_tagged(out, exit_codes[i][0], exit_codes[i][1]);
    append(out,
           ".SH ENVIRONMENT\n"
           "Each setting has a variable: STATOR_DATA_DIR for data\\-dir, and so on.\n"
           ".B stator trigger\nreads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,\n"
           "AWS_REGION, AWS_DEFAULT_REGION and AWS_CA_BUNDLE, as AWS's tools do.\n"
           ".SH SEE ALSO\n.BR stator.conf (5)\n");
}

void manual_write_settings_page(struct buffer *out)
{
    append(out,
           ".TH STATOR.CONF 5 \"\" \"stator " STATOR_VERSION "\" \"File Formats\"\n"
           ".SH NAME\nstator.conf \\- settings of stator\n"
           ".SH DESCRIPTION\n"
           "The file that\n.B \\-\\-config\nor the variable STATOR_CONFIG names. Each line is\n"
           ".IR \"name \" = \" value\" ;\nempty lines and lines that begin with # are ignored.\n"
           "A setting may appear once. There is no default path.\n.PP\n"
           "Each setting is also a flag (\\-\\-data\\-dir DIR) and a variable (STATOR_DATA_DIR).\n"
           "Flags override variables, and variables override the file.\n"
           ".B stator \\-\\-print\\-config\nprints the settings in force as such a file.\n"
           ".SH SETTINGS\n");
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        if (setting->outside_file)
            continue;
        bool has_default = setting->default_value != NULL && setting->default_value[0] != '\0';
        struct bytes tag =
            arena_printf(out->arena, "%s = %s", setting->name,
                         setting->placeholder != NULL ? setting->placeholder : "true|false");
        append_tagged(out, (const char *)tag.data, setting->help);
        if (setting->detail != NULL) {
            append_troff(out, setting->detail);
            append(out, "\n");
        }
        if (has_default) {
            append(out, "Default: ");
            append_troff(out, setting->default_value);
            append(out, ".\n");
        }
    }
    append(out, ".SH SEE ALSO\n.BR stator (1)\n");
}

/* --- Markdown --- */

static void append_escaped_cell(struct buffer *out, const char *text)
{
    bool is_code = false;
    for (; *text != '\0'; text++) {
        is_code ^= *text == '`';
        if (*text == '|' || (*text == '*' && !is_code))
            buffer_append_byte(out, '\\');
        buffer_append_byte(out, (uint8_t)*text);
    }
}

void manual_write_markdown(struct buffer *out)
{
    append(
        out,
        "# Configuration\n"
        "\n"
        "<!-- Generated from the table of settings by `make documents`; do not edit. -->\n"
        "\n"
        "## Settings\n"
        "\n"
        "Each setting comes from one of four sources. Later ones override earlier ones:\n"
        "\n"
        "1. its default;\n"
        "2. a file, named by `--config FILE` or `STATOR_CONFIG`, with lines `name = value`;\n"
        "3. a variable: `STATOR_DATA_DIR` for `data-dir`; an empty one counts as not set;\n"
        "4. a flag: `--data-dir DIR` or `--data-dir=DIR`, `--auth` or `--no-auth`.\n"
        "\n"
        "`stator --print-config` prints the settings in force as such a file. Sizes are in bytes;\n"
        "`K`, `M` and `G` stand for powers of 1024.\n"
        "\n"
        "| setting | default | meaning |\n"
        "|---|---|---|\n");
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        const char *value = setting->default_value != NULL ? setting->default_value : "";
        if (setting->outside_file)
            continue;
        append_printf(out, "| `%s` | %s | ", setting->name, value);
        append_escaped_cell(out, sentence(out->arena, setting->help));
        if (setting->detail != NULL) {
            append(out, " ");
            append_escaped_cell(out, setting->detail);
        }
        append(out, " |\n");
    }
}
