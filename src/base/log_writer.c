/* log_writer.c -- see log_writer.h.
 *
 * Only the writer's thread writes between start and stop. So a standard error that blocks even
 * after poll(2) has found it ready, such as a terminal with little room, holds up that thread and
 * nobody else; stop abandons a thread that is stuck. The state is static for that reason: an
 * abandoned thread, and any thread that still logs, may use it until the process ends.
 */
#include "base/log_writer.h"
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"

/* A pipe that poll(2) finds ready takes this much at once, and does not mix it with others'. */
enum { CHUNK_SIZE_MAX = PIPE_BUF, POLL_MS = 100 };
static_assert((int)LOG_LINE_MAX <= (int)CHUNK_SIZE_MAX, "a line is written by one system call");

static struct {
    pthread_mutex_t mutex; /* A leaf: nothing is waited for under it but the conditions. */
    pthread_cond_t changed;
    pthread_cond_t ended;
    bool has_conditions;
    pthread_t thread;
    struct sigaction old_abort;
    bool running;            /* Lines go into the buffer. */
    bool stopping;           /* The thread ends when the buffer is empty. */
    bool full;               /* Lines but for errors are dropped until the buffer is empty. */
    bool failing;            /* The last write failed; a report would be lost. */
    uint64_t dropped;        /* Since the last report. */
    uint64_t dropped_in_all; /* Not reset. */
    size_t first, used;      /* Of `bytes`, which is a ring. */
    uint8_t bytes[LOG_WAITING_SIZE_MAX];
    /* What the thread must see without the mutex, as must a signal handler. */
    _Atomic unsigned generation; /* A thread of an older one was abandoned. */
    _Atomic size_t pending_size; /* In the buffer, or being written. */
    /* Standard error took nothing in time: until it does, lines written directly do not wait. */
    _Atomic bool is_stuck;
} log_writer = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* --- The ring --- */

static void append_locked(struct bytes line)
{
    size_t at = (log_writer.first + log_writer.used) % LOG_WAITING_SIZE_MAX;
    size_t before_end = LOG_WAITING_SIZE_MAX - at;
    size_t size = line.len < before_end ? line.len : before_end;
    assert(log_writer.used + line.len <= LOG_WAITING_SIZE_MAX);
    memcpy(log_writer.bytes + at, line.data, size);
    memcpy(log_writer.bytes, line.data + size, line.len - size);
    log_writer.used += line.len;
    atomic_fetch_add(&log_writer.pending_size, line.len);
}

/* Takes whole lines out. Returns their size, 0 if there are none. */
static size_t take_locked(uint8_t chunk[CHUNK_SIZE_MAX])
{
    size_t size = 0;
    for (size_t i = 0; i < log_writer.used && i < CHUNK_SIZE_MAX; i++) {
        chunk[i] = log_writer.bytes[(log_writer.first + i) % LOG_WAITING_SIZE_MAX];
        if (chunk[i] == '\n')
            size = i + 1;
    }
    log_writer.first = (log_writer.first + size) % LOG_WAITING_SIZE_MAX;
    log_writer.used -= size;
    return size;
}

static void put_locked(struct bytes line, bool is_error)
{
    size_t size_max = is_error ? LOG_WAITING_SIZE_MAX : LOG_WAITING_SIZE_MAX - LOG_ERRORS_SIZE;
    if (log_writer.used + line.len > size_max || (log_writer.full && !is_error)) {
        log_writer.full = true;
        log_writer.dropped++;
        log_writer.dropped_in_all++;
        return;
    }
    append_locked(line);
    pthread_cond_signal(&log_writer.changed);
}

/* --- Writing --- */

/* For a thread that must not wait for long. */
static void write_directly(struct bytes line)
{
    struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
    int ready;
    do {
        ready = poll(&out, 1, atomic_load(&log_writer.is_stuck) ? 0 : LOG_DIRECT_WAIT_MS);
    } while (ready < 0 && errno == EINTR);
    atomic_store(&log_writer.is_stuck, ready == 0);
    /* Nothing sensible can be done where the log itself cannot be written. */
    if (ready > 0 && write(STDERR_FILENO, line.data, line.len) < 0)
        return;
}

static bool is_abandoned(unsigned generation)
{
    return atomic_load(&log_writer.generation) != generation;
}

