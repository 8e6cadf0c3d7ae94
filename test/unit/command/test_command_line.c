/* test_command_line.c -- command lines, settings from every source, and every way to refuse them.
 *
 * A case is a command line, variables and a file; what it must lead to is a line of
 * --print-config, which shows the setting's effective value, or the whole refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/log.h"
#include "command/command_line.h"
#include "command/help.h"
#include "config/config.h"
#include "config/setting.h"

enum { WORDS_MAX = 16, VARIABLES_MAX = 4 };

struct test_case {
    const char *line; /* Words with spaces between; "~" stands for a space within a word. */
    const char *variables[VARIABLES_MAX];
    const char *file; /* The text of "s.conf"; NULL: there is no such file. */
    const char *want; /* A line of --print-config, or the refusal. */
};

static bool read_text(void *context, struct arena *arena, const char *path, struct bytes *text,
                      const char **reason)
{
    const struct test_case *test = context;
    (void)arena;
    if (test->file == NULL || strcmp(path, "s.conf") != 0) {
        *reason = "No such file or directory";
        return false;
    }
    *text = bytes_from_text(test->file);
    return true;
}

struct result {
    struct command_line line;
    struct config config;
};

static bool read_case(struct arena *arena, const struct test_case *test, struct result *result,
                      struct config_error *err)
{
    char **argv = arena_alloc(arena, WORDS_MAX * sizeof argv[0]);
    int argc = 0;
    char *words = (char *)arena_printf(arena, "stator %s", test->line).data;
    char *position = NULL;
    for (char *word = strtok_r(words, " ", &position); word != NULL;
         word = strtok_r(NULL, " ", &position)) {
        assert_true(argc + 1 < WORDS_MAX);
        for (char *c = word; *c != '\0'; c++)
            if (*c == '~')
                *c = ' ';
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    err->text[0] = '\0';
    const struct command_line *line = &result->line;
    if (!command_line_parse(arena, argc, argv, &result->line, err))
        return false;
    if (line->request == COMMAND_LINE_HELP || line->request == COMMAND_LINE_VERSION ||
        line->call.command->settings == NULL)
        return true;
    struct config_input input = { .flags = line->settings,
                                  .flag_count = line->setting_count,
                                  .environment = test->variables,
                                  .read_file = read_text,
                                  .context = (void *)test,
                                  .listens = line->call.command->listens,
                                  .needs_master_key = line->call.command->needs_master_key,
                                  .needs_disk = line->call.command->needs_disk };
    return config_read(arena, &input, &result->config, err);
}

static void expect_settings(const struct test_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create();
        struct result result;
        struct config_error err;
        if (!read_case(arena, &cases[i], &result, &err))
            fail_msg("'%s': %s", cases[i].line, err.text);
        struct bytes printed = config_print(arena, &result.config);
        const char *text = (const char *)arena_printf(arena, "\n%.*s", BYTES_FMT(printed)).data;
        const char *line = (const char *)arena_printf(arena, "\n%s\n", cases[i].want).data;
        if (strstr(text, line) == NULL)
            fail_msg("'%s': no line '%s' in:%s", cases[i].line, cases[i].want, text);
        arena_destroy(arena);
    }
}

static void expect_refusals(const struct test_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arena *arena = arena_create();
        struct result result;
        struct config_error err;
        if (read_case(arena, &cases[i], &result, &err))
            fail_msg("'%s' was taken", cases[i].line);
        assert_string_equal(err.text, cases[i].want);
        arena_destroy(arena);
    }
}

static void defaults_are_as_documented(void **state)
{
    (void)state;
    static const struct test_case test = { .line = "" };
    struct arena *arena = arena_create();
    struct result result;
    struct config_error err;
    assert_true(read_case(arena, &test, &result, &err));
    assert_string_equal(result.line.call.command->name, "serve");
    assert_null(result.line.note);
    const struct config *config = &result.config;
    assert_int_equal(config->port, 8000);
    assert_string_equal(config->bind, "127.0.0.1");
    assert_string_equal(config->data_dir, "./data");
    assert_false(config->in_memory);
    assert_int_equal(config->durability, CONFIG_DURABILITY_SYNC);
    assert_int_equal(config->workers, 0);
    assert_string_equal(config->region, "us-east-1");
    assert_string_equal(config->account_id, "000000000000");
    assert_int_equal(config->item_cache_size, 64 << 20);
    assert_int_equal(config->block_cache_size, 256 << 20);
    assert_int_equal(config->write_buffer_size, 64 << 20);
    assert_int_equal(config->connections_max, 10000);
    assert_int_equal(config->header_timeout_ms, 10000);
    assert_int_equal(config->body_timeout_ms, 30000);
    assert_int_equal(config->idle_timeout_ms, 75000);
    assert_int_equal(config->write_timeout_ms, 30000);
    assert_int_equal(config->transition_delay_ms, 0);
    assert_int_equal(config->gsi_delay_ms, 0);
    assert_int_equal(config->log_level, LOG_INFO);
    assert_string_equal(config->cors_origins, "loopback");
    assert_string_equal(config->allowed_hosts, "");
    assert_true(config->log_prefill);
    assert_int_equal(config->dead_letters_max, 64 * 1024 * 1024);
    assert_false(config->insecure);
    assert_false(config->auth);
    assert_string_equal(config->master_key_file, "");
    assert_string_equal(config->tls_cert_file, "");
    assert_string_equal(config->tls_key_file, "");
    assert_string_equal(config->tls_client_ca_file, "");
    assert_string_equal(config->outbound_ca_file, "");
    assert_string_equal(config->outbound_proxy, "");
    assert_null(config->config);
    arena_destroy(arena);
}

