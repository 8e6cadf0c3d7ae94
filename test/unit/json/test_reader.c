/* test_reader.c -- the grammar, numbers, depth, and how a caller meets failures. Strings have a
 * file of their own, test_reader_strings.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "json/reader.h"

enum { DEPTH_MAX = 8 };

static const struct {
    const char *rule, *text;
} accepted[] = {
    { "any value may be the whole text: null", "null" },
    { "any value may be the whole text: true", "true" },
    { "any value may be the whole text: false", "false" },
    { "any value may be the whole text: number", "0" },
    { "any value may be the whole text: string", "\"\"" },
    { "an object may be empty", "{}" },
    { "an array may be empty", "[]" },
    { "empty containers may hold white space", "{ \t\r\n}" },
    { "white space may stand around every token", " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : null }\n" },
    { "members are parted by commas", "{\"a\":1,\"b\":2,\"c\":3}" },
    { "elements are parted by commas", "[1,\"2\",true,null,{},[]]" },
    { "a name may be empty", "{\"\":1}" },
    { "a name may come twice: what that means is for the caller", "{\"a\":1,\"a\":2}" },
    { "a name may have escapes", "{\"\\u0061\\n\":1}" },
    { "containers nest", "[{\"a\":[{\"b\":[]}]},[[]]]" },
    { "zero", "[0,-0,0.0,0e0]" },
    { "a number may be negative", "-12" },
    { "a number may have a fraction with zeros", "10.0500" },
    { "an exponent may be written with e or E", "[1e5,1E5]" },
    { "an exponent may have either sign", "[1e+5,1e-5]" },
    { "an exponent may begin with zeros", "1e005" },
    { "a number has no bound on its digits", "1234567890123456789012345678901234567890.5e9999" },
};

static const struct {
    const char *rule, *text, *failure;
    size_t offset;
} refused[] = {
    { "there must be a value", "", "the text ends too early", 0 },
    { "white space is no value", " \n", "the text ends too early", 2 },
    { "no byte order mark", "\xEF\xBB\xBF{}", "a value was expected", 0 },
    { "no value behind the value", "{} {}", "there is text behind the value", 3 },
    { "no comma behind the value", "1,", "there is text behind the value", 1 },
    { "no bracket behind the value", "[]]", "there is text behind the value", 2 },
    { "no comment", "/* */1", "a value was expected", 0 },
    { "no form feed as white space", "\f1", "a value was expected", 0 },
    { "no vertical tab as white space", "\v1", "a value was expected", 0 },
    { "no no-break space as white space",
      "\xC2\xA0"
      "1",
      "a value was expected", 0 },
    { "words are lower case", "True", "a value was expected", 0 },
    { "words are whole: tru", "tru", "true or false was expected", 0 },
    { "words are whole: fals", "[fals]", "true or false was expected", 1 },
    { "words are whole: nul", "[nul]", "null was expected", 1 },
    { "words end", "nullx", "there is text behind the value", 4 },
    { "no NaN", "NaN", "a value was expected", 0 },
    { "no Infinity", "-Infinity", "a number lacks a digit", 1 },
    { "no single quotes", "'a'", "a value was expected", 0 },
    { "no trailing comma in an array", "[1,]", "a value was expected", 3 },
    { "no trailing comma in an object", "{\"a\":1,}", "the name of a member was expected", 7 },
    { "no leading comma in an array", "[,1]", "a value was expected", 1 },
    { "no leading comma in an object", "{,\"a\":1}", "the name of a member was expected", 1 },
    { "no double comma", "[1,,2]", "a value was expected", 3 },
    { "no missing comma in an array", "[1 2]", "a comma or ] was expected", 3 },
    { "no missing comma in an object", "{\"a\":1 \"b\":2}", "a comma or } was expected", 7 },
    { "a name is a string", "{1:2}", "the name of a member was expected", 1 },
    { "a name is quoted", "{a:2}", "the name of a member was expected", 1 },
    { "a colon follows the name", "{\"a\" 1}", "a colon was expected", 5 },
    { "a value follows the colon", "{\"a\":}", "a value was expected", 5 },
    { "a value follows the colon, not a comma", "{\"a\":,\"b\":1}", "a value was expected", 5 },
    { "an object is closed by its own bracket", "{\"a\":1]", "a comma or } was expected", 6 },
    { "an array is closed by its own bracket", "[1}", "a comma or ] was expected", 2 },
    { "brackets do not cross", "[{]}", "the name of a member was expected", 2 },
    { "an array is closed", "[", "the text ends too early", 1 },
    { "an array is closed behind an element", "[1", "the text ends too early", 2 },
    { "an array is closed behind a comma", "[1,", "the text ends too early", 3 },
    { "an object is closed", "{", "the text ends too early", 1 },
    { "an object is closed behind a name", "{\"a\"", "the text ends too early", 4 },
    { "an object is closed behind a colon", "{\"a\":", "the text ends too early", 5 },
    { "an object is closed behind a value", "{\"a\":1", "the text ends too early", 6 },
    { "a number has no plus", "+1", "a value was expected", 0 },
    { "a number does not begin with a point", ".5", "a value was expected", 0 },
    { "a number has digits behind the minus", "-", "a number lacks a digit", 1 },
    { "a number has digits before the point", "-.5", "a number lacks a digit", 1 },
    { "a number has digits behind the point", "1.", "a number lacks a digit", 2 },
    { "a number has digits between point and e", "1.e5", "a number lacks a digit", 2 },
    { "an exponent has digits", "1e", "a number lacks a digit", 2 },
    { "an exponent has digits behind its sign", "1e+", "a number lacks a digit", 3 },
    { "a number has no leading zero", "01", "a number begins with a needless zero", 0 },
    { "a negative number has no leading zero", "-01", "a number begins with a needless zero", 1 },
    { "zero is one digit", "00", "a number begins with a needless zero", 0 },
    { "a number has one point", "1.2.3", "there is text behind the value", 3 },
    { "a number is decimal", "0x10", "there is text behind the value", 1 },
};

