/* test_trigger_runner.c -- a trigger's thread from change to call, with the function and the time
 * in the test's hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "api_fixture.h"
#include "engine/engine.h"
#include "failing_engine.h"
#include "reference_engine.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "base/uuid.h"
#include "scratch.h"
#include "consumer/consumer_position.h"
#include "trigger/trigger_runner.h"
#include "trigger/triggers.h"

enum { TEXT_MAX = 4096, CALLS_MAX = 256 };

static struct api_fixture db;
static char directory[SCRATCH_PATH_MAX];

/* The function: what it was called with, and whether it is there. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t called;
    pthread_cond_t released;
    bool reachable;
    bool held; /* Calls do not end, whoever asks them to. */
    char events[CALLS_MAX][TEXT_MAX];
    size_t count;
} function = { .mutex = PTHREAD_MUTEX_INITIALIZER,
               .called = PTHREAD_COND_INITIALIZER,
               .released = PTHREAD_COND_INITIALIZER };

static enum outbound_result send_to_function(struct outbound_client *client, struct arena *arena,
                                             const struct outbound_request *request,
                                             struct outbound_answer *answer)
{
    (void)client;
    pthread_mutex_lock(&function.mutex);
    bool reachable = function.reachable;
    assert(function.count < CALLS_MAX && request->body.len < TEXT_MAX);
    snprintf(function.events[function.count++], TEXT_MAX, "%.*s", BYTES_FMT(request->body));
    pthread_cond_broadcast(&function.called);
    while (function.held)
        pthread_cond_wait(&function.released, &function.mutex);
    pthread_mutex_unlock(&function.mutex);
    *answer = (struct outbound_answer){ .status = 204, .problem = BYTES("away") };
    buffer_init(&answer->head, arena);
    buffer_init(&answer->body, arena);
    return reachable ? OUTBOUND_OK : OUTBOUND_REFUSED;
}

static void set_reachable(bool reachable)
{
    pthread_mutex_lock(&function.mutex);
    function.reachable = reachable;
    pthread_mutex_unlock(&function.mutex);
}

static void set_held(bool held)
{
    pthread_mutex_lock(&function.mutex);
    function.held = held;
    pthread_cond_broadcast(&function.released);
    pthread_mutex_unlock(&function.mutex);
}

static void await_calls(size_t count)
{
    pthread_mutex_lock(&function.mutex);
    while (function.count < count)
        pthread_cond_wait(&function.called, &function.mutex);
    pthread_mutex_unlock(&function.mutex);
}

/* Waits for the next call, from which on later ones are counted anew. */
static void await_call(char event[TEXT_MAX])
{
    pthread_mutex_lock(&function.mutex);
    while (function.count == 0)
        pthread_cond_wait(&function.called, &function.mutex);
    memcpy(event, function.events[0], TEXT_MAX);
    function.count = 0;
    pthread_mutex_unlock(&function.mutex);
}

static struct trigger_outside outside = { .send = send_to_function, .dead_letter_dir = directory };

