/* test_kinesis_runner.c -- a destination from change to PutRecords, with Kinesis in the test's
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "base/arena.h"
#include "base/random.h"
#include "engine/engine.h"
#include "http/server.h"
#include "json/base64.h"
#include "json/reader.h"
#include "kinesis/kinesis_client.h"
#include "log/shard.h"
#include "reference_engine.h"
#include "scratch.h"

#define STREAM "arn:aws:kinesis:eu-west-1:123456789012:stream/changes"
#define THE_TABLE "'TableName':'orders'"
#define THE_STREAM THE_TABLE ",'StreamArn':'" STREAM "'"

enum { TEXT_MAX = 4096, TAKEN_MAX = 4096, BODY_MAX = 256 };

static struct api_fixture db;
static char directory[SCRATCH_PATH_MAX], key_file[SCRATCH_PATH_MAX];

/* What Kinesis was sent, and how it behaves. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t called;
    bool is_away;
    const char *exception; /* Of every call; NULL: none. */
    const char *summary;   /* What DescribeStreamSummary answers; NULL: ACTIVE. */
    unsigned refused_percent;
    struct random random;
    struct {
        char key[KINESIS_PARTITION_KEY_SIZE + 1];
        char text[TEXT_MAX];
    } taken[TAKEN_MAX];
    size_t count;
    size_t calls;
} kinesis = { .mutex = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER };

static struct bytes header_of(const struct outbound_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (bytes_equal_text(request->headers[i].name, name))
            return request->headers[i].value;
    return (struct bytes){ 0 };
}

static void take(struct bytes data, struct bytes key)
{
    size_t size;
    static uint8_t decoded[4 * 1024 * 1024];
    assert(kinesis.count < TAKEN_MAX && base64_decoded_max(data.len) <= sizeof decoded);
    bool ok = base64_decode(data, decoded, &size);
    assert(ok);
    snprintf(kinesis.taken[kinesis.count].text, TEXT_MAX, "%.*s", (int)size, (const char *)decoded);
    snprintf(kinesis.taken[kinesis.count++].key, KINESIS_PARTITION_KEY_SIZE + 1, "%.*s",
             BYTES_FMT(key));
}

/* Takes or refuses each record, and says so. */
static void put_records(struct arena *arena, struct bytes body, struct buffer *out)
{
    struct json_reader reader;
    struct bytes name, data = { 0 }, key = { 0 };
    size_t count = 0;
    json_reader_init(&reader, arena, body, 8);
    json_enter_object(&reader);
    buffer_append_bytes(out, BYTES("{\"FailedRecordCount\":0,\"Records\":["));
    while (json_next_member(&reader, &name)) {
        if (!bytes_equal_text(name, "Records")) {
            json_skip(&reader);
            continue;
        }
        for (json_enter_array(&reader); json_next_element(&reader); count++) {
            json_enter_object(&reader);
            while (json_next_member(&reader, &name)) {
                struct bytes *value = bytes_equal_text(name, "Data") ? &data : &key;
                bool ok = json_read_string(&reader, value);
                assert(ok);
            }
            bool refused = random_below(&kinesis.random, 100) < kinesis.refused_percent;
            if (!refused)
                take(data, key);
            if (count > 0)
                buffer_append_byte(out, ',');
            buffer_append_bytes(
                out, refused ? BYTES("{\"ErrorCode\":\"ProvisionedThroughputExceededException\"}")
                             : BYTES("{\"SequenceNumber\":\"1\",\"ShardId\":\"s\"}"));
        }
    }
    assert(json_finish(&reader) && count > 0 && count <= KINESIS_RECORDS_MAX);
    buffer_append_bytes(out, BYTES("]}"));
}

