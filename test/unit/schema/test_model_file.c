/* test_model_file.c -- model files: versions, repairs, other forms, and saving. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "schema/json_tree.h"
#include "schema/model_file.h"
#include "schema/model_infer.h"

/* ' stands for ". */
static struct bytes quoted(struct arena *arena, const char *text)
{
    struct bytes source = bytes_from_text(text);
    uint8_t *copy = arena_alloc(arena, source.len + 1);
    for (size_t i = 0; i < source.len; i++)
        copy[i] = source.data[i] == '\'' ? '"' : source.data[i];
    return bytes_of(copy, source.len);
}

static struct model_file *load(struct arena *arena, const char *text, struct model_report *report)
{
    struct model_file *file = model_file_load(arena, quoted(arena, text), report);
    if (file == NULL)
        fail_msg("%.*s", BYTES_FMT(report->failure));
    return file;
}

static void assert_saved(struct arena *arena, const struct model_file *file, const char *want)
{
    struct model_report report;
    struct bytes failure, saved = model_file_save(arena, file);
    struct json_node *tree = json_tree_parse(arena, saved, &failure);
    assert_non_null(tree);
    struct bytes got = json_tree_text(arena, tree), expected = quoted(arena, want);
    if (!bytes_equal(got, expected))
        fail_msg("saved %.*s\nwant  %.*s", BYTES_FMT(got), BYTES_FMT(expected));
    /* Loading what was saved, and saving it, changes nothing. */
    struct model_file *again = model_file_load(arena, saved, &report);
    assert_non_null(again);
    assert_true(bytes_equal(saved, model_file_save(arena, again)));
}

static bool has_note(const struct model_report *report, const char *place, const char *text)
{
    for (size_t i = 0; i < report->note_count; i++) {
        if (bytes_equal_text(report->notes[i].place, place) &&
            bytes_equal_text(report->notes[i].text, text))
            return true;
    }
    return false;
}

#define KEYS "'KeyAttributes':{'PartitionKey':{'AttributeName':'p','AttributeType':'S'}}"

static const char *const versions[] = {
    "'ModelMetadata':{}",
    "'ModelMetadata':{'Version':'1.0'}",
    "'ModelMetadata':{'Version':'2.0','AWSService':'Amazon DynamoDB'}",
    "'ModelMetadata':{'Version':'3.0','AWSService':'Amazon DynamoDB'}",
};

static void files_of_all_versions_are_read_and_saved_as_3_0(void **state)
{
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        struct model_report report;
        struct bytes text = arena_printf(
            *state, "{'ModelName':'m',%s,'DataModel':[{'TableName':'tab'," KEYS "}]}%c",
            versions[i], 0);
        struct model_file *file = load(*state, (const char *)text.data, &report);
        assert_int_equal(file->table_count, 1);
        struct bytes failure;
        struct json_node *saved = json_tree_parse(*state, model_file_save(*state, file), &failure);
        assert_true(bytes_equal_text(
            json_tree_string(json_tree_member(saved, "ModelMetadata"), "Version"), "3.0"));
    }
}

/* Whatever Workbench and its relatives write is known: nothing is noted, nothing changes. */
#define ALL_MEMBERS                                                                                \
    "{'ModelName':'m','ModelMetadata':{'Author':'','DateCreated':'Jun 24, 2020, 04:20 PM',"        \
    "'DateLastModified':'Tue Mar 02 2021','Description':'1. a','AWSService':'Amazon DynamoDB',"    \
    "'Version':'3.0'},'DataModel':[{'TableName':'tab','KeyAttributes':{'PartitionKey':"            \
    "{'AttributeName':'p','AttributeType':'S'},'SortKey':{'AttributeName':'s','AttributeType':"    \
    "'B'}},'NonKeyAttributes':[{'AttributeName':'a','AttributeType':'BS'}],'TableFacets':["        \
    "{'FacetName':'F','KeyAttributeAlias':{'PartitionKeyAlias':'p','SortKeyAlias':'#META#x'},"     \
    "'NonKeyAttributes':['a'],'TableData':[{'p':{'S':'1'},'s':{'B':'eA=='}}],'DataAccess':"        \
    "{'MySql':{}}}],'GlobalSecondaryIndexes':[{'IndexName':'idx','KeyAttributes':{'PartitionKey':" \
    "{'AttributeName':'g','AttributeType':'N'}},'Projection':{'ProjectionType':'INCLUDE',"         \
    "'NonKeyAttributes':['p','a']}}],'DataAccess':{'MySql':{}},'SampleDataFormats':{'a':["         \
    "'identifiers','Email']},'BillingMode':'PROVISIONED','ProvisionedCapacitySettings':"           \
    "{'ProvisionedThroughput':{'ReadCapacityUnits':5,'WriteCapacityUnits':5},'AutoScalingRead':"   \
    "{'ScalableTargetRequest':{'MinCapacity':1,'MaxCapacity':10,'ServiceRole':'r'},"               \
    "'ScalingPolicyConfiguration':{'TargetValue':70}}},'SavedQuery':{'q':{'PK':'x','SK':"          \
    "{'condition':'=','values':[]}}}}]}"

