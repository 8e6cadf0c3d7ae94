/* test_policy_random.c -- random policies and requests, decided here a second time.
 *
 * The second evaluator knows no JSON and shares no code: it works on the structure that the JSON is
 * printed from, matches by plain recursion, and follows the documentation sentence by sentence. In
 * its texts V stands for the variable ${aws:username} and W for ${aws:UserAgent}, which a request
 * may lack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "auth/policy.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "model/error.h"

enum { ROUNDS = 20000, TEXT_SIZE = 8, LIST_MAX = 3, CONDITIONS_MAX = 2, STATEMENTS_MAX = 3 };

struct list {
    char texts[LIST_MAX][TEXT_SIZE];
    size_t count;
};

enum quantifier { SINGLE, FOR_ALL, FOR_ANY };
struct test {
    enum quantifier quantifier;
    bool negated;
    bool like;
    bool if_exists;
    unsigned key; /* Of key_names. */
    struct list values;
};

struct statement {
    bool deny;
    bool not_action;
    bool not_resource;
    struct list actions;
    struct list resources;
    struct test tests[CONDITIONS_MAX];
    size_t test_count;
};

struct document {
    struct statement statements[STATEMENTS_MAX];
    size_t count;
};

static const char *const key_names[] = { "dynamodb:LeadingKeys", "dynamodb:Attributes",
                                         "dynamodb:Select" };
struct world {
    char action[TEXT_SIZE];
    char resource[TEXT_SIZE];
    char username[TEXT_SIZE];
    char agent[TEXT_SIZE];
    bool has_agent;
    struct list keys[COUNT_OF(key_names)];
};

/* --- Chance --- */

static bool chance(struct random *random, uint64_t one_in)
{
    return random_below(random, one_in) == 0;
}

static void make_text(struct random *random, const char *letters, size_t size_min,
                      char out[TEXT_SIZE])
{
    size_t size = size_min + random_below(random, 4);
    for (size_t i = 0; i < size; i++)
        out[i] = letters[random_below(random, strlen(letters))];
    out[size] = '\0';
}

static void make_list(struct random *random, const char *letters, size_t count_min, size_t size_min,
                      struct list *out)
{
    out->count = count_min + random_below(random, LIST_MAX - count_min + 1);
    for (size_t i = 0; i < out->count; i++)
        make_text(random, letters, size_min, out->texts[i]);
}

static void make_document(struct random *random, struct document *out)
{
    *out = (struct document){ .count = 1 + random_below(random, STATEMENTS_MAX) };
    for (size_t i = 0; i < out->count; i++) {
        struct statement *statement = &out->statements[i];
        statement->deny = chance(random, 4);
        statement->not_action = chance(random, 6);
        statement->not_resource = chance(random, 6);
        make_list(random, "aB*?*", 1, 1, &statement->actions);
        make_list(random, "ab*?*VW", 1, 1, &statement->resources);
        statement->test_count = random_below(random, CONDITIONS_MAX + 1);
        for (size_t j = 0; j < statement->test_count; j++) {
            struct test *test = &statement->tests[j];
            test->quantifier = (enum quantifier)random_below(random, 3);
            test->negated = chance(random, 2);
            test->like = j == 0; /* So that no operator comes twice. */
            test->if_exists = chance(random, 3);
            test->key = (unsigned)random_below(random, COUNT_OF(key_names));
            make_list(random, "ab*?VW", 1, 0, &test->values);
        }
    }
}

static void make_world(struct random *random, struct world *out)
{
    make_text(random, "Ab", 1, out->action);
    make_text(random, "ab", 1, out->resource);
    make_text(random, "ab*", 1, out->username);
    make_text(random, "ab?", 1, out->agent);
    out->has_agent = chance(random, 2);
    for (size_t i = 0; i < COUNT_OF(key_names); i++)
        make_list(random, "ab*", 0, 0, &out->keys[i]);
}

/* --- The second evaluator --- */

