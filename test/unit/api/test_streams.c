/* test_streams.c -- ListStreams, DescribeStream, GetShardIterator, GetRecords: their answers and
 * every message, with the time in the test's hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "item_fixture.h"
#include "log/change_record.h"
#include "log_fixture.h"
#include "stream/stream_definition.h"
#include "stream/stream_upkeep.h"
#include "stream/streams.h"

enum { TEXT_MAX = 8 * 1024, SHARDS = 4 };

static struct api_fixture db;

#define TABLE_ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define ARN TABLE_ARN "orders/stream/2023-11-14T22:13:20.000"
#define CREATE(name, view)                                                                         \
    "{'TableName':'" name "','AttributeDefinitions':["                                             \
    "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'N'}],"        \
    "'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"                                         \
    "{'AttributeName':'s','KeyType':'RANGE'}],'BillingMode':'PAY_PER_REQUEST',"                    \
    "'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'" view "'}}"
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

static int set_up(void **state)
{
    (void)state;
    api_fixture_open(&db, 0);
    assert_true(api_fixture_call(&db, "CreateTable", CREATE("orders", "NEW_AND_OLD_IMAGES")));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    return 0;
}

/* --- Reading --- */

static void call(const char *operation, const char *body)
{
    if (!api_fixture_call(&db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(db.error.message));
}

/* The text behind the nth `mark` of the last response, up to the next quote. Empty: there is none.
 */
static void take(const char *mark, size_t nth, char out[TEXT_MAX])
{
    const char *text = (const char *)db.response.data, *end = text + db.response.len;
    out[0] = '\0';
    for (size_t i = 0; text != NULL && i <= nth; i++) {
        text = memmem(text, (size_t)(end - text), mark, strlen(mark));
        text = text == NULL ? NULL : text + strlen(mark);
    }
    if (text == NULL)
        return;
    const char *quote = memchr(text, '"', (size_t)(end - text));
    assert_non_null(quote);
    size_t len = (size_t)(quote - text);
    assert_true(len < TEXT_MAX);
    memcpy(out, text, len);
    out[len] = '\0';
}

static void get_iterator(const char *arn, size_t shard, const char *type, char out[TEXT_MAX])
{
    char id[TEXT_MAX], body[TEXT_MAX * 3];
    snprintf(body, sizeof body, "{'StreamArn':'%s'}", arn);
    call("DescribeStream", body);
    take("\"ShardId\":\"", shard, id);
    snprintf(body, sizeof body, "{'StreamArn':'%s','ShardId':'%s','ShardIteratorType':'%s'}", arn,
             id, type);
    call("GetShardIterator", body);
    take("\"ShardIterator\":\"", 0, out);
}

static void get_records(const char *iterator, const char *more)
{
    char body[TEXT_MAX * 2];
    snprintf(body, sizeof body, "{'ShardIterator':'%s'%s}", iterator, more);
    call("GetRecords", body);
}

/* In one pass, for a page may hold a thousand of them, and without memmem, of which TSan thinks
 * that it always reads everything. */
static size_t count_of(const char *mark)
{
    const char *text = (const char *)db.response.data, *end = text + db.response.len;
    size_t count = 0, len = strlen(mark);
    while ((text = memchr(text, mark[0], (size_t)(end - text))) != NULL) {
        count += (size_t)(end - text) >= len && memcmp(text, mark, len) == 0;
        text++;
    }
    return count;
}

/* The iterator of the shard that has a record. The response of GetRecords is there afterwards. */
static void find_record(const char *arn, char iterator[TEXT_MAX])
{
    for (size_t shard = 0; shard < SHARDS; shard++) {
        get_iterator(arn, shard, "TRIM_HORIZON", iterator);
        get_records(iterator, "");
        if (count_of("\"eventName\":\"") > 0)
            return;
    }
    fail_msg("no shard has a record");
}

static void put(const char *table, const char *p, int n)
{
    char body[TEXT_MAX];
    snprintf(body, sizeof body,
             "{'TableName':'%s','Item':{'p':{'S':'%s'},'s':{'N':'1'},'n':{'N':'%d'}}}", table, p,
             n);
    call("PutItem", body);
}

/* What is due by the clock is done before a table is created. */
static void pass_time(int64_t ms)
{
    static int created;
    char body[TEXT_MAX];
    db.clock.fixed_ms += ms;
    snprintf(body, sizeof body,
             "{'TableName':'clock-%d','AttributeDefinitions':[{'AttributeName':'p',"
             "'AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'}],"
             "'BillingMode':'PAY_PER_REQUEST'}",
             created++);
    call("CreateTable", body);
}

/* --- Records --- */

#define KEYS "'Keys':{'p':{'S':'a'},'s':{'N':'1'}}"
#define ITEM(n) "{'n':{'N':'" n "'},'p':{'S':'a'},'s':{'N':'1'}}"

static void a_record_tells_all_of_a_change(void **state)
{
    (void)state;
    char iterator[TEXT_MAX];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    assert_true(api_fixture_shows(&db, "{'Records':[{'eventID':'"));
    assert_true(api_fixture_shows(
        &db, "','eventName':'INSERT','eventVersion':'1.1','eventSource':'aws:dynamodb',"
             "'awsRegion':'eu-west-1','dynamodb':{'ApproximateCreationDateTime':1700000000," KEYS
             ",'NewImage':" ITEM("1") ",'SequenceNumber':'1"));
    /* Keys: p a, s 1; image: the same and n 1. */
    assert_true(api_fixture_shows(
        &db, "','SizeBytes':13,'StreamViewType':'NEW_AND_OLD_IMAGES'}}],'NextShardIterator':'"));
    assert_false(api_fixture_shows(&db, "userIdentity"));
}

static const struct {
    const char *view;
    const char *insert, *modify, *remove; /* Behind "dynamodb" and the time. */
} views[] = {
    { "KEYS_ONLY", KEYS ",'SequenceNumber'", KEYS ",'SequenceNumber'", KEYS ",'SequenceNumber'" },
    { "NEW_IMAGE", KEYS ",'NewImage':" ITEM("1") ",'Seq", KEYS ",'NewImage':" ITEM("2") ",'Seq",
      KEYS ",'SequenceNumber'" },
    { "OLD_IMAGE", KEYS ",'SequenceNumber'", KEYS ",'OldImage':" ITEM("1") ",'Seq",
      KEYS ",'OldImage':" ITEM("2") ",'Seq" },
    { "NEW_AND_OLD_IMAGES", KEYS ",'NewImage':" ITEM("1") ",'Seq",
      KEYS ",'NewImage':" ITEM("2") ",'OldImage':" ITEM("1") ",'Seq",
      KEYS ",'OldImage':" ITEM("2") ",'Seq" },
};

static void each_view_type_shows_its_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(views); i++) {
        char body[TEXT_MAX], arn[TEXT_MAX], iterator[TEXT_MAX];
        snprintf(body, sizeof body, CREATE("%s", "%s"), views[i].view, views[i].view);
        call("CreateTable", body);
        take("\"LatestStreamArn\":\"", 0, arn);
        put(views[i].view, "a", 1);
        put(views[i].view, "a", 1); /* Changes nothing. */
        put(views[i].view, "a", 2);
        snprintf(body, sizeof body, "{'TableName':'%s','Key':{'p':{'S':'a'},'s':{'N':'1'}}}",
                 views[i].view);
        call("DeleteItem", body);
        call("DeleteItem", body);
        find_record(arn, iterator);
        assert_int_equal(count_of("\"eventName\":\""), 3);
        const char *const events[] = { views[i].insert, views[i].modify, views[i].remove };
        const char *const names[] = { "INSERT", "MODIFY", "REMOVE" };
        for (size_t e = 0; e < COUNT_OF(events); e++) {
            snprintf(body, sizeof body,
                     "'eventName':'%s','eventVersion':'1.1','eventSource':'aws:dynamodb',"
                     "'awsRegion':'eu-west-1','dynamodb':{'ApproximateCreationDateTime':"
                     "1700000000,%s",
                     names[e], events[e]);
            if (!api_fixture_shows(&db, body))
                fail_msg("%s %s: %.*s", views[i].view, names[e], BYTES_FMT(db.response));
        }
    }
}

