/* advice_fixture.h -- a database whose clock moves only where a test moves it, a table "Tab", and
 * what the adviser says about it.
 */
#ifndef STATOR_TEST_ADVICE_FIXTURE_H
#define STATOR_TEST_ADVICE_FIXTURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "api_fixture.h"

/* In the middle of a minute, so that the last one has settled. */
#define ADVICE_START_MS INT64_C(1790000130000)
#define ADVICE_MINUTE_MS INT64_C(60000)

/* CreateTable with the keys p and s, both S. */
#define TABLE_OF(name, mode, rest)                                                                 \
    "{'TableName':'" name "'," mode ",'AttributeDefinitions':["                                    \
    "{'AttributeName':'p','AttributeType':'S'},{'AttributeName':'s','AttributeType':'S'}" rest "}"
#define KEYS                                                                                       \
    "],'KeySchema':[{'AttributeName':'p','KeyType':'HASH'},"                                       \
    "{'AttributeName':'s','KeyType':'RANGE'}]"
#define ON_DEMAND "'BillingMode':'PAY_PER_REQUEST'"

extern struct api_fixture advice_db;

/* Returns 0, for a set-up. The owner calls api_fixture_close. */
int advice_open(struct api_options options);
/* Both fail the test unless the call succeeds. */
void advice_call(const char *operation, const char *body);
__attribute__((format(printf, 2, 3))) void advice_call_with(const char *operation,
                                                            const char *format, ...);
void advice_repeat(int times, const char *operation, const char *body);
void advice_create(void); /* Tab, on-demand. */
/* The item of the partition key "k" and that sort key, with a text of so many bytes. */
void advice_put(int key, size_t size);
void advice_move_clock(int64_t milliseconds);
/* With samples of each hour. */
void advice_pass_hours(int hours);

/* Fails the test unless the rule is reported, or is not. */
void advice_expect(const char *rule, bool wanted);
/* Fails the test unless the rule is among those that could not be applied, or is not. */
void advice_expect_unjudged(const char *rule, bool wanted);
/* Fails the test unless the last answer has this text. */
void advice_shows(const char *text);
/* The last test of a program: each rule that it expected was reported once, and absent once. */
void advice_every_rule_was_seen_both_ways(void **state);

#endif
