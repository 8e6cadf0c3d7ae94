/* test_update.c -- what updates make of items, and what projections show of them. */
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
#include "expr/legacy.h"
#include "expr/path.h"
#include "expr/projection.h"
#include "expr/update.h"
#include "expr/update_parse.h"
#include "expr_text.h"
#include "item_fixture.h"
#include "json/writer.h"
#include "model/error.h"

#define VALUES                                                                                     \
    "{':n':{'N':'1'},':s':{'S':'new'},':l':{'L':[{'N':'7'}]},':ss':{'SS':['c','a']},"              \
    "':ns':{'NS':['1','3']},':bs':{'BS':['AA==']},':m':{'M':{}},':big':{'N':'9E125'},"             \
    "':tiny':{'N':'1E-130'},':all':{'SS':['a','b']}}"

#define MISSING "The provided expression refers to an attribute that does not exist in the item"
#define WRONG_TYPE "An operand in the update expression has an incorrect data type"
#define WRONG_PATH "The document path provided in the update expression is invalid for update"
#define TOO_LARGE                                                                                  \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"
#define TOO_LARGE                                                                                  \
    "Number overflow. Attempting to store a number with magnitude larger than supported range"

static const struct {
    const char *before, *update, *after, *error;
} cases[] = {
    /* SET */
    { "{}", "SET a = :n", "{'a':{'N':'1'}}", NULL },
    { "{'a':{'S':'x'},'z':{'S':'z'}}", "SET a = :n", "{'a':{'N':'1'},'z':{'S':'z'}}", NULL },
    { "{'m':{'M':{}},'n':{'N':'2'}}", "SET m.b = :n, a = :s, z = n",
      "{'a':{'S':'new'},'m':{'M':{'b':{'N':'1'}}},'n':{'N':'2'},'z':{'N':'2'}}", NULL },
    { "{'a':{'N':'5'},'b':{'N':'6'}}", "SET a = b, b = a", "{'a':{'N':'6'},'b':{'N':'5'}}", NULL },
    { "{'a':{'N':'5'}}", "SET a = a + :n", "{'a':{'N':'6'}}", NULL },
    { "{'a':{'N':'5'}}", "SET a = :n - a", "{'a':{'N':'-4'}}", NULL },
    { "{}", "SET a = if_not_exists(a, :n) + :n", "{'a':{'N':'2'}}", NULL },
    { "{'a':{'N':'5'}}", "SET a = if_not_exists(a, :n) + :n", "{'a':{'N':'6'}}", NULL },
    { "{'a':{'L':[{'S':'x'}]}}", "SET a = list_append(a, :l)", "{'a':{'L':[{'S':'x'},{'N':'7'}]}}",
      NULL },
    { "{'a':{'L':[{'S':'x'}]}}", "SET a = list_append(:l, a)", "{'a':{'L':[{'N':'7'},{'S':'x'}]}}",
      NULL },
    { "{}", "SET a = list_append(if_not_exists(a, :l), :l)", "{'a':{'L':[{'N':'7'},{'N':'7'}]}}",
      NULL },
    { "{'m':{'M':{'b':{'M':{'c':{'S':'x'}}}}}}", "SET m.b.d = :n, m.a = :s",
      "{'m':{'M':{'a':{'S':'new'},'b':{'M':{'c':{'S':'x'},'d':{'N':'1'}}}}}}", NULL },
    { "{'a':{'L':[{'S':'0'},{'S':'1'},{'S':'2'}]}}", "SET a[1] = :n, a[9] = :s, a[5] = :n",
      "{'a':{'L':[{'S':'0'},{'N':'1'},{'S':'2'},{'N':'1'},{'S':'new'}]}}", NULL },
    { "{'a':{'L':[{'M':{}}]}}", "SET a[0].b = :n", "{'a':{'L':[{'M':{'b':{'N':'1'}}}]}}", NULL },
    { "{}", "SET a = b", NULL, MISSING },
    { "{}", "SET a = b + :n", NULL, MISSING },
    { "{}", "SET a = list_append(b, :l)", NULL, MISSING },
    { "{'b':{'S':'x'}}", "SET a = b + :n", NULL, WRONG_TYPE },
    { "{'b':{'S':'x'}}", "SET a = list_append(b, :l)", NULL, WRONG_TYPE },
    { "{}", "SET a.b = :n", NULL, WRONG_PATH },
    { "{'a':{'S':'x'}}", "SET a.b = :n", NULL, WRONG_PATH },
    { "{'a':{'M':{}}}", "SET a[0] = :n", NULL, WRONG_PATH },
    { "{'a':{'M':{}}}", "SET a.b.c = :n", NULL, WRONG_PATH },
    { "{'a':{'L':[]}}", "SET a[0].b = :n", NULL, WRONG_PATH },
    { "{'a':{'N':'9E125'}}", "SET a = a + :big", NULL, TOO_LARGE },
    { "{'a':{'N':'1'}}", "SET a = a + :tiny", NULL, TOO_LARGE },
    { "{}", "SET a.b = :n, c = d", NULL, WRONG_PATH },
    { "{}", "SET c = d, a.b = :n", NULL, MISSING },
    /* REMOVE */
    { "{'a':{'S':'x'},'b':{'S':'y'}}", "REMOVE a, c", "{'b':{'S':'y'}}", NULL },
    { "{'m':{'M':{'a':{'S':'x'},'b':{'S':'y'}}}}", "REMOVE m.a, m.z", "{'m':{'M':{'b':{'S':'y'}}}}",
      NULL },
    { "{'a':{'L':[{'S':'0'},{'S':'1'},{'S':'2'}]}}", "REMOVE a[0], a[2], a[7]",
      "{'a':{'L':[{'S':'1'}]}}", NULL },
    { "{'a':{'L':[{'S':'0'},{'S':'1'}]}}", "SET a[1] = :n, a[5] = :s REMOVE a[0]",
      "{'a':{'L':[{'N':'1'},{'S':'new'}]}}", NULL },
    { "{}", "REMOVE a.b", NULL, WRONG_PATH },
    { "{'a':{'S':'x'}}", "REMOVE a[0]", NULL, WRONG_PATH },
    /* ADD */
    { "{}", "ADD a :n, b :ss", "{'a':{'N':'1'},'b':{'SS':['a','c']}}", NULL },
    { "{'a':{'N':'-1'}}", "ADD a :n", "{'a':{'N':'0'}}", NULL },
    { "{'a':{'SS':['b','c']}}", "ADD a :ss", "{'a':{'SS':['a','b','c']}}", NULL },
    { "{'a':{'NS':['2','3']}}", "ADD a :ns", "{'a':{'NS':['1','2','3']}}", NULL },
    { "{'a':{'BS':['AQ==']}}", "ADD a :bs", "{'a':{'BS':['AA==','AQ==']}}", NULL },
    { "{'m':{'M':{}}}", "ADD m.a :n", "{'m':{'M':{'a':{'N':'1'}}}}", NULL },
    { "{'a':{'SS':['b']}}", "ADD a :ns", NULL, WRONG_TYPE },
    { "{'a':{'S':'b'}}", "ADD a :n", NULL, WRONG_TYPE },
    { "{'a':{'N':'1'}}", "ADD a :ss", NULL, WRONG_TYPE },
    { "{}", "ADD a.b :n", NULL, WRONG_PATH },
    /* DELETE */
    { "{'a':{'SS':['a','b','d']}}", "DELETE a :ss", "{'a':{'SS':['b','d']}}", NULL },
    { "{'a':{'SS':['a','b']}}", "DELETE a :all", "{}", NULL },
    { "{'a':{'NS':['1','2']}}", "DELETE a :ns", "{'a':{'NS':['2']}}", NULL },
    { "{'m':{'M':{'a':{'SS':['a']}}}}", "DELETE m.a :ss", "{'m':{'M':{}}}", NULL },
    { "{'b':{'S':'x'}}", "DELETE a :ss", "{'b':{'S':'x'}}", NULL },
    { "{'a':{'NS':['1']}}", "DELETE a :ss", NULL, WRONG_TYPE },
    { "{'a':{'S':'a'}}", "DELETE a :ss", NULL, WRONG_TYPE },
    { "{}", "DELETE a.b :ss", NULL, WRONG_PATH },
};