/* As a time to live that has passed removes an item. */
static void a_removal_by_the_service_says_so(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], *place;
    get_iterator(ARN, 0, "TRIM_HORIZON", iterator);
    place = strstr(iterator, "|1|") + 3; /* The log and the partition, 16 digits each. */
    char log_id[17] = "", partition[17] = "";
    memcpy(log_id, place, 16);
    memcpy(partition, place + 16, 16);
    struct arena *arena = arena_create();
    struct change_record record = { .event = CHANGE_REMOVE,
                                    .by_service = true,
                                    .images = CHANGE_OLD_IMAGE,
                                    .old_image = item_fixture_read(arena, ITEM("1")) };
    assert_true(log_fixture_append(db.engine, arena, &db.clock, strtoull(log_id, NULL, 16),
                                   strtoull(partition, NULL, 16), &record));
    arena_destroy(arena);
    get_records(iterator, "");
    assert_true(api_fixture_shows(&db, "},'userIdentity':{'PrincipalId':'dynamodb.amazonaws.com',"
                                       "'Type':'Service'}}]"));
}

static void an_update_without_effect_is_no_record(void **state)
{
    (void)state;
    char iterator[TEXT_MAX];
    put("orders", "a", 1);
    call("UpdateItem", "{'TableName':'orders','Key':{'p':{'S':'a'},'s':{'N':'1'}},"
                       "'UpdateExpression':'SET n = :n',"
                       "'ExpressionAttributeValues':{':n':{'N':'1.0'}}}");
    find_record(ARN, iterator);
    assert_int_equal(count_of("\"eventName\":\""), 1);
}

