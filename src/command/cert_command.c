/* cert_command.c -- `stator cert`: creates a certificate for a server without an authority. */
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
#include "command/command.h"
#include "crypto/self_signed.h"

enum {
    DAY_SECONDS = 24 * 60 * 60,
    DAYS_DEFAULT = 365,
    DAYS_DIGITS_MAX = 9,
    DIRECTORY_MODE = 0755,
    CERT_MODE = 0644,
    KEY_MODE = 0600,
};

static_assert(SELF_SIGNED_DAYS_MAX == 3650, "as the message of read_flags says");

static const char *const hosts_default[] = { "localhost", "127.0.0.1", "::1" };

struct request {
    struct arena *arena;
    const char *directory;
    const char *hosts[SELF_SIGNED_HOSTS_MAX];
    size_t host_count;
    unsigned days;
};

static bool parse_days(const char *text, unsigned *out)
{
    size_t size = strlen(text);
    if (size == 0 || size > DAYS_DIGITS_MAX || strspn(text, "0123456789") != size)
        return false;
    unsigned long days = strtoul(text, NULL, 10);
    *out = (unsigned)days;
    return days >= 1 && days <= SELF_SIGNED_DAYS_MAX;
}

static int read_flags(const struct command_call *call, struct request *request)
{
    for (size_t i = 0; i < call->value_count; i++) {
        const char *flag = call->values[i].flag->name, *text = call->values[i].text;
        if (strcmp(flag, "days") == 0 && !parse_days(text, &request->days))
            return command_fail(COMMAND_MISUSED, "--days", "takes a number from 1 to 3650");
        if (strcmp(flag, "host") != 0)
            continue;
        if (!self_signed_accepts(text))
            return command_fail(COMMAND_MISUSED, "--host", "takes a DNS name or an IP address");
        if (request->host_count == SELF_SIGNED_HOSTS_MAX)
            return command_fail(COMMAND_MISUSED, "--host", "too many of them");
        request->hosts[request->host_count++] = text;
    }
    request->directory = command_value_of(call, "out-dir");
    if (request->directory == NULL)
        return command_fail(COMMAND_MISUSED, "cert self-signed", "needs --out-dir");
    if (request->host_count == 0) {
        memcpy(request->hosts, hosts_default, sizeof hosts_default);
        request->host_count = COUNT_OF(hosts_default);
    }
    return COMMAND_OK;
}

/* --- Files --- */

/* Creates a file; an existing one is left alone, with EEXIST. */
static bool write_new(const char *path, unsigned mode, struct bytes text)
{
    int file = file_open_at(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file < 0)
        return false;
    bool ok = file_write(file, text) && fsync(file) == 0;
    int error = errno;
    file_close(file);
    if (!ok)
        unlink(path); /* A second attempt must not find half a file. */
    errno = error;
    return ok;
}

static void print(const struct request *request, const char *cert_path, const char *key_path,
                  time_t end)
{
    struct tm parts = clock_utc(end);
    char date[sizeof "2026-11-15"];
    strftime(date, sizeof date, "%Y-%m-%d", &parts);
    printf("A certificate for ");
    for (size_t i = 0; i < request->host_count; i++)
        printf("%s%s", i > 0 ? ", " : "", request->hosts[i]);
    printf(", valid until %s.\n\n", date);
    printf("Server:             stator --tls-cert-file %s --tls-key-file %s\n", cert_path,
           key_path);
    printf("AWS CLI and boto3:  AWS_CA_BUNDLE=%s\n", cert_path);
    printf("Node.js:            NODE_EXTRA_CA_CERTS=%s\n", cert_path);
}

static int write_files(struct request *request)
{
    int64_t now_ms = clock_wall_ms(&clock_system);
    struct self_signed_options options = { .hosts = request->hosts,
                                           .host_count = request->host_count,
                                           .days = request->days,
                                           .now_ms = now_ms };
    struct bytes cert, key;
    char directory[PATH_MAX];
    if (mkdir(request->directory, DIRECTORY_MODE) != 0 && errno != EEXIST)
        return command_fail(COMMAND_FAILED, request->directory, strerror(errno));
    if (realpath(request->directory, directory) == NULL)
        return command_fail(COMMAND_FAILED, request->directory, strerror(errno));
    const char *cert_path =
        (const char *)arena_printf(request->arena, "%s/cert.pem", directory).data;
    const char *key_path = (const char *)arena_printf(request->arena, "%s/key.pem", directory).data;
    self_signed_create(request->arena, &options, &cert, &key);
    if (!write_new(key_path, KEY_MODE, key))
        return command_fail(COMMAND_FAILED, key_path, strerror(errno));
    if (!write_new(cert_path, CERT_MODE, cert)) {
        int code = command_fail(COMMAND_FAILED, cert_path, strerror(errno));
        unlink(key_path);
        return code;
    }
    print(request, cert_path, key_path,
          (time_t)(now_ms / 1000) + (time_t)request->days * DAY_SECONDS);
    return command_flush();
}

int cert_command(const struct command_call *call)
{
    struct request request = { .arena = call->arena, .days = DAYS_DEFAULT };
    int code = read_flags(call, &request);
    return code == COMMAND_OK ? write_files(&request) : code;
}
