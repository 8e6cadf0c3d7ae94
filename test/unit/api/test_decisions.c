/* test_decisions.c -- the table of decisions (decisions.h), row by row through the api's door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api/operation.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "decision_world.h"
#include "decisions.h"
#include "stream/shard_iterator.h"

enum { ROWS_MIN = 500, FAILURES_SHOWN_MAX = 40, MESSAGE_SIZE = 2000 };

/* An operation without rows fails here, when it is compiled or linked. */
static const struct {
    const char *operation;
    const struct decision *rows;
} table[] = {
#define DECISION_ROWS(id, name) { name, decisions_##id },
    OPERATION_LIST(DECISION_ROWS)
#undef DECISION_ROWS
};

struct run {
    struct decision_world world;
    size_t row_count;
    size_t failure_count;
};

static int setup(void **state)
{
    static struct run run;
    run = (struct run){ 0 };
    decision_world_open(&run.world);
    *state = &run;
    return 0;
}

static int teardown(void **state)
{
    struct run *run = *state;
    decision_world_close(&run->world);
    return 0;
}

/* --- What a row expects --- */

static bool has(struct bytes text, const char *sought)
{
    return memmem(text.data, text.len, sought, strlen(sought)) != NULL;
}

/* AccessDenied, as an exception or as the error of a statement in a batch, with this message. */
static bool is_refused(struct decision_world *world, const struct decision *row)
{
    static const char *const reasons[] = {
        [DECISION_DENIED_BY_IDENTITY] = "with an explicit deny in an identity-based policy",
        [DECISION_DENIED_BY_RESOURCE] = "with an explicit deny in a resource-based policy",
    };
    char message[MESSAGE_SIZE];
    const char *prefix = strchr(row->action, ':') == NULL ? "dynamodb:" : "";
    bool is_table = strcmp(row->resource, "*") != 0 && strncmp(row->resource, "arn:", 4) != 0;
    int size = snprintf(message, sizeof message,
                        "User: " ALICE_ARN " is not authorized to perform: %s%s on resource:"
                        " %s%s ",
                        prefix, row->action, is_table ? ARN("") : "", row->resource);
    size_t left = sizeof message - (size_t)size;
    if (row->outcome == DECISION_NOT_ALLOWED)
        snprintf(message + size, left, "because no identity-based policy allows the %s%s action",
                 prefix, row->action);
    else
        snprintf(message + size, left, "%s", reasons[row->outcome]);
    const struct error *error = &world->api.error;
    if (error_is_set(error))
        return error->code == ERROR_ACCESS_DENIED && bytes_equal_text(error->message, message);
    return has(world->api.response, "\"Code\":\"AccessDenied\"") &&
           has(world->api.response, message);
}

static bool succeeded(struct decision_world *world)
{
    return !error_is_set(&world->api.error) && !has(world->api.response, "\"Error\":{");
}

