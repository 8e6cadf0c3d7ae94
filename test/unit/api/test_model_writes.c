/* test_model_writes.c -- random models and writes of all kinds against a checker that tries
 * everything. The model of a turn is enforced or observed; every decision and count must agree. */
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "base/random.h"
#include "import_fixture.h"

static struct import_fixture fixture;
static struct api_fixture *const db = &fixture.api;

static int open_db(void **state)
{
    (void)state;
    import_fixture_open(&fixture, NULL);
    return 0;
}

static int close_db(void **state)
{
    (void)state;
    import_fixture_close(&fixture);
    return 0;
}

static void must(const char *operation, const char *body)
{
    if (!api_fixture_call(db, operation, body))
        fail_msg("%s %s: %.*s", operation, body, BYTES_FMT(db->error.message));
}

struct text {
    size_t size;
    char data[16 * 1024];
};

static void PRINTF_LIKE(2, 3) add(struct text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out->size +=
        (size_t)vsnprintf(out->data + out->size, sizeof out->data - out->size, format, arguments);
    va_end(arguments);
    assert_true(out->size < sizeof out->data);
}

/* --- Items --- */

/* The table has the key pk, sk, the global index byG of g and r, and the local one byL of l. */
enum attribute { PK, SK, A, B, G, R, L, TYPE, ATTRIBUTES };
static const char *const names[ATTRIBUTES] = { "pk", "sk", "a", "b", "g", "r", "l", "type" };

enum { VALUES = 4 };
static const char *const texts[ATTRIBUTES][VALUES] = {
    [PK] = { "U#1", "U#2", "O#1", "x" },  [SK] = { "P", "O#1", "O#1#2", "P#1" },
    [A] = { "x", "", "x", "" },           [B] = { "x", "S#1", "y", "S#" },
    [G] = { "S#1", "S#", "T", "S#1#2" },  [R] = { "P", "U#1", "x#", "O#a" },
    [L] = { "S#1", "O#2", "P", "O#2#3" }, [TYPE] = { "A", "B", "AB", "" },
};
static const char *const numbers[VALUES] = { "1", "-2.5", "0", "12345678901234567890" };
static const char *const blobs[VALUES] = { "VSMx", "AA==", "IyM=", "eA==" };

struct naive_value {
    char type; /* 0: absent; S, N, B, or T for BOOL. */
    const char *text;
};
struct naive_item {
    struct naive_value values[ATTRIBUTES];
};

static char key_types[ATTRIBUTES]; /* Of this turn's table; 0: no key. */
static char table_name[16];

static struct naive_value value_of(struct random *random, enum attribute attribute, char type)
{
    size_t chosen = random_below(random, VALUES);
    return (struct naive_value){ .type = type,
                                 .text = type == 'N'   ? numbers[chosen]
                                         : type == 'B' ? blobs[chosen]
                                         : type == 'S' ? texts[attribute][chosen]
                                                       : "true" };
}

/* Keys of indexes may be absent, and have their type otherwise. */
static struct naive_item random_item(struct random *random)
{
    static const char types[] = { 'S', 'S', 'N', 'B', 'T' };
    struct naive_item item = { 0 };
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        char type = key_types[i] != 0 ? key_types[i] : types[random_below(random, sizeof types)];
        if (i == PK || i == SK || random_below(random, 3) != 0)
            item.values[i] = value_of(random, i, type);
    }
    return item;
}

static void add_value(struct text *out, const struct naive_value *value)
{
    if (value->type == 'T')
        add(out, "{'BOOL':true}");
    else
        add(out, "{'%c':'%s'}", value->type, value->text);
}

static void add_members(struct text *out, const struct naive_item *item, enum attribute first,
                        enum attribute end)
{
    const char *comma = "";
    for (enum attribute i = first; i < end; i++) {
        if (item->values[i].type == 0)
            continue;
        add(out, "%s'%s':", comma, names[i]);
        add_value(out, &item->values[i]);
        comma = ",";
    }
}

/* --- The naive checker --- */

