/* config.c -- puts the sources of settings together, in order, and checks what ties them.
 *
 * The command line is split first, because it may name the file, and applied last, because it
 * overrides everything.
 */
#include "config/config.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "config/config_file.h"
#include "config/config_flags.h"
#include "config/setting.h"

struct reading {
    struct arena *arena;
    struct config *config;
    const char **origins; /* For each setting, who set it last. */
    struct config_error *err;
};

static bool set(struct reading *reading, const struct setting *setting, struct bytes value,
                const char *origin)
{
    reading->origins[setting - setting_table] = origin;
    return setting_parse(reading->arena, setting, value, origin, reading->config, reading->err);
}

static const char *origin_of(const struct reading *reading, const char *name)
{
    return reading->origins[setting_find(bytes_from_text(name)) - setting_table];
}

static bool apply_defaults(struct reading *reading)
{
    *reading->config = (struct config){ 0 };
    for (size_t i = 0; i < setting_count; i++) {
        const char *value = setting_table[i].default_value;
        if (value != NULL &&
            !set(reading, &setting_table[i], bytes_from_text(value), setting_table[i].name))
            return false;
    }
    return true;
}

static bool apply_file_text(struct reading *reading, const char *path, struct bytes text)
{
    struct arena *arena = reading->arena;
    struct config_error *err = reading->err;
    unsigned *lines = arena_alloc_zeroed(arena, sizeof lines[0] * setting_count);
    struct config_file file;
    struct bytes name, value;
    config_file_init(&file, text);
    for (;;) {
        enum config_file_status status = config_file_next(&file, &name, &value);
        unsigned line = file.line_number;
        if (status == CONFIG_FILE_END)
            return true;
        if (status == CONFIG_FILE_MALFORMED)
            return config_error_set(err, "%s:%u: not of the form `name = value`", path, line);
        const struct setting *setting = setting_find(name);
        if (setting == NULL || setting->outside_file)
            return config_error_set(
                err, "%s:%u: no setting is called '%.*s' in a file", path, line,
                (int)(name.len < SETTING_NAME_MAX ? name.len : SETTING_NAME_MAX),
                (const char *)name.data);
        size_t index = (size_t)(setting - setting_table);
        if (lines[index] != 0)
            return config_error_set(err, "%s:%u: %s was set on line %u already", path, line,
                                    setting->name, lines[index]);
        lines[index] = line;
        struct bytes origin = arena_printf(arena, "%s:%u: %s", path, line, setting->name);
        if (!set(reading, setting, value, (const char *)origin.data))
            return false;
    }
}

/* "data-dir" -> "STATOR_DATA_DIR" */
static const char *variable_name(struct arena *arena, const struct setting *setting)
{
    struct bytes name = arena_printf(arena, "STATOR_%s", setting->name);
    char *text = (char *)name.data;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '-')
            *c = '_';
        else if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return text;
}

/* The variable's value; NULL if it is not set. An empty one counts as not set: that is what compose
 * files make of a variable nobody gave. */
static const char *variable_value(const char *const *environment, const char *name)
{
    size_t size = strlen(name);
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, size) == 0 && (*environment)[size] == '=')
            return (*environment)[size + 1] == '\0' ? NULL : *environment + size + 1;
    return NULL;
}

static bool apply_environment(struct reading *reading, const char *const *environment)
{
    for (size_t i = 0; i < setting_count; i++) {
        const char *name = variable_name(reading->arena, &setting_table[i]);
        const char *value = variable_value(environment, name);
        if (value != NULL && !set(reading, &setting_table[i], bytes_from_text(value), name))
            return false;
    }
    return true;
}

static bool apply_flags(struct reading *reading, const struct config_flags *flags)
{
    for (size_t i = 0; i < flags->count; i++)
        if (!set(reading, flags->flags[i].setting, flags->flags[i].value, flags->flags[i].origin))
            return false;
    return true;
}

