/* test_cbor.c -- the examples of RFC 8949, what is almost CBOR, and round trips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "codec/cbor.h"
#include "json/writer.h"
#include "model/error.h"

static struct arena *arena;

static struct bytes from_hex(const char *hex)
{
    size_t size = strlen(hex) / 2;
    uint8_t *out = arena_alloc(arena, size);
    for (size_t i = 0; i < size; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return bytes_of(out, size);
}

static const char *to_hex(struct bytes bytes)
{
    char *out = arena_alloc(arena, bytes.len * 2 + 1);
    out[0] = '\0';
    for (size_t i = 0; i < bytes.len; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes.data[i]);
    return out;
}

static void assert_text(const char *name, struct bytes got, const char *want)
{
    if (!bytes_equal_text(got, want))
        fail_msg("%s\n got: %.*s\nwant: %s", name, BYTES_FMT(got), want);
}

/* --- Decoding --- */

static const struct {
    const char *hex, *json;
} decoded[] = {
    /* RFC 8949, appendix A. */
    { "00", "0" },
    { "01", "1" },
    { "0a", "10" },
    { "17", "23" },
    { "1818", "24" },
    { "1864", "100" },
    { "1903e8", "1000" },
    { "1a000f4240", "1000000" },
    { "1b000000e8d4a51000", "1000000000000" },
    { "1bffffffffffffffff", "18446744073709551615" },
    { "3bffffffffffffffff", "-18446744073709551616" },
    { "20", "-1" },
    { "29", "-10" },
    { "3863", "-100" },
    { "3903e7", "-1000" },
    { "f90000", "0.0" },
    { "f98000", "-0.0" },
    { "f93c00", "1.0" },
    { "fb3ff199999999999a", "1.1" },
    { "f93e00", "1.5" },
    { "f97bff", "65504.0" },
    { "fa47c35000", "100000.0" },
    { "fa7f7fffff", "3.4028234663852886e+38" },
    { "fb7e37e43c8800759c", "1e+300" },
    { "f90001", "5.9604644775390625e-08" },
    { "f90400", "6.103515625e-05" },
    { "f9c400", "-4.0" },
    { "fbc010666666666666", "-4.1" },
    { "f97c00", "\"Infinity\"" },
    { "f97e00", "\"NaN\"" },
    { "f9fc00", "\"-Infinity\"" },
    { "fa7f800000", "\"Infinity\"" },
    { "fa7fc00000", "\"NaN\"" },
    { "faff800000", "\"-Infinity\"" },
    { "fb7ff0000000000000", "\"Infinity\"" },
    { "fb7ff8000000000000", "\"NaN\"" },
    { "fbfff0000000000000", "\"-Infinity\"" },
    { "f4", "false" },
    { "f5", "true" },
    { "f6", "null" },
    { "f7", "null" },
    { "c11a514b67b0", "1363896240" },
    { "c1fb41d452d9ec200000", "1363896240.5" },
    { "d74401020304", "\"AQIDBA==\"" },
    { "40", "\"\"" },
    { "4401020304", "\"AQIDBA==\"" },
    { "60", "\"\"" },
    { "6161", "\"a\"" },
    { "6449455446", "\"IETF\"" },
    { "62225c", "\"\\\"\\\\\"" },
    { "62c3bc", "\"\u00fc\"" },
    { "63e6b0b4", "\"\u6c34\"" },
    { "64f0908591", "\"\U00010151\"" },
    { "80", "[]" },
    { "83010203", "[1,2,3]" },
    { "8301820203820405", "[1,[2,3],[4,5]]" },
    { "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
      "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]" },
    { "a0", "{}" },
    { "a26161016162820203", "{\"a\":1,\"b\":[2,3]}" },
    { "826161a161626163", "[\"a\",{\"b\":\"c\"}]" },
    { "5f42010243030405ff", "\"AQIDBAU=\"" },
    { "7f657374726561646d696e67ff", "\"streaming\"" },
    { "9fff", "[]" },
    { "9f018202039f0405ffff", "[1,[2,3],[4,5]]" },
    { "9f01820203820405ff", "[1,[2,3],[4,5]]" },
    { "83018202039f0405ff", "[1,[2,3],[4,5]]" },
    { "83019f0203ff820405", "[1,[2,3],[4,5]]" },
    { "bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}" },
    { "826161bf61626163ff", "[\"a\",{\"b\":\"c\"}]" },
    { "bf6346756ef563416d7421ff", "{\"Fun\":true,\"Amt\":-2}" },
    /* Ours. */
    { "", "{}" },
    { "a17f6161ff01", "{\"a\":1}" },   /* A key in parts. */
    { "1b0000000000000001", "1" },     /* Longer than it needs to be. */
    { "9b000000000000000101", "[1]" }, /* So may lengths. */
    { "a1617482c11a514b67b001", "{\"t\":[1363896240,1]}" },
    { "c1c01a514b67b0", "1363896240" },        /* Tags of tags. */
    { "a2616101616102", "{\"a\":1,\"a\":2}" }, /* The reader of shapes takes the last one. */
};

