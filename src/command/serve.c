/* serve.c -- `stator serve`: opens the layers, waits for a signal, closes the layers.
 *
 * Layers open from the bottom up and close in reverse, so that none outlives one that it uses. All
 * threads block the signals; this one waits for them, and on SIGHUP reads the TLS files again.
 * Nothing is decided here that a layer could decide.
 *
 * Exit code: 0 after SIGTERM or SIGINT, 1 if the server could not start. A second signal, or a stop
 * that takes longer than SERVE_STOP_SECONDS_MAX, ends the process from within.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "api/api.h"
#include "auth/key_file.h"
#include "auth/live_keys.h"
#include "backup/backup.h"
#include "backup/backup_service.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "base/log.h"
#include "base/log_writer.h"
#include "base/notify.h"
#include "call/request_log.h"
#include "command/apply.h"
#include "command/command.h"
#include "command/system_limits.h"
#include "config/config.h"
#include "config/setting.h"
#include "console/console.h"
#include "crypto/tls_context.h"
#include "engine/engine.h"
#include "fault/faults.h"
#include "http/server.h"
#include "http/url.h"
#include "model/rendered_item.h"
#include "command/regions.h"
#include "kinesis/kinesis_client.h"
#include "replica/replica_client.h"
#include "object/object_store.h"
#include "outbound/credential_file.h"
#include "outbound/outbound.h"
#include "relay/relay.h"
#include "table/server_time.h"
#include "trigger/trigger_runner.h"
#include "wire/wire.h"

enum {
    /* How long requests under way may take to finish. */
    SERVE_STOP_GRACE_MS = 5000,
    /* How long stopping may take in all. Every acknowledged write is safe by then as well. */
    SERVE_STOP_SECONDS_MAX = 10,
    MALLOC_KEPT_SIZE_MAX = 256 * 1024,
    RELOADING_TEXT_MAX = 64,
};

struct server {
    struct file_shares files;
    struct live_keys *keys;  /* NULL: requests are not authenticated. */
    struct tls_context *tls; /* NULL: plain HTTP. */
    struct engine *engine;
    struct faults *faults; /* NULL: fault injection is off. */
    struct api *api;
    struct wire *wire;
    struct console *console; /* NULL: it is off. */
    struct http_server *http;
    struct http_server *metrics_http; /* NULL: metrics have no listener of their own. */
    pthread_mutex_t http_mutex;       /* Guards the two while the metrics read them. */
    struct clock clock;
    struct commit_clock commits;
    struct backup_service *backups; /* NULL: none. */
    struct outbound *network;       /* For calls of triggers. */
    struct trigger_outside outside;
    struct kinesis_outside kinesis;
    struct replica_outside replica;
    struct replica_peer replica_peers[RELAY_PEERS_MAX];
    struct arena *arena; /* Lives as long as the server. */
    struct regions regions;
    struct relay_peer peers[RELAY_PEERS_MAX];
    struct bytes peer_regions[RELAY_PEERS_MAX];
    size_t peer_count;
    struct relay *relay;          /* NULL: there are no other regions. */
    struct object_store *objects; /* Buckets. */
    atomic_bool is_stopping;
    char dead_letter_dir[PATH_MAX];
    char imports_dir[PATH_MAX]; /* "": a server in memory has none. */
};

/* --- Signals --- */

static void stop_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
}

static void awaited_signals(sigset_t *set)
{
    stop_signals(set);
    sigaddset(set, SIGHUP);
}

/* Blocks the signals in this thread and in those it starts. Called first, so that a signal during
 * the start is not lost: it ends the server once it is up. */
static void block_signals(void)
{
    sigset_t set;
    awaited_signals(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN); /* A closed connection is an error of write, not a signal. */
}

static void leave_at_once(int number)
{
    _exit(128 + number);
}

/* If standard error blocks, a second alarm ends the process by its default action. */
static void leave_late(int number)
{
    static const char text[] = "stator: stopping took too long; acknowledged writes are safe\n";
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    (void)number;
    alarm(1);
    ssize_t ignored = poll(&out, 1, 0) > 0 ? write(STDERR_FILENO, text, sizeof text - 1) : 0;
    (void)ignored;
    _exit(1);
}

