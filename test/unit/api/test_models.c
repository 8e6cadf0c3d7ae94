/* test_models.c -- tables with a model: what is refused and counted, by every operation that
 * writes; and random models and writes against a checker that tries everything. */
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
#include "base/random.h"
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
        must("ScanModel", "{'TableName':'Tab'}");
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

/* --- Random models and writes --- */

enum { ATTRIBUTES = 6, ENTITIES_MAX = 5, DEMANDS_MAX = 3, VALUES = 4 };
static const char *const names[ATTRIBUTES] = { "pk", "sk", "a", "b", "g", "type" };
/* Values of an attribute: absent, then texts, then a number. */
static const char *const texts[ATTRIBUTES][VALUES] = {
    { "U#1", "U#2", "O#1", "x" }, { "P", "O#1", "O#1#2", "P#1" }, { NULL, "x", "", NULL },
    { NULL, "x", "S#1", NULL },   { NULL, "S#1", "S#", "T" },     { NULL, "A", "B", NULL },
};
static const char *const templates[] = { "U#<x>",     "O#<x>", "<x>",   "P",
                                         "O#<x>#<y>", "<x*>",  "S#<x>", "<x>#<y>" };

struct naive_item {
    int values[ATTRIBUTES]; /* Of texts; VALUES: the number 1. */
};

struct naive_entity {
    const char *hash, *range, *index; /* NULL: none. */
    const char *discriminator;
    struct {
        int attribute;
        int type; /* 0: none, 1: S, 2: N. */
        bool required;
    } demands[DEMANDS_MAX];
    int demand_count;
};

static struct naive_entity entities[ENTITIES_MAX];
static int entity_count;

static bool naive_match(const char *t, const char *v)
{
    if (*t == '\0')
        return *v == '\0';
    if (*t != '<')
        return *t == *v && naive_match(t + 1, v + 1);
    bool all = t[2] == '*';
    for (size_t n = 1; v[n - 1] != '\0' && (all || v[n - 1] != '#'); n++) {
        if (naive_match(t + (all ? 4 : 3), v + n))
            return true;
    }
    return false;
}

static const char *text_of(const struct naive_item *item, int attribute)
{
    int value = item->values[attribute];
    return value == VALUES ? NULL : texts[attribute][value];
}

/* 0: absent, 1: S, 2: N. */
static int type_of(const struct naive_item *item, int attribute)
{
    if (item->values[attribute] == VALUES)
        return 2;
    return text_of(item, attribute) == NULL ? 0 : 1;
}

static bool naive_allows(const struct naive_entity *entity, const struct naive_item *item)
{
    if ((entity->hash != NULL && !naive_match(entity->hash, text_of(item, 0))) ||
        (entity->range != NULL && !naive_match(entity->range, text_of(item, 1))))
        return false;
    if (entity->discriminator != NULL &&
        (type_of(item, 5) != 1 || strcmp(text_of(item, 5), entity->discriminator) != 0))
        return false;
    for (int i = 0; i < entity->demand_count; i++) {
        int type = type_of(item, entity->demands[i].attribute);
        if (type == 0 ? entity->demands[i].required
                      : entity->demands[i].type != 0 && entity->demands[i].type != type)
            return false;
    }
    return entity->index == NULL || type_of(item, 4) != 1 ||
           naive_match(entity->index, text_of(item, 4));
}

static bool naive_check(const struct naive_item *item)
{
    for (int i = 0; i < entity_count; i++) {
        if (naive_allows(&entities[i], item))
            return true;
    }
    return false;
}

static const char *random_template(struct random *random)
{
    return random_below(random, 4) == 0 ? NULL
                                        : templates[random_below(random, COUNT_OF(templates))];
}

static void make_model(struct random *random, char *out, size_t room)
{
    size_t size = 0;
    entity_count = 1 + (int)random_below(random, ENTITIES_MAX);
    for (int i = 0; i < entity_count; i++) {
        struct naive_entity *entity = &entities[i];
        *entity = (struct naive_entity){ .hash = random_template(random),
                                         .range = random_template(random),
                                         .index = random_template(random) };
        if (random_below(random, 2) == 0)
            entity->discriminator = random_below(random, 2) == 0 ? "A" : "B";
        size += (size_t)snprintf(out + size, room - size, "%s{~Name~:~E%d~,~Keys~:[{",
                                 i == 0 ? "" : ",", i);
        const char *comma = "";
        if (entity->hash != NULL) {
            size += (size_t)snprintf(out + size, room - size, "~PartitionKey~:~%s~", entity->hash);
            comma = ",";
        }
        if (entity->range != NULL)
            size +=
                (size_t)snprintf(out + size, room - size, "%s~SortKey~:~%s~", comma, entity->range);
        size += (size_t)snprintf(out + size, room - size, "}");
        if (entity->index != NULL)
            size += (size_t)snprintf(out + size, room - size,
                                     ",{~Index~:~byG~,~PartitionKey~:~%s~}", entity->index);
        size += (size_t)snprintf(out + size, room - size, "],~Attributes~:[");
        for (int attribute = 2; attribute < 5; attribute++) {
            if (random_below(random, 3) != 0)
                continue;
            int at = entity->demand_count++;
            entity->demands[at].attribute = attribute;
            entity->demands[at].type = (int)random_below(random, 3);
            entity->demands[at].required = random_below(random, 2) == 0;
            size += (size_t)snprintf(out + size, room - size, "%s{~Name~:~%s~,~Required~:%s%s}",
                                     at == 0 ? "" : ",", names[attribute],
                                     entity->demands[at].required ? "true" : "false",
                                     entity->demands[at].type == 0   ? ""
                                     : entity->demands[at].type == 1 ? ",~Type~:~S~"
                                                                     : ",~Type~:~N~");
        }
        size += (size_t)snprintf(out + size, room - size, "]");
        if (entity->discriminator != NULL)
            size += (size_t)snprintf(out + size, room - size,
                                     ",~Discriminator~:{~Attribute~:~type~,~Value~:~%s~}",
                                     entity->discriminator);
        size += (size_t)snprintf(out + size, room - size, "}");
    }
    assert_true(size < room);
}

