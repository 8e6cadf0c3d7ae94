/* test_document.c -- JSON and YAML as trees: what scalars and tags become, and the bounds that
 * hostile documents meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "template/document.h"
#include "template/node.h"
#include "template/template.h"

static const char *read_text(struct arena *arena, struct bytes text)
{
    struct template_error err = { 0 };
    const struct node *node = document_read(arena, text, &err);
    struct bytes out = node != NULL
                           ? node_json(arena, node)
                           : arena_printf(arena, "%u: %.*s", err.line, BYTES_FMT(err.message));
    assert_true((node == NULL) == (err.message.data != NULL));
    return (const char *)arena_printf(arena, "%.*s%c", BYTES_FMT(out), 0).data;
}

static void yaml_becomes_json(void **state)
{
    static const struct {
        const char *name, *text, *want;
    } cases[] = {
        { "plain words are text", "a: yes\nb: 2012-10-17\nc: 0123\nd: 0o17\ne: 1_000",
          "{\"a\":\"yes\",\"b\":\"2012-10-17\",\"c\":\"0123\",\"d\":\"0o17\",\"e\":\"1_000\"}" },
        { "true, false, null and numbers are not",
          "- true\n- False\n- null\n- ~\n- 5\n- -1.5\n- 1e3\n-\n",
          "[true,false,null,null,5,-1.5,1e3,null]" },
        { "quotes make text", "a: \"5\"\nb: 'true'\nc: !!str 5\n",
          "{\"a\":\"5\",\"b\":\"true\",\"c\":\"5\"}" },
        { "short tags", "a: !Ref X\nb: !Sub \"${x}\"\nc: !Join [\"\", [a, !Ref b]]\n",
          "{\"a\":{\"Ref\":\"X\"},\"b\":{\"Fn::Sub\":\"${x}\"},\"c\":{\"Fn::Join\":[\"\",[\"a\",{"
          "\"Ref\":\"b\"}]]}}" },
        { "GetAtt is split at its first dot", "a: !GetAtt A.B.C\nb: !Condition X\n",
          "{\"a\":{\"Fn::GetAtt\":[\"A\",\"B.C\"]},\"b\":{\"Condition\":\"X\"}}" },
        { "aliases", "a: &x {k: 1}\nb: *x\nc: &x 2\nd: *x\n",
          "{\"a\":{\"k\":1},\"b\":{\"k\":1},\"c\":2,\"d\":2}" },
        { "merge keys do not override", "a: &x {k: 1, l: 2}\nb:\n  k: 3\n  <<: *x\n",
          "{\"a\":{\"k\":1,\"l\":2},\"b\":{\"k\":3,\"l\":2}}" },
        { "merge of several", "a: &x {k: 1}\nb: &y {k: 2, m: 3}\nc:\n  <<: [*x, *y]\n",
          "{\"a\":{\"k\":1},\"b\":{\"k\":2,\"m\":3},\"c\":{\"k\":1,\"m\":3}}" },
        { "block text", "a: |\n  x\n  y\nb: >\n  x\n  y\n",
          "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\"}" },
        { "a byte order mark", "\xEF\xBB\xBF{\"a\": 1}", "{\"a\":1}" },
        { "JSON", " {\"a\": [1, 2.0, \"\\u00e9\", null, true]}",
          "{\"a\":[1,2.0,\"\xC3\xA9\",null,true]}" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(read_text(arena, bytes_from_text(cases[i].text)), cases[i].want);
}

static void mistakes_are_told_with_their_line(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "", "0: the file is empty" },
        { "   \n", "0: the file is empty" },
        { "# nothing\n", "2: the file is empty" },
        { "a: 1\n---\nb: 2\n", "2: the file has more than one document" },
        { "a: 1\nb: 2\na: 3\n", "3: the key \"a\" occurs twice" },
        { "{\"a\": 1,\n\"a\": 2}", "2: the key \"a\" occurs twice" },
        { "a: 1\nb: !Foo x\n", "2: the tag !Foo is not supported" },
        { "a: !!binary x\n", "1: the tag tag:yaml.org,2002:binary is not supported" },
        { "a:\n  b: *x\n", "2: the alias *x has no complete anchor before it" },
        { "a: &x\n  b: *x\n", "2: the alias *x has no complete anchor before it" },
        { "? [a]\n: b\n", "1: a key of a map must be plain text" },
        { "a: 1\n<<: 5\n", "2: << needs a map or a list of maps" },
        { "a: 1\n\tb: 2\n", "2: not valid YAML: found a tab character that violates indentation" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(read_text(arena, bytes_from_text(cases[i].text)), cases[i].want);
    assert_memory_equal(read_text(arena, BYTES("{\n\"a\": }")), "2: not valid JSON: ", 19);
}

/* `count` times `part`. */
static struct bytes repeat(struct arena *arena, const char *before, const char *part, size_t count,
                           const char *after)
{
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, bytes_from_text(before));
    for (size_t i = 0; i < count; i++)
        buffer_append_bytes(&out, bytes_from_text(part));
    buffer_append_bytes(&out, bytes_from_text(after));
    return buffer_bytes(&out);
}

