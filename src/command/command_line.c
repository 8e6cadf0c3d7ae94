/* command_line.c -- see command_line.h. Values of settings are checked later, by config/. */
#include "command/command_line.h"
#include <assert.h>
#include <getopt.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/spelling.h"
#include "config/setting.h"

/* How long -delayTransientStatuses makes each status last: enough for a client to see it. */
#define TRANSIENT_DELAY_MS "2000"

/* DynamoDB Local's flags. One with a `setting` is followed by its value, unless `value` has it. One
 * with a `reason` is accepted and has no effect. */
static const struct local_flag {
    const char *name; /* With its one dash. */
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
    { "-help", NULL, NULL, NULL },
    { "-version", NULL, NULL, NULL },
};

/* What an option of getopt stands for. */
enum meaning { MEANS_SETTING, MEANS_NO_SETTING, MEANS_FLAG, MEANS_LOCAL, MEANS_REQUEST };
struct target {
    enum meaning meaning;
    const struct setting *setting;
    const struct command_flag *flag;
    const struct local_flag *local;
    enum command_line_request request;
};

enum { TARGETS_MAX = 256, TARGET_BASE = 1000 /* Above every character. */ };

struct scan {
    struct arena *arena;
    int argc;
    char *const *argv;
    struct option options[TARGETS_MAX + 1]; /* All zero behind the last. */
    struct target targets[TARGETS_MAX];
    size_t target_count;
    struct buffer note;
    bool is_local; /* A line for DynamoDB Local. */
    bool shares;   /* It has -sharedDb. */
    struct config_flag *settings;
    struct command_value *values;
    const char **words; /* The verb and the words behind it. */
    size_t word_count;
    struct command_line *out;
    struct config_error *err;
};

/* --- Options --- */

static void add_option(struct scan *scan, const char *name, int argument, struct target target)
{
    assert(scan->target_count < TARGETS_MAX);
    scan->targets[scan->target_count] = target;
    scan->options[scan->target_count] = (struct option){
        .name = name, .has_arg = argument, .val = TARGET_BASE + (int)scan->target_count
    };
    scan->target_count++;
}

static void add_settings(struct scan *scan)
{
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        bool is_flag = setting->kind == SETTING_FLAG;
        add_option(scan, setting->name, is_flag ? optional_argument : required_argument,
                   (struct target){ .meaning = MEANS_SETTING, .setting = setting });
        if (is_flag)
            add_option(scan, (const char *)arena_printf(scan->arena, "no-%s", setting->name).data,
                       no_argument,
                       (struct target){ .meaning = MEANS_NO_SETTING, .setting = setting });
    }
    add_option(scan, "print-config", no_argument,
               (struct target){ .meaning = MEANS_REQUEST, .request = COMMAND_LINE_SETTINGS });
}

/* A name that ours share (`-port`, `--port`) is found as ours; the dashes tell them apart. */
static void add_local_flags(struct scan *scan)
{
    for (size_t i = 0; i < COUNT_OF(local_flags); i++) {
        const struct local_flag *flag = &local_flags[i];
        bool takes_value = flag->setting != NULL && flag->value == NULL;
        add_option(scan, flag->name + 1, takes_value ? required_argument : no_argument,
                   (struct target){ .meaning = MEANS_LOCAL, .local = flag });
    }
}

static bool takes_settings(const struct command *command)
{
    return command->settings != NULL;
}

/* DynamoDB Local has no commands: its flags are those of its server. */
static bool takes_local_flags(const struct command *command)
{
    return takes_settings(command) && strcmp(command->settings, "*") == 0;
}

static void add_options(struct scan *scan)
{
    const struct command *command = scan->out->call.command;
    add_option(scan, "help", no_argument,
               (struct target){ .meaning = MEANS_REQUEST, .request = COMMAND_LINE_HELP });
    add_option(scan, "version", no_argument,
               (struct target){ .meaning = MEANS_REQUEST, .request = COMMAND_LINE_VERSION });
    for (size_t i = 0; i < command->flag_count; i++)
        add_option(scan, command->flags[i].name,
                   command->flags[i].kind == COMMAND_FLAG_PRESENCE ? no_argument
                                                                   : required_argument,
                   (struct target){ .meaning = MEANS_FLAG, .flag = &command->flags[i] });
    if (takes_settings(command))
        add_settings(scan);
    if (takes_local_flags(command))
        add_local_flags(scan);
}

/* --- One option --- */

/* "see --help", or "see `stator key --help`" if the command was named. */
static const char *hint(const struct scan *scan)
{
    if (!scan->out->is_named)
        return "see --help";
    const char *name = scan->out->call.command->name;
    return (const char *)arena_printf(scan->arena, "see `stator %s --help`", name).data;
}