/* --- Iterators --- */

static void pages_follow_one_another_by_their_iterators(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], sequence[TEXT_MAX], last[TEXT_MAX] = "";
    for (int n = 0; n < 7; n++)
        put("orders", "a", n);
    find_record(ARN, iterator);
    size_t read = 0;
    for (int page = 0; page < 4; page++) {
        get_records(iterator, ",'Limit':2");
        size_t count = count_of("\"eventName\":\"");
        assert_int_equal(count, page < 3 ? 2 : 1);
        for (size_t i = 0; i < count; i++) {
            take("\"SequenceNumber\":\"", i, sequence);
            assert_true(strcmp(last, sequence) < 0);
            snprintf(last, sizeof last, "%s", sequence);
        }
        read += count;
        take("\"NextShardIterator\":\"", 0, iterator);
    }
    assert_int_equal(read, 7);
    get_records(iterator, "");
    assert_int_equal(count_of("\"eventName\":\""), 0);
    put("orders", "a", 100);
    get_records(iterator, "");
    assert_int_equal(count_of("\"eventName\":\""), 1);
}

static void a_page_holds_a_megabyte(void **state)
{
    (void)state;
    enum { BIG = 300 * 1024 };
    char iterator[TEXT_MAX];
    char *body = malloc(BIG + TEXT_MAX), *text = malloc(BIG + 1);
    memset(text, 'x', BIG);
    text[BIG] = '\0';
    for (int n = 0; n < 4; n++) { /* One of 300 KB, then three of 600 with both images. */
        snprintf(body, BIG + TEXT_MAX,
                 "{'TableName':'orders','Item':{'p':{'S':'a'},'s':{'N':'1'},'n':{'N':'%d'},"
                 "'x':{'S':'%s'}}}",
                 n, text);
        call("PutItem", body);
    }
    free(text);
    free(body);
    find_record(ARN, iterator);
    const size_t pages[] = { 2, 1, 1, 0 };
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        get_records(iterator, "");
        assert_int_equal(count_of("\"eventName\":\""), pages[i]);
        take("\"NextShardIterator\":\"", 0, iterator);
    }
}

static void a_thousand_records_are_a_page(void **state)
{
    (void)state;
    char iterator[TEXT_MAX];
    for (int n = 0; n < 1001; n++)
        put("orders", "a", n);
    find_record(ARN, iterator);
    assert_int_equal(count_of("\"eventName\":\""), 1000);
    take("\"NextShardIterator\":\"", 0, iterator);
    get_records(iterator, "");
    assert_int_equal(count_of("\"eventName\":\""), 1);
}