static void examples_become_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(decoded); i++) {
        struct error err;
        struct bytes json;
        error_init(&err, arena);
        if (!cbor_decode(arena, from_hex(decoded[i].hex), &json, &err))
            fail_msg("%s: %.*s", decoded[i].hex, BYTES_FMT(err.message));
        assert_text(decoded[i].hex, json, decoded[i].json);
    }
}

static const struct {
    const char *hex, *reason;
} malformed[] = {
    /* RFC 8949, appendix F: the end is missing. */
    { "18", "it ends within a data item" },
    { "19", "it ends within a data item" },
    { "1a0102", "it ends within a data item" },
    { "1b01020304050607", "it ends within a data item" },
    { "38", "it ends within a data item" },
    { "58", "it ends within a data item" },
    { "f900", "it ends within a data item" },
    { "fa0000", "it ends within a data item" },
    { "fb000000", "it ends within a data item" },
    { "41", "a string is longer than the body" },
    { "61", "a string is longer than the body" },
    { "5affffffff00", "a string is longer than the body" },
    { "7b7fffffffffffffff010203", "a string is longer than the body" },
    { "81", "a list or map is longer than the body" },
    { "818181818181818181", "a list or map is longer than the body" },
    { "8200", "a list or map is longer than the body" },
    { "a1", "a list or map is longer than the body" },
    { "a20102", "a list or map is longer than the body" },
    { "a16161", "it ends where a data item is expected" },
    { "9bffffffffffffffff00", "a list or map is longer than the body" },
    { "bbffffffffffffffff00", "a list or map is longer than the body" },
    { "c0", "it ends where a data item is expected" },
    { "5f4100", "it ends where a data item is expected" },
    { "7f6100", "it ends where a data item is expected" },
    { "9f", "it ends where a data item is expected" },
    { "9f0102", "it ends where a data item is expected" },
    { "bf", "it ends where a data item is expected" },
    { "bf616101616202", "it ends where a data item is expected" },
    { "819f", "it ends where a data item is expected" },
    /* Reserved forms. */
    { "1c", "a data item has a reserved length" },
    { "1d", "a data item has a reserved length" },
    { "1e", "a data item has a reserved length" },
    { "3c", "a data item has a reserved length" },
    { "5c", "a data item has a reserved length" },
    { "9e", "a data item has a reserved length" },
    { "dc", "a data item has a reserved length" },
    { "fc", "a data item has a reserved length" },
    { "1f", "a data item has a reserved length" },
    { "3f", "a data item has a reserved length" },
    { "df", "a data item has a reserved length" },
    /* Simple values that nobody has defined. */
    { "f0", "it has an unknown simple value" },
    { "f800", "it has an unknown simple value" },
    { "f818", "it has an unknown simple value" },
    { "f8ff", "it has an unknown simple value" },
    /* Strings in parts. */
    { "5f00ff", "a string has a part of another type" },
    { "5f6100ff", "a string has a part of another type" },
    { "7f4100ff", "a string has a part of another type" },
    { "5f5f4100ffff", "a string has a part of another type" },
    { "7f7f6100ffff", "a string has a part of another type" },
    { "7f62e6b061b4ff", "a text is not valid UTF-8" }, /* No part ends within a character. */
    { "61ff", "a text is not valid UTF-8" },
    { "62c080", "a text is not valid UTF-8" },
    { "63eda080", "a text is not valid UTF-8" },
    /* Breaks. */
    { "ff", "a break stands where none may" },
    { "81ff", "a break stands where none may" },
    { "8200ff", "a break stands where none may" },
    { "a1ff00", "a break stands where none may" },
    { "bf6161ff", "a break stands where none may" },
    { "a16161ff", "a break stands where none may" },
    { "9f81ff", "a break stands where none may" },
    { "9fc1ff", "a tag has no content" },
    /* Not for us. */
    { "a10102", "the key of a map is not text" },
    { "a1416101", "the key of a map is not text" },
    { "a1c1616101", "the key of a map is not text" },
    { "c16161", "a time is not a number" },
    { "c1f6", "a time is not a number" },
    { "c180", "a time is not a number" },
    { "0000", "bytes follow the data item" },
    { "a000", "bytes follow the data item" },
    { "a0ff", "bytes follow the data item" },
};