/* A service manager hands secrets over in files of its own. */
static void apply_credential(struct reading *reading, const char *const *environment)
{
    const char *directory = variable_value(environment, "CREDENTIALS_DIRECTORY");
    if (reading->config->master_key_file[0] != '\0' || directory == NULL)
        return;
    struct bytes path = arena_printf(reading->arena, "%s/" CONFIG_MASTER_KEY_CREDENTIAL, directory);
    reading->config->master_key_file = (const char *)path.data;
}

static bool check_tls(const struct reading *reading)
{
    const struct config *config = reading->config;
    bool has_cert = config->tls_cert_file[0] != '\0', has_key = config->tls_key_file[0] != '\0';
    if (has_cert != has_key)
        return config_error_set(reading->err, "%s: needs --tls-%s-file as well",
                                origin_of(reading, has_cert ? "tls-cert-file" : "tls-key-file"),
                                has_cert ? "key" : "cert");
    if (config->tls_client_ca_file[0] != '\0' && !has_cert)
        return config_error_set(reading->err, "%s: needs --tls-cert-file and --tls-key-file",
                                origin_of(reading, "tls-client-ca-file"));
    return true;
}

static bool check_bind(const struct reading *reading)
{
    const struct config *config = reading->config;
    bool has_tls = config->tls_cert_file[0] != '\0';
    if (config->insecure || (has_tls && config->auth) || setting_address_is_loopback(config->bind))
        return true;
    return config_error_set(reading->err,
                            "%s: other machines can reach %s; that takes %s%s%s, or --insecure",
                            origin_of(reading, "bind"), config->bind,
                            has_tls ? "" : "--tls-cert-file and --tls-key-file",
                            has_tls || config->auth ? "" : ", and ", config->auth ? "" : "--auth");
}

/* Rules that tie settings together. */
static bool check_together(const struct reading *reading, enum config_action action)
{
    const struct config *config = reading->config;
    if (action == CONFIG_CHECK || action == CONFIG_BACKUP || action == CONFIG_RESTORE)
        return !config->in_memory || /* They listen to nobody. */
               config_error_set(reading->err, "%s: there is no store in memory to %s",
                                origin_of(reading, "in-memory"),
                                action == CONFIG_CHECK    ? "check"
                                : action == CONFIG_BACKUP ? "back up"
                                                          : "restore");
    bool needs_key = config->auth || action == CONFIG_KEY || action == CONFIG_POLICY;
    if (needs_key && config->master_key_file[0] == '\0')
        return config_error_set(reading->err, "%s: needs --master-key-file",
                                config->auth ? origin_of(reading, "auth") : "access keys");
    if (action == CONFIG_KEY || action == CONFIG_POLICY)
        return true; /* They listen to nobody either. */
    /* DynamoDB Local refuses these two together. Of our own flags, --in-memory simply wins. */
    if (config->in_memory && strcmp(origin_of(reading, "in-memory"), "-inMemory") == 0 &&
        strcmp(origin_of(reading, "data-dir"), "-dbPath") == 0)
        return config_error_set(reading->err, "-inMemory and -dbPath exclude each other");
    return check_tls(reading) && check_bind(reading);
}

/* The file overrides the defaults and is overridden by the rest, so all is applied again. */
static bool apply_file(struct reading *reading, const struct config_input *input,
                       const struct config_flags *flags)
{
    const char *path = reading->config->config;
    const char *reason = NULL;
    struct bytes text;
    if (!input->read_file(input->context, reading->arena, path, &text, &reason))
        return config_error_set(reading->err, "%s: %s: %s", origin_of(reading, "config"), path,
                                reason);
    return apply_defaults(reading) && apply_file_text(reading, path, text) &&
           apply_environment(reading, input->environment) && apply_flags(reading, flags);
}

bool config_read(struct arena *arena, const struct config_input *input,
                 struct config_result *result, struct config_error *err)
{
    struct config_flags flags;
    if (!config_flags_parse(arena, input->argc, input->argv, &flags, err))
        return false;
    *result = (struct config_result){ .action = flags.action,
                                      .note = flags.note,
                                      .words = flags.words,
                                      .word_count = flags.word_count };
    if (flags.action == CONFIG_SHOW_HELP || flags.action == CONFIG_SHOW_VERSION)
        return true;

