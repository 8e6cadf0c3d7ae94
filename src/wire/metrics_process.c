/* metrics_process.c -- see metrics_process.h. */
#include "wire/metrics_process.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/compiler.h"
#include "base/log_writer.h"
#include "http/server.h"
#include "metric/exposition.h"

static double seconds_of(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static void add_one(struct exposition *page, enum exposition_type type, const char *name,
                    const char *unit, const char *help, double value)
{
    exposition_number(exposition_add(page, type, name, unit, help), NULL, 0, value);
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count > 3 ? count - 3 : 0; /* Without ".", ".." and the folder's own. */
}

static void add_memory(struct exposition *page)
{
    char line[128];
    char *rest = line;
    double page_size = (double)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return;
    bool ok = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (!ok)
        return;
    unsigned long long virtual_pages = strtoull(line, &rest, 10);
    unsigned long long resident_pages = strtoull(rest, NULL, 10);
    add_one(page, EXPOSITION_GAUGE, "process_virtual_memory_bytes", "bytes", "Virtual memory.",
            (double)virtual_pages * page_size);
    add_one(page, EXPOSITION_GAUGE, "process_resident_memory_bytes", "bytes", "Resident memory.",
            (double)resident_pages * page_size);
}

static void add_build(struct exposition *page, const char *version, const char *commit)
{
    const struct exposition_label labels[] = { { "version", bytes_from_text(version) },
                                               { "commit", bytes_from_text(commit) } };
    exposition_integer(exposition_add(page, EXPOSITION_GAUGE, "stator_build_info", NULL,
                                      "Which program this is; always 1."),
                       labels, COUNT_OF(labels), 1);
}

void metrics_process_add(struct exposition *page, int64_t start_second, const char *version,
                         const char *commit)
{
    struct rusage usage;
    struct rlimit limit;
    add_build(page, version, commit);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        add_one(page, EXPOSITION_COUNTER, "process_cpu_seconds", "seconds",
                "Processor time, of user and system.",
                seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime));
    add_memory(page);
    add_one(page, EXPOSITION_GAUGE, "process_open_fds", NULL, "Open file descriptors.",
            (double)count_descriptors());
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        add_one(page, EXPOSITION_GAUGE, "process_max_fds", NULL, "How many may be open.",
                (double)limit.rlim_cur);
    add_one(page, EXPOSITION_GAUGE, "process_start_time_seconds", "seconds",
            "When the server started, since 1970.", (double)start_second);
    add_one(page, EXPOSITION_COUNTER, "stator_log_lines_dropped", NULL,
            "Log lines that standard error did not take in time.", (double)log_writer_dropped());
}

void metrics_process_add_http(struct exposition *page, const struct http_statistics *statistics)
{
    const struct {
        enum exposition_type type;
        const char *name, *unit, *help;
        double value;
    } families[] = {
        { EXPOSITION_GAUGE, "stator_http_loops", NULL, "Event loops, one thread each.",
          statistics->loop_count },
        { EXPOSITION_COUNTER, "stator_http_loop_turns", NULL, "Turns of all loops.",
          (double)statistics->turns },
        { EXPOSITION_GAUGE, "stator_http_longest_turn_seconds", "seconds",
          "The longest turn of a loop in this minute and the one before.",
          (double)statistics->longest_turn_ns / 1e9 },
        { EXPOSITION_COUNTER, "stator_http_requests", NULL,
          "HTTP requests, health checks included.", (double)statistics->requests },
        { EXPOSITION_GAUGE, "stator_http_requests_under_way", NULL,
          "Requests that are not answered yet.", (double)statistics->requests_under_way },
        { EXPOSITION_GAUGE, "stator_http_connections", NULL, "Open connections.",
          (double)statistics->connections },
        { EXPOSITION_GAUGE, "stator_http_connections_max", NULL, "How many may be open.",
          (double)statistics->connections_max },
        { EXPOSITION_GAUGE, "stator_request_memory_bytes", "bytes",
          "Memory that requests under way hold.", (double)statistics->memory },
        { EXPOSITION_GAUGE, "stator_request_memory_max_bytes", "bytes",
          "How much they may hold before bodies are refused.", (double)statistics->memory_max },
    };
    for (size_t i = 0; i < COUNT_OF(families); i++)
        add_one(page, families[i].type, families[i].name, families[i].unit, families[i].help,
                families[i].value);
}

void metrics_process_add_refusals(struct exposition *page, uint64_t delayed)
{
    add_one(page, EXPOSITION_COUNTER, "stator_refusals_delayed", NULL,
            "Refusals for throttling that were delayed, as clients retried at once.",
            (double)delayed);
}
