/* test_log_writer.c -- lines that wait for standard error, which is a pipe here. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/log.h"
#include "base/log_writer.h"

enum {
    PIPE_SIZE = 4096,
    THREADS = 4,
    LINES_PER_THREAD = 500,
    FLOOD = 2 * LOG_WAITING_SIZE_MAX / 40, /* Each line has more than 40 bytes. */
    TEXT_SIZE_MAX = 4 * 1024 * 1024,
};

struct sink {
    int saved;
    int read_end;
    pthread_t reader;
    char *text;          /* Ends with NUL once the reader has ended. */
    _Atomic size_t size; /* What the reader has read so far. */
};

static void sink_open(struct sink *sink)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE) >= 0);
    fflush(stderr);
    sink->saved = dup(STDERR_FILENO);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[1]);
    sink->read_end = ends[0];
    sink->text = NULL;
    atomic_init(&sink->size, 0);
}

static void *read_all(void *context)
{
    struct sink *sink = context;
    size_t size = 0;
    ssize_t got;
    while ((got = read(sink->read_end, sink->text + size, TEXT_SIZE_MAX - 1 - size)) > 0) {
        size += (size_t)got;
        atomic_store(&sink->size, size);
    }
    sink->text[size] = '\0';
    return NULL;
}

static void sink_read(struct sink *sink)
{
    sink->text = malloc(TEXT_SIZE_MAX);
    assert_non_null(sink->text);
    assert_int_equal(pthread_create(&sink->reader, NULL, read_all, sink), 0);
}

/* Until the reader has read this. Then it is not a matter of time what a stop still writes. */
static void sink_wait(struct sink *sink, const char *words)
{
    while (memmem(sink->text, atomic_load(&sink->size), words, strlen(words)) == NULL)
        usleep(1000);
}

/* The text ends when nobody has the pipe as standard error any more. */
static void sink_close(struct sink *sink)
{
    dup2(sink->saved, STDERR_FILENO);
    close(sink->saved);
    if (sink->text != NULL)
        pthread_join(sink->reader, NULL);
    close(sink->read_end);
}

struct counts {
    unsigned lines;   /* Numbered ones. */
    unsigned dropped; /* As reported. */
    unsigned reports;
};

/* Numbers rise within each series, whatever was dropped. */
static struct counts count(const char *text)
{
    struct counts counts = { 0 };
    int last[THREADS] = { -1, -1, -1, -1 };
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1) {
        unsigned dropped;
        int series, number;
        const char *message = strstr(line, ": ");
        assert_non_null(message);
        if (sscanf(message, ": series %d number %d\n", &series, &number) == 2) {
            assert_true(number > last[series]);
            last[series] = number;
            counts.lines++;
        } else if (sscanf(message, ": %u lines were dropped", &dropped) == 1) {
            assert_non_null(strstr(line, " warn log: "));
            counts.dropped += dropped;
            counts.reports++;
        }
    }
    return counts;
}

static void flood(int series, int lines)
{
    for (int i = 0; i < lines; i++)
        log_write(LOG_INFO, "test", "series %d number %d", series, i);
}

static void *flood_some(void *context)
{
    flood((int)(intptr_t)context, LINES_PER_THREAD);
    return NULL;
}

static void lines_of_many_threads_are_written_in_order(void **state)
{
    struct sink sink;
    pthread_t threads[THREADS];
    (void)state;
    sink_open(&sink);
    assert_true(log_writer_start());
    sink_read(&sink);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, flood_some, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    log_write(LOG_INFO, "test", "the last line");
    sink_wait(&sink, "the last line");
    log_writer_stop();
    sink_close(&sink);
    struct counts counts = count(sink.text);
    assert_int_equal(counts.lines, THREADS * LINES_PER_THREAD);
    assert_int_equal(counts.reports, 0);
    free(sink.text);
}

static void lines_that_find_no_room_are_dropped_and_counted(void **state)
{
    struct sink sink;
    (void)state;
    sink_open(&sink);
    assert_true(log_writer_start());
    flood(0, FLOOD); /* Nobody reads. */
    sink_read(&sink);
    sink_wait(&sink, " lines were dropped");
    log_writer_stop();
    sink_close(&sink);
    struct counts counts = count(sink.text);
    assert_int_equal(counts.reports, 1);
    assert_int_equal(counts.lines + counts.dropped, FLOOD);
    assert_true(counts.lines * 100 < 2 * LOG_WAITING_SIZE_MAX);
    assert_true(counts.lines * 40 > (LOG_WAITING_SIZE_MAX - LOG_ERRORS_SIZE) / 2);
    free(sink.text);
}