static void iterators_begin_where_they_are_told_to(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], sequence[TEXT_MAX], start[TEXT_MAX], id[TEXT_MAX];
    char body[TEXT_MAX * 3];
    for (int n = 0; n < 3; n++)
        put("orders", "a", n);
    find_record(ARN, iterator);
    take("\"SequenceNumber\":\"", 1, sequence);
    const char *partition = sequence + 21; /* The shard has it in hexadecimal. */
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    for (size_t i = 0; i < SHARDS; i++) {
        take("\"StartingSequenceNumber\":\"", i, start);
        if (strcmp(start + 21, partition) == 0) {
            take("\"ShardId\":\"", i, id);
            break;
        }
    }
    const struct {
        const char *type, *sequence;
        size_t records;
    } cases[] = {
        { "TRIM_HORIZON", NULL, 3 },           { "LATEST", NULL, 0 },
        { "AT_SEQUENCE_NUMBER", sequence, 2 }, { "AFTER_SEQUENCE_NUMBER", sequence, 1 },
        { "AT_SEQUENCE_NUMBER", start, 3 },    { "AFTER_SEQUENCE_NUMBER", start, 3 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        snprintf(body, sizeof body,
                 "{'StreamArn':'" ARN "','ShardId':'%s','ShardIteratorType':'%s'%s%s%s}", id,
                 cases[i].type, cases[i].sequence == NULL ? "" : ",'SequenceNumber':'",
                 cases[i].sequence == NULL ? "" : cases[i].sequence,
                 cases[i].sequence == NULL ? "" : "'");
        call("GetShardIterator", body);
        take("\"ShardIterator\":\"", 0, iterator);
        get_records(iterator, "");
        assert_int_equal(count_of("\"eventName\":\""), cases[i].records);
    }
}

static void an_iterator_lives_for_fifteen_minutes(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], body[TEXT_MAX * 2];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    db.clock.fixed_ms += 15 * 60 * 1000;
    get_records(iterator, "");
    db.clock.fixed_ms += 1;
    snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);
    api_fixture_expect_error(&db, "GetRecords", body, ERROR_EXPIRED_ITERATOR,
                             "Shard iterator has expired");
}

static void an_iterator_does_not_age_with_the_wall_clock(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], body[TEXT_MAX * 2];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    db.clock.wall_ahead_ms = INT64_C(30) * 24 * 60 * 60 * 1000;
    get_records(iterator, "");
    db.clock.wall_ahead_ms = -db.clock.wall_ahead_ms;
    get_records(iterator, "");
    /* After a crash server time resumes a little earlier. */
    db.clock.fixed_ms -= 15 * 60 * 1000;
    get_records(iterator, "");
    /* Nobody could have made it so long before its time: it counts as expired, not as fresh. */
    db.clock.fixed_ms -= 1;
    snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);
    api_fixture_expect_error(&db, "GetRecords", body, ERROR_EXPIRED_ITERATOR,
                             "Shard iterator has expired");
}

static void an_iterator_survives_a_restart(void **state)
{
    (void)state;
    char iterator[TEXT_MAX];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    api_fixture_restart(&db, 1000);
    get_records(iterator, "");
    assert_int_equal(count_of("\"eventName\":\""), 1);
}

static void what_was_trimmed_cannot_be_read(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], sequence[TEXT_MAX], id[TEXT_MAX], body[TEXT_MAX * 3];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    take("\"SequenceNumber\":\"", 0, sequence);
    pass_time(DAY_MS - 10 * 60 * 1000);
    put("orders", "a", 2);
    size_t shard = 0;
    for (; shard < SHARDS; shard++) {
        get_iterator(ARN, shard, "TRIM_HORIZON", iterator);
        get_records(iterator, "");
        if (count_of("\"eventName\":\"") > 0)
            break;
    }
    pass_time(10 * 60 * 1000 + 1);
    snprintf(body, sizeof body, "{'ShardIterator':'%s'}", iterator);
    api_fixture_expect_error(&db, "GetRecords", body, ERROR_TRIMMED_DATA_ACCESS,
                             "The data you are trying to access has been trimmed");
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    take("\"ShardId\":\"", shard, id);
    snprintf(body, sizeof body,
             "{'StreamArn':'" ARN "','ShardId':'%s','ShardIteratorType':'AT_SEQUENCE_NUMBER',"
             "'SequenceNumber':'%s'}",
             id, sequence);
    api_fixture_expect_error(&db, "GetShardIterator", body, ERROR_TRIMMED_DATA_ACCESS,
                             "The data you are trying to access has been trimmed");
}

/* --- Shards --- */