static void choices_are_in_the_order_of_their_enums(void **state)
{
    (void)state;
    static const struct test_case test = { .line = "--durability os --log-level error" };
    struct arena *arena = arena_create();
    struct result result;
    struct config_error err;
    assert_true(read_case(arena, &test, &result, &err));
    assert_int_equal(result.config.durability, CONFIG_DURABILITY_OS);
    assert_int_equal(result.config.log_level, LOG_ERROR);
    arena_destroy(arena);
}

static void every_form_of_a_flag_is_read(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--port 9000", .want = "port = 9000" },
        { .line = "--port=9000", .want = "port = 9000" },
        { .line = "serve --port 0", .want = "port = 0" },
        { .line = "check a --print-config", .want = "data-dir = a" },
        { .line = "check --data-dir a b --print-config", .want = "data-dir = b" },
        { .line = "--port 1 --port 2", .want = "port = 2" },
        { .line = "--in-memory", .want = "in-memory = true" },
        { .line = "--in-memory=false", .want = "in-memory = false" },
        { .line = "--in-memory --no-in-memory", .want = "in-memory = false" },
        { .line = "--in-memory --port 9", .want = "port = 9" },
        { .line = "--data-dir d --in-memory", .want = "in-memory = true" },
        { .line = "-inMemory -dbPath d --no-in-memory", .want = "data-dir = d" },
        { .line = "--data-dir a=b", .want = "data-dir = a=b" },
        { .line = "--data-dir=a=b", .want = "data-dir = a=b" },
        { .line = "--data-dir /my~data#1", .want = "data-dir = /my data#1" },
        { .line = "--data-dir --odd", .want = "data-dir = --odd" },
        { .line = "--cors-origins=", .want = "cors-origins = " },
        { .line = "--print-config --region eu-west-1", .want = "region = eu-west-1" },
    };
    expect_settings(cases, COUNT_OF(cases));
}

static void every_kind_of_value_is_read(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--block-cache-size 1048576", .want = "block-cache-size = 1M" },
        { .line = "--block-cache-size 1048577", .want = "block-cache-size = 1048577" },
        { .line = "--block-cache-size 1025K", .want = "block-cache-size = 1025K" },
        { .line = "--block-cache-size 2g", .want = "block-cache-size = 2G" },
        { .line = "--block-cache-size 1024G", .want = "block-cache-size = 1024G" },
        { .line = "--write-buffer-size 4G", .want = "write-buffer-size = 4G" },
        { .line = "--durability os", .want = "durability = os" },
        { .line = "--log-level debug", .want = "log-level = debug" },
        { .line = "--port 65535", .want = "port = 65535" },
        { .line = "--port 007", .want = "port = 7" },
        { .line = "--workers 256", .want = "workers = 256" },
        { .line = "--connections-max 1", .want = "connections-max = 1" },
        { .line = "--connections-max 1000000", .want = "connections-max = 1000000" },
        { .line = "--connections-per-address-max 0", .want = "connections-per-address-max = 0" },
        { .line = "--connections-per-address-max 1000000",
          .want = "connections-per-address-max = 1000000" },
        { .line = "--request-memory-max 64M", .want = "request-memory-max = 64M" },
        { .line = "--request-memory-max 1024G", .want = "request-memory-max = 1024G" },
        { .line = "--idle-timeout-ms 100", .want = "idle-timeout-ms = 100" },
        { .line = "--idle-timeout-ms 3600000", .want = "idle-timeout-ms = 3600000" },
        { .line = "", .want = "ttl-interval = 1000" },
        { .line = "--ttl-interval 10", .want = "ttl-interval = 10" },
        { .line = "--ttl-interval 3600000", .want = "ttl-interval = 3600000" },
        { .line = "--account-id 123456789012", .want = "account-id = 123456789012" },
        { .line = "--bind localhost", .want = "bind = 127.0.0.1" },
        { .line = "--bind 127.1.2.3", .want = "bind = 127.1.2.3" },
        { .line = "--bind ::1", .want = "bind = ::1" },
        { .line = "--bind 0.0.0.0 --insecure", .want = "bind = 0.0.0.0" },
        { .line = "--insecure --bind ::", .want = "bind = ::" },
    };
    expect_settings(cases, COUNT_OF(cases));
}

