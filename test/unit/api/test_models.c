/* test_models.c -- tables with a model: what is refused and counted, by every operation that
 * writes. Random ones are in test_model_writes.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "engine_fixture.h"
#include "jobs/job_record.h"

static struct api_fixture db;

static int open_db(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    return 0;
}

static int close_db(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

static void must(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(db.error.message));
}

#define TABLE                                                                                      \
    "{'TableName':'Tab','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["                  \
    "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'},"       \
    "{'AttributeName':'g','AttributeType':'S'}],'KeySchema':[{'AttributeName':'pk','KeyType':"     \
    "'HASH'},{'AttributeName':'sk','KeyType':'RANGE'}],'GlobalSecondaryIndexes':[{'IndexName':"    \
    "'byG','KeySchema':[{'AttributeName':'g','KeyType':'HASH'}],'Projection':{'ProjectionType':"   \
    "'ALL'}}]}"

/* A model within a JSON string: ~ stands for an escaped quote. */
static const char *model_body(const char *mode, const char *entities)
{
    static char body[16384];
    size_t size = (size_t)snprintf(body, sizeof body,
                                   "{'TableName':'Tab','Mode':'%s','Model':'{~Entities~:[", mode);
    size += (size_t)snprintf(body + size, sizeof body - size, "%s]}'}", entities);
    assert_true(size < sizeof body / 2);
    static char out[16384];
    size_t at = 0;
    for (const char *c = body; *c != '\0'; c++) {
        if (*c == '~')
            out[at++] = '\\';
        out[at++] = *c == '~' ? '\'' : *c;
    }
    out[at] = '\0';
    return out;
}

#define ORDER                                                                                      \
    "{~Name~:~Order~,~Discriminator~:{~Attribute~:~type~,~Value~:~O~},~Keys~:["                    \
    "{~PartitionKey~:~U#<user>~,~SortKey~:~O#<id>~},{~Index~:~byG~,~PartitionKey~:~S#<status>~}]," \
    "~Attributes~:[{~Name~:~total~,~Type~:~N~,~Required~:true},{~Name~:~note~,~Type~:~S~}]}"
#define USER "{~Name~:~User~,~Keys~:[{~PartitionKey~:~U#<user>~,~SortKey~:~U~}]}"

#define PREFIX                                                                                     \
    "One or more parameter values were invalid: The item does not follow the model of its table: "
#define ITEM(members) "{'TableName':'Tab','Item':{" members "}}"
#define KEYS(p, s) "'pk':{'S':'" p "'},'sk':{'S':'" s "'}"
#define GOOD KEYS("U#1", "O#1") ",'type':{'S':'O'},'total':{'N':'1'}"

static const struct {
    const char *item, *error;
} items[] = {
    { GOOD, NULL },
    { KEYS("U#1", "U"), NULL },
    { GOOD ",'g':{'S':'S#open'},'note':{'S':'x'},'zz':{'BOOL':true}", NULL },
    { KEYS("X#1", "O#1"), PREFIX "rule Key: the key follows the templates of no entity" },
    { KEYS("U#1", "O#1#2"), PREFIX "rule Key: the key follows the templates of no entity" },
    { KEYS("U#1", "O#1") ",'total':{'N':'1'}",
      PREFIX "entity Order, rule Discriminator: the attribute type is not \"O\"" },
    { KEYS("U#1", "O#1") ",'type':{'N':'1'},'total':{'N':'1'}",
      PREFIX "entity Order, rule Discriminator: the attribute type is not \"O\"" },
    { KEYS("U#1", "O#1") ",'type':{'S':'O'}",
      PREFIX "entity Order, rule Required: the attribute total is missing" },
    { KEYS("U#1", "O#1") ",'type':{'S':'O'},'total':{'S':'1'}",
      PREFIX "entity Order, rule Type: the attribute total is not of type N" },
    { GOOD ",'note':{'N':'1'}",
      PREFIX "entity Order, rule Type: the attribute note is not of type S" },
    { GOOD ",'g':{'S':'open'}",
      PREFIX "entity Order, rule IndexKey: the attribute g does not follow the template "
             "S#<status>" },
};

static void an_item_that_breaks_the_model_is_refused_with_entity_and_rule(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("ENFORCE", ORDER "," USER));
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        char body[512];
        snprintf(body, sizeof body, ITEM("%s"), items[i].item);
        if (items[i].error == NULL)
            must("PutItem", body);
        else
            api_fixture_expect_error(&db, "PutItem", body, ERROR_VALIDATION, items[i].error);
    }
}

