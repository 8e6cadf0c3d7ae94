/* command.h -- what a command is: one row of a table from which the parser, --help, the manual
 * pages and the completions all follow.
 *
 * A new command is a row in command_table.c and a function that runs it.
 */
#ifndef STATOR_COMMAND_COMMAND_H
#define STATOR_COMMAND_COMMAND_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct arena;
struct command_call;
struct config;

/* Exit codes of every command. */
enum { COMMAND_OK = 0, COMMAND_FAILED = 1, COMMAND_MISUSED = 2 };

enum command_flag_kind {
    COMMAND_FLAG_TEXT,
    COMMAND_FLAG_NUMBER,   /* A whole number, with a sign allowed. */
    COMMAND_FLAG_PRESENCE, /* Takes no value. */
};

/* A flag of one command. Settings, which most commands also accept, are in config/setting.h. */
struct command_flag {
    const char *name; /* "batch-size", without the dashes. */
    enum command_flag_kind kind;
    const char *placeholder; /* "N"; NULL for COMMAND_FLAG_PRESENCE. */
    const char *help;        /* One line. */
    const char *verbs;       /* "add,list": only with these; NULL: with all. */
    bool is_hidden;          /* Not documented. */
};

/* A form of a command: `stator key create USER` has the verb "create" and the words "USER". */
struct command_verb {
    const char *name;  /* NULL: the command's only form, which has no verb. */
    const char *words; /* The words behind it; "[DIR]" may be left out, "FILE..." repeated;
                        * NULL: there are none. */
    const char *flags; /* For the usage line: "--table TABLE --url URL [FLAGS]". */
    const char *help;  /* One line; NULL where the command's purpose says it all. */
};

/* Where the overview of `stator help` lists a command. */
enum command_group {
    COMMAND_FOR_SERVER,
    COMMAND_FOR_ACCESS,
    COMMAND_FOR_TABLES,
    COMMAND_FOR_RECOVERY,
    COMMAND_FOR_MONITORING,
    COMMAND_GROUP_COUNT,
};

struct command {
    const char *name;
    enum command_group group;
    const char *purpose;     /* One line, without a full stop. */
    const char *description; /* Sentences for --help and the manual, in lines of at most 80. */
    const struct command_verb *verbs;
    size_t verb_count;
    const struct command_flag *flags;
    size_t flag_count;
    /* Names of the settings that matter to it, separated by spaces; "*": all. Any other setting is
     * accepted too, so that commands can share a command line; it has no effect. NULL: the command
     * accepts no settings, and reads neither file nor variables. */
    const char *settings;
    const char
        *word_setting; /* The command's word is the value of this setting; NULL: it is not. */
    bool listens;      /* See struct config_input for these three. */
    bool needs_master_key;
    const char *needs_disk;
    /* Returns the process's exit code. Unless that is COMMAND_OK, it has written one line to
     * standard error. */
    int (*run)(const struct command_call *call);
};

extern const struct command command_table[];
extern const size_t command_count;

/* NULL if there is none. */
const struct command *command_find(const char *name);
/* The name of the command that `word` was probably meant to be; NULL: it resembles none. */
const char *command_similar(const char *word);

/* A flag of the command's own, as it was given. */
struct command_value {
    const struct command_flag *flag;
    const char *text; /* "" for COMMAND_FLAG_PRESENCE. */
};

/* One run of a command. Everything outlives it. */
struct command_call {
    struct arena *arena;
    const struct command *command;
    const struct command_verb *verb;
    const char *const *words; /* Behind the verb, none of them empty; as many as the verb allows. */
    size_t word_count;
    const struct command_value *values; /* In the order given. */
    size_t value_count;
    const struct config *config; /* NULL: the command accepts no settings. */
};

/* The value of a flag given at most once; the last one counts, NULL if there is none. */
const char *command_value_of(const struct command_call *call, const char *flag);

/* Prints "stator: WHAT: WHY" to standard error and returns `code`. */
int command_fail(int code, const char *what, const char *why);
/* COMMAND_OK once all of standard output was written; otherwise COMMAND_FAILED, with a line that
 * says so. */
MUST_CHECK int command_flush(void);

/* What the rows of the table run. */
int serve_command(const struct command_call *call);
int check_command(const struct command_call *call);
int backup_command(const struct command_call *call);
int restore_command(const struct command_call *call);
int backups_command(const struct command_call *call);
int jobs_command(const struct command_call *call);
int recover_command(const struct command_call *call);
int key_command(const struct command_call *call); /* And `policy`. */
int cert_command(const struct command_call *call);
int trigger_command(const struct command_call *call);
int export_command(const struct command_call *call);
int fault_command(const struct command_call *call);
int history_command(const struct command_call *call);
int help_command(const struct command_call *call);
int import_command(const struct command_call *call);
int top_command(const struct command_call *call);
int simulate_command(const struct command_call *call);
int apply_command(const struct command_call *call);
int advise_command(const struct command_call *call);
int model_command(const struct command_call *call);
int regions_command(const struct command_call *call);
int slowlog_command(const struct command_call *call);
int healthcheck_command(const struct command_call *call);
int version_command(const struct command_call *call);
const char *version_commit(void); /* Of which the program was built. */

#endif