static void a_closed_shard_ends_and_its_child_goes_on(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], parent[TEXT_MAX], child[TEXT_MAX], named[TEXT_MAX];
    char body[TEXT_MAX * 2];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    pass_time(4 * 60 * 60 * 1000);
    put("orders", "a", 2);
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    assert_int_equal(count_of("\"ShardId\":\""), 2 * SHARDS);
    assert_int_equal(count_of("\"EndingSequenceNumber\":\""), SHARDS);
    assert_int_equal(count_of("\"ParentShardId\":\""), SHARDS);
    size_t records = 0;
    for (size_t i = 0; i < 2 * SHARDS; i++) {
        get_iterator(ARN, i, "TRIM_HORIZON", iterator);
        get_records(iterator, "");
        records += count_of("\"eventName\":\"");
        assert_int_equal(count_of("\"NextShardIterator\":\""), i < SHARDS ? 0 : 1);
        get_iterator(ARN, i, "LATEST", iterator);
        get_records(iterator, "");
        assert_int_equal(count_of("\"eventName\":\""), 0);
        assert_int_equal(count_of("\"NextShardIterator\":\""), i < SHARDS ? 0 : 1);
    }
    assert_int_equal(records, 2);
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    take("\"ShardId\":\"", 1, parent);
    take("\"ShardId\":\"", SHARDS + 1, child);
    take("\"ParentShardId\":\"", 1, named);
    assert_string_equal(parent, named);
    snprintf(body, sizeof body,
             "{'StreamArn':'" ARN "','ShardFilter':{'Type':'CHILD_SHARDS','ShardId':'%s'}}",
             parent);
    call("DescribeStream", body);
    assert_int_equal(count_of("\"ShardId\":\""), 1);
    take("\"ShardId\":\"", 0, named);
    assert_string_equal(child, named);
}

static void shards_come_in_pages(void **state)
{
    (void)state;
    char last[TEXT_MAX] = "", body[TEXT_MAX * 2];
    size_t seen = 0;
    pass_time(4 * 60 * 60 * 1000);
    do {
        snprintf(body, sizeof body, "{'StreamArn':'" ARN "','Limit':3%s%s%s}",
                 last[0] == '\0' ? "" : ",'ExclusiveStartShardId':'", last,
                 last[0] == '\0' ? "" : "'");
        call("DescribeStream", body);
        seen += count_of("\"ShardId\":\"");
        take("\"LastEvaluatedShardId\":\"", 0, last);
    } while (last[0] != '\0');
    assert_int_equal(seen, 2 * SHARDS);
}

/* --- Streams --- */

static void a_stream_is_described(void **state)
{
    (void)state;
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    assert_true(api_fixture_shows(
        &db, "{'StreamDescription':{'StreamArn':'" ARN "','StreamLabel':'2023-11-14T22:13:20.000',"
             "'StreamStatus':'ENABLED','StreamViewType':'NEW_AND_OLD_IMAGES',"
             "'CreationRequestDateTime':1700000000,'TableName':'orders','KeySchema':["
             "{'AttributeName':'p','KeyType':'HASH'},{'AttributeName':'s','KeyType':'RANGE'}],"
             "'Shards':[{'ShardId':'shardId-00000001700000000000-0"));
    assert_int_equal(count_of("\"ShardId\":\""), SHARDS);
}

static void streams_are_listed_in_pages_and_by_table(void **state)
{
    (void)state;
    call("CreateTable", CREATE("alpha", "KEYS_ONLY"));
    call("CreateTable", CREATE("zulu", "KEYS_ONLY"));
    api_fixture_expect(&db, "ListStreams", "{'TableName':'orders'}",
                       "{'Streams':[{'StreamArn':'" ARN "','TableName':'orders',"
                       "'StreamLabel':'2023-11-14T22:13:20.000'}]}");
    api_fixture_expect(&db, "ListStreams", "{'TableName':'nobody'}", "{'Streams':[]}");
    call("ListStreams", "{}");
    assert_int_equal(count_of("\"StreamArn\":\""), 3);
    call("ListStreams", "{'Limit':2}");
    assert_int_equal(count_of("\"StreamArn\":\""), 2);
    assert_true(api_fixture_shows(&db, "'LastEvaluatedStreamArn':'" ARN "'}"));
    call("ListStreams", "{'Limit':2,'ExclusiveStartStreamArn':'" ARN "'}");
    assert_int_equal(count_of("\"StreamArn\":\""), 1);
    assert_int_equal(count_of("\"LastEvaluatedStreamArn\":\""), 0);
    assert_true(api_fixture_shows(&db, "'TableName':'zulu'"));
}