/* The flag without "=value". */
static const char *flag_name(const struct scan *scan, const char *word)
{
    return (const char *)arena_printf(scan->arena, "%.*s", (int)strcspn(word, "="), word).data;
}

static bool refuse_flag(const struct scan *scan, const char *word)
{
    const char *written = flag_name(scan, word);
    size_t dashes = strspn(written, "-");
    struct spelling spelling = spelling_of(bytes_from_text(written + dashes));
    for (size_t i = 0; i < scan->target_count; i++)
        if (scan->targets[i].meaning != MEANS_LOCAL)
            spelling_try(&spelling, scan->options[i].name);
    if (spelling.meant != NULL)
        return config_error_set(scan->err, "%.80s: no such flag; did you mean --%s? (%s)", written,
                                spelling.meant, hint(scan));
    return config_error_set(scan->err, "%.80s: no such flag (%s)", written, hint(scan));
}

static void add_setting(struct scan *scan, const struct setting *setting, const char *value,
                        const char *origin)
{
    assert(setting != NULL && scan->out->setting_count < COMMAND_LINE_WORDS_MAX);
    scan->settings[scan->out->setting_count++] = (struct config_flag){
        .setting = setting, .value = bytes_from_text(value), .origin = origin
    };
}

/* The line is written for DynamoDB Local, and so may be the health check beside it. A --root-answer
 * further on has the last word. */
static void be_local(struct scan *scan, const char *origin)
{
    if (scan->is_local)
        return;
    scan->is_local = true;
    add_setting(scan, setting_find(BYTES("root-answer")), "dynamodb-local", origin);
}

static bool take_local(struct scan *scan, const struct local_flag *flag)
{
    be_local(scan, flag->name);
    scan->shares = scan->shares || strcmp(flag->name, "-sharedDb") == 0;
    if (flag->reason != NULL) {
        struct bytes text = arena_printf(scan->arena, "%s%s (%s)",
                                         scan->note.len == 0 ? "flags without effect here: " : ", ",
                                         flag->name, flag->reason);
        buffer_append_bytes(&scan->note, text);
    } else if (flag->setting != NULL) {
        add_setting(scan, setting_find(bytes_from_text(flag->setting)),
                    flag->value != NULL ? flag->value : optarg, flag->name);
    } else {
        scan->out->request =
            strcmp(flag->name, "-help") == 0 ? COMMAND_LINE_HELP : COMMAND_LINE_VERSION;
    }
    return true;
}

/* A word with one dash; getopt has taken its value if it has one. */
static bool take_short(struct scan *scan, const char *word)
{
    if (strcmp(word, "-h") == 0 || strcmp(word, "-V") == 0) {
        scan->out->request = word[1] == 'h' ? COMMAND_LINE_HELP : COMMAND_LINE_VERSION;
        return true;
    }
    for (size_t i = 0; i < COUNT_OF(local_flags); i++) {
        if (strcmp(word, local_flags[i].name) == 0 && takes_local_flags(scan->out->call.command))
            return take_local(scan, &local_flags[i]);
    }
    return refuse_flag(scan, word);
}

static bool is_whole_number(const char *text)
{
    size_t sign = text[0] == '-' ? 1 : 0;
    size_t digits = strspn(text + sign, "0123456789");
    return digits > 0 && digits <= 9 && text[sign + digits] == '\0' &&
           (text[sign] != '0' || strlen(text) == 1);
}

static bool take_flag(struct scan *scan, const struct command_flag *flag, const char *origin)
{
    const char *text = flag->kind == COMMAND_FLAG_PRESENCE ? "" : optarg;
    if (flag->kind != COMMAND_FLAG_PRESENCE && text[0] == '\0')
        return config_error_set(scan->err, "%s: needs a value behind it", origin);
    if (flag->kind == COMMAND_FLAG_NUMBER && !is_whole_number(text))
        return config_error_set(scan->err, "%s: takes a whole number", origin);
    struct command_call *call = &scan->out->call;
    assert(call->value_count < COMMAND_LINE_WORDS_MAX);
    scan->values[call->value_count++] = (struct command_value){ flag, text };
    return true;
}

/* A word with two dashes. */
static bool take_long(struct scan *scan, const char *word, const struct target *target)
{
    const char *origin = flag_name(scan, word);
    switch (target->meaning) {
    case MEANS_SETTING:
        add_setting(scan, target->setting, optarg != NULL ? optarg : "true", origin);
        return true;
    case MEANS_NO_SETTING:
        add_setting(scan, target->setting, "false", origin);
        return true;
    case MEANS_FLAG:
        return take_flag(scan, target->flag, origin);
    case MEANS_REQUEST:
        scan->out->request = target->request;
        return true;
    case MEANS_LOCAL:
        break;
    }
    return refuse_flag(scan, word);
}

