/* config.h -- the server's settings: from defaults, a file, the environment and flags.
 *
 * Each source overrides the one named before it. setting_table.c describes each setting once; its
 * flag (`--data-dir`), variable (`STATOR_DATA_DIR`), file key (`data-dir`), help and documentation
 * all follow from that row.
 *
 * Settings know no commands: command/ splits the command line and passes the flags on.
 * config_read touches nothing outside its arguments, so that tests can give it anything.
 */
#ifndef STATOR_CONFIG_CONFIG_H
#define STATOR_CONFIG_CONFIG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct setting;

enum config_durability { CONFIG_DURABILITY_SYNC, CONFIG_DURABILITY_OS };
enum config_capacity { CONFIG_CAPACITY_OFF, CONFIG_CAPACITY_ACCOUNT, CONFIG_CAPACITY_ENFORCE };
enum config_console { CONFIG_CONSOLE_AUTO, CONFIG_CONSOLE_ON, CONFIG_CONSOLE_OFF };
/* What GET / answers: 200 as the service, or 400 as DynamoDB Local. */
enum config_root_answer { CONFIG_ROOT_SERVICE, CONFIG_ROOT_DYNAMODB_LOCAL };
enum config_txn_conflict { CONFIG_TXN_CONFLICT_WAIT, CONFIG_TXN_CONFLICT_FAIL };
enum config_foreign_resources { CONFIG_FOREIGN_SKIP, CONFIG_FOREIGN_FAIL };

/* Numbers are wide and choices unsigned whatever their use, so that one table can fill them in;
 * each was checked against its range. Texts live in the arena of config_read and are never NULL,
 * except `config`. */
struct config {
    uint64_t port; /* 0: any free one. */
    const char *bind;
    const char *data_dir;
    bool in_memory;
    bool exit_with_parent;
    const char *apply;   /* "": none. */
    unsigned durability; /* enum config_durability */
    uint64_t workers;    /* 0: one per core. */
    const char *region;
    const char *account_id;
    uint64_t item_cache_size;
    uint64_t block_cache_size;
    uint64_t write_buffer_size;
    uint64_t connections_max;
    uint64_t connections_per_address_max; /* 0: no limit. */
    uint64_t request_memory_max;
    uint64_t header_timeout_ms;
    uint64_t body_timeout_ms;
    uint64_t idle_timeout_ms;
    uint64_t write_timeout_ms;
    uint64_t transition_delay_ms;
    uint64_t gsi_delay_ms;
    unsigned txn_conflict;      /* enum config_txn_conflict */
    unsigned foreign_resources; /* enum config_foreign_resources */
    unsigned capacity;          /* enum config_capacity */
    bool fault_injection;
    uint64_t table_read_units_max;
    uint64_t table_write_units_max;
    uint64_t account_read_units_max;
    uint64_t account_write_units_max;
    uint64_t stream_rollover_ms;
    uint64_t partition_writes_max; /* Per second; 0: partitions do not split for their heat. */
    uint64_t partition_heat_ms;
    uint64_t partition_size_max; /* 0: partitions do not split for their size. */
    uint64_t ttl_interval;       /* Milliseconds. */
    uint64_t recovery_lag_ms;
    uint64_t slow_request_ms; /* 0: slow requests are not kept. */
    unsigned console;         /* enum config_console */
    unsigned root_answer;     /* enum config_root_answer */
    uint64_t advice_shapes;   /* 0: expressions are not counted. */
    bool metrics;             /* There is a page for Prometheus. */
    const char *metrics_bind; /* "ADDRESS:PORT" of its own listener; empty: none. */
    uint64_t metrics_page_tables;
    uint64_t metrics_interval; /* Milliseconds. */
    uint64_t metrics_series_max;
    uint64_t alarms_max;
    uint64_t alarm_history_max;
    uint64_t dashboards_max;
    uint64_t metrics_size_max; /* Bytes on disk. */
    uint64_t insight_keys;
    uint64_t insight_rules;
    unsigned log_level;        /* enum log_level */
    const char *cors_origins;  /* "*", a comma-separated list, or empty: none. */
    const char *allowed_hosts; /* The same. */
    uint64_t dead_letters_max; /* Bytes of one file. */
    bool log_prefill;
    bool insecure;
    bool auth;
    const char *master_key_file; /* Empty: none. */
    const char *keys_dir;        /* Empty: data_dir. See config_keys_dir. */
    const char *tls_cert_file;   /* Empty: plain HTTP. Set if and only if tls_key_file is set. */
    const char *tls_key_file;
    const char *tls_client_ca_file; /* Empty: clients need no certificate. */
    const char *outbound_ca_file;   /* Empty: the system's authorities. */
    const char *outbound_proxy;     /* Empty: none. */
    const char *backup_bucket;      /* For backups of tables; empty: the data directory. */
    const char *buckets;            /* A folder; empty: none. Not with s3_endpoint. */
    const char *s3_endpoint;        /* Empty: none. */
    const char *s3_region;          /* Empty: that of `region`. */
    const char *s3_key_file;        /* Set if s3_endpoint is. */
    uint64_t s3_retry_ms;
    const char *region_peers;         /* Empty: none. relay/relay_peers.h reads it. */
    const char *regions;              /* Empty: only `region`. command/regions.h reads it. */
    const char *replication_key_file; /* Empty: none. */
    uint64_t replication_skew_max_ms;
    const char *kinesis_endpoint; /* Empty: none. */
    const char *kinesis_key_file; /* Set if kinesis_endpoint is. */
    uint64_t kinesis_retention_h;
    const char *config; /* The file that was read; NULL: none. */
};