static enum outbound_result send_to_kinesis(struct outbound_client *client, struct arena *arena,
                                            const struct outbound_request *request,
                                            struct outbound_answer *answer)
{
    (void)client;
    bool describes = bytes_equal_text(header_of(request, "X-Amz-Target"),
                                      "Kinesis_20131202.DescribeStreamSummary");
    assert(bytes_equal_text(request->url, "http://kinesis:1/"));
    assert(bytes_starts_with(header_of(request, "Authorization"),
                             BYTES("AWS4-HMAC-SHA256 Credential=AKID/")));
    assert(bytes_starts_with(request->body, BYTES("{\"StreamName\":\"changes\"")));
    *answer = (struct outbound_answer){ .status = 200, .problem = BYTES("away") };
    buffer_init(&answer->head, arena);
    buffer_init(&answer->body, arena);
    pthread_mutex_lock(&kinesis.mutex);
    bool is_away = kinesis.is_away;
    if (kinesis.exception != NULL) {
        answer->status = 400;
        buffer_append_bytes(&answer->body,
                            arena_printf(arena, "{\"__type\":\"x#%s\"}", kinesis.exception));
    } else if (describes) {
        buffer_append_bytes(
            &answer->body,
            bytes_from_text(kinesis.summary != NULL
                                ? kinesis.summary
                                : "{\"StreamDescriptionSummary\":{\"StreamStatus\":\"ACTIVE\"}}"));
    } else if (!is_away) {
        put_records(arena, request->body, &answer->body);
    }
    kinesis.calls++;
    pthread_cond_broadcast(&kinesis.called);
    pthread_mutex_unlock(&kinesis.mutex);
    return is_away ? OUTBOUND_REFUSED : OUTBOUND_OK;
}

static void behave(bool is_away, const char *exception, const char *summary, unsigned percent)
{
    pthread_mutex_lock(&kinesis.mutex);
    kinesis.is_away = is_away;
    kinesis.exception = exception;
    kinesis.summary = summary;
    kinesis.refused_percent = percent;
    pthread_mutex_unlock(&kinesis.mutex);
}

static void await_taken(size_t count)
{
    pthread_mutex_lock(&kinesis.mutex);
    while (kinesis.count < count)
        pthread_cond_wait(&kinesis.called, &kinesis.mutex);
    pthread_mutex_unlock(&kinesis.mutex);
}

static void await_calls(size_t count)
{
    pthread_mutex_lock(&kinesis.mutex);
    for (size_t first = kinesis.calls; kinesis.calls < first + count;)
        pthread_cond_wait(&kinesis.called, &kinesis.mutex);
    pthread_mutex_unlock(&kinesis.mutex);
}

static struct kinesis_outside outside = { .send = send_to_kinesis,
                                          .endpoint = "http://kinesis:1/",
                                          .key_file = key_file };

static int set_up(void **state)
{
    (void)state;
    char message[OUTBOUND_MESSAGE_MAX];
    scratch_create(directory);
    scratch_join(key_file, directory, "credentials");
    FILE *file = fopen(key_file, "wb");
    assert_non_null(file);
    fputs("aws_access_key_id = AKID\naws_secret_access_key = secret\n", file);
    fclose(file);
    chmod(key_file, 0600);
    outside.network = outbound_open(&(struct outbound_options){ 0 }, message);
    assert_non_null(outside.network);
    outside.endpoint = "http://kinesis:1/";
    random_init(&kinesis.random, 4711);
    behave(false, NULL, NULL, 0);
    kinesis.count = kinesis.calls = 0;
    api_fixture_open_with(&db, &(struct api_options){ .engine = reference_engine_create(),
                                                      .kinesis_outside = &outside,
                                                      .kinesis_retention_ms = 3600000 });
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"
        "'HASH'}]}"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    api_fixture_close(&db);
    outbound_close(outside.network);
    scratch_destroy(directory);
    return 0;
}

/* Asks until the destination has that status. ListTriggers runs on the control thread, which looks
 * for due steps before it. */
static void await_status(const char *status)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"DestinationStatus\":\"%s\"", status);
    do {
        assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
        assert_true(
            api_fixture_call(&db, "DescribeKinesisStreamingDestination", "{" THE_TABLE "}"));
    } while (memmem(db.response.data, db.response.len, wanted, strlen(wanted)) == NULL);
}

static void expect_description(const char *text)
{
    char wanted[BODY_MAX];
    snprintf(wanted, sizeof wanted, "\"DestinationStatusDescription\":\"%s\"", text);
    assert_non_null(memmem(db.response.data, db.response.len, wanted, strlen(wanted)));
}

static void enable(const char *more)
{
    char body[BODY_MAX];
    snprintf(body, sizeof body, "{" THE_STREAM "%s}", more);
    assert_true(api_fixture_call(&db, "EnableKinesisStreamingDestination", body));
}

static void put(unsigned key, unsigned value)
{
    char body[BODY_MAX];
    snprintf(body, sizeof body, "{'TableName':'orders','Item':{'p':{'S':'k%u'},'v':{'N':'%u'}}}",
             key, value);
    assert_true(api_fixture_call(&db, "PutItem", body));
}

/* --- Rules --- */

