/* trigger_command.c -- `stator trigger`: manages triggers by requests to a running server.
 *
 * Knows the flags and the members that they become; whether their values make sense is for the
 * server to decide.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command/admin_client.h"
#include "command/answer.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "command/command.h"
#include "json/writer.h"

/* Flags that become one member of the request. */
static const struct {
    const char *flag;
    const char *member;
} members[] = {
    { "table", "TableName" },
    { "url", "Url" },
    { "starting-position", "StartingPosition" },
    { "batch-size", "BatchSize" },
    { "batch-window", "MaximumBatchingWindowInSeconds" },
    { "max-retries", "MaximumRetryAttempts" },
    { "max-record-age", "MaximumRecordAgeInSeconds" },
    { "timeout", "TimeoutInSeconds" },
    { "bisect", "BisectBatchOnFunctionError" },
    { "dead-letters", "DeadLetterFile" },
};

/* --- The request --- */

static void write_member(struct json_writer *json, const struct command_value *value)
{
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        if (strcmp(value->flag->name, members[i].flag) != 0)
            continue;
        json_write_name(json, members[i].member);
        switch (value->flag->kind) {
        case COMMAND_FLAG_TEXT:
            json_write_string(json, bytes_from_text(value->text));
            return;
        case COMMAND_FLAG_NUMBER:
            json_write_raw(json, bytes_from_text(value->text));
            return;
        case COMMAND_FLAG_PRESENCE:
            json_write_bool(json, true);
            return;
        }
    }
}

static void write_filters(struct json_writer *json, const struct command_call *call)
{
    if (command_value_of(call, "filter") == NULL)
        return;
    json_write_name(json, "FilterCriteria");
    json_open_object(json);
    json_write_name(json, "Filters");
    json_open_array(json);
    for (size_t i = 0; i < call->value_count; i++) {
        if (strcmp(call->values[i].flag->name, "filter") != 0)
            continue;
        json_open_object(json);
        json_write_name(json, "Pattern");
        json_write_string(json, bytes_from_text(call->values[i].text));
        json_close_object(json);
    }
    json_close_array(json);
    json_close_object(json);
}

static struct bytes request_body(const struct command_call *call)
{
    struct buffer body;
    struct json_writer json;
    buffer_init(&body, call->arena);
    json_writer_init(&json, &body);
    json_open_object(&json);
    for (size_t i = 0; i < call->value_count; i++)
        write_member(&json, &call->values[i]);
    if (command_value_of(call, "report-failures") != NULL) {
        json_write_name(&json, "FunctionResponseTypes");
        json_write_raw(&json, BYTES("[\"ReportBatchItemFailures\"]"));
    }
    write_filters(&json, call);
    if (call->word_count > 0) {
        json_write_name(&json, "UUID");
        json_write_string(&json, bytes_from_text(call->words[0]));
    }
    json_close_object(&json);
    return buffer_bytes(&body);
}

/* --- Answers --- */

static void print_trigger(void *context, struct bytes object)
{
    struct arena *arena = context;
    static const char *const columns[] = { "UUID", "TableName", "Url", "State",
                                           "LastProcessingResult" };
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        printf("%s%.*s", i == 0 ? "" : "  ", BYTES_FMT(answer_text(arena, object, columns[i])));
    printf("\n");
}

static const struct {
    const char *verb;
    const char *operation;
} operations[] = {
    { "add", "AddTrigger" },
    { "list", "ListTriggers" },
    { "remove", "RemoveTrigger" },
};

int trigger_command(const struct command_call *call)
{
    bool adds = strcmp(call->verb->name, "add") == 0;
    if (adds && (command_value_of(call, "table") == NULL || command_value_of(call, "url") == NULL))
        return command_fail(COMMAND_MISUSED, "trigger add", "needs --table and --url");
    struct admin_client_call request = admin_client_call_of(call, NULL);
    request.body = request_body(call);
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        if (strcmp(call->verb->name, operations[i].verb) == 0)
            request.operation = operations[i].operation;
    assert(request.operation != NULL);
    struct bytes answer;
    int code = admin_client_send(call->arena, &request, &answer);
    if (code != COMMAND_OK)
        return code;
    if (adds)
        printf("%.*s\n", BYTES_FMT(answer_text(call->arena, answer, "UUID")));
    else if (strcmp(call->verb->name, "list") == 0)
        answer_visit(call->arena, answer_json(call->arena, answer, "Triggers"), print_trigger,
                     call->arena);
    return command_flush();
}
