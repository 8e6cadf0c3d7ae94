/* grammar.c -- see grammar.h. */
#include "http/grammar.h"
#if defined(__SSE2__)
#include <emmintrin.h>

enum { BLOCK = sizeof(__m128i) };
#endif

enum {
    T = HTTP_GRAMMAR_TOKEN,
    U = HTTP_GRAMMAR_TARGET,
    H = HTTP_GRAMMAR_HOST,
    TU = T | U,
    UH = U | H,
    ALL = T | U | H,
};

const uint8_t http_grammar_classes[256] = {
    ['!'] = ALL,         ['"'] = U,    ['#'] = T,   ['$'] = ALL,         ['%'] = ALL,
    ['&'] = ALL,         ['\''] = ALL, ['('] = UH,  [')'] = UH,          ['*'] = ALL,
    ['+'] = ALL,         [','] = UH,   ['-'] = ALL, ['.'] = ALL,         ['/'] = U,
    ['0' ... '9'] = ALL, [':'] = UH,   [';'] = UH,  ['<'] = U,           ['='] = UH,
    ['>'] = U,           ['?'] = U,    ['@'] = U,   ['A' ... 'Z'] = ALL, ['['] = UH,
    ['\\'] = U,          [']'] = UH,   ['^'] = TU,  ['_'] = ALL,         ['`'] = TU,
    ['a' ... 'z'] = ALL, ['{'] = U,    ['|'] = TU,  ['}'] = U,           ['~'] = ALL,
};

static bool is_value_byte(uint8_t byte)
{
    return byte == '\t' || (byte >= 0x20 && byte != 0x7F);
}

#if defined(__SSE2__)
/* One bit for each control byte, the first one lowest. */
static unsigned mark_controls(const uint8_t *data)
{
    /* There is no unsigned comparison: at most 0x1F is where the larger of the two is 0x1F. */
    const __m128i top = _mm_set1_epi8(0x1F);
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)data);
    __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(block, top), top);
    __m128i delete = _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F));
    return (unsigned)_mm_movemask_epi8(_mm_or_si128(low, delete));
}
#endif

/* The first byte in [at, end) that is a control byte; `end` if there is none. The tab is one. */
static size_t find_control(const uint8_t *data, size_t at, size_t end)
{
#if defined(__SSE2__)
    bool has_block = end - at >= BLOCK;
    for (; end - at >= BLOCK; at += BLOCK) {
        unsigned found = mark_controls(data + at);
        if (found != 0)
            return at + (size_t)__builtin_ctz(found);
    }
    /* The last bytes together with some before them, which are none. */
    if (has_block && mark_controls(data + end - BLOCK) == 0)
        return end;
#endif
    while (at < end && data[at] != '\t' && is_value_byte(data[at]))
        at++;
    return at;
}

size_t http_grammar_skip_value(const uint8_t *data, size_t at, size_t end)
{
    at = find_control(data, at, end);
    while (at < end && data[at] == '\t')
        at = find_control(data, at + 1, end);
    return at;
}

size_t http_grammar_count_controls(const uint8_t *data, size_t size)
{
    size_t count = 0, at = 0;
#if defined(__SSE2__)
    /* A comparison is 0 or -1 in each byte. 64-bit halves sum up to 8 * 255 of a round. */
    enum { ROUND = 255 * BLOCK };
    const __m128i top = _mm_set1_epi8(0x1F), none = _mm_setzero_si128();
    while (size - at >= BLOCK) {
        size_t round_end = at + (size - at < ROUND ? size - at : ROUND);
        __m128i sums = none;
        for (; round_end - at >= BLOCK; at += BLOCK) {
            __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(data + at));
            __m128i low = _mm_cmpeq_epi8(_mm_max_epu8(block, top), top);
            __m128i delete = _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F));
            __m128i tab = _mm_cmpeq_epi8(block, _mm_set1_epi8('\t'));
            sums = _mm_sub_epi8(sums, _mm_or_si128(_mm_andnot_si128(tab, low), delete));
        }
        sums = _mm_sad_epu8(sums, none);
        count += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
    }
#endif
    for (; at < size; at++)
        count += !is_value_byte(data[at]);
    return count;
}

size_t http_grammar_skip_name(const uint8_t *data, size_t at, size_t end)
{
#if defined(__SSE2__)
    /* Letters, digits and '-' here; names with other characters are rare. */
    const __m128i letters = _mm_set1_epi8('z' - 'a'), digits = _mm_set1_epi8('9' - '0');
    for (; end - at >= BLOCK; at += BLOCK) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(data + at));
        __m128i lower_case = _mm_or_si128(block, _mm_set1_epi8('a' - 'A'));
        __m128i letter = _mm_sub_epi8(lower_case, _mm_set1_epi8('a'));
        __m128i digit = _mm_sub_epi8(block, _mm_set1_epi8('0'));
        __m128i usual = _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(letter, letters), letters),
                                     _mm_cmpeq_epi8(_mm_max_epu8(digit, digits), digits));
        usual = _mm_or_si128(usual, _mm_cmpeq_epi8(block, _mm_set1_epi8('-')));
        unsigned found = (unsigned)_mm_movemask_epi8(usual) ^ 0xFFFF;
        if (found != 0) {
            at += (size_t)__builtin_ctz(found);
            break;
        }
    }
#endif
    return http_grammar_skip(data, at, end, HTTP_GRAMMAR_TOKEN);
}

/* --- Headers --- */

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

bool http_header_equal(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    if (a.len > 0 && memcmp(a.data, b.data, a.len) == 0)
        return true; /* Most clients write names as we do. */
    for (size_t i = 0; i < a.len; i++)
        if (a.data[i] != b.data[i] && lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

struct bytes http_header_trim(struct bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

struct bytes http_header_next_part(struct bytes *rest, char separator)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    size_t len = found == NULL ? rest->len : (size_t)(found - rest->data);
    struct bytes part = bytes_of(rest->data, len);
    size_t taken = found == NULL ? len : len + 1;
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return http_header_trim(part);
}
