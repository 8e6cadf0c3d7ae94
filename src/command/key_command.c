/* key_command.c -- `stator key` and `stator policy`: access keys and their policies.
 *
 * Works on the file of keys, which a running server follows: so the commands need no server, and a
 * server needs no restart.
 */
#include <assert.h>
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
#include "command/command.h"
#include "config/config.h"
#include "model/error.h"

enum { WORDS_MAX = 3, SECONDS_DIGITS_MAX = 9 };

struct edit {
    struct arena *arena;
    struct bytes words[WORDS_MAX]; /* Of the command line, behind the verb. */
    struct bytes text;             /* Of the policy to put. */
    struct key_ring ring;
    int64_t now_ms;
    struct buffer out; /* Printed once the change is on disk. */
    struct error err;
};

static void say(struct edit *edit, const char *format, ...) PRINTF_LIKE(2, 3);
static void say(struct edit *edit, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_append_bytes(&edit->out, arena_vprintf(edit->arena, format, arguments));
    va_end(arguments);
}

static bool say_key(struct edit *edit, const struct access_key *key, struct bytes token)
{
    if (key == NULL)
        return false;
    say(edit, "AWS_ACCESS_KEY_ID=%.*s\nAWS_SECRET_ACCESS_KEY=%.*s\n", BYTES_FMT(key->id),
        BYTES_FMT(key->secret));
    if (token.data != NULL)
        say(edit, "AWS_SESSION_TOKEN=%.*s\n", BYTES_FMT(token));
    return true;
}

