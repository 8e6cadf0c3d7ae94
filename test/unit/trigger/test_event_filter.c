/* test_event_filter.c -- what filter patterns let through, and what is no pattern. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "item_fixture.h"
#include "model/error.h"
#include "trigger/event_filter.h"

/* A record as the events have it; JSON is written with single quotes. */
#define RECORD                                                                                     \
    "{'eventID':'1','eventName':'INSERT','dynamodb':{'Keys':{'id':{'S':'a-1'}},"                   \
    "'NewImage':{'id':{'S':'a-1'},'n':{'N':'42'},'ok':{'BOOL':true},'no':{'NULL':true},"           \
    "'tags':{'SS':['red','green']},'empty':{'S':''},'list':{'L':[{'S':'x'}]},"                     \
    "'map':{'M':{'deep':{'S':'\\u00e4'}}}},'SizeBytes':26.0},'nothing':null}"

static const struct {
    const char *pattern;
    bool matches;
} cases[] = {
    { "{'eventName':['INSERT']}", true },
    { "{'eventName':['insert']}", false },
    { "{'eventName':['MODIFY','INSERT']}", true },
    { "{'eventName':['MODIFY'],'eventID':['1']}", false },
    { "{'eventName':['INSERT'],'eventID':['1']}", true },
    { "{'missing':['INSERT']}", false },
    { "{'dynamodb':{'Keys':{'id':{'S':['a-1']}}}}", true },
    { "{'dynamodb':{'NewImage':{'n':{'N':['42']}}}}", true },
    { "{'dynamodb':{'NewImage':{'n':{'N':[42]}}}}", false }, /* Numbers of items are text. */
    { "{'dynamodb':{'NewImage':{'ok':{'BOOL':[true]}}}}", true },
    { "{'dynamodb':{'NewImage':{'ok':{'BOOL':[false]}}}}", false },
    { "{'dynamodb':{'NewImage':{'empty':{'S':['']}}}}", true },
    { "{'dynamodb':{'NewImage':{'map':{'M':{'deep':{'S':['\\u00E4']}}}}}}", true },
    { "{'dynamodb':{'NewImage':{'map':{'M':{'deep':{'S':['a']}}}}}}", false },
    { "{'nothing':[null]}", true },
    { "{'eventName':[null]}", false },
    { "{'eventName':[{'prefix':'INS'}]}", true },
    { "{'eventName':[{'prefix':'INSERTED'}]}", false },
    { "{'eventName':[{'suffix':'ERT'}]}", true },
    { "{'eventName':[{'suffix':'INS'}]}", false },
    { "{'eventName':[{'equals-ignore-case':'insert'}]}", true },
    { "{'eventName':[{'equals-ignore-case':'insertx'}]}", false },
    { "{'eventName':[{'anything-but':['MODIFY','REMOVE']}]}", true },
    { "{'eventName':[{'anything-but':['INSERT']}]}", false },
    { "{'eventName':[{'anything-but':'INSERT'}]}", false },
    { "{'missing':[{'anything-but':['x']}]}", false },
    { "{'dynamodb':{'SizeBytes':[26]}}", true },
    { "{'dynamodb':{'SizeBytes':[26.5]}}", false },
    { "{'dynamodb':{'SizeBytes':[{'anything-but':[26]}]}}", false },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['=',2.6e1]}]}}", true },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['>',26]}]}}", false },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['>=',26]}]}}", true },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['<',26]}]}}", false },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['<=',26]}]}}", true },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['>',25,'<',27]}]}}", true },
    { "{'dynamodb':{'SizeBytes':[{'numeric':['>',26,'<',27]}]}}", false },
    { "{'eventName':[{'numeric':['>',0]}]}", false },
    { "{'eventName':[{'exists':true}]}", true },
    { "{'eventName':[{'exists':false}]}", false },
    { "{'missing':[{'exists':true}]}", false },
    { "{'missing':[{'exists':false}]}", true },
    { "{'missing':{'deeper':[{'exists':false}]}}", true },
    { "{'eventName':{'deeper':[{'exists':false}]}}", true },
    { "{'eventName':{'deeper':['INSERT']}}", false },
    { "{'dynamodb':[{'exists':true}]}", false }, /* Only values count as being there. */
    { "{'dynamodb':{'NewImage':{'tags':{'SS':['green']}}}}", true },
    { "{'dynamodb':{'NewImage':{'tags':{'SS':['blue']}}}}", false },
    { "{'dynamodb':{'NewImage':{'list':{'L':['x']}}}}", false },
    { "{'$or':[{'eventName':['MODIFY']},{'eventID':['1']}]}", true },
    { "{'$or':[{'eventName':['MODIFY']},{'eventID':['2']}]}", false },
    { "{'eventName':['INSERT'],'$or':[{'eventID':['2']},{'missing':[{'exists':false}]}]}", true },
    { "{'eventName':['REMOVE'],'$or':[{'eventID':['1']}]}", false },
    { "{'dynamodb':{'$or':[{'SizeBytes':[1]},{'Keys':{'id':{'S':['a-1']}}}]}}", true },
};