static void errors_find_room_where_other_lines_do_not(void **state)
{
    struct sink sink;
    (void)state;
    sink_open(&sink);
    assert_true(log_writer_start());
    flood(0, FLOOD);
    log_write(LOG_WARN, "test", "a warning");
    log_write(LOG_ERROR, "test", "an error");
    for (int i = 0; i < FLOOD; i++) /* Their room has an end, too. */
        log_write(LOG_ERROR, "test", "series 1 number %d", i);
    sink_read(&sink);
    sink_wait(&sink, " lines were dropped");
    log_writer_stop();
    sink_close(&sink);
    assert_non_null(strstr(sink.text, "an error"));
    assert_null(strstr(sink.text, "a warning"));
    struct counts counts = count(sink.text);
    assert_int_equal(counts.lines + counts.dropped, 2 * FLOOD + 1);
    free(sink.text);
}

static void a_stop_does_not_wait_for_ever(void **state)
{
    struct sink sink;
    (void)state;
    sink_open(&sink);
    assert_true(log_writer_start());
    flood(0, FLOOD);
    log_writer_stop();
    log_write(LOG_INFO, "test", "nobody takes this line");
    sink_close(&sink);
    sink_open(&sink); /* And it can be started again. */
    assert_true(log_writer_start());
    log_write(LOG_INFO, "test", "somebody takes this one");
    sink_read(&sink);
    sink_wait(&sink, "somebody takes this one");
    log_writer_stop();
    log_write(LOG_INFO, "test", "and this one, after the stop");
    sink_close(&sink);
    assert_non_null(strstr(sink.text, "test: somebody takes this one\n"));
    assert_non_null(strstr(sink.text, "test: and this one, after the stop\n"));
    assert_int_equal(count(sink.text).reports, 0);
    free(sink.text);
}

static void lines_that_cannot_be_written_are_counted(void **state)
{
    struct sink sink, later;
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    sink_open(&sink);
    assert_true(log_writer_start());
    close(sink.read_end);
    sink.read_end = -1;
    flood(0, 3);
    log_writer_stop();
    sink_open(&later);
    sink_read(&later);
    assert_true(log_writer_start());
    log_write(LOG_INFO, "test", "series 0 number 3");
    sink_wait(&later, "number 3");
    log_writer_stop();
    sink_close(&later);
    sink_close(&sink);
    struct counts counts = count(later.text);
    assert_int_equal(counts.lines, 1);
    assert_int_equal(counts.dropped, 3);
    free(later.text);
}

static void fail_assertion(void)
{
    assert(FLOOD < 0);
}

/* What a process wrote that logs `lines` lines and an error, then ends itself. */
static char *abort_after(int lines, bool read_at_once, void (*end)(void))
{
    struct sink sink;
    int status;
    sink_open(&sink);
    pid_t child = fork();
    if (child == 0) {
        close(sink.read_end);
        if (!log_writer_start())
            _exit(1);
        flood(0, lines);
        log_write(LOG_ERROR, "test", "why it ends");
        end();
    }
    if (read_at_once)
        sink_read(&sink);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    sink_close(&sink);
    return sink.text;
}

static void an_abort_waits_for_the_lines_before_it(void **state)
{
    (void)state;
    char *text = abort_after(100, true, abort);
    assert_int_equal(count(text).lines, 100);
    assert_non_null(strstr(text, "test: why it ends\n"));
    free(text);
    /* But not for ever. */
    assert_null(abort_after(FLOOD, false, abort));
}

static void a_failed_assertion_is_logged_and_waits_for_nobody(void **state)
{
    (void)state;
    char *text = abort_after(100, true, fail_assertion);
    assert_int_equal(count(text).lines, 100);
    assert_non_null(strstr(text, "test: why it ends\n"));
    assert_non_null(strstr(text, ": fail_assertion: Assertion `FLOOD < 0' failed.\n"));
    free(text);
    assert_null(abort_after(FLOOD, false, fail_assertion));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_many_threads_are_written_in_order),
        cmocka_unit_test(lines_that_find_no_room_are_dropped_and_counted),
        cmocka_unit_test(errors_find_room_where_other_lines_do_not),
        cmocka_unit_test(a_stop_does_not_wait_for_ever),
        cmocka_unit_test(lines_that_cannot_be_written_are_counted),
        cmocka_unit_test(an_abort_waits_for_the_lines_before_it),
        cmocka_unit_test(a_failed_assertion_is_logged_and_waits_for_nobody),
    };
    return cmocka_run_group_tests_name("base/log_writer", tests, NULL, NULL);
}