static struct json_reader start(struct arena *arena, const char *text)
{
    struct json_reader reader;
    json_reader_init(&reader, arena, bytes_from_text(text), DEPTH_MAX);
    return reader;
}

/* Reads every value there is, one by one. */
static void walk_value(struct json_reader *reader)
{
    struct bytes text;
    bool boolean, ok = true;
    switch (json_peek(reader)) {
    case JSON_OBJECT:
        json_enter_object(reader);
        while (json_next_member(reader, &text))
            walk_value(reader);
        return;
    case JSON_ARRAY:
        json_enter_array(reader);
        while (json_next_element(reader))
            walk_value(reader);
        return;
    case JSON_STRING:
        ok = json_read_string(reader, &text);
        break;
    case JSON_NUMBER:
        ok = json_read_number(reader, &text);
        break;
    case JSON_BOOL:
        ok = json_read_bool(reader, &boolean);
        break;
    case JSON_NULL:
        ok = json_read_null(reader);
        break;
    case JSON_INVALID:
        ok = false;
        break;
    }
    assert_int_equal(ok, !json_failed(reader));
}

static void skip_value(struct json_reader *reader)
{
    bool ok = json_skip(reader);
    assert_int_equal(ok, !json_failed(reader));
}

static void (*const ways[])(struct json_reader *reader) = { walk_value, skip_value };

static void valid_texts_are_accepted(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(accepted); i++) {
        for (size_t way = 0; way < COUNT_OF(ways); way++) {
            struct json_reader reader = start(arena, accepted[i].text);
            ways[way](&reader);
            if (!json_finish(&reader))
                fail_msg("%s: %s: %s", accepted[i].rule, accepted[i].text, reader.failure);
        }
    }
}

