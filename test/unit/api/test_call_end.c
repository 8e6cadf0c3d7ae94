/* test_call_end.c -- the observer hears of the end of every call, once, with its tables and what it
 * did to them; the units are those that ReturnConsumedCapacity shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/capacity.h"
#include "api/operation.h"
#include "api_fixture.h"
#include "base/compiler.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

enum { TABLES_SEEN_MAX = 4 };

/* What was observed of the calls so far. */
static struct seen {
    unsigned count;
    const char *operation;
    struct api_outcome outcome;
    size_t table_count;
    struct {
        char name[32]; /* Empty: there is no such table. */
        enum capacity_kind kind;
        int64_t half_units;
        unsigned read, returned, written;
    } tables[TABLES_SEEN_MAX];
} seen;

static void observe(void *context, const struct api_call *call, const struct api_outcome *outcome)
{
    assert_ptr_equal(context, &seen);
    assert_true(call->use_count <= TABLES_SEEN_MAX);
    seen.count++;
    seen.operation = operation_name(call->operation);
    seen.outcome = *outcome;
    seen.table_count = call->use_count;
    for (size_t i = 0; i < call->use_count; i++) {
        const struct capacity_use *use = &call->uses[i];
        struct bytes name = use->table == NULL ? BYTES("") : table_definition(use->table)->name;
        assert_true(name.len < sizeof seen.tables[i].name);
        memcpy(seen.tables[i].name, name.data, name.len);
        seen.tables[i].name[name.len] = '\0';
        seen.tables[i].kind = use->kind;
        seen.tables[i].half_units = capacity_use_total(use);
        seen.tables[i].read = use->read_count;
        seen.tables[i].returned = use->returned_count;
        seen.tables[i].written = use->written_count;
        if (use->table != NULL) /* The place for counters can be reached. */
            assert_int_equal(table_runtime(use->table)->table_id, table_definition(use->table)->id);
    }
}

static void call(struct api_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(fixture->error.message));
}