static void params_open(struct arena *arena, struct expr_params *params)
{
    struct error err;
    error_init(&err, arena);
    const char *values = (const char *)item_fixture_text(arena, VALUES).data;
    assert_true(expr_text_params(arena, NULL, values, params, &err));
}

static const struct update *parse(struct arena *arena, const char *text)
{
    struct expr_params params;
    struct error err;
    error_init(&err, arena);
    params_open(arena, &params);
    const struct update *update = update_parse(arena, bytes_from_text(text), &params, &err);
    if (update == NULL)
        fail_msg("%s: %.*s", text, BYTES_FMT(err.message));
    return update;
}

static void updates_do_what_the_service_does(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item before = item_fixture_read(arena, cases[i].before), after;
        struct error err;
        error_init(&err, arena);
        const struct update *update = parse(arena, cases[i].update);
        bool ok = update_apply(arena, update, &before, &after, &err);
        struct bytes got = ok ? item_fixture_write(arena, &after) : err.message;
        struct bytes want = ok && cases[i].after != NULL ? item_fixture_text(arena, cases[i].after)
                            : cases[i].error != NULL     ? bytes_from_text(cases[i].error)
                                                         : BYTES("success");
        if (!bytes_equal(got, want))
            fail_msg("%s on %s: %.*s, not %.*s", cases[i].update, cases[i].before, BYTES_FMT(got),
                     BYTES_FMT(want));
        if (ok)
            assert_true(item_verify(&after));
    }
}

