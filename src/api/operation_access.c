/* operation_access.c -- see operation_access.h. */
#include "api/operation_access.h"
#include <assert.h>
#include <string.h>
#include "api/operation.h"
#include "auth/caller.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/arn.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "stream/stream_definition.h"
#include "stream/stream_names.h"
#include "stream/streams.h"
#include "table/catalogue.h"

/* --- Questions --- */

static const struct access_table_policies *policies_of(const struct table *table)
{
    return table_attachment(table);
}

static struct bytes join(struct api_call *call, struct bytes arn, struct bytes kind,
                         struct bytes name)
{
    const struct bytes parts[] = { arn, kind, name };
    return arena_join(call->arena, parts, COUNT_OF(parts));
}

struct access_question operation_question(struct api_call *call, const char *action,
                                          struct bytes name_or_arn, struct bytes index_name,
                                          const struct table *table)
{
    struct access_question question = {
        .service = operation_action_prefix(call->operation),
        .action = action,
        .arn = operation_table_arn(call, operation_table_name(name_or_arn)),
    };
    if (index_name.data != NULL)
        question.arn = join(call, question.arn, BYTES("/index/"), index_name);
    if (table == NULL)
        return question;
    const struct table_definition *definition = table_definition(table);
    question.table = definition;
    question.policy = &policies_of(table)->table;
    if (index_name.data == NULL) {
        question.hash = &definition->key.hash;
        question.hash_count = 1;
        return question;
    }
    const struct index_definition *index = table_definition_index(definition, index_name);
    if (index != NULL) {
        question.hash = index->hash;
        question.hash_count = index->hash_count;
    }
    return question;
}

/* The policy of a stream whose table is gone, or whose table has the policy of a newer stream.
 * NULL: there is none. */
static const struct access_policy *policy_of_stream(struct api_call *call, struct bytes table_name,
                                                    struct bytes label)
{
    const struct access_policy *policy = NULL;
    struct stream *stream = streams_find(api_streams(call->api), table_name, label);
    if (stream != NULL && stream_definition(stream)->policy.data != NULL)
        policy = access_compile_policy(call->arena,
                                       arena_copy(call->arena, stream_definition(stream)->policy));
    stream_release(stream);
    return policy;
}

struct access_question operation_stream_question(struct api_call *call, const char *action,
                                                 struct bytes table_name, struct bytes label,
                                                 const struct table *table)
{
    struct access_question question = {
        .service = operation_action_prefix(call->operation),
        .action = action,
        .arn = join(call, operation_table_arn(call, table_name), BYTES("/stream/"), label),
        /* Records show whole items. Those of a KEYS_ONLY stream show less; they are not told apart.
         */
        .shows_unnamed = strcmp(action, "GetRecords") == 0,
    };
    if (table != NULL)
        question.table = table_definition(table);
    if (table != NULL && bytes_equal(question.table->stream_policy_label, label))
        question.policy = &policies_of(table)->stream;
    else
        question.policy = policy_of_stream(call, table_name, label);
    return question;
}

/* --- Asking --- */

bool operation_may(struct api_call *call, const struct access_question *question)
{
    assert(call->caller != NULL);
    call->asked = true;
    call->resource = question->arn;
    if (access_decide(call->arena, call->caller, question, &call->error))
        return true;
    call->denied = true;
    return false;
}

bool operation_sees_table(struct api_call *call, struct bytes table_name)
{
    struct error ignored;
    if (call->caller == NULL)
        return true;
    error_init(&ignored, call->arena);
    struct table *table = catalogue_borrow(api_catalogue(call->api), table_name);
    struct access_question question =
        operation_question(call, call->operation->name, table_name, (struct bytes){ 0 }, table);
    bool sees = access_decide(call->arena, call->caller, &question, &ignored);
    table_release(table);
    return sees;
}

bool operation_may_use(struct api_call *call, struct bytes name_or_arn)
{
    const struct bytes no_index = { 0 };
    struct bytes name;
    struct bytes label;
    if (call->caller == NULL)
        return true;
    if (name_or_arn.data == NULL)
        name_or_arn = BYTES(""); /* The operation reports what is missing, to those who may ask. */
    bool of_stream = stream_names_parse_arn(name_or_arn, &name, &label);
    if (!of_stream)
        name = operation_table_name(name_or_arn);
    const char *action = call->operation->name;
    struct table *table = catalogue_borrow(api_catalogue(call->api), name);
    struct access_question question =
        of_stream ? operation_stream_question(call, action, name, label, table)
                  : operation_question(call, action, name, no_index, table);
    bool allowed = operation_may(call, &question);
    table_release(table);
    return allowed;
}

bool operation_may_use_arn(struct api_call *call, struct bytes arn)
{
    const struct access_question question = { .service = operation_action_prefix(call->operation),
                                              .action = call->operation->name,
                                              .arn = arn };
    return call->caller == NULL || operation_may(call, &question);
}

bool operation_may_use_account(struct api_call *call)
{
    return operation_may_use_arn(call, BYTES("*"));
}

void operation_asks_nothing(struct api_call *call)
{
    call->asked = true;
}

/* --- Before an operation runs --- */

/* What the request names in one of these members, or absent. */
static struct bytes named_resource(const struct api_call *call)
{
    static const char *const members[] = { "TableName", "ResourceArn", "StreamArn" };
    const struct shape *shape = call->operation->request;
    for (size_t i = 0; i < shape->field_count; i++)
        for (size_t j = 0; j < COUNT_OF(members); j++)
            if (strcmp(shape->fields[i].name, members[j]) == 0)
                return *(const struct bytes *)((const char *)call->request +
                                               shape->fields[i].offset);
    return (struct bytes){ 0 };
}

bool operation_may_run(struct api_call *call)
{
    if (call->caller == NULL)
        return true;
    switch (call->operation->asks) {
    case OPERATION_ASKS_ITSELF:
        return call->operation->admits == NULL || call->operation->admits(call, call->request);
    case OPERATION_ASKS_RESOURCE:
        return operation_may_use(call, named_resource(call));
    case OPERATION_ASKS_ACCOUNT:
        return operation_may_use_account(call);
    case OPERATION_ASKS_NOBODY:
        break;
    }
    call->denied = true;
    return error_set(&call->error, ERROR_ACCESS_DENIED,
                     "User: %.*s is not authorized to perform: %s:%s on resource: * because "
                     "it cannot be authorized here",
                     BYTES_FMT(call->caller->arn), operation_action_prefix(call->operation),
                     call->operation->name);
}