static void a_disabled_stream_is_readable_and_a_new_one_has_another_arn(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], arn[TEXT_MAX];
    put("orders", "a", 1);
    call("UpdateTable", "{'TableName':'orders','StreamSpecification':{'StreamEnabled':false}}");
    assert_false(api_fixture_shows(&db, "'StreamSpecification'"));
    assert_true(api_fixture_shows(&db, "'LatestStreamArn':'" ARN "'"));
    put("orders", "a", 2);
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    assert_true(api_fixture_shows(&db, "'StreamStatus':'DISABLED'"));
    assert_int_equal(count_of("\"EndingSequenceNumber\":\""), SHARDS);
    call("UpdateTable", "{'TableName':'orders','StreamSpecification':"
                        "{'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'}}");
    take("\"LatestStreamArn\":\"", 0, arn);
    assert_string_not_equal(arn, ARN);
    put("orders", "a", 3);
    find_record(ARN, iterator);
    assert_int_equal(count_of("\"eventName\":\""), 1);
    assert_int_equal(count_of("\"NextShardIterator\":\""), 0);
    find_record(arn, iterator);
    assert_int_equal(count_of("\"eventName\":\""), 1);
    assert_true(api_fixture_shows(&db, "'eventName':'MODIFY'"));
    call("ListStreams", "{'TableName':'orders'}");
    assert_int_equal(count_of("\"StreamArn\":\""), 2);
    pass_time(DAY_MS);
    call("ListStreams", "{'TableName':'orders'}");
    assert_int_equal(count_of("\"StreamArn\":\""), 1);
}

static void writers_in_the_way_of_a_change_are_no_transaction(void **state)
{
    static const char disable[] =
        "{'TableName':'orders','StreamSpecification':{'StreamEnabled':false}}";
    bool struck = true;
    (void)state;
    for (uint64_t nth = 1; struck; nth++) {
        api_fixture_close(&db);
        api_fixture_open_on(&db, failing_engine_create(reference_engine_create()), 0);
        call("CreateTable", CREATE("orders", "NEW_AND_OLD_IMAGES"));
        failing_engine_set(db.engine,
                           &(struct failing_engine_plan){ .call = nth, .status = ENGINE_BUSY });
        if (!api_fixture_call(&db, "UpdateTable", disable)) {
            assert_int_equal(db.error.code, ERROR_INTERNAL);
            assert_true(bytes_equal(db.error.message, BYTES("Internal server error")));
        }
        struck = failing_engine_struck(db.engine);
        failing_engine_set(db.engine, &(struct failing_engine_plan){ 0 });
        put("orders", "a", 1);
    }
}

static void the_stream_of_a_deleted_table_stays_for_a_day(void **state)
{
    (void)state;
    char iterator[TEXT_MAX];
    put("orders", "a", 1);
    call("DeleteTable", "{'TableName':'orders'}");
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    assert_true(api_fixture_shows(&db, "'StreamStatus':'DISABLED'"));
    find_record(ARN, iterator);
    call("CreateTable", CREATE("orders", "KEYS_ONLY")); /* Not the same stream. */
    call("ListStreams", "{'TableName':'orders'}");
    assert_int_equal(count_of("\"StreamArn\":\""), 2);
    pass_time(DAY_MS);
    api_fixture_expect_error(&db, "DescribeStream", "{'StreamArn':'" ARN "'}",
                             ERROR_RESOURCE_NOT_FOUND,
                             "Requested resource not found: Stream: " ARN " not found");
}

/* --- Refusals --- */

#define OTHER_ARN TABLE_ARN "nobody/stream/2023-11-14T22:13:20.000"
#define SHARD "shardId-00000001414576573621-f55eea83"
#define ITERATOR(rest) "{'StreamArn':'" ARN "','ShardId':'" SHARD "'," rest "}"
#define ONE "1 validation error detected: "
#define VALUE(value, name, rest)                                                                   \
    "Value '" value "' at '" name "' failed to satisfy constraint: Member must " rest
#define UPDATE(rest) "{'TableName':'orders','StreamSpecification':{" rest "}}"

