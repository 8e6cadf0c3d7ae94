/* test_utf8.c -- every character there is, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/compiler.h"
#include "json/utf8.h"

enum { SURROGATES = 0x800 };

static size_t size_of(uint32_t character)
{
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

static void every_character_is_encoded_and_accepted(void **state)
{
    (void)state;
    for (uint32_t character = 0; character <= 0x10FFFF; character++) {
        uint8_t bytes[UTF8_SIZE_MAX];
        if (character >= 0xD800 && character < 0xD800 + SURROGATES)
            continue;
        size_t size = utf8_encode(character, bytes);
        assert_int_equal(size, size_of(character));
        if (character >= 0x80)
            assert_int_equal(utf8_size(bytes, bytes + size), size);
    }
}

/* Each character has bytes of its own, so counting what is accepted finds any that is too much. */
static void just_as_many_sequences_are_accepted_as_there_are_characters(void **state)
{
    (void)state;
    size_t counts[UTF8_SIZE_MAX + 1] = { 0 };
    for (uint32_t first = 0x80; first < 0x100; first++) {
        for (uint32_t rest = 0; rest < 0x10000; rest++) {
            uint8_t bytes[] = { (uint8_t)first, (uint8_t)(rest >> 8), (uint8_t)rest, 0x80 };
            counts[utf8_size(bytes, bytes + sizeof bytes)]++;
        }
    }
    assert_int_equal(counts[1], 0);
    assert_int_equal(counts[2], (0x800 - 0x80) * 0x100);
    assert_int_equal(counts[3], 0x10000 - 0x800 - SURROGATES);
    assert_int_equal(counts[4], (0x110000 - 0x10000) / 0x40); /* The last byte is not varied. */
}

static void the_last_of_four_bytes_continues(void **state)
{
    (void)state;
    for (unsigned last = 0; last < 0x100; last++) {
        const uint8_t bytes[] = { 0xF0, 0x9F, 0x98, (uint8_t)last };
        assert_int_equal(utf8_size(bytes, bytes + 4), last >= 0x80 && last <= 0xBF ? 4 : 0);
    }
}

static void a_character_cut_by_the_end_is_refused(void **state)
{
    static const uint32_t characters[] = { 0x80, 0x7FF, 0x800, 0xFFFF, 0x10000, 0x10FFFF };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(characters); i++) {
        uint8_t bytes[UTF8_SIZE_MAX];
        size_t size = utf8_encode(characters[i], bytes);
        for (size_t cut = 1; cut < size; cut++) {
            uint8_t *exact = malloc(cut); /* So that a byte read too far is noticed. */
            assert_non_null(exact);
            memcpy(exact, bytes, cut);
            assert_int_equal(utf8_size(exact, exact + cut), 0);
            free(exact);
        }
    }
}

static void lengths_are_counted_in_utf16_units(void **state)
{
    (void)state;
    assert_int_equal(utf8_utf16_length(BYTES("")), 0);
    assert_int_equal(utf8_utf16_length(BYTES("abc")), 3);
    assert_int_equal(utf8_utf16_length(BYTES("\xC3\xA9")), 1);
    assert_int_equal(utf8_utf16_length(BYTES("\xEF\xBF\xBF")), 1);
    assert_int_equal(utf8_utf16_length(BYTES("\xF0\x90\x80\x80")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character_is_encoded_and_accepted),
        cmocka_unit_test(just_as_many_sequences_are_accepted_as_there_are_characters),
        cmocka_unit_test(the_last_of_four_bytes_continues),
        cmocka_unit_test(a_character_cut_by_the_end_is_refused),
        cmocka_unit_test(lengths_are_counted_in_utf16_units),
    };
    return cmocka_run_group_tests_name("json/utf8", tests, NULL, NULL);
}