static void depth_is_bounded(void **state)
{
    struct arena *arena = *state;
    const char *deep = "the document is nested deeper than 64 levels";
    assert_non_null(
        strstr(read_text(arena, repeat(arena, "- ", "[", TEMPLATE_DEPTH_MAX, "")), deep));
    assert_null(
        strstr(read_text(arena, repeat(arena, "- ", "[", TEMPLATE_DEPTH_MAX - 1, "")), deep));
    assert_non_null(strstr(read_text(arena, repeat(arena, "a: ", "{a: ", 100000, "")), deep));
    struct bytes json = repeat(arena, "", "[", 100000, "");
    assert_non_null(strstr(read_text(arena, json), "not valid JSON"));
    /* Aliases count by what they stand for. */
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("a0: &a0 [x]\n"));
    for (int i = 1; i <= TEMPLATE_DEPTH_MAX; i++)
        buffer_append_bytes(&out, arena_printf(arena, "a%d: &a%d [*a%d]\n", i, i, i - 1));
    assert_non_null(strstr(read_text(arena, buffer_bytes(&out)), deep));
}

/* Each level names the one before it ten times: 10^9 values of a few hundred bytes. */
static void a_billion_laughs_are_refused_without_being_expanded(void **state)
{
    struct arena *arena = *state;
    struct buffer out;
    buffer_init(&out, arena);
    buffer_append_bytes(&out, BYTES("a0: &a0 [lol]\n"));
    for (int i = 1; i < 10; i++) {
        buffer_append_bytes(&out, arena_printf(arena, "a%d: &a%d [", i, i));
        for (int k = 0; k < 10; k++)
            buffer_append_bytes(&out, arena_printf(arena, "%s*a%d", k > 0 ? "," : "", i - 1));
        buffer_append_bytes(&out, BYTES("]\n"));
    }
    size_t held = arena_held_size(arena);
    assert_non_null(
        strstr(read_text(arena, buffer_bytes(&out)), "the document has more than 100000 values"));
    assert_true(arena_held_size(arena) - held < 8 * 1024 * 1024);
}

/* A long text and many aliases of it: few values, but much to write. */
static void aliases_count_the_text_they_stand_for(void **state)
{
    enum { ALIASES = 16, LONG = TEMPLATE_TEXT_MAX / ALIASES };
    struct arena *arena = *state;
    const char *much = "the aliases of the document stand for more than 1048576 bytes of text";
    struct bytes scalar = repeat(arena, "a: &a ", "x", LONG, "\n");
    /* Names of members count, and so do aliases within an anchor. */
    struct bytes nested = repeat(arena, "b: &b [{? ", "x", LONG, " : 1}]\na: &a [*b ]\n");
    for (int extra = 0; extra < 2; extra++) {
        struct bytes text =
            arena_printf(arena, "%.*sc: %.*s", BYTES_FMT(scalar),
                         BYTES_FMT(repeat(arena, "[", "*a ,", (size_t)(ALIASES + extra), "]")));
        assert_int_equal(strstr(read_text(arena, text), much) != NULL, extra == 1);
        text =
            arena_printf(arena, "%.*sc: %.*s", BYTES_FMT(nested),
                         BYTES_FMT(repeat(arena, "[", "*a ,", (size_t)(ALIASES - 2 + extra), "]")));
        assert_int_equal(strstr(read_text(arena, text), much) != NULL, extra == 1);
    }
}