/* A copy with real quotes and names. */
static const char *sought_text(struct decision_world *world, const char *text)
{
    char *copy = (char *)arena_copy(world->arena, bytes_of(text, strlen(text) + 1)).data;
    for (char *at = copy; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return decision_world_fill(world, copy);
}

/* The UUID that the request named, by the one of the other request. */
static struct bytes without(struct decision_world *world, struct bytes answer, const char *body)
{
    static const char mark[] = "'UUID':'";
    const char *uuid = strstr(decision_world_fill(world, body), mark);
    struct buffer out;
    buffer_init(&out, world->arena);
    assert_non_null(uuid);
    uuid += sizeof mark - 1;
    size_t size = strcspn(uuid, "'");
    for (size_t i = 0; i < answer.len; i++) {
        if (answer.len - i >= size && memcmp(answer.data + i, uuid, size) == 0)
            i += size - 1;
        else
            buffer_append_byte(&out, answer.data[i]);
    }
    return buffer_bytes(&out);
}

static bool is_like(struct decision_world *world, const char *operation, const struct decision *row)
{
    struct bytes first = without(world, decision_world_answer(world), row->body);
    bool refused = error_is_set(&world->api.error);
    (void)decision_world_call(world, operation, row->action);
    return refused && bytes_equal(first, without(world, decision_world_answer(world), row->action));
}

static bool ends_as_expected(struct decision_world *world, const char *operation,
                             const struct decision *row)
{
    const struct error *error = &world->api.error;
    switch (row->outcome) {
    case DECISION_ALLOWED:
        return succeeded(world);
    case DECISION_FAILS:
        return error->code == row->code;
    case DECISION_NOT_ALLOWED:
    case DECISION_DENIED_BY_IDENTITY:
    case DECISION_DENIED_BY_RESOURCE:
        return is_refused(world, row);
    case DECISION_SHOWS:
        return !error_is_set(error) && has(world->api.response, sought_text(world, row->action));
    case DECISION_HIDES:
        return !has(decision_world_answer(world), sought_text(world, row->action));
    case DECISION_LIKE:
        return is_like(world, operation, row);
    }
    return false;
}

/* --- The rows --- */

/* A batch of statements runs those that are not refused. */
static bool changes_nothing(const char *operation, const struct decision *row)
{
    return row->outcome != DECISION_ALLOWED && row->outcome != DECISION_SHOWS &&
           strcmp(operation, "BatchExecuteStatement") != 0;
}

static void check_row(struct run *run, const char *operation, const struct decision *row,
                      size_t index)
{
    struct decision_world *world = &run->world;
    decision_world_use_policy(world, row->identity);
    if (row->of_table != NULL)
        decision_world_put_resource_policy(world, "Tab", row->of_table);
    if (row->of_stream != NULL)
        decision_world_put_resource_policy(world, STREAM, row->of_stream);
    struct bytes before = decision_world_state(world);
    bool ok;
    (void)decision_world_call(world, operation, row->body);
    struct bytes answer = decision_world_answer(world);
    ok = ends_as_expected(world, operation, row);
    bool changed = !bytes_equal(before, decision_world_state(world));
    if (!ok || (changed && changes_nothing(operation, row))) {
        run->failure_count++;
        if (run->failure_count <= FAILURES_SHOWN_MAX)
            print_error("%s row %zu%s\n caller: %s\n table: %s\n stream: %s\n body: %s\n want: %d "
                        "%s %s %d\n got: %.*s\n",
                        operation, index, ok ? ": something changed" : "", row->identity,
                        row->of_table == NULL ? "-" : row->of_table,
                        row->of_stream == NULL ? "-" : row->of_stream, row->body, (int)row->outcome,
                        row->action == NULL ? "" : row->action,
                        row->resource == NULL ? "" : row->resource, (int)row->code,
                        BYTES_FMT(answer));
    }
    /* A fresh world after each change; the policies are one. A stack is deployed by a thread of its
     * own, perhaps later than we look. */
    bool deploys = row->outcome == DECISION_ALLOWED &&
                   strncmp(operation, "cloudformation:", strlen("cloudformation:")) == 0;
    if (changed || deploys || row->of_table != NULL || row->of_stream != NULL) {
        decision_world_close(world);
        decision_world_open(world);
    }
}

static void every_request_is_decided_as_the_table_says(void **state)
{
    struct run *run = *state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        for (size_t j = 0; table[i].rows[j].body != NULL; j++) {
            check_row(run, table[i].operation, &table[i].rows[j], j);
            run->row_count++;
        }
    print_message("%zu rows\n", run->row_count);
    assert_true(run->row_count >= ROWS_MIN);
    if (run->failure_count > 0)
        fail_msg("%zu of %zu rows are decided otherwise", run->failure_count, run->row_count);
}

/* Who is let through, who is refused: an operation needs both. */
static void every_operation_has_rows_that_allow_and_that_refuse(void **state)
{
    (void)state;
    assert_int_equal(COUNT_OF(table), operation_count());
    for (size_t i = 0; i < operation_count(); i++) {
        size_t allowed = 0, refused = 0;
        const struct operation *named = operation_find_action(bytes_from_text(table[i].operation));
        assert_ptr_equal(named, operation_at(i));
        for (const struct decision *row = table[i].rows; row->body != NULL; row++) {
            bool lets = row->outcome == DECISION_ALLOWED || row->outcome == DECISION_FAILS ||
                        row->outcome == DECISION_SHOWS;
            allowed += lets;
            refused += !lets;
        }
        if (allowed == 0 || refused < 2)
            fail_msg("%s: %zu rows allow and %zu refuse", table[i].operation, allowed, refused);
    }
}

/* Whoever knows the token of a transaction may not learn how it ended, nor run it again. */
static void the_token_of_anothers_transaction_gives_no_right(void **state)
{
    static const struct {
        const char *operation;
        const char *body;
        const char *action;
    } cases[] = {
        { "TransactWriteItems",
          "{'TransactItems':[{'Put':{'TableName':'Tab','Item':" KEY(
              "dave") "}}],'ClientRequestToken':'token-1'}",
          "PutItem" },
        { "ExecuteTransaction",
          "{'TransactStatements':[{'Statement':'INSERT INTO Tab VALUE {~pk~:~erin~,~sk~:1}'}],"
          "'ClientRequestToken':'token-2'}",
          "PartiQLInsert" },
    };
    struct run *run = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct decision row = { NOTHING, NULL, NULL, cases[i].body,
                                      NO(cases[i].action, "Tab") };
        decision_world_use_policy(&run->world, NULL);
        assert_true(decision_world_call(&run->world, cases[i].operation, cases[i].body));
        decision_world_use_policy(&run->world, NOTHING);
        assert_false(decision_world_call(&run->world, cases[i].operation, cases[i].body));
        assert_true(is_refused(&run->world, &row));
    }
}

/* The text of an iterator is no secret and has no signature: whoever may read one stream can make
 * one with the place of another. */
static void an_iterator_with_the_place_of_another_stream_reads_nothing(void **state)
{
    enum { SECRET_ITERATOR = 3 };
    struct run *run = *state;
    struct decision_world *world = &run->world;
    struct shard_iterator iterator;
    struct bytes arn;
    decision_world_use_policy(world, ONLY("*", STREAM));
    assert_true(
        shard_iterator_parse(bytes_from_text(world->names[SECRET_ITERATOR]), &arn, &iterator));
    struct bytes forged = shard_iterator_format(world->arena, BYTES(ARN(STREAM)), &iterator);
    for (uint64_t partition = 0; partition < 8; partition++) {
        iterator.at.partition = partition;
        struct bytes body =
            arena_printf(world->arena, "{'ShardIterator':'%.*s'}", BYTES_FMT(forged));
        assert_false(decision_world_call(world, "GetRecords", (const char *)body.data));
        assert_false(has(decision_world_answer(world), "Secret-"));
        forged = shard_iterator_format(world->arena, BYTES(ARN(STREAM)), &iterator);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_request_is_decided_as_the_table_says, setup,
                                        teardown),
        cmocka_unit_test(every_operation_has_rows_that_allow_and_that_refuse),
        cmocka_unit_test_setup_teardown(an_iterator_with_the_place_of_another_stream_reads_nothing,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(the_token_of_anothers_transaction_gives_no_right, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
