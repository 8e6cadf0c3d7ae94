/* test_item_writer.c -- lines of items and changes, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "format/item_writer.h"
#include "item_fixture.h"

static void assert_text(struct buffer *out, const char *want)
{
    struct bytes text = buffer_bytes(out);
    buffer_append_byte(out, 0);
    assert_string_equal((const char *)buffer_bytes(out).data, want);
    assert_int_equal(text.len, strlen(want));
}

static void every_type_has_its_form_in_each_format(void **state)
{
    static const struct {
        const char *item, *json, *ion, *plain;
    } cases[] = {
        { "{'a':{'S':'x'}}", "{\"a\":{\"S\":\"x\"}}", "{a:\"x\"}", "{\"a\":\"x\"}" },
        { "{'a':{'N':'600'}}", "{\"a\":{\"N\":\"600\"}}", "{a:6d2}", "{\"a\":600}" },
        { "{'a':{'B':'AQI='}}", "{\"a\":{\"B\":\"AQI=\"}}", "{a:{{AQI=}}}", "{\"a\":\"AQI=\"}" },
        { "{'a':{'BOOL':true}}", "{\"a\":{\"BOOL\":true}}", "{a:true}", "{\"a\":true}" },
        { "{'a':{'BOOL':false}}", "{\"a\":{\"BOOL\":false}}", "{a:false}", "{\"a\":false}" },
        { "{'a':{'NULL':true}}", "{\"a\":{\"NULL\":true}}", "{a:null}", "{\"a\":null}" },
        { "{'a':{'L':[{'S':'x'},{'N':'1'}]}}", "{\"a\":{\"L\":[{\"S\":\"x\"},{\"N\":\"1\"}]}}",
          "{a:[\"x\",1.]}", "{\"a\":[\"x\",1]}" },
        { "{'a':{'M':{'c':{'L':[]},'b':{'M':{}}}}}",
          "{\"a\":{\"M\":{\"b\":{\"M\":{}},\"c\":{\"L\":[]}}}}", "{a:{b:{},c:[]}}",
          "{\"a\":{\"b\":{},\"c\":[]}}" },
        { "{'a':{'SS':['y','x']}}", "{\"a\":{\"SS\":[\"x\",\"y\"]}}",
          "{a:$dynamodb_SS::[\"x\",\"y\"]}", "{\"a\":[\"x\",\"y\"]}" },
        { "{'a':{'NS':['2','1.5']}}", "{\"a\":{\"NS\":[\"1.5\",\"2\"]}}",
          "{a:$dynamodb_NS::[1.5,2.]}", "{\"a\":[1.5,2]}" },
        { "{'a':{'BS':['AQ==']}}", "{\"a\":{\"BS\":[\"AQ==\"]}}", "{a:$dynamodb_BS::[{{AQ==}}]}",
          "{\"a\":[\"AQ==\"]}" },
        { "{}", "{}", "{}", "{}" },
        { "{'b':{'S':''},'a':{'S':'x'}}", "{\"a\":{\"S\":\"x\"},\"b\":{\"S\":\"\"}}",
          "{a:\"x\",b:\"\"}", "{\"a\":\"x\",\"b\":\"\"}" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item item = item_fixture_read(arena, cases[i].item);
        struct buffer out, want;
        for (unsigned format = 0; format < ITEM_FORMAT_COUNT; format++) {
            if (format == ITEM_FORMAT_CSV)
                continue;
            buffer_init(&out, arena);
            buffer_init(&want, arena);
            item_writer_item(&out, (enum item_format)format, &item);
            bool json = format == ITEM_FORMAT_DYNAMODB_JSON, ion = format == ITEM_FORMAT_ION;
            const char *before = json ? "{\"Item\":" : ion ? "$ion_1_0 {Item:" : "";
            const char *text = json ? cases[i].json : ion ? cases[i].ion : cases[i].plain;
            struct bytes line = arena_printf(arena, "%s%s%s\n", before, text,
                                             format == ITEM_FORMAT_PLAIN_JSON ? "" : "}");
            buffer_append_bytes(&want, line);
            buffer_append_byte(&want, 0);
            assert_text(&out, (const char *)want.data);
        }
    }
}

static void ion_writes_decimals_as_ion_java_does(void **state)
{
    static const struct {
        const char *number, *want;
    } cases[] = {
        { "0", "0." },
        { "103", "103." },
        { "-103", "-103." },
        { "600", "6d2" },
        { "1E125", "1d125" },
        { "12.5", "12.5" },
        { "-0.5", "-0.5" },
        { "0.05", "0.05" },
        { "0.000001", "0.000001" },
        { "0.0000015", "0.0000015" },
        { "0.0000001", "1d-7" },
        { "0.00000015", "15d-8" },
        { "1E-130", "1d-130" },
        { "12345678901234567890123456789012345678", "12345678901234567890123456789012345678." },
        { "1.2345678901234567890123456789012345678", "1.2345678901234567890123456789012345678" },
        { "9.9999999999999999999999999999999999999E+125",
          "99999999999999999999999999999999999999d88" },
    };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes json = arena_printf(arena, "{'n':{'N':'%s'}}%c", cases[i].number, 0);
        struct item item = item_fixture_read(arena, (const char *)json.data);
        struct bytes want = arena_printf(arena, "$ion_1_0 {Item:{n:%s}}\n%c", cases[i].want, 0);
        struct buffer out;
        buffer_init(&out, arena);
        item_writer_item(&out, ITEM_FORMAT_ION, &item);
        assert_text(&out, (const char *)want.data);
    }
}

static void ion_quotes_names_and_escapes_control_characters(void **state)
{
    struct arena *arena = *state;
    struct item item = item_fixture_read(
        arena, "{'_a$1':{'S':'\\u0000\\u0007\\b\\t\\n\\u000b\\f\\r\\u0001\\u007f\\u0085\\u00a0'},"
               "'true':{'S':'a/b'},'$12':{'S':'\\\\'},'a b':{'S':'\\u0022'},'1':{'S':'x'},"
               "'\\u0027':{'S':'\\u0027'},'$':{'S':'\\u00e9'},'\\u00e9':{'S':''}}");
    struct buffer out;
    buffer_init(&out, arena);
    item_writer_item(&out, ITEM_FORMAT_ION, &item);
    assert_text(&out, "$ion_1_0 {Item:{$:\"\xc3\xa9\",'$12':\"\\\\\",'\\'':\"'\",'1':\"x\","
                      "_a$1:\"\\0\\a\\b\\t\\n\\v\\f\\r\\x01\\x7f\\x85\xc2\xa0\",'a b':\"\\\"\","
                      "'true':\"a/b\",'\xc3\xa9':\"\"}}\n");
}

static void a_change_has_the_images_it_was_given(void **state)
{
    struct arena *arena = *state;
    struct item keys = item_fixture_read(arena, "{'p':{'S':'k'}}");
    struct item old = item_fixture_read(arena, "{'p':{'S':'k'},'n':{'N':'1'}}");
    struct item new = item_fixture_read(arena, "{'p':{'S':'k'},'n':{'N':'2'}}");
    const struct {
        struct item_change change;
        const char *json, *ion;
    } cases[] = {
        { { .write_micros = 1680109764000000, .keys = &keys, .old_image = &old, .new_image = &new },
          "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"1680109764000000\"}},\"Keys\":{\"p\":"
          "{\"S\":\"k\"}},\"OldImage\":{\"n\":{\"N\":\"1\"},\"p\":{\"S\":\"k\"}},\"NewImage\":{"
          "\"n\":{\"N\":\"2\"},\"p\":{\"S\":\"k\"}}}\n",
          "$ion_1_0 {Record:{Keys:{p:\"k\"},Metadata:{WriteTimestampMicros:1680109764000000.},"
          "OldImage:{n:1.,p:\"k\"},NewImage:{n:2.,p:\"k\"}}}\n" },
        { { .write_micros = 7, .keys = &keys, .new_image = &new },
          "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"7\"}},\"Keys\":{\"p\":{\"S\":\"k\"}},"
          "\"NewImage\":{\"n\":{\"N\":\"2\"},\"p\":{\"S\":\"k\"}}}\n",
          "$ion_1_0 {Record:{Keys:{p:\"k\"},Metadata:{WriteTimestampMicros:7.},NewImage:{n:2.,p:"
          "\"k\"}}}\n" },
        { { .write_micros = 0, .keys = &keys },
          "{\"Metadata\":{\"WriteTimestampMicros\":{\"N\":\"0\"}},\"Keys\":{\"p\":{\"S\":\"k\"}}}"
          "\n",
          "$ion_1_0 {Record:{Keys:{p:\"k\"},Metadata:{WriteTimestampMicros:0.}}}\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buffer out;
        buffer_init(&out, arena);
        item_writer_change(&out, ITEM_FORMAT_DYNAMODB_JSON, &cases[i].change);
        assert_text(&out, cases[i].json);
        buffer_init(&out, arena);
        item_writer_change(&out, ITEM_FORMAT_ION, &cases[i].change);
        assert_text(&out, cases[i].ion);
    }
}

static void csv_quotes_what_needs_it(void **state)
{
    struct arena *arena = *state;
    struct item item = item_fixture_read(
        arena, "{'plain':{'S':'x y'},'comma':{'S':'a,b'},'quote':{'S':'\\u0022q\\u0022'},"
               "'lines':{'S':'1\\n2'},'space':{'S':' x'},'n':{'N':'1.50'},'b':{'B':'AQI='},"
               "'t':{'BOOL':true},'z':{'NULL':true},'l':{'L':[{'S':'a'},{'N':'1'}]}}");
    static const char *const names[] = { "plain", "comma", "quote", "lines", "space", "n",
                                         "b",     "t",     "z",     "l",     "none",  "a,b" };
    struct bytes columns[COUNT_OF(names)];
    for (size_t i = 0; i < COUNT_OF(names); i++)
        columns[i] = bytes_from_text(names[i]);
    struct buffer out;
    buffer_init(&out, arena);
    item_writer_csv_header(&out, columns, COUNT_OF(names));
    item_writer_csv_row(&out, columns, COUNT_OF(names), &item);
    item_writer_csv_row(&out, columns + 10, 1, &item);
    assert_text(&out, "plain,comma,quote,lines,space,n,b,t,z,l,none,\"a,b\"\n"
                      "x y,\"a,b\",\"\"\"q\"\"\",\"1\n2\",\" x\",1.5,AQI=,true,,\"[\"\"a\"\",1]\",,"
                      "\n\"\"\n");
}

static void formats_have_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ITEM_FORMAT_COUNT; i++) {
        enum item_format format;
        assert_true(
            item_format_parse(bytes_from_text(item_format_name((enum item_format)i)), &format));
        assert_int_equal(format, i);
    }
    enum item_format format;
    assert_false(item_format_parse(BYTES("XML"), &format));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(every_type_has_its_form_in_each_format),
        ARENA_TEST(ion_writes_decimals_as_ion_java_does),
        ARENA_TEST(ion_quotes_names_and_escapes_control_characters),
        ARENA_TEST(a_change_has_the_images_it_was_given),
        ARENA_TEST(csv_quotes_what_needs_it),
        cmocka_unit_test(formats_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
