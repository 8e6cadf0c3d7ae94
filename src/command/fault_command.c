/* fault_command.c -- `stator fault`: manages the faults of a running server.
 *
 * Knows the flags and the members that they become; whether their values make sense is for the
 * server to decide.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "json/writer.h"

/* Flags that become one member of the request. */
static const struct {
    const char *flag;
    const char *member;
    bool is_number;
} members[] = {
    { "table", "TableName", false },
    { "index", "IndexName", false },
    { "fault", "Fault", false },
    { "reason", "Reason", false },
    { "percent", "Percent", true },
    { "delay-ms", "DelayMilliseconds", true },
    { "jitter-ms", "JitterMilliseconds", true },
    { "max-count", "MaxCount", true },
    { "seconds", "DurationSeconds", true },
    { "seed", "Seed", true },
};

/* --- The request --- */

/* A number as JSON has it, or zero: the server's message would be about JSON. */
static bool is_json_number(const char *text)
{
    char *end;
    size_t length = strlen(text);
    strtod(text, &end);
    return length > 0 && *end == '\0' && strspn(text, "-0123456789.") == length &&
           text[length - 1] != '.' && text[0] != '.';
}

static bool write_members(struct json_writer *json, const struct command_call *call)
{
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const char *text = command_value_of(call, members[i].flag);
        if (text == NULL)
            continue;
        if (members[i].is_number && !is_json_number(text))
            return false;
        json_write_name(json, members[i].member);
        if (members[i].is_number)
            json_write_raw(json, bytes_from_text(text));
        else
            json_write_string(json, bytes_from_text(text));
    }
    return true;
}

static void write_operations(struct json_writer *json, const struct command_call *call)
{
    if (command_value_of(call, "operation") == NULL)
        return;
    json_write_name(json, "Operations");
    json_open_array(json);
    for (size_t i = 0; i < call->value_count; i++) {
        if (strcmp(call->values[i].flag->name, "operation") == 0)
            json_write_string(json, bytes_from_text(call->values[i].text));
    }
    json_close_array(json);
}

static bool write_request(const struct command_call *call, struct bytes *out)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, call->arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    if (!write_members(&json, call))
        return false;
    write_operations(&json, call);
    if (call->word_count > 0) {
        json_write_name(&json, "FaultId");
        json_write_string(&json, bytes_from_text(call->words[0]));
    }
    json_close_object(&json);
    *out = buffer_bytes(&body);
    return true;
}

/* --- Answers --- */

static void print_fault(void *context, struct bytes object)
{
    struct arena *arena = context;
    printf("%.*s  %.*s  %.*s  %.*s%%  %.*s  %.*s of %.*s requests\n",
           BYTES_FMT(answer_text(arena, object, "FaultId")),
           BYTES_FMT(answer_text(arena, object, "TableName")),
           BYTES_FMT(answer_text(arena, object, "Fault")),
           BYTES_FMT(answer_json(arena, object, "Percent")),
           BYTES_FMT(answer_text(arena, object, "State")),
           BYTES_FMT(answer_json(arena, object, "Injected")),
           BYTES_FMT(answer_json(arena, object, "Requests")));
}

static const struct {
    const char *verb;
    const char *operation;
} operations[] = {
    { "add", "AddFault" },
    { "list", "ListFaults" },
    { "remove", "RemoveFault" },
};

int fault_command(const struct command_call *call)
{
    bool adds = strcmp(call->verb->name, "add") == 0;
    if (adds &&
        (command_value_of(call, "table") == NULL || command_value_of(call, "fault") == NULL))
        return command_fail(COMMAND_MISUSED, "fault add", "needs --table and --fault");
    struct admin_client_call request = admin_client_call_of(call, NULL);
    if (!write_request(call, &request.body))
        return command_fail(COMMAND_MISUSED, "fault add", "--percent must be a number");
    for (size_t i = 0; i < COUNT_OF(operations); i++) {
        if (strcmp(call->verb->name, operations[i].verb) == 0)
            request.operation = operations[i].operation;
    }
    assert(request.operation != NULL);
    struct bytes answer;
    int code = admin_client_send(call->arena, &request, &answer);
    if (code != COMMAND_OK)
        return code;
    if (command_value_of(call, "json") != NULL)
        printf("%.*s\n", BYTES_FMT(answer));
    else if (adds)
        printf("%.*s\n", BYTES_FMT(answer_text(call->arena, answer, "FaultId")));
    else if (strcmp(call->verb->name, "list") == 0)
        answer_visit(call->arena, answer_json(call->arena, answer, "Faults"), print_fault,
                     call->arena);
    return command_flush();
}
