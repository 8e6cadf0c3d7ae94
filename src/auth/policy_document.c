/* policy_document.c -- see policy_document.h.
 *
 * A statement's members are found first, each as a copy of the reader that stands before its value,
 * and then read in the order in which they are needed.
 */
#include "auth/policy_document.h"
#include <assert.h>
#include <strings.h>
#include "auth/policy.h"
#include "auth/policy_element.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/error.h"

enum { ACCOUNT_DIGITS = 12 };

/* In the order in which they are shown. */

enum member { MEMBER_VERSION, MEMBER_ID, MEMBER_STATEMENT, MEMBER_COUNT };
static const char *const member_names[] = { "Version", "Id", "Statement" };
static_assert(COUNT_OF(member_names) == MEMBER_COUNT, "each member has a name");

/* Readers before the values of an object's members; one without `at` is absent. */
static bool find_members(struct json_reader *reader, const char *const *names, size_t count,
                         struct json_reader *out)
{
    struct bytes name;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct json_reader){ 0 };
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        for (size_t i = 0; i < count; i++) {
            if (bytes_equal_text(name, names[i]))
                out[i] = *reader;
        }
        json_skip(reader);
    }
    return !json_failed(reader);
}

static bool is_present(const struct json_reader *reader)
{
    return reader->at != NULL;
}

static size_t count_elements(struct json_reader reader)
{
    size_t count = 0;
    json_enter_array(&reader);
    while (json_next_element(&reader)) {
        json_skip(&reader);
        count++;
    }
    return count;
}

/* --- Walking --- */

/* One text, or an array of them: calls `take` for each that is a string. False if `take` was. */
static bool each_text(struct json_reader reader, bool (*take)(void *context, struct bytes text),
                      void *context)
{
    struct bytes text;
    if (json_peek(&reader) == JSON_STRING)
        return !json_read_string(&reader, &text) || take(context, text);
    json_enter_array(&reader);
    while (json_next_element(&reader)) {
        if (json_read_string(&reader, &text) && !take(context, text))
            return false;
    }
    return true;
}

struct walk {
    struct arena *arena;
    struct json_reader members[MEMBER_COUNT];
    struct json_reader statements; /* Stands before the next one. */
    bool is_array;
    bool is_done;
};

static bool walk_begin(struct walk *walk, struct arena *arena, struct bytes text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, text, POLICY_DEPTH_MAX);
    *walk = (struct walk){ .arena = arena };
    if (!find_members(&reader, member_names, MEMBER_COUNT, walk->members) ||
        !is_present(&walk->members[MEMBER_STATEMENT]))
        return false;
    walk->statements = walk->members[MEMBER_STATEMENT];
    walk->is_array = json_peek(&walk->statements) == JSON_ARRAY;
    if (walk->is_array)
        json_enter_array(&walk->statements);
    return true;
}

/* False at the end. */
static bool walk_next(struct walk *walk, struct json_reader elements[ELEMENT_COUNT])
{
    if (walk->is_array ? !json_next_element(&walk->statements) : walk->is_done)
        return false;
    walk->is_done = true;
    return find_members(&walk->statements, policy_element_names, ELEMENT_COUNT, elements);
}

/* --- Rules --- */

struct check {
    struct walk walk;
    struct error *err;
    enum policy_subject subject;
    struct bytes *sids; /* Room for one of each statement. */
    size_t sid_count;
    struct buffer invalid_actions;
};

/* The actions that a policy of a table may name, without "dynamodb:". The last ones are ours. */
static const char *const table_actions[] = {
    "BatchGetItem",
    "BatchWriteItem",
    "ConditionCheckItem",
    "CreateBackup",
    "CreateTableReplica",
    "DeleteItem",
    "DeleteResourcePolicy",
    "DeleteTable",
    "DeleteTableReplica",
    "DescribeContinuousBackups",
    "DescribeContributorInsights",
    "DescribeKinesisStreamingDestination",
    "DescribeTable",
    "DescribeTableReplicaAutoScaling",
    "DescribeTimeToLive",
    "DisableKinesisStreamingDestination",
    "DisassociateTableReplica",
    "EnableKinesisStreamingDestination",
    "ExportTableToPointInTime",
    "GetItem",
    "GetResourcePolicy",
    "ListTagsOfResource",
    "PartiQLDelete",
    "PartiQLInsert",
    "PartiQLSelect",
    "PartiQLUpdate",
    "PutItem",
    "PutResourcePolicy",
    "Query",
    "ReadDataForReplication",
    "ReplicateSettings",
    "RestoreTableFromAwsBackup",
    "RestoreTableFromBackup",
    "RestoreTableToPointInTime",
    "Scan",
    "StartAwsBackupJob",
    "TagResource",
    "UntagResource",
    "UpdateContinuousBackups",
    "UpdateContributorInsights",
    "UpdateItem",
    "UpdateKinesisStreamingDestination",
    "UpdateTable",
    "UpdateTableReplicaAutoScaling",
    "UpdateTimeToLive",
    "WriteDataForReplication",
    "AddTrigger",
    "ListTriggers",
    "RemoveTrigger",
    NULL,
};
static const char *const stream_actions[] = {
    "DeleteResourcePolicy", "DescribeStream",    "GetRecords", "GetResourcePolicy",
    "GetShardIterator",     "PutResourcePolicy", NULL,
};