enum { ENTITIES_MAX = 12 };
static const char *const templates[] = { "U#<x>", "O#<x>", "<x>",     "P",         "O#<x>#<y>",
                                         "<x*>",  "S#<x>", "<x>#<y>", "S#<x>#<y*>" };

struct naive_key {
    const char *hash, *range; /* NULL: none. */
};
struct naive_entity {
    struct naive_key table, global, local;
    const char *discriminator; /* NULL: none. */
    struct {
        bool asked;
        char type; /* 0: any. */
        bool required;
    } demands[ATTRIBUTES];
};
static struct naive_entity entities[ENTITIES_MAX];
static size_t entity_count;

static bool match(const char *t, const char *v)
{
    if (*t == '\0')
        return *v == '\0';
    if (*t != '<')
        return *t == *v && match(t + 1, v + 1);
    bool all = t[2] == '*';
    for (size_t n = 1; v[n - 1] != '\0' && (all || v[n - 1] != '#'); n++) {
        if (match(t + (all ? 4 : 3), v + n))
            return true;
    }
    return false;
}

/* Templates of keys that are no texts are one parameter, which takes everything. */
static bool follows(const char *template, const struct naive_item *item, enum attribute attribute)
{
    const struct naive_value *value = &item->values[attribute];
    return template == NULL || value->type != 'S' || match(template, value->text);
}

static bool allows(const struct naive_entity *entity, const struct naive_item *item)
{
    const struct naive_value *type = &item->values[TYPE];
    if (!follows(entity->table.hash, item, PK) || !follows(entity->table.range, item, SK))
        return false;
    if (entity->discriminator != NULL &&
        (type->type != 'S' || strcmp(type->text, entity->discriminator) != 0))
        return false;
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        char had = item->values[i].type;
        if (entity->demands[i].asked &&
            (had == 0 ? entity->demands[i].required
                      : entity->demands[i].type != 0 && entity->demands[i].type != had))
            return false;
    }
    return follows(entity->global.hash, item, G) && follows(entity->global.range, item, R) &&
           follows(entity->local.hash, item, PK) && follows(entity->local.range, item, L);
}

static bool naive_check(const struct naive_item *item)
{
    for (size_t i = 0; i < entity_count; i++) {
        if (allows(&entities[i], item))
            return true;
    }
    return false;
}

/* --- Random tables and models --- */

static void add_definition(struct text *out, enum attribute attribute)
{
    add(out, "%s{'AttributeName':'%s','AttributeType':'%c'}", attribute == PK ? "" : ",",
        names[attribute], key_types[attribute]);
}

#define KEY_SCHEMA(hash, range)                                                                    \
    "'KeySchema':[{'AttributeName':'" hash "','KeyType':'HASH'},{'AttributeName':'" range          \
    "','KeyType':'RANGE'}]"
#define ALL "'Projection':{'ProjectionType':'ALL'}"

/* 'TableName' and what else CreateTable takes. */
static void add_table(struct text *out)
{
    add(out, "'TableName':'%s','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':[",
        table_name);
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        if (key_types[i] != 0)
            add_definition(out, i);
    }
    add(out,
        "]," KEY_SCHEMA("pk", "sk") ",'GlobalSecondaryIndexes':[{'IndexName':'byG'," KEY_SCHEMA(
            "g", "r") "," ALL "}]");
}

static void create_table(struct random *random, int turn)
{
    static const enum attribute keys[] = { PK, SK, G, R, L };
    struct text body = { 0 };
    memset(key_types, 0, sizeof key_types);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        key_types[keys[i]] = random_below(random, 3) != 0 ? 'S' : "NB"[random_below(random, 2)];
    snprintf(table_name, sizeof table_name, "Tab%d", turn);
    add(&body, "{");
    add_table(&body);
    add(&body, ",'LocalSecondaryIndexes':[{'IndexName':'byL'," KEY_SCHEMA("pk", "l") "," ALL "}]}");
    must("CreateTable", body.data);
}

static const char *random_template(struct random *random, enum attribute attribute)
{
    if (random_below(random, 3) == 0)
        return NULL;
    return key_types[attribute] == 'S' ? templates[random_below(random, COUNT_OF(templates))]
                                       : "<x>";
}

