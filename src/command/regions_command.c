/* regions_command.c -- `stator regions`: the global tables of a running server, their members, and
 * how far replication is. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include "base/arena.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"

struct printing {
    struct arena *arena;
    struct bytes table; /* The object of the table whose members are printed. */
};

/* A number of seconds with three decimals; "-" if the member is absent. */
static void print_seconds(struct arena *arena, struct bytes object, const char *member)
{
    if (answer_json(arena, object, member).len == 0)
        printf(" %10s", "-");
    else
        printf(" %10.3f", answer_number(arena, object, member));
}

static void print_member(void *context, struct bytes member)
{
    const struct printing *printing = context;
    struct arena *arena = printing->arena;
    struct bytes reached = answer_json(arena, member, "Reached");
    printf("%-24.*s %-16.*s %-10.*s %-7s %8.0f",
           BYTES_FMT(answer_text(arena, printing->table, "TableName")),
           BYTES_FMT(answer_text(arena, member, "RegionName")),
           BYTES_FMT(answer_text(arena, member, "ReplicaStatus")),
           reached.len == 0                    ? "-"
           : bytes_equal_text(reached, "true") ? "yes"
                                               : "no",
           answer_number(arena, member, "WaitingItems"));
    print_seconds(arena, member, "SendLagSeconds");
    print_seconds(arena, member, "ReceiveLagSeconds");
    print_seconds(arena, member, "ClockAheadSeconds");
    printf(" %8.0f\n", answer_number(arena, printing->table, "WaitingStamps"));
}

static void print_table(void *context, struct bytes table)
{
    struct printing printing = { .arena = context, .table = table };
    answer_visit(context, answer_json(context, table, "Members"), print_member, &printing);
}

static void print_page(struct arena *arena, struct bytes answer, bool is_first)
{
    if (is_first)
        printf("%-24s %-16s %-10s %-7s %8s %10s %10s %10s %8s\n", "table", "region", "status",
               "reached", "waiting", "sent s", "received s", "clock s", "stamps");
    answer_visit(arena, answer_json(arena, answer, "Tables"), print_table, arena);
}

/* An answer has a bounded number of tables; in JSON, each answer is a line. */
int regions_command(const struct command_call *call)
{
    struct admin_client_call request = admin_client_call_of(call, "DescribeRegions");
    bool is_first = true;
    struct bytes last;
    do {
        struct bytes answer;
        int code = admin_client_send(call->arena, &request, &answer);
        if (code != COMMAND_OK)
            return code;
        if (command_value_of(call, "json") != NULL)
            printf("%.*s\n", BYTES_FMT(answer));
        else
            print_page(call->arena, answer, is_first);
        is_first = false;
        last = answer_text(call->arena, answer, "LastEvaluatedTableName");
        request.body = arena_printf(call->arena, "{\"ExclusiveStartTableName\":\"%.*s\"}",
                                    BYTES_FMT(last)); /* Names of tables need no escaping. */
    } while (last.len > 0);
    return command_flush();
}
