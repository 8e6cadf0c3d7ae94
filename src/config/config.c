/* config.c -- applies the sources of settings in order and checks the rules across settings.
 *
 * A file is lines of `name = value`, with white space around both allowed; empty lines and lines
 * that begin with # are skipped. A # further on belongs to the value, because paths may contain it.
 */
#include "config/config.h"
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/spelling.h"
#include "config/setting.h"

#define VARIABLE_PREFIX "STATOR_"

/* --- Errors --- */

bool config_error_set(struct config_error *err, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    /* A value is quoted as it was given, and may hold a line end. */
    for (char *c = err->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            *c = '?';
    return false;
}

/* --- The lines of a file --- */

struct file_lines {
    struct bytes rest;
    unsigned line_number; /* Of the line read last; the first is 1. */
};

enum line_status {
    LINE_SETTING,
    LINE_END,
    LINE_MALFORMED, /* Neither a comment nor `name = value`. */
};

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r'; /* Files may come from Windows. */
}

static struct bytes trimmed(struct bytes text)
{
    while (text.len > 0 && is_blank(text.data[0]))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && is_blank(text.data[text.len - 1]))
        text.len--;
    return text;
}

static struct bytes next_line(struct file_lines *file)
{
    const uint8_t *start = file->rest.data;
    const uint8_t *end = memchr(start, '\n', file->rest.len);
    size_t size = end == NULL ? file->rest.len : (size_t)(end - start);
    size_t taken = end == NULL ? size : size + 1;
    file->rest = bytes_of(start + taken, file->rest.len - taken);
    file->line_number++;
    return trimmed(bytes_of(start, size));
}

/* The next setting; `name` and `value` are trimmed, and point into the text. */
static enum line_status next_setting(struct file_lines *file, struct bytes *name,
                                     struct bytes *value)
{
    while (file->rest.len > 0) {
        struct bytes line = next_line(file);
        if (line.len == 0 || line.data[0] == '#')
            continue;
        const uint8_t *equals = memchr(line.data, '=', line.len);
        if (equals == NULL || equals == line.data)
            return LINE_MALFORMED;
        size_t name_size = (size_t)(equals - line.data);
        *name = trimmed(bytes_of(line.data, name_size));
        *value = trimmed(bytes_of(equals + 1, line.len - name_size - 1));
        return LINE_SETTING;
    }
    return LINE_END;
}

/* --- Sources --- */

struct reading {
    struct arena *arena;
    struct config *config;
    const char **origins; /* For each setting, where its present value came from. */
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
    struct file_lines file = { .rest = text };
    struct bytes name, value;
    for (;;) {
        enum line_status status = next_setting(&file, &name, &value);
        unsigned line = file.line_number;
        if (status == LINE_END)
            return true;
        if (status == LINE_MALFORMED)
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

const char *config_variable_name(struct arena *arena, const struct setting *setting)
{
    struct bytes name = arena_printf(arena, VARIABLE_PREFIX "%s", setting->name);
    char *text = (char *)name.data;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '-')
            *c = '_';
        else if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
    return text;
}

/* The variable's value; NULL if it is not set. An empty value counts as not set, because compose
 * files pass a variable that nobody set as an empty one. So does one that Kubernetes sets: for a
 * service `stator`, every container gets STATOR_PORT=tcp://10.0.0.1:8000. */
static const char *variable_value(const char *const *environment, const char *name)
{
    static const char kubernetes[] = "tcp://";
    size_t size = strlen(name);
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, name, size) != 0 || (*environment)[size] != '=')
            continue;
        const char *value = *environment + size + 1;
        bool is_address = strcmp(name, VARIABLE_PREFIX "PORT") == 0 &&
                          strncmp(value, kubernetes, sizeof kubernetes - 1) == 0;
        return value[0] == '\0' || is_address ? NULL : value;
    }
    return NULL;
}

static bool apply_environment(struct reading *reading, const char *const *environment)
{
    for (size_t i = 0; i < setting_count; i++) {
        const char *name = config_variable_name(reading->arena, &setting_table[i]);
        const char *value = variable_value(environment, name);
        if (value != NULL && !set(reading, &setting_table[i], bytes_from_text(value), name))
            return false;
    }
    return true;
}

static bool apply_flags(struct reading *reading, const struct config_input *input)
{
    for (size_t i = 0; i < input->flag_count; i++) {
        const struct config_flag *flag = &input->flags[i];
        assert(flag->setting != NULL && flag->origin != NULL);
        if (!set(reading, flag->setting, flag->value, flag->origin))
            return false;
    }
    return true;
}

/* systemd passes secrets in files below $CREDENTIALS_DIRECTORY. */
static void apply_credential(struct reading *reading, const char *const *environment)
{
    const char *directory = variable_value(environment, "CREDENTIALS_DIRECTORY");
    if (reading->config->master_key_file[0] != '\0' || directory == NULL)
        return;
    struct bytes path = arena_printf(reading->arena, "%s/" CONFIG_MASTER_KEY_CREDENTIAL, directory);
    reading->config->master_key_file = (const char *)path.data;
}

/* --- Misspelt variables --- */