static bool create_key(struct edit *edit)
{
    const struct access_key *key =
        key_edit_create(edit->arena, &edit->ring, edit->words[0], edit->now_ms, &edit->err);
    return say_key(edit, key, (struct bytes){ 0 });
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

static bool create_session(struct edit *edit)
{
    int64_t seconds;
    struct bytes token = { 0 };
    if (!parse_seconds(edit->words[1], &seconds))
        return error_validation(&edit->err, "'%.*s' is no number of seconds",
                                BYTES_FMT(edit->words[1]));
    const struct access_key *key = key_edit_create_session(
        edit->arena, &edit->ring, edit->words[0], seconds, edit->now_ms, &token, &edit->err);
    return say_key(edit, key, token);
}

static void say_time(struct edit *edit, int64_t time_ms)
{
    char text[CLOCK_TEXT_SIZE];
    clock_format_utc(time_ms, text);
    say(edit, "%s", text);
}

/* One line for each key: id, user, state, when it was made, its policies. */
static bool list_keys(struct edit *edit)
{
    for (size_t i = 0; i < edit->ring.count; i++) {
        const struct access_key *key = &edit->ring.keys[i];
        say(edit, "%.*s %.*s %s ", BYTES_FMT(key->id), BYTES_FMT(key->user),
            key->disabled ? "disabled" : "active");
        say_time(edit, key->created_ms);
        if (key->parent.data != NULL) {
            say(edit, " of %.*s until ", BYTES_FMT(key->parent));
            say_time(edit, key->expires_ms);
        }
        for (size_t j = 0; j < key->policy_count; j++)
            say(edit, " %.*s", BYTES_FMT(key->policies[j].name));
        say(edit, "\n");
    }
    return true;
}

static bool disable_key(struct edit *edit)
{
    return key_edit_disable(&edit->ring, edit->words[0], true, &edit->err);
}

static bool enable_key(struct edit *edit)
{
    return key_edit_disable(&edit->ring, edit->words[0], false, &edit->err);
}

static bool delete_key(struct edit *edit)
{
    return key_edit_delete(&edit->ring, edit->words[0], &edit->err);
}

/* Reads a file, or standard input for "-". A text that is too long is truncated to one byte more
 * than allowed, so that its size is refused later. */
static bool read_text(struct edit *edit, const char *path, struct bytes *out)
{
    bool is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    if (file == NULL)
        return error_validation(&edit->err, "%s: cannot be opened", path);
    uint8_t *text = arena_alloc(edit->arena, POLICY_SIZE_MAX + 1);
    size_t size = fread(text, 1, POLICY_SIZE_MAX + 1, file);
    bool failed = ferror(file) != 0;
    if (!is_input)
        fclose(file);
    *out = bytes_of(text, size);
    return !failed || error_validation(&edit->err, "%s: cannot be read", path);
}

static bool put_policy(struct edit *edit)
{
    return key_edit_put_policy(edit->arena, &edit->ring, edit->words[0], edit->words[1], edit->text,
                               &edit->err);
}

/* One line for each policy of the key. */
static bool list_policies(struct edit *edit)
{
    const struct access_key *key = key_edit_find(&edit->ring, edit->words[0], &edit->err);
    for (size_t i = 0; key != NULL && i < key->policy_count; i++)
        say(edit, "%.*s\n", BYTES_FMT(key->policies[i].name));
    return key != NULL;
}

static bool get_policy(struct edit *edit)
{
    const struct key_policy *policy =
        key_edit_find_policy(&edit->ring, edit->words[0], edit->words[1], &edit->err);
    if (policy != NULL)
        buffer_append_bytes(&edit->out, policy->text);
    return policy != NULL;
}

static bool delete_policy(struct edit *edit)
{
    return key_edit_delete_policy(&edit->ring, edit->words[0], edit->words[1], &edit->err);
}

/* By the command's and the verb's name in command_table.c. */
static const struct action {
    const char *command;
    const char *verb;
    bool changes;
    bool (*run)(struct edit *edit);
} actions[] = {
    { "key", "create", true, create_key },      { "key", "session", true, create_session },
    { "key", "list", false, list_keys },        { "key", "disable", true, disable_key },
    { "key", "enable", true, enable_key },      { "key", "delete", true, delete_key },
    { "policy", "put", true, put_policy },      { "policy", "get", false, get_policy },
    { "policy", "list", false, list_policies }, { "policy", "delete", true, delete_policy },
};

static const struct action *find_action(const struct command_call *call)
{
    for (size_t i = 0; i < COUNT_OF(actions); i++)
        if (strcmp(actions[i].command, call->command->name) == 0 &&
            strcmp(actions[i].verb, call->verb->name) == 0)
            return &actions[i];
    return NULL;
}

static bool refuse(const struct edit *edit, char message[KEY_FILE_MESSAGE_MAX])
{
    snprintf(message, KEY_FILE_MESSAGE_MAX, "%.*s", BYTES_FMT(edit->err.message));
    return false;
}

/* Before the lock is taken: standard input may keep us waiting, and a server must not wait too. */
static bool read_policy(const struct action *action, struct edit *edit,
                        char message[KEY_FILE_MESSAGE_MAX])
{
    return action->run != put_policy ||
           read_text(edit, (const char *)edit->words[2].data, &edit->text) || refuse(edit, message);
}

/* Reads, changes and writes the keys, with the lock held. */
static bool run(const struct action *action, struct edit *edit, const struct key_file *file,
                char message[KEY_FILE_MESSAGE_MAX])
{
    struct stat state;
    if (!key_file_read(edit->arena, file, &edit->ring, &state, message))
        return false;
    if (action->changes)
        key_edit_drop_expired(&edit->ring, edit->now_ms);
    if (!action->run(edit))
        return refuse(edit, message);
    return !action->changes || key_file_write(edit->arena, file, &edit->ring, message);
}

int key_command(const struct command_call *call)
{
    struct edit edit = { .arena = call->arena, .now_ms = clock_wall_ms(&clock_system) };
    struct key_file file;
    char message[KEY_FILE_MESSAGE_MAX] = "";
    const struct action *action = find_action(call);
    assert(action != NULL && call->word_count <= WORDS_MAX);
    error_init(&edit.err, call->arena);
    buffer_init(&edit.out, call->arena);
    for (size_t i = 0; i < call->word_count; i++)
        edit.words[i] = bytes_from_text(call->words[i]);
    bool ok =
        key_file_init(&file, config_keys_dir(call->config), call->config->master_key_file, message);
    ok = ok && read_policy(action, &edit, message);
    int lock = ok ? key_file_lock(&file, message) : -1;
    ok = lock >= 0 && run(action, &edit, &file, message);
    if (lock >= 0)
        key_file_unlock(lock);
    explicit_bzero(file.master, sizeof file.master);
    if (!ok) {
        fprintf(stderr, "stator: %s\n", message);
        return COMMAND_FAILED;
    }
    struct bytes text = buffer_bytes(&edit.out);
    fwrite(text.data, 1, text.len, stdout);
    return command_flush();
}