/* ~ stands for an escaped quote: the model is a text within JSON. */
static void add_key(struct text *out, const char *comma, const char *index, struct naive_key key)
{
    if (index != NULL && key.hash == NULL && key.range == NULL)
        return;
    add(out, "%s{", comma);
    if (index != NULL)
        add(out, "~Index~:~%s~,", index);
    if (key.hash != NULL)
        add(out, "~PartitionKey~:~%s~%s", key.hash, key.range != NULL ? "," : "");
    if (key.range != NULL)
        add(out, "~SortKey~:~%s~", key.range);
    add(out, "}");
}

static void add_entity(struct text *out, size_t number, const struct naive_entity *entity)
{
    const char *comma = "";
    add(out, "%s{~Name~:~E%zu~,~Keys~:[", number == 0 ? "" : ",", number);
    add_key(out, "", NULL, entity->table);
    add_key(out, ",", "byG", entity->global);
    add_key(out, ",", "byL", entity->local);
    add(out, "],~Attributes~:[");
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        if (!entity->demands[i].asked)
            continue;
        add(out, "%s{~Name~:~%s~,~Required~:%s", comma, names[i],
            entity->demands[i].required ? "true" : "false");
        if (entity->demands[i].type == 'T')
            add(out, ",~Type~:~BOOL~");
        else if (entity->demands[i].type != 0)
            add(out, ",~Type~:~%c~", entity->demands[i].type);
        add(out, "}");
        comma = ",";
    }
    add(out, "]");
    if (entity->discriminator != NULL)
        add(out, ",~Discriminator~:{~Attribute~:~type~,~Value~:~%s~}", entity->discriminator);
    add(out, "}");
}

static void make_entity(struct random *random, struct naive_entity *entity)
{
    static const char types[] = { 0, 'S', 'N', 'B', 'T' };
    *entity = (struct naive_entity){
        .table = { random_template(random, PK), random_template(random, SK) },
        .global = { random_template(random, G), random_template(random, R) },
        .local = { random_template(random, PK), random_template(random, L) },
    };
    if (random_below(random, 2) == 0)
        entity->global = (struct naive_key){ NULL, NULL };
    if (key_types[L] == 0 || random_below(random, 2) == 0)
        entity->local = (struct naive_key){ NULL, NULL };
    if (random_below(random, 2) == 0)
        entity->discriminator = random_below(random, 2) == 0 ? "A" : "B";
    for (enum attribute i = A; i < TYPE; i++) {
        entity->demands[i].asked = random_below(random, 4) == 0;
        entity->demands[i].type = types[random_below(random, sizeof types)];
        entity->demands[i].required = random_below(random, 2) == 0;
    }
}

static void put_model(struct random *random, bool enforce)
{
    struct text model = { 0 }, body = { 0 };
    entity_count = 1 + random_below(random, ENTITIES_MAX);
    add(&model, "{'TableName':'%s','Mode':'%s','Model':'{~Entities~:[", table_name,
        enforce ? "ENFORCE" : "OBSERVE");
    for (size_t i = 0; i < entity_count; i++) {
        make_entity(random, &entities[i]);
        add_entity(&model, i, &entities[i]);
    }
    add(&model, "]}'}");
    for (const char *c = model.data; *c != '\0'; c++) {
        if (*c == '~')
            add(&body, "\\");
        add(&body, "%c", *c == '~' ? '\'' : *c);
    }
    must("PutModel", body.data);
}

static void expect_violations(uint64_t count)
{
    char body[64], total[64];
    snprintf(body, sizeof body, "{'TableName':'%s'}", table_name);
    must("GetModel", body);
    snprintf(total, sizeof total, "'Total':%u,", (unsigned)count);
    if (!api_fixture_shows(db, total))
        fail_msg("not %s: %.*s", total, BYTES_FMT(db->response));
}

/* --- Single writes --- */

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
static void add_many(struct text *out)
{
    for (int i = 0; i < 40; i++)
        add(out, ",'%c%02d':{'N':'1'}", "aghpst"[i % 6], i);
}