static void each_source_overrides_the_one_before(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { "--config s.conf", { NULL }, "port = 1\n", "port = 1" },
        { "", { "STATOR_CONFIG=s.conf" }, "port = 1\n", "port = 1" },
        { "", { "STATOR_PORT=2" }, NULL, "port = 2" },
        { "--config s.conf", { "STATOR_PORT=2" }, "port = 1", "port = 2" },
        { "--config s.conf --port 3", { "STATOR_PORT=2" }, "port = 1", "port = 3" },
        { "--config=s.conf -port 3", { "STATOR_PORT=2" }, "port = 1", "port = 3" },
        { "--no-in-memory", { "STATOR_IN_MEMORY=1" }, NULL, "in-memory = false" },
        { "--config s.conf", { "STATOR_CONFIG=other.conf" }, "port = 1", "port = 1" },
        { "", { "STATOR_DATA_DIR=/d", "STATOR_IN_MEMORY=true" }, NULL, "data-dir = /d" },
        { "--in-memory", { "STATOR_DATA_DIR=/d" }, NULL, "in-memory = true" },
        { "", { "STATOR_PORT=" }, NULL, "port = 8000" },
        { "", { "STATOR_PORT=tcp://10.0.0.1:8000" }, NULL, "port = 8000" }, /* Kubernetes. */
        { "", { "STATOR_BINARY=x", "OTHER=2" }, NULL, "port = 8000" },
        { "", { "STATOR_BIND=0.0.0.0", "STATOR_INSECURE=1" }, NULL, "bind = 0.0.0.0" },
    };
    expect_settings(cases, COUNT_OF(cases));
}

static void a_file_is_lines_of_name_and_value(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--config s.conf", .file = "", .want = "port = 8000" },
        { .line = "--config s.conf", .file = "\n\n  # port = 1\n\t\n", .want = "port = 8000" },
        { .line = "--config s.conf", .file = "port=1", .want = "port = 1" },
        { .line = "--config s.conf", .file = "\t port \t=\t 1 \r\n", .want = "port = 1" },
        { .line = "--config s.conf", .file = "#\nport = 1\nworkers = 2", .want = "workers = 2" },
        { .line = "--config s.conf", .file = "data-dir = a # b", .want = "data-dir = a # b" },
        { .line = "--config s.conf", .file = "data-dir = a = b", .want = "data-dir = a = b" },
        { .line = "--config s.conf", .file = "in-memory = true", .want = "in-memory = true" },
        { .line = "--config s.conf", .file = "cors-origins =", .want = "cors-origins = " },
    };
    expect_settings(cases, COUNT_OF(cases));
}

static void flags_of_dynamodb_local_are_taken(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "-port 8001", .want = "port = 8001" },
        { .line = "-inMemory", .want = "in-memory = true" },
        { .line = "-dbPath /data", .want = "data-dir = /data" },
        { .line = "-cors a.example,b.example", .want = "cors-origins = a.example,b.example" },
        { .line = "-delayTransientStatuses", .want = "transition-delay-ms = 2000" },
        { .line = "-jar DynamoDBLocal.jar -sharedDb -dbPath ./d", .want = "data-dir = ./d" },
        { .line = "-Djava.library.path=./DynamoDBLocal_lib -jar DynamoDBLocal.jar -port 1",
          .want = "port = 1" },
        { .line = "-sharedDb -optimizeDbBeforeStartup -disableTelemetry -inMemory",
          .want = "in-memory = true" },
    };
    expect_settings(cases, COUNT_OF(cases));
}

static void a_line_for_dynamodb_local_makes_the_root_answer_as_it(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "-inMemory", .want = "root-answer = dynamodb-local" },
        { .line = "serve -sharedDb", .want = "root-answer = dynamodb-local" },
        { .line = "-Xmx1g -jar DynamoDBLocal.jar", .want = "root-answer = dynamodb-local" },
        { .line = "-jar DynamoDBLocal.jar -inMemory --root-answer service",
          .want = "root-answer = service" },
        { .line = "--in-memory --port 1", .want = "root-answer = service" },
    };
    expect_settings(cases, COUNT_OF(cases));
}

