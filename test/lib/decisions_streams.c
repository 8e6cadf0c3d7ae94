/* decisions_streams.c -- rows of the operations on streams and triggers.
 *
 * A trigger reads a stream on behalf of whoever added it, so AddTrigger asks for reading the stream
 * as well. The actions of triggers are stator's own.
 */
#include <stddef.h>
#include "decisions.h"

/* clang-format off */
#define OF_STREAM(stream) "{'StreamArn':'" ARN(stream) "'}"
#define OTHER_LABEL "2020-01-01T00:00:00.000"

const struct decision decisions_list_streams[] = {
    ASKS_ACCOUNT("{}", "ListStreams"),
    ASKS_ACCOUNT("{'TableName':'Tab'}", "ListStreams"),
    { NOTHING, NULL, NULL, "{'TableName':'Secret'}", NO("ListStreams", "*") },
    { NOTHING, NULL, NULL, "{'TableName':'Absent'}", NO("ListStreams", "*") },
    END,
};

const struct decision decisions_describe_stream[] = {
    ASKS(OF_STREAM(STREAM), "DescribeStream", STREAM, YES),
    ASKS(OF_STREAM("Absent/stream/" LABEL), "DescribeStream", "Absent/stream/" LABEL, NOT_FOUND),
    STREAM_POLICY(OF_STREAM(STREAM), "DescribeStream"),
    { NOTHING, NULL, NULL, OF_STREAM(SECRET_STREAM), NO("DescribeStream", SECRET_STREAM) },
    { NOTHING, NULL, NULL, OF_STREAM("Secret/stream/" OTHER_LABEL), NO("DescribeStream", "Secret/stream/" OTHER_LABEL) },
    { NOT_SECRET, NULL, NULL, OF_STREAM(SECRET_STREAM), DENIED("DescribeStream", SECRET_STREAM) },
    { NOT_SECRET, NULL, NULL, OF_STREAM("Secret/stream/" OTHER_LABEL), DENIED("DescribeStream", "Secret/stream/" OTHER_LABEL) },
    /* A table's right is none on its stream, and its policy is not the stream's. */
    { ONLY("*", "Tab"), NULL, NULL, OF_STREAM(STREAM), NO("DescribeStream", STREAM) },
    { ONLY("*", "Tab/stream/*"), NULL, NULL, OF_STREAM(STREAM), YES },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), NULL, OF_STREAM(STREAM), NO("DescribeStream", STREAM) },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, OF_STREAM(STREAM), YES },
    { ALL_DENY("*", "Tab"), NULL, NULL, OF_STREAM(STREAM), YES },
    { NOTHING, NULL, OF_RESOURCE("Deny", EVERYBODY, "*"), OF_STREAM(STREAM), NO("DescribeStream", STREAM) },
    /* Nor is the policy of a stream that of another one of the table. */
    { NOTHING, NULL, OF_RESOURCE("Allow", ALICE, "*"), OF_STREAM("Tab/stream/" OTHER_LABEL), NO("DescribeStream", "Tab/stream/" OTHER_LABEL) },
    { ALL, NULL, OF_RESOURCE("Deny", ALICE, "*"), OF_STREAM("Tab/stream/" OTHER_LABEL), NOT_FOUND },
    END,
};

#define ITERATOR(stream, shard) "{'StreamArn':'" ARN(stream) "','ShardId':'" shard "','ShardIteratorType':'TRIM_HORIZON'}"
#define OTHER_SHARD "shardId-00000001600000000000-00000001"

const struct decision decisions_get_shard_iterator[] = {
    ASKS(ITERATOR(STREAM, "<shard>"), "GetShardIterator", STREAM, YES),
    STREAM_POLICY(ITERATOR(STREAM, "<shard>"), "GetShardIterator"),
    { NOTHING, NULL, NULL, ITERATOR(SECRET_STREAM, "<secret_shard>"), NO("GetShardIterator", SECRET_STREAM) },
    { NOTHING, NULL, NULL, ITERATOR(SECRET_STREAM, OTHER_SHARD), NO("GetShardIterator", SECRET_STREAM) },
    { NOTHING, NULL, NULL, ITERATOR("Absent/stream/" LABEL, OTHER_SHARD), NO("GetShardIterator", "Absent/stream/" LABEL) },
    { NOT_SECRET, NULL, NULL, ITERATOR(SECRET_STREAM, "<secret_shard>"), DENIED("GetShardIterator", SECRET_STREAM) },
    { NOT_SECRET, NULL, NULL, ITERATOR(SECRET_STREAM, OTHER_SHARD), DENIED("GetShardIterator", SECRET_STREAM) },
    { ALLOW_ON("GetRecords", "*"), NULL, NULL, ITERATOR(STREAM, "<shard>"), NO("GetShardIterator", STREAM) },
    { ALL, NULL, NULL, ITERATOR(STREAM, OTHER_SHARD), NOT_FOUND },
    END,
};