enum truth { FALSE, TRUE, UNKNOWN };

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool matches(const struct world *world, const char *pattern, const char *text, bool like,
                    bool ignore_case)
{
    if (*pattern == '\0')
        return *text == '\0';
    if (!ignore_case && (*pattern == 'V' || *pattern == 'W')) {
        const char *value = *pattern == 'V' ? world->username : world->agent;
        return strncmp(text, value, strlen(value)) == 0 &&
               matches(world, pattern + 1, text + strlen(value), like, ignore_case);
    }
    if (like && *pattern == '*')
        return matches(world, pattern + 1, text, like, ignore_case) ||
               (*text != '\0' && matches(world, pattern, text + 1, like, ignore_case));
    if (*text == '\0')
        return false;
    bool same = (like && *pattern == '?') || *pattern == *text ||
                (ignore_case && lower(*pattern) == lower(*text));
    return same && matches(world, pattern + 1, text + 1, like, ignore_case);
}

/* Is the text one of the list's? */
static enum truth is_listed(const struct world *world, const struct list *list, const char *text,
                            bool like)
{
    enum truth truth = FALSE;
    for (size_t i = 0; i < list->count; i++) {
        if (!world->has_agent && strchr(list->texts[i], 'W') != NULL)
            truth = UNKNOWN;
        else if (matches(world, list->texts[i], text, like, false))
            return TRUE;
    }
    return truth;
}

static enum truth negate(enum truth truth)
{
    return truth == UNKNOWN ? UNKNOWN : truth == TRUE ? FALSE : TRUE;
}

static bool holds(const struct world *world, const struct test *test, bool deny)
{
    const struct list *given = &world->keys[test->key];
    size_t passed = 0;
    if (given->count == 0) {
        if (test->if_exists || test->quantifier == FOR_ALL)
            return true;
        return test->quantifier == SINGLE && test->negated;
    }
    for (size_t i = 0; i < given->count; i++) {
        enum truth truth = is_listed(world, &test->values, given->texts[i], test->like);
        if (test->negated)
            truth = negate(truth);
        passed += truth == TRUE || (truth == UNKNOWN && deny);
    }
    if (test->quantifier == FOR_ANY || (test->quantifier == SINGLE && deny))
        return passed > 0;
    return passed == given->count;
}

static bool applies(const struct world *world, const struct statement *statement)
{
    bool action = false;
    for (size_t i = 0; i < statement->actions.count; i++)
        action = action || matches(world, statement->actions.texts[i], world->action, true, true);
    enum truth resource = is_listed(world, &statement->resources, world->resource, true);
    if (statement->not_resource)
        resource = negate(resource);
    bool all = action != statement->not_action &&
               (resource == TRUE || (resource == UNKNOWN && statement->deny));
    for (size_t i = 0; i < statement->test_count; i++)
        all = all && holds(world, &statement->tests[i], statement->deny);
    return all;
}

static enum policy_decision decide(const struct world *world, const struct document *document)
{
    bool allowed = false;
    bool denied = false;
    for (size_t i = 0; i < document->count; i++) {
        bool does = applies(world, &document->statements[i]);
        denied = denied || (does && document->statements[i].deny);
        allowed = allowed || (does && !document->statements[i].deny);
    }
    if (denied)
        return POLICY_DENIED_BY_IDENTITY;
    return allowed ? POLICY_ALLOWED : POLICY_NOT_ALLOWED;
}

/* --- As JSON, and as a request --- */

static void print(struct buffer *out, const char *text)
{
    buffer_append_bytes(out, bytes_from_text(text));
}

static void print_list(struct buffer *out, const char *prefix, const struct list *list,
                       bool variables)
{
    print(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        print(out, i == 0 ? "\"" : ",\"");
        print(out, prefix);
        for (const char *at = list->texts[i]; *at != '\0'; at++) {
            if (variables && *at == 'V')
                print(out, "${aws:username}");
            else if (variables && *at == 'W')
                print(out, "${aws:UserAgent}");
            else
                buffer_append_byte(out, (uint8_t)*at);
        }
        print(out, "\"");
    }
    print(out, "]");
}

static void print_test(struct buffer *out, const struct test *test)
{
    static const char *const quantifiers[] = { "", "ForAllValues:", "ForAnyValue:" };
    print(out, "\"");
    print(out, quantifiers[test->quantifier]);
    print(out, test->negated ? "StringNot" : "String");
    print(out, test->like ? "Like" : "Equals");
    print(out, test->if_exists ? "IfExists\":{\"" : "\":{\"");
    print(out, key_names[test->key]);
    print(out, "\":");
    print_list(out, "", &test->values, true);
    print(out, "}");
}