static void add_put(struct text *out, const struct naive_item *item, bool many)
{
    add(out, "'Item':{");
    add_members(out, item, PK, ATTRIBUTES);
    if (many)
        add_many(out);
    add(out, "}");
}

static void add_update(struct text *out, const struct naive_item *item)
{
    add(out, "{'TableName':'%s','Key':{", table_name);
    add_members(out, item, PK, A);
    add(out, "},'UpdateExpression':'SET #n = :n");
    for (enum attribute i = A; i < ATTRIBUTES; i++) {
        if (item->values[i].type != 0)
            add(out, ",#%s = :%s", names[i], names[i]);
    }
    add(out, "','ExpressionAttributeNames':{'#n':'n'");
    for (enum attribute i = A; i < ATTRIBUTES; i++) {
        if (item->values[i].type != 0)
            add(out, ",'#%s':'%s'", names[i], names[i]);
    }
    add(out, "},'ExpressionAttributeValues':{':n':{'N':'1'}");
    for (enum attribute i = A; i < ATTRIBUTES; i++) {
        if (item->values[i].type == 0)
            continue;
        add(out, ",':%s':", names[i]);
        add_value(out, &item->values[i]);
    }
    add(out, "}}");
}

/* \u0027 is PartiQL's quote, which the fixture would turn into JSON's. */
static void add_statement(struct text *out, const struct naive_item *item)
{
    add(out, "{'Statement':'INSERT INTO %s VALUE {", table_name);
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        if (item->values[i].type != 0)
            add(out, "%s\\u0027%s\\u0027:?", i == PK ? "" : ",", names[i]);
    }
    add(out, "}','Parameters':[");
    for (enum attribute i = PK; i < ATTRIBUTES; i++) {
        if (item->values[i].type == 0)
            continue;
        add(out, "%s", i == PK ? "" : ",");
        add_value(out, &item->values[i]);
    }
    add(out, "]}");
}

static const char *const operations[WRITE_KINDS] = {
    [BY_PUT] = "PutItem",
    [BY_UPDATE] = "UpdateItem",
    [BY_BATCH] = "BatchWriteItem",
    [BY_TRANSACTION_PUT] = "TransactWriteItems",
    [BY_TRANSACTION_UPDATE] = "TransactWriteItems",
    [BY_STATEMENT] = "ExecuteStatement",
    [BY_BATCH_STATEMENT] = "BatchExecuteStatement",
    [BY_TRANSACTION_STATEMENT] = "ExecuteTransaction",
};

static void add_request(struct text *body, enum write_kind kind, const struct naive_item *item,
                        bool many)
{
    switch (kind) {
    case BY_PUT:
        add(body, "{'TableName':'%s',", table_name);
        add_put(body, item, many);
        add(body, "}");
        break;
    case BY_BATCH:
        add(body, "{'RequestItems':{'%s':[{'PutRequest':{", table_name);
        add_put(body, item, many);
        add(body, "}}]}}");
        break;
    case BY_TRANSACTION_PUT:
        add(body, "{'TransactItems':[{'Put':{'TableName':'%s',", table_name);
        add_put(body, item, many);
        add(body, "}}]}");
        break;
    case BY_UPDATE:
        add_update(body, item);
        break;
    case BY_TRANSACTION_UPDATE:
        add(body, "{'TransactItems':[{'Update':");
        add_update(body, item);
        add(body, "}]}");
        break;
    case BY_STATEMENT:
        add_statement(body, item);
        break;
    case BY_BATCH_STATEMENT:
    case BY_TRANSACTION_STATEMENT:
        add(body, kind == BY_BATCH_STATEMENT ? "{'Statements':[" : "{'TransactStatements':[");
        add_statement(body, item);
        add(body, "]}");
        break;
    case WRITE_KINDS:
        break;
    }
}

