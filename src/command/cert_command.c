/* cert_command.c -- see cert_command.h. */
#include "command/cert_command.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "command/command_line.h"
#include "crypto/self_signed.h"

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    DAY_SECONDS = 24 * 60 * 60,
    DAYS_DEFAULT = 365,
    DAYS_DIGITS_MAX = 9,
    DIRECTORY_MODE = 0755,
    CERT_MODE = 0644,
    KEY_MODE = 0600,
};

static_assert(SELF_SIGNED_DAYS_MAX == 3650, "as parse_word says");

static const char usage[] =
    "Usage: stator cert self-signed --out-dir DIR [--host NAME]... [--days N]\n"
    "\n"
    "Writes DIR/cert.pem and DIR/key.pem: a new key and a certificate signed by itself. Clients\n"
    "have to be told to trust it. Nothing is ever overwritten.\n"
    "\n"
    "  --out-dir DIR   where to; made if it is not there\n"
    "  --host NAME     DNS name or IP address of the server; may be repeated\n"
    "                  [localhost, 127.0.0.1, ::1]\n"
    "  --days N        how long it is valid [365]\n";

static const char *const hosts_default[] = { "localhost", "127.0.0.1", "::1" };

struct command {
    struct arena *arena;
    struct command_line line;
    const char *directory;
    const char *hosts[SELF_SIGNED_HOSTS_MAX];
    size_t host_count;
    unsigned days;
};

/* --- The command line --- */

/* The value of the flag `name`: NULL if `word` is another one, "" if there is no value. */
static const char *take_value(struct command *command, const char *word, const char *name)
{
    if (!command_line_is_flag(word, name))
        return NULL;
    const char *value = command_line_take_value(&command->line, word);
    return value != NULL ? value : "";
}

static bool parse_days(const char *text, unsigned *out)
{
    size_t size = strlen(text);
    if (size == 0 || size > DAYS_DIGITS_MAX || strspn(text, "0123456789") != size)
        return false;
    unsigned long days = strtoul(text, NULL, 10);
    *out = (unsigned)days;
    return days >= 1 && days <= SELF_SIGNED_DAYS_MAX;
}

static int parse_word(struct command *command, const char *word)
{
    const char *value;
    if ((value = take_value(command, word, "--out-dir")) != NULL) {
        command->directory = value;
        return value[0] != '\0'
                   ? 0
                   : command_line_fail(EXIT_USAGE, "--out-dir", "needs a value behind it");
    }
    if ((value = take_value(command, word, "--host")) != NULL) {
        if (!self_signed_accepts(value))
            return command_line_fail(EXIT_USAGE, "--host", "takes a DNS name or an IP address");
        if (command->host_count == SELF_SIGNED_HOSTS_MAX)
            return command_line_fail(EXIT_USAGE, "--host", "too many of them");
        command->hosts[command->host_count++] = value;
        return 0;
    }
    if ((value = take_value(command, word, "--days")) != NULL)
        return parse_days(value, &command->days)
                   ? 0
                   : command_line_fail(EXIT_USAGE, "--days", "takes a number from 1 to 3650");
    return command_line_fail(EXIT_USAGE, word, "no such flag (see `stator cert --help`)");
}

static int parse(struct command *command)
{
    struct command_line *line = &command->line;
    while (line->next < line->argc) {
        int code = parse_word(command, line->argv[line->next++]);
        if (code != 0)
            return code;
    }
    if (command->directory == NULL)
        return command_line_fail(EXIT_USAGE, "cert self-signed", "needs --out-dir");
    if (command->host_count == 0) {
        memcpy(command->hosts, hosts_default, sizeof hosts_default);
        command->host_count = COUNT_OF(hosts_default);
    }
    return 0;
}

/* --- Files --- */

/* Of a file that was there before, nothing is changed. */
static bool write_new(const char *path, unsigned mode, struct bytes text)
{
    int file = file_open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return false;
    bool ok = file_write(file, text) && fsync(file) == 0;
    int error = errno;
    file_close(file);
    if (!ok)
        unlink(path); /* Half a file helps nobody, and would be in the way. */
    errno = error;
    return ok;
}

static void print(const struct command *command, const char *cert_path, const char *key_path,
                  time_t end)
{
    struct tm parts = clock_utc(end);
    char date[sizeof "2026-11-15"];
    strftime(date, sizeof date, "%Y-%m-%d", &parts);
    printf("A certificate for ");
    for (size_t i = 0; i < command->host_count; i++)
        printf("%s%s", i > 0 ? ", " : "", command->hosts[i]);
    printf(", valid until %s.\n\n", date);
    printf("Server:             stator --tls-cert-file %s --tls-key-file %s\n", cert_path,
           key_path);
    printf("AWS CLI and boto3:  AWS_CA_BUNDLE=%s\n", cert_path);
    printf("Node.js:            NODE_EXTRA_CA_CERTS=%s\n", cert_path);
}

static int write_files(struct command *command)
{
    int64_t now_ms = clock_wall_ms(&clock_system);
    struct self_signed_options options = { .hosts = command->hosts,
                                           .host_count = command->host_count,
                                           .days = command->days,
                                           .now_ms = now_ms };
    struct bytes cert, key;
    char directory[PATH_MAX];
    if (mkdir(command->directory, DIRECTORY_MODE) != 0 && errno != EEXIST)
        return command_line_fail(EXIT_FAILED, command->directory, strerror(errno));
    if (realpath(command->directory, directory) == NULL)
        return command_line_fail(EXIT_FAILED, command->directory, strerror(errno));
    const char *cert_path =
        (const char *)arena_printf(command->arena, "%s/cert.pem", directory).data;
    const char *key_path = (const char *)arena_printf(command->arena, "%s/key.pem", directory).data;
    self_signed_create(command->arena, &options, &cert, &key);
    if (!write_new(key_path, KEY_MODE, key))
        return command_line_fail(EXIT_FAILED, key_path, strerror(errno));
    if (!write_new(cert_path, CERT_MODE, cert)) {
        int code = command_line_fail(EXIT_FAILED, cert_path, strerror(errno));
        unlink(key_path);
        return code;
    }
    print(command, cert_path, key_path,
          (time_t)(now_ms / 1000) + (time_t)command->days * DAY_SECONDS);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : EXIT_FAILED;
}

int cert_command(int argc, char *const *argv)
{
    struct command command = { .line = { .argc = argc, .argv = argv, .next = 1 },
                               .days = DAYS_DEFAULT };
    if (command_line_asks_for_help(&command.line))
        return fputs(usage, stdout) >= 0 && fflush(stdout) == 0 ? 0 : EXIT_FAILED;
    if (argc == 0 || strcmp(argv[0], "self-signed") != 0)
        return command_line_fail(EXIT_USAGE, "cert", "only self-signed (see `stator cert --help`)");
    command.arena = arena_create();
    int code = parse(&command);
    if (code == 0)
        code = write_files(&command);
    arena_destroy(command.arena);
    return code;
}
