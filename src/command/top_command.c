/* top_command.c -- `stator top` and `stator slowlog`: what a running server does, in the terminal.
 *
 * Plain ANSI sequences redraw the screen; a pipe gets plain lines. Names of tables come from a
 * server, which checks them, so they hold no control characters. Keys of items may hold any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "command/meter_view.h"

enum {
    INTERVAL_S_DEFAULT = 2,
    INTERVAL_S_MAX = 3600,
    ROWS_DEFAULT = 40,
    HEAD_ROWS = 4,
    KEY_TABLES_MAX = 5,
    KEYS_SHOWN = 5,
    KEYS_WINDOW_S = 300,
};

static bool has_flag(const struct command_call *call, const char *name)
{
    return command_value_of(call, name) != NULL;
}

/* --- stator top --- */

static int read_meters(struct arena *arena, const struct command_call *call,
                       const struct meter_view **out)
{
    const struct admin_client_call request = admin_client_call_of(call, "GetMeters");
    struct bytes answer;
    int code = admin_client_send(arena, &request, &answer);
    if (code != COMMAND_OK)
        return code;
    *out = meter_view_read(arena, answer);
    return *out != NULL ? COMMAND_OK
                        : command_fail(COMMAND_FAILED, "top", "the server's answer is damaged");
}

static size_t screen_rows(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row <= HEAD_ROWS)
        return ROWS_DEFAULT;
    return (size_t)size.ws_row - HEAD_ROWS;
}

static void print_view(const struct command_call *call, struct arena *arena,
                       const struct meter_view *before, const struct meter_view *now)
{
    bool is_screen = isatty(STDOUT_FILENO) && !has_flag(call, "once") && !has_flag(call, "json");
    struct buffer text;
    buffer_init(&text, arena);
    if (has_flag(call, "json"))
        meter_view_write_json(&text, before, now);
    else
        meter_view_write(&text, before, now, is_screen ? screen_rows() : METER_VIEW_TABLES_MAX);
    if (is_screen) {
        char time_text[CLOCK_TEXT_SIZE];
        clock_format_utc(clock_wall_ms(&clock_system), time_text);
        printf("\033[H\033[2Jstator top  %s  %s\n\n",
               admin_client_call_of(call, "GetMeters").endpoint, time_text);
    }
    fwrite(text.data, 1, text.len, stdout);
}

/* --- Hot keys --- */

static void print_key(void *context, struct bytes key)
{
    struct arena *arena = context;
    printf("%12.*s  ", BYTES_FMT(answer_json(arena, key, "Value")));
    answer_print(answer_json(arena, key, "Key"));
    putchar('\n');
}

static void print_keys(struct arena *arena, struct bytes table, struct bytes answer)
{
    printf("\nhot keys of %.*s, units in the last five minutes\n", BYTES_FMT(table));
    answer_visit(arena, answer_json(arena, answer, "HotKeys"), print_key, arena);
}

/* Of tables with Contributor Insights. Keys are item data, so they are shown only if asked for. */
static int show_keys(struct arena *arena, const struct command_call *call,
                     const struct meter_view *view)
{
    struct bytes names[KEY_TABLES_MAX];
    size_t count = meter_view_key_tables(view, names, KEY_TABLES_MAX);
    int64_t start_s = clock_wall_ms(&clock_system) / 1000 - KEYS_WINDOW_S;
    for (size_t i = 0; i < count; i++) {
        struct admin_client_call request = admin_client_call_of(call, "GetHotKeys");
        struct bytes answer;
        request.body =
            arena_printf(arena, "{\"TableName\":\"%.*s\",\"StartTime\":%lld,\"MaxResults\":%d}",
                         BYTES_FMT(names[i]), (long long)start_s, KEYS_SHOWN);
        int code = admin_client_send(arena, &request, &answer);
        if (code != COMMAND_OK)
            return code;
        if (has_flag(call, "json"))
            printf("%.*s\n", BYTES_FMT(answer));
        else
            print_keys(arena, names[i], answer);
    }
    return COMMAND_OK;
}