static void all_members_of_workbench_are_known_and_saved_as_they_were(void **state)
{
    struct model_report report;
    struct model_file *file = load(*state, ALL_MEMBERS, &report);
    for (size_t i = 0; i < report.note_count; i++)
        fail_msg("%.*s: %.*s", BYTES_FMT(report.notes[i].place), BYTES_FMT(report.notes[i].text));
    assert_int_equal(file->tables[0].row_count, 1);
    assert_saved(*state, file, ALL_MEMBERS);
}

static void a_mark_of_the_encoding_is_no_part_of_the_file(void **state)
{
#define PLAIN                                                                                      \
    "{'ModelName':'m','ModelMetadata':{'AWSService':'Amazon DynamoDB','Version':'3.0'},"           \
    "'DataModel':[{'TableName':'tab'," KEYS ",'BillingMode':'PROVISIONED'}]}"
    struct model_report report;
    struct model_file *file = load(*state, "\xEF\xBB\xBF" PLAIN, &report);
    assert_int_equal(report.note_count, 0);
    assert_saved(*state, file, PLAIN);
#undef PLAIN
}

static void unknown_keys_stay_in_their_places(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'x':[1.50,1e3],'ModelName':'m','ModelMetadata':{'Version':'3.0','y':null,'AWSService':"
        "'Amazon DynamoDB'},'DataModel':[{'z':{'a':1,'a':2},'TableName':'tab'," KEYS
        ",'BillingMode':'PROVISIONED','DataAccess':{'MySql':{}}}],'AccessPatterns':[{}]}",
        &report);
    static const char *const places[] = { "x", "ModelMetadata.y", "DataModel[0].z",
                                          "AccessPatterns" };
    assert_int_equal(report.note_count, COUNT_OF(places));
    for (size_t i = 0; i < COUNT_OF(places); i++)
        assert_true(has_note(&report, places[i], "it is not known here, and is kept as it is"));
    assert_saved(*state, file,
                 "{'x':[1.50,1e3],'ModelName':'m','ModelMetadata':{'Version':'3.0','y':null,"
                 "'AWSService':'Amazon DynamoDB'},'DataModel':[{'z':{'a':1,'a':2},'TableName':"
                 "'tab'," KEYS ",'BillingMode':'PROVISIONED','DataAccess':{'MySql':{}}}],"
                 "'AccessPatterns':[{}]}");
}

static const struct {
    const char *rule, *value, *want, *note;
} repairs[] = {
    { "a value stays", "{'M':{'a':{'N':'1'}}}", "{'M':{'a':{'N':'1'}}}", NULL },
    { "a map of plain JSON", "{'M':{'on':true,'x':59.0}}",
      "{'M':{'on':{'BOOL':true},'x':{'N':'59.0'}}}", "plain JSON is read as a DynamoDB value" },
    { "a map that is wrapped twice", "{'M':{'M':{'HP':{'N':'50'}}}}", "{'M':{'HP':{'N':'50'}}}",
      "a map was wrapped twice: the outer wrapper is dropped" },
    { "a text that is wrapped as a map", "{'M':{'S':'x'}}", "{'S':'x'}",
      "a map was wrapped twice: the outer wrapper is dropped" },
    { "a map with a member called S", "{'M':{'S':{'S':'x'}}}", "{'M':{'S':{'S':'x'}}}", NULL },
    { "a number as a number", "{'N':5}", "{'N':'5'}", "plain JSON is read as a DynamoDB value" },
    { "numbers in a set of numbers", "{'NS':[1,'2',3.50]}", "{'NS':['1','2','3.50']}",
      "plain JSON is read as a DynamoDB value" },
    { "plain lists and nulls", "[1,null,'a',{'b':[]}]",
      "{'L':[{'N':'1'},{'NULL':true},{'S':'a'},{'M':{'b':{'L':[]}}}]}",
      "plain JSON is read as a DynamoDB value" },
    { "one plain member among values", "{'M':{'a':{'S':'x'},'b':7}}",
      "{'M':{'a':{'S':'x'},'b':{'N':'7'}}}", "plain JSON is read as a DynamoDB value" },
    { "an object that looks like a type", "{'S':5}", "{'M':{'S':{'N':'5'}}}",
      "plain JSON is read as a DynamoDB value" },
};

