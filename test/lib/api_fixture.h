/* api_fixture.h -- a database in memory and calls to it that wait for their answer.
 *
 * JSON is written with ' in place of ", for the reader's sake: bodies, responses and texts to look
 * for.
 */
#ifndef STATOR_TEST_API_FIXTURE_H
#define STATOR_TEST_API_FIXTURE_H
#include <stdbool.h>
#include <stdint.h>
#include "api/api.h"
#include "base/clock.h"
#include "base/commit_clock.h"
#include "model/error.h"

struct arena;

struct api_fixture {
    struct engine *engine;
    struct api *api;
    struct api_options options;
    const struct caller *caller; /* Of the calls; NULL: none. */
    struct bytes own_table_id;   /* Of the calls. */
    struct clock clock;          /* Stands still; a test without transitions may move `fixed_ms`. */
    struct commit_clock commits; /* Of the clock. */
    struct arena *arena;
    /* Calls that can pause do so as often as they can; what is between two slices, or NULL. */
    bool pauses;
    void (*between)(struct api_fixture *fixture);
    bool cancels; /* A paused call is cancelled. */
    /* Of the last call. */
    struct error error;
    struct bytes response;
    size_t pause_count;
    bool is_cut; /* By fault injection. */
    int64_t delay_ms;
};

/* On an empty reference engine. The owner calls api_fixture_close. */
void api_fixture_open(struct api_fixture *fixture, int64_t transition_ms);
/* On any engine, which it takes over. */
void api_fixture_open_on(struct api_fixture *fixture, struct engine *engine, int64_t transition_ms);
/* With other options. What is zero of engine, clock, region and account is as above. */
void api_fixture_open_with(struct api_fixture *fixture, const struct api_options *options);
void api_fixture_close(struct api_fixture *fixture);
/* Closes the database and opens it again `later_ms` later, on the same store. */
void api_fixture_restart(struct api_fixture *fixture, int64_t later_ms);

/* Calls and waits. True if it succeeded. Fails the test if the call ends twice. What the last call
 * answered is gone. */
bool api_fixture_call(struct api_fixture *fixture, const char *operation, const char *body);
/* Both fail the test, naming the request, unless the call ends as expected. */
void api_fixture_expect(struct api_fixture *fixture, const char *operation, const char *body,
                        const char *response);
void api_fixture_expect_error(struct api_fixture *fixture, const char *operation, const char *body,
                              enum error_code code, const char *message);
/* Does the last response hold this text? */
bool api_fixture_shows(const struct api_fixture *fixture, const char *text);

/* Gives a table, or its stream of that label (NULL: the table), a policy whatever it says, as an
 * earlier version may have stored it. */
void api_fixture_store_policy(struct api_fixture *fixture, struct bytes table_name,
                              const char *label, struct bytes text);

#endif
