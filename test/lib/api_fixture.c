/* api_fixture.c -- see api_fixture.h. */
#include "api_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include "api/operation.h"
#include "base/arena.h"
#include "control/control.h"
#include "engine/engine.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"

enum { FIXTURE_NOW_SECONDS = 1700000000, FIXTURE_ROLLOVER_MS = 4 * 60 * 60 * 1000 };

static void open_api(struct api_fixture *fixture)
{
    enum engine_status status;
    fixture->api = api_open(&fixture->options, &status);
    assert_non_null(fixture->api);
}

void api_fixture_open(struct api_fixture *fixture, int64_t transition_ms)
{
    api_fixture_open_with(fixture, &(struct api_options){ .transition_ms = transition_ms });
}

void api_fixture_open_on(struct api_fixture *fixture, struct engine *engine, int64_t transition_ms)
{
    api_fixture_open_with(
        fixture, &(struct api_options){ .engine = engine, .transition_ms = transition_ms });
}

void api_fixture_open_with(struct api_fixture *fixture, const struct api_options *options)
{
    *fixture = (struct api_fixture){ .options = *options,
                                     .clock = clock_fixed(FIXTURE_NOW_SECONDS * INT64_C(1000)),
                                     .arena = arena_create() };
    fixture->clock.commits = &fixture->commits;
    if (fixture->options.engine == NULL)
        fixture->options.engine = reference_engine_create();
    if (fixture->options.clock == NULL)
        fixture->options.clock = &fixture->clock;
    if (fixture->options.rollover_ms == 0)
        fixture->options.rollover_ms = FIXTURE_ROLLOVER_MS;
    if (fixture->options.region == NULL)
        fixture->options.region = "eu-west-1";
    if (fixture->options.account_id == NULL)
        fixture->options.account_id = "123456789012";
    fixture->engine = fixture->options.engine;
    open_api(fixture);
}

void api_fixture_restart(struct api_fixture *fixture, int64_t later_ms)
{
    api_close(fixture->api);
    fixture->commits = (struct commit_clock){ 0 }; /* What is in memory is gone. */
    fixture->clock.fixed_ms += later_ms;
    open_api(fixture);
}

void api_fixture_close(struct api_fixture *fixture)
{
    api_close(fixture->api);
    engine_close(fixture->engine);
    arena_destroy(fixture->arena);
}

/* A copy with real quotes. */
static struct bytes quoted(struct arena *arena, const char *text)
{
    size_t len = strlen(text);
    uint8_t *copy = arena_alloc(arena, len);
    for (size_t i = 0; i < len; i++)
        copy[i] = (uint8_t)(text[i] == '\'' ? '"' : text[i]);
    return bytes_of(copy, len);
}

struct waiting_call {
    struct api_call call;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    unsigned end_count;
    bool is_paused;
};

static void call_done(struct api_call *api_call)
{
    struct waiting_call *waiting =
        (struct waiting_call *)((char *)api_call - offsetof(struct waiting_call, call));
    pthread_mutex_lock(&waiting->mutex);
    waiting->end_count++;
    pthread_cond_signal(&waiting->ended);
    pthread_mutex_unlock(&waiting->mutex);
}

static void call_paused(struct api_call *api_call)
{
    struct waiting_call *waiting =
        (struct waiting_call *)((char *)api_call - offsetof(struct waiting_call, call));
    assert_false(waiting->is_paused);
    waiting->is_paused = true;
}

static void run_slices(struct api_fixture *fixture, struct waiting_call *waiting)
{
    fixture->pause_count = 0;
    while (waiting->is_paused) {
        waiting->is_paused = false;
        fixture->pause_count++;
        if (fixture->between != NULL)
            fixture->between(fixture);
        if (fixture->cancels)
            api_cancel(&waiting->call);
        else
            api_resume(&waiting->call);
    }
}