    struct reading reading = { .arena = arena, .config = &result->config, .err = err };
    reading.origins = arena_alloc_zeroed(arena, sizeof reading.origins[0] * setting_count);
    if (!apply_defaults(&reading) || !apply_environment(&reading, input->environment) ||
        !apply_flags(&reading, &flags))
        return false;
    if (result->config.config != NULL && !apply_file(&reading, input, &flags))
        return false;
    apply_credential(&reading, input->environment);
    return check_together(&reading, flags.action);
}

bool config_read_file(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason)
{
    (void)context;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        *reason = strerror(errno);
        return false;
    }
    uint8_t *data = arena_alloc(arena, CONFIG_FILE_SIZE_MAX + 1);
    size_t size = fread(data, 1, CONFIG_FILE_SIZE_MAX + 1, file);
    bool ok = false;
    if (ferror(file))
        *reason = strerror(errno);
    else if (size > CONFIG_FILE_SIZE_MAX)
        *reason = "too large for a file of settings";
    else
        ok = true;
    fclose(file);
    *text = bytes_of(data, size);
    return ok;
}

static void help_setting(struct arena *arena, const struct setting *setting, struct buffer *out)
{
    enum { HELP_COLUMN = 30 };
    struct bytes flag = setting->placeholder == NULL
                            ? arena_printf(arena, "--[no-]%s", setting->name)
                            : arena_printf(arena, "--%s %s", setting->name, setting->placeholder);
    struct bytes line =
        arena_printf(arena, "  %-*s %s", HELP_COLUMN, (const char *)flag.data, setting->help);
    buffer_append_bytes(out, line);
    if (setting->default_value != NULL && setting->kind != SETTING_FLAG)
        buffer_append_bytes(out, arena_printf(arena, " [%s]", setting->default_value));
    buffer_append_byte(out, '\n');
}

struct bytes config_help(struct arena *arena)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("Usage: stator [serve] [FLAGS]\n"
                                    "       stator check [DIR] [FLAGS]\n"
                                    "       stator backup DIR [FLAGS]\n"
                                    "       stator restore DIR [FLAGS]\n"
                                    "       stator key create USER | list [FLAGS]\n"
                                    "       stator key session ID SECONDS [FLAGS]\n"
                                    "       stator key disable|enable|delete ID [FLAGS]\n"
                                    "       stator policy put ID NAME FILE [FLAGS]\n"
                                    "       stator policy get|delete ID NAME [FLAGS]\n"
                                    "       stator trigger add|list|remove (see its --help)\n"
                                    "       stator cert self-signed (see its --help)\n"
                                    "\n"
                                    "A database that speaks DynamoDB's API. `check` looks at a\n"
                                    "store that no server has open, or at a backup, and names\n"
                                    "what is wrong. `backup` copies the store in --data-dir to\n"
                                    "DIR while a server goes on; `restore` makes an empty\n"
                                    "--data-dir of the copy.\n"
                                    "\n"));
    for (size_t i = 0; i < setting_count; i++)
        help_setting(arena, &setting_table[i], &out);
    buffer_append_bytes(
        &out,
        BYTES("  --print-config                 print the settings as a file, and end\n"
              "  --help, --version\n"
              "\n"
              "Each setting may also come from a variable (STATOR_DATA_DIR for data-dir) or from\n"
              "the file of --config. The command line overrides variables, and they the file.\n"
              "DynamoDB Local's flags are understood too: -port, -inMemory, -dbPath, -sharedDb,\n"
              "-cors, -delayTransientStatuses, -optimizeDbBeforeStartup, -disableTelemetry.\n"));
    return buffer_bytes(&out);
}

struct bytes config_print(struct arena *arena, const struct config *config)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        if (setting->outside_file)
            continue;
        buffer_append_bytes(&out, arena_printf(arena, "# %s\n%s = ", setting->help, setting->name));
        setting_format(setting, config, &out);
        buffer_append_byte(&out, '\n');
    }
    return buffer_bytes(&out);
}
