/* key_command.c -- see key_command.h. */
#include "command/key_command.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "auth/key_file.h"
#include "auth/key_ring.h"
#include "auth/policy.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "config/config.h"
#include "model/error.h"

enum { EXIT_FAILED = 1, EXIT_MISUSED = 2, WORDS_MAX = 4, SECONDS_DIGITS_MAX = 9 };

struct command {
    struct arena *arena;
    struct bytes words[WORDS_MAX]; /* Behind the verb. */
    struct key_ring ring;
    int64_t now_ms;
    struct buffer out; /* Printed once the change is on disk. */
    struct error err;
};

static void say(struct command *command, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(struct command *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_append_bytes(&command->out, arena_vprintf(command->arena, format, arguments));
    va_end(arguments);
}

static bool say_key(struct command *command, const struct access_key *key, struct bytes token)
{
    if (key == NULL)
        return false;
    say(command, "AWS_ACCESS_KEY_ID=%.*s\nAWS_SECRET_ACCESS_KEY=%.*s\n", BYTES_FMT(key->id),
        BYTES_FMT(key->secret));
    if (token.data != NULL)
        say(command, "AWS_SESSION_TOKEN=%.*s\n", BYTES_FMT(token));
    return true;
}

static bool create_key(struct command *command)
{
    const struct access_key *key = key_edit_create(
        command->arena, &command->ring, command->words[0], command->now_ms, &command->err);
    return say_key(command, key, (struct bytes){ 0 });
}

static bool parse_seconds(struct bytes text, int64_t *out)
{
    *out = 0;
    if (text.len == 0 || text.len > SECONDS_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *out = *out * 10 + (text.data[i] - '0');
    }
    return true;
}

static bool create_session(struct command *command)
{
    int64_t seconds;
    struct bytes token = { 0 };
    if (!parse_seconds(command->words[1], &seconds))
        return error_validation(&command->err, "'%.*s' is no number of seconds",
                                BYTES_FMT(command->words[1]));
    const struct access_key *key =
        key_edit_create_session(command->arena, &command->ring, command->words[0], seconds,
                                command->now_ms, &token, &command->err);
    return say_key(command, key, token);
}

static void say_time(struct command *command, int64_t time_ms)
{
    char text[CLOCK_TEXT_SIZE];
    clock_format_utc(time_ms, text);
    say(command, "%s", text);
}

/* One line for each key: id, user, state, when it was made, its policies. */
static bool list_keys(struct command *command)
{
    for (size_t i = 0; i < command->ring.count; i++) {
        const struct access_key *key = &command->ring.keys[i];
        say(command, "%.*s %.*s %s ", BYTES_FMT(key->id), BYTES_FMT(key->user),
            key->disabled ? "disabled" : "active");
        say_time(command, key->created_ms);
        if (key->parent.data != NULL) {
            say(command, " of %.*s until ", BYTES_FMT(key->parent));
            say_time(command, key->expires_ms);
        }
        for (size_t j = 0; j < key->policy_count; j++)
            say(command, " %.*s", BYTES_FMT(key->policies[j].name));
        say(command, "\n");
    }
    return true;
}

static bool disable_key(struct command *command)
{
    return key_edit_disable(&command->ring, command->words[0], true, &command->err);
}

static bool enable_key(struct command *command)
{
    return key_edit_disable(&command->ring, command->words[0], false, &command->err);
}

static bool delete_key(struct command *command)
{
    return key_edit_delete(&command->ring, command->words[0], &command->err);
}

/* A file's text, or what comes in. One that is too long is cut, and then refused by its size. */
static bool read_text(struct command *command, const char *path, struct bytes *out)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    if (file == NULL)
        return error_validation(&command->err, "%s: cannot be opened", path);
    uint8_t *text = arena_alloc(command->arena, POLICY_SIZE_MAX + 1);
    size_t size = fread(text, 1, POLICY_SIZE_MAX + 1, file);
    bool failed = ferror(file) != 0;
    if (!is_input)
        fclose(file);
    *out = bytes_of(text, size);
    return !failed || error_validation(&command->err, "%s: cannot be read", path);
}

