/* advise_command.c -- `stator advise`: what the use of a server's tables says about their design.
 *
 * The server judges (GetAdvice); this prints. Names of attributes come from clients of the server,
 * so control characters are replaced before they reach a terminal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "json/reader.h"

enum { DEFAULT_SINCE_S = 24 * 3600, PAGES_MAX = 10000 };
#define SINCE_S_MAX (455L * 86400)

/* --- Printing --- */

static void time_text(struct arena *arena, struct bytes object, const char *name,
                      char out[CLOCK_TEXT_SIZE])
{
    clock_format_utc((int64_t)(answer_number(arena, object, name) * 1000), out);
}

static void print_line(const char *title, struct bytes text)
{
    if (text.len == 0)
        return;
    printf("    %s", title);
    answer_print(text);
    putchar('\n');
}

static void print_evidence(struct arena *arena, struct bytes evidence)
{
    struct json_reader reader;
    struct bytes name, value;
    bool is_first = true;
    json_reader_init(&reader, arena, evidence, 1);
    json_enter_object(&reader);
    printf("    evidence: ");
    while (json_next_member(&reader, &name) && json_read_number(&reader, &value)) {
        printf("%s%.*s %.6g", is_first ? "" : ", ", BYTES_FMT(name), answer_number_of(value));
        is_first = false;
    }
    putchar('\n');
}

static void print_target(struct arena *arena, struct bytes object)
{
    struct bytes index = answer_text(arena, object, "IndexName");
    answer_print(answer_text(arena, object, "TableName"));
    if (index.len > 0) {
        printf(", index ");
        answer_print(index);
    }
}

static void print_finding(void *context, struct bytes finding)
{
    struct arena *arena = context;
    char from[CLOCK_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
    bool has_cost = answer_json(arena, finding, "MonthlyCost").data != NULL;
    struct bytes operation = answer_text(arena, finding, "Operation");
    printf("%-7.*s  %.*s  ", BYTES_FMT(answer_text(arena, finding, "Severity")),
           BYTES_FMT(answer_text(arena, finding, "Rule")));
    print_target(arena, finding);
    if (operation.len > 0)
        printf(", %.*s", BYTES_FMT(operation));
    putchar('\n');
    print_line("", answer_text(arena, finding, "Summary"));
    print_line("shape: ", answer_text(arena, finding, "Shape"));
    print_evidence(arena, answer_json(arena, finding, "Evidence"));
    time_text(arena, finding, "WindowStart", from);
    time_text(arena, finding, "WindowEnd", until);
    printf("    window: %s to %s\n", from, until);
    if (has_cost)
        printf("    cost: $%.2f a month\n", answer_number(arena, finding, "MonthlyCost"));
    print_line("do: ", answer_text(arena, finding, "Action"));
    putchar('\n');
}

static void print_unjudged(void *context, struct bytes unjudged)
{
    struct arena *arena = context;
    printf("not judged  %.*s  ", BYTES_FMT(answer_text(arena, unjudged, "Rule")));
    print_target(arena, unjudged);
    printf(": %.*s\n", BYTES_FMT(answer_text(arena, unjudged, "Reason")));
}

static void print_head(struct arena *arena, struct bytes answer)
{
    char since[CLOCK_TEXT_SIZE], started[CLOCK_TEXT_SIZE];
    struct bytes prices = answer_json(arena, answer, "PriceList");
    time_text(arena, answer, "StartTime", since);
    time_text(arena, answer, "ServerStarted", started);
    printf("Since %s; the server was started at %s.\n", since, started);
    printf("Prices: list of %.*s, version %.*s, read on %.*s.\n\n",
           BYTES_FMT(answer_text(arena, prices, "Region")),
           BYTES_FMT(answer_text(arena, prices, "Version")),
           BYTES_FMT(answer_text(arena, prices, "Date")));
}

/* --- The command --- */

/* "90s", "30m", "24h", "14d". False if it is none of these. */
static bool parse_since(const char *text, long *seconds)
{
    static const struct {
        char unit;
        long seconds;
    } units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 } };
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || count <= 0 || count > SINCE_S_MAX || end[0] == '\0' || end[1] != '\0')
        return false;
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        if (units[i].unit != end[0])
            continue;
        *seconds = count * units[i].seconds;
        return *seconds <= SINCE_S_MAX;
    }
    return false;
}

