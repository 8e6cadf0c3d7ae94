/* regions.c -- see regions.h.
 *
 * A child reads its settings from a file in memory that it inherits: those of the parent with a few
 * changed. It sees none of the parent's flags and STATOR_ variables, so nothing overrides the file.
 */
#include "command/regions.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/log.h"
#include "config/config.h"
#include "config/setting.h"
#include "http/grammar.h"

extern char **environ;

static bool refuse(char message[REGIONS_MESSAGE_MAX], struct bytes region, const char *problem)
{
    snprintf(message, REGIONS_MESSAGE_MAX, "regions: %.*s: %s",
             (int)(region.len < 40 ? region.len : 40), (const char *)region.data, problem);
    return false;
}

/* The next region of the list. */
static bool next_region(struct bytes *rest, struct bytes *out)
{
    if (rest->len == 0)
        return false;
    *out = http_header_next_part(rest, ',');
    return true;
}

void regions_name_first(struct arena *arena, struct config *config)
{
    struct bytes rest = bytes_from_text(config->regions), region;
    const struct setting *setting = setting_find(BYTES("region"));
    if (next_region(&rest, &region) && strcmp(config->region, setting->default_value) == 0)
        config->region = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(region)).data;
}

bool regions_check(const struct config *config, char message[REGIONS_MESSAGE_MAX])
{
    struct bytes rest = bytes_from_text(config->regions), region, seen[REGIONS_MAX + 1];
    size_t count = 0;
    while (next_region(&rest, &region)) {
        if (count > REGIONS_MAX)
            return refuse(message, region, "too many regions");
        if (count == 0 && !bytes_equal_text(region, config->region))
            return refuse(message, region, "the first region must be that of the setting region");
        for (size_t i = 0; i < region.len; i++)
            if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-", region.data[i]) == NULL)
                return refuse(message, region, "this is no region's name");
        for (size_t i = 0; i < count; i++)
            if (bytes_equal(seen[i], region))
                return refuse(message, region, "named twice");
        if (region.len == 0 || region.len > 32)
            return refuse(message, region, "this is no region's name");
        seen[count++] = region;
    }
    return true;
}

/* --- A child's settings --- */

static struct bytes child_directory(struct arena *arena, const struct config *config,
                                    struct bytes region)
{
    return arena_printf(arena, "%s/regions/%.*s", config->data_dir, BYTES_FMT(region));
}

/* One of the regions and its server. */
struct place {
    struct bytes region;
    struct bytes url;
    unsigned port;
};

/* All places but one, as region-peers has them. */
static struct bytes format_peers(struct arena *arena, const struct place *places, size_t count,
                                 size_t except)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < count; i++)
        if (i != except)
            buffer_append_bytes(&out, arena_printf(arena, "%s%.*s %.*s", out.len > 0 ? ", " : "",
                                                   BYTES_FMT(places[i].region),
                                                   BYTES_FMT(places[i].url)));
    return buffer_bytes(&out);
}

/* What a child has instead of the parent's value; data NULL: the parent's. */
static struct bytes own_value(struct arena *arena, const struct config *config,
                              const struct place *place, struct bytes peers, const char *name)
{
    const struct {
        const char *name;
        struct bytes value;
    } values[] = {
        { "port", arena_printf(arena, "%u", place->port) },
        { "bind", BYTES("127.0.0.1") },
        { "insecure", BYTES("false") },
        { "region", place->region },
        { "regions", BYTES("") },
        { "region-peers", peers },
        { "data-dir", child_directory(arena, config, place->region) },
        /* A request is verified where it arrives, so all have the same keys. */
        { "keys-dir", bytes_from_text(config_keys_dir(config)) },
        { "exit-with-parent", BYTES("true") },
        /* Only the parent talks to it, on this machine. */
        { "tls-cert-file", BYTES("") },
        { "tls-key-file", BYTES("") },
        { "tls-client-ca-file", BYTES("") },
        { "metrics-bind", BYTES("") },
        { "connections-per-address-max", BYTES("0") },
    };
    for (size_t i = 0; i < COUNT_OF(values); i++)
        if (strcmp(values[i].name, name) == 0)
            return values[i].value;
    return (struct bytes){ 0 };
}

