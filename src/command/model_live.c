/* model_live.c -- see model_live.h. */
#include "command/model_live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "command/admin_client.h"
#include "command/answer.h"
#include "command/command.h"
#include "json/writer.h"
#include "schema/json_tree.h"
#include "schema/model_diff.h"
#include "schema/model_file.h"
#include "schema/model_infer.h"
#include "schema/model_request.h"

enum {
    POLL_MS = 200,
    POLLS_MAX = 5 * 60 * 5, /* Five minutes. */
    INFER_ITEMS_MAX = 10000,
    INFER_ITEMS_DEFAULT = 1000,
};

/* Sends a request. `*answer` is parsed. */
static int send(const struct command_call *call, const char *operation, struct bytes body,
                struct json_node **answer)
{
    struct admin_client_call request = admin_client_call_of(call, operation);
    struct bytes text, failure;
    request.body = body;
    int code = admin_client_send(call->arena, &request, &text);
    if (code != COMMAND_OK)
        return code;
    *answer = json_tree_parse(call->arena, text, &failure);
    return *answer != NULL ? COMMAND_OK
                           : command_fail(COMMAND_FAILED, operation, "the answer is not JSON");
}

static struct bytes one_text(struct arena *arena, const char *name, struct bytes value)
{
    struct json_node *object = json_tree_new(arena, JSON_OBJECT);
    json_tree_add_text(arena, object, name, value);
    return json_tree_text(arena, object);
}

/* --- Live tables as a model --- */

/* The names of all tables. */
static int list_tables(const struct command_call *call, struct json_node **names)
{
    struct bytes body = BYTES("{}");
    *names = json_tree_new(call->arena, JSON_ARRAY);
    for (;;) {
        struct json_node *answer;
        int code = send(call, "ListTables", body, &answer);
        if (code != COMMAND_OK)
            return code;
        const struct json_node *list = json_tree_member(answer, "TableNames");
        for (const struct json_node *at = list == NULL ? NULL : list->first; at != NULL;
             at = at->next)
            json_tree_add(*names, (struct bytes){ 0 }, json_tree_copy(call->arena, at));
        struct bytes last = json_tree_string(answer, "LastEvaluatedTableName");
        if (last.data == NULL)
            return COMMAND_OK;
        body = one_text(call->arena, "ExclusiveStartTableName", last);
    }
}

static bool is_listed(const struct json_node *names, struct bytes name)
{
    for (const struct json_node *at = names->first; at != NULL; at = at->next) {
        if (bytes_equal(at->text, name))
            return true;
    }
    return false;
}

static int describe(const struct command_call *call, struct bytes name, struct json_node **table)
{
    struct json_node *answer;
    int code = send(call, "DescribeTable", one_text(call->arena, "TableName", name), &answer);
    if (code == COMMAND_OK)
        *table = json_tree_member(answer, "Table");
    return code;
}

/* Adds the attribute of time to live, of which DescribeTable does not tell. */
static int describe_time_to_live(const struct command_call *call, struct bytes name,
                                 struct json_node *table)
{
    struct json_node *answer;
    int code = send(call, "DescribeTimeToLive", one_text(call->arena, "TableName", name), &answer);
    if (code != COMMAND_OK)
        return code;
    const struct json_node *description = json_tree_member(answer, "TimeToLiveDescription");
    struct bytes status = json_tree_string(description, "TimeToLiveStatus");
    struct bytes attribute = json_tree_string(description, "AttributeName");
    if (attribute.data == NULL || bytes_equal_text(status, "DISABLED") ||
        bytes_equal_text(status, "DISABLING"))
        return COMMAND_OK;
    struct json_node *ttl = json_tree_new(call->arena, JSON_OBJECT);
    struct json_node *enabled = json_tree_new(call->arena, JSON_BOOL);
    enabled->boolean = true;
    json_tree_add(ttl, BYTES("Enabled"), enabled);
    json_tree_add_text(call->arena, ttl, "AttributeName", attribute);
    json_tree_add(table, BYTES("TimeToLiveSpecification"), ttl);
    return COMMAND_OK;
}

/* DescribeTable and time to live. `*table` is in no tree; NULL: the answer has none. */
static int describe_whole(const struct command_call *call, struct bytes name,
                          struct json_node **table)
{
    struct json_node *described = NULL;
    int code = describe(call, name, &described);
    *table =
        code == COMMAND_OK && described != NULL ? json_tree_copy(call->arena, described) : NULL;
    return *table == NULL ? code : describe_time_to_live(call, name, *table);
}