/* Returns how many bytes were written: all, unless writing fails or the thread is abandoned. */
static size_t write_chunk(const uint8_t *chunk, size_t size, unsigned generation)
{
    size_t done = 0;
    while (done < size && !is_abandoned(generation)) {
        struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
        ssize_t result = poll(&out, 1, POLL_MS);
        if (result == 0)
            continue;
        if (result > 0)
            result = write(STDERR_FILENO, chunk + done, size - done);
        if (result > 0) {
            done += (size_t)result;
            atomic_store(&log_writer.is_stuck, false);
        } else if (result == 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    return done;
}

static uint64_t count_lines(const uint8_t *text, size_t size)
{
    uint64_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

static size_t format_report(uint8_t out[CHUNK_SIZE_MAX])
{
    return log_format((char *)out, LOG_WARN, "log",
                      "%llu lines were dropped: standard error did not take them in time",
                      (unsigned long long)log_writer.dropped);
}

/* Writes the next lines, or a report, or waits for lines. False if there will be none. A report
 * follows all lines that were there before the dropped ones. It does not go through the ring, so
 * that its number is not lost if it cannot be written. */
static bool take_turn_locked(unsigned generation)
{
    uint8_t chunk[CHUNK_SIZE_MAX];
    uint64_t reported = 0;
    size_t size = take_locked(chunk);
    if (size == 0) {
        log_writer.full = false;
        reported = log_writer.failing ? 0 : log_writer.dropped;
        if (reported > 0)
            size = format_report(chunk);
    }
    if (size == 0) {
        if (!log_writer.stopping)
            pthread_cond_wait(&log_writer.changed, &log_writer.mutex);
        return !log_writer.stopping || log_writer.used > 0;
    }
    pthread_mutex_unlock(&log_writer.mutex);
    size_t done = write_chunk(chunk, size, generation);
    pthread_mutex_lock(&log_writer.mutex);
    if (is_abandoned(generation))
        return false;
    log_writer.failing = done < size;
    if (reported == 0) {
        atomic_fetch_sub(&log_writer.pending_size, size);
        uint64_t lost = count_lines(chunk + done, size - done);
        log_writer.dropped += lost;
        log_writer.dropped_in_all += lost;
    } else if (!log_writer.failing) {
        log_writer.dropped -= reported;
    }
    return true;
}

static void *run(void *argument)
{
    unsigned generation = (unsigned)(uintptr_t)argument;
    pthread_mutex_lock(&log_writer.mutex);
    while (!is_abandoned(generation) && take_turn_locked(generation))
        continue;
    if (!is_abandoned(generation)) {
        log_writer.running = false; /* What comes from here on is written directly. */
        pthread_cond_broadcast(&log_writer.ended);
    }
    pthread_mutex_unlock(&log_writer.mutex);
    return NULL;
}

void log_writer_put(struct bytes line, bool is_error)
{
    assert(line.len > 0 && line.len <= LOG_LINE_MAX && line.data[line.len - 1] == '\n');
    pthread_mutex_lock(&log_writer.mutex);
    bool running = log_writer.running;
    if (running)
        put_locked(line, is_error);
    pthread_mutex_unlock(&log_writer.mutex);
    if (!running)
        write_directly(line);
}

/* --- Start and stop --- */

/* The writer's thread continues while this one waits. The handler is gone once it was called, so
 * the signal raised here ends the process when the handler returns. */
static void on_abort(int number)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    for (int i = 0; i < LOG_ABORT_WAIT_MS && atomic_load(&log_writer.pending_size) > 0; i++)
        nanosleep(&moment, NULL);
    raise(number);
}

bool log_writer_start(void)
{
    const struct sigaction action = { .sa_handler = on_abort, .sa_flags = (int)SA_RESETHAND };
    pthread_mutex_lock(&log_writer.mutex);
    assert(!log_writer.running);
    if (!log_writer.has_conditions) {
        timed_wait_init(&log_writer.changed);
        timed_wait_init(&log_writer.ended);
        log_writer.has_conditions = true;
    }
    log_writer.stopping = log_writer.full = log_writer.failing = false;
    uintptr_t generation = atomic_load(&log_writer.generation);
    log_writer.running = pthread_create(&log_writer.thread, NULL, run, (void *)generation) == 0;
    bool ok = log_writer.running;
    pthread_mutex_unlock(&log_writer.mutex);
    if (ok)
        sigaction(SIGABRT, &action, &log_writer.old_abort);
    return ok;
}

/* What the writer has not written by now is lost. */
static void abandon_locked(void)
{
    atomic_fetch_add(&log_writer.generation, 1);
    log_writer.running = false;
    log_writer.first = log_writer.used = 0;
    log_writer.dropped = 0;
    atomic_store(&log_writer.pending_size, 0);
}

void log_writer_stop(void)
{
    int64_t deadline_ns = clock_monotonic_ns() + LOG_STOP_WAIT_MS * INT64_C(1000000);
    int64_t left_ns;
    pthread_mutex_lock(&log_writer.mutex);
    if (!log_writer.running) {
        pthread_mutex_unlock(&log_writer.mutex);
        return;
    }
    log_writer.stopping = true;
    pthread_cond_signal(&log_writer.changed);
    while (log_writer.running && (left_ns = deadline_ns - clock_monotonic_ns()) > 0)
        timed_wait(&log_writer.ended, &log_writer.mutex, left_ns / 1000000 + 1);
    bool stuck = log_writer.running;
    if (stuck)
        abandon_locked();
    pthread_mutex_unlock(&log_writer.mutex);
    sigaction(SIGABRT, &log_writer.old_abort, NULL);
    if (stuck)
        pthread_detach(log_writer.thread);
    else
        pthread_join(log_writer.thread, NULL);
}

uint64_t log_writer_dropped(void)
{
    pthread_mutex_lock(&log_writer.mutex);
    uint64_t dropped = log_writer.dropped_in_all;
    pthread_mutex_unlock(&log_writer.mutex);
    return dropped;
}