/* An option as getopt returned it: `code` is ':' or '?' if it found a fault. */
static bool take_option(struct scan *scan, const char *word, int code)
{
    bool is_fault = code == ':' || code == '?';
    size_t index = (size_t)((is_fault ? optopt : code) - TARGET_BASE);
    bool is_long = strncmp(word, "--", 2) == 0;
    const char *written = flag_name(scan, word) + (is_long ? 2 : 1);
    bool is_exact = index < scan->target_count && strcmp(written, scan->options[index].name) == 0;
    if (is_fault && !is_exact)
        return refuse_flag(scan, word);
    if (is_fault)
        return config_error_set(
            scan->err, code == ':' ? "%.80s: needs a value behind it" : "%.80s: takes no value",
            flag_name(scan, word));
    if (!is_long)
        return take_short(scan, word);
    return is_exact ? take_long(scan, word, &scan->targets[index]) : refuse_flag(scan, word);
}

/* --- The whole line --- */

/* Skips `-Xmx1g -Djava.library.path=... -jar DynamoDBLocal.jar`; returns the index of the next
 * word. */
static int skip_java(int argc, char *const *argv)
{
    int next = 1;
    while (next < argc) {
        if (strncmp(argv[next], "-D", 2) == 0 || strncmp(argv[next], "-X", 2) == 0)
            next++;
        else if (strcmp(argv[next], "-jar") == 0 && next + 1 < argc)
            next += 2;
        else
            break;
    }
    return next;
}

/* DynamoDB Local has a database of its own for each access key and region then. */
static void note_sharing(struct scan *scan)
{
    if (!scan->is_local || scan->shares)
        return;
    buffer_append_bytes(&scan->note, bytes_from_text(scan->note.len == 0 ? "" : "; "));
    buffer_append_bytes(&scan->note, BYTES("there is one set of tables for all regions and "
                                           "credentials, as with -sharedDb"));
}

static bool wants_more_than_a_run(const struct scan *scan)
{
    return scan->out->request == COMMAND_LINE_HELP || scan->out->request == COMMAND_LINE_VERSION;
}

/* Calls getopt from the word behind `first` on; argv[first] is taken for the program's name. */
static bool take_options(struct scan *scan, int first)
{
    int argc = scan->argc - first;
    char *const *argv = scan->argv + first;
    optind = 0; /* Makes glibc start anew. */
    opterr = 0;
    for (;;) {
        const char *word = optind < 1 ? (argc > 1 ? argv[1] : NULL) : argv[optind];
        /* '-': words come in their place, as code 1. ':': distinguishes a missing value. */
        int code = getopt_long_only(argc, argv, "-:hV", scan->options, NULL);
        if (code == -1)
            break;
        assert(word != NULL);
        if (code == 1)
            scan->words[scan->word_count++] = optarg;
        else if (!take_option(scan, word, code))
            return false;
        if (wants_more_than_a_run(scan))
            return true; /* Whoever asks for help gets it, whatever follows. */
    }
    for (int i = optind; i < argc; i++)
        scan->words[scan->word_count++] = argv[i]; /* Behind "--". */
    return true;
}

/* "add, list or remove" */
static const char *list_verbs(const struct scan *scan)
{
    const struct command *command = scan->out->call.command;
    struct buffer list;
    buffer_init(&list, scan->arena);
    for (size_t i = 0; i < command->verb_count; i++) {
        const char *before = i == 0 ? "" : i + 1 == command->verb_count ? " or " : ", ";
        buffer_append_bytes(&list, bytes_from_text(before));
        buffer_append_bytes(&list, bytes_from_text(command->verbs[i].name));
    }
    buffer_append_byte(&list, '\0');
    return (const char *)list.data;
}

/* How many words a verb needs and how many it allows: "ID [NAME]" needs one of two, "FILE..." any
 * number. */
static void count_words(const struct command_verb *verb, size_t *min, size_t *max)
{
    *min = *max = 0;
    for (const char *at = verb->words == NULL ? "" : verb->words; *at != '\0';) {
        *min += at[0] != '[';
        *max += 1;
        at += strcspn(at, " ");
        if (at - verb->words >= 3 && memcmp(at - 3, "...", 3) == 0)
            *max = COMMAND_LINE_WORDS_MAX;
        at += strspn(at, " ");
    }
}