static void broken_texts_are_refused_where_they_break(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        for (size_t way = 0; way < COUNT_OF(ways); way++) {
            struct json_reader reader = start(arena, refused[i].text);
            ways[way](&reader);
            if (json_finish(&reader))
                fail_msg("%s: accepted %s", refused[i].rule, refused[i].text);
            if (strcmp(reader.failure, refused[i].failure) != 0 ||
                json_offset(&reader) != refused[i].offset)
                fail_msg("%s: %s at %zu", refused[i].rule, reader.failure, json_offset(&reader));
        }
    }
}

static void every_proper_prefix_of_a_text_is_refused(void **state)
{
    struct arena *arena = *state;
    static const char text[] =
        "{\"a\":[1.5e+3,\"\\u20ac\\\"\\uD83D\\uDE00\",true,false,null],\"b\":{\"c\":[]}}";
    for (size_t size = 0; size < sizeof text; size++) {
        /* In the arena, where a byte read too far is noticed. */
        struct bytes prefix = arena_copy(arena, bytes_of(text, size));
        for (size_t way = 0; way < COUNT_OF(ways); way++) {
            struct json_reader reader;
            json_reader_init(&reader, arena, prefix, DEPTH_MAX);
            ways[way](&reader);
            assert_int_equal(json_finish(&reader), size == sizeof text - 1);
        }
    }
}

static void a_zero_byte_outside_of_a_string_is_refused(void **state)
{
    struct arena *arena = *state;
    static const struct bytes texts[] = { BYTES("\0"), BYTES("1\0"), BYTES("[\0]"), BYTES("[1\0]"),
                                          BYTES("{\"a\"\0:1}") };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        for (size_t way = 0; way < COUNT_OF(ways); way++) {
            struct json_reader reader;
            json_reader_init(&reader, arena, texts[i], DEPTH_MAX);
            ways[way](&reader);
            assert_false(json_finish(&reader));
        }
    }
}

static void values_arrive_in_order_with_their_names(void **state)
{
    struct json_reader reader =
        start(*state, "{\"s\":\"x\",\"n\":-1.50E3,\"t\":true,\"f\":false,\"z\":null,\"a\":[7]}");
    struct bytes name, text;
    bool boolean = false;
    assert_int_equal(json_peek(&reader), JSON_OBJECT);
    assert_true(json_enter_object(&reader));
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "s"));
    assert_int_equal(json_peek(&reader), JSON_STRING);
    assert_true(json_read_string(&reader, &text) && bytes_equal_text(text, "x"));
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "n"));
    assert_int_equal(json_peek(&reader), JSON_NUMBER);
    assert_true(json_read_number(&reader, &text) && bytes_equal_text(text, "-1.50E3"));
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "t"));
    assert_int_equal(json_peek(&reader), JSON_BOOL);
    assert_true(json_read_bool(&reader, &boolean) && boolean);
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "f"));
    assert_true(json_read_bool(&reader, &boolean) && !boolean);
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "z"));
    assert_int_equal(json_peek(&reader), JSON_NULL);
    assert_true(json_read_null(&reader));
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "a"));
    assert_int_equal(json_peek(&reader), JSON_ARRAY);
    assert_true(json_enter_array(&reader));
    assert_true(json_next_element(&reader));
    assert_true(json_read_number(&reader, &text) && bytes_equal_text(text, "7"));
    assert_false(json_next_element(&reader));
    assert_false(json_failed(&reader));
    assert_false(json_next_member(&reader, &name));
    assert_true(json_finish(&reader));
}

/* `count` opening brackets of arrays and objects in turn, and their closing ones. */
static struct bytes nested(struct arena *arena, unsigned count, bool arrays_first)
{
    uint8_t *text = arena_alloc(arena, (size_t)count * 6 + 1);
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        bool array = (i % 2 == 0) == arrays_first;
        memcpy(text + size, array ? "[" : "{\"a\":", array ? 1 : 5);
        size += array ? 1 : 5;
    }
    text[size++] = '1';
    for (unsigned i = count; i-- > 0;)
        text[size++] = (i % 2 == 0) == arrays_first ? ']' : '}';
    return bytes_of(text, size);
}