/* --- Projections --- */

#define WHOLE                                                                                      \
    "{'a':{'S':'x'},'l':{'L':[{'S':'0'},{'M':{'k':{'N':'1'},'j':{'N':'2'}}},{'S':'2'}]},"          \
    "'m':{'M':{'b':{'M':{'c':{'S':'deep'}}},'d':{'S':'d'}}}}"

static const struct {
    const char *text, *want;
} projections[] = {
    { "a", "{'a':{'S':'x'}}" },
    { "nope", "{}" },
    { "a, nope", "{'a':{'S':'x'}}" },
    { "m.d", "{'m':{'M':{'d':{'S':'d'}}}}" },
    { "m.nope", "{}" },
    { "m.b.nope, m.d", "{'m':{'M':{'d':{'S':'d'}}}}" },
    { "m.d, m.b.c", "{'m':{'M':{'b':{'M':{'c':{'S':'deep'}}},'d':{'S':'d'}}}}" },
    { "l[2], l[0]", "{'l':{'L':[{'S':'0'},{'S':'2'}]}}" },
    { "l[1].j, l[7]", "{'l':{'L':[{'M':{'j':{'N':'2'}}}]}}" },
    { "l[0].nope, l[7]", "{}" },
    { "a.b, l.k, m[0]", "{}" },
    { "Z, a, aa, l[0], m.d, z", "{'a':{'S':'x'},'l':{'L':[{'S':'0'}]},'m':{'M':{'d':{'S':'d'}}}}" },
    { "m.a, m.b.c, m.c, m.e", "{'m':{'M':{'b':{'M':{'c':{'S':'deep'}}}}}}" },
};

static void projections_show_what_is_there(void **state)
{
    struct arena *arena = *state;
    struct item item = item_fixture_read(arena, WHOLE);
    for (size_t i = 0; i < COUNT_OF(projections); i++) {
        struct expr_params params;
        struct error err;
        struct buffer text;
        struct json_writer writer;
        error_init(&err, arena);
        buffer_init(&text, arena);
        json_writer_init(&writer, &text);
        params_open(arena, &params);
        const struct projection *projection =
            projection_parse(arena, bytes_from_text(projections[i].text), &params, &err);
        assert_non_null(projection);
        projection_write(&writer, path_tree_build(arena, projection->paths, projection->path_count),
                         &item);
        if (!bytes_equal(buffer_bytes(&text), item_fixture_text(arena, projections[i].want)))
            fail_msg("%s: %.*s", projections[i].text, BYTES_FMT(buffer_bytes(&text)));
    }
}

/* One walk through both: to look for each name from the beginning would take minutes. */
static void a_projection_may_name_as_many_attributes_as_an_item_has(void **state)
{
    enum { NAMES = 100000 };
    struct arena *arena = *state;
    struct bytes *names = arena_alloc(arena, NAMES * sizeof *names);
    struct buffer item_text, want, got;
    struct json_writer writer;
    struct error err;
    buffer_init(&item_text, arena);
    buffer_init(&want, arena);
    buffer_init(&got, arena);
    json_writer_init(&writer, &got);
    error_init(&err, arena);
    for (size_t i = 0; i < NAMES; i++) {
        names[i] = arena_printf(arena, "%06zu", i * 7919 % NAMES);
        const char *comma = i == 0 ? "" : ",";
        if (i % 2 == 0) /* Every other name is in the item, and the item has others. */
            buffer_append_bytes(&want, arena_printf(arena, "%s\"%06zu\":{\"S\":\"\"}", comma, i));
        struct bytes name = arena_printf(arena, i % 2 == 0 ? "%06zu" : "%06zu+", i);
        buffer_append_bytes(&item_text,
                            arena_printf(arena, "%s'%.*s':{'S':''}", comma, BYTES_FMT(name)));
    }
    struct item item = item_fixture_read(
        arena,
        (const char *)arena_printf(arena, "{%.*s}", BYTES_FMT(buffer_bytes(&item_text))).data);
    size_t held = arena_held_size(arena);
    const struct path_node *root = legacy_update_projection(arena, names, NAMES, &err);
    assert_non_null(root);
    /* Beside the list itself a name takes no more than a number. */
    assert_in_range(arena_held_size(arena) - held, 0, 2 * NAMES * sizeof(uint32_t));
    projection_write(&writer, root, &item);
    assert_true(bytes_equal(buffer_bytes(&got),
                            arena_printf(arena, "{%.*s}", BYTES_FMT(buffer_bytes(&want)))));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(updates_do_what_the_service_does),
        ARENA_TEST(projections_show_what_is_there),
        ARENA_TEST(a_projection_may_name_as_many_attributes_as_an_item_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