/* Two tables, the first with a global index, and three items: p=1 has 5,000 bytes or so. */
static void open_world(struct api_fixture *fixture)
{
    char large[6000];
    char text[5001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    api_fixture_open_with(fixture,
                          &(struct api_options){ .observe = observe, .observe_context = &seen });
    call(fixture, "CreateTable",
         "{'TableName':'alpha','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
         "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'g','AttributeType':'S'}],"
         "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
         "'GlobalSecondaryIndexes':[{'IndexName':'index','KeySchema':["
         "{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}");
    call(fixture, "CreateTable",
         "{'TableName':'beta','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
         "{'AttributeName':'p','AttributeType':'S'}],"
         "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}");
    snprintf(large, sizeof large,
             "{'TableName':'alpha','Item':{'p':{'S':'1'},'g':{'S':'x'},'t':{'S':'%s'}}}", text);
    call(fixture, "PutItem", large);
    call(fixture, "PutItem", "{'TableName':'alpha','Item':{'p':{'S':'2'},'n':{'N':'1'}}}");
    call(fixture, "PutItem", "{'TableName':'beta','Item':{'p':{'S':'1'}}}");
}

/* --- Units --- */

/* '@' in a body is where ReturnConsumedCapacity is asked for. */
static const struct {
    const char *operation, *body;
    enum capacity_kind kind;
    unsigned read, returned, written; /* Of the first table, like what follows. */
    int64_t half_units;
    int64_t second_half_units; /* Of the second table; -1: there is none. */
} cases[] = {
    { "GetItem", "{'TableName':'alpha','Key':{'p':{'S':'1'}}@}", CAPACITY_READ, 1, 1, 0, 2, -1 },
    { "GetItem", "{'TableName':'alpha','ConsistentRead':true,'Key':{'p':{'S':'1'}}@}",
      CAPACITY_READ, 1, 1, 0, 4, -1 },
    { "GetItem", "{'TableName':'alpha','Key':{'p':{'S':'no'}}@}", CAPACITY_READ, 0, 0, 0, 1, -1 },
    { "BatchGetItem",
      "{'RequestItems':{'alpha':{'Keys':[{'p':{'S':'1'}},{'p':{'S':'no'}}]},"
      "'beta':{'ConsistentRead':true,'Keys':[{'p':{'S':'1'}}]}}@}",
      CAPACITY_READ, 1, 1, 0, 3, 2 },
    { "Query",
      "{'TableName':'alpha','KeyConditionExpression':'p=:p',"
      "'ExpressionAttributeValues':{':p':{'S':'1'}}@}",
      CAPACITY_READ, 1, 1, 0, 2, -1 },
    { "Query",
      "{'TableName':'alpha','IndexName':'index','KeyConditionExpression':'g=:g',"
      "'ExpressionAttributeValues':{':g':{'S':'x'}}@}",
      CAPACITY_READ, 1, 1, 0, 2, -1 },
    { "Scan",
      "{'TableName':'alpha','FilterExpression':'n=:n',"
      "'ExpressionAttributeValues':{':n':{'N':'1'}}@}",
      CAPACITY_READ, 2, 1, 0, 2, -1 },
    { "PutItem", "{'TableName':'alpha','Item':{'p':{'S':'3'},'g':{'S':'y'}}@}", CAPACITY_WRITE, 0,
      0, 1, 4, -1 },
    { "PutItem", "{'TableName':'beta','Item':{'p':{'S':'3'}}@}", CAPACITY_WRITE, 0, 0, 1, 2, -1 },
    { "UpdateItem",
      "{'TableName':'alpha','Key':{'p':{'S':'1'}},'UpdateExpression':'SET n=:n',"
      "'ExpressionAttributeValues':{':n':{'N':'1'}}@}",
      CAPACITY_WRITE, 0, 0, 1, 20, -1 },
    { "DeleteItem", "{'TableName':'alpha','Key':{'p':{'S':'1'}}@}", CAPACITY_WRITE, 0, 0, 1, 20,
      -1 },
    { "BatchWriteItem",
      "{'RequestItems':{'alpha':[{'PutRequest':{'Item':{'p':{'S':'2'}}}},"
      "{'DeleteRequest':{'Key':{'p':{'S':'1'}}}}],"
      "'beta':[{'PutRequest':{'Item':{'p':{'S':'2'}}}}]}@}",
      CAPACITY_WRITE, 0, 0, 2, 22, 2 },
    { "TransactGetItems",
      "{'TransactItems':[{'Get':{'TableName':'alpha','Key':{'p':{'S':'1'}}}},"
      "{'Get':{'TableName':'beta','Key':{'p':{'S':'1'}}}}]@}",
      CAPACITY_READ, 1, 1, 0, 8, 4 },
    { "TransactWriteItems",
      "{'TransactItems':[{'Put':{'TableName':'alpha','Item':{'p':{'S':'2'},'g':{'S':'y'}}}},"
      "{'ConditionCheck':{'TableName':'beta','Key':{'p':{'S':'1'}},"
      "'ConditionExpression':'attribute_exists(p)'}}]@}",
      CAPACITY_WRITE, 0, 0, 1, 6, 4 },
    { "ExecuteStatement", "{'Statement':'SELECT * FROM alpha WHERE p=\\'1\\''@}", CAPACITY_READ, 1,
      1, 0, 2, -1 },
    { "ExecuteStatement",
      "{'Statement':'INSERT INTO alpha VALUE {\\'p\\':\\'4\\',\\'g\\':\\'y\\'}'@}", CAPACITY_WRITE,
      0, 0, 1, 4, -1 },
    { "BatchExecuteStatement",
      "{'Statements':[{'Statement':'SELECT * FROM alpha WHERE p=\\'1\\''},"
      "{'Statement':'SELECT * FROM beta WHERE p=\\'1\\''}]@}",
      CAPACITY_READ, 1, 1, 0, 2, 1 },
    { "BatchExecuteStatement",
      "{'Statements':[{'Statement':'DELETE FROM alpha WHERE p=\\'2\\''},"
      "{'Statement':'DELETE FROM beta WHERE p=\\'1\\''}]@}",
      CAPACITY_WRITE, 0, 0, 1, 2, 2 },
    { "ExecuteTransaction",
      "{'TransactStatements':[{'Statement':'SELECT * FROM alpha WHERE p=\\'1\\''},"
      "{'Statement':'SELECT * FROM beta WHERE p=\\'1\\''}]@}",
      CAPACITY_READ, 1, 1, 0, 8, 4 },
    { "ExecuteTransaction",
      "{'TransactStatements':[{'Statement':'DELETE FROM alpha WHERE p=\\'2\\''},"
      "{'Statement':'DELETE FROM beta WHERE p=\\'1\\''}]@}",
      CAPACITY_WRITE, 0, 0, 1, 4, 4 },
};

/* The body of a case, with `asked` in place of '@', and with \' as the one quote of PartiQL. */
static void write_body(char *out, size_t size, const char *body, const char *asked)
{
    size_t len = 0;
    for (const char *c = body; *c != '\0'; c++) {
        assert_true(len + strlen(asked) + 8 < size);
        if (*c == '@')
            len += (size_t)snprintf(out + len, size - len, "%s", asked);
        else if (c[0] == '\\' && c[1] == '\'') {
            len += (size_t)snprintf(out + len, size - len, "\\u0027");
            c++;
        } else
            out[len++] = *c;
    }
    out[len] = '\0';
}

static void check_seen(size_t i)
{
    bool has_second = cases[i].second_half_units >= 0;
    const char *first = strstr(cases[i].body, "alpha") != NULL ? "alpha" : "beta";
    assert_string_equal(seen.operation, cases[i].operation);
    assert_int_equal(seen.outcome.error, ERROR_NONE);
    assert_true(seen.outcome.elapsed_ns > 0);
    assert_int_equal(seen.table_count, has_second ? 2 : 1);
    assert_string_equal(seen.tables[0].name, first);
    assert_int_equal(seen.tables[0].kind, cases[i].kind);
    assert_int_equal(seen.tables[0].half_units, cases[i].half_units);
    assert_int_equal(seen.tables[0].read, cases[i].read);
    assert_int_equal(seen.tables[0].returned, cases[i].returned);
    assert_int_equal(seen.tables[0].written, cases[i].written);
    if (has_second) {
        assert_string_equal(seen.tables[1].name, "beta");
        assert_int_equal(seen.tables[1].half_units, cases[i].second_half_units);
    }
}

static bool shows_units(const struct api_fixture *fixture, const char *table, int64_t half_units)
{
    char text[96];
    snprintf(text, sizeof text, "{'TableName':'%s','CapacityUnits':%lld.%c", table,
             (long long)half_units / 2, half_units % 2 == 0 ? '0' : '5');
    return api_fixture_shows(fixture, text);
}

static void units_are_observed_whether_or_not_the_client_asks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int asks = 0; asks < 2; asks++) {
            struct api_fixture fixture;
            char body[1024];
            open_world(&fixture);
            seen = (struct seen){ 0 };
            write_body(body, sizeof body, cases[i].body,
                       asks ? ",'ReturnConsumedCapacity':'TOTAL'" : "");
            call(&fixture, cases[i].operation, body);
            assert_int_equal(seen.count, 1);
            check_seen(i);
            assert_int_equal(api_fixture_shows(&fixture, "'CapacityUnits'"), asks);
            if (asks && !shows_units(&fixture, seen.tables[0].name, seen.tables[0].half_units))
                fail_msg("%s: %.*s", cases[i].operation, BYTES_FMT(fixture.response));
            if (asks && seen.table_count > 1)
                assert_true(shows_units(&fixture, "beta", seen.tables[1].half_units));
            api_fixture_close(&fixture);
        }
    }
}

