/* advice_fixture.c -- see advice_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "advice_fixture.h"
#include "advice/advice.h"
#include "api/operation.h"
#include "cloudwatch/ticker.h"

enum { RULES_MAX = 64 };

struct api_fixture advice_db;

/* Which rules were expected, and how. */
static struct {
    const char *rule;
    bool seen[2];
} rules[RULES_MAX];

void advice_call(const char *operation, const char *body)
{
    if (!api_fixture_call(&advice_db, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(advice_db.error.message));
}

void advice_call_with(const char *operation, const char *format, ...)
{
    static char body[512 * 1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(body, sizeof body, format, arguments);
    va_end(arguments);
    advice_call(operation, body);
}

void advice_move_clock(int64_t milliseconds)
{
    atomic_fetch_add(&advice_db.clock.fixed_ms, milliseconds);
    ticker_run(api_ticker(advice_db.api));
}

int advice_open(struct api_options options)
{
    options.advice_shapes = options.advice_shapes == 0 ? 512 : options.advice_shapes;
    api_fixture_open_with(&advice_db, &options);
    atomic_store(&advice_db.clock.fixed_ms, ADVICE_START_MS);
    api_fixture_restart(&advice_db, 0);
    return 0;
}

void advice_create(void)
{
    advice_call("CreateTable", TABLE_OF("Tab", ON_DEMAND, KEYS));
}

void advice_put(int key, size_t size)
{
    static char filler[400 * 1024];
    memset(filler, 'x', size);
    filler[size] = '\0';
    advice_call_with("PutItem",
                     "{'TableName':'Tab','Item':{'p':{'S':'k'},'s':{'S':'%06d'},'b':{'S':'%s'}}}",
                     key, filler);
}

/* --- What is advised --- */

static bool advises(const char *rule)
{
    char text[128];
    advice_call("GetAdvice", "{}");
    snprintf(text, sizeof text, "{'Rule':'%s','Severity'", rule);
    return api_fixture_shows(&advice_db, text);
}

static void note_expected(const char *rule, bool wanted)
{
    size_t i = 0;
    while (i < RULES_MAX && rules[i].rule != NULL && strcmp(rules[i].rule, rule) != 0)
        i++;
    assert_true(i < RULES_MAX);
    rules[i].rule = rule;
    rules[i].seen[wanted] = true;
}

void advice_every_rule_was_seen_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < RULES_MAX && rules[i].rule != NULL; i++) {
        if (!rules[i].seen[false] || !rules[i].seen[true])
            fail_msg("%s is never %s", rules[i].rule, rules[i].seen[true] ? "absent" : "reported");
    }
}

void advice_expect(const char *rule, bool wanted)
{
    note_expected(rule, wanted);
    if (advises(rule) != wanted)
        fail_msg("%s is %s: %.*s", rule, wanted ? "missing" : "there",
                 BYTES_FMT(advice_db.response));
}

void advice_expect_unjudged(const char *rule, bool wanted)
{
    char text[128];
    advice_call("GetAdvice", "{}");
    snprintf(text, sizeof text, "{'Rule':'%s','TableName':'Tab'", rule);
    if (api_fixture_shows(&advice_db, text) != wanted)
        fail_msg("%s is %s: %.*s", rule, wanted ? "judged" : "not judged",
                 BYTES_FMT(advice_db.response));
}

void advice_shows(const char *text)
{
    if (!api_fixture_shows(&advice_db, text))
        fail_msg("no %s in %.*s", text, BYTES_FMT(advice_db.response));
}

void advice_repeat(int times, const char *operation, const char *body)
{
    for (int i = 0; i < times; i++)
        advice_call(operation, body);
}

/* The first round collects the minute that was open. */
void advice_pass_hours(int hours)
{
    for (int i = 0; i < hours; i++) {
        if (i == 0)
            advice_move_clock(ADVICE_MINUTE_MS);
        advice_move_clock(i == 0 ? ADVICE_HOUR_MS - ADVICE_MINUTE_MS : ADVICE_HOUR_MS);
    }
}