#define ARN_START "arn:aws:dynamodb:us-east-1:000000000000:table/"

static struct bytes print_document(struct arena *arena, const struct document *document)
{
    struct buffer out;
    buffer_init(&out, arena);
    print(&out, "{\"Statement\":[");
    for (size_t i = 0; i < document->count; i++) {
        const struct statement *statement = &document->statements[i];
        print(&out, i == 0 ? "{\"Effect\":" : ",{\"Effect\":");
        print(&out, statement->deny ? "\"Deny\"" : "\"Allow\"");
        print(&out, statement->not_action ? ",\"NotAction\":" : ",\"Action\":");
        print_list(&out, "dynamodb:", &statement->actions, false);
        print(&out, statement->not_resource ? ",\"NotResource\":" : ",\"Resource\":");
        print_list(&out, ARN_START, &statement->resources, true);
        print(&out, ",\"Condition\":{");
        for (size_t j = 0; j < statement->test_count; j++) {
            print(&out, j == 0 ? "" : ",");
            print_test(&out, &statement->tests[j]);
        }
        print(&out, "}}");
    }
    print(&out, "],\"Version\":\"2012-10-17\"}");
    return buffer_bytes(&out);
}

static enum policy_decision ask(struct arena *arena, const struct policy *policy,
                                const struct world *world)
{
    struct bytes values[COUNT_OF(key_names)][LIST_MAX];
    struct bytes username = bytes_from_text(world->username);
    struct bytes agent = bytes_from_text(world->agent);
    struct policy_key keys[COUNT_OF(key_names) + 2] = {
        { BYTES("aws:username"), &username, 1 },
        { BYTES("aws:useragent"), &agent, world->has_agent },
    };
    for (size_t i = 0; i < COUNT_OF(key_names); i++) {
        for (size_t j = 0; j < world->keys[i].count; j++)
            values[i][j] = bytes_from_text(world->keys[i].texts[j]);
        keys[i + 2] =
            (struct policy_key){ bytes_from_text(key_names[i]), values[i], world->keys[i].count };
    }
    struct policy_request request = {
        .action = arena_printf(arena, "dynamodb:%s", world->action),
        .resource = arena_printf(arena, ARN_START "%s", world->resource),
        .keys = keys,
        .key_count = COUNT_OF(keys),
    };
    struct policy_set set = { .identity = &policy, .identity_count = 1 };
    return policy_decide(arena, &set, &request);
}

static void random_policies_are_decided_as_by_a_second_evaluator(void **state)
{
    (void)state;
    size_t counts[POLICY_DENIED_BY_RESOURCE + 1] = { 0 };
    struct arena *arena = arena_create();
    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct random random;
        struct document document;
        struct world world = { 0 };
        struct error err;
        random_init(&random, seed);
        make_document(&random, &document);
        make_world(&random, &world);
        error_init(&err, arena);
        struct bytes json = print_document(arena, &document);
        const struct policy *policy = policy_parse(arena, json, POLICY_OF_IDENTITY, &err);
        if (policy == NULL)
            fail_msg("seed %llu: %.*s: %.*s", (unsigned long long)seed, BYTES_FMT(json),
                     BYTES_FMT(err.message));
        enum policy_decision want = decide(&world, &document);
        enum policy_decision got = ask(arena, policy, &world);
        counts[want]++;
        if (got != want)
            fail_msg("seed %llu: %.*s: decision %d, not %d", (unsigned long long)seed,
                     BYTES_FMT(json), (int)got, (int)want);
        arena_reset(arena);
    }
    arena_destroy(arena);
    /* Else the comparison would prove little. */
    assert_true(counts[POLICY_ALLOWED] > ROUNDS / 10);
    assert_true(counts[POLICY_NOT_ALLOWED] > ROUNDS / 10);
    assert_true(counts[POLICY_DENIED_BY_IDENTITY] > ROUNDS / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_policies_are_decided_as_by_a_second_evaluator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
