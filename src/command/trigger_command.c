/* trigger_command.c -- see trigger_command.h. */
#include "command/trigger_command.h"
#include <stdio.h>
#include <stdlib.h>
#include "command/admin_client.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "command/command_line.h"
#include "json/reader.h"
#include "json/writer.h"

enum {
    ANSWER_DEPTH_MAX = 16,
    FILTERS_MAX = 16, /* The server's own bound is lower. */
};

static const char usage[] =
    "Usage: stator trigger add --table TABLE --url URL [FLAGS]\n"
    "       stator trigger list [--table TABLE]\n"
    "       stator trigger remove UUID\n"
    "\n"
    "Has a function called with the changes of a table, in Lambda's event format.\n"
    "\n"
    "  --endpoint URL            the server [" ADMIN_CLIENT_ENDPOINT "]\n"
    "  --ca-file FILE            PEM: trust an https server by these certificates\n"
    "                            [AWS_CA_BUNDLE, or the system's]\n"
    "  --starting-position P     TRIM_HORIZON or LATEST [TRIM_HORIZON]\n"
    "  --batch-size N            records per call [100]\n"
    "  --batch-window SECONDS    how long to wait for a batch to become full [0]\n"
    "  --filter PATTERN          only records that match; may be repeated\n"
    "  --max-retries N           how often a batch is tried again [-1: until it is trimmed]\n"
    "  --max-record-age SECONDS  what is older is given up [-1: never]\n"
    "  --bisect                  halve a batch that fails\n"
    "  --report-failures         the function answers with batchItemFailures\n"
    "  --timeout SECONDS         how long a call may take [60]\n"
    "  --dead-letters NAME       file for records that were given up, in the server's\n"
    "                            DATA-DIR/dead-letters\n"
    "\n"
    "A server with `auth` wants AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and, of temporary\n"
    "keys, AWS_SESSION_TOKEN) in the environment, and its region in AWS_REGION.\n";

enum flag_kind { FLAG_TEXT, FLAG_NUMBER, FLAG_PRESENCE };
static const struct flag {
    const char *name;
    const char *member;
    enum flag_kind kind;
    bool for_list; /* `list` takes it too. */
} flags[] = {
    { "--table", "TableName", FLAG_TEXT, true },
    { "--url", "Url", FLAG_TEXT, false },
    { "--starting-position", "StartingPosition", FLAG_TEXT, false },
    { "--batch-size", "BatchSize", FLAG_NUMBER, false },
    { "--batch-window", "MaximumBatchingWindowInSeconds", FLAG_NUMBER, false },
    { "--max-retries", "MaximumRetryAttempts", FLAG_NUMBER, false },
    { "--max-record-age", "MaximumRecordAgeInSeconds", FLAG_NUMBER, false },
    { "--timeout", "TimeoutInSeconds", FLAG_NUMBER, false },
    { "--bisect", "BisectBatchOnFunctionError", FLAG_PRESENCE, false },
    { "--dead-letters", "DeadLetterFile", FLAG_TEXT, false },
};

struct command {
    struct arena *arena;
    struct command_line line;
    const char *verb;
    const char *endpoint;
    const char *ca_file; /* NULL: the system's. */
    struct json_writer json;
    struct buffer body;
    struct bytes filters[FILTERS_MAX];
    size_t filter_count;
    const char *uuid;
};

/* --- The command line --- */

static bool is_integer(struct bytes text)
{
    size_t i = text.len > 0 && text.data[0] == '-' ? 1 : 0;
    if (i == text.len || text.len - i > 9 || (text.data[i] == '0' && text.len > 1))
        return false;
    for (; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    }
    return true;
}

static bool take_value(struct command *command, const char *word, struct bytes *value)
{
    const char *text = command_line_take_value(&command->line, word);
    *value = bytes_from_text(text != NULL ? text : "");
    return text != NULL;
}

static int parse_flag(struct command *command, const struct flag *flag, const char *word)
{
    struct bytes value = BYTES("");
    if (flag->kind == FLAG_PRESENCE ? strchr(word, '=') != NULL
                                    : !take_value(command, word, &value))
        return command_line_fail(ADMIN_CLIENT_MISUSED, flag->name,
                                 flag->kind == FLAG_PRESENCE ? "takes no value"
                                                             : "needs a value behind it");
    if (flag->kind == FLAG_NUMBER && !is_integer(value))
        return command_line_fail(ADMIN_CLIENT_MISUSED, flag->name, "takes a whole number");
    json_write_name(&command->json, flag->member);
    if (flag->kind == FLAG_NUMBER)
        json_write_raw(&command->json, value);
    else if (flag->kind == FLAG_PRESENCE)
        json_write_bool(&command->json, true);
    else
        json_write_string(&command->json, value);
    return 0;
}