/* g is an index key: a text, not empty. */
static struct naive_item random_item(struct random *random)
{
    struct naive_item item;
    for (int i = 0; i < ATTRIBUTES; i++) {
        item.values[i] = (int)random_below(random, i < 2 || i == 4 ? VALUES : VALUES + 1);
        if (i >= 2 && item.values[i] < VALUES && texts[i][item.values[i]] == NULL)
            item.values[i] = 0;
    }
    return item;
}

static size_t add_value(const struct naive_item *item, int attribute, char *out, size_t room)
{
    if (type_of(item, attribute) == 2)
        return (size_t)snprintf(out, room, "{'N':'1'}");
    return (size_t)snprintf(out, room, "{'S':'%s'}", text_of(item, attribute));
}

/* The attributes from `first` on, as JSON, or as a tuple with ? and a list of parameters. */
static void item_json(const struct naive_item *item, int first, char *out, size_t room)
{
    size_t size = 0;
    out[0] = '\0';
    for (int i = first; i < ATTRIBUTES; i++) {
        if (type_of(item, i) == 0)
            continue;
        size +=
            (size_t)snprintf(out + size, room - size, "%s'%s':", size == 0 ? "" : ",", names[i]);
        size += add_value(item, i, out + size, room - size);
    }
}

static void insert_statement(const struct naive_item *item, char *out, size_t room)
{
    size_t size = (size_t)snprintf(out, room, "{'Statement':'INSERT INTO Tab VALUE {");
    char parameters[512];
    size_t parameters_size = 0;
    for (int i = 0; i < ATTRIBUTES; i++) {
        if (type_of(item, i) == 0)
            continue;
        size += (size_t)snprintf(out + size, room - size, "%s`%s`:?", i == 0 ? "" : ",", names[i]);
        parameters_size +=
            (size_t)snprintf(parameters + parameters_size, sizeof parameters - parameters_size,
                             "%s", i == 0 ? "" : ",");
        parameters_size +=
            add_value(item, i, parameters + parameters_size, sizeof parameters - parameters_size);
    }
    snprintf(out + size, room - size, "}','Parameters':[%s]}", parameters);
}

/* ` stands for PartiQL's own quote, which the fixture would turn into JSON's. */
static void use_quotes(char *text)
{
    char copy[4096];
    size_t size = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '`')
            size += (size_t)snprintf(copy + size, sizeof copy - size, "\\u0027");
        else
            copy[size++] = *c;
    }
    copy[size] = '\0';
    memcpy(text, copy, size + 1);
}

enum write_kind {
    BY_PUT,
    BY_UPDATE,
    BY_BATCH,
    BY_TRANSACTION_PUT,
    BY_TRANSACTION_UPDATE,
    BY_STATEMENT,
    BY_BATCH_STATEMENT,
    BY_TRANSACTION_STATEMENT,
    WRITE_KINDS,
};

/* Attributes that no model mentions, with names on all sides of those that models do. */
static const char *many_attributes(void)
{
    static char out[2048] = "";
    if (out[0] != '\0')
        return out;
    for (int i = 0; i < 40; i++)
        sprintf(out + strlen(out), ",'%c%02d':{'N':'1'}", "aghpst"[i % 6], i);
    return out;
}

/* Puts the item, which is not there, by one of the operations; some have `more` in them. Returns
 * whether it was stored. */