static void values_that_are_not_dynamodbs_are_repaired_with_a_note(void **state)
{
    for (size_t i = 0; i < COUNT_OF(repairs); i++) {
        struct model_report report;
        struct bytes text = arena_printf(
            *state,
            "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab','BillingMode':"
            "'PAY_PER_REQUEST'," KEYS ",'TableData':[{'p':{'S':'1'},'v':%s}]}]}%c",
            repairs[i].value, 0);
        struct model_file *file = load(*state, (const char *)text.data, &report);
        struct json_node *value = json_tree_member(file->tables[0].rows[0], "v");
        struct bytes got = json_tree_text(*state, value), want = quoted(*state, repairs[i].want);
        if (!bytes_equal(got, want))
            fail_msg("%s: %.*s", repairs[i].rule, BYTES_FMT(got));
        assert_int_equal(report.note_count, repairs[i].note != NULL);
        if (repairs[i].note != NULL)
            assert_true(has_note(&report, "DataModel[0].TableData[0].v", repairs[i].note));
    }
}

#define WILD(keys, indexes, rows)                                                                  \
    "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab','BillingMode':"            \
    "'PAY_PER_REQUEST','KeyAttributes':{'PartitionKey':{'AttributeName':'p','AttributeType':"      \
    "'S'}" keys "},'GlobalSecondaryIndexes':[" indexes "],'TableData':[" rows "]}]}"
#define SORTED ",'SortKey':{'AttributeName':'s','AttributeType':'S'}"
#define DRAWN                                                                                      \
    "{'IndexName':'drawn','KeyAttributes':{'PartitionKey':{'AttributeName':'p','AttributeType':"   \
    "'S'},'SortKey':{'AttributeName':'d','AttributeType':'S'}}}"

static const struct {
    const char *text, *place, *note;
} oddities[] = {
    { WILD(SORTED, DRAWN, ""), "DataModel[0].GlobalSecondaryIndexes[0]",
      "its partition key is the table's: if it is meant as a local index, name it in "
      "Stator.Tables[].LocalIndexes" },
    { WILD("", "", "{'p':{'S':'a\\t'}}"), "DataModel[0].TableData[0].p",
      "the key has invisible characters, which are kept" },
    { WILD(SORTED, "", "{'p':{'S':'a'},'s':{'S':' b'}}"), "DataModel[0].TableData[0].s",
      "the key has invisible characters, which are kept" },
    { WILD(",'SortKey':{}", "", "{'p':{'S':'a b'}}"), "DataModel[0].KeyAttributes.SortKey",
      "it is empty: there is no sort key" },
};

static void what_is_odd_is_noted_and_kept(void **state)
{
    for (size_t i = 0; i < COUNT_OF(oddities); i++) {
        struct model_report report;
        struct bytes failure;
        struct model_file *file = load(*state, oddities[i].text, &report);
        if (report.note_count != 1 || !has_note(&report, oddities[i].place, oddities[i].note))
            fail_msg("%s: %zu notes", oddities[i].text, report.note_count);
        struct json_node *before =
            json_tree_parse(*state, quoted(*state, oddities[i].text), &failure);
        struct json_node *after = json_tree_parse(*state, model_file_save(*state, file), &failure);
        assert_true(json_tree_equal(json_tree_member(before, "DataModel"),
                                    json_tree_member(after, "DataModel")));
    }
}