#define RECORDS(iterator) "{'ShardIterator':'" iterator "'}"

const struct decision decisions_get_records[] = {
    ASKS(RECORDS("<iterator>"), "GetRecords", STREAM, SHOWS("'Records':[")),
    STREAM_POLICY(RECORDS("<iterator>"), "GetRecords"),
    /* Records have whole items. */
    { NAMED, NULL, NULL, RECORDS("<iterator>"), NO("GetRecords", STREAM) },
    { DENY_PAY, NULL, NULL, RECORDS("<iterator>"), DENIED("GetRecords", STREAM) },
    /* Having an iterator gives no right: it may come from somebody else. */
    { ONLY("*", STREAM), NULL, NULL, RECORDS("<secret_iterator>"), NO("GetRecords", SECRET_STREAM) },
    { NOT_SECRET, NULL, NULL, RECORDS("<secret_iterator>"), DENIED("GetRecords", SECRET_STREAM) },
    { ALLOW_ON("GetShardIterator", "*"), NULL, NULL, RECORDS("<iterator>"), NO("GetRecords", STREAM) },
    { ONLY("*", "Tab"), NULL, NULL, RECORDS("<iterator>"), NO("GetRecords", STREAM) },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), NULL, RECORDS("<iterator>"), NO("GetRecords", STREAM) },
    END,
};

/* --- Triggers --- */

#define ADD(table) IN(table, ",'Url':'http://127.0.0.1:9/f'")
#define READ_STREAM(stream) ONLY("GetRecords", stream) "," ONLY("GetShardIterator", stream) "," ONLY("DescribeStream", stream)
#define MAY_ADD(table, stream) ONLY("AddTrigger", table) "," READ_STREAM(stream)