/* Those of the model's tables that the server has, as a model. */
static int load_live(const struct command_call *call, const struct model_file *model,
                     struct model_file **live)
{
    struct json_node *names, *table = NULL;
    struct json_node *root = json_tree_new(call->arena, JSON_OBJECT);
    struct json_node *tables = json_tree_new(call->arena, JSON_ARRAY);
    struct model_report report;
    int code = list_tables(call, &names);
    json_tree_add(root, BYTES("tables"), tables);
    for (size_t i = 0; i < model->table_count && code == COMMAND_OK; i++) {
        if (!is_listed(names, model->tables[i].name))
            continue;
        code = describe_whole(call, model->tables[i].name, &table);
        if (code == COMMAND_OK && table != NULL)
            json_tree_add(tables, (struct bytes){ 0 }, table);
    }
    if (code != COMMAND_OK)
        return code;
    *live = model_file_load(call->arena, json_tree_text(call->arena, root), &report);
    if (*live != NULL)
        return COMMAND_OK;
    fprintf(stderr, "stator: model: %.*s\n", BYTES_FMT(answer_clean(call->arena, report.failure)));
    return COMMAND_FAILED;
}

/* --- Differences --- */

static void print_steps(const struct model_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        printf("%s ", steps[i].operation != NULL ? "do  " : "note");
        answer_print(steps[i].text);
        putchar('\n');
    }
    if (count == 0)
        printf("nothing differs\n");
}

int model_live_diff(const struct command_call *call, const struct model_file *from,
                    const struct model_file *to)
{
    size_t count;
    struct model_file *live;
    bool is_live = from == NULL;
    int code = is_live ? load_live(call, to, &live) : COMMAND_OK;
    if (code != COMMAND_OK)
        return code;
    struct model_step *steps = model_diff(call->arena, is_live ? live : from, to, !is_live, &count);
    print_steps(steps, count);
    return command_flush();
}

/* --- Applying --- */

/* Until the table and its indexes are ACTIVE. */
static int wait_until_idle(const struct command_call *call, struct bytes name)
{
    for (int i = 0; i < POLLS_MAX; i++) {
        struct json_node *table = NULL;
        int code = describe(call, name, &table);
        if (code != COMMAND_OK)
            return code;
        bool idle = bytes_equal_text(json_tree_string(table, "TableStatus"), "ACTIVE");
        const struct json_node *indexes = json_tree_member(table, "GlobalSecondaryIndexes");
        for (const struct json_node *at = indexes == NULL ? NULL : indexes->first; at != NULL;
             at = at->next)
            idle = idle && bytes_equal_text(json_tree_string(at, "IndexStatus"), "ACTIVE");
        if (idle)
            return COMMAND_OK;
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
    }
    return command_fail(COMMAND_FAILED, "model", "a table did not become ACTIVE in five minutes");
}

static int load_rows(const struct command_call *call, const struct model_table *table)
{
    for (size_t i = 0; i < table->row_count; i++) {
        struct json_node *answer;
        int code = send(call, "PutItem", model_request_put_item(call->arena, table, table->rows[i]),
                        &answer);
        if (code != COMMAND_OK)
            return code;
    }
    return COMMAND_OK;
}

/* A change of time to live is refused while the one before is under way. */
static int wait_for_time_to_live(const struct command_call *call, struct bytes name)
{
    for (int i = 0; i < POLLS_MAX; i++) {
        struct json_node *answer;
        struct bytes body = one_text(call->arena, "TableName", name);
        int code = send(call, "DescribeTimeToLive", body, &answer);
        if (code != COMMAND_OK)
            return code;
        struct bytes status =
            json_tree_string(json_tree_member(answer, "TimeToLiveDescription"), "TimeToLiveStatus");
        if (!bytes_equal_text(status, "ENABLING") && !bytes_equal_text(status, "DISABLING"))
            return COMMAND_OK;
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
    }
    return command_fail(COMMAND_FAILED, "model",
                        "time to live is still changing after five minutes: apply again later");
}

static int carry_out(const struct command_call *call, const struct model_step *step)
{
    struct json_node *answer;
    int code = COMMAND_OK;
    if (strcmp(step->operation, "UpdateTimeToLive") == 0)
        code = wait_for_time_to_live(call, step->table->name);
    if (code == COMMAND_OK)
        code = send(call, step->operation, step->body, &answer);
    return code == COMMAND_OK ? wait_until_idle(call, step->table->name) : code;
}