static void templates_beside_the_keys_are_entities(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'ModelMetadata':{'Version':'2.0'},'DataModel':[{'TableName':'tab','BillingMode':"
        "'PAY_PER_REQUEST','KeyAttributes':{'PartitionKey':{'AttributeName':'p','AttributeType':"
        "'S','MapFunction':{'Room':'ROOM#${room}'}},'SortKey':{'AttributeName':'s','AttributeType':"
        "'S','MapFunction':{'Room':'INFO','Message':'${time}#${room}','Bad':'${a}${b}'}}},"
        "'GlobalSecondaryIndexes':[{'IndexName':'idx','KeyAttributes':{'PartitionKey':"
        "{'AttributeName':'g','AttributeType':'S','MapFunction':{'Message':'${user}'}}}}]}]}",
        &report);
    assert_true(file->entities_are_derived);
    assert_int_equal(file->entity_count, 2);
    const struct model_entity *message = model_file_entity(file, BYTES("Message"));
    const struct model_entity_key *key = model_entity_key(message, (struct bytes){ 0 });
    const struct model_entity_key *index = model_entity_key(message, BYTES("idx"));
    assert_true(key->has_range && !key->has_hash);
    assert_true(key_template_matches(&key->range, BYTES("12:00#lobby")));
    assert_true(index->has_hash && key_template_matches(&index->hash, BYTES("ann")));
    key = model_entity_key(model_file_entity(file, BYTES("Room")), (struct bytes){ 0 });
    assert_true(key->has_hash && key->has_range);
    assert_true(key_template_matches(&key->hash, BYTES("ROOM#1")));
    bool noted = false; /* What is no template of ours does not make the file unreadable. */
    for (size_t i = 0; i < report.note_count; i++)
        noted = noted || bytes_equal_text(report.notes[i].place, "ModelSchema or MapFunction");
    assert_true(noted);
}

static void of_rows_with_the_same_key_the_last_one_wins(void **state)
{
    struct model_report report;
    struct model_file *file =
        load(*state,
             "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab','BillingMode':"
             "'PAY_PER_REQUEST'," KEYS
             ",'TableFacets':[{'FacetName':'A','TableData':[{'p':{'S':'1'},'v':{'N':'1'}},"
             "{'p':{'S':'2'}}]},{'FacetName':'B','TableData':[{'p':{'S':'1'},'v':{'N':'2'}},"
             "{'q':{'S':'1'}}]}]}]}",
             &report);
    assert_int_equal(file->tables[0].row_count, 2);
    assert_true(bytes_equal(json_tree_text(*state, file->tables[0].rows[1]),
                            quoted(*state, "{'p':{'S':'1'},'v':{'N':'2'}}")));
    assert_true(has_note(&report, "DataModel[0].TableFacets[0].TableData[0]",
                         "a later row has the same key, and replaces this one"));
    assert_true(has_note(&report, "DataModel[0].TableFacets[1].TableData[1]",
                         "the row lacks a key attribute, and is left out"));
}

static const struct {
    const char *text, *failure;
} refused[] = {
    { "{'a':", "the file: it is not JSON: the text ends too early, at byte 5" },
    { "[]", "the file is not a JSON object" },
    { "{}", "the file is no model: it has neither DataModel (NoSQL Workbench), tables (AWS's MCP "
            "server), models and indexes (OneTable) nor KeySchema (a table)" },
    { "{'ModelMetadata':{'AWSService':'Amazon Keyspaces'},'DataModel':[]}",
      "ModelMetadata: the model is for Amazon Keyspaces; only Amazon DynamoDB is supported" },
    { "{'DataModel':[{}]}", "DataModel[0]: TableName is missing, empty or longer than 255 bytes" },
    { "{'DataModel':[{'TableName':'tab'}]}",
      "DataModel[0]: there is no KeyAttributes.PartitionKey" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "},{'TableName':'tab'," KEYS "}]}",
      "DataModel[1]: there are two tables of the name tab" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P',"
      "'Operation':'Scan','CallsPerSecond':-1}]}}",
      "Stator.Patterns[0].CallsPerSecond: it is not from 0 to 1e+12" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P',"
      "'Operation':'Scan','CallsPerSecond':1e999}]}}",
      "Stator.Patterns[0].CallsPerSecond: it is not from 0 to 1e+12" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P',"
      "'Operation':'Scan','CallsPerSecond':1.1e12}]}}",
      "Stator.Patterns[0].CallsPerSecond: it is not from 0 to 1e+12" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Entities':[{'Name':'E','Keys':"
      "[{'PartitionKey':'<a><b>'}]}]}}",
      "Stator.Entities[0].Keys[0]: the template \"<a><b>\" has two parameters without text between "
      "them" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Entities':[{'Name':'E','Keys':"
      "[{'Index':'x','PartitionKey':'<a>'}]}]}}",
      "Stator.Entities[0].Keys[0]: the table tab has no index x" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P','Operation':"
      "'Find'}]}}",
      "Stator.Patterns[0]: Operation is GetItem, Query, Scan, PutItem, UpdateItem or DeleteItem" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P','Operation':"
      "'Query','SortKey':{'Near':'x'}}]}}",
      "Stator.Patterns[0].SortKey: it is Equals, BeginsWith, Between, LessThan, AtMost, "
      "GreaterThan or AtLeast" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Patterns':[{'Name':'P','Operation':"
      "'Query','Entities':['X']}]}}",
      "Stator.Patterns[0].Entities[0]: there is no such entity" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Tables':[{'TableName':'tab',"
      "'IndexThroughput':[{'IndexName':'x','ReadCapacityUnits':1}]}]}}",
      "Stator.Tables[0].IndexThroughput[0]: there is no such global index" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Tables':[{'TableName':'tab',"
      "'OtherIndexes':[1]}]}}",
      "Stator.Tables[0].OtherIndexes[0]: it is not a text" },
    { "{'DataModel':[{'TableName':'tab'," KEYS "}],'Stator':{'Tables':[{'TableName':'tab',"
      "'OtherIndexes':['x','x']}]}}",
      "Stator.Tables[0].OtherIndexes[1]: there are two indexes of the name x" },
    { "{'TableName':'t','AttributeDefinitions':[{'AttributeName':'a','AttributeType':'S'},"
      "{'AttributeName':'b','AttributeType':'S'}],'KeySchema':[{'AttributeName':'a','KeyType':"
      "'HASH'},{'AttributeName':'b','KeyType':'HASH'}]}",
      "a key of several attributes (\"b\") has no form in a model file" },
};

static void a_file_that_makes_no_sense_is_refused_with_a_sentence(void **state)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct model_report report;
        assert_null(model_file_load(*state, quoted(*state, refused[i].text), &report));
        if (!bytes_equal_text(report.failure, refused[i].failure))
            fail_msg("%s: %.*s", refused[i].text, BYTES_FMT(report.failure));
    }
}

