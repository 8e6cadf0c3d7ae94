/* config_flags.c -- see config_flags.h. Values are checked later, with those of other sources. */
#include "config/config_flags.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "config/setting.h"

/* How long -delayTransientStatuses makes each status last: enough for a client to see it. */
#define TRANSIENT_DELAY_MS "2000"

/* DynamoDB Local's flags. One with a `setting` takes its value from the next word, or is given
 * `value`; one without has no effect, because of `reason`. */
static const struct local_flag {
    const char *name;
    const char *setting;
    const char *value;
    const char *reason;
} local_flags[] = {
    { "-port", "port", NULL, NULL },
    { "-inMemory", "in-memory", "true", NULL },
    { "-dbPath", "data-dir", NULL, NULL },
    { "-cors", "cors-origins", NULL, NULL },
    { "-delayTransientStatuses", "transition-delay-ms", TRANSIENT_DELAY_MS, NULL },
    { "-sharedDb", NULL, NULL, "there is one set of tables for all regions and credentials" },
    { "-optimizeDbBeforeStartup", NULL, NULL, "the store keeps itself in order" },
    { "-disableTelemetry", NULL, NULL, "nothing is ever reported to anyone" },
};

static const struct {
    const char *name;
    enum config_action action;
} action_flags[] = {
    { "--help", CONFIG_SHOW_HELP },      { "-help", CONFIG_SHOW_HELP },
    { "-h", CONFIG_SHOW_HELP },          { "--version", CONFIG_SHOW_VERSION },
    { "-version", CONFIG_SHOW_VERSION }, { "--print-config", CONFIG_SHOW_SETTINGS },
};

struct scan {
    struct arena *arena;
    char *const *argv;
    int argc;
    int next; /* Index of the next word. */
    struct buffer note;
    const char *directory; /* The word that names what to check. */
    struct config_flags *out;
    struct config_error *err;
};

static void add(struct scan *scan, const struct setting *setting, struct bytes value,
                const char *origin)
{
    assert(setting != NULL);
    scan->out->flags[scan->out->count++] =
        (struct config_flag){ .setting = setting, .value = value, .origin = origin };
}

/* The word behind a flag as its value, whatever it looks like. */
static bool take_value(struct scan *scan, const char *flag, struct bytes *value)
{
    if (scan->next == scan->argc)
        return config_error_set(scan->err, "%.80s: needs a value behind it", flag);
    *value = bytes_from_text(scan->argv[scan->next++]);
    return true;
}

static bool is_action(struct scan *scan, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(action_flags); i++) {
        if (strcmp(word, action_flags[i].name) == 0) {
            scan->out->action = action_flags[i].action;
            return true;
        }
    }
    return false;
}

static bool parse_long(struct scan *scan, const char *word)
{
    struct bytes name = bytes_from_text(word + 2);
    struct bytes value = { 0 };
    const char *equals = strchr(word, '=');
    if (equals != NULL) {
        name.len = (size_t)(equals - (word + 2));
        value = bytes_from_text(equals + 1);
    }
    const char *origin = (const char *)arena_printf(scan->arena, "--%.*s", BYTES_FMT(name)).data;
    const struct setting *setting = setting_find(name);
    if (setting == NULL && bytes_starts_with(name, BYTES("no-"))) {
        setting = setting_find(bytes_of(name.data + 3, name.len - 3));
        if (setting != NULL && setting->kind == SETTING_FLAG) {
            if (equals != NULL)
                return config_error_set(scan->err, "%.80s: takes no value", origin);
            add(scan, setting, BYTES("false"), origin);
            return true;
        }
        setting = NULL;
    }
    if (setting == NULL)
        return config_error_set(scan->err, "%.80s: no such flag (see --help)", origin);
    if (equals == NULL && setting->kind == SETTING_FLAG)
        value = BYTES("true");
    else if (equals == NULL && !take_value(scan, origin, &value))
        return false;
    add(scan, setting, value, origin);
    return true;
}