static void malformed_items_are_refused_with_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(malformed); i++) {
        struct error err;
        struct bytes json;
        error_init(&err, arena);
        if (cbor_decode(arena, from_hex(malformed[i].hex), &json, &err))
            fail_msg("%s was read as %.*s", malformed[i].hex, BYTES_FMT(json));
        assert_int_equal(err.code, ERROR_SERIALIZATION);
        struct bytes want =
            arena_printf(arena, "The body is not valid CBOR: %s", malformed[i].reason);
        if (!bytes_equal(err.message, want))
            fail_msg("%s\n got: %.*s\nwant: %.*s", malformed[i].hex, BYTES_FMT(err.message),
                     BYTES_FMT(want));
    }
}

static bool decodes_nested(size_t depth)
{
    struct error err;
    struct bytes json;
    uint8_t *body = arena_alloc(arena, depth + 1);
    memset(body, 0x81, depth);
    body[depth] = 0;
    error_init(&err, arena);
    bool ok = cbor_decode(arena, bytes_of(body, depth + 1), &json, &err);
    if (!ok)
        assert_text("depth", err.message, "The body is not valid CBOR: it is nested too deeply");
    return ok;
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    assert_true(decodes_nested(CODEC_DEPTH_MAX - 1));
    assert_true(decodes_nested(CODEC_DEPTH_MAX));
    assert_false(decodes_nested(CODEC_DEPTH_MAX + 1));
    assert_false(decodes_nested(1000000));
}

static bool decodes_size(size_t size, enum error_code *code)
{
    struct error err;
    struct bytes json;
    uint8_t *body = arena_alloc(arena, size);
    memset(body, 'a', size);
    body[0] = 0x7a; /* Text with a length of four bytes. */
    for (int i = 0; i < 4; i++)
        body[1 + i] = (uint8_t)((size - 5) >> (24 - 8 * i));
    error_init(&err, arena);
    bool ok = cbor_decode(arena, bytes_of(body, size), &json, &err);
    *code = err.code;
    return ok;
}

static void size_is_bounded(void **state)
{
    enum error_code code;
    (void)state;
    assert_true(decodes_size(CODEC_INPUT_SIZE_MAX - 1, &code));
    assert_true(decodes_size(CODEC_INPUT_SIZE_MAX, &code));
    assert_false(decodes_size(CODEC_INPUT_SIZE_MAX + 1, &code));
    assert_int_equal(code, ERROR_REQUEST_TOO_LARGE);
}

/* --- Encoding --- */

static const struct codec_member members[] = {
    { "Blob", CODEC_BLOB },
    { "ExtendedStatistics", CODEC_MAP_OF_DOUBLES },
    { "Labels", CODEC_MAP },
    { "Timestamp", CODEC_TIMESTAMP },
    { "Timestamps", CODEC_TIMESTAMP },
    { "Values", CODEC_DOUBLE },
};
static const struct codec_names names = { members, COUNT_OF(members) };

static const struct {
    const char *json, *hex;
} encoded[] = {
    { "{}", "a0" },
    { "[]", "80" },
    { "[0,23,24,255,256,65535,65536,4294967295,4294967296]",
      "8900171818"
      "18ff19010019ffff1a000100001affffffff1b0000000100000000" },
    { "[-1,-24,-25,-9223372036854775808,9223372036854775807]",
      "8520373818"
      "3b7fffffffffffffff1b7fffffffffffffff" },
    { "9223372036854775808", "fb43e0000000000000" },
    { "1.5", "fb3ff8000000000000" },
    { "1e2", "fb4059000000000000" },
    { "[true,false,null,\"\\u00fc\"]", "84f5f4f662c3bc" },
    { "{\"a\":[1,{\"b\":\"c\"}]}", "a161618201a161626163" },
    { "{\"Timestamp\":1363896240}", "a16954696d657374616d70c11a514b67b0" },
    { "{\"Timestamp\":1363896240.5}", "a16954696d657374616d70c1fb41d452d9ec200000" },
    { "{\"Timestamps\":[0,1]}", "a16a54696d657374616d707382c100c101" },
    { "{\"Values\":[1,2.5,\"NaN\",\"-Infinity\"]}",
      "a16656616c75657384fb3ff0000000000000fb4004000000000000"
      "fb7ff8000000000000fbfff0000000000000" },
    { "{\"Blob\":\"AQIDBA==\"}", "a164426c6f624401020304" },
    /* A name is data in a map, also one that is a member's elsewhere. */
    { "{\"Labels\":{\"Values\":1}}", "a1664c6162656c73a16656616c75657301" },
    { "{\"ExtendedStatistics\":{\"p90\":1}}",
      "a172457874656e64656453746174697374696373a163703930fb3ff0000000000000" },
    /* In a structure within a map's value names count again. */
    { "{\"Labels\":{\"x\":{\"Timestamp\":1}}}",
      "a1664c6162656c73a16178a16954696d657374616d70c101" },
};