static void a_table_definition_becomes_a_model(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'Table':{'TableName':'shop','AttributeDefinitions':[{'AttributeName':'p','AttributeType':"
        "'S'},{'AttributeName':'s','AttributeType':'N'}],'KeySchema':[{'AttributeName':'p',"
        "'KeyType':'HASH'}],'LocalSecondaryIndexes':[{'IndexName':'loc','KeySchema':"
        "[{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],"
        "'Projection':{'ProjectionType':'KEYS_ONLY'}}],'ProvisionedThroughput':"
        "{'ReadCapacityUnits':7,'WriteCapacityUnits':8,'NumberOfDecreasesToday':0}}}",
        &report);
    const struct model_table *table = &file->tables[0];
    assert_true(bytes_equal_text(report.format, "a table's definition"));
    assert_true(table->provisioned && table->read_units == 7 && table->write_units == 8);
    assert_int_equal(table->index_count, 2);
    assert_true(table->indexes[1].local && table->indexes[1].range.type == VALUE_N);
    assert_int_equal(table->indexes[1].projection, PROJECTION_KEYS_ONLY);
    assert_non_null(json_tree_member(json_tree_member(table->node, "DataAccess"), "MySql"));
    assert_int_equal(report.note_count, 0);
}

static void an_index_with_a_key_of_several_attributes_is_left_out_but_for_its_name(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'TableName':'shop','AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'},"
        "{'AttributeName':'q','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"
        "'HASH'}],'GlobalSecondaryIndexes':[{'IndexName':'wide','KeySchema':[{'AttributeName':'p',"
        "'KeyType':'HASH'},{'AttributeName':'q','KeyType':'HASH'}],'Projection':"
        "{'ProjectionType':'ALL'}},{'IndexName':'plain','KeySchema':[{'AttributeName':'q',"
        "'KeyType':'HASH'}],'Projection':{'ProjectionType':'ALL'},'ProvisionedThroughput':"
        "{'ReadCapacityUnits':7,'WriteCapacityUnits':9}}],'ProvisionedThroughput':"
        "{'ReadCapacityUnits':7,'WriteCapacityUnits':8}}",
        &report);
    const struct model_table *table = &file->tables[0];
    assert_int_equal(table->index_count, 2);
    assert_int_equal(table->indexes[1].read_units, 7);
    assert_int_equal(table->indexes[1].write_units, 9);
    assert_true(model_table_has_other_index(table, BYTES("wide")));
    assert_false(model_table_has_other_index(table, BYTES("plain")));
    assert_true(has_note(&report, "GlobalSecondaryIndexes[0]",
                         "an index whose key has several attributes has no form in a model file, "
                         "and is left out but for its name"));
    file = model_file_load(*state, model_file_save(*state, file), &report);
    assert_true(model_table_has_other_index(&file->tables[0], BYTES("wide")));
    assert_int_equal(file->tables[0].indexes[1].write_units, 9);
}