static void depth_is_bounded_by_the_depth_given(void **state)
{
    struct arena *arena = *state;
    static const unsigned depths_max[] = { 0, 1, 2, 63, 64, 65, JSON_DEPTH_LIMIT };
    for (size_t i = 0; i < COUNT_OF(depths_max) * 4; i++) {
        unsigned depth_max = depths_max[i / 4];
        void (*way)(struct json_reader *) = ways[i % 2];
        for (unsigned depth = depth_max == 0 ? 0 : depth_max - 1; depth <= depth_max + 1; depth++) {
            struct json_reader reader;
            json_reader_init(&reader, arena, nested(arena, depth, i / 2 % 2 == 0), depth_max);
            way(&reader);
            assert_int_equal(json_finish(&reader), depth <= depth_max);
            if (depth > depth_max)
                assert_string_equal(reader.failure, "the text is nested too deeply");
        }
    }
}

static void depth_counts_open_containers_only(void **state)
{
    struct json_reader reader;
    json_reader_init(&reader, *state, BYTES("[[],[],{},[],{}]"), 2);
    assert_true(json_skip(&reader));
    assert_true(json_finish(&reader));
}

static void a_reader_of_the_wrong_type_fails(void **state)
{
    struct arena *arena = *state;
    static const char *const texts[] = { "null", "true", "1", "\"s\"", "{}", "[]" };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct bytes text;
        bool boolean;
        struct json_reader reader = start(arena, texts[i]);
        assert_int_equal(json_read_null(&reader), i == 0);
        reader = start(arena, texts[i]);
        assert_int_equal(json_read_bool(&reader, &boolean), i == 1);
        reader = start(arena, texts[i]);
        assert_int_equal(json_read_number(&reader, &text), i == 2);
        reader = start(arena, texts[i]);
        assert_int_equal(json_read_string(&reader, &text), i == 3);
        reader = start(arena, texts[i]);
        assert_int_equal(json_enter_object(&reader), i == 4);
        reader = start(arena, texts[i]);
        assert_int_equal(json_enter_array(&reader), i == 5);
        assert_int_equal(json_failed(&reader), i != 5);
    }
}

static void a_failure_is_final(void **state)
{
    struct json_reader reader = start(*state, "[1,x,2]");
    struct bytes text;
    bool boolean;
    assert_true(json_enter_array(&reader));
    assert_true(json_next_element(&reader));
    assert_true(json_read_number(&reader, &text));
    assert_true(json_next_element(&reader));
    assert_int_equal(json_peek(&reader), JSON_INVALID);
    const char *failure = reader.failure;
    assert_non_null(failure);
    assert_int_equal(json_peek(&reader), JSON_INVALID);
    assert_false(json_read_number(&reader, &text));
    assert_false(json_read_string(&reader, &text));
    assert_false(json_read_bool(&reader, &boolean));
    assert_false(json_read_null(&reader));
    assert_false(json_enter_object(&reader));
    assert_false(json_enter_array(&reader));
    assert_false(json_next_element(&reader));
    assert_false(json_next_member(&reader, &text));
    assert_false(json_skip(&reader));
    assert_false(json_finish(&reader));
    assert_ptr_equal(reader.failure, failure);
    assert_int_equal(json_offset(&reader), 3);
}