static int set_up(void **state)
{
    (void)state;
    scratch_create(directory);
    char message[OUTBOUND_MESSAGE_MAX];
    outside.network = outbound_open(&(struct outbound_options){ 0 }, message);
    assert_non_null(outside.network);
    function.count = 0;
    set_held(false);
    set_reachable(true);
    api_fixture_open_with(
        &db, &(struct api_options){ .engine = failing_engine_create(reference_engine_create()),
                                    .trigger_outside = &outside });
    assert_true(api_fixture_call(
        &db, "CreateTable",
        "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST','AttributeDefinitions':["
        "{'AttributeName':'p','AttributeType':'S'}],'KeySchema':[{'AttributeName':'p','KeyType':"
        "'HASH'}],'StreamSpecification':{'StreamEnabled':true,'StreamViewType':'NEW_IMAGE'}}"));
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

static void put(const char *key)
{
    char body[TEXT_MAX];
    snprintf(body, sizeof body, "{'TableName':'orders','Item':{'p':{'S':'%s'}}}", key);
    assert_true(api_fixture_call(&db, "PutItem", body));
}

static void add_trigger(const char *more)
{
    char body[TEXT_MAX];
    snprintf(body, sizeof body, "{'TableName':'orders','Url':'http://h/f'%s}", more);
    assert_true(api_fixture_call(&db, "AddTrigger", body));
}

static void an_event_is_what_lambda_sends(void **state)
{
    (void)state;
    char event[TEXT_MAX];
    put("a");
    add_trigger("");
    await_call(event);
    static const char begin[] = "{\"Records\":[{\"eventID\":\"";
    static const char rest[] =
        "\",\"eventName\":\"INSERT\",\"eventVersion\":\"1.1\",\"eventSource\":\"aws:dynamodb\","
        "\"awsRegion\":\"eu-west-1\",\"dynamodb\":{\"ApproximateCreationDateTime\":1700000000,"
        "\"Keys\":{\"p\":{\"S\":\"a\"}},\"NewImage\":{\"p\":{\"S\":\"a\"}},\"SequenceNumber\":\"";
    static const char end[] =
        "\",\"SizeBytes\":4,\"StreamViewType\":\"NEW_IMAGE\"},\"eventSourceARN\":"
        "\"arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/"
        "2023-11-14T22:13:20.000\"}]}";
    assert_memory_equal(event, begin, sizeof begin - 1);
    assert_non_null(strstr(event, rest));
    assert_string_equal(event + strlen(event) - (sizeof end - 1), end);
}

static void a_trigger_goes_on_where_it_was_before_a_restart(void **state)
{
    (void)state;
    char event[TEXT_MAX];
    add_trigger("");
    put("a");
    await_call(event);
    assert_non_null(strstr(event, "\"Keys\":{\"p\":{\"S\":\"a\"}}"));
    /* The position is stored behind the call; a second one tells that it was. */
    put("a2");
    await_call(event);
    assert_non_null(strstr(event, "\"Keys\":{\"p\":{\"S\":\"a2\"}}"));
    api_fixture_restart(&db, 1000);
    put("b");
    await_call(event);
    assert_null(strstr(event, "\"Keys\":{\"p\":{\"S\":\"a\"}}"));
}

static size_t read_dead_letters(char out[TEXT_MAX])
{
    char path[SCRATCH_PATH_MAX];
    scratch_join(path, directory, "d");
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    size_t size = fread(out, 1, TEXT_MAX - 1, file);
    out[size] = '\0';
    fclose(file);
    return size;
}

static void a_record_that_is_too_old_becomes_a_dead_letter(void **state)
{
    (void)state;
    char event[TEXT_MAX], letters[TEXT_MAX];
    set_reachable(false);
    add_trigger(",'MaximumRecordAgeInSeconds':60,'DeadLetterFile':'d'");
    put("a");
    await_call(event);
    assert_int_equal(read_dead_letters(letters), 0);
    db.clock.fixed_ms += 60001;
    set_reachable(true);
    put("b"); /* Perhaps of another partition; it is young, and delivered. */
    do
        await_call(event);
    while (strstr(event, "\"Keys\":{\"p\":{\"S\":\"b\"}}") == NULL);
    while (read_dead_letters(letters) == 0 || strchr(letters, '\n') == NULL)
        api_fixture_call(&db, "ListTables", "{}");
    assert_non_null(strstr(letters, "\"condition\":\"RecordAgeExceeded\",\"failures\":0,"
                                    "\"timestamp\":1700000060.001,\"record\":{\"eventID\":"));
    assert_non_null(strstr(letters, "\"Keys\":{\"p\":{\"S\":\"a\"}}"));
}

/* --- Removal --- */

static bool remove_trigger(const char *uuid)
{
    char body[TEXT_MAX];
    snprintf(body, sizeof body, "{'UUID':'%s'}", uuid);
    return api_fixture_call(&db, "RemoveTrigger", body);
}

/* The UUID in the answer of AddTrigger. */
static void read_uuid(char uuid[UUID_TEXT_SIZE + 1])
{
    static const char name[] = "\"UUID\":\"";
    const char *at = memmem(db.response.data, db.response.len, name, sizeof name - 1);
    assert_non_null(at);
    snprintf(uuid, UUID_TEXT_SIZE + 1, "%s", at + sizeof name - 1);
}

/* How many records of triggers are stored: definitions and positions. */
static size_t count_records(void)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place = consumer_position_place };
    size_t count = 0;
    assert_int_equal(engine_view_open(db.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        count++;
    engine_scan_close(scan);
    engine_view_close(view);
    return count;
}

static void removing_a_trigger_does_not_wait_for_its_call_which_stores_no_position(void **state)
{
    (void)state;
    char uuid[UUID_TEXT_SIZE + 1];
    set_held(true);
    add_trigger("");
    read_uuid(uuid);
    put("a");
    await_calls(1);
    assert_true(remove_trigger(uuid)); /* While the function does not answer. */
    assert_int_equal(count_records(), 0);
    assert_false(remove_trigger(uuid));
    set_held(false); /* The call ends well, and the runner comes to store its position. */
    api_fixture_restart(&db, 1000); /* Waits for the runner. */
    assert_int_equal(count_records(), 0);
}

static void a_position_is_stored_while_there_is_a_trigger(void **state)
{
    (void)state;
    set_held(true);
    add_trigger("");
    put("a");
    await_calls(1);
    assert_int_equal(count_records(), 1);
    set_held(false);
    while (count_records() < 2)
        api_fixture_call(&db, "ListTables", "{}");
    api_fixture_restart(&db, 1000);
    assert_int_equal(count_records(), 2);
}

static void triggers_whose_threads_have_not_ended_count_towards_the_most_there_may_be(void **state)
{
    (void)state;
    char uuid[UUID_TEXT_SIZE + 1];
    set_held(true);
    put("a");
    for (size_t i = 0; i < TRIGGERS_MAX; i++)
        add_trigger("");
    read_uuid(uuid);
    await_calls(TRIGGERS_MAX);
    assert_true(remove_trigger(uuid));
    api_fixture_expect_error(&db, "AddTrigger", "{'TableName':'orders','Url':'http://h/f'}",
                             ERROR_LIMIT_EXCEEDED, "There may be 64 triggers at most");
    set_held(false);
    while (!api_fixture_call(&db, "AddTrigger", "{'TableName':'orders','Url':'http://h/f'}"))
        assert_int_equal(db.error.code, ERROR_LIMIT_EXCEEDED);
}

/* The reserve of the disk is for deletions. */
static void a_dead_letter_waits_until_the_disk_has_room(void **state)
{
    (void)state;
    char event[TEXT_MAX], letters[TEXT_MAX];
    failing_engine_set_health(db.engine, ENGINE_HEALTH_FULL);
    set_reachable(false);
    add_trigger(",'MaximumRecordAgeInSeconds':60,'DeadLetterFile':'d'");
    put("a");
    await_call(event);
    db.clock.fixed_ms += 60001;
    while (failing_engine_health_calls(db.engine) < 2) /* Then the first try was in vain. */
        api_fixture_call(&db, "ListTables", "{}");
    assert_int_equal(read_dead_letters(letters), 0);
    failing_engine_set_health(db.engine, ENGINE_HEALTH_OK);
    while (read_dead_letters(letters) == 0 || strchr(letters, '\n') == NULL)
        api_fixture_call(&db, "ListTables", "{}");
    assert_non_null(strstr(letters, "\"Keys\":{\"p\":{\"S\":\"a\"}}"));
}

/* The least position that is stored; `*count` positions are. */
static uint64_t least_position(size_t *count)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct engine_range range = { .place = consumer_position_place };
    struct consumer_position position;
    uint64_t least = UINT64_MAX;
    *count = 0;
    assert_int_equal(engine_view_open(db.engine, ENGINE_STRONG, &view), ENGINE_OK);
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (engine_scan_next(scan, &entry) == ENGINE_OK)
        if (consumer_position_open_entry(&entry, &position)) {
            least = position.next < least ? position.next : least;
            ++*count;
        }
    engine_scan_close(scan);
    engine_view_close(view);
    return least;
}