static void the_model_of_the_mcp_server_is_read_with_its_commands(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'tables':[{'TableName':'T1','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'pk','AttributeType':'S'},{'AttributeName':'sk','AttributeType':'S'}],"
        "'KeySchema':[{'AttributeName':'pk','KeyType':'HASH'},{'AttributeName':'sk','KeyType':"
        "'RANGE'}]}],'items':{'T1':[{'PutRequest':{'Item':{'pk':{'S':'U#1'},'sk':{'S':'A'}}}}]},"
        "'access_patterns':[{'pattern':'1','description':'of a user','table':'T1','index':null,"
        "'dynamodb_operation':'Query','implementation':'aws dynamodb query --table-name T1 "
        "--key-condition-expression \\'#p = :p AND begins_with(sk, :s)\\' "
        "--expression-attribute-names \\'{\\\\\\'#p\\\\\\':\\\\\\'pk\\\\\\'}\\' "
        "--expression-attribute-values \\'{\\\\\\':p\\\\\\':{\\\\\\'S\\\\\\':\\\\\\'U#1\\\\\\'},"
        "\\\\\\':s\\\\\\':{\\\\\\'S\\\\\\':\\\\\\'A\\\\\\'}}\\''},"
        "{'pattern':'2','implementation':'aws s3 ls'}]}",
        &report);
    assert_int_equal(file->tables[0].row_count, 1);
    assert_int_equal(file->pattern_count, 1);
    const struct model_pattern *pattern = &file->patterns[0];
    assert_int_equal(pattern->operation, PATTERN_QUERY);
    assert_true(bytes_equal_text(pattern->hash.source, "U#1"));
    assert_int_equal(pattern->compare, PATTERN_BEGINS_WITH);
    assert_true(bytes_equal_text(pattern->range[0].source, "A"));
    assert_true(has_note(&report, "access_patterns[1]",
                         "the pattern's command is not understood: the pattern is left out"));
}

static void a_onetable_schema_gives_entities_with_templates(void **state)
{
    struct model_report report;
    struct model_file *file = load(
        *state,
        "{'version':'0.0.1','indexes':{'primary':{'hash':'pk','sort':'sk'},'gs1':{'hash':'gs1pk',"
        "'sort':'gs1sk','project':['name']}},'models':{'User':{'pk':{'type':'string','value':"
        "'account:${accountId}'},'sk':{'type':'string','value':'user:${email}'},'gs1pk':{'type':"
        "'string','value':'user:${email}'},'gs1sk':{'type':'string','value':'user:'},'name':"
        "{'type':'string','required':true},'age':{'type':'number'}}},'params':{'typeField':'t'}}",
        &report);
    assert_int_equal(file->entity_count, 1);
    const struct model_entity *user = &file->entities[0];
    const struct model_entity_key *key = model_entity_key(user, BYTES("gs1"));
    assert_true(bytes_equal_text(user->discriminator, "t"));
    assert_true(bytes_equal_text(user->discriminator_value, "User"));
    assert_non_null(key);
    assert_true(key_template_matches(&key->hash, BYTES("user:a@b.c")));
    assert_int_equal(user->attribute_count, 2);
    assert_true(user->attributes[0].required && user->attributes[1].type == VALUE_N);
    assert_int_equal(file->tables[0].indexes[1].projection, PROJECTION_INCLUDE);
}

static void the_bounds_of_a_file_hold(void **state)
{
    struct model_report report;
    struct buffer deep;
    buffer_init(&deep, *state);
    /* Repaired, it would be twice as deep. */
    buffer_append_bytes(&deep, quoted(*state, "{'DataModel':[{'TableName':'tab'," KEYS
                                              ",'TableData':[{'p':{'S':'1'},'v':"));
    for (int i = 0; i < 100; i++)
        buffer_append_byte(&deep, '[');
    for (int i = 0; i < 100; i++)
        buffer_append_byte(&deep, ']');
    buffer_append_bytes(&deep, BYTES("}]}]}"));
    assert_null(model_file_load(*state, buffer_bytes(&deep), &report));
    assert_true(bytes_equal_text(report.failure, "the file: values are nested too deeply"));

    struct buffer many;
    buffer_init(&many, *state);
    buffer_append_bytes(&many, quoted(*state, "{'DataModel':["));
    for (int i = 0; i <= MODEL_TABLES_MAX; i++)
        buffer_append_bytes(&many, i == 0 ? BYTES("{}") : BYTES(",{}"));
    buffer_append_bytes(&many, BYTES("]}"));
    assert_null(model_file_load(*state, buffer_bytes(&many), &report));
    assert_true(bytes_equal_text(report.failure, "DataModel: it has more than 100 elements"));
}

/* `head`, then `count` times `element` with commas and its number for %d, then `tail`. */
static struct bytes repeated(struct arena *arena, const char *head, const char *element, int count,
                             const char *tail)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, quoted(arena, head));
    for (int i = 0; i < count; i++) {
        if (i > 0)
            buffer_append_byte(&out, ',');
        for (const char *at = element; *at != '\0'; at++) {
            if (*at == '%')
                buffer_append_bytes(&out, arena_printf(arena, "%d", i));
            else
                buffer_append_byte(&out, (uint8_t)(*at == '\'' ? '"' : *at));
        }
    }
    buffer_append_bytes(&out, quoted(arena, tail));
    return buffer_bytes(&out);
}