static void wait_seconds(unsigned seconds)
{
    struct timespec left = { .tv_sec = seconds };
    while (nanosleep(&left, &left) != 0)
        continue;
}

int top_command(const struct command_call *call)
{
    const char *interval_text = command_value_of(call, "interval");
    unsigned long interval =
        interval_text == NULL ? INTERVAL_S_DEFAULT : strtoul(interval_text, NULL, 10);
    if (interval == 0 || interval > INTERVAL_S_MAX)
        return command_fail(COMMAND_MISUSED, "top", "--interval is 1 to 3600 seconds");
    struct arena *arenas[2] = { arena_create(), arena_create() }; /* This answer's, the last's. */
    const struct meter_view *before = NULL, *now = NULL;
    int code = read_meters(arenas[0], call, &before);
    for (size_t turn = 1; code == COMMAND_OK; turn++) {
        struct arena *arena = arenas[turn % 2];
        wait_seconds((unsigned)interval);
        arena_reset(arena);
        code = read_meters(arena, call, &now);
        if (code != COMMAND_OK)
            break;
        print_view(call, arena, before, now);
        if (has_flag(call, "keys"))
            code = show_keys(arena, call, now);
        if (code == COMMAND_OK)
            code = command_flush();
        if (has_flag(call, "once"))
            break;
        before = now;
    }
    arena_destroy(arenas[0]);
    arena_destroy(arenas[1]);
    return code;
}

/* --- stator slowlog --- */

static void print_slow(void *context, struct bytes object)
{
    static const struct {
        const char *member;
        int columns; /* Negative: to the left. */
        bool is_text;
    } columns[] = { { "Seconds", -10, false },    { "Operation", -20, true },
                    { "TableName", -24, true },   { "IndexName", -16, true },
                    { "ItemsRead", 9, false },    { "ItemsReturned", 9, false },
                    { "ItemsWritten", 8, false }, { "ReadUnits", 9, false },
                    { "WriteUnits", 9, false },   { "ResponseBytes", 10, false },
                    { "Pauses", 6, false },       { "QueueSeconds", -10, false },
                    { "Code", -1, true } };
    struct arena *arena = context;
    char time_text[CLOCK_TEXT_SIZE];
    clock_format_utc((int64_t)(answer_number(arena, object, "Time") * 1000), time_text);
    printf("%s", time_text);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        struct bytes value = columns[i].is_text ? answer_text(arena, object, columns[i].member)
                                                : answer_json(arena, object, columns[i].member);
        printf(" %*.*s", columns[i].columns, BYTES_FMT(value));
    }
    printf("\n");
}

/* {"ThresholdSeconds":0.1,"Requests":[{...},...]} */
static void print_slow_requests(struct arena *arena, struct bytes answer)
{
    printf("%-20s %-10s %-20s %-24s %-16s %9s %9s %8s %9s %9s %10s %6s %-10s %s\n", "time",
           "seconds", "operation", "table", "index", "read", "returned", "written", "RCU", "WCU",
           "bytes", "pauses", "queue s", "code");
    answer_visit(arena, answer_json(arena, answer, "Requests"), print_slow, arena);
}

int slowlog_command(const struct command_call *call)
{
    struct admin_client_call request = admin_client_call_of(call, "GetSlowRequests");
    const char *max = command_value_of(call, "max");
    if (max != NULL)
        request.body = arena_printf(call->arena, "{\"MaxResults\":%s}", max);
    struct bytes answer;
    int code = admin_client_send(call->arena, &request, &answer);
    if (code != COMMAND_OK)
        return code;
    if (has_flag(call, "json"))
        printf("%.*s\n", BYTES_FMT(answer));
    else
        print_slow_requests(call->arena, answer);
    return command_flush();
}