static bool put_policy(struct command *command)
{
    struct bytes text;
    return read_text(command, (const char *)command->words[2].data, &text) &&
           key_edit_put_policy(command->arena, &command->ring, command->words[0], command->words[1],
                               text, &command->err);
}

static bool get_policy(struct command *command)
{
    const struct key_policy *policy =
        key_edit_find_policy(&command->ring, command->words[0], command->words[1], &command->err);
    if (policy != NULL)
        buffer_append_bytes(&command->out, policy->text);
    return policy != NULL;
}

static bool delete_policy(struct command *command)
{
    return key_edit_delete_policy(&command->ring, command->words[0], command->words[1],
                                  &command->err);
}

static const struct verb {
    enum config_action action;
    const char *name;
    size_t word_count;
    bool changes;
    bool (*run)(struct command *command);
} verbs[] = {
    { CONFIG_KEY, "create", 1, true, create_key },
    { CONFIG_KEY, "session", 2, true, create_session },
    { CONFIG_KEY, "list", 0, false, list_keys },
    { CONFIG_KEY, "disable", 1, true, disable_key },
    { CONFIG_KEY, "enable", 1, true, enable_key },
    { CONFIG_KEY, "delete", 1, true, delete_key },
    { CONFIG_POLICY, "put", 3, true, put_policy },
    { CONFIG_POLICY, "get", 2, false, get_policy },
    { CONFIG_POLICY, "delete", 2, true, delete_policy },
};

static const struct verb *find_verb(const struct config_result *request)
{
    for (size_t i = 0; request->word_count > 0 && i < COUNT_OF(verbs); i++)
        if (verbs[i].action == request->action && strcmp(verbs[i].name, request->words[0]) == 0 &&
            verbs[i].word_count == request->word_count - 1)
            return &verbs[i];
    return NULL;
}

/* Reads, changes and writes the keys, with the lock held. */
static bool run(const struct verb *verb, struct command *command, const struct key_file *file,
                char message[KEY_FILE_MESSAGE_MAX])
{
    struct stat state;
    if (!key_file_read(command->arena, file, &command->ring, &state, message))
        return false;
    if (verb->changes)
        key_edit_drop_expired(&command->ring, command->now_ms);
    if (!verb->run(command)) {
        snprintf(message, KEY_FILE_MESSAGE_MAX, "%.*s", BYTES_FMT(command->err.message));
        return false;
    }
    return !verb->changes || key_file_write(command->arena, file, &command->ring, message);
}

int key_command(struct arena *arena, const struct config_result *request)
{
    struct command command = { .arena = arena, .now_ms = clock_wall_ms(&clock_system) };
    struct key_file file;
    char message[KEY_FILE_MESSAGE_MAX] = "";
    const struct verb *verb = find_verb(request);
    if (verb == NULL) {
        fprintf(stderr, "stator: no such command (see --help)\n");
        return EXIT_MISUSED;
    }
    error_init(&command.err, arena);
    buffer_init(&command.out, arena);
    for (size_t i = 0; i < verb->word_count; i++)
        command.words[i] = bytes_from_text(request->words[i + 1]);
    bool ok =
        key_file_init(&file, request->config.data_dir, request->config.master_key_file, message);
    int lock = ok ? key_file_lock(&file, message) : -1;
    ok = lock >= 0 && run(verb, &command, &file, message);
    if (lock >= 0)
        key_file_unlock(lock);
    explicit_bzero(file.master, sizeof file.master);
    struct bytes text = buffer_bytes(&command.out);
    if (ok && fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0)
        return 0;
    fprintf(stderr, "stator: %s\n", ok ? "the output cannot be written" : message);
    return EXIT_FAILED;
}