/* --- Failures --- */

static void a_failed_call_consumes_nothing_but_for_a_failed_condition(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_world(&fixture);
    assert_false(api_fixture_call(&fixture, "PutItem",
                                  "{'TableName':'alpha','Item':{'p':{'S':'1'}},"
                                  "'ConditionExpression':'attribute_not_exists(p)'}"));
    assert_int_equal(seen.outcome.error, ERROR_CONDITIONAL_CHECK_FAILED);
    assert_int_equal(seen.tables[0].half_units, 10); /* Of the item that there is. */
    assert_int_equal(seen.tables[0].written, 0);
    assert_false(
        api_fixture_call(&fixture, "GetItem", "{'TableName':'none','Key':{'p':{'S':'1'}}}"));
    assert_int_equal(seen.outcome.error, ERROR_RESOURCE_NOT_FOUND);
    assert_int_equal(seen.table_count, 1);
    assert_string_equal(seen.tables[0].name, "");
    assert_int_equal(seen.tables[0].half_units, 0);
    assert_false(api_fixture_call(&fixture, "GetItem", "{'TableName':'alpha','Key':{}}"));
    assert_string_equal(seen.tables[0].name, "alpha");
    assert_int_equal(seen.tables[0].half_units, 0);
    api_fixture_close(&fixture);
}