/* DynamoDB Local would keep tables of access keys and regions apart. */
#define ONE "there is one set of tables for all regions and credentials, as with -sharedDb"

static void flags_without_effect_are_named_in_one_note(void **state)
{
    (void)state;
    static const struct {
        struct test_case test;
        const char *note; /* NULL: none. */
    } cases[] = {
        { { .line = "-sharedDb -disableTelemetry" },
          "flags without effect here: -sharedDb (there is one set of tables for all regions and "
          "credentials), -disableTelemetry (nothing is ever reported to anyone)" },
        { { .line = "-disableTelemetry" },
          "flags without effect here: -disableTelemetry (nothing is ever reported to "
          "anyone); " ONE },
        { { .line = "-inMemory -port 1" }, ONE },
        { { .line = "-jar DynamoDBLocal.jar" }, ONE },
        { { .line = "serve --in-memory" }, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create();
        struct result result;
        struct config_error err;
        assert_true(read_case(arena, &cases[i].test, &result, &err));
        if (cases[i].note == NULL)
            assert_null(result.line.note);
        else
            assert_string_equal(result.line.note, cases[i].note);
        arena_destroy(arena);
    }
}

static void a_bad_command_line_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--bogus", .want = "--bogus: no such flag (see --help)" },
        { .line = "--bogus=1", .want = "--bogus: no such flag (see --help)" },
        { .line = "--no-port", .want = "--no-port: no such flag (see --help)" },
        { .line = "--no-bogus", .want = "--no-bogus: no such flag (see --help)" },
        { .line = "chek", .want = "'chek': no such command; did you mean check? (see --help)" },
        { .line = "-- a", .want = "'a': no such command (see --help)" },
        { .line = "-", .want = "'-': no such command (see --help)" },
        { .line = "--por 1", .want = "--por: no such flag; did you mean --port? (see --help)" },
        { .line = "-por 1", .want = "-por: no such flag; did you mean --port? (see --help)" },
        { .line = "--dbPath d", .want = "--dbPath: no such flag (see --help)" },
        { .line = "-data-dir d",
          .want = "-data-dir: no such flag; did you mean --data-dir? (see --help)" },
        { .line = "check -dbPath d", .want = "-dbPath: no such flag (see `stator check --help`)" },
        { .line = "-bogus", .want = "-bogus: no such flag (see --help)" },
        { .line = "-Dx=y -port 1 -Dx=y", .want = "-Dx: no such flag (see --help)" },
        { .line = "-jar", .want = "-jar: no such flag (see --help)" },
        { .line = "destroy", .want = "'destroy': no such command (see --help)" },
        { .line = "check one two", .want = "check: expected [DIR] (see `stator check --help`)" },
        { .line = "check --in-memory",
          .want = "--in-memory: there is no store in memory to check" },
        { .line = "backup dir --in-memory",
          .want = "--in-memory: there is no store in memory to back up" },
        { .line = "restore dir --in-memory",
          .want = "--in-memory: there is no store in memory to restore" },
        { .line = "--port 1 check",
          .want = "'check': a command must be the first word (see --help)" },
        { .line = "check --bogus", .want = "--bogus: no such flag (see `stator check --help`)" },
        { .line = "serve serve", .want = "'serve': a command must be the first word (see --help)" },
        { .line = "--port", .want = "--port: needs a value behind it" },
        { .line = "-port", .want = "-port: needs a value behind it" },
        { .line = "--no-in-memory=1", .want = "--no-in-memory: takes no value" },
        { .line = "--in-memory=maybe", .want = "--in-memory: 'maybe' is neither true nor false" },
        { .line = "-inMemory -dbPath d", .want = "-inMemory and -dbPath exclude each other" },
        { .line = "-dbPath d -inMemory", .want = "-inMemory and -dbPath exclude each other" },
        { .line = "--config missing.conf",
          .want = "--config: missing.conf: No such file or directory" },
        { .line = "--config=", .want = "--config: must not be empty" },
    };
    expect_refusals(cases, COUNT_OF(cases));
}