static void a_record_is_what_the_service_sends(void **state)
{
    (void)state;
    enable(",'EnableKinesisStreamingConfiguration':"
           "{'ApproximateCreationDateTimePrecision':'MICROSECOND'}");
    await_status("ACTIVE");
    put(1, 1);
    put(1, 2);
    await_taken(2);
    static const char first[] = "{\"awsRegion\":\"eu-west-1\",\"eventID\":\"";
    static const char rest[] =
        "\",\"eventName\":\"MODIFY\",\"userIdentity\":null,\"recordFormat\":\"application/json\","
        "\"tableName\":\"orders\",\"dynamodb\":{\"ApproximateCreationDateTime\":";
    static const char images[] =
        "\"Keys\":{\"p\":{\"S\":\"k1\"}},\"NewImage\":{\"p\":{\"S\":\"k1\"},\"v\":{\"N\":\"2\"}},"
        "\"OldImage\":{\"p\":{\"S\":\"k1\"},\"v\":{\"N\":\"1\"}},\"SizeBytes\":15,"
        "\"ApproximateCreationDateTimePrecision\":\"MICROSECOND\"},"
        "\"eventSource\":\"aws:dynamodb\"}";
    const char *text = kinesis.taken[1].text;
    assert_memory_equal(text, first, sizeof first - 1);
    assert_non_null(strstr(text, rest));
    assert_string_equal(text + strlen(text) - (sizeof images - 1), images);
    assert_string_equal(kinesis.taken[0].key, kinesis.taken[1].key);
    assert_int_equal(strspn(kinesis.taken[0].key, "0123456789ABCDEF"), 32);
}

/* The number of the item's value in the new image. */
static unsigned value_of(size_t taken)
{
    const char *at = strstr(kinesis.taken[taken].text, "\"NewImage\":");
    assert_non_null(at);
    at = strstr(at, "\"v\":{\"N\":\"");
    assert_non_null(at);
    return (unsigned)strtoul(at + strlen("\"v\":{\"N\":\""), NULL, 10);
}

static unsigned key_of(size_t taken)
{
    const char *at = strstr(kinesis.taken[taken].text, "\"Keys\":{\"p\":{\"S\":\"k");
    assert_non_null(at);
    return (unsigned)strtoul(at + strlen("\"Keys\":{\"p\":{\"S\":\"k"), NULL, 10);
}

/* The last copies of a key's records stand in the order of its changes, and none is missing. */
static void records_that_are_refused_are_sent_again_in_the_order_of_their_key(void **state)
{
    (void)state;
    enum { KEYS = 5, CHANGES = 40 };
    enable("");
    await_status("ACTIVE");
    behave(true, NULL, NULL, 10);
    for (unsigned value = 1; value <= CHANGES; value++)
        for (unsigned key = 0; key < KEYS; key++)
            put(key, value);
    behave(false, NULL, NULL, 10);
    size_t last[KEYS][CHANGES + 1];
    bool complete = false;
    while (!complete) { /* Until every value was taken. */
        await_calls(1);
        complete = true;
        pthread_mutex_lock(&kinesis.mutex);
        memset(last, 0, sizeof last);
        for (size_t i = 0; i < kinesis.count; i++)
            last[key_of(i)][value_of(i)] = i + 1;
        pthread_mutex_unlock(&kinesis.mutex);
        for (size_t key = 0; key < KEYS; key++)
            for (size_t value = 1; value <= CHANGES; value++)
                complete = complete && last[key][value] > (value == 1 ? 0 : last[key][value - 1]);
    }
    /* Not all of a batch is repeated for one record that is refused. */
    assert_true(kinesis.count < 4 * KEYS * CHANGES);
}

static void a_destination_goes_on_where_it_was_before_a_restart(void **state)
{
    (void)state;
    enable("");
    await_status("ACTIVE");
    put(1, 1);
    await_taken(1);
    behave(true, NULL, NULL, 0);
    put(1, 2);
    await_calls(1);
    api_fixture_restart(&db, 1000);
    behave(false, NULL, NULL, 0);
    put(1, 3);
    size_t count = 1;
    while (value_of(count - 1) != 3)
        await_taken(++count);
    for (size_t i = 1; i < count; i++)
        assert_true(value_of(i) >= value_of(i - 1));
    assert_int_equal(value_of(0), 1);
}