static bool is_name_of(struct bytes text, const char *name)
{
    return strlen(name) == text.len && strncasecmp((const char *)text.data, name, text.len) == 0;
}

/* Patterns are not looked up: they may match what there is not yet. */
static bool is_known_action(enum policy_subject subject, struct bytes text)
{
    static const char service[] = "dynamodb:";
    const size_t size = sizeof service - 1;
    if (memchr(text.data, '*', text.len) != NULL || memchr(text.data, '?', text.len) != NULL)
        return true;
    if (text.len <= size || strncasecmp((const char *)text.data, service, size) != 0)
        return false;
    const struct bytes name = bytes_of(text.data + size, text.len - size);
    const char *const *known = subject == POLICY_SUBJECT_TABLE ? table_actions : stream_actions;
    while (*known != NULL && !is_name_of(name, *known))
        known++;
    return *known != NULL;
}

static bool note_action(void *context, struct bytes text)
{
    struct check *check = context;
    if (is_known_action(check->subject, text))
        return true;
    if (check->invalid_actions.len > 0)
        buffer_append_bytes(&check->invalid_actions, BYTES(", "));
    buffer_append_byte(&check->invalid_actions, '"');
    buffer_append_bytes(&check->invalid_actions, text);
    buffer_append_byte(&check->invalid_actions, '"');
    return true;
}

/* Observed: a policy of a table may name any table or index, one of a stream any stream. */
static bool check_resource(void *context, struct bytes text)
{
    struct check *check = context;
    static const char resource[] = ":table/";
    static const char stream[] = "/stream/";
    if (memchr(text.data, '*', text.len) != NULL || memchr(text.data, '?', text.len) != NULL)
        return true;
    const uint8_t *found = memmem(text.data, text.len, resource, sizeof resource - 1);
    bool of_stream = memmem(text.data, text.len, stream, sizeof stream - 1) != NULL;
    if (found == NULL || of_stream == (check->subject == POLICY_SUBJECT_STREAM))
        return true;
    const uint8_t *id = found + 1;
    return error_validation(check->err, "The relative-id \"%.*s\" is invalid for ARN \"%.*s\"",
                            (int)(text.data + text.len - id), (const char *)id, BYTES_FMT(text));
}

static bool check_sid(void *context, struct bytes sid)
{
    struct check *check = context;
    for (size_t i = 0; i < check->sid_count; i++) {
        if (bytes_equal(check->sids[i], sid))
            return error_validation(check->err, "The Statement Ids in the policy are not unique");
    }
    check->sids[check->sid_count++] = sid;
    return true;
}

static bool check_part(const struct json_reader *reader, bool (*take)(void *, struct bytes),
                       struct check *check)
{
    return !is_present(reader) || each_text(*reader, take, check);
}

bool policy_document_check(struct arena *arena, struct bytes text, enum policy_subject subject,
                           struct error *err)
{
    struct check check = { .err = err, .subject = subject };
    struct json_reader elements[ELEMENT_COUNT];
    bool is_policy = walk_begin(&check.walk, arena, text);
    assert(is_policy); /* It passed policy_parse. */
    size_t count = check.walk.is_array ? count_elements(check.walk.members[MEMBER_STATEMENT]) : 1;
    check.sids = arena_alloc(arena, count * sizeof *check.sids);
    buffer_init(&check.invalid_actions, arena);
    while (walk_next(&check.walk, elements)) {
        if (!check_part(&elements[ELEMENT_SID], check_sid, &check) ||
            !check_part(&elements[ELEMENT_RESOURCE], check_resource, &check) ||
            !check_part(&elements[ELEMENT_NOT_RESOURCE], check_resource, &check) ||
            !check_part(&elements[ELEMENT_ACTION], note_action, &check) ||
            !check_part(&elements[ELEMENT_NOT_ACTION], note_action, &check))
            return false;
    }
    return check.invalid_actions.len == 0 ||
           error_validation(err, "The following action names are invalid: %.*s",
                            BYTES_FMT(buffer_bytes(&check.invalid_actions)));
}

/* --- The form that is shown --- */

static void write_scalar(struct json_writer *writer, struct json_reader *reader)
{
    struct bytes text;
    bool value;
    switch (json_peek(reader)) {
    case JSON_STRING:
        if (json_read_string(reader, &text))
            json_write_string(writer, text);
        break;
    case JSON_NUMBER:
        if (json_read_number(reader, &text))
            json_write_raw(writer, text);
        break;
    case JSON_BOOL:
        if (json_read_bool(reader, &value))
            json_write_bool(writer, value);
        break;
    default:
        json_skip(reader);
    }
}