static struct bytes format_settings(struct arena *arena, const struct config *config,
                                    const struct place *place, struct bytes peers)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < setting_count; i++) {
        const struct setting *setting = &setting_table[i];
        struct bytes own = own_value(arena, config, place, peers, setting->name);
        struct buffer value;
        buffer_init(&value, arena);
        if (setting->outside_file)
            continue;
        setting_format(setting, config, &value);
        struct bytes text = own.data != NULL ? own : buffer_bytes(&value);
        buffer_append_bytes(&out,
                            arena_printf(arena, "%s = %.*s\n", setting->name, BYTES_FMT(text)));
    }
    return buffer_bytes(&out);
}

/* A file in memory that the child inherits. */
static int make_settings(struct arena *arena, const struct config *config,
                         const struct place *place, struct bytes peers)
{
    int fd = memfd_create("stator-region", 0);
    if (fd < 0)
        return -1;
    if (file_write(fd, format_settings(arena, config, place, peers)) && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

/* --- Children --- */

/* The environment without variables that settings could come from. */
static char **child_environment(struct arena *arena)
{
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    char **out = arena_alloc(arena, (count + 1) * sizeof *out);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "STATOR_", 7) != 0 &&
            strncmp(environ[i], "NOTIFY_SOCKET=", 14) != 0)
            out[kept++] = environ[i];
    out[kept] = NULL;
    return out;
}

static pid_t spawn(struct arena *arena, int settings, int output)
{
    char *words[] = { (char *)(uintptr_t) "stator", (char *)(uintptr_t) "serve",
                      (char *)(uintptr_t) "--config",
                      (char *)(uintptr_t)arena_printf(arena, "/proc/self/fd/%d", settings).data,
                      NULL };
    char **variables = child_environment(arena);
    sigset_t none;
    sigemptyset(&none);
    pid_t child = fork();
    if (child != 0)
        return child;
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(output, STDOUT_FILENO);
    execve("/proc/self/exe", words, variables);
    _exit(127);
}

/* Waits for the child's first line, which tells that it listens. */
static bool wait_until_ready(int output)
{
    static const char ready[] = " listening on ";
    char line[1024];
    size_t size = 0;
    const int64_t until_ms = clock_monotonic_ns() / 1000000 + REGIONS_START_TIMEOUT_MS;
    while (size < sizeof line && memchr(line, '\n', size) == NULL) {
        struct pollfd wait = { .fd = output, .events = POLLIN };
        int64_t left_ms = until_ms - clock_monotonic_ns() / 1000000;
        if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) <= 0)
            return false;
        ssize_t got = read(output, line + size, sizeof line - size);
        if (got <= 0)
            return false;
        size += (size_t)got;
    }
    return memmem(line, size, ready, sizeof ready - 1) != NULL;
}

static bool create_directory(struct arena *arena, const struct config *config,
                             const struct place *place)
{
    struct bytes parent = arena_printf(arena, "%s/regions", config->data_dir);
    struct bytes directory = child_directory(arena, config, place->region);
    return folder_create(config->data_dir) && folder_create((const char *)parent.data) &&
           folder_create((const char *)directory.data);
}

static bool start_region(struct regions *regions, struct arena *arena, const struct config *config,
                         const struct place *place, struct bytes peers,
                         char message[REGIONS_MESSAGE_MAX])
{
    int output[2] = { -1, -1 };
    if (!config->in_memory && !create_directory(arena, config, place))
        return refuse(message, place->region, strerror(errno));
    int settings = make_settings(arena, config, place, peers);
    pid_t child = -1;
    if (settings >= 0 && pipe2(output, O_CLOEXEC) == 0)
        child = spawn(arena, settings, output[1]);
    int problem = errno;
    if (settings >= 0)
        close(settings);
    if (output[1] >= 0)
        close(output[1]);
    if (child > 0)
        regions->children[regions->count++] = child;
    bool ok = child > 0 && wait_until_ready(output[0]);
    /* The child's later lines are of no use, and it must not wait for a reader. */
    if (output[0] >= 0)
        close(output[0]);
    return ok || refuse(message, place->region,
                        child > 0 ? "its server did not start; see above" : strerror(problem));
}