static void a_record_that_is_too_large_is_dropped_and_counted(void **state)
{
    (void)state;
    enum { SIZE = 396000 };
    char *body = malloc(2 * SIZE);
    assert_non_null(body);
    enable("");
    await_status("ACTIVE");
    for (int i = 0; i < 2; i++) { /* Each binary byte takes more than one in JSON. */
        int size =
            snprintf(body, 2 * SIZE, "{'TableName':'orders','Item':{'p':{'S':'k1'},'b':{'B':'");
        memset(body + size, i == 0 ? 'A' : 'B', SIZE / 3 * 4);
        snprintf(body + size + SIZE / 3 * 4, 32, "'}}}");
        assert_true(api_fixture_call(&db, "PutItem", body));
    }
    put(1, 7);
    await_taken(2);
    assert_non_null(strstr(kinesis.taken[0].text, "INSERT")); /* One image fits, two do not. */
    assert_non_null(strstr(kinesis.taken[1].text, "MODIFY"));
    free(body);
}

static void a_stream_that_cannot_be_used_fails_with_the_services_words(void **state)
{
    (void)state;
    behave(false, "ResourceNotFoundException", NULL, 0);
    enable("");
    await_status("ENABLE_FAILED");
    expect_description("User does not have a permission to use kinesis stream");
    behave(false, NULL, NULL, 0);
    enable("");
    await_status("ACTIVE");
}

static void without_an_endpoint_nobody_has_permission(void **state)
{
    (void)state;
    outside.endpoint = "";
    api_fixture_restart(&db, 1000);
    enable("");
    await_status("ENABLE_FAILED");
    expect_description("User does not have a permission to use kinesis stream");
}

static void a_destination_that_delivers_nothing_for_too_long_is_disabled(void **state)
{
    (void)state;
    enable("");
    await_status("ACTIVE");
    behave(true, NULL, NULL, 0);
    put(1, 1);
    await_calls(1);
    api_fixture_restart(&db, 3600001);
    await_status("DISABLED");
    expect_description("Records could not be delivered for too long");
}

/* All shards that are stored: how many, and which sequence numbers they begin with. */
struct shards {
    size_t count;
    uint64_t oldest, newest;
};

static struct shards find_shards(void)
{
    struct shards found = { .oldest = UINT64_MAX };
    struct engine_view *view;
    struct engine_place place;
    assert_int_equal(engine_view_open(db.engine, ENGINE_STRONG, &view), ENGINE_OK);
    for (const struct engine_place *after = NULL;
         engine_view_next_place(view, after, &place) == ENGINE_OK; after = &place) {
        struct engine_scan *scan;
        struct engine_entry entry;
        struct shard shard;
        assert_int_equal(engine_scan_open(view, &(struct engine_range){ .place = place }, &scan),
                         ENGINE_OK);
        while (engine_scan_next(scan, &entry) == ENGINE_OK) {
            if (place.space != ENGINE_SPACE_CHANGES ||
                !shard_open_entry(place.partition, &entry, &shard))
                continue;
            found.count++;
            found.oldest = shard.first < found.oldest ? shard.first : found.oldest;
            found.newest = shard.first > found.newest ? shard.first : found.newest;
        }
        engine_scan_close(scan);
    }
    engine_view_close(view);
    return found;
}

/* Nothing is written, yet the shards that are over go: each partition keeps the open one. */
static void empty_shards_are_trimmed_behind_an_idle_destination(void **state)
{
    (void)state;
    enum { ROLLOVERS = 4, ROLLOVER_MS = 4 * 60 * 60 * 1000, PAUSE_NS = 5 * 1000 * 1000 };
    enable("");
    await_status("ACTIVE");
    struct shards before = find_shards(), now = before;
    for (int i = 0; i < ROLLOVERS; i++) {
        api_fixture_restart(&db, ROLLOVER_MS);
        do { /* A start trims what the positions allow that were stored before. */
            nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
            api_fixture_restart(&db, 0);
            /* ListTriggers runs on the control thread, which looks for due steps before it. */
            assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
            now = find_shards();
        } while (now.oldest <= before.newest || now.count > before.count);
        assert_int_equal(now.count, before.count);
        before = now;
    }
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        RULE(a_record_is_what_the_service_sends),
        RULE(records_that_are_refused_are_sent_again_in_the_order_of_their_key),
        RULE(a_destination_goes_on_where_it_was_before_a_restart),
        RULE(a_record_that_is_too_large_is_dropped_and_counted),
        RULE(a_stream_that_cannot_be_used_fails_with_the_services_words),
        RULE(without_an_endpoint_nobody_has_permission),
        RULE(a_destination_that_delivers_nothing_for_too_long_is_disabled),
        RULE(empty_shards_are_trimmed_behind_an_idle_destination),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