static void a_pattern_lets_through_what_it_describes(void **state)
{
    struct arena *arena = *state;
    struct bytes record = item_fixture_text(arena, RECORD);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error err;
        error_init(&err, arena);
        const struct event_filter *filter =
            event_filter_parse(arena, item_fixture_text(arena, cases[i].pattern), &err);
        if (filter == NULL || event_filter_matches(filter, arena, record) != cases[i].matches)
            fail_msg("%s", cases[i].pattern);
    }
}

static const struct {
    const char *pattern;
    const char *reason;
} refusals[] = {
    { "", "a field takes a list or an object" },
    { "[]", "a field takes a list or an object" },
    { "{}", "an object is empty" },
    { "{'a':'x'}", "a field takes a list or an object" },
    { "{'a':[]}", "a list is empty" },
    { "{'a':{}}", "an object is empty" },
    { "{'a':[['x']]}", "a list holds text, numbers, true, false, null and rules" },
    { "{'a':[1e999]}", "a number is out of range" },
    { "{'a':['x'],'a':['y']}", "a field stands in an object twice" },
    { "{'a':[{}]}", "a rule is empty" },
    { "{'a':[{'prefix':'x','suffix':'y'}]}", "a rule has two names" },
    { "{'a':[{'prefix':1}]}", "text was expected" },
    { "{'a':[{'wildcard':'x*'}]}",
      "the rules are prefix, suffix, equals-ignore-case, anything-but, numeric and exists" },
    { "{'a':[{'exists':'x'}]}", "\"exists\" takes true or false" },
    { "{'a':[{'anything-but':[]}]}", "\"anything-but\" is empty" },
    { "{'a':[{'anything-but':[true]}]}", "\"anything-but\" takes text and numbers" },
    { "{'a':[{'numeric':'x'}]}", "\"numeric\" takes a list" },
    { "{'a':[{'numeric':[]}]}", "\"numeric\" has no bound" },
    { "{'a':[{'numeric':['>']}]}", "\"numeric\" takes signs, each with a number behind it" },
    { "{'a':[{'numeric':['>','1']}]}", "\"numeric\" takes signs, each with a number behind it" },
    { "{'a':[{'numeric':['!',1]}]}", "the signs of \"numeric\" are =, <, <=, > and >=" },
    { "{'a':[{'numeric':['>',1,'>=',2]}]}", "\"numeric\" has two bounds on one side" },
    { "{'$or':{'a':['x']}}", "\"$or\" takes a list of patterns" },
    { "{'$or':[]}", "\"$or\" has no patterns" },
    { "{'a':['x']} x", "it is not JSON, or too deep" },
    { "{'a':['x']", "it is not JSON, or too deep" },
};

