/* test_scan.c -- the scanning loops stop at the right byte, wherever it lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/random.h"
#include "json/scan.h"

typedef const uint8_t *scan_function(const uint8_t *at, const uint8_t *end);

enum { SIZE_MAX_TRIED = 80 };

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

static bool is_unescaped(uint8_t byte)
{
    return byte >= 0x80 || is_plain(byte);
}

/* The copying loops as scans: what they copied must be what they passed. */
static const uint8_t *end_of_copy(size_t copy(uint8_t *, const uint8_t *, size_t),
                                  const uint8_t *at, const uint8_t *end)
{
    struct arena *arena = arena_create();
    uint8_t *to = arena_alloc(arena, (size_t)(end - at)); /* Poison follows it. */
    size_t size = copy(to, at, (size_t)(end - at));
    assert_memory_equal(to, at, size);
    arena_destroy(arena);
    return at + size;
}

static const uint8_t *scan_unescaped(const uint8_t *at, const uint8_t *end)
{
    return end_of_copy(scan_copy_unescaped, at, end);
}

static const uint8_t *scan_unescaped_portable(const uint8_t *at, const uint8_t *end)
{
    return end_of_copy(scan_copy_portable, at, end);
}

/* A block is read and written, whatever the size, and all behind the text is to be escaped. */
static const uint8_t *scan_short(const uint8_t *at, const uint8_t *end)
{
    uint8_t from[SCAN_BLOCK_SIZE], to[SCAN_BLOCK_SIZE];
    size_t size = (size_t)(end - at);
    if (size > sizeof from)
        return scan_unescaped(at, end);
    memset(from, '"', sizeof from);
    memcpy(from, at, size);
    size_t copied = scan_copy_short(to, from, size);
    assert_memory_equal(to, at, copied);
    return at + copied;
}

/* One byte of each value at each place of a text of each size; `filler` everywhere else. */
static void check_every_byte(struct arena *arena, scan_function *scan, bool (*passes)(uint8_t),
                             uint8_t filler)
{
    for (size_t size = 1; size <= SIZE_MAX_TRIED; size++) {
        uint8_t *text = arena_alloc(arena, size); /* Poison follows it. */
        for (size_t place = 0; place < size; place++) {
            for (unsigned byte = 0; byte < 0x100; byte++) {
                memset(text, filler, size);
                text[place] = (uint8_t)byte;
                size_t want = passes((uint8_t)byte) ? size : place;
                assert_int_equal(scan(text, text + size) - text, want);
            }
        }
        arena_reset(arena);
    }
}

static void plain_text_ends_at_the_first_byte_that_is_not_plain(void **state)
{
    check_every_byte(*state, scan_plain, is_plain, 'a');
    check_every_byte(*state, scan_plain_portable, is_plain, 0x7F);
    check_every_byte(*state, scan_plain_portable, is_plain, '#'); /* One above the quote. */
}

static void unescaped_text_ends_at_the_first_byte_to_escape(void **state)
{
    check_every_byte(*state, scan_unescaped, is_unescaped, 'a');
    check_every_byte(*state, scan_unescaped, is_unescaped, 0xFF);
    check_every_byte(*state, scan_short, is_unescaped, 'a');
    check_every_byte(*state, scan_short, is_unescaped, 0xFF);
    check_every_byte(*state, scan_unescaped_portable, is_unescaped, 0x80);
    check_every_byte(*state, scan_unescaped_portable, is_unescaped, ']'); /* One above \. */
}

static void an_empty_text_ends_at_once(void **state)
{
    static scan_function *const scans[] = { scan_plain, scan_plain_portable, scan_unescaped,
                                            scan_unescaped_portable, scan_short };
    const uint8_t *end = arena_alloc(*state, 0);
    for (size_t i = 0; i < COUNT_OF(scans); i++)
        assert_ptr_equal(scans[i](end, end), end);
}

static void both_forms_agree_on_random_text(void **state)
{
    uint8_t text[SIZE_MAX_TRIED];
    struct random random;
    (void)state;
    random_init(&random, 8259);
    for (int round = 0; round < 20000; round++) {
        size_t size = random_below(&random, sizeof text + 1);
        random_fill(&random, text, size);
        /* Mostly plain bytes, or every scan would end in its first step. */
        for (size_t i = 0; i < size; i++)
            if (random_below(&random, 16) != 0)
                text[i] = (uint8_t)(' ' + text[i] % 64);
        const uint8_t *end = text + size;
        assert_ptr_equal(scan_plain(text, end), scan_plain_portable(text, end));
        assert_ptr_equal(scan_unescaped(text, end), scan_unescaped_portable(text, end));
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
        TEST(plain_text_ends_at_the_first_byte_that_is_not_plain),
        TEST(unescaped_text_ends_at_the_first_byte_to_escape),
        TEST(an_empty_text_ends_at_once),
        TEST(both_forms_agree_on_random_text),
    };
    return cmocka_run_group_tests_name("json/scan", tests, NULL, NULL);
}
