/* access_fixture.h -- a database with a table, its index and stream, and a caller with the policy
 * of a test's choice.
 */
#ifndef STATOR_TEST_ACCESS_FIXTURE_H
#define STATOR_TEST_ACCESS_FIXTURE_H
#include <stdbool.h>
#include "api_fixture.h"
#include "auth/caller.h"

struct arena;
struct policy;

#define ARN "arn:aws:dynamodb:eu-west-1:123456789012:table/"
#define USER "arn:aws:iam::123456789012:user/alice"
#define KEY(name) "{'pk':{'S':'" name "'},'sk':{'N':'1'}}"
/* Quotes within statements are written ~. */
#define STATEMENT(text) "{'Statement':'" text "'}"
#define TRANSACTION(text) "{'TransactStatements':[{'Statement':'" text "'}]}"
#define STREAM_ARN ARN "Tab/stream/2026-11-15T00:00:00.000"
/* Of the stream that the table really has. */
#define LIVE_STREAM_ARN ARN "Tab/stream/2023-11-14T22:13:20.000"

enum { ACCESS_FIXTURE_TEXT_MAX = 500 };

struct access_fixture {
    struct api_fixture api;
    struct arena *arena;
    struct caller caller;
    const struct policy *policy;
    char stream_arn[ACCESS_FIXTURE_TEXT_MAX];
    char iterator[ACCESS_FIXTURE_TEXT_MAX]; /* Of the first shard of that stream. */
};

/* As cmocka has them; the state is the fixture. The table "Tab" has pk (S) and sk (N), a global
 * index "Ind" on g (S), a stream, and the tag team=blue. There is no caller yet. */
int access_fixture_set_up(void **state);
int access_fixture_tear_down(void **state);

/* From now on the caller is alice, who has just these statements. */
void access_fixture_use(struct access_fixture *fixture, const char *statements);
/* From now on there is no caller, and everything is allowed. */
void access_fixture_use_none(struct access_fixture *fixture);

/* A request's body with ~ for a single quote, which the fixture would make a double one, and @ for
 * the iterator. Lives until the policy changes. */
const char *access_fixture_body(struct access_fixture *fixture, const char *body);
/* Calls; true if the call is let through, however it ends. */
bool access_fixture_passes(struct access_fixture *fixture, const char *operation, const char *body);
/* Was the last call refused in these words? */
bool access_fixture_is_refused_with(struct access_fixture *fixture, const char *message);
/* Copies what stands behind a mark in the last response, up to the next quote. */
void access_fixture_take(const struct access_fixture *fixture, const char *mark,
                         char out[ACCESS_FIXTURE_TEXT_MAX]);

#endif