#define REQUIRED PREFIX "entity Order, rule Required: the attribute total is missing"
#define BAD KEYS("U#1", "O#2") ",'type':{'S':'O'}"

static void every_operation_that_writes_asks_the_model(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("ENFORCE", ORDER "," USER));
    must("PutItem", ITEM(GOOD));
    static const struct {
        const char *operation, *body;
    } refused[] = {
        { "PutItem", ITEM(BAD) },
        { "UpdateItem", "{'TableName':'Tab','Key':{" KEYS(
                            "U#1", "O#1") "},'UpdateExpression':'REMOVE "
                                          "#x','ExpressionAttributeNames':{'#x':'total'}}" },
        { "UpdateItem", "{'TableName':'Tab','Key':{" KEYS(
                            "U#1", "O#3") "},'UpdateExpression':'SET #t = :t',"
                                          "'ExpressionAttributeNames':{'#t':'type'},"
                                          "'ExpressionAttributeValues':{':t':{'S':'O'}}}" },
        { "BatchWriteItem", "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{" KEYS(
                                "U#1", "U") "}}},{'PutRequest':{'Item':{" BAD "}}}]}}" },
        { "ExecuteStatement", "{'Statement':'UPDATE Tab REMOVE \\'total\\' WHERE pk=? AND sk=?',"
                              "'Parameters':[{'S':'U#1'},{'S':'O#1'}]}" },
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        api_fixture_expect_error(&db, refused[i].operation, refused[i].body, ERROR_VALIDATION,
                                 REQUIRED);
    assert_false(api_fixture_call(
        &db, "TransactWriteItems",
        "{'TransactItems':[{'Put':" ITEM(KEYS("U#9", "U")) "},{'Put':" ITEM(BAD) "}]}"));
    assert_int_equal(db.error.code, ERROR_TRANSACTION_CANCELED);
    char reasons[512];
    snprintf(reasons, sizeof reasons, "%.*s", BYTES_FMT(db.error.reasons_json));
    assert_non_null(strstr(reasons, "{\"Code\":\"None\"},{\"Code\":\"ValidationError\""));
    assert_non_null(strstr(reasons, "rule Required: the attribute total is missing"));
    /* Nothing was stored, and what is stored may go. */
    must("Scan", "{'TableName':'Tab','Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':1,"));
    must("DeleteItem", "{'TableName':'Tab','Key':{" KEYS("U#1", "O#1") "}}");
}

static void items_of_many_attributes_are_checked_whole(void **state)
{
    (void)state;
    char many[2048] = "", body[4096];
    for (int i = 0; i < 60; i++)
        sprintf(many + strlen(many), "'a%02d':{'N':'1'},", i); /* Sorted before all others. */
    must("CreateTable", TABLE);
    must("PutModel", model_body("ENFORCE", ORDER "," USER));
    for (size_t i = 0; i < COUNT_OF(items); i++) {
        snprintf(body, sizeof body, ITEM("%s%s"), many, items[i].item);
        if (items[i].error == NULL)
            must("PutItem", body);
        else
            api_fixture_expect_error(&db, "PutItem", body, ERROR_VALIDATION, items[i].error);
    }
}

static void a_failed_condition_comes_before_the_model(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("ENFORCE", ORDER));
    api_fixture_expect_error(&db, "PutItem",
                             "{'TableName':'Tab','Item':{" BAD
                             "},'ConditionExpression':'attribute_exists(pk)'}",
                             ERROR_CONDITIONAL_CHECK_FAILED, "The conditional request failed");
}