/* --- Places --- */

/* Finds a free port of the loopback interface. All servers must know each other before they start,
 * so nobody can be asked to choose one later. Another program may take it in between; then the
 * server says so and the command fails. 0: there is none. The caller closes `*held`, once it has
 * all ports: until then none is found twice. */
static unsigned find_port(int *held)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr = { .s_addr = htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    *held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ok = *held >= 0 && bind(*held, (const struct sockaddr *)&address, size) == 0 &&
              getsockname(*held, (struct sockaddr *)&address, &size) == 0;
    return ok ? ntohs(address.sin_port) : 0;
}

/* How the children reach the first server, on this machine. */
static struct bytes first_url(struct arena *arena, const struct config *config)
{
    const char *scheme = config->tls_cert_file[0] != '\0' ? "https" : "http";
    const char *host = config->bind;
    if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0 || strcmp(host, "localhost") == 0)
        host = "127.0.0.1";
    bool bracketed = strchr(host, ':') != NULL;
    return arena_printf(arena, "%s://%s%s%s:%u", scheme, bracketed ? "[" : "", host,
                        bracketed ? "]" : "", (unsigned)config->port);
}

/* False with a message if there is no port for one of them. */
static bool choose_places(struct arena *arena, struct config *config, struct place *places,
                          size_t *count, char message[REGIONS_MESSAGE_MAX])
{
    struct bytes rest = bytes_from_text(config->regions), region;
    int held[REGIONS_MAX + 1];
    bool ok = true;
    *count = 0;
    while (ok && next_region(&rest, &region)) {
        size_t i = (*count)++;
        assert(i <= REGIONS_MAX);
        held[i] = -1;
        places[i] = (struct place){ .region = region };
        places[i].port = i == 0 && config->port != 0 ? (unsigned)config->port : find_port(&held[i]);
        if (i == 0)
            config->port = places[i].port;
        places[i].url = i == 0 ? first_url(arena, config)
                               : arena_printf(arena, "http://127.0.0.1:%u", places[i].port);
        ok = places[i].port != 0 || refuse(message, region, "there is no free port");
    }
    for (size_t i = 0; i < *count; i++)
        if (held[i] >= 0)
            close(held[i]);
    return ok;
}

bool regions_start(struct regions *regions, struct arena *arena, struct config *config,
                   struct buffer *peers, char message[REGIONS_MESSAGE_MAX])
{
    struct place places[REGIONS_MAX + 1];
    size_t count;
    if (!choose_places(arena, config, places, &count, message))
        return false;
    for (size_t i = 1; i < count; i++)
        if (!start_region(regions, arena, config, &places[i], format_peers(arena, places, count, i),
                          message))
            return false;
    if (peers->len > 0 && count > 1)
        buffer_append_bytes(peers, BYTES(", "));
    buffer_append_bytes(peers, format_peers(arena, places, count, 0));
    return true;
}

void regions_stop(struct regions *regions)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    for (size_t i = 0; i < regions->count; i++)
        kill(regions->children[i], SIGTERM);
    for (size_t i = 0; i < regions->count; i++) {
        pid_t child = regions->children[i];
        int64_t waited_ms = 0;
        while (waitpid(child, NULL, WNOHANG) == 0) {
            if (waited_ms++ * 10 == REGIONS_STOP_TIMEOUT_MS) {
                log_write(LOG_WARN, "server", "a region's server does not stop: killed");
                kill(child, SIGKILL);
            }
            nanosleep(&pause, NULL);
        }
    }
    regions->count = 0;
}