static void a_bad_value_is_refused_in_one_line(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--port 65536", .want = "--port: '65536' is not a number from 0 to 65535" },
        { .line = "-port 65536", .want = "-port: '65536' is not a number from 0 to 65535" },
        { .line = "--port=", .want = "--port: '' is not a number from 0 to 65535" },
        { .line = "--port -1", .want = "--port: '-1' is not a number from 0 to 65535" },
        { .line = "--port +1", .want = "--port: '+1' is not a number from 0 to 65535" },
        { .line = "--port 1K", .want = "--port: '1K' is not a number from 0 to 65535" },
        { .line = "--port 18446744073709551617",
          .want = "--port: '18446744073709551617' is not a number from 0 to 65535" },
        { .line = "--workers 257", .want = "--workers: '257' is not a number from 0 to 256" },
        { .line = "--connections-max 0",
          .want = "--connections-max: '0' is not a number from 1 to 1000000" },
        { .line = "--connections-per-address-max 1000001",
          .want = "--connections-per-address-max: '1000001' is not a number from 0 to 1000000" },
        { .line = "--request-memory-max 67108863",
          .want = "--request-memory-max: '67108863' is not a number from 64M to 1024G "
                  "(bytes, or with K, M or G)" },
        { .line = "--request-memory-max 1025G",
          .want = "--request-memory-max: '1025G' is not a number from 64M to 1024G "
                  "(bytes, or with K, M or G)" },
        { .line = "--connections-max 1000001",
          .want = "--connections-max: '1000001' is not a number from 1 to 1000000" },
        { .line = "--ttl-interval 9",
          .want = "--ttl-interval: '9' is not a number from 10 to 3600000" },
        { .line = "--ttl-interval 3600001",
          .want = "--ttl-interval: '3600001' is not a number from 10 to 3600000" },
        { .line = "--body-timeout-ms 99",
          .want = "--body-timeout-ms: '99' is not a number from 100 to 3600000" },
        { .line = "--body-timeout-ms 3600001",
          .want = "--body-timeout-ms: '3600001' is not a number from 100 to 3600000" },
        { .line = "--block-cache-size 1048575",
          .want = "--block-cache-size: '1048575' is not a number from 1M to 1024G (bytes, or with "
                  "K, M or G)" },
        { .line = "--block-cache-size 1025G",
          .want = "--block-cache-size: '1025G' is not a number from 1M to 1024G (bytes, or with "
                  "K, M or G)" },
        { .line = "--block-cache-size 17179869185G", /* 2^64 bytes and 1G. */
          .want = "--block-cache-size: '17179869185G' is not a number from 1M to 1024G (bytes, or "
                  "with K, M or G)" },
        { .line = "--write-buffer-size M",
          .want = "--write-buffer-size: 'M' is not a number from 1M to 4G (bytes, or with K, M or "
                  "G)" },
        { .line = "--durability none", .want = "--durability: 'none' is none of sync, os" },
        { .line = "--log-level trace",
          .want = "--log-level: 'trace' is none of debug, info, warn, error" },
        { .line = "--account-id 12345678901",
          .want = "--account-id: '12345678901' is not an account id of 12 digits" },
        { .line = "--account-id 1234567890123",
          .want = "--account-id: '1234567890123' is not an account id of 12 digits" },
        { .line = "--region EU",
          .want = "--region: 'EU' is not a region's name: lower-case letters, digits and hyphens" },
        { .line = "--region=", .want = "--region: must not be empty" },
        { .line = "--bind example.com",
          .want = "--bind: 'example.com' is not an IPv4 or IPv6 address" },
        { .line = "--bind 127.0.0.1:80",
          .want = "--bind: '127.0.0.1:80' is not an IPv4 or IPv6 address" },
        { .line = "--data-dir=", .want = "--data-dir: must not be empty" },
        { .line = "--data-dir ~d",
          .want = "--data-dir: control characters or spaces around the value" },
        { .line = "--data-dir a\nb",
          .want = "--data-dir: control characters or spaces around the value" },
        { .line = "--port 1\n2", .want = "--port: '1?2' is not a number from 0 to 65535" },
    };
    expect_refusals(cases, COUNT_OF(cases));
}

static void an_address_others_can_reach_needs_tls_and_auth_or_insecure(void **state)
{
    (void)state;
#define REACHABLE_BUT(address, missing)                                                            \
    "other machines can reach " address ", which requires " missing ", or --insecure"
#define REACHABLE(address) REACHABLE_BUT(address, "--tls-cert-file and --tls-key-file, and --auth")
#define TLS "--tls-cert-file c --tls-key-file k"
#define AUTH "--auth --master-key-file m"
    static const struct test_case cases[] = {
        { .line = "--bind 0.0.0.0", .want = "--bind: " REACHABLE("0.0.0.0") },
        { .line = "--bind ::", .want = "--bind: " REACHABLE("::") },
        { .line = "--bind 128.0.0.1", .want = "--bind: " REACHABLE("128.0.0.1") },
        { .line = "--bind 126.255.255.255", .want = "--bind: " REACHABLE("126.255.255.255") },
        { .line = "--bind ::2", .want = "--bind: " REACHABLE("::2") },
        { .line = "--insecure --no-insecure --bind 10.0.0.1",
          .want = "--bind: " REACHABLE("10.0.0.1") },
        { "", { "STATOR_BIND=10.0.0.1" }, NULL, "STATOR_BIND: " REACHABLE("10.0.0.1") },
        { "--config s.conf", { NULL }, "\nbind = ::\n", "s.conf:2: bind: " REACHABLE("::") },
        { .line = TLS " --bind 10.0.0.1", .want = "--bind: " REACHABLE_BUT("10.0.0.1", "--auth") },
        { .line = AUTH " --bind 10.0.0.1",
          .want = "--bind: " REACHABLE_BUT("10.0.0.1", "--tls-cert-file and --tls-key-file") },
    };
    static const struct test_case allowed[] = {
        { .line = TLS " " AUTH " --bind 10.0.0.1", .want = "bind = 10.0.0.1" },
        { .line = TLS " --insecure --bind 10.0.0.1", .want = "bind = 10.0.0.1" },
        { .line = TLS, .want = "bind = 127.0.0.1" },
    };
    expect_refusals(cases, COUNT_OF(cases));
    expect_settings(allowed, COUNT_OF(allowed));
}

