/* jobs_command.c -- `stator jobs`: backups, restores, exports and imports of a running server, with
 * their progress; waiting for them; and cancelling one. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "json/writer.h"

enum { BAR_SIZE = 20, PAUSE_MS = 200, TEXT_MAX = 128 };

/* --- Rows --- */

/* "[######....]  30%"; nothing if the total is not known. */
static void format_bar(int64_t done, int64_t total, char out[TEXT_MAX])
{
    char bar[BAR_SIZE + 1];
    out[0] = '\0';
    if (total <= 0)
        return;
    if (done > total)
        done = total;
    int filled = (int)(done * BAR_SIZE / total);
    for (int i = 0; i < BAR_SIZE; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[BAR_SIZE] = '\0';
    snprintf(out, TEXT_MAX, "[%s] %3d%%", bar, (int)(done * 100 / total));
}

struct printing {
    struct arena *arena;
    bool prints;
    size_t running;
};

static void print_job(void *context, struct bytes job)
{
    struct printing *printing = context;
    struct arena *arena = printing->arena;
    char bar[TEXT_MAX] = "", started[CLOCK_TEXT_SIZE];
    struct bytes status = answer_text(arena, job, "Status");
    struct bytes code = answer_text(arena, job, "FailureCode");
    int64_t done = (int64_t)answer_number(arena, job, "ItemsDone");
    int64_t errors = (int64_t)answer_number(arena, job, "Errors");
    bool runs = bytes_equal_text(status, "RUNNING") || bytes_equal_text(status, "CANCELLING");
    printing->running += runs;
    if (!printing->prints)
        return;
    if (runs)
        format_bar(done, (int64_t)answer_number(arena, job, "ItemsTotal"), bar);
    clock_format_utc((int64_t)(answer_number(arena, job, "StartTime") * 1000), started);
    printf("%-8.*s %-10.*s %s %.*s %-24.*s %10" PRId64 " items %s",
           BYTES_FMT(answer_text(arena, job, "Kind")), BYTES_FMT(status), started,
           BYTES_FMT(answer_text(arena, job, "JobId")),
           BYTES_FMT(answer_text(arena, job, "TableName")), done, bar);
    if (errors > 0)
        printf(" %" PRId64 " refused", errors);
    if (code.len > 0)
        printf(" %.*s: %.*s", BYTES_FMT(code),
               BYTES_FMT(answer_text(arena, job, "FailureMessage")));
    printf("\n");
}

/* Prints every job; returns how many run. */
static size_t print_jobs(struct arena *arena, struct bytes answer, bool prints)
{
    struct printing printing = { .arena = arena, .prints = prints };
    answer_visit(arena, answer_json(arena, answer, "Jobs"), print_job, &printing);
    return printing.running;
}

/* --- The command --- */

static int send_list(struct arena *arena, const struct command_call *call, struct bytes *answer)
{
    bool all = command_value_of(call, "all") != NULL;
    struct admin_client_call request = admin_client_call_of(call, "ListJobs");
    request.body =
        all ? BYTES("{\"MaxResults\":100}") : BYTES("{\"Active\":true,\"MaxResults\":100}");
    return admin_client_send(arena, &request, answer);
}

static int cancel_job(struct arena *arena, const struct command_call *call, const char *id)
{
    struct admin_client_call request = admin_client_call_of(call, "CancelJob");
    struct json_writer json;
    struct buffer body;
    struct bytes answer;
    buffer_init(&body, arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    json_write_name(&json, "JobId");
    json_write_string(&json, bytes_from_text(id));
    json_close_object(&json);
    request.body = buffer_bytes(&body);
    int code = admin_client_send(arena, &request, &answer);
    if (code != COMMAND_OK)
        return code;
    printf("job %s is being cancelled\n", id);
    return command_flush();
}

/* Redraws on a terminal; a pipe gets the last state only. */
static int wait_for_jobs(struct arena *arena, const struct command_call *call)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    bool is_screen = isatty(STDOUT_FILENO);
    for (;;) {
        struct bytes answer;
        arena_reset(arena);
        int code = send_list(arena, call, &answer);
        if (code != COMMAND_OK)
            return code;
        if (is_screen)
            printf("\033[H\033[2J");
        size_t running = print_jobs(arena, answer, is_screen);
        if (running == 0)
            return command_flush();
        fflush(stdout);
        nanosleep(&pause, NULL);
    }
}

int jobs_command(const struct command_call *call)
{
    struct arena *arena = arena_create();
    struct bytes answer;
    int code;
    const char *cancelled = command_value_of(call, "cancel");
    if (cancelled != NULL) {
        code = cancel_job(arena, call, cancelled);
    } else if (command_value_of(call, "wait") != NULL) {
        code = wait_for_jobs(arena, call);
    } else {
        code = send_list(arena, call, &answer);
        if (code == COMMAND_OK && command_value_of(call, "json") != NULL)
            printf("%.*s\n", BYTES_FMT(answer));
        else if (code == COMMAND_OK)
            print_jobs(arena, answer, true);
        if (code == COMMAND_OK)
            code = command_flush();
    }
    arena_destroy(arena);
    return code;
}