static void counts_and_sizes_are_bounded(void **state)
{
    struct arena *arena = *state;
    const char *many = "the document has more than 100000 values";
    struct bytes text = repeat(arena, "[", "1,", TEMPLATE_NODES_MAX - 2, "1]");
    assert_null(strstr(read_text(arena, text), many));
    text = repeat(arena, "[", "1,", TEMPLATE_NODES_MAX - 1, "1]");
    assert_non_null(strstr(read_text(arena, text), many));
    text = repeat(arena, "a: [", "1,", TEMPLATE_NODES_MAX, "1]");
    assert_non_null(strstr(read_text(arena, text), many));
    text = repeat(arena, "a: \"", "x", TEMPLATE_SIZE_MAX, "\"");
    assert_string_equal(read_text(arena, text), "0: the file is larger than 16777216 bytes");
    struct buffer out;
    buffer_init(&out, arena);
    for (int i = 0; i <= DOCUMENT_MEMBERS_MAX; i++)
        buffer_append_bytes(&out, arena_printf(arena, "k%d: 1\n", i));
    assert_string_equal(read_text(arena, buffer_bytes(&out)),
                        "2001: a map has more than 2000 keys");
    buffer_init(&out, arena);
    for (int i = 0; i <= TEMPLATE_ANCHORS_MAX; i++)
        buffer_append_bytes(&out, arena_printf(arena, "- &x%d 1\n", i));
    assert_string_equal(read_text(arena, buffer_bytes(&out)),
                        "1001: the document has more than 1000 anchors");
    for (int extra = 0; extra <= 1; extra++) {
        buffer_init(&out, arena);
        for (int i = 0; i < TEMPLATE_TAG_DIRECTIVES_MAX + extra; i++)
            buffer_append_bytes(&out, arena_printf(arena, "%%TAG !x%d! y\n", i));
        buffer_append_bytes(&out, BYTES("---\na: 1\n"));
        assert_string_equal(read_text(arena, buffer_bytes(&out)),
                            extra == 0 ? "{\"a\":1}"
                                       : "0: the document has more than 100 %TAG directives");
    }
}

static void trees_are_compared_by_meaning(void **state)
{
    struct arena *arena = *state;
    struct template_error err = { 0 };
    static const struct {
        const char *a, *b;
        bool equal, unordered, part;
    } cases[] = {
        { "{\"a\":1}", "{\"a\":1.0}", true, true, true },
        { "{\"a\":1}", "{\"a\":\"1\"}", false, false, false },
        { "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}", true, true, true },
        { "{\"a\":1}", "{\"b\":2,\"a\":1}", false, false, true },
        { "[1,2]", "[2,1]", false, true, false },
        { "[1,1,2]", "[2,1,2]", false, false, false },
        { "{\"a\":[]}", "{}", false, false, true },
        { "[{\"a\":1}]", "[{\"a\":1,\"b\":2}]", false, false, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct node *a = document_read(arena, bytes_from_text(cases[i].a), &err);
        const struct node *b = document_read(arena, bytes_from_text(cases[i].b), &err);
        assert_int_equal(node_equal(a, b), cases[i].equal);
        assert_int_equal(node_equal_unordered(a, b), cases[i].unordered);
        assert_int_equal(node_is_part(a, b), cases[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(yaml_becomes_json),
        ARENA_TEST(mistakes_are_told_with_their_line),
        ARENA_TEST(depth_is_bounded),
        ARENA_TEST(a_billion_laughs_are_refused_without_being_expanded),
        ARENA_TEST(aliases_count_the_text_they_stand_for),
        ARENA_TEST(counts_and_sizes_are_bounded),
        ARENA_TEST(trees_are_compared_by_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