static void certificate_and_key_come_together(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { .line = "--tls-cert-file c", .want = "--tls-cert-file: needs --tls-key-file as well" },
        { .line = "--tls-key-file k", .want = "--tls-key-file: needs --tls-cert-file as well" },
        { "",
          { "STATOR_TLS_KEY_FILE=k" },
          NULL,
          "STATOR_TLS_KEY_FILE: needs --tls-cert-file as well" },
        { .line = "--tls-client-ca-file a",
          .want = "--tls-client-ca-file: needs --tls-cert-file and --tls-key-file" },
    };
    static const struct test_case allowed[] = {
        { .line = TLS, .want = "tls-cert-file = c" },
        { .line = TLS, .want = "tls-key-file = k" },
        { .line = TLS " --tls-client-ca-file a", .want = "tls-client-ca-file = a" },
    };
    expect_refusals(cases, COUNT_OF(cases));
    expect_settings(allowed, COUNT_OF(allowed));
}

static void keys_need_a_master_key(void **state)
{
    (void)state;
    static const struct test_case refusals[] = {
        { .line = "--auth", .want = "--auth: needs --master-key-file" },
        { "", { "STATOR_AUTH=1" }, NULL, "STATOR_AUTH: needs --master-key-file" },
        { .line = "key list", .want = "access keys: needs --master-key-file" },
        { .line = "policy get A n", .want = "access keys: needs --master-key-file" },
    };
    static const struct test_case accepted[] = {
        { .line = "--auth --master-key-file m", .want = "master-key-file = m" },
        { "--auth", { "STATOR_MASTER_KEY_FILE=m" }, NULL, "master-key-file = m" },
        { "--auth",
          { "CREDENTIALS_DIRECTORY=/c" },
          NULL,
          "master-key-file = /c/stator-master-key" },
        { "--auth --master-key-file m",
          { "CREDENTIALS_DIRECTORY=/c" },
          NULL,
          "master-key-file = m" },
    };
    expect_refusals(refusals, COUNT_OF(refusals));
    expect_settings(accepted, COUNT_OF(accepted));
}

static void a_refusal_names_the_variable_or_the_line(void **state)
{
    (void)state;
    static const struct test_case cases[] = {
        { "", { "STATOR_PORT=x" }, NULL, "STATOR_PORT: 'x' is not a number from 0 to 65535" },
        { "", { "STATOR_IN_MEMORY=y" }, NULL, "STATOR_IN_MEMORY: 'y' is neither true nor false" },
        { "", { "STATOR_CONFIG=x" }, NULL, "STATOR_CONFIG: x: No such file or directory" },
        { "--config s.conf",
          { NULL },
          "\n\nport = x",
          "s.conf:3: port: 'x' is not a number from 0 to 65535" },
        { "--config s.conf",
          { NULL },
          "# c\nprot = 1\n",
          "s.conf:2: no setting is called 'prot' in a file" },
        { "--config s.conf",
          { NULL },
          "config = s.conf",
          "s.conf:1: no setting is called 'config' in a file" },
        { "--config s.conf", { NULL }, "port 1", "s.conf:1: not of the form `name = value`" },
        { "--config s.conf", { NULL }, " = 1", "s.conf:1: not of the form `name = value`" },
        { "--config s.conf",
          { NULL },
          "port = 1\n\nport = 1",
          "s.conf:3: port was set on line 1 already" },
        { "--config s.conf",
          { NULL },
          "in-memory =",
          "s.conf:1: in-memory: '' is neither true nor false" },
        { "--config s.conf",
          { NULL },
          "data-dir = a\001b",
          "s.conf:1: data-dir: control characters or spaces around the value" },
    };
    expect_refusals(cases, COUNT_OF(cases));
}