static void answers_become_cbor(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(encoded); i++) {
        struct bytes cbor;
        assert_true(cbor_encode(arena, &names, bytes_from_text(encoded[i].json), &cbor));
        const char *hex = to_hex(cbor);
        if (strcmp(hex, encoded[i].hex) != 0)
            fail_msg("%s\n got: %s\nwant: %s", encoded[i].json, hex, encoded[i].hex);
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    static const char *const texts[] = { "",   "{", "{\"a\"}", "[1,]", "1 2", "{\"Blob\":\"?\"}",
                                         "nul" };
    struct bytes cbor;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_false(cbor_encode(arena, &names, bytes_from_text(texts[i]), &cbor));
}

/* Around every size at which a head grows. */
static void long_lists_have_the_shortest_head(void **state)
{
    static const struct {
        size_t count;
        const char *head;
    } cases[] = { { 23, "97" },      { 24, "9818" },      { 255, "98ff" },
                  { 256, "990100" }, { 65535, "99ffff" }, { 65536, "9a00010000" } };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buffer json;
        struct bytes cbor;
        buffer_init(&json, arena);
        buffer_append_byte(&json, '[');
        for (size_t n = 0; n < cases[i].count; n++)
            buffer_append_bytes(&json, n == 0 ? BYTES("7") : BYTES(",7"));
        buffer_append_byte(&json, ']');
        assert_true(cbor_encode(arena, &names, buffer_bytes(&json), &cbor));
        size_t head_size = strlen(cases[i].head) / 2;
        assert_int_equal(cbor.len, head_size + cases[i].count);
        assert_string_equal(to_hex(bytes_of(cbor.data, head_size)), cases[i].head);
        assert_int_equal(cbor.data[head_size], 7);
        assert_int_equal(cbor.data[cbor.len - 1], 7);
    }
}

/* --- Round trips --- */

static void write_random(struct json_writer *json, struct random *random, int depth)
{
    uint64_t choice = random_next(random) % (depth > 0 ? 8 : 6);
    uint64_t bits = random_next(random);
    double value;
    char text[8];
    switch (choice) {
    case 0:
        json_write_integer(json, (int64_t)(bits >> bits % 64));
        break;
    case 1:
        json_write_integer(json, -(int64_t)(bits >> (1 + bits % 63)));
        break;
    case 2:
        memcpy(&value, &bits, sizeof value);
        json_write_double(json, value - value == 0 ? value : 1.25);
        break;
    case 3:
        json_write_bool(json, bits % 2 == 0);
        break;
    case 4:
        json_write_null(json);
        break;
    case 5:
        snprintf(text, sizeof text, "%x", (unsigned)(bits % 4096));
        json_write_text(json, text);
        break;
    case 6:
        json_open_array(json);
        for (uint64_t i = 0; i < bits % 40; i++)
            write_random(json, random, depth - 1);
        json_close_array(json);
        break;
    default:
        json_open_object(json);
        for (uint64_t i = 0; i < bits % 30; i++) {
            snprintf(text, sizeof text, "n%d", (int)i);
            json_write_name(json, text);
            write_random(json, random, depth - 1);
        }
        json_close_object(json);
        break;
    }
}

static void random_values_come_back(void **state)
{
    struct random random;
    (void)state;
    random_init(&random, 8949);
    for (int i = 0; i < 2000; i++) {
        struct buffer text;
        struct json_writer json;
        struct bytes cbor, again;
        struct error err;
        buffer_init(&text, arena);
        json_writer_init(&json, &text);
        write_random(&json, &random, 3);
        error_init(&err, arena);
        assert_true(cbor_encode(arena, &names, buffer_bytes(&text), &cbor));
        assert_true(cbor_decode(arena, cbor, &again, &err));
        if (!bytes_equal(again, buffer_bytes(&text)))
            fail_msg("round %d\n got: %.*s\nwant: %.*s", i, BYTES_FMT(again),
                     BYTES_FMT(buffer_bytes(&text)));
        arena_reset(arena);
    }
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
        TEST(examples_become_json),
        TEST(malformed_items_are_refused_with_a_reason),
        TEST(nesting_is_bounded),
        TEST(size_is_bounded),
        TEST(answers_become_cbor),
        TEST(what_is_no_answer_is_refused),
        TEST(long_lists_have_the_shortest_head),
        TEST(random_values_come_back),
    };
    return cmocka_run_group_tests_name("codec/cbor", tests, NULL, NULL);
}
