/* config.h -- the server's settings: from defaults, a file, the environment and the command line.
 *
 * Each source overrides the one named before it. setting_table.c describes each setting once; its
 * flag (`--data-dir`), variable (`STATOR_DATA_DIR`), file key (`data-dir`), line of --help and
 * line of --print-config all follow from there.
 *
 * config_read touches nothing outside of what it is given, so that tests can give it anything.
 */
#ifndef STATOR_CONFIG_CONFIG_H
#define STATOR_CONFIG_CONFIG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "config/config_error.h"

struct arena;

enum config_durability { CONFIG_DURABILITY_SYNC, CONFIG_DURABILITY_OS };
enum config_txn_conflict { CONFIG_TXN_CONFLICT_WAIT, CONFIG_TXN_CONFLICT_FAIL };

/* Numbers are wide and choices unsigned whatever their use, so that one table can fill them in;
 * each was checked against its range. Texts live in the arena of config_read and are never NULL,
 * but for `config`. */
struct config {
    uint64_t port; /* 0: any free one. */
    const char *bind;
    const char *data_dir;
    bool in_memory;
    unsigned durability; /* enum config_durability */
    uint64_t workers;    /* 0: one per core. */
    const char *region;
    const char *account_id;
    uint64_t item_cache_size;
    uint64_t block_cache_size;
    uint64_t write_buffer_size;
    uint64_t connections_max;
    uint64_t connections_per_address_max; /* 0: no bound. */
    uint64_t request_memory_max;
    uint64_t header_timeout_ms;
    uint64_t body_timeout_ms;
    uint64_t idle_timeout_ms;
    uint64_t write_timeout_ms;
    uint64_t transition_delay_ms;
    uint64_t gsi_delay_ms;
    unsigned txn_conflict; /* enum config_txn_conflict */
    uint64_t stream_rollover_ms;
    uint64_t ttl_interval;     /* Milliseconds. */
    unsigned log_level;        /* enum log_level */
    const char *cors_origins;  /* "*", a list with commas, or empty: none. */
    const char *allowed_hosts; /* The same. */
    uint64_t dead_letters_max; /* Bytes of one file. */
    bool log_prefill;
    bool insecure;
    bool auth;
    const char *master_key_file; /* Empty: none. */
    const char *tls_cert_file;   /* Empty: plain HTTP; else the next is not empty either. */
    const char *tls_key_file;
    const char *tls_client_ca_file; /* Empty: clients need no certificate. */
    const char *outbound_ca_file;   /* Empty: the system's authorities. */
    const char *outbound_proxy;     /* Empty: none. */
    const char *config;             /* The file that was read; NULL: none. */
};

/* What the command line asks for. */
enum config_action {
    CONFIG_SERVE,
    CONFIG_CHECK,   /* The store in `data_dir`. */
    CONFIG_KEY,     /* `words` say what of the access keys. */
    CONFIG_POLICY,  /* And of their policies. */
    CONFIG_BACKUP,  /* The store in `data_dir`, into the directory that `words` name. */
    CONFIG_RESTORE, /* And the other way round. */
    CONFIG_SHOW_HELP,
    CONFIG_SHOW_VERSION,
    CONFIG_SHOW_SETTINGS,
};

enum { CONFIG_FILE_SIZE_MAX = 64 * 1024 };
/* Where systemd puts the master key, below $CREDENTIALS_DIRECTORY, if no file is named. */
#define CONFIG_MASTER_KEY_CREDENTIAL "stator-master-key"

struct config_input {
    int argc;
    char *const *argv;              /* argv[0] is the program. */
    const char *const *environment; /* "NAME=value", NULL at the end. */
    /* Reads a whole file of at most CONFIG_FILE_SIZE_MAX bytes into the arena. False with a few
     * words in `*reason`. */
    bool (*read_file)(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason);
    void *context; /* Passed to read_file. */
};

struct config_result {
    enum config_action action;
    struct config config;     /* Not for CONFIG_SHOW_HELP and _VERSION. */
    const char *note;         /* One line worth logging, or NULL. */
    const char *const *words; /* Behind `key`, `policy`, `backup` or `restore`. */
    size_t word_count;
};

/* False with one line for people in `err`. The result borrows from `input`. */
MUST_CHECK bool config_read(struct arena *arena, const struct config_input *input,
                            struct config_result *result, struct config_error *err);

/* A config_input's read_file that reads the file; needs no context. */
bool config_read_file(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason);

/* The text of --help. */
struct bytes config_help(struct arena *arena);
/* The settings as a file that config_read takes. */
struct bytes config_print(struct arena *arena, const struct config *config);

#endif
