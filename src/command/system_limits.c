/* system_limits.c -- see system_limits.h. */
#include "command/system_limits.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/log.h"
#include "call/call_runner.h"
#include "config/config.h"
#include "engine/engine.h"
#include "http/server.h"
#include "trigger/triggers.h"

enum {
    FILES_SPARE = 96,        /* Logs, compactions, dead letters, standard streams. */
    FILES_PER_TRIGGER = 3,   /* A kept connection, and curl's wake-up pair. */
    TRIGGER_FILES_PART = 16, /* Of all files, at most. */
    FILES_PER_LOOP = 8,      /* Listener, epoll, wake-up. */
    CONNECTIONS_MIN = 16,
    TABLE_FILES_PART = 4, /* Of all files, at most; the engine opens and closes as it needs. */
    REFUSED_PART = 8,
    THREADS_PER_LOOP = 3, /* Itself, and at most one in each pool for large requests. */
    /* Those for operations that wait; others of ours, the engine's, a few for triggers and alarms.
     */
    THREADS_BESIDE_LOOPS = CALL_WAITING_THREADS + CALL_WRITING_THREADS + 20,
    WRITE_BUFFERS = 2,
};
#define MEMORY_BASE (256ull << 20) /* The program, its libraries, requests under way. */

static bool refuse(char *message, const char *what, uint64_t allowed, uint64_t needed)
{
    snprintf(message, SYSTEM_LIMITS_MESSAGE_MAX,
             "the system allows %llu %s; with these settings %llu are needed",
             (unsigned long long)allowed, what, (unsigned long long)needed);
    return false;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static unsigned loop_count_of(const struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return config->workers > 0 ? (unsigned)config->workers : cores > 0 ? (unsigned)cores : 1;
}

/* --- Files --- */

bool file_shares_of(uint64_t limit, unsigned loop_count, uint64_t connections_max,
                    struct file_shares *out)
{
    assert(loop_count > 0);
    uint64_t refused = limit / REFUSED_PART / loop_count;
    out->refused_per_loop = smaller(refused > 0 ? refused : 1, HTTP_REFUSED_MAX);
    out->table_files = smaller(limit / TABLE_FILES_PART, ENGINE_OPEN_FILES_MAX);
    uint64_t triggers = smaller(limit / TRIGGER_FILES_PART, TRIGGERS_MAX * FILES_PER_TRIGGER);
    uint64_t others = FILES_SPARE + triggers + out->table_files +
                      loop_count * (FILES_PER_LOOP + out->refused_per_loop);
    out->connections = limit > others ? smaller(limit - others, connections_max) : 0;
    return out->connections >= smaller(CONNECTIONS_MIN, connections_max);
}

/* The lowest sufficient limit. */
static uint64_t files_needed(uint64_t limit, unsigned loop_count, uint64_t connections_max)
{
    struct file_shares shares;
    while (!file_shares_of(limit, loop_count, connections_max, &shares))
        limit++;
    return limit;
}

/* Each connection is an open file. The usual soft limit of 1024 is for programs that use select. */
static bool prepare_files(const struct config *config, struct file_shares *out, char *message)
{
    struct rlimit limit;
    uint64_t wanted = config->connections_max;
    unsigned loop_count = loop_count_of(config);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_max = limit.rlim_cur = RLIM_INFINITY;
    rlim_t soft = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        limit.rlim_cur = soft;
    if (!file_shares_of(limit.rlim_cur, loop_count, wanted, out))
        return refuse(message, "open files", limit.rlim_cur,
                      files_needed(limit.rlim_cur, loop_count, wanted));
    if (out->connections < wanted)
        log_write(LOG_WARN, "server",
                  "the system allows %llu open files: %llu connections at a time, not %llu",
                  (unsigned long long)limit.rlim_cur, (unsigned long long)out->connections,
                  (unsigned long long)wanted);
    return true;
}

/* --- Threads --- */

static uint64_t thread_count_of(const struct config *config)
{
    return (uint64_t)loop_count_of(config) * THREADS_PER_LOOP + THREADS_BESIDE_LOOPS;
}

static void *wait_for_the_rest(void *argument)
{
    pthread_mutex_t *mutex = argument;
    pthread_mutex_lock(mutex);
    pthread_mutex_unlock(mutex);
    return NULL;
}

/* Limits of users, control groups and memory show only when a thread is started. So this starts as
 * many as the server will need, at the same time. */
static bool check_threads(uint64_t wanted, char *message)
{
    enum { THREADS_TRIED_MAX = 1024 };
    pthread_t threads[THREADS_TRIED_MAX];
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    size_t needed = smaller(wanted, THREADS_TRIED_MAX);
    size_t count = 0;
    pthread_mutex_lock(&mutex);
    while (count < needed && pthread_create(&threads[count], NULL, wait_for_the_rest, &mutex) == 0)
        count++;
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&mutex);
    return count == needed || refuse(message, "more threads", count, needed);
}

/* --- Memory --- */

/* Checks RLIMIT_AS, the one limit of memory that can be read. Stacks count in full. */
static bool check_memory(const struct config *config, char *message)
{
    struct rlimit space, stack;
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
        return true;
    uint64_t stack_size = 8ull << 20;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY)
        stack_size = stack.rlim_cur;
    uint64_t needed = MEMORY_BASE + config->item_cache_size + config->block_cache_size +
                      WRITE_BUFFERS * config->write_buffer_size +
                      thread_count_of(config) * stack_size;
    return space.rlim_cur >= needed || refuse(message, "bytes of memory", space.rlim_cur, needed);
}

bool system_limits_prepare(const struct config *config, struct file_shares *out,
                           char message[SYSTEM_LIMITS_MESSAGE_MAX])
{
    return prepare_files(config, out, message) && check_memory(config, message) &&
           check_threads(thread_count_of(config), message);
}