static bool write_item(enum write_kind kind, const struct naive_item *item, const char *more)
{
    char json[512], rest[512], key[128], body[4096], update[512] = "", *set = update;
    item_json(item, 0, json, sizeof json);
    item_json(item, 2, rest, sizeof rest);
    snprintf(key, sizeof key, "{'pk':{'S':'%s'},'sk':{'S':'%s'}}", text_of(item, 0),
             text_of(item, 1));
    char values[512] = "";
    for (int i = 2; i < ATTRIBUTES; i++) {
        char value[64];
        if (type_of(item, i) == 0)
            continue;
        add_value(item, i, value, sizeof value);
        set += sprintf(set, "%s#%s = :%s", set == update ? "SET " : ", ", names[i], names[i]);
        sprintf(values + strlen(values), "%s':%s':%s", values[0] == '\0' ? "" : ",", names[i],
                value);
    }
    char request[2048];
    if (update[0] == '\0') {
        snprintf(request, sizeof request, "{'TableName':'Tab','Key':%s}", key);
    } else {
        char used[256] = "";
        for (int i = 2; i < ATTRIBUTES; i++) {
            if (type_of(item, i) != 0)
                sprintf(used + strlen(used), "%s'#%s':'%s'", used[0] == '\0' ? "" : ",", names[i],
                        names[i]);
        }
        snprintf(request, sizeof request,
                 "{'TableName':'Tab','Key':%s,'UpdateExpression':'%s','ExpressionAttributeNames':"
                 "{%s},'ExpressionAttributeValues':{%s}}",
                 key, update, used, values);
    }
    switch (kind) {
    case BY_PUT:
        snprintf(body, sizeof body, ITEM("%s%s"), json, more);
        return api_fixture_call(&db, "PutItem", body);
    case BY_UPDATE:
        return api_fixture_call(&db, "UpdateItem", request);
    case BY_BATCH:
        snprintf(body, sizeof body, "{'RequestItems':{'Tab':[{'PutRequest':{'Item':{%s%s}}}]}}",
                 json, more);
        return api_fixture_call(&db, "BatchWriteItem", body);
    case BY_TRANSACTION_PUT:
        snprintf(body, sizeof body, "{'TransactItems':[{'Put':" ITEM("%s%s") "}]}", json, more);
        return api_fixture_call(&db, "TransactWriteItems", body);
    case BY_TRANSACTION_UPDATE:
        if (update[0] == '\0')
            return write_item(BY_UPDATE, item, more); /* An action needs an expression. */
        snprintf(body, sizeof body, "{'TransactItems':[{'Update':%s}]}", request);
        return api_fixture_call(&db, "TransactWriteItems", body);
    case BY_STATEMENT:
        insert_statement(item, body, sizeof body);
        use_quotes(body);
        return api_fixture_call(&db, "ExecuteStatement", body);
    case BY_BATCH_STATEMENT:
        insert_statement(item, request, sizeof request);
        use_quotes(request);
        snprintf(body, sizeof body, "{'Statements':[%s]}", request);
        must("BatchExecuteStatement", body);
        return !api_fixture_shows(&db, "'Error'");
    case BY_TRANSACTION_STATEMENT:
        insert_statement(item, request, sizeof request);
        use_quotes(request);
        snprintf(body, sizeof body, "{'TransactStatements':[%s]}", request);
        return api_fixture_call(&db, "ExecuteTransaction", body);
    case WRITE_KINDS:
        break;
    }
    return false;
}

static void random_models_and_writes_agree_with_a_naive_checker(void **state)
{
    (void)state;
    struct random random;
    uint64_t allowed = 0, refused = 0;
    random_init(&random, 2211);
    must("CreateTable", TABLE);
    for (int turn = 0; turn < 60; turn++) {
        char model[4096];
        bool enforce = random_below(&random, 4) != 0;
        uint64_t broken = 0;
        make_model(&random, model, sizeof model);
        must("PutModel", model_body(enforce ? "ENFORCE" : "OBSERVE", model));
        for (int i = 0; i < 60; i++) {
            char body[256];
            struct naive_item item = random_item(&random);
            enum write_kind kind = (enum write_kind)random_below(&random, WRITE_KINDS);
            bool good = naive_check(&item);
            bool stored = write_item(kind, &item, i % 2 == 0 ? "" : many_attributes());
            if (stored != (good || !enforce))
                fail_msg("kind %d, model %s: good %d, stored %d: %.*s", (int)kind, model, good,
                         stored, BYTES_FMT(db.error.message));
            broken += !good;
            allowed += stored;
            refused += !stored;
            snprintf(body, sizeof body,
                     "{'TableName':'Tab','Key':{'pk':{'S':'%s'},'sk':{'S':'%s'}},"
                     "'ReturnValues':'ALL_OLD'}",
                     text_of(&item, 0), text_of(&item, 1));
            must("DeleteItem", body);
            assert_int_equal(api_fixture_shows(&db, "'Attributes'"), stored);
        }
        char total[64];
        must("GetModel", "{'TableName':'Tab'}");
        snprintf(total, sizeof total, "'Total':%u,", (unsigned)broken);
        assert_true(api_fixture_shows(&db, total));
    }
    assert_true(allowed > 300 && refused > 300);
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
        DB_TEST(random_models_and_writes_agree_with_a_naive_checker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
