/* test_base64.c -- RFC 4648's own examples, and every way a text can be almost base64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "json/base64.h"

static const struct {
    const char *rule;
    struct bytes value, text;
} pairs[] = {
    { "RFC 4648, section 10: nothing", BYTES(""), BYTES("") },
    { "RFC 4648, section 10: f", BYTES("f"), BYTES("Zg==") },
    { "RFC 4648, section 10: fo", BYTES("fo"), BYTES("Zm8=") },
    { "RFC 4648, section 10: foo", BYTES("foo"), BYTES("Zm9v") },
    { "RFC 4648, section 10: foob", BYTES("foob"), BYTES("Zm9vYg==") },
    { "RFC 4648, section 10: fooba", BYTES("fooba"), BYTES("Zm9vYmE=") },
    { "RFC 4648, section 10: foobar", BYTES("foobar"), BYTES("Zm9vYmFy") },
    { "zero bytes", BYTES("\0\0\0"), BYTES("AAAA") },
    { "one zero byte", BYTES("\0"), BYTES("AA==") },
    { "all bits set", BYTES("\xFF\xFF\xFF"), BYTES("////") },
    { "the last two digits", BYTES("\xFB\xEF\xBE"), BYTES("++++") },
};

static const struct {
    const char *rule;
    struct bytes text;
} refused[] = {
    { "padding is not optional: one byte", BYTES("Zg") },
    { "padding is not optional: two bytes", BYTES("Zm8") },
    { "half of the padding", BYTES("Zg=") },
    { "a digit alone", BYTES("Z") },
    { "three of padding", BYTES("Z===") },
    { "nothing but padding", BYTES("====") },
    { "padding too many", BYTES("Zm9v====") },
    { "padding before the end", BYTES("Zg==Zg==") },
    { "padding before a digit", BYTES("Zg=v") },
    { "padding in the second place", BYTES("Z=9v") },
    { "padding in the first place", BYTES("=m9v") },
    { "padding in the second and last place", BYTES("Z=g=") },
    { "stray bits behind one byte", BYTES("Zh==") },
    { "the highest stray bit behind one byte", BYTES("Zo==") },
    { "stray bits behind two bytes", BYTES("Zm9=") },
    { "the highest stray bit behind two bytes", BYTES("Zm+=") },
    { "a space", BYTES("Zm9 ") },
    { "a line feed", BYTES("Zm9v\nZm9") },
    { "a line feed at the end", BYTES("Zm9v\n") },
    { "the URL alphabet: minus", BYTES("Zm9-") },
    { "the URL alphabet: underscore", BYTES("Zm9_") },
    { "a zero byte", BYTES("Zm9\0") },
    { "a byte above ASCII", BYTES("Zm9\xFF") },
};

static void values_and_texts_are_pairs(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        struct bytes value = pairs[i].value, text = pairs[i].text;
        assert_int_equal(base64_encoded_size(value.len), text.len);
        char *encoded = arena_alloc(arena, text.len);
        base64_encode(value, encoded);
        if (!bytes_equal(bytes_of(encoded, text.len), text))
            fail_msg("encode: %s", pairs[i].rule);
        uint8_t *decoded = arena_alloc(arena, base64_decoded_max(text.len));
        size_t size = 99;
        if (!base64_decode(text, decoded, &size) || !bytes_equal(bytes_of(decoded, size), value))
            fail_msg("decode: %s", pairs[i].rule);
    }
}

static void what_encoding_never_gives_is_refused(void **state)
{
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        uint8_t *out = arena_alloc(arena, base64_decoded_max(refused[i].text.len));
        size_t size;
        if (base64_decode(refused[i].text, out, &size))
            fail_msg("accepted: %s", refused[i].rule);
    }
}

/* Each byte in each place of a group: just the 64 digits decode, and each to its own number. */
static void just_64_bytes_are_digits(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (void)state;
    for (unsigned place = 0; place < 4; place++) {
        for (unsigned byte = 0; byte < 0x100; byte++) {
            uint8_t text[8] = { 'A', 'A', 'A', 'A', 'A', 'A', 'A', 'A' };
            uint8_t out[9];
            size_t size = 0;
            text[place] = (uint8_t)byte;
            const char *digit = byte == 0 ? NULL : strchr(digits, (int)byte);
            bool decoded = base64_decode(bytes_of(text, sizeof text), out, &size);
            assert_int_equal(decoded, digit != NULL);
            if (!decoded)
                continue;
            assert_int_equal(size, 6);
            unsigned bits = (unsigned)out[0] << 16 | (unsigned)out[1] << 8 | out[2];
            assert_int_equal(bits >> (18 - 6 * place) & 63, digit - digits);
        }
    }
}

static void random_values_come_back(void **state)
{
    struct arena *arena = *state;
    struct random random;
    random_init(&random, 4648);
    for (size_t len = 0; len < 300; len++) {
        uint8_t *value = arena_alloc(arena, len);
        random_fill(&random, value, len);
        size_t text_size = base64_encoded_size(len), size = 0;
        char *text = arena_alloc(arena, text_size);
        base64_encode(bytes_of(value, len), text);
        uint8_t *back = arena_alloc(arena, base64_decoded_max(text_size));
        assert_true(base64_decode(bytes_of(text, text_size), back, &size));
        assert_true(bytes_equal(bytes_of(back, size), bytes_of(value, len)));
    }
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
        TEST(values_and_texts_are_pairs),
        TEST(what_encoding_never_gives_is_refused),
        TEST(just_64_bytes_are_digits),
        TEST(random_values_come_back),
    };
    return cmocka_run_group_tests_name("json/base64", tests, NULL, NULL);
}