static const struct {
    const char *operation, *body;
    enum error_code code;
    const char *message;
} refused[] = {
    { "ListStreams", "{'Limit':0}", ERROR_VALIDATION,
      ONE VALUE("0", "limit", "have value greater than or equal to 1") },
    { "ListStreams", "{'Limit':101}", ERROR_VALIDATION,
      "One or more parameter values were invalid: Limit cannot be greater than the maximum "
      "allowed size: 100" },
    { "ListStreams", "{'TableName':'ab'}", ERROR_VALIDATION,
      ONE VALUE("ab", "tableName", "have length greater than or equal to 3") },
    { "ListStreams", "{'ExclusiveStartStreamArn':'x'}", ERROR_VALIDATION,
      ONE VALUE("x", "exclusiveStartStreamArn", "have length greater than or equal to 37") },
    { "DescribeStream", "{}", ERROR_VALIDATION,
      ONE "Value null at 'streamArn' failed to satisfy constraint: Member must not be null" },
    { "DescribeStream", "{'StreamArn':'" OTHER_ARN "'}", ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found: Stream: " OTHER_ARN " not found" },
    { "DescribeStream", "{'StreamArn':'" ARN "','Limit':101}", ERROR_VALIDATION,
      "One or more parameter values were invalid: Limit cannot be greater than the maximum: 100" },
    { "DescribeStream", "{'StreamArn':'" ARN "','ExclusiveStartShardId':'x'}", ERROR_VALIDATION,
      ONE VALUE("x", "exclusiveStartShardId", "have length greater than or equal to 28") },
    { "DescribeStream", "{'StreamArn':'" ARN "','ShardFilter':{'Type':'X'}}", ERROR_VALIDATION,
      ONE VALUE("X", "shardFilter.type", "satisfy enum value set: [CHILD_SHARDS]") },
    { "GetShardIterator", ITERATOR("'ShardIteratorType':'X'"), ERROR_VALIDATION,
      ONE VALUE("X", "shardIteratorType",
                "satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, "
                "TRIM_HORIZON]") },
    { "GetShardIterator", ITERATOR("'ShardIteratorType':'LATEST'"), ERROR_RESOURCE_NOT_FOUND,
      "Requested resource not found: Shard does not exist" },
    { "GetShardIterator",
      "{'StreamArn':'" OTHER_ARN "','ShardId':'" SHARD "','ShardIteratorType':'LATEST'}",
      ERROR_RESOURCE_NOT_FOUND, "Requested resource not found: Stream: " OTHER_ARN " not found" },
    { "GetShardIterator", ITERATOR("'ShardIteratorType':'AT_SEQUENCE_NUMBER'"), ERROR_VALIDATION,
      "One or more parameter values were invalid: Invalid SequenceNumber" },
    { "GetShardIterator",
      ITERATOR("'ShardIteratorType':'LATEST','SequenceNumber':'000000000000000000001'"),
      ERROR_VALIDATION,
      "One or more parameter values were invalid: SequenceNumber should not be passed for this "
      "iterator type" },
    { "GetShardIterator", ITERATOR("'ShardIteratorType':'AT_SEQUENCE_NUMBER','SequenceNumber':'1'"),
      ERROR_VALIDATION,
      ONE VALUE("1", "sequenceNumber", "have length greater than or equal to 21") },
    { "GetRecords", "{'ShardIterator':''}", ERROR_VALIDATION,
      ONE VALUE("", "shardIterator", "have length greater than or equal to 1") },
    { "GetRecords", "{'ShardIterator':'x'}", ERROR_VALIDATION, "Invalid ShardIterator" },
    { "GetRecords", "{'ShardIterator':'x','Limit':0}", ERROR_VALIDATION,
      ONE VALUE("0", "limit", "have value greater than or equal to 1") },
    { "UpdateTable", UPDATE("'StreamEnabled':true,'StreamViewType':'KEYS_ONLY'"), ERROR_VALIDATION,
      "Table already has an enabled stream: TableName: orders" },
    { "UpdateTable", UPDATE("'StreamEnabled':true"), ERROR_VALIDATION,
      "One or more parameter values were invalid: If stream is being enabled then UpdateViewType "
      "is required" },
    { "UpdateTable", UPDATE("'StreamEnabled':false,'StreamViewType':'KEYS_ONLY'"), ERROR_VALIDATION,
      "One or more parameter values were invalid: If stream is being disabled, then UpdateViewType "
      "must not be specified" },
};

static void requests_are_refused_in_the_services_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        api_fixture_expect_error(&db, refused[i].operation, refused[i].body, refused[i].code,
                                 refused[i].message);
    call("UpdateTable", UPDATE("'StreamEnabled':false"));
    api_fixture_expect_error(&db, "UpdateTable", UPDATE("'StreamEnabled':false"), ERROR_VALIDATION,
                             "Table has no stream to disable: TableName: orders");
}