static void every_operation_ends_once_even_if_it_is_refused(void **state)
{
    (void)state;
    struct api_fixture fixture;
    open_world(&fixture);
    for (size_t i = 0; i < operation_count(); i++) {
        const char *name = operation_name(operation_at(i));
        enum operation_service service = operation_service(operation_at(i));
        char action[128];
        snprintf(action, sizeof action, "%s%s%s",
                 service > OPERATION_OF_STATOR ? operation_service_prefix(service) : "",
                 service > OPERATION_OF_STATOR ? ":" : "", name);
        seen = (struct seen){ 0 };
        bool ok = api_fixture_call(&fixture, action, "{}");
        assert_int_equal(seen.count, 1);
        assert_string_equal(seen.operation, name);
        assert_int_equal(seen.outcome.error, fixture.error.code);
        assert_int_equal(ok, seen.outcome.error == ERROR_NONE);
        assert_false(api_fixture_call(&fixture, action, "no JSON"));
        assert_int_equal(seen.count, 2);
        assert_int_equal(seen.outcome.error, ERROR_SERIALIZATION);
    }
    api_fixture_close(&fixture);
}

/* --- Operations on tables --- */

static void an_operation_on_a_table_ends_with_that_table(void **state)
{
    (void)state;
    static const struct {
        const char *operation, *body;
        const char *name; /* NULL: it ends with none. */
    } ends[] = {
        { "CreateTable",
          "{'TableName':'third','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
          "{'AttributeName':'p','AttributeType':'S'}],"
          "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}]}",
          "third" },
        { "DescribeTable", "{'TableName':'third'}", "third" },
        { "UpdateTable",
          "{'TableName':'third','StreamSpecification':{'StreamEnabled':true,"
          "'StreamViewType':'KEYS_ONLY'}}",
          "third" },
        { "UpdateTimeToLive",
          "{'TableName':'third','TimeToLiveSpecification':{'Enabled':true,'AttributeName':'t'}}",
          "third" },
        { "DescribeTimeToLive", "{'TableName':'third'}", "third" },
        { "DescribeContinuousBackups", "{'TableName':'third'}", "third" },
        { "ListTables", "{}", NULL },
        { "DescribeLimits", "{}", NULL },
        { "DeleteTable", "{'TableName':'third'}", NULL }, /* It is gone. */
    };
    struct api_fixture fixture;
    open_world(&fixture);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        call(&fixture, ends[i].operation, ends[i].body);
        assert_string_equal(seen.operation, ends[i].operation);
        assert_int_equal(seen.table_count, ends[i].name != NULL);
        if (ends[i].name != NULL)
            assert_string_equal(seen.tables[0].name, ends[i].name);
    }
    api_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_observed_whether_or_not_the_client_asks),
        cmocka_unit_test(a_failed_call_consumes_nothing_but_for_a_failed_condition),
        cmocka_unit_test(every_operation_ends_once_even_if_it_is_refused),
        cmocka_unit_test(an_operation_on_a_table_ends_with_that_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