#define DEFINED                                                                                    \
    "'AttributeDefinitions':[{'AttributeName':'p','AttributeType':'S'}],'KeySchema':"              \
    "[{'AttributeName':'p','KeyType':'HASH'}]"
#define ONETABLE "{'indexes':{'primary':{'hash':'p'}"

static const struct {
    const char *head, *element, *tail;
    int count_max;
    const char *failure;
} bounded[] = {
    { "{'tables':[],'access_patterns':[", "0", "]}", MODEL_PATTERNS_MAX,
      "access_patterns: it has more than 1000 elements" },
    { "{'tables':[", "{'TableName':'tab%'," DEFINED "}", "]}", MODEL_TABLES_MAX,
      "tables: it has more than 100 elements" },
    { "{'TableName':'tab'," DEFINED ",'GlobalSecondaryIndexes':[", "{'IndexName':'i%'," DEFINED "}",
      "]}", MODEL_INDEXES_MAX - 1, "GlobalSecondaryIndexes: it has more than 25 elements" },
    { ONETABLE ",", "'i%':{'hash':'p'}", "},'models':{'User':{'p':{'type':'string'}}}}",
      MODEL_INDEXES_MAX - 1, "indexes: it has more than 26 elements" },
    { ONETABLE "},'models':{", "'m%':{'p':{'type':'string'}}", "}}", MODEL_ENTITIES_MAX,
      "models: it has more than 200 elements" },
};

static void the_lists_of_other_forms_are_bounded_before_they_are_converted(void **state)
{
    for (size_t i = 0; i < COUNT_OF(bounded); i++) {
        struct model_report report;
        for (int more = 0; more <= 1; more++) {
            struct bytes text = repeated(*state, bounded[i].head, bounded[i].element,
                                         bounded[i].count_max + more, bounded[i].tail);
            const struct model_file *file = model_file_load(*state, text, &report);
            if (more == 0 && file == NULL)
                fail_msg("%s: %.*s", bounded[i].head, BYTES_FMT(report.failure));
            if (more == 1 &&
                (file != NULL || !bytes_equal_text(report.failure, bounded[i].failure)))
                fail_msg("%s: %.*s", bounded[i].head, BYTES_FMT(report.failure));
        }
        assert_int_equal(report.note_count, 0); /* Nothing was converted. */
    }
}