int model_live_apply(const struct command_call *call, const struct model_file *model)
{
    size_t count;
    struct model_file *live;
    int code = load_live(call, model, &live);
    if (code != COMMAND_OK)
        return code;
    struct model_step *steps = model_diff(call->arena, live, model, false, &count);
    print_steps(steps, count);
    bool with_data = command_value_of(call, "no-data") == NULL;
    for (size_t i = 0; i < model->table_count; i++) {
        const struct model_table *table = &model->tables[i];
        if (with_data && model_file_table(live, table->name) == NULL && table->row_count > 0)
            printf("do   put %zu items into table %.*s\n", table->row_count,
                   BYTES_FMT(table->name));
    }
    if (command_value_of(call, "yes") == NULL) {
        printf("Nothing was done; --yes carries it out.\n");
        return command_flush();
    }
    for (size_t i = 0; i < count && code == COMMAND_OK; i++) {
        if (steps[i].operation != NULL)
            code = carry_out(call, &steps[i]);
    }
    for (size_t i = 0; i < model->table_count && code == COMMAND_OK && with_data; i++) {
        if (model_file_table(live, model->tables[i].name) == NULL)
            code = load_rows(call, &model->tables[i]);
    }
    if (code != COMMAND_OK)
        return code;
    printf("Done.\n");
    return command_flush();
}

/* --- Inferring --- */

static struct bytes scan_body(struct arena *arena, const char *table, const struct json_node *after)
{
    struct buffer out;
    struct json_writer writer;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    json_write_name(&writer, "TableName");
    json_write_string(&writer, bytes_from_text(table));
    if (after != NULL) {
        json_write_name(&writer, "ExclusiveStartKey");
        json_tree_write_compact(&writer, after);
    }
    json_close_object(&writer);
    return buffer_bytes(&out);
}

/* Up to `wanted` items of the table. */
static int read_items(const struct command_call *call, const char *table, size_t wanted,
                      struct json_node *rows)
{
    const struct json_node *after = NULL;
    do {
        struct json_node *answer;
        int code = send(call, "Scan", scan_body(call->arena, table, after), &answer);
        if (code != COMMAND_OK)
            return code;
        const struct json_node *items = json_tree_member(answer, "Items");
        for (const struct json_node *at = items == NULL ? NULL : items->first;
             at != NULL && rows->count < wanted; at = at->next)
            json_tree_add(rows, (struct bytes){ 0 }, json_tree_copy(call->arena, at));
        after = json_tree_member(answer, "LastEvaluatedKey");
    } while (after != NULL && rows->count < wanted);
    return COMMAND_OK;
}

int model_live_infer(const struct command_call *call, const char *table)
{
    struct json_node *description = NULL, *rows = json_tree_new(call->arena, JSON_ARRAY);
    const char *items = command_value_of(call, "items");
    long wanted = items == NULL ? INFER_ITEMS_DEFAULT : strtol(items, NULL, 10);
    struct model_report report;
    if (wanted < 1 || wanted > INFER_ITEMS_MAX)
        return command_fail(COMMAND_MISUSED, "--items", "is from 1 to 10000");
    int code = describe_whole(call, bytes_from_text(table), &description);
    if (code == COMMAND_OK && description == NULL)
        code = command_fail(COMMAND_FAILED, "model", "the answer has no table");
    if (code == COMMAND_OK)
        code = read_items(call, table, (size_t)wanted, rows);
    if (code != COMMAND_OK)
        return code;
    struct model_file *file =
        model_file_load(call->arena, json_tree_text(call->arena, description), &report);
    if (file == NULL) {
        fprintf(stderr, "stator: model: %.*s\n",
                BYTES_FMT(answer_clean(call->arena, report.failure)));
        return COMMAND_FAILED;
    }
    for (size_t i = 0; i < report.note_count; i++)
        fprintf(stderr, "stator: model: note: %.*s: %.*s\n",
                BYTES_FMT(answer_clean(call->arena, report.notes[i].place)),
                BYTES_FMT(answer_clean(call->arena, report.notes[i].text)));
    model_infer(call->arena, file, rows, command_value_of(call, "no-data") == NULL);
    struct bytes text = model_file_save(call->arena, file);
    fwrite(text.data, 1, text.len, stdout);
    return command_flush();
}
