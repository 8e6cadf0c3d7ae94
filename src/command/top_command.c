/* top_command.c -- `stator top` and `stator slowlog`: what a running server does, in the terminal.
 *
 * Plain ANSI sequences redraw the screen; a pipe gets plain lines. Names of tables come from a
 * server, which checks them, so they hold no control characters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "command/admin_client.h"
#include "command/command.h"
#include "command/meter_view.h"
#include "json/reader.h"

enum {
    INTERVAL_S_DEFAULT = 2,
    INTERVAL_S_MAX = 3600,
    ROWS_DEFAULT = 40,
    HEAD_ROWS = 4,
    ANSWER_DEPTH_MAX = 16,
};

static struct admin_client_call client_of(const struct command_call *call, const char *operation)
{
    const char *endpoint = command_value_of(call, "endpoint");
    const char *ca_file = command_value_of(call, "ca-file");
    return (struct admin_client_call){
        .endpoint = endpoint != NULL ? endpoint : ADMIN_CLIENT_ENDPOINT,
        .ca_file = ca_file != NULL ? ca_file : getenv("AWS_CA_BUNDLE"),
        .operation = operation,
        .body = BYTES("{}"),
    };
}

static bool has_flag(const struct command_call *call, const char *name)
{
    return command_value_of(call, name) != NULL;
}

/* --- stator top --- */

static int read_meters(struct arena *arena, const struct command_call *call,
                       const struct meter_view **out)
{
    const struct admin_client_call request = client_of(call, "GetMeters");
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
        printf("\033[H\033[2Jstator top  %s  %s\n\n", client_of(call, "GetMeters").endpoint,
               time_text);
    }
    fwrite(text.data, 1, text.len, stdout);
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

static struct bytes text_of(struct arena *arena, struct bytes object, const char *wanted)
{
    struct json_reader reader;
    struct bytes name, value = BYTES("");
    json_reader_init(&reader, arena, object, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        bool is_wanted = bytes_equal_text(name, wanted);
        if (is_wanted && json_peek(&reader) == JSON_NUMBER) {
            if (!json_read_number(&reader, &value))
                break;
        } else if (is_wanted && json_peek(&reader) == JSON_STRING) {
            if (!json_read_string(&reader, &value))
                break;
        } else {
            json_skip(&reader);
        }
    }
    return value;
}

static void print_slow(struct arena *arena, struct bytes object)
{
    static const struct {
        const char *member;
        int columns; /* Negative: to the left. */
    } columns[] = { { "Seconds", -10 },      { "Operation", -20 }, { "TableName", -24 },
                    { "IndexName", -16 },    { "ItemsRead", 9 },   { "ItemsReturned", 9 },
                    { "ItemsWritten", 8 },   { "ReadUnits", 9 },   { "WriteUnits", 9 },
                    { "ResponseBytes", 10 }, { "Pauses", 6 },      { "Code", -1 } };
    char time_text[CLOCK_TEXT_SIZE], number[32] = "";
    struct bytes time = text_of(arena, object, "Time");
    memcpy(number, time.data, time.len < sizeof number ? time.len : sizeof number - 1);
    clock_format_utc((int64_t)(strtod(number, NULL) * 1000), time_text);
    printf("%s", time_text);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        struct bytes value = text_of(arena, object, columns[i].member);
        printf(" %*.*s", columns[i].columns, BYTES_FMT(value));
    }
    printf("\n");
}

/* {"ThresholdSeconds":0.1,"Requests":[{...},...]} */
static void print_slow_requests(struct arena *arena, struct bytes body)
{
    struct json_reader reader;
    struct bytes name;
    printf("%-20s %-10s %-20s %-24s %-16s %9s %9s %8s %9s %9s %10s %6s %s\n", "time", "seconds",
           "operation", "table", "index", "read", "returned", "written", "RCU", "WCU", "bytes",
           "pauses", "code");
    json_reader_init(&reader, arena, body, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, "Requests")) {
            json_skip(&reader);
            continue;
        }
        json_enter_array(&reader);
        while (json_next_element(&reader)) {
            json_peek(&reader); /* Passes over white space. */
            size_t first = json_offset(&reader);
            json_skip(&reader);
            print_slow(arena, bytes_of(body.data + first, json_offset(&reader) - first));
        }
    }
}

int slowlog_command(const struct command_call *call)
{
    struct admin_client_call request = client_of(call, "GetSlowRequests");
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
