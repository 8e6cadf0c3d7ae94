/* test_explain_statement.c -- ExplainStatement: the plan of a statement, a Query or a Scan, and
 * that nothing is read or written for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "base/compiler.h"

static struct api_fixture db;

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'N'},"
        "{'AttributeName':'g','AttributeType':'S'}],'KeySchema':["
        "{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],"
        "'GlobalSecondaryIndexes':[{'IndexName':'Ind','KeySchema':[{'AttributeName':'g',"
        "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'}}]}"));
    assert_true(api_fixture_call(&db, "PutItem",
                                 "{'TableName':'Tab','Item':{'pk':{'S':'a'},'sk':{'N':'1'},"
                                 "'x':{'N':'5'}}}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

#define PLAN(operation, rest) "{'Operation':'" operation "','TableName':'Tab'" rest "}"
/* \\u0027 is a quote of PartiQL, since the fixture takes those of JSON. */
#define STATEMENT(text) "{'Statement':'" text "'}"
#define PARAMETERS ",'ExpressionAttributeValues':{':p':{'S':'a'}}"

static const struct {
    const char *name, *body, *want;
} plans[] = {
    { "no condition is a Scan", STATEMENT("SELECT * FROM Tab"),
      PLAN("Scan", ",'HasFilter':false,'ConsistentRead':false") },
    { "no condition on the partition key is a Scan", STATEMENT("SELECT * FROM Tab WHERE sk=1"),
      PLAN("Scan", ",'HasFilter':true,'ConsistentRead':false") },
    { "a partition key is a Query", STATEMENT("SELECT * FROM Tab WHERE pk=\\u0027a\\u0027 AND x>1"),
      PLAN("Query", ",'KeyRanges':1,'HasFilter':true,'ConsistentRead':false") },
    { "several partition keys are as many ranges",
      STATEMENT("SELECT * FROM Tab WHERE pk IN [\\u0027a\\u0027,\\u0027b\\u0027]"),
      PLAN("Query", ",'KeyRanges':2,'HasFilter':true,'ConsistentRead':false") },
    { "an index", STATEMENT("SELECT * FROM Tab.Ind WHERE g=\\u0027a\\u0027"),
      PLAN("Query", ",'IndexName':'Ind','KeyRanges':1,'HasFilter':true,'ConsistentRead':false") },
    { "parameters count",
      "{'Statement':'SELECT * FROM Tab WHERE pk=?','Parameters':[{'S':'a'}],'ConsistentRead':true}",
      PLAN("Query", ",'KeyRanges':1,'HasFilter':true,'ConsistentRead':true") },
    { "INSERT",
      STATEMENT("INSERT INTO Tab VALUE {\\u0027pk\\u0027:\\u0027new\\u0027,\\u0027sk\\u0027:1}"),
      PLAN("PutItem", "") },
    { "UPDATE", STATEMENT("UPDATE Tab SET x=7 WHERE pk=\\u0027a\\u0027 AND sk=1"),
      PLAN("UpdateItem", "") },
    { "DELETE", STATEMENT("DELETE FROM Tab WHERE pk=\\u0027a\\u0027 AND sk=1"),
      PLAN("DeleteItem", "") },
    { "Query", "{'Query':{'TableName':'Tab','KeyConditionExpression':'pk=:p'" PARAMETERS "}}",
      PLAN("Query", ",'KeyRanges':1,'HasFilter':false,'ConsistentRead':false") },
    { "Scan with a filter", "{'Scan':{'TableName':'Tab','FilterExpression':'x=:p'" PARAMETERS "}}",
      PLAN("Scan", ",'HasFilter':true,'ConsistentRead':false") },
};

static void a_plan_says_how_it_would_be_carried_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        print_message("%s\n", plans[i].name);
        api_fixture_expect(&db, "ExplainStatement", plans[i].body, plans[i].want);
    }
}

static void nothing_is_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        assert_true(api_fixture_call(&db, "ExplainStatement", plans[i].body));
    api_fixture_expect(&db, "Scan", "{'TableName':'Tab'}",
                       "{'Items':[{'pk':{'S':'a'},'sk':{'N':'1'},'x':{'N':'5'}}],'Count':1,"
                       "'ScannedCount':1}");
}

static void mistakes_are_those_of_the_statement_itself(void **state)
{
    (void)state;
    static const char one_of[] = "Exactly one of Statement, Query and Scan must be specified";
    api_fixture_expect_error(&db, "ExplainStatement", "{}", ERROR_VALIDATION, one_of);
    api_fixture_expect_error(&db, "ExplainStatement",
                             "{'Statement':'SELECT * FROM Tab','Scan':{'TableName':'Tab'}}",
                             ERROR_VALIDATION, one_of);
    api_fixture_expect_error(&db, "ExplainStatement", "{'Query':{'TableName':'Tab'}}",
                             ERROR_VALIDATION,
                             "Either the KeyConditions or KeyConditionExpression parameter must be "
                             "specified in the request.");
    assert_false(api_fixture_call(&db, "ExplainStatement", STATEMENT("SELECT * FROM Absent")));
    assert_int_equal(db.error.code, ERROR_RESOURCE_NOT_FOUND);
    assert_false(api_fixture_call(&db, "ExplainStatement", STATEMENT("SELEC * FROM Tab")));
    assert_int_equal(db.error.code, ERROR_VALIDATION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_says_how_it_would_be_carried_out),
        cmocka_unit_test(nothing_is_written),
        cmocka_unit_test(mistakes_are_those_of_the_statement_itself),
    };
    return cmocka_run_group_tests_name("api/explain_statement", tests, set_up, tear_down);
}