static void what_is_printed_reads_back_equal(void **state)
{
    (void)state;
    static const struct test_case test = {
        .line = "--port 1 --data-dir /a~b#=c --no-in-memory --block-cache-size 1234567 "
                "--cors-origins= --log-level warn --durability os"
    };
    struct arena *arena = arena_create();
    struct result first, second;
    struct config_error err;
    assert_true(read_case(arena, &test, &first, &err));
    struct bytes printed = config_print(arena, &first.config);
    struct test_case again = {
        .line = "--config s.conf",
        .file = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(printed)).data
    };
    assert_true(read_case(arena, &again, &second, &err));
    assert_true(bytes_equal(printed, config_print(arena, &second.config)));
    arena_destroy(arena);
}

static void a_command_and_what_is_asked_of_it_are_found(void **state)
{
    (void)state;
    static const struct {
        struct test_case test;
        const char *command;
        enum command_line_request want;
    } cases[] = {
        { { .line = "--help" }, NULL, COMMAND_LINE_HELP },
        { { .line = "-help" }, NULL, COMMAND_LINE_HELP },
        { { .line = "-h" }, NULL, COMMAND_LINE_HELP },
        { { .line = "serve --port 1 --help --bogus" }, "serve", COMMAND_LINE_HELP },
        { { .line = "--port abc --help" }, NULL, COMMAND_LINE_HELP },
        { { .line = "check --help" }, "check", COMMAND_LINE_HELP },
        { { .line = "restore --help" }, "restore", COMMAND_LINE_HELP },
        { { .line = "trigger -h" }, "trigger", COMMAND_LINE_HELP },
        { { .line = "--version" }, NULL, COMMAND_LINE_VERSION },
        { { .line = "-version" }, NULL, COMMAND_LINE_VERSION },
        { { .line = "-V" }, NULL, COMMAND_LINE_VERSION },
        { { .line = "--version", .variables = { "STATOR_PORT=x" } }, NULL, COMMAND_LINE_VERSION },
        { { .line = "--print-config" }, NULL, COMMAND_LINE_SETTINGS },
        { { .line = "" }, NULL, COMMAND_LINE_RUN },
        { { .line = "--" }, NULL, COMMAND_LINE_RUN },
        { { .line = "serve" }, "serve", COMMAND_LINE_RUN },
        { { .line = "check" }, "check", COMMAND_LINE_RUN },
        { { .line = "check -- --dir" }, "check", COMMAND_LINE_RUN },
        { { .line = "check --data-dir dir --log-level warn" }, "check", COMMAND_LINE_RUN },
        { { .line = "check", .variables = { "STATOR_BIND=0.0.0.0" } }, "check", COMMAND_LINE_RUN },
        { { .line = "backup dir" }, "backup", COMMAND_LINE_RUN },
        { { .line = "restore dir --data-dir new --bind 0.0.0.0" }, "restore", COMMAND_LINE_RUN },
        { { .line = "help key" }, "help", COMMAND_LINE_RUN },
        { { .line = "version" }, "version", COMMAND_LINE_RUN },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create();
        struct result result;
        struct config_error err;
        if (!read_case(arena, &cases[i].test, &result, &err))
            fail_msg("'%s': %s", cases[i].test.line, err.text);
        assert_int_equal(result.line.request, cases[i].want);
        assert_int_equal(result.line.is_named, cases[i].command != NULL);
        const char *command = cases[i].command != NULL ? cases[i].command : "serve";
        assert_string_equal(result.line.call.command->name, command);
        arena_destroy(arena);
    }
}

static void words_and_flags_may_be_mixed(void **state)
{
    (void)state;
    static const struct test_case tests[] = {
        { .line = "policy put AKIA --master-key-file m name - --bind 0.0.0.0" },
        { .line = "policy --master-key-file m put AKIA name -" },
        { .line = "policy --master-key-file=m put -- AKIA name -" },
    };
    static const char *const want[] = { "AKIA", "name", "-" };
    for (size_t i = 0; i < COUNT_OF(tests); i++) {
        struct arena *arena = arena_create();
        struct result result;
        struct config_error err;
        assert_true(read_case(arena, &tests[i], &result, &err)); /* It listens on no address. */
        const struct command_call *call = &result.line.call;
        assert_string_equal(call->command->name, "policy");
        assert_string_equal(call->verb->name, "put");
        assert_int_equal(call->word_count, COUNT_OF(want));
        for (size_t j = 0; j < COUNT_OF(want); j++)
            assert_string_equal(call->words[j], want[j]);
        arena_destroy(arena);
    }
}