static bool refuse_command(struct scan *scan, const char *word)
{
    const char *meant = command_similar(word);
    if (meant != NULL && strcmp(meant, word) == 0)
        return config_error_set(scan->err, "'%s': a command must be the first word (see --help)",
                                word);
    if (meant != NULL)
        return config_error_set(
            scan->err, "'%.80s': no such command; did you mean %s? (see --help)", word, meant);
    return config_error_set(scan->err, "'%.80s': no such command (see --help)", word);
}

static bool check_words(struct scan *scan, const struct command_verb *verb)
{
    const struct command_call *call = &scan->out->call;
    size_t min, max;
    count_words(verb, &min, &max);
    bool ok = call->word_count >= min && call->word_count <= max;
    for (size_t i = 0; i < call->word_count; i++)
        ok = ok && call->words[i][0] != '\0';
    if (ok)
        return true;
    if (max == 0 && verb->name == NULL)
        return refuse_command(scan, call->words[0]);
    return config_error_set(scan->err, "%s%s%s: expected %s (%s)", call->command->name,
                            verb->name != NULL ? " " : "", verb->name != NULL ? verb->name : "",
                            max == 0 ? "no further words" : verb->words, hint(scan));
}

static bool is_listed(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += size) {
        if ((at == list || at[-1] == ',') && (at[size] == '\0' || at[size] == ','))
            return true;
    }
    return false;
}

/* Finds the verb, which is the first word, and checks words and flags against it. */
static bool take_words(struct scan *scan)
{
    struct command_call *call = &scan->out->call;
    const struct command *command = call->command;
    size_t skipped = command->verbs[0].name == NULL ? 0 : 1;
    if (skipped == 0)
        call->verb = &command->verbs[0];
    for (size_t i = 0; skipped > 0 && scan->word_count > 0 && i < command->verb_count; i++) {
        if (strcmp(scan->words[0], command->verbs[i].name) == 0)
            call->verb = &command->verbs[i];
    }
    if (call->verb == NULL)
        return config_error_set(scan->err, "%s: expected %s (%s)", command->name, list_verbs(scan),
                                hint(scan));
    call->words = scan->words + skipped;
    call->word_count = scan->word_count - skipped;
    for (size_t i = 0; i < call->value_count; i++) {
        const struct command_flag *flag = call->values[i].flag;
        if (flag->verbs != NULL && !is_listed(flag->verbs, call->verb->name))
            return config_error_set(scan->err, "--%s: no such flag (%s)", flag->name, hint(scan));
    }
    if (!check_words(scan, call->verb))
        return false;
    if (command->word_setting != NULL && call->word_count > 0)
        add_setting(scan, setting_find(bytes_from_text(command->word_setting)), call->words[0],
                    command->name);
    return true;
}

bool command_line_parse(struct arena *arena, int argc, char *const *argv, struct command_line *out,
                        struct config_error *err)
{
    *out = (struct command_line){ .request = COMMAND_LINE_RUN, .call = { .arena = arena } };
    if (argc > COMMAND_LINE_WORDS_MAX)
        return config_error_set(err, "more than %d words on the command line",
                                COMMAND_LINE_WORDS_MAX);
    struct scan *scan = arena_alloc_zeroed(arena, sizeof *scan);
    scan->arena = arena;
    scan->argc = argc;
    scan->argv = argv;
    scan->out = out;
    scan->err = err;
    buffer_init(&scan->note, arena);
    scan->settings = arena_alloc(arena, sizeof scan->settings[0] * COMMAND_LINE_WORDS_MAX);
    scan->values = arena_alloc(arena, sizeof scan->values[0] * COMMAND_LINE_WORDS_MAX);
    scan->words = arena_alloc(arena, sizeof scan->words[0] * COMMAND_LINE_WORDS_MAX);
    out->settings = scan->settings;
    out->call.values = scan->values;

    int next = skip_java(argc, argv);
    const struct command *named = next < argc ? command_find(argv[next]) : NULL;
    out->is_named = named != NULL;
    out->call.command = named != NULL ? named : command_find("serve");
    assert(out->call.command != NULL && out->call.command->verb_count > 0);
    if (next > 1 && takes_local_flags(out->call.command))
        be_local(scan, "-jar");
    add_options(scan);
    if (!take_options(scan, named != NULL ? next : next - 1))
        return false;
    if (wants_more_than_a_run(scan))
        return true;
    note_sharing(scan);
    if (scan->note.len > 0) {
        buffer_append_byte(&scan->note, '\0');
        out->note = (const char *)scan->note.data;
    }
    return take_words(scan);
}