static void two_tables_of_a_name_do_not_both_get_its_items(void **state)
{
    struct model_report report;
    struct bytes text = repeated(*state, "{'tables':[", "{'TableName':'tab'," DEFINED "}", 2,
                                 "],'items':{'tab':[{'Item':{'p':{'S':'1'}}}]}}");
    assert_null(model_file_load(*state, text, &report));
    assert_true(bytes_equal_text(report.failure, "there are two tables of the name tab"));
}

static void a_noted_schema_with_too_many_indexes_is_left_out(void **state)
{
    struct model_report report;
    struct bytes text = repeated(
        *state,
        "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab','BillingMode':"
        "'PAY_PER_REQUEST'," KEYS "}],'ModelSchema':" ONETABLE ",",
        "'i%':{'hash':'p'}", MODEL_INDEXES_MAX, "},'models':{'User':{'p':{'type':'string'}}}}}");
    const struct model_file *file = model_file_load(*state, text, &report);
    assert_non_null(file);
    assert_int_equal(file->entity_count, 0);
    assert_int_equal(report.note_count, 1);
    assert_true(has_note(&report, "ModelSchema", "a schema has too many indexes, and is left out"));
}

static void notes_beyond_the_bound_are_counted(void **state)
{
    struct model_report report;
    const char *head = "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab',"
                       "'BillingMode':'PAY_PER_REQUEST'," KEYS ",'TableData':[";
    struct bytes text = repeated(*state, head, "{}", MODEL_NOTES_MAX + 2, "]}]}");
    assert_non_null(model_file_load(*state, text, &report));
    assert_int_equal(report.note_count, MODEL_NOTES_MAX);
    assert_int_equal(report.notes_dropped, 2);
    assert_true(has_note(&report, "DataModel[0].TableData[999]",
                         "the row lacks a key attribute, and is left out"));
}

/* A key is longer than a template may be. */
static void what_is_inferred_from_long_words_can_be_loaded(void **state)
{
    struct model_report report;
    struct bytes failure;
    struct model_file *file =
        load(*state,
             "{'ModelMetadata':{'Version':'3.0'},'DataModel':[{'TableName':'tab','BillingMode':"
             "'PAY_PER_REQUEST'," KEYS "}]}",
             &report);
    char word[KEY_TEMPLATE_SIZE_MAX + 1];
    memset(word, 'A', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    struct bytes text = arena_printf(*state, "[{\"p\":{\"S\":\"%s#1\"}}]", word);
    struct json_node *rows = json_tree_parse(*state, text, &failure);
    assert_non_null(rows);
    model_infer(*state, file, rows, false);
    file = model_file_load(*state, model_file_save(*state, file), &report);
    assert_non_null(file);
    assert_int_equal(file->entity_count, 1);
    assert_true(bytes_equal_text(file->entities[0].keys[0].hash.source, "<key*>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(files_of_all_versions_are_read_and_saved_as_3_0),
        ARENA_TEST(all_members_of_workbench_are_known_and_saved_as_they_were),
        ARENA_TEST(a_mark_of_the_encoding_is_no_part_of_the_file),
        ARENA_TEST(unknown_keys_stay_in_their_places),
        ARENA_TEST(values_that_are_not_dynamodbs_are_repaired_with_a_note),
        ARENA_TEST(what_is_odd_is_noted_and_kept),
        ARENA_TEST(templates_beside_the_keys_are_entities),
        ARENA_TEST(of_rows_with_the_same_key_the_last_one_wins),
        ARENA_TEST(a_file_that_makes_no_sense_is_refused_with_a_sentence),
        ARENA_TEST(a_table_definition_becomes_a_model),
        ARENA_TEST(an_index_with_a_key_of_several_attributes_is_left_out_but_for_its_name),
        ARENA_TEST(the_model_of_the_mcp_server_is_read_with_its_commands),
        ARENA_TEST(a_onetable_schema_gives_entities_with_templates),
        ARENA_TEST(the_bounds_of_a_file_hold),
        ARENA_TEST(the_lists_of_other_forms_are_bounded_before_they_are_converted),
        ARENA_TEST(two_tables_of_a_name_do_not_both_get_its_items),
        ARENA_TEST(a_noted_schema_with_too_many_indexes_is_left_out),
        ARENA_TEST(notes_beyond_the_bound_are_counted),
        ARENA_TEST(what_is_inferred_from_long_words_can_be_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