/* From here on, a signal ends the process at once. SIGHUP stays blocked. */
static void leave_on_next_signal(void)
{
    sigset_t set;
    struct sigaction action = { .sa_handler = leave_at_once };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    action.sa_handler = leave_late;
    action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER);
    sigaction(SIGALRM, &action, NULL);
    alarm(SERVE_STOP_SECONDS_MAX);
    stop_signals(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static int wait_for_signal(void)
{
    sigset_t set;
    int number = 0;
    awaited_signals(&set);
    while (sigwait(&set, &number) != 0)
        continue;
    return number;
}

/* --- Start --- */

/* Makes malloc return large blocks to the system as soon as they are freed. By default it raises
 * its threshold to up to 32 MB and keeps freed blocks, which fragments the heap. Blocks below the
 * threshold are kept, which makes pages of a Scan cheap. */
static void tune_malloc(void)
{
    mallopt(M_MMAP_THRESHOLD, MALLOC_KEPT_SIZE_MAX);
}

static bool fail(const char *message)
{
    fprintf(stderr, "stator: %s\n", message);
    return false;
}

static bool open_engine(struct server *server, const struct config *config)
{
    struct engine_options options = {
        .directory = config->data_dir,
        .in_memory = config->in_memory,
        .durability = config->durability == CONFIG_DURABILITY_SYNC ? ENGINE_DURABILITY_SYNC
                                                                   : ENGINE_DURABILITY_OS,
        .leaves_log_alone = !config->log_prefill,
        .item_cache_size = config->item_cache_size,
        .render = rendered_item_make,
        .block_cache_size = config->block_cache_size,
        .write_buffer_size = config->write_buffer_size,
        .open_files_max = (unsigned)server->files.table_files,
    };
    char message[ENGINE_MESSAGE_MAX];
    server->engine = engine_open(&options, message);
    return server->engine != NULL || fail(message);
}

/* Dead-letter files live in the data directory only, because any client that may send a request may
 * name one. A server in memory has none. */
static bool find_dead_letters(struct server *server, const struct config *config)
{
    if (config->in_memory)
        return true;
    int size = snprintf(server->dead_letter_dir, sizeof server->dead_letter_dir, "%s/dead-letters",
                        config->data_dir);
    server->outside.dead_letter_dir = server->dead_letter_dir;
    return (size_t)size < sizeof server->dead_letter_dir || fail("data-dir: the path is too long");
}

/* The same for the errors of imports. */
static bool find_imports(struct server *server, const struct config *config)
{
    if (config->in_memory)
        return true;
    int size =
        snprintf(server->imports_dir, sizeof server->imports_dir, "%s/imports", config->data_dir);
    return (size_t)size < sizeof server->imports_dir || fail("data-dir: the path is too long");
}

static enum engine_status start_clock(struct server *server)
{
    struct server_time time = { 0 };
    enum engine_status status = server_time_load(server->engine, &time);
    server->clock = clock_resume(time.origin_ms, time.position_ms);
    server->clock.commits = &server->commits;
    return status;
}

static bool open_network(struct server *server, const struct config *config)
{
    const struct outbound_options options = { .ca_file = config->outbound_ca_file,
                                              .proxy = config->outbound_proxy };
    char message[OUTBOUND_MESSAGE_MAX];
    server->network = outbound_open(&options, message);
    server->outside.network = server->network;
    server->outside.send = outbound_client_send;
    return server->network != NULL || fail(message);
}

/* Buckets that cannot be reached now are no reason not to start. */
static bool open_objects(struct server *server, const struct config *config)
{
    const struct object_store_options options = {
        .folder = config->buckets,
        .endpoint = config->s3_endpoint,
        .region = config->s3_region[0] != '\0' ? config->s3_region : config->region,
        .key_file = config->s3_key_file,
        .account = config->account_id,
        .outbound = server->network,
        .clock = &server->clock,
        .retry_ms = (int64_t)config->s3_retry_ms,
    };
    char message[OBJECT_MESSAGE_MAX];
    server->objects = object_store_open(&options, message);
    if (server->objects == NULL)
        return fail(message);
    if (!object_store_check(server->objects, message))
        log_write(LOG_WARN, "object", "buckets cannot be used: %s", message);
    return true;
}

/* Peers that cannot be reached now are no reason not to start. */
static bool open_relay(struct server *server, const struct config *config)
{
    char message[OUTBOUND_MESSAGE_MAX];
    struct relay_options options = { .peers = server->peers,
                                     .network = server->network,
                                     .send = outbound_client_send };
    const char *problem = relay_peers_parse(server->arena, config->region_peers, config->region,
                                            server->peers, &options.count);
    if (problem != NULL)
        return fail(problem);
    server->peer_count = options.count;
    for (size_t i = 0; i < options.count; i++)
        server->peer_regions[i] = server->peers[i].region;
    if (options.count == 0)
        return true;
    server->relay = relay_start(&options, message);
    return server->relay != NULL || fail(message);
}

/* A server of Kinesis that cannot be reached now is no reason not to start. */
static bool open_kinesis(struct server *server, const struct config *config)
{
    struct http_url url;
    struct credentials credentials;
    server->kinesis = (struct kinesis_outside){ .network = server->network,
                                                .send = outbound_client_send,
                                                .endpoint = config->kinesis_endpoint,
                                                .key_file = config->kinesis_key_file };
    if (config->kinesis_endpoint[0] == '\0')
        return true;
    if (http_url_parse(bytes_from_text(config->kinesis_endpoint), &url) != NULL)
        return fail("kinesis-endpoint is not a URL");
    if (config->kinesis_key_file[0] == '\0')
        return fail("kinesis-endpoint needs kinesis-key-file");
    const char *problem = credential_file_read(config->kinesis_key_file, &credentials);
    explicit_bzero(&credentials, sizeof credentials);
    if (problem != NULL)
        log_write(LOG_WARN, "kinesis", "%s cannot be used: %s", config->kinesis_key_file, problem);
    return true;
}

static bool open_replication(struct server *server, const struct config *config)
{
    struct credentials credentials;
    server->replica = (struct replica_outside){ .network = server->network,
                                                .key_file = config->replication_key_file };
    for (size_t i = 0; i < server->peer_count; i++)
        server->replica_peers[i] =
            (struct replica_peer){ server->peers[i].region, server->peers[i].url };
    if (config->replication_key_file[0] == '\0')
        return true;
    const char *problem = credential_file_read(config->replication_key_file, &credentials);
    explicit_bzero(&credentials, sizeof credentials);
    if (problem != NULL)
        log_write(LOG_WARN, "replica", "%s cannot be used: %s", config->replication_key_file,
                  problem);
    return true;
}

static enum capacity_setting capacity_of(const struct config *config)
{
    switch ((enum config_capacity)config->capacity) {
    case CONFIG_CAPACITY_OFF:
        return CAPACITY_OFF;
    case CONFIG_CAPACITY_ACCOUNT:
        return CAPACITY_ACCOUNT;
    case CONFIG_CAPACITY_ENFORCE:
        return CAPACITY_ENFORCE;
    }
    return CAPACITY_UNSET;
}

static struct split_limits split_limits_of(const struct config *config)
{
    return (struct split_limits){ .writes_max = (int64_t)config->partition_writes_max,
                                  .heat_ms = (int64_t)config->partition_heat_ms,
                                  .size_max = (int64_t)config->partition_size_max };
}

static bool open_api(struct server *server, const struct config *config)
{
    server->outside.dead_letters_max = config->dead_letters_max;
    if (!find_dead_letters(server, config) || !find_imports(server, config) ||
        !open_objects(server, config) || !open_kinesis(server, config) ||
        !open_replication(server, config))
        return false;
    if (config->fault_injection) {
        log_write(LOG_WARN, "fault", "fault injection is allowed: requests may fail on purpose");
        server->faults = faults_create(&server->clock);
    }
    bool is_restored = !config->in_memory && backup_is_restored(config->data_dir);
    struct api_options options = {
        .engine = server->engine,
        .clock = &server->clock,
        .region = config->region,
        .account_id = config->account_id,
        .peer_regions = server->peer_regions,
        .peer_region_count = server->peer_count,
        .transition_ms = (int64_t)config->transition_delay_ms,
        .index_delay_ms = (int64_t)config->gsi_delay_ms,
        .capacity = capacity_of(config),
        .quotas = { .table_read_units = (int64_t)config->table_read_units_max,
                    .table_write_units = (int64_t)config->table_write_units_max,
                    .account_read_units = (int64_t)config->account_read_units_max,
                    .account_write_units = (int64_t)config->account_write_units_max },
        .refuse_conflicts = config->txn_conflict == CONFIG_TXN_CONFLICT_FAIL,
        .refuse_foreign_resources = config->foreign_resources == CONFIG_FOREIGN_FAIL,
        .rollover_ms = (int64_t)config->stream_rollover_ms,
        .splits = split_limits_of(config),
        .expiry_interval_ms = (int64_t)config->ttl_interval,
        .recovery_lag_ms = (int64_t)config->recovery_lag_ms,
        .metrics_interval_ms = (int64_t)config->metrics_interval,
        .metrics_series_max = (size_t)config->metrics_series_max,
        .metrics_size_max = (int64_t)config->metrics_size_max,
        .alarms_max = (size_t)config->alarms_max,
        .alarm_history_max = (size_t)config->alarm_history_max,
        .dashboards_max = (size_t)config->dashboards_max,
        .insight_keys = (size_t)config->insight_keys,
        .insight_rules = (size_t)config->insight_rules,
        .slow_request_ms = (int64_t)config->slow_request_ms,
        .advice_shapes = config->advice_shapes,
        .trigger_outside = &server->outside,
        .kinesis_outside = &server->kinesis,
        .replica_peers = server->replica_peers,
        .replica_peer_count = server->peer_count,
        .replica_outside = &server->replica,
        .is_restored = is_restored,
        .loses_writes = !config->in_memory && config->durability == CONFIG_DURABILITY_OS,
        .replica_skew_max_ms = (int64_t)config->replication_skew_max_ms,
        .kinesis_retention_ms = (int64_t)config->kinesis_retention_h * 60 * 60 * 1000,
        .faults = server->faults,
        .keys = server->keys,
        .imports_folder = server->imports_dir[0] == 0 ? NULL : server->imports_dir,
        .objects = server->objects,
        .backup_store = config->backup_bucket[0] == '\0' ? NULL : server->objects,
        .backup_bucket = config->backup_bucket,
        .backup_folder = config->in_memory ? NULL : config->data_dir,
        .observe = config->log_level == LOG_DEBUG ? request_log_observe : NULL,
    };
    enum engine_status status = start_clock(server);
    if (status == ENGINE_OK)
        server->api = api_open(&options, &status);
    if (server->api != NULL)
        return !is_restored || backup_note_start(config->data_dir) ||
               fail("cannot remove the file RESTORED in the data directory");
    fprintf(stderr, "stator: cannot read the tables in %s: %s\n", config->data_dir,
            engine_status_name(status));
    return false;
}

static struct tls_context *create_tls(const struct config *config,
                                      char message[TLS_CONTEXT_MESSAGE_MAX])
{
    const struct tls_context_options options = { .cert_file = config->tls_cert_file,
                                                 .key_file = config->tls_key_file,
                                                 .client_ca_file = config->tls_client_ca_file };
    return tls_context_create(&options, message);
}

static bool open_tls(struct server *server, const struct config *config)
{
    char message[TLS_CONTEXT_MESSAGE_MAX];
    if (config->tls_cert_file[0] == '\0')
        return true;
    server->tls = create_tls(config, message);
    return server->tls != NULL || fail(message);
}

static bool start_http(struct server *server, const struct config *config)
{
    struct http_options options = http_options_default;
    options.address = config->bind;
    options.port = (uint16_t)config->port;
    options.loop_count = (unsigned)config->workers;
    options.connections_max = server->files.connections;
    options.refused_max = server->files.refused_per_loop;
    options.connections_per_address_max = config->connections_per_address_max;
    options.memory_max = config->request_memory_max;
    options.header_timeout_ms = config->header_timeout_ms;
    options.body_timeout_ms = config->body_timeout_ms;
    options.idle_timeout_ms = config->idle_timeout_ms;
    options.write_timeout_ms = config->write_timeout_ms;
    options.tls = server->tls;
    char message[HTTP_MESSAGE_MAX];
    struct http_server *http =
        http_server_start(&options, wire_http_handler(server->wire), message);
    pthread_mutex_lock(&server->http_mutex);
    server->http = http;
    pthread_mutex_unlock(&server->http_mutex);
    return http != NULL || fail(message);
}

/* One loop is enough for a scraper, and few connections keep strangers from taking descriptors. */
static bool start_metrics_http(struct server *server, const struct config *config)
{
    enum { CONNECTIONS = 16, BODY_SIZE_MAX = 1024 };
    char address[SETTING_ADDRESS_SIZE], message[HTTP_MESSAGE_MAX];
    struct http_options options = http_options_default;
    if (!config->metrics || config->metrics_bind[0] == '\0')
        return true;
    if (!setting_split_address(config->metrics_bind, address, &options.port))
        return fail("metrics-bind: not an address and a port");
    options.address = address;
    options.loop_count = 1;
    options.connections_max = CONNECTIONS;
    options.body_size_max = BODY_SIZE_MAX;
    struct http_server *http =
        http_server_start(&options, wire_metrics_handler(server->wire), message);
    pthread_mutex_lock(&server->http_mutex);
    server->metrics_http = http;
    pthread_mutex_unlock(&server->http_mutex);
    return http != NULL || fail(message);
}

/* For wire/, on the thread that forms a page of metrics. */
static void read_http(void *context, struct http_statistics *out)
{
    struct server *server = context;
    pthread_mutex_lock(&server->http_mutex);
    if (server->http != NULL)
        http_server_read_statistics(server->http, out);
    pthread_mutex_unlock(&server->http_mutex);
}

static bool open_keys(struct server *server, const struct config *config)
{
    struct key_file file;
    char message[KEY_FILE_MESSAGE_MAX];
    if (!config->auth)
        return true;
    if (key_file_init(&file, config_keys_dir(config), config->master_key_file, message))
        server->keys = live_keys_open(&file, message);
    explicit_bzero(file.master, sizeof file.master);
    if (server->keys == NULL)
        return fail(message);
    return live_keys_follow(server->keys) || fail("cannot start a thread");
}

/* Slow requests may keep half of the cores busy. */
static size_t slow_thread_count(const struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t workers = config->workers > 0 ? config->workers : cores > 0 ? (uint64_t)cores : 1;
    return (size_t)(workers + 1) / 2;
}

static_assert(ENGINE_STUCK_MS == 10 * 1000, "as a line of not_ready says");

/* For wire/, on its loops. */
static const char *not_ready(void *context)
{
    const struct server *server = context;
    if (atomic_load(&server->is_stopping))
        return "shutting down";
    switch (engine_health(server->engine)) {
    case ENGINE_HEALTH_OK:
        return NULL;
    case ENGINE_HEALTH_FULL:
        return "disk full: items can be read and deleted, but not written";
    case ENGINE_HEALTH_FAILED:
        return "log failed: the store refuses writes; see the server's log";
    case ENGINE_HEALTH_LOST:
        return "data directory removed or replaced: restart the server";
    case ENGINE_HEALTH_STUCK:
        return "disk hangs: writes have waited for it for more than 10 s";
    }
    return "unknown state of the store";
}

static void open_console(struct server *server, const struct config *config)
{
    const struct console_options options = { .auth = config->auth,
                                             .region = config->region,
                                             .version = STATOR_VERSION };
    if (config_shows_console(config))
        server->console = console_create(&options, wire_router(server->wire));
}

static bool start(struct server *server, const struct config *config)
{
    char message[SYSTEM_LIMITS_MESSAGE_MAX];
    if (!system_limits_prepare(config, &server->files, message))
        return fail(message);
    tune_malloc();
    if (!open_tls(server, config) || !open_keys(server, config) || !open_network(server, config) ||
        !open_relay(server, config) || !open_engine(server, config) || !open_api(server, config))
        return false;
    struct wire_options options = { .pages = { .origins = config->cors_origins,
                                               .hosts = config->allowed_hosts },
                                    .home = config_shows_console(config) ? CONSOLE_PATH : NULL,
                                    .root = config->root_answer == CONFIG_ROOT_DYNAMODB_LOCAL
                                                ? DYNAMODB_ROOT_LOCAL
                                                : DYNAMODB_ROOT_SERVICE,
                                    .not_ready = not_ready,
                                    .context = server,
                                    .authentication = { .keys = server->keys,
                                                        .clock = &clock_system,
                                                        .region = config->region,
                                                        .account_id = config->account_id },
                                    .relay = server->relay,
                                    .slow_thread_count = slow_thread_count(config),
                                    .metrics = {
                                        .on = config->metrics,
                                        .has_own_listener = config->metrics_bind[0] != '\0',
                                        .tables_max = (size_t)config->metrics_page_tables,
                                        .version = STATOR_VERSION,
                                        .commit = version_commit(),
                                        .read_http = read_http,
                                        .context = server,
                                    } };
    if (config->apply[0] != '\0' && !apply_at_start(server->api, config, config->apply))
        return false;
    server->wire = wire_create(server->api, &options);
    open_console(server, config);
    if (!config->in_memory)
        server->backups = backup_service_start(server->engine, config->data_dir);
    /* Up to here a failure is logged synchronously, in order. From here on there are loops, which
     * must not wait for the reader of the log. */
    if (!log_writer_start())
        return fail("cannot start a thread");
    return start_http(server, config) && start_metrics_http(server, config);
}

/* "http://127.0.0.1:8000", with an IPv6 address in brackets. */
static void print_url(const struct server *server, const char *address)
{
    bool is_v6 = strchr(address, ':') != NULL;
    printf("%s://%s%s%s:%u", server->tls != NULL ? "https" : "http", is_v6 ? "[" : "", address,
           is_v6 ? "]" : "", (unsigned)http_server_port(server->http));
}

/* The address by which a client on this machine reaches a server that listens on `address`. */
static const char *local_address(const char *address)
{
    if (strcmp(address, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(address, "::") == 0 ? "::1" : address;
}

static void announce(const struct server *server, const struct config *config)
{
    printf("stator " STATOR_VERSION " listening on ");
    print_url(server, config->bind);
    printf(", data in %s\n", config->in_memory ? "memory" : config->data_dir);
    if (server->tls != NULL && tls_context_is_self_signed(server->tls))
        printf("AWS_CA_BUNDLE=%s ", config->tls_cert_file);
    printf("%saws dynamodb list-tables --endpoint-url ",
           config->auth ? "" : "AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x ");
    print_url(server, local_address(config->bind));
    printf(" --region %s\n", config->region);
    if (server->console != NULL) {
        printf("console: ");
        print_url(server, local_address(config->bind));
        printf("%s\n", CONSOLE_PATH);
    }
    if (config->regions[0] != '\0')
        printf("regions: %s\n", config->regions);
    if (server->metrics_http != NULL)
        printf("metrics on %s, port %u\n", config->metrics_bind,
               (unsigned)http_server_port(server->metrics_http));
    fflush(stdout); /* The parent process may be waiting for the port. */
}

/* --- Run --- */

static void tell_service_manager(const char *state)
{
    if (!notify_send(getenv("NOTIFY_SOCKET"), state))
        log_write(LOG_WARN, "server", "cannot tell the service manager %s: %s", state,
                  strerror(errno));
}

/* If the files are invalid, the server keeps the certificate that it has. */
static void reload_tls(struct server *server, const struct config *config)
{
    char message[TLS_CONTEXT_MESSAGE_MAX];
    if (server->tls == NULL) {
        log_write(LOG_INFO, "server", "SIGHUP ignored: there is no certificate to read again");
        return;
    }
    struct tls_context *tls = create_tls(config, message);
    if (tls == NULL) {
        log_write(LOG_ERROR, "tls", "the certificate in use stays: %s", message);
        return;
    }
    http_server_set_tls(server->http, tls);
    tls_context_release(server->tls);
    server->tls = tls;
    log_write(LOG_INFO, "tls", "read %s again; new connections get it", config->tls_cert_file);
}

static void reload(struct server *server, const struct config *config)
{
    char state[RELOADING_TEXT_MAX];
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
             (long long)clock_monotonic_ns() / 1000);
    tell_service_manager(state);
    reload_tls(server, config);
    tell_service_manager("READY=1");
}

/* Returns the number of the signal that ends it. */
static int run(struct server *server, const struct config *config)
{
    int number;
    tell_service_manager("READY=1");
    while ((number = wait_for_signal()) == SIGHUP)
        reload(server, config);
    tell_service_manager("STOPPING=1");
    return number;
}

/* --- Stop --- */

/* Exits without closing the store: a loop that did not stop in time has writes under way that
 * nobody will complete. That is safe: acknowledged writes are durable, and the next start recovers
 * as after a crash. */
static void leave(void)
{
    log_write(LOG_WARN, "server", "leaving without closing the store: writes are still under way");
    log_writer_stop();
    _exit(EXIT_SUCCESS);
}

static void stop(struct server *server)
{
    pthread_mutex_lock(&server->http_mutex);
    struct http_server *http = server->http, *metrics_http = server->metrics_http;
    server->http = server->metrics_http = NULL;
    pthread_mutex_unlock(&server->http_mutex);
    bool is_done = metrics_http == NULL || http_server_stop(metrics_http, SERVE_STOP_GRACE_MS);
    if ((http != NULL && !http_server_stop(http, SERVE_STOP_GRACE_MS)) || !is_done)
        leave();
    relay_stop(server->relay);
    if (server->wire != NULL)
        wire_stop(server->wire);
    backup_service_stop(server->backups);
    api_close(server->api);
    if (server->wire != NULL)
        wire_destroy(server->wire); /* After the api, whose last calls end here. */
    console_destroy(server->console);
    faults_destroy(server->faults);
    engine_close(server->engine);
    object_store_close(server->objects);
    outbound_close(server->network);
    live_keys_close(server->keys);
    tls_context_release(server->tls);
}

/* The kernel sends SIGTERM when the parent ends. A parent that ended before is noticed here. */
static void follow_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        raise(SIGTERM);
}

/* Starts the servers of further regions, and makes them peers. Before there are threads. */
static bool start_regions(struct server *server, struct config *config)
{
    char message[REGIONS_MESSAGE_MAX];
    struct buffer peers;
    if (config->regions[0] == '\0')
        return true;
    regions_name_first(server->arena, config);
    buffer_init(&peers, server->arena);
    buffer_append_bytes(&peers, bytes_from_text(config->region_peers));
    if (!regions_check(config, message) ||
        !regions_start(&server->regions, server->arena, config, &peers, message))
        return fail(message);
    config->region_peers =
        (const char *)arena_printf(server->arena, "%.*s", BYTES_FMT(buffer_bytes(&peers))).data;
    return true;
}

int serve_command(const struct command_call *call)
{
    struct config own = *call->config;
    const struct config *config = &own;
    struct server server = { .http_mutex = PTHREAD_MUTEX_INITIALIZER, .arena = arena_create() };
    pid_t parent = getppid();
    block_signals();
    if (config->exit_with_parent)
        follow_parent(parent);
    bool started = start_regions(&server, &own) && start(&server, config);
    if (started) {
        announce(&server, config);
        int number = run(&server, config);
        atomic_store(&server.is_stopping, true);
        log_write(LOG_INFO, "server", "stopping: %s", strsignal(number));
    }
    leave_on_next_signal();
    stop(&server);
    regions_stop(&server.regions);
    log_writer_stop();
    arena_destroy(server.arena);
    return started ? COMMAND_OK : COMMAND_FAILED;
}