static bool parse_local(struct scan *scan, const char *word)
{
    for (size_t i = 0; i < COUNT_OF(local_flags); i++) {
        const struct local_flag *flag = &local_flags[i];
        if (strcmp(word, flag->name) != 0)
            continue;
        if (flag->setting == NULL) {
            struct bytes text =
                arena_printf(scan->arena, "%s%s (%s)",
                             scan->note.len == 0 ? "flags without effect here: " : ", ", flag->name,
                             flag->reason);
            buffer_append_bytes(&scan->note, text);
            return true;
        }
        struct bytes value = bytes_from_text(flag->value == NULL ? "" : flag->value);
        if (flag->value == NULL && !take_value(scan, word, &value))
            return false;
        add(scan, setting_find(bytes_from_text(flag->setting)), value, flag->name);
        return true;
    }
    return config_error_set(scan->err, "%.80s: no such flag (see --help)", word);
}

static const struct {
    const char *name;
    enum config_action action;
} commands[] = { { "serve", CONFIG_SERVE },   { "check", CONFIG_CHECK },
                 { "backup", CONFIG_BACKUP }, { "restore", CONFIG_RESTORE },
                 { "key", CONFIG_KEY },       { "policy", CONFIG_POLICY } };

/* The first word, if it is a command. */
static void take_command(struct scan *scan)
{
    for (size_t i = 0; scan->next < scan->argc && i < COUNT_OF(commands); i++) {
        if (strcmp(scan->argv[scan->next], commands[i].name) == 0) {
            scan->out->action = commands[i].action;
            scan->next++;
            return;
        }
    }
}

/* There a lone - stands for standard input. */
static bool takes_words(enum config_action action)
{
    return action == CONFIG_KEY || action == CONFIG_POLICY || action == CONFIG_BACKUP ||
           action == CONFIG_RESTORE;
}

/* A word that is no flag: what to do with keys and policies, where a backup is; or the directory to
 * check, once. */
static bool parse_word(struct scan *scan, const char *word)
{
    if (takes_words(scan->out->action)) {
        scan->out->words[scan->out->word_count++] = word;
        return true;
    }
    if (scan->out->action != CONFIG_CHECK)
        return config_error_set(scan->err, "'%.80s': no such command (see --help)", word);
    if (scan->directory != NULL)
        return config_error_set(scan->err, "'%.80s': one directory is checked at a time", word);
    scan->directory = word;
    add(scan, setting_find(BYTES("data-dir")), bytes_from_text(word), "check");
    return true;
}

/* `-Djava.library.path=... -jar DynamoDBLocal.jar` in front. */
static void skip_leading_words(struct scan *scan)
{
    while (scan->next < scan->argc) {
        const char *word = scan->argv[scan->next];
        if (strncmp(word, "-D", 2) == 0)
            scan->next++;
        else if (strcmp(word, "-jar") == 0 && scan->next + 1 < scan->argc)
            scan->next += 2;
        else
            break;
    }
}

bool config_flags_parse(struct arena *arena, int argc, char *const *argv, struct config_flags *out,
                        struct config_error *err)
{
    *out = (struct config_flags){ .action = CONFIG_SERVE };
    if (argc > CONFIG_FLAGS_MAX)
        return config_error_set(err, "more than %d words on the command line", CONFIG_FLAGS_MAX);
    out->flags = arena_alloc(arena, sizeof out->flags[0] * CONFIG_FLAGS_MAX);
    out->words = arena_alloc(arena, sizeof out->words[0] * CONFIG_FLAGS_MAX);
    struct scan scan = {
        .arena = arena, .argv = argv, .argc = argc, .next = 1, .out = out, .err = err
    };
    buffer_init(&scan.note, arena);
    skip_leading_words(&scan);
    take_command(&scan);
    while (scan.next < argc) {
        const char *word = argv[scan.next++];
        if (is_action(&scan, word)) {
            if (out->action == CONFIG_SHOW_HELP || out->action == CONFIG_SHOW_VERSION)
                return true; /* Whoever asks for help gets it, whatever else is there. */
        } else if (strncmp(word, "--", 2) == 0) {
            if (!parse_long(&scan, word))
                return false;
        } else if (word[0] == '-' && (word[1] != '\0' || !takes_words(out->action))) {
            if (!parse_local(&scan, word))
                return false;
        } else if (!parse_word(&scan, word)) {
            return false;
        }
    }
    if (scan.note.len > 0) {
        buffer_append_byte(&scan.note, '\0');
        out->note = (const char *)scan.note.data;
    }
    return true;
}