/* True if the server shows the console. */
bool config_shows_console(const struct config *config);

/* The folder of the access keys. */
const char *config_keys_dir(const struct config *config);

/* Where systemd puts the master key, below $CREDENTIALS_DIRECTORY, if no file is named. */
#define CONFIG_MASTER_KEY_CREDENTIAL "stator-master-key"

enum { CONFIG_FILE_SIZE_MAX = 64 * 1024, CONFIG_ERROR_MAX = 512 };

/* Why settings were refused: one line that names where the value came from. */
struct config_error {
    char text[CONFIG_ERROR_MAX]; /* Truncated if longer; never more than one line. */
};

/* A setting on the command line. */
struct config_flag {
    const struct setting *setting;
    struct bytes value;
    const char *origin; /* The flag as the user wrote it: "--port", "-port". */
};

struct config_input {
    const struct config_flag *flags; /* In the order given; a later one overrides. */
    size_t flag_count;
    const char *const *environment; /* "NAME=value", NULL at the end. */
    /* Reads a whole file of at most CONFIG_FILE_SIZE_MAX bytes into the arena. False with a few
     * words in `*reason`. */
    bool (*read_file)(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason);
    void *context; /* Passed to read_file. */

    /* Rules across settings, checked for callers that depend on them. */
    bool listens;           /* The address, TLS and `auth` must go together. */
    bool needs_master_key;  /* Even without `auth`. */
    const char *needs_disk; /* "check", "back up": `in-memory` is refused; NULL: it is not. */
};

/* False with one line for the user in `err`. The result borrows from `input`. */
MUST_CHECK bool config_read(struct arena *arena, const struct config_input *input,
                            struct config *config, struct config_error *err);

/* A config_input's read_file that reads the file; needs no context. */
bool config_read_file(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason);

/* The settings as a file that config_read accepts. */
struct bytes config_print(struct arena *arena, const struct config *config);

/* "data-dir" -> "STATOR_DATA_DIR" */
const char *config_variable_name(struct arena *arena, const struct setting *setting);

/* Returns false, so that a caller can fail in one statement. */
bool config_error_set(struct config_error *err, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