bool api_fixture_call(struct api_fixture *fixture, const char *operation, const char *body)
{
    arena_reset(fixture->arena);
    struct waiting_call waiting = { .call = { .arena = fixture->arena,
                                              .operation =
                                                  operation_find_action(bytes_from_text(operation)),
                                              .body = quoted(fixture->arena, body),
                                              .caller = fixture->caller,
                                              .own_table_id = fixture->own_table_id,
                                              .paused = fixture->pauses ? call_paused : NULL,
                                              .done = call_done },
                                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .ended = PTHREAD_COND_INITIALIZER };
    assert_non_null(waiting.call.operation);
    api_run(fixture->api, &waiting.call);
    run_slices(fixture, &waiting);
    pthread_mutex_lock(&waiting.mutex);
    while (waiting.end_count == 0)
        pthread_cond_wait(&waiting.ended, &waiting.mutex);
    pthread_mutex_unlock(&waiting.mutex);
    assert_int_equal(waiting.end_count, 1);
    fixture->error = waiting.call.error;
    fixture->response = buffer_bytes(&waiting.call.response);
    fixture->is_cut = waiting.call.is_cut;
    fixture->delay_ms = waiting.call.delay_ms;
    return !error_is_set(&fixture->error);
}

void api_fixture_expect(struct api_fixture *fixture, const char *operation, const char *body,
                        const char *response)
{
    if (!api_fixture_call(fixture, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(fixture->error.message));
    if (!bytes_equal(fixture->response, quoted(fixture->arena, response)))
        fail_msg("%s %s\n got: %.*s\nwant: %s", operation, body, BYTES_FMT(fixture->response),
                 response);
}

void api_fixture_expect_error(struct api_fixture *fixture, const char *operation, const char *body,
                              enum error_code code, const char *message)
{
    if (api_fixture_call(fixture, operation, body))
        fail_msg("%s %s\n got: %.*s\nwant: %s", operation, body, BYTES_FMT(fixture->response),
                 message);
    if (fixture->error.code != code || !bytes_equal_text(fixture->error.message, message))
        fail_msg("%s %s\n got: %d %.*s\nwant: %d %s", operation, body, (int)fixture->error.code,
                 BYTES_FMT(fixture->error.message), (int)code, message);
}

bool api_fixture_shows(const struct api_fixture *fixture, const char *text)
{
    struct bytes sought = quoted(fixture->arena, text);
    return memmem(fixture->response.data, fixture->response.len, sought.data, sought.len) != NULL;
}

/* A policy that is stored on the control thread, as every change of a definition is. */
struct stored_policy {
    struct api_fixture *fixture;
    struct bytes table_name;
    const char *label;
    struct bytes text;
    bool is_done;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

static void store_policy(void *context)
{
    struct stored_policy *stored = context;
    struct arena *arena = arena_create();
    struct catalogue *catalogue = api_catalogue(stored->fixture->api);
    struct table *table = catalogue_find(catalogue, stored->table_name);
    assert_non_null(table);
    struct table_definition changed = *table_definition(table);
    struct resource_policy policy = { .text = stored->text, .revision = 1 };
    if (stored->label == NULL) {
        changed.resource_policy = policy;
    } else {
        changed.stream_policy = policy;
        changed.stream_policy_label = bytes_from_text(stored->label);
    }
    assert_int_equal(catalogue_update(catalogue, arena, &changed), ENGINE_OK);
    table_release(table);
    assert_int_equal(control_keep_policies(api_control(stored->fixture->api), arena), ENGINE_OK);
    arena_destroy(arena);
    pthread_mutex_lock(&stored->mutex);
    stored->is_done = true;
    pthread_cond_signal(&stored->changed);
    pthread_mutex_unlock(&stored->mutex);
}

void api_fixture_store_policy(struct api_fixture *fixture, struct bytes table_name,
                              const char *label, struct bytes text)
{
    struct stored_policy stored = { .fixture = fixture,
                                    .table_name = table_name,
                                    .label = label,
                                    .text = text,
                                    .mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .changed = PTHREAD_COND_INITIALIZER };
    struct control_task task = { .run = store_policy, .context = &stored };
    assert_true(control_submit(api_control(fixture->api), &task));
    pthread_mutex_lock(&stored.mutex);
    while (!stored.is_done)
        pthread_cond_wait(&stored.changed, &stored.mutex);
    pthread_mutex_unlock(&stored.mutex);
}