/* Whether the item, which is not there, was stored. */
static bool write_item(enum write_kind kind, const struct naive_item *item, bool many)
{
    assert(kind < WRITE_KINDS);
    struct text body = { 0 };
    add_request(&body, kind, item, many);
    bool ok = api_fixture_call(db, operations[kind], body.data);
    if (kind != BY_BATCH_STATEMENT)
        return ok;
    assert_true(ok);
    return !api_fixture_shows(db, "'Error'");
}

/* Deletes the item, and tells whether it was there. */
static bool remove_item(const struct naive_item *item)
{
    struct text body = { 0 };
    add(&body, "{'TableName':'%s','ReturnValues':'ALL_OLD','Key':{", table_name);
    add_members(&body, item, PK, A);
    add(&body, "}}");
    must("DeleteItem", body.data);
    return api_fixture_shows(db, "'Attributes'");
}

static void random_models_and_writes_agree_with_a_naive_checker(void **state)
{
    (void)state;
    struct random random;
    uint64_t allowed = 0, refused = 0;
    random_init(&random, 2211);
    for (int turn = 0; turn < 60; turn++) {
        bool enforce = random_below(&random, 4) != 0;
        uint64_t broken = 0;
        create_table(&random, turn);
        put_model(&random, enforce);
        for (int i = 0; i < 60; i++) {
            struct naive_item item = random_item(&random);
            enum write_kind kind = (enum write_kind)random_below(&random, WRITE_KINDS);
            bool good = naive_check(&item);
            bool stored = write_item(kind, &item, i % 2 == 0);
            if (stored != (good || !enforce))
                fail_msg("turn %d, %s: good %d, stored %d: %.*s", turn, operations[kind], good,
                         stored, BYTES_FMT(db->error.message));
            assert_int_equal(remove_item(&item), stored);
            broken += !good;
            allowed += good;
            refused += !good;
        }
        expect_violations(broken);
    }
    if (allowed < 600 || refused < 600)
        fail_msg("%u allowed, %u refused", (unsigned)allowed, (unsigned)refused);
}

/* --- Bulk operations and imports --- */

enum { RECORDS = 100 };

struct record {
    struct naive_item item;
    bool is_conditional; /* It is put only if there is no such item yet. */
};

static bool same_key(const struct naive_item *a, const struct naive_item *b)
{
    return strcmp(a->values[PK].text, b->values[PK].text) == 0 &&
           strcmp(a->values[SK].text, b->values[SK].text) == 0;
}

/* Records as lines of an object. Each item has its number in the attribute n. */
static void put_records(struct random *random, struct record *records, bool with_conditions)
{
    static struct text lines;
    lines = (struct text){ 0 };
    for (int i = 0; i < RECORDS; i++) {
        struct record *record = &records[i];
        *record =
            (struct record){ .item = random_item(random),
                             .is_conditional = with_conditions && random_below(random, 3) == 0 };
        add(&lines, "{'Item':{");
        add_members(&lines, &record->item, PK, ATTRIBUTES);
        add(&lines, ",'n':{'N':'%d'}}", i);
        if (record->is_conditional)
            add(&lines, ",'ConditionExpression':'attribute_not_exists(pk)'");
        add(&lines, "}\n");
    }
    for (char *c = lines.data; *c != '\0'; c++) {
        if (*c == '\'')
            *c = '"';
    }
    import_fixture_put_text(&fixture, "1", lines.data);
}

/* The last one of its key that was stored, or -1. */
static int find_stored(const struct record *records, const bool *stored, int end,
                       const struct naive_item *item)
{
    for (int i = end; i-- > 0;) {
        if (stored[i] && same_key(&records[i].item, item))
            return i;
    }
    return -1;
}

static void expect_item(const struct naive_item *item, int number)
{
    struct text body = { 0 };
    char shown[32];
    add(&body, "{'TableName':'%s','Key':{", table_name);
    add_members(&body, item, PK, A);
    add(&body, "}}");
    must("GetItem", body.data);
    snprintf(shown, sizeof shown, "'n':{'N':'%d'}", number);
    if (number < 0 ? api_fixture_shows(db, "'Item'") : !api_fixture_shows(db, shown))
        fail_msg("not %d: %.*s", number, BYTES_FMT(db->response));
}

