/* setting_table.c -- every setting there is, in the order in which --help lists them. */
#include <arpa/inet.h>
#include <stddef.h>
#include "config/config.h"
#include "config/setting.h"

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/* Above these a value is a mistake, not a wish. */
enum {
    PORT_MAX = 65535,
    WORKERS_MAX = 256,
    CONNECTIONS_MAX = 1000000,
    TIMEOUT_MS_MIN = 100,
    TIMEOUT_MS_MAX = 60 * 60 * 1000,
    REGION_SIZE_MAX = 63,
    ACCOUNT_ID_DIGITS = 12,
};

static const char *const durability_choices[] = { "sync", "os", NULL }; /* config_durability */
static const char *const txn_conflict_choices[] = { "wait", "fail",
                                                    NULL }; /* config_txn_conflict */
static const char *const log_level_choices[] = { "debug", "info", "warn", "error",
                                                 NULL }; /* log_level */

static bool is_address(const char *text)
{
    struct in6_addr ignored;
    return inet_pton(AF_INET, text, &ignored) == 1 || inet_pton(AF_INET6, text, &ignored) == 1;
}

static bool is_account_id(const char *text)
{
    return strlen(text) == ACCOUNT_ID_DIGITS && strspn(text, "0123456789") == ACCOUNT_ID_DIGITS;
}

static bool is_region(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

#define FIELD(name) .offset = offsetof(struct config, name)
#define TIMEOUT .min = TIMEOUT_MS_MIN, .max = TIMEOUT_MS_MAX, .placeholder = "MS"

const struct setting setting_table[] = {
    { .name = "port",
      .kind = SETTING_NUMBER,
      FIELD(port),
      .default_value = "8000",
      .max = PORT_MAX,
      .placeholder = "PORT",
      .help = "TCP port to listen on; 0: any free one" },
    { .name = "bind",
      .kind = SETTING_ADDRESS,
      FIELD(bind),
      .default_value = "127.0.0.1",
      .min = 1,
      .max = INET6_ADDRSTRLEN,
      .accepts = is_address,
      .expects = "an IPv4 or IPv6 address",
      .placeholder = "ADDRESS",
      .help = "address to listen on" },
    { .name = "insecure",
      .kind = SETTING_FLAG,
      FIELD(insecure),
      .default_value = "false",
      .help = "allow an address that other machines can reach" },
    { .name = "data-dir",
      .kind = SETTING_PATH,
      FIELD(data_dir),
      .default_value = "./data",
      .min = 1,
      .max = SETTING_PATH_MAX,
      .placeholder = "DIR",
      .help = "where the data is kept; created if missing" },
    { .name = "in-memory",
      .kind = SETTING_FLAG,
      FIELD(in_memory),
      .default_value = "false",
      .help = "keep nothing when the server ends; data-dir is not used" },
    { .name = "durability",
      .kind = SETTING_CHOICE,
      FIELD(durability),
      .default_value = "sync",
      .choices = durability_choices,
      .placeholder = "sync|os",
      .help = "answer writes once synced, or once the system has them" },
    { .name = "region",
      .kind = SETTING_TEXT,
      FIELD(region),
      .default_value = "us-east-1",
      .min = 1,
      .max = REGION_SIZE_MAX,
      .accepts = is_region,
      .expects = "a region's name: lower-case letters, digits and hyphens",
      .placeholder = "NAME",
      .help = "the region in ARNs" },
    { .name = "account-id",
      .kind = SETTING_TEXT,
      FIELD(account_id),
      .default_value = "000000000000",
      .min = 1,
      .max = SETTING_TEXT_MAX,
      .accepts = is_account_id,
      .expects = "an account id of 12 digits",
      .placeholder = "ID",
      .help = "the account in ARNs" },
    { .name = "cors-origins",
      .kind = SETTING_TEXT,
      FIELD(cors_origins),
      .default_value = "*",
      .max = SETTING_TEXT_MAX,
      .placeholder = "LIST",
      .help = "origins whose pages may call, with commas; empty: none" },
    { .name = "workers",
      .kind = SETTING_NUMBER,
      FIELD(workers),
      .default_value = "0",
      .max = WORKERS_MAX,
      .placeholder = "N",
      .help = "threads that serve requests; 0: one per core" },
    { .name = "block-cache-size",
      .kind = SETTING_SIZE,
      FIELD(block_cache_size),
      .default_value = "256M",
      .min = MIB,
      .max = 1024 * GIB,
      .placeholder = "SIZE",
      .help = "memory for data read from the disk" },
    { .name = "write-buffer-size",
      .kind = SETTING_SIZE,
      FIELD(write_buffer_size),
      .default_value = "64M",
      .min = MIB,
      .max = 4 * GIB,
      .placeholder = "SIZE",
      .help = "memory for writes before they move to table files" },
    { .name = "connections-max",
      .kind = SETTING_NUMBER,
      FIELD(connections_max),
      .default_value = "10000",
      .min = 1,
      .max = CONNECTIONS_MAX,
      .placeholder = "N",
      .help = "connections at a time; further ones are answered 503" },
    { .name = "header-timeout-ms",
      .kind = SETTING_NUMBER,
      FIELD(header_timeout_ms),
      .default_value = "10000",
      TIMEOUT,
      .help = "from a request's first byte to the end of its headers" },
    { .name = "body-timeout-ms",
      .kind = SETTING_NUMBER,
      FIELD(body_timeout_ms),
      .default_value = "30000",
      TIMEOUT,
      .help = "without progress while a body arrives" },
    { .name = "idle-timeout-ms",
      .kind = SETTING_NUMBER,
      FIELD(idle_timeout_ms),
      .default_value = "75000",
      TIMEOUT,
      .help = "between requests of a connection" },
    { .name = "write-timeout-ms",
      .kind = SETTING_NUMBER,
      FIELD(write_timeout_ms),
      .default_value = "30000",
      TIMEOUT,
      .help = "without progress while an answer is sent" },
    { .name = "transition-delay-ms",
      .kind = SETTING_NUMBER,
      FIELD(transition_delay_ms),
      .default_value = "0",
      .max = TIMEOUT_MS_MAX,
      .placeholder = "MS",
      .help = "how long a table stays CREATING, UPDATING and DELETING" },
    { .name = "txn-conflict",
      .kind = SETTING_CHOICE,
      FIELD(txn_conflict),
      .default_value = "wait",
      .choices = txn_conflict_choices,
      .placeholder = "wait|fail",
      .help = "wait for a transaction that has the item, or fail at once" },
    { .name = "log-level",
      .kind = SETTING_CHOICE,
      FIELD(log_level),
      .default_value = "info",
      .choices = log_level_choices,
      .placeholder = "LEVEL",
      .help = "debug, info, warn or error" },
    { .name = "config",
      .kind = SETTING_PATH,
      FIELD(config),
      .min = 1,
      .max = SETTING_PATH_MAX,
      .placeholder = "FILE",
      .help = "file of lines `name = value`; # begins a comment line",
      .outside_file = true },
};
const size_t setting_count = COUNT_OF(setting_table);