/* A list of one element is shown as the element. Order and repetitions stay. */
static void write_list(struct json_writer *writer, struct json_reader *reader)
{
    if (json_peek(reader) != JSON_ARRAY) {
        write_scalar(writer, reader);
        return;
    }
    bool is_single = count_elements(*reader) == 1;
    if (!is_single)
        json_open_array(writer);
    json_enter_array(reader);
    while (json_next_element(reader))
        write_scalar(writer, reader);
    if (!is_single)
        json_close_array(writer);
}

struct principals {
    struct arena *arena;
    struct bytes *texts;
    size_t count;
};

/* An account stands for its root; a principal is shown once. */
static bool add_principal(void *context, struct bytes text)
{
    struct principals *principals = context;
    bool is_account = text.len == ACCOUNT_DIGITS;
    for (size_t i = 0; i < text.len && is_account; i++)
        is_account = text.data[i] >= '0' && text.data[i] <= '9';
    if (is_account)
        text = arena_printf(principals->arena, "arn:aws:iam::%.*s:root", BYTES_FMT(text));
    for (size_t i = 0; i < principals->count; i++) {
        if (bytes_equal(principals->texts[i], text))
            return true;
    }
    principals->texts[principals->count++] = text;
    return true;
}

static void write_principals(struct json_writer *writer, struct arena *arena,
                             const struct json_reader *reader)
{
    struct json_reader probe = *reader;
    size_t room = json_peek(&probe) == JSON_ARRAY ? count_elements(*reader) : 1;
    struct principals principals = { .arena = arena,
                                     .texts = arena_alloc(arena, room * sizeof(struct bytes)) };
    bool all = each_text(*reader, add_principal, &principals);
    assert(all);
    if (principals.count != 1)
        json_open_array(writer);
    for (size_t i = 0; i < principals.count; i++)
        json_write_string(writer, principals.texts[i]);
    if (principals.count != 1)
        json_close_array(writer);
}

static void write_principal(struct json_writer *writer, struct arena *arena,
                            struct json_reader *reader)
{
    struct bytes name;
    if (json_peek(reader) != JSON_OBJECT) {
        write_scalar(writer, reader); /* "*" */
        return;
    }
    json_open_object(writer);
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        json_write_name_bytes(writer, name);
        write_principals(writer, arena, reader);
        json_skip(reader);
    }
    json_close_object(writer);
}

static void write_conditions(struct json_writer *writer, struct json_reader *reader)
{
    struct bytes name;
    json_open_object(writer);
    json_enter_object(reader);
    while (json_next_member(reader, &name)) {
        json_write_name_bytes(writer, name);
        json_open_object(writer);
        json_enter_object(reader);
        while (json_next_member(reader, &name)) {
            json_write_name_bytes(writer, name);
            write_list(writer, reader);
        }
        json_close_object(writer);
    }
    json_close_object(writer);
}

static void write_effect(struct json_writer *writer, struct json_reader *reader)
{
    struct bytes effect;
    if (json_read_string(reader, &effect))
        json_write_text(writer, is_name_of(effect, "Deny") ? "Deny" : "Allow");
}

static void write_element(struct json_writer *writer, struct arena *arena,
                          enum policy_element element, struct json_reader *reader)
{
    json_write_name(writer, policy_element_names[element]);
    if (element == ELEMENT_EFFECT)
        write_effect(writer, reader);
    else if (element == ELEMENT_PRINCIPAL || element == ELEMENT_NOT_PRINCIPAL)
        write_principal(writer, arena, reader);
    else if (element == ELEMENT_CONDITION)
        write_conditions(writer, reader);
    else
        write_list(writer, reader);
}

static void write_statements(struct json_writer *writer, struct walk *walk)
{
    struct json_reader elements[ELEMENT_COUNT];
    json_write_name(writer, "Statement");
    json_open_array(writer);
    while (walk_next(walk, elements)) {
        json_open_object(writer);
        for (enum policy_element element = ELEMENT_SID; element < ELEMENT_COUNT; element++) {
            if (is_present(&elements[element]))
                write_element(writer, walk->arena, element, &elements[element]);
        }
        json_close_object(writer);
    }
    json_close_array(writer);
}

struct bytes policy_document_canonical(struct arena *arena, struct bytes text, bool shown)
{
    struct walk walk;
    struct buffer out;
    struct json_writer writer;
    struct error ignored;
    error_init(&ignored, arena);
    if (policy_parse(arena, text, POLICY_OF_RESOURCE, &ignored) == NULL ||
        !walk_begin(&walk, arena, text))
        return text;
    buffer_init(&out, arena);
    json_writer_init(&writer, &out);
    json_open_object(&writer);
    if (is_present(&walk.members[MEMBER_VERSION])) {
        json_write_name(&writer, "Version");
        write_scalar(&writer, &walk.members[MEMBER_VERSION]);
    } else if (shown) {
        json_write_name(&writer, "Version");
        json_write_text(&writer, "2008-10-17");
    }
    if (is_present(&walk.members[MEMBER_ID])) {
        json_write_name(&writer, "Id");
        write_scalar(&writer, &walk.members[MEMBER_ID]);
    }
    write_statements(&writer, &walk);
    json_close_object(&writer);
    return buffer_bytes(&out);
}