/* What the pages of an answer have in common, and the lists of all of them. */
struct report {
    struct arena *arena;
    bool is_json;
    int64_t start_s;
    struct bytes first; /* Page; data NULL: none yet. */
    size_t pages, tables, findings;
    struct buffer lists[3]; /* For JSON, as in list_names: elements with commas between them. */
};

static const char *const list_names[] = { "Tables", "Findings", "NotJudged" };

static void append_element(void *context, struct bytes element)
{
    struct buffer *list = context;
    if (list->len > 0)
        buffer_append_bytes(list, BYTES(","));
    buffer_append_bytes(list, element);
}

static void add_page(struct report *report, struct bytes page)
{
    struct arena *arena = report->arena;
    if (report->first.data == NULL) {
        report->first = page;
        if (!report->is_json)
            print_head(arena, page);
    }
    report->pages++;
    for (size_t i = 0; report->is_json && i < COUNT_OF(list_names); i++)
        answer_visit(arena, answer_json(arena, page, list_names[i]), append_element,
                     &report->lists[i]);
    if (report->is_json)
        return;
    report->findings +=
        answer_visit(arena, answer_json(arena, page, "Findings"), print_finding, arena);
    answer_visit(arena, answer_json(arena, page, "NotJudged"), print_unjudged, arena);
    report->tables += answer_visit(arena, answer_json(arena, page, "Tables"), NULL, NULL);
}

/* One document, as if all tables were on one page. */
static void print_json(const struct report *report)
{
    static const char *const common[] = { "Time", "StartTime", "ServerStarted", "PriceList",
                                          "ShapesMissed" };
    printf("{");
    for (size_t i = 0; i < COUNT_OF(common); i++)
        printf("\"%s\":%.*s,", common[i],
               BYTES_FMT(answer_json(report->arena, report->first, common[i])));
    for (size_t i = 0; i < COUNT_OF(list_names); i++)
        printf("%s\"%s\":[%.*s]", i == 0 ? "" : ",", list_names[i],
               BYTES_FMT(buffer_bytes(&report->lists[i])));
    printf("}\n");
}

/* A request for one page. Names of tables need no escaping. */
static struct bytes page_body(const struct report *report, const char *table, struct bytes after)
{
    long long start_s = (long long)report->start_s;
    if (table != NULL)
        return arena_printf(report->arena, "{\"StartTime\":%lld,\"TableName\":\"%s\"}", start_s,
                            table);
    if (after.len > 0)
        return arena_printf(report->arena,
                            "{\"StartTime\":%lld,\"ExclusiveStartTableName\":\"%.*s\"}", start_s,
                            BYTES_FMT(after));
    return arena_printf(report->arena, "{\"StartTime\":%lld}", start_s);
}

static bool is_table_name(const char *name)
{
    return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_.-:/")] == '\0';
}

int advise_command(const struct command_call *call)
{
    const char *since = command_value_of(call, "since"), *table = command_value_of(call, "table");
    long since_s = DEFAULT_SINCE_S;
    if (since != NULL && !parse_since(since, &since_s))
        return command_fail(COMMAND_MISUSED, "advise",
                            "--since is a number and s, m, h or d, up to 455d: 24h");
    if (table != NULL && !is_table_name(table))
        return command_fail(COMMAND_MISUSED, "advise", "--table is the name of a table");
    struct report report = { .arena = call->arena,
                             .is_json = command_value_of(call, "json") != NULL,
                             .start_s = clock_wall_ms(&clock_system) / 1000 - since_s };
    for (size_t i = 0; i < COUNT_OF(list_names); i++)
        buffer_init(&report.lists[i], call->arena);
    struct admin_client_call request = admin_client_call_of(call, "GetAdvice");
    struct bytes page, after = { 0 };
    do {
        request.body = page_body(&report, table, after);
        int code = admin_client_send(call->arena, &request, &page);
        if (code != COMMAND_OK)
            return code;
        if (!answer_is_object(call->arena, page))
            return command_fail(COMMAND_FAILED, "advise", "the answer is damaged");
        add_page(&report, page);
        after = answer_text(call->arena, page, "LastEvaluatedTableName");
    } while (after.len > 0 && report.pages < PAGES_MAX);
    if (report.is_json)
        print_json(&report);
    else
        printf("%zu findings about %zu tables.\n", report.findings, report.tables);
    return command_flush();
}