static void flags_of_a_command_are_kept_in_order(void **state)
{
    (void)state;
    static const struct test_case test = {
        .line = "trigger add --filter a --bisect --batch-size=-1 --filter b --url=u"
    };
    static const char *const want[][2] = { { "filter", "a" },
                                           { "bisect", "" },
                                           { "batch-size", "-1" },
                                           { "filter", "b" },
                                           { "url", "u" } };
    struct arena *arena = arena_create();
    struct result result;
    struct config_error err;
    assert_true(read_case(arena, &test, &result, &err));
    const struct command_call *call = &result.line.call;
    assert_int_equal(call->value_count, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_string_equal(call->values[i].flag->name, want[i][0]);
        assert_string_equal(call->values[i].text, want[i][1]);
    }
    assert_string_equal(command_value_of(call, "filter"), "b");
    assert_null(command_value_of(call, "table"));
    arena_destroy(arena);
}

static void a_command_line_has_a_longest_length(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    char flag[] = "--in-memory";
    char *argv[COMMAND_LINE_WORDS_MAX + 2] = { NULL };
    for (size_t i = 0; i <= COMMAND_LINE_WORDS_MAX; i++)
        argv[i] = flag;
    struct command_line line;
    struct config_error err;
    assert_true(command_line_parse(arena, COMMAND_LINE_WORDS_MAX, argv, &line, &err));
    assert_int_equal(line.setting_count, COMMAND_LINE_WORDS_MAX - 1);
    assert_false(command_line_parse(arena, COMMAND_LINE_WORDS_MAX + 1, argv, &line, &err));
    assert_string_equal(err.text, "more than 256 words on the command line");
    arena_destroy(arena);
}

static void help_fits_into_100_columns_and_names_everything(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes overview = help_text(arena, NULL);
    const char *all = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(overview)).data;
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &command_table[i];
        struct bytes help = help_text(arena, command);
        const char *text = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(help)).data;
        assert_non_null(strstr(all, command->name));
        for (size_t j = 0; j < command->flag_count; j++)
            assert_true(command->flags[j].is_hidden ||
                        strstr(text, command->flags[j].name) != NULL);
        for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
            if (strcspn(line, "\n") > 100)
                fail_msg("longer than 100 columns: %s", line);
    }
    struct bytes serve = help_text(arena, command_find("serve"));
    const char *text = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(serve)).data;
    for (size_t i = 0; i < setting_count; i++) {
        assert_non_null(strstr(text, setting_table[i].name));
        assert_true(strlen(setting_table[i].name) < SETTING_NAME_MAX);
    }
    arena_destroy(arena);
}

static void the_overview_lists_each_command_once_in_one_column(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes overview = help_text(arena, NULL);
    const char *text = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(overview)).data;
    size_t rows = 0, column = 0;
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, "  ", 2) != 0)
            continue;
        size_t name_size = strcspn(line + 2, " ");
        size_t purpose = 2 + name_size + strspn(line + 2 + name_size, " ");
        assert_true(rows == 0 || purpose == column);
        column = purpose;
        rows++;
    }
    assert_int_equal(rows, command_count);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_as_documented),
        cmocka_unit_test(choices_are_in_the_order_of_their_enums),
        cmocka_unit_test(every_form_of_a_flag_is_read),
        cmocka_unit_test(every_kind_of_value_is_read),
        cmocka_unit_test(each_source_overrides_the_one_before),
        cmocka_unit_test(a_file_is_lines_of_name_and_value),
        cmocka_unit_test(flags_of_dynamodb_local_are_taken),
        cmocka_unit_test(a_line_for_dynamodb_local_makes_the_root_answer_as_it),
        cmocka_unit_test(flags_without_effect_are_named_in_one_note),
        cmocka_unit_test(a_command_and_what_is_asked_of_it_are_found),
        cmocka_unit_test(words_and_flags_may_be_mixed),
        cmocka_unit_test(flags_of_a_command_are_kept_in_order),
        cmocka_unit_test(a_command_line_has_a_longest_length),
        cmocka_unit_test(help_fits_into_100_columns_and_names_everything),
        cmocka_unit_test(the_overview_lists_each_command_once_in_one_column),
        cmocka_unit_test(a_bad_command_line_is_refused_in_one_line),
        cmocka_unit_test(a_bad_value_is_refused_in_one_line),
        cmocka_unit_test(an_address_others_can_reach_needs_tls_and_auth_or_insecure),
        cmocka_unit_test(certificate_and_key_come_together),
        cmocka_unit_test(keys_need_a_master_key),
        cmocka_unit_test(a_refusal_names_the_variable_or_the_line),
        cmocka_unit_test(what_is_printed_reads_back_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