static void a_bookmark_can_be_returned_to(void **state)
{
    struct json_reader reader = start(*state, "{\"a\":[1,{\"b\":2}],\"c\":3}");
    struct bytes name, text;
    assert_true(json_enter_object(&reader));
    assert_true(json_next_member(&reader, &name));
    struct json_reader bookmark = reader;
    assert_true(json_skip(&reader));
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "c"));
    assert_false(json_read_string(&reader, &text)); /* A failure is forgotten as well. */
    reader = bookmark;
    assert_int_equal(json_offset(&reader), 5);
    walk_value(&reader);
    assert_true(json_next_member(&reader, &name) && bytes_equal_text(name, "c"));
    assert_true(json_read_number(&reader, &text) && bytes_equal_text(text, "3"));
    assert_false(json_next_member(&reader, &name));
    assert_true(json_finish(&reader));
}

static void a_value_that_is_not_read_is_a_failure(void **state)
{
    struct bytes name;
    struct json_reader reader = start(*state, "{\"a\":,\"b\":1}");
    assert_true(json_enter_object(&reader));
    assert_true(json_next_member(&reader, &name));
    assert_false(json_next_member(&reader, &name));
    assert_string_equal(reader.failure, "a value was not read");
    reader = start(*state, "[1]");
    assert_true(json_enter_array(&reader));
    assert_true(json_next_element(&reader));
    assert_false(json_next_element(&reader));
    assert_true(json_failed(&reader));
}

static void a_value_is_read_once(void **state)
{
    struct bytes text;
    struct json_reader reader = start(*state, "1 2");
    assert_true(json_read_number(&reader, &text));
    assert_false(json_read_number(&reader, &text));
    reader = start(*state, "[1 2]");
    assert_true(json_enter_array(&reader));
    assert_false(json_read_number(&reader, &text)); /* json_next_element comes first. */
    assert_false(json_next_element(&reader));
}

static void a_container_that_is_not_left_is_not_finished(void **state)
{
    struct json_reader reader = start(*state, "[1]");
    assert_true(json_enter_array(&reader));
    assert_true(json_next_element(&reader));
    assert_true(json_skip(&reader));
    assert_false(json_finish(&reader));
    assert_string_equal(reader.failure, "a value was not read");
}

static void outside_of_containers_there_is_no_next_entry(void **state)
{
    struct bytes name;
    struct json_reader reader = start(*state, "[]]");
    assert_true(json_skip(&reader));
    assert_false(json_next_element(&reader));
    assert_true(json_failed(&reader));
    reader = start(*state, "{}}");
    assert_true(json_skip(&reader));
    assert_false(json_next_member(&reader, &name));
    assert_true(json_failed(&reader));
}

static void skipping_takes_no_memory(void **state)
{
    struct arena *arena = *state;
    struct json_reader reader = start(arena, "{\"a\\n\":[\"b\\n\",{\"\\u0041\":1}]}");
    uint8_t *before = arena_alloc(arena, 0);
    assert_true(json_skip(&reader));
    uint8_t *after = arena_alloc(arena, 0);
    assert_true(after - before <= 2 * ARENA_ALIGNMENT);
    assert_true(json_finish(&reader));
}

static int set_up(void **state)
{
    *state = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    arena_destroy(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(valid_texts_are_accepted),
        TEST(broken_texts_are_refused_where_they_break),
        TEST(every_proper_prefix_of_a_text_is_refused),
        TEST(a_zero_byte_outside_of_a_string_is_refused),
        TEST(values_arrive_in_order_with_their_names),
        TEST(depth_is_bounded_by_the_depth_given),
        TEST(depth_counts_open_containers_only),
        TEST(a_reader_of_the_wrong_type_fails),
        TEST(a_failure_is_final),
        TEST(a_bookmark_can_be_returned_to),
        TEST(a_value_that_is_not_read_is_a_failure),
        TEST(a_value_is_read_once),
        TEST(a_container_that_is_not_left_is_not_finished),
        TEST(outside_of_containers_there_is_no_next_entry),
        TEST(skipping_takes_no_memory),
    };
    return cmocka_run_group_tests_name("json/reader", tests, NULL, NULL);
}