/* Flags that are not a member of their own. */
static int parse_other(struct command *command, const char *word, bool adds)
{
    struct bytes value;
    bool is_filter = adds && command_line_is_flag(word, "--filter");
    bool is_ca_file = command_line_is_flag(word, "--ca-file");
    if (is_filter || is_ca_file || command_line_is_flag(word, "--endpoint")) {
        if (!take_value(command, word, &value))
            return command_line_fail(ADMIN_CLIENT_MISUSED, word, "needs a value behind it");
        if (is_ca_file)
            command->ca_file = (const char *)value.data;
        else if (!is_filter)
            command->endpoint = (const char *)value.data;
        else if (command->filter_count == FILTERS_MAX)
            return command_line_fail(ADMIN_CLIENT_MISUSED, word, "too many of them");
        else
            command->filters[command->filter_count++] = value;
        return 0;
    }
    if (adds && strcmp(word, "--report-failures") == 0) {
        json_write_name(&command->json, "FunctionResponseTypes");
        json_write_raw(&command->json, BYTES("[\"ReportBatchItemFailures\"]"));
        return 0;
    }
    if (word[0] != '-' && strcmp(command->verb, "remove") == 0 && command->uuid == NULL) {
        command->uuid = word;
        json_write_name(&command->json, "UUID");
        json_write_string(&command->json, bytes_from_text(word));
        return 0;
    }
    return command_line_fail(ADMIN_CLIENT_MISUSED, word,
                             "no such flag (see `stator trigger --help`)");
}

static int parse_word(struct command *command, const char *word)
{
    bool adds = strcmp(command->verb, "add") == 0, lists = strcmp(command->verb, "list") == 0;
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        if (command_line_is_flag(word, flags[i].name) && (adds || (lists && flags[i].for_list)))
            return parse_flag(command, &flags[i], word);
    }
    return parse_other(command, word, adds);
}

static int parse(struct command *command)
{
    json_open_object(&command->json);
    struct command_line *line = &command->line;
    while (line->next < line->argc) {
        int code = parse_word(command, line->argv[line->next++]);
        if (code != 0)
            return code;
    }
    if (command->filter_count > 0) {
        json_write_name(&command->json, "FilterCriteria");
        json_open_object(&command->json);
        json_write_name(&command->json, "Filters");
        json_open_array(&command->json);
        for (size_t i = 0; i < command->filter_count; i++) {
            json_open_object(&command->json);
            json_write_name(&command->json, "Pattern");
            json_write_string(&command->json, command->filters[i]);
            json_close_object(&command->json);
        }
        json_close_array(&command->json);
        json_close_object(&command->json);
    }
    json_close_object(&command->json);
    if (strcmp(command->verb, "remove") == 0 && command->uuid == NULL)
        return command_line_fail(ADMIN_CLIENT_MISUSED, "trigger remove",
                                 "needs the UUID of a trigger");
    return 0;
}

/* --- Answers --- */

static void print_trigger(struct arena *arena, struct bytes object)
{
    static const char *const members[] = { "UUID", "TableName", "Url", "State",
                                           "LastProcessingResult" };
    for (size_t i = 0; i < COUNT_OF(members); i++)
        printf("%s%.*s", i == 0 ? "" : "  ",
               BYTES_FMT(admin_client_member(arena, object, members[i])));
    printf("\n");
}

/* {"Triggers":[{...},...]} */
static void print_list(struct arena *arena, struct bytes body)
{
    struct json_reader reader;
    struct bytes name;
    json_reader_init(&reader, arena, body, ANSWER_DEPTH_MAX);
    json_enter_object(&reader);
    while (json_next_member(&reader, &name)) {
        json_enter_array(&reader);
        while (json_next_element(&reader)) {
            json_peek(&reader); /* Passes over white space. */
            size_t first = json_offset(&reader);
            json_skip(&reader);
            print_trigger(arena, bytes_of(body.data + first, json_offset(&reader) - first));
        }
    }
}

static int show(struct command *command, struct bytes answer)
{
    struct arena *arena = command->arena;
    if (strcmp(command->verb, "add") == 0)
        printf("%.*s\n", BYTES_FMT(admin_client_member(arena, answer, "UUID")));
    else if (strcmp(command->verb, "list") == 0)
        print_list(arena, answer);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : ADMIN_CLIENT_REFUSED;
}

static int send_request(struct command *command, const char *operation)
{
    struct admin_client_call call = { .endpoint = command->endpoint,
                                      .ca_file = command->ca_file,
                                      .operation = operation,
                                      .body = buffer_bytes(&command->body) };
    struct bytes answer;
    int code = admin_client_send(command->arena, &call, &answer);
    return code == 0 ? show(command, answer) : code;
}

static const struct {
    const char *verb;
    const char *operation;
} verbs[] = { { "add", "AddTrigger" }, { "list", "ListTriggers" }, { "remove", "RemoveTrigger" } };

int trigger_command(int argc, char *const *argv)
{
    const struct command_line line = { .argc = argc, .argv = argv, .next = 1 };
    size_t verb = 0;
    if (command_line_asks_for_help(&line))
        return fputs(usage, stdout) >= 0 && fflush(stdout) == 0 ? 0 : ADMIN_CLIENT_REFUSED;
    while (argc > 0 && verb < COUNT_OF(verbs) && strcmp(argv[0], verbs[verb].verb) != 0)
        verb++;
    if (argc == 0 || verb == COUNT_OF(verbs))
        return command_line_fail(ADMIN_CLIENT_MISUSED, "trigger",
                                 "add, list or remove (see `stator trigger --help`)");
    struct command command = { .arena = arena_create(),
                               .line = line,
                               .verb = argv[0],
                               .endpoint = ADMIN_CLIENT_ENDPOINT,
                               .ca_file = getenv("AWS_CA_BUNDLE") };
    buffer_init(&command.body, command.arena);
    json_writer_init(&command.json, &command.body);
    int code = parse(&command);
    if (code == 0)
        code = send_request(&command, verbs[verb].operation);
    arena_destroy(command.arena);
    return code;
}