const struct decision decisions_add_trigger[] = {
    { NOTHING, NULL, NULL, ADD("Tab"), NO("AddTrigger", "Tab") },
    { MAY_ADD("Tab", STREAM), NULL, NULL, ADD("Tab"), YES },
    { MAY_ADD("Tab", STREAM), NULL, NULL, ADD(ARN("Tab")), YES },
    { ALL, NULL, NULL, ADD("Tab"), YES },
    { ONLY("*", "Tab*"), NULL, NULL, ADD("Tab"), YES },
    { ALL_BUT_ACTION("AddTrigger"), NULL, NULL, ADD("Tab"), NO("AddTrigger", "Tab") },
    { ALL_BUT_RESOURCE("Tab"), NULL, NULL, ADD("Tab"), NO("AddTrigger", "Tab") },
    { ALL_DENY("AddTrigger", "Tab"), NULL, NULL, ADD("Tab"), DENIED("AddTrigger", "Tab") },
    { ALL_DENY("*", "Tab"), NULL, NULL, ADD("Tab"), DENIED("AddTrigger", "Tab") },
    { ALL_DENY("*", "*"), NULL, NULL, ADD("Tab"), DENIED("AddTrigger", "Tab") },
    { DENY_NOT_ACTION("*Trigger*"), NULL, NULL, ADD("Secret"), HIDES("'UUID'") },
    { ALLOW_ON("AddTrigger", "*"), NULL, NULL, ADD("Tab"), HIDES("'UUID'") },
    { ONLY("AddTrigger", "Tab"), NULL, NULL, ADD("Tab"), HIDES("'UUID'") },
    /* Each way to read the stream is needed. */
    { ALL_BUT_ACTION("GetRecords"), NULL, NULL, ADD("Tab"), NO("GetRecords", STREAM) },
    { ALL_BUT_ACTION("GetShardIterator"), NULL, NULL, ADD("Tab"), NO("GetShardIterator", STREAM) },
    { ALL_BUT_ACTION("DescribeStream"), NULL, NULL, ADD("Tab"), NO("DescribeStream", STREAM) },
    { ALL_DENY("GetRecords", STREAM), NULL, NULL, ADD("Tab"), DENIED("GetRecords", STREAM) },
    { ALL_DENY("GetShardIterator", STREAM), NULL, NULL, ADD("Tab"), DENIED("GetShardIterator", STREAM) },
    { ALL_DENY("DescribeStream", STREAM), NULL, NULL, ADD("Tab"), DENIED("DescribeStream", STREAM) },
    { ALL_DENY("GetRecords", "Tab/stream/*"), NULL, NULL, ADD("Tab"), DENIED("GetRecords", STREAM) },
    { ALL_DENY("*", "*/stream/*"), NULL, NULL, ADD("Tab"), HIDES("'UUID'") },
    { ALL_BUT_RESOURCE(STREAM), NULL, NULL, ADD("Tab"), HIDES("'UUID'") },
    { MAY_ADD("Tab", SECRET_STREAM), NULL, NULL, ADD("Tab"), HIDES("'UUID'") },
    { NAMED, NULL, NULL, ADD("Tab"), NO("GetRecords", STREAM) },
    { DENY_PAY, NULL, NULL, ADD("Tab"), DENIED("GetRecords", STREAM) },
    /* Resource policies of both. */
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "AddTrigger"), NULL, ADD("Tab"), DENIED_BY_RESOURCE("AddTrigger", "Tab") },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, ADD("Tab"), DENIED_BY_RESOURCE("AddTrigger", "Tab") },
    { ALL, OF_RESOURCE("Deny", NOT_BOB, "*"), NULL, ADD("Tab"), DENIED_BY_RESOURCE("AddTrigger", "Tab") },
    { ALL, NULL, OF_RESOURCE("Deny", EVERYBODY, "GetRecords"), ADD("Tab"), DENIED_BY_RESOURCE("GetRecords", STREAM) },
    { ALL, NULL, OF_RESOURCE("Deny", EVERYBODY, "GetShardIterator"), ADD("Tab"), DENIED_BY_RESOURCE("GetShardIterator", STREAM) },
    { ALL, NULL, OF_RESOURCE("Deny", ALICE, "DescribeStream"), ADD("Tab"), DENIED_BY_RESOURCE("DescribeStream", STREAM) },
    { ALL, NULL, OF_RESOURCE("Deny", BOB, "*"), ADD("Tab"), YES },
    { ALL, NULL, OF_RESOURCE("Deny", NOT_ALICE, "*"), ADD("Tab"), YES },
    { READ_STREAM(STREAM), OF_RESOURCE("Allow", ALICE, "AddTrigger"), NULL, ADD("Tab"), YES },
    { READ_STREAM(STREAM), OF_RESOURCE("Allow", BOB, "AddTrigger"), NULL, ADD("Tab"), NO("AddTrigger", "Tab") },
    { ONLY("AddTrigger", "Tab"), NULL, OF_RESOURCE("Allow", ALICE, "*"), ADD("Tab"), YES },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), OF_RESOURCE("Allow", ALICE, "*"), ADD("Tab"), YES },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "*"), NULL, ADD("Tab"), HIDES("'UUID'") },
    { NOTHING, NULL, OF_RESOURCE("Allow", ALICE, "*"), ADD("Tab"), NO("AddTrigger", "Tab") },
    /* The row of the attack. */
    { NOT_SECRET, NULL, NULL, ADD("Secret"), DENIED("AddTrigger", "Secret") },
    { ALL_DENY("*", "Secret"), NULL, NULL, ADD("Secret"), DENIED("AddTrigger", "Secret") },
    { ALL_BUT_RESOURCE("Secret*"), NULL, NULL, ADD("Secret"), NO("AddTrigger", "Secret") },
    STRANGER(ADD("Secret"), ADD("Absent"), "AddTrigger"),
    { ONLY("AddTrigger", "Absent"), NULL, NULL, ADD("Absent"), NOT_FOUND },
    { ALL, NULL, NULL, ADD("Plain"), INVALID },
    { NOTHING, NULL, NULL, ADD("Plain"), NO("AddTrigger", "Plain") },
    { TAGGED("red"), NULL, NULL, ADD("Tab"), NO("AddTrigger", "Tab") },
    { DENY_TAGGED("blue"), NULL, NULL, ADD("Tab"), DENIED("AddTrigger", "Tab") },
    END,
};