static void bulk_puts_agree_with_a_naive_checker(void **state)
{
    (void)state;
    static struct record records[RECORDS];
    struct random random;
    uint64_t refused_in_all = 0, skipped = 0;
    random_init(&random, 4711);
    for (int turn = 0; turn < 20; turn++) {
        bool stored[RECORDS], enforce = turn % 3 != 0;
        uint64_t broken = 0;
        char body[256], failed[64];
        create_table(&random, turn);
        put_model(&random, enforce);
        put_records(&random, records, true);
        snprintf(
            body, sizeof body,
            "{'TableName':'%s','InputS3Configuration':{'S3Bucket':'in','InputFormat':"
            "'DYNAMODB_JSON'},'OutputS3Configuration':{'S3Bucket':'out','OutputType':['ERROR']}}",
            table_name);
        must("StartBulkPutItems", body);
        import_fixture_keep_arn(&fixture);
        import_fixture_wait(&fixture);
        for (int i = 0; i < RECORDS; i++) {
            const struct naive_item *item = &records[i].item;
            stored[i] = !records[i].is_conditional || find_stored(records, stored, i, item) < 0;
            skipped += !stored[i];
            if (stored[i] && !naive_check(item)) {
                broken++;
                stored[i] = !enforce;
            }
        }
        import_fixture_shows(&fixture, "'ProcessedItemCount':100");
        snprintf(failed, sizeof failed, "'FailedItemCount':%u", enforce ? (unsigned)broken : 0);
        import_fixture_shows(&fixture, failed);
        for (int i = 0; i < RECORDS; i++)
            expect_item(&records[i].item, find_stored(records, stored, RECORDS, &records[i].item));
        expect_violations(broken);
        refused_in_all += enforce ? broken : 0;
    }
    assert_true(refused_in_all > 100 && skipped > 100);
}

/* An imported table has no model until one is put: nothing is refused, and a scan finds it. */
static void a_scan_of_an_imported_table_agrees_with_a_naive_checker(void **state)
{
    (void)state;
    static struct record records[RECORDS];
    struct random random;
    random_init(&random, 815);
    for (int turn = 0; turn < 10; turn++) {
        struct text body = { 0 };
        bool stored[RECORDS];
        unsigned items = 0, broken = 0;
        char get[64], shown[64];
        create_table(&random, 2 * turn); /* For the types of this turn's keys. */
        snprintf(table_name, sizeof table_name, "Tab%d", 2 * turn + 1);
        put_records(&random, records, false);
        memset(stored, true, sizeof stored);
        add(&body,
            "{'S3BucketSource':{'S3Bucket':'in'},'InputFormat':'DYNAMODB_JSON','ClientToken':'%d',"
            "'TableCreationParameters':{",
            turn);
        key_types[L] = 0; /* No local indexes: ImportTable does not take them. */
        add_table(&body);
        add(&body, "}}");
        must("ImportTable", body.data);
        import_fixture_keep_arn(&fixture);
        import_fixture_wait(&fixture);
        snprintf(get, sizeof get, "{'TableName':'%s'}", table_name);
        assert_false(api_fixture_call(db, "GetModel", get));
        put_model(&random, true);
        must("ScanModel", get);
        do
            must("GetModel", get);
        while (api_fixture_shows(db, "'Status':'RUNNING'"));
        for (int i = 0; i < RECORDS; i++) {
            if (find_stored(records, stored, RECORDS, &records[i].item) != i)
                continue; /* A later one replaced it. */
            items++;
            broken += !naive_check(&records[i].item);
        }
        snprintf(shown, sizeof shown, "'Items':%u,'Violations':%u,", items, broken);
        import_fixture_shows(&fixture, shown);
    }
}

#define DB_TEST(name) cmocka_unit_test_setup_teardown(name, open_db, close_db)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DB_TEST(random_models_and_writes_agree_with_a_naive_checker),
        DB_TEST(bulk_puts_agree_with_a_naive_checker),
        DB_TEST(a_scan_of_an_imported_table_agrees_with_a_naive_checker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
