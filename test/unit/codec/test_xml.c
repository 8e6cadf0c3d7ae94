/* test_xml.c -- answers as the query protocol's XML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "codec/xml.h"

static struct arena *arena;

static const struct codec_member members[] = {
    { "ExtendedStatistics", CODEC_MAP_OF_DOUBLES },
    { "Labels", CODEC_MAP },
    { "Timestamp", CODEC_TIMESTAMP },
    { "Timestamps", CODEC_TIMESTAMP },
};
static const struct codec_names names = { members, COUNT_OF(members) };

static const struct {
    const char *json, *xml;
} encoded[] = {
    { "{}", "<R/>" },
    { "{\"A\":\"a\"}", "<R><A>a</A></R>" },
    { "{\"A\":\"\"}", "<R><A/></R>" },
    { "{\"A\":null,\"B\":1}", "<R><B>1</B></R>" },
    { "{\"A\":true,\"B\":-1.50}", "<R><A>true</A><B>-1.50</B></R>" },
    { "{\"A\":{\"B\":{\"C\":1}}}", "<R><A><B><C>1</C></B></A></R>" },
    { "{\"A\":[]}", "<R><A/></R>" },
    { "{\"A\":[1,\"b\",null]}", "<R><A><member>1</member><member>b</member><member/></A></R>" },
    { "{\"A\":[{\"B\":1},{}]}", "<R><A><member><B>1</B></member><member/></A></R>" },
    { "{\"Timestamp\":1794825815}", "<R><Timestamp>2026-11-16T10:43:35Z</Timestamp></R>" },
    { "{\"Timestamp\":1794825815.25}", "<R><Timestamp>2026-11-16T10:43:35.250Z</Timestamp></R>" },
    { "{\"Timestamp\":1e99}", "<R><Timestamp>9999-12-31T23:59:59Z</Timestamp></R>" },
    { "{\"Timestamps\":[0,1]}", "<R><Timestamps><member>1970-01-01T00:00:00Z</member>"
                                "<member>1970-01-01T00:00:01Z</member></Timestamps></R>" },
    { "{\"Labels\":{}}", "<R><Labels/></R>" },
    /* A name is data in a map: it may be any text, and says nothing about its value. */
    { "{\"Labels\":{\"Timestamp\":1,\"a<b\":{\"C\":\"d\"},\"\":[]}}",
      "<R><Labels><entry><key>Timestamp</key><value>1</value></entry>"
      "<entry><key>a&lt;b</key><value><C>d</C></value></entry>"
      "<entry><key></key><value/></entry></Labels></R>" },
    { "{\"ExtendedStatistics\":{\"p90\":1.5}}",
      "<R><ExtendedStatistics><entry><key>p90</key><value>1.5</value></entry>"
      "</ExtendedStatistics></R>" },
    { "{\"A\":\"<&>\\\"'\\r\\n\\t\"}", "<R><A>&lt;&amp;&gt;&quot;'&#xD;\n\t</A></R>" },
    /* XML cannot express these. */
    { "{\"A\":\"\\u0000\\u001f\\ufffe\\uffff\"}", "<R><A>\ufffd\ufffd\ufffd\ufffd</A></R>" },
    { "{\"A\":\"\u00fc\U00010151\"}", "<R><A>\u00fc\U00010151</A></R>" },
};

static void answers_become_xml(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(encoded); i++) {
        struct buffer out;
        buffer_init(&out, arena);
        if (!xml_encode(&out, &names, BYTES("R"), bytes_from_text(encoded[i].json)))
            fail_msg("%s", encoded[i].json);
        if (!bytes_equal_text(buffer_bytes(&out), encoded[i].xml))
            fail_msg("%s\n got: %.*s\nwant: %s", encoded[i].json, BYTES_FMT(buffer_bytes(&out)),
                     encoded[i].xml);
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    static const char *const texts[] = { "",         "[]",         "1",
                                         "{\"A\":}", "{\"A\":1}x", "{\"a b\":1}",
                                         "{\"\":1}", "{\"1a\":1}", "{\"A\":{\"<\":1}}" };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct buffer out;
        buffer_init(&out, arena);
        if (xml_encode(&out, &names, BYTES("R"), bytes_from_text(texts[i])))
            fail_msg("%s was encoded", texts[i]);
    }
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    for (size_t depth = CODEC_DEPTH_MAX - 1; depth <= CODEC_DEPTH_MAX + 1; depth++) {
        struct buffer json, out;
        buffer_init(&json, arena);
        buffer_init(&out, arena);
        for (size_t i = 1; i < depth; i++)
            buffer_append_bytes(&json, BYTES("{\"A\":"));
        buffer_append_bytes(&json, BYTES("{}"));
        for (size_t i = 1; i < depth; i++)
            buffer_append_byte(&json, '}');
        assert_int_equal(xml_encode(&out, &names, BYTES("R"), buffer_bytes(&json)),
                         depth <= CODEC_DEPTH_MAX);
    }
}

static void text_that_is_not_utf8_becomes_replacement_characters(void **state)
{
    struct buffer out;
    (void)state;
    buffer_init(&out, arena);
    xml_append_element(&out, "Message", BYTES("a\xFF<\xE6\xB0"));
    assert_true(bytes_equal_text(buffer_bytes(&out), "<Message>a\ufffd&lt;\ufffd\ufffd</Message>"));
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answers_become_xml),
        TEST(what_is_no_answer_is_refused),
        TEST(nesting_is_bounded),
        TEST(text_that_is_not_utf8_becomes_replacement_characters),
    };
    return cmocka_run_group_tests_name("codec/xml", tests, NULL, NULL);
}