static void observing_refuses_nothing_and_counts_by_rule_and_caller(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("OBSERVE", ORDER));
    must("PutItem", ITEM(GOOD));
    must("PutItem", ITEM(BAD));
    must("PutItem", ITEM(BAD));
    must("PutItem", ITEM(KEYS("x", "y")));
    must("GetModel", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Mode':'OBSERVE'"));
    assert_true(api_fixture_shows(&db, "'ByRule':{'Key':1,'Discriminator':0,'Required':2,'Type':0,"
                                       "'IndexKey':0},'Total':3,"));
    assert_true(api_fixture_shows(&db, "{'Rule':'Required','Entity':'Order','Attribute':'total',"
                                       "'Caller':'anonymous','Count':2,"));
    assert_true(api_fixture_shows(&db, "{'Rule':'Key','Caller':'anonymous','Count':1,"));
    /* Another model begins anew. */
    must("PutModel", model_body("ENFORCE", ORDER));
    must("GetModel", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Total':0,"));
    assert_false(api_fixture_call(&db, "PutItem", ITEM(BAD)));
    must("GetModel", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Total':1,"));
}

static void a_model_is_durable_and_goes_when_it_is_deleted(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    api_fixture_expect_error(&db, "GetModel", "{'TableName':'Tab'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: Tab has no model");
    must("PutModel", model_body("ENFORCE", ORDER));
    api_fixture_restart(&db, 1000);
    assert_false(api_fixture_call(&db, "PutItem", ITEM(BAD)));
    must("DeleteModel", "{'TableName':'Tab'}");
    must("PutItem", ITEM(BAD));
    api_fixture_expect_error(&db, "DeleteModel", "{'TableName':'Tab'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: Tab has no model");
}

static const struct {
    const char *entities, *message;
} models[] = {
    { "{~Name~:~E~,~Keys~:[{~Index~:~none~,~PartitionKey~:~<a>~}]}",
      "Model is not valid: Entities[0].Keys[0]: the table Tab has no index none" },
    { "{}", "Model is not valid: Entities[0]: Name is missing, empty or longer than 255 bytes" },
    { "{~Name~:~E~,~Table~:~Other~}", "Model is not valid: there are no entities of this table" },
    { "{~Name~:~E~},{~Name~:~E~}",
      "Model is not valid: Entities[1]: there are two entities of the name E" },
};

static void a_model_that_makes_no_sense_for_the_table_is_refused(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    for (size_t i = 0; i < COUNT_OF(models); i++)
        api_fixture_expect_error(&db, "PutModel", model_body("ENFORCE", models[i].entities),
                                 ERROR_VALIDATION, models[i].message);
}

static void templates_of_an_index_go_with_it_and_come_back(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("ENFORCE", ORDER));
    must("UpdateTable",
         "{'TableName':'Tab','GlobalSecondaryIndexUpdates':[{'Delete':{'IndexName':'byG'}}]}");
    while (api_fixture_call(&db, "DescribeTable", "{'TableName':'Tab'}") &&
           api_fixture_shows(&db, "'IndexName':'byG'"))
        continue;
    must("PutItem", ITEM(GOOD ",'g':{'S':'open'}"));
    assert_false(api_fixture_call(&db, "PutItem", ITEM(BAD)));
}

static void wait_for_scan(void)
{
    do
        must("GetModel", "{'TableName':'Tab'}");
    while (api_fixture_shows(&db, "'Status':'RUNNING'"));
}

static void a_scan_finds_what_breaks_the_model(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutItem", ITEM(GOOD));
    must("PutItem", ITEM(BAD));
    must("PutItem", ITEM(KEYS("x", "y")));
    api_fixture_expect_error(&db, "ScanModel", "{'TableName':'Tab'}", ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Table: Tab has no model");
    must("PutModel", model_body("OBSERVE", ORDER));
    must("ScanModel", "{'TableName':'Tab'}");
    wait_for_scan();
    assert_true(api_fixture_shows(&db, "'Status':'COMPLETED'"));
    assert_true(api_fixture_shows(&db, "'Items':3,'Violations':2,'ByRule':{'Key':1,"
                                       "'Discriminator':0,'Required':1,'Type':0,'IndexKey':0}"));
    assert_true(api_fixture_shows(&db, "{'Key':{'pk':{'S':'x'},'sk':{'S':'y'}},'Rule':'Key',"));
    must("ListJobs", "{}");
    assert_true(api_fixture_shows(&db, "model-scan"));
}

static void a_scan_replaces_the_record_of_the_last_one(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutModel", model_body("OBSERVE", ORDER));
    for (int i = 0; i < 3; i++) {
        size_t count;
        must("PutItem", ITEM(BAD));
        /* The last one is under way until its thread has left it, which GetModel does not show. */
        while (!api_fixture_call(&db, "ScanModel", "{'TableName':'Tab'}"))
            assert_int_equal(db.error.code, ERROR_RESOURCE_IN_USE);
        wait_for_scan();
        assert_true(api_fixture_shows(&db, "'Status':'COMPLETED'"));
        assert_int_equal(job_record_count(db.engine, JOB_MODEL_SCAN, &count), ENGINE_OK);
        assert_int_equal(count, 1);
    }
}

static void a_scan_is_refused_when_there_are_too_many_records(void **state)
{
    (void)state;
    struct engine_fixture engine;
    api_fixture_close(&db);
    /* The reference engine would take a minute. */
    engine_fixture_open(&engine, ENGINE_FIXTURE_ROCKSDB_MEMORY);
    api_fixture_open_on(&db, engine.engine, 0);
    struct arena *arena = arena_create();
    struct job_record record = { .letter = JOB_MODEL_SCAN, .state = JOB_COMPLETED };
    struct engine_write *write = NULL;
    struct bytes value = job_record_encode(arena, &record).encoded;
    must("CreateTable", TABLE);
    must("PutModel", model_body("OBSERVE", ORDER));
    assert_int_equal(engine_write_begin(db.engine, NULL, 0, &write), ENGINE_OK);
    for (int i = 0; i < JOB_RECORDS_MAX; i++) {
        job_record_make_id(i, 1, record.id);
        const struct engine_address address =
            job_record_address(arena, JOB_MODEL_SCAN, bytes_of(record.id, JOB_ID_SIZE));
        engine_write_put(write, &address, value);
    }
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
    api_fixture_expect_error(&db, "ScanModel", "{'TableName':'Tab'}", ERROR_LIMIT_EXCEEDED,
                             "There are too many records of scans of models. They are removed "
                             "after 90 days");
    arena_destroy(arena);
}

static void what_is_restored_is_not_asked_about(void **state)
{
    (void)state;
    must("CreateTable", TABLE);
    must("PutItem", ITEM(BAD));
    must("PutModel", model_body("ENFORCE", ORDER));
    must("CreateBackup", "{'TableName':'Tab','BackupName':'one'}");
    char arn[256], body[512];
    struct bytes answer = db.response;
    const char *begin = memmem(answer.data, answer.len, "arn:", 4);
    size_t size = strcspn(begin, "\"");
    assert_true(size < sizeof arn);
    memcpy(arn, begin, size);
    arn[size] = '\0';
    do {
        snprintf(body, sizeof body, "{'BackupArn':'%s'}", arn);
        must("DescribeBackup", body);
    } while (!api_fixture_shows(&db, "'BackupStatus':'AVAILABLE'"));
    snprintf(body, sizeof body, "{'TargetTableName':'New','BackupArn':'%s'}", arn);
    must("RestoreTableFromBackup", body);
    do
        must("DescribeTable", "{'TableName':'New'}");
    while (!api_fixture_shows(&db, "'TableStatus':'ACTIVE'"));
    must("Scan", "{'TableName':'New','Select':'COUNT'}");
    assert_true(api_fixture_shows(&db, "'Count':1,"));
    /* The model is not taken over, as policies and tags are not. */
    assert_false(api_fixture_call(&db, "GetModel", "{'TableName':'New'}"));
}

static void items_expire_whether_they_follow_the_model_or_not(void **state)
{
    (void)state;
    api_fixture_close(&db);
    api_fixture_open_with(&db, &(struct api_options){ .expiry_interval_ms = 5 });
    must("CreateTable", TABLE);
    must("PutItem", ITEM(BAD ",'ttl':{'N':'1699999000'}"));
    must("PutModel", model_body("ENFORCE", ORDER));
    must("UpdateTimeToLive", "{'TableName':'Tab','TimeToLiveSpecification':{'Enabled':true,"
                             "'AttributeName':'ttl'}}");
    do
        must("Scan", "{'TableName':'Tab','Select':'COUNT'}");
    while (!api_fixture_shows(&db, "'Count':0,"));
    must("GetModel", "{'TableName':'Tab'}");
    assert_true(api_fixture_shows(&db, "'Total':0,"));
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, open_db, close_db)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(an_item_that_breaks_the_model_is_refused_with_entity_and_rule),
        DB_TEST(every_operation_that_writes_asks_the_model),
        DB_TEST(items_of_many_attributes_are_checked_whole),
        DB_TEST(a_failed_condition_comes_before_the_model),
        DB_TEST(observing_refuses_nothing_and_counts_by_rule_and_caller),
        DB_TEST(a_model_is_durable_and_goes_when_it_is_deleted),
        DB_TEST(a_model_that_makes_no_sense_for_the_table_is_refused),
        DB_TEST(templates_of_an_index_go_with_it_and_come_back),
        DB_TEST(a_scan_finds_what_breaks_the_model),
        DB_TEST(a_scan_replaces_the_record_of_the_last_one),
        DB_TEST(a_scan_is_refused_when_there_are_too_many_records),
        DB_TEST(what_is_restored_is_not_asked_about),
        DB_TEST(items_expire_whether_they_follow_the_model_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