static void expect_refusal(struct arena *arena, struct bytes pattern, const char *reason)
{
    struct error err;
    error_init(&err, arena);
    struct bytes want = arena_printf(arena, "Invalid filter pattern: %s", reason);
    assert_null(event_filter_parse(arena, pattern, &err));
    assert_int_equal(err.code, ERROR_VALIDATION);
    if (!bytes_equal(err.message, want))
        fail_msg("%.*s: %.*s", BYTES_FMT(pattern), BYTES_FMT(err.message));
}

static void what_is_no_pattern_is_refused_with_a_reason(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        expect_refusal(arena, item_fixture_text(arena, refusals[i].pattern), refusals[i].reason);
}

/* {'a':['xxx...']} of `size` bytes. */
static struct bytes pattern_of_size(struct arena *arena, size_t size)
{
    uint8_t *text = arena_alloc(arena, size);
    memset(text, 'x', size);
    memcpy(text, "{\"a\":[\"", 7);
    memcpy(text + size - 3, "\"]}", 3);
    return bytes_of(text, size);
}

/* `prefix` n times, then {'a':['x']}, then `suffix` n times. */
static struct bytes repeated(struct arena *arena, const char *prefix, const char *suffix, size_t n)
{
    struct buffer out;
    buffer_init(&out, arena);
    for (size_t i = 0; i < n; i++)
        buffer_append_bytes(&out, item_fixture_text(arena, prefix));
    buffer_append_bytes(&out, item_fixture_text(arena, "{'a':['x']}"));
    for (size_t i = 0; i < n; i++)
        buffer_append_bytes(&out, item_fixture_text(arena, suffix));
    return buffer_bytes(&out);
}

static bool parses(struct arena *arena, struct bytes pattern)
{
    struct error err;
    error_init(&err, arena);
    return event_filter_parse(arena, pattern, &err) != NULL;
}

static void a_pattern_has_bounds(void **state)
{
    struct arena *arena = *state;
    assert_true(parses(arena, pattern_of_size(arena, EVENT_FILTER_SIZE_MAX - 1)));
    assert_true(parses(arena, pattern_of_size(arena, EVENT_FILTER_SIZE_MAX)));
    expect_refusal(arena, pattern_of_size(arena, EVENT_FILTER_SIZE_MAX + 1),
                   "it is longer than 4096 characters");
    /* An object and a list around the value take two. */
    assert_true(parses(arena, repeated(arena, "{'b':", "}", EVENT_FILTER_DEPTH_MAX - 2)));
    assert_false(parses(arena, repeated(arena, "{'b':", "}", EVENT_FILTER_DEPTH_MAX - 1)));
}

static struct bytes many(struct arena *arena, const char *open, const char *format,
                         const char *close, int count)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, item_fixture_text(arena, open));
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, format, i == 0 ? "" : ",", i);
        buffer_append_bytes(&out, item_fixture_text(arena, text));
    }
    buffer_append_bytes(&out, item_fixture_text(arena, close));
    return buffer_bytes(&out);
}

static void an_object_and_an_or_have_bounds(void **state)
{
    struct arena *arena = *state;
    const char *field = "%s'f%d':[1]", *object = "%s{'f%d':[1]}";
    int max = EVENT_FILTER_FIELDS_MAX;
    assert_true(parses(arena, many(arena, "{", field, "}", max)));
    expect_refusal(arena, many(arena, "{", field, "}", max + 1),
                   "an object has more than 64 fields");
    assert_true(parses(arena, many(arena, "{'$or':[", object, "]}", max)));
    expect_refusal(arena, many(arena, "{'$or':[", object, "]}", max + 1),
                   "\"$or\" has more than 64 patterns");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(a_pattern_lets_through_what_it_describes),
        ARENA_TEST(what_is_no_pattern_is_refused_with_a_reason),
        ARENA_TEST(a_pattern_has_bounds),
        ARENA_TEST(an_object_and_an_or_have_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