static void limits_and_sequence_numbers_have_bounds(void **state)
{
    (void)state;
    char iterator[TEXT_MAX], id[TEXT_MAX], body[TEXT_MAX * 3];
    put("orders", "a", 1);
    find_record(ARN, iterator);
    get_records(iterator, ",'Limit':1000");
    snprintf(body, sizeof body, "{'ShardIterator':'%s','Limit':1001}", iterator);
    api_fixture_expect_error(&db, "GetRecords", body, ERROR_VALIDATION,
                             "One or more parameter values were invalid: Limit should be less "
                             "than or equal to 1000");
    call("ListStreams", "{'Limit':100}");
    call("DescribeStream", "{'StreamArn':'" ARN "','Limit':100}");
    take("\"ShardId\":\"", 0, id);
    static const char *const others[] = { "000000000000000000000", "10000000000000000000000000000",
                                          "10000000000000000000199999999",
                                          "1999999999999999999900000000",
                                          "abcdefghijklmnopqrstuvwxyz" };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        snprintf(body, sizeof body,
                 "{'StreamArn':'" ARN "','ShardId':'%s','ShardIteratorType':"
                 "'AT_SEQUENCE_NUMBER','SequenceNumber':'%s'}",
                 id, others[i]);
        api_fixture_expect_error(&db, "GetShardIterator", body, ERROR_VALIDATION,
                                 "Invalid SequenceNumber for the shard");
    }
}

/* Splits the first partition in the store only: the server's list learns of it a moment later. */
static void split_in_the_store(uint64_t child)
{
    enum engine_status status;
    struct streams *streams = streams_open(db.engine, &db.clock, &status);
    struct stream_upkeep upkeep = { .engine = db.engine, .streams = streams };
    assert_int_equal(status, ENGINE_OK);
    const struct stream_definition *log = streams_at(streams, 0);
    status = stream_upkeep_split(&upkeep, db.arena, &db.clock, log, log->partitions[0], child);
    assert_int_equal(status, ENGINE_OK);
    streams_close(streams);
}

/* A client that has read a shard to its end asks for the children once. */
static void a_shard_that_was_split_never_shows_one_child_only(void **state)
{
    (void)state;
    enum { CHILD = 0x9999 };
    char parent[TEXT_MAX], child[TEXT_MAX], iterator[TEXT_MAX], body[TEXT_MAX * 3];
    call("DescribeStream", "{'StreamArn':'" ARN "'}");
    take("\"ShardId\":\"", 0, parent);
    split_in_the_store(CHILD);
    snprintf(body, sizeof body,
             "{'StreamArn':'" ARN "','ShardFilter':{'Type':'CHILD_SHARDS','ShardId':'%s'}}",
             parent);
    call("DescribeStream", body);
    assert_int_equal(count_of("\"ShardId\""), 2);
    take("\"ShardId\":\"", 1, child);
    assert_non_null(strstr(child, "00009999"));
    snprintf(body, sizeof body,
             "{'StreamArn':'" ARN "','ShardId':'%s','ShardIteratorType':'TRIM_HORIZON'}", child);
    call("GetShardIterator", body);
    take("\"ShardIterator\":\"", 0, iterator);
    get_records(iterator, "");
    assert_int_equal(count_of("NextShardIterator"), 1);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_record_tells_all_of_a_change),
        RULE(each_view_type_shows_its_images),
        RULE(a_removal_by_the_service_says_so),
        RULE(an_update_without_effect_is_no_record),
        RULE(pages_follow_one_another_by_their_iterators),
        RULE(a_page_holds_a_megabyte),
        RULE(a_thousand_records_are_a_page),
        RULE(iterators_begin_where_they_are_told_to),
        RULE(an_iterator_lives_for_fifteen_minutes),
        RULE(an_iterator_does_not_age_with_the_wall_clock),
        RULE(an_iterator_survives_a_restart),
        RULE(what_was_trimmed_cannot_be_read),
        RULE(a_closed_shard_ends_and_its_child_goes_on),
        RULE(a_shard_that_was_split_never_shows_one_child_only),
        RULE(shards_come_in_pages),
        RULE(a_stream_is_described),
        RULE(streams_are_listed_in_pages_and_by_table),
        RULE(a_disabled_stream_is_readable_and_a_new_one_has_another_arn),
        RULE(writers_in_the_way_of_a_change_are_no_transaction),
        RULE(the_stream_of_a_deleted_table_stays_for_a_day),
        RULE(requests_are_refused_in_the_services_words),
        RULE(limits_and_sequence_numbers_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