const struct decision decisions_list_triggers[] = {
    { ALL, NULL, NULL, "{}", SHOWS("<trigger>") },
    { ALL, NULL, NULL, "{}", SHOWS("<secret_trigger>") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{}", SHOWS("<trigger>") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{}", HIDES("<secret_trigger>") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{}", HIDES("Secret") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{'TableName':'Tab'}", SHOWS("<trigger>") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{'TableName':'Secret'}", HIDES("<secret_trigger>") },
    { ONLY("ListTriggers", "Tab"), NULL, NULL, "{'TableName':'" ARN("Secret") "'}", HIDES("<secret_trigger>") },
    { NOTHING, NULL, NULL, "{}", HIDES("<trigger>") },
    { NOTHING, NULL, NULL, "{}", HIDES("<secret_trigger>") },
    { NOTHING, NULL, NULL, "{'TableName':'Tab'}", HIDES("<trigger>") },
    { NOT_SECRET, NULL, NULL, "{}", SHOWS("<trigger>") },
    { NOT_SECRET, NULL, NULL, "{}", HIDES("<secret_trigger>") },
    { NOT_SECRET, NULL, NULL, "{'TableName':'Secret'}", HIDES("<secret_trigger>") },
    { ALL_BUT_RESOURCE("Secret"), NULL, NULL, "{}", HIDES("<secret_trigger>") },
    { ALL_BUT_ACTION("ListTriggers"), NULL, NULL, "{}", HIDES("<trigger>") },
    { ALL_DENY("ListTriggers", "Tab"), NULL, NULL, "{}", HIDES("<trigger>") },
    { ALL_DENY("ListTriggers", "Tab"), NULL, NULL, "{}", SHOWS("<secret_trigger>") },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "ListTriggers"), NULL, "{}", HIDES("<trigger>") },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, "{'TableName':'Tab'}", HIDES("<trigger>") },
    { ALL, OF_RESOURCE("Deny", BOB, "*"), NULL, "{}", SHOWS("<trigger>") },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "ListTriggers"), NULL, "{'TableName':'Tab'}", SHOWS("<trigger>") },
    { NOTHING, OF_RESOURCE("Allow", BOB, "ListTriggers"), NULL, "{'TableName':'Tab'}", HIDES("<trigger>") },
    { TAGGED("red"), NULL, NULL, "{'TableName':'Tab'}", HIDES("<trigger>") },
    /* No secrets of a URL, not even to those who may see the trigger. */
    { ALL, NULL, NULL, "{}", HIDES("topsecret") },
    { ALL, NULL, NULL, "{'TableName':'Secret'}", HIDES("topsecret") },
    { ALL, NULL, NULL, "{'TableName':'Secret'}", SHOWS("http://127.0.0.1:9/f'") },
    END,
};

#define REMOVE(uuid) "{'UUID':'" uuid "'}"
#define NO_TRIGGER "00000000-0000-4000-8000-000000000000"

const struct decision decisions_remove_trigger[] = {
    { ONLY("RemoveTrigger", "Tab"), NULL, NULL, REMOVE("<trigger>"), YES },
    { ALL, NULL, NULL, REMOVE("<trigger>"), YES },
    { NOT_SECRET, NULL, NULL, REMOVE("<trigger>"), YES },
    { DENY_NOT_RESOURCE("Tab"), NULL, NULL, REMOVE("<trigger>"), YES },
    { ALL, NULL, NULL, REMOVE(NO_TRIGGER), NOT_FOUND },
    { NOTHING, OF_RESOURCE("Allow", ALICE, "RemoveTrigger"), NULL, REMOVE("<trigger>"), YES },
    { ALL, OF_RESOURCE("Deny", NOT_ALICE, "*"), NULL, REMOVE("<trigger>"), YES },
    /* A trigger of a table that is none of the caller's business is like no trigger. */
    { NOTHING, NULL, NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { NOTHING, NULL, NULL, REMOVE("<secret_trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ONLY("RemoveTrigger", "Tab"), NULL, NULL, REMOVE("<secret_trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { NOT_SECRET, NULL, NULL, REMOVE("<secret_trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL_BUT_RESOURCE("Secret"), NULL, NULL, REMOVE("<secret_trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL_BUT_ACTION("RemoveTrigger"), NULL, NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL_DENY("RemoveTrigger", "Tab"), NULL, NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL_DENY("*", "Secret"), NULL, NULL, REMOVE("<secret_trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "RemoveTrigger"), NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { ALL, OF_RESOURCE("Deny", EVERYBODY, "*"), NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { NOTHING, OF_RESOURCE("Allow", BOB, "RemoveTrigger"), NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    { TAGGED("red"), NULL, NULL, REMOVE("<trigger>"), LIKE(REMOVE(NO_TRIGGER)) },
    END,
};
/* clang-format on */