/* The variable that `name`, without the prefix, was probably meant to be; NULL: none. */
static const char *similar_variable(struct arena *arena, struct bytes name)
{
    struct spelling spelling = spelling_of(name);
    for (size_t i = 0; i < setting_count; i++) {
        const char *known = config_variable_name(arena, &setting_table[i]);
        spelling_try(&spelling, known + sizeof VARIABLE_PREFIX - 1);
    }
    return spelling.meant;
}

static struct bytes in_capitals(struct arena *arena, struct bytes text)
{
    uint8_t *copy = arena_alloc(arena, text.len + 1);
    for (size_t i = 0; i < text.len; i++) {
        bool is_small = text.data[i] >= 'a' && text.data[i] <= 'z';
        copy[i] = is_small ? (uint8_t)(text.data[i] - 'a' + 'A') : text.data[i];
    }
    return bytes_of(copy, text.len);
}

static bool is_variable(struct arena *arena, struct bytes name)
{
    for (size_t i = 0; i < setting_count; i++)
        if (bytes_equal_text(name, config_variable_name(arena, &setting_table[i])))
            return true;
    return false;
}

/* Refuses a variable that is nearly one of ours, or one in small letters, since its value would
 * silently have no effect. Other names with our prefix are not ours: Kubernetes sets
 * STATOR_SERVICE_HOST for a service `stator`. */
static bool check_variable_names(struct arena *arena, const char *const *environment,
                                 struct config_error *err)
{
    for (; *environment != NULL; environment++) {
        struct bytes name = bytes_of(*environment, strcspn(*environment, "="));
        struct bytes prefix = BYTES(VARIABLE_PREFIX);
        bool is_set = (*environment)[name.len] != '\0' && (*environment)[name.len + 1] != '\0';
        if (!is_set || is_variable(arena, name))
            continue;
        struct bytes capitals = in_capitals(arena, name);
        if (!bytes_starts_with(capitals, prefix))
            continue;
        struct bytes tail = bytes_of(capitals.data + prefix.len, capitals.len - prefix.len);
        const char *meant = similar_variable(arena, tail);
        if (meant != NULL)
            return config_error_set(err,
                                    "%.*s: no such variable; did you mean " VARIABLE_PREFIX "%s?",
                                    BYTES_FMT(name), meant);
    }
    return true;
}

/* --- Rules --- */

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
                            "%s: other machines can reach %s, which requires %s%s%s, or --insecure",
                            origin_of(reading, "bind"), config->bind,
                            has_tls ? "" : "--tls-cert-file and --tls-key-file",
                            has_tls || config->auth ? "" : ", and ", config->auth ? "" : "--auth");
}

/* Rules that tie settings together. */
static bool check_together(const struct reading *reading, const struct config_input *input)
{
    const struct config *config = reading->config;
    if (input->needs_disk != NULL && config->in_memory)
        return config_error_set(reading->err, "%s: there is no store in memory to %s",
                                origin_of(reading, "in-memory"), input->needs_disk);
    bool needs_key = input->needs_master_key || (input->listens && config->auth);
    if (needs_key && config->master_key_file[0] == '\0')
        return config_error_set(reading->err, "%s: needs --master-key-file",
                                config->auth ? origin_of(reading, "auth") : "access keys");
    if (!input->listens)
        return true;
    /* DynamoDB Local refuses these two together. Of our own flags, --in-memory simply wins. */
    if (config->in_memory && strcmp(origin_of(reading, "in-memory"), "-inMemory") == 0 &&
        strcmp(origin_of(reading, "data-dir"), "-dbPath") == 0)
        return config_error_set(reading->err, "-inMemory and -dbPath exclude each other");
    return check_tls(reading) && check_bind(reading);
}

/* The file overrides the defaults, and the other sources override the file; so after reading it,
 * all of them are applied once more. */
static bool apply_file(struct reading *reading, const struct config_input *input)
{
    const char *path = reading->config->config;
    const char *reason = NULL;
    struct bytes text;
    if (!input->read_file(input->context, reading->arena, path, &text, &reason))
        return config_error_set(reading->err, "%s: %s: %s", origin_of(reading, "config"), path,
                                reason);
    return apply_defaults(reading) && apply_file_text(reading, path, text) &&
           apply_environment(reading, input->environment) && apply_flags(reading, input);
}

bool config_read(struct arena *arena, const struct config_input *input, struct config *config,
                 struct config_error *err)
{
    assert(input->environment != NULL && input->read_file != NULL);
    struct reading reading = { .arena = arena, .config = config, .err = err };
    reading.origins = arena_alloc_zeroed(arena, sizeof reading.origins[0] * setting_count);
    if (!check_variable_names(arena, input->environment, err) || !apply_defaults(&reading) ||
        !apply_environment(&reading, input->environment) || !apply_flags(&reading, input))
        return false;
    if (config->config != NULL && !apply_file(&reading, input))
        return false;
    apply_credential(&reading, input->environment);
    return check_together(&reading, input);
}

bool config_shows_console(const struct config *config)
{
    return config->console == CONFIG_CONSOLE_ON ||
           (config->console == CONFIG_CONSOLE_AUTO && setting_address_is_loopback(config->bind));
}

const char *config_keys_dir(const struct config *config)
{
    return config->keys_dir[0] != '\0' ? config->keys_dir : config->data_dir;
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