static void a_trigger_loses_no_record_while_nothing_is_written(void **state)
{
    (void)state;
    enum { ROLLOVERS = 12, ROLLOVER_MS = 4 * 60 * 60 * 1000 }; /* The first shards are trimmed. */
    char event[TEXT_MAX];
    size_t count;
    add_trigger(",'StartingPosition':'LATEST'");
    uint64_t first = least_position(&count);
    assert_true(count > 0);
    for (uint64_t i = 1; i <= ROLLOVERS; i++) {
        db.clock.fixed_ms += ROLLOVER_MS;
        while (least_position(&count) < first + i) /* An empty shard has one number. */
            assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
        assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
        assert_true(api_fixture_shows(&db, "'RecordsLost':0"));
    }
    put("a");
    await_call(event);
    assert_non_null(strstr(event, "\"Keys\":{\"p\":{\"S\":\"a\"}}"));
    assert_true(api_fixture_call(&db, "ListTriggers", "{}"));
    assert_true(api_fixture_shows(&db, "'RecordsLost':0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_event_is_what_lambda_sends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_trigger_goes_on_where_it_was_before_a_restart, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_record_that_is_too_old_becomes_a_dead_letter, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            removing_a_trigger_does_not_wait_for_its_call_which_stores_no_position, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_position_is_stored_while_there_is_a_trigger, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            triggers_whose_threads_have_not_ended_count_towards_the_most_there_may_be, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(a_dead_letter_waits_until_the_disk_has_room, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_trigger_loses_no_record_while_nothing_is_written, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
