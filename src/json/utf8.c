/* utf8.c -- one character at a time; the reader passes ASCII by other means.
 *
 * The second byte alone tells an overlong form (behind E0 and F0), a surrogate (behind ED) and a
 * character above U+10FFFF (behind F4).
 */
#include "json/utf8.h"
#include <assert.h>
#include <stdbool.h>
#include "base/byte_order.h"

static inline bool in_range(uint8_t byte, uint8_t low, uint8_t high)
{
    return byte >= low && byte <= high;
}

size_t utf8_size(const uint8_t *at, const uint8_t *end)
{
    uint8_t lead = at[0];
    size_t left = (size_t)(end - at);
    if (in_range(lead, 0xC2, 0xDF))
        return left >= 2 && in_range(at[1], 0x80, 0xBF) ? 2 : 0;
    if (in_range(lead, 0xE0, 0xEF)) {
        uint8_t low = lead == 0xE0 ? 0xA0 : 0x80;
        uint8_t high = lead == 0xED ? 0x9F : 0xBF;
        return left >= 3 && in_range(at[1], low, high) && in_range(at[2], 0x80, 0xBF) ? 3 : 0;
    }
    if (in_range(lead, 0xF0, 0xF4)) {
        uint8_t low = lead == 0xF0 ? 0x90 : 0x80;
        uint8_t high = lead == 0xF4 ? 0x8F : 0xBF;
        return left >= 4 && in_range(at[1], low, high) && in_range(at[2], 0x80, 0xBF) &&
                       in_range(at[3], 0x80, 0xBF)
                   ? 4
                   : 0;
    }
    return 0;
}

size_t utf8_encode(uint32_t character, uint8_t *out)
{
    assert(character <= 0x10FFFF);
    if (character < 0x80) {
        out[0] = (uint8_t)character;
        return 1;
    }
    if (character < 0x800) {
        out[0] = (uint8_t)(0xC0 | character >> 6);
        out[1] = (uint8_t)(0x80 | (character & 0x3F));
        return 2;
    }
    if (character < 0x10000) {
        out[0] = (uint8_t)(0xE0 | character >> 12);
        out[1] = (uint8_t)(0x80 | (character >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (character & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | character >> 18);
    out[1] = (uint8_t)(0x80 | (character >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (character >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (character & 0x3F));
    return 4;
}

size_t utf8_prefix(struct bytes text, size_t size_max)
{
    const uint8_t *end = text.data + (text.len < size_max ? text.len : size_max);
    const uint8_t *at = text.data;
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : utf8_size(at, end);
        if (size == 0)
            break;
        at += size;
    }
    return (size_t)(at - text.data);
}

/* How many bytes of eight have their top bit set in `marks`. */
static size_t count_tops(uint64_t marks)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    return (size_t)(((marks >> 7 & each) * each) >> 56);
}

/* Every byte counts but those that continue a character; the first of four counts twice. */
size_t utf8_utf16_length(struct bytes text)
{
    enum { WORD = sizeof(uint64_t) };
    size_t length = 0, i = 0;
    for (; text.len - i >= WORD; i += WORD) {
        uint64_t word = load_u64_le(text.data + i);
        uint64_t twice = word & word << 1; /* Shifts within bytes, as far as their top bits go. */
        length += WORD - count_tops(word & ~(word << 1)) + count_tops(twice & twice << 2);
    }
    for (; i < text.len; i++)
        if ((text.data[i] & 0xC0) != 0x80)
            length += text.data[i] >= 0xF0 ? 2 : 1;
    return length;
}
