/* base64.c -- four characters to three bytes and back, by table.
 *
 * Strict both ways: what decodes is exactly what encoding its bytes would give, so two different
 * texts never stand for one value.
 */
#include "json/base64.h"

enum { NO = 0x80 }; /* Not a digit of base64; no digit has this bit. */

/* clang-format off */
static const uint8_t digit_values[256] = {
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, NO, NO, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO,
    NO,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, NO,
    NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
};
/* clang-format on */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The last four characters: `padding` of them, one or two, are '='. */
static bool decode_padded(const uint8_t *in, size_t padding, uint8_t *out)
{
    uint8_t a = digit_values[in[0]], b = digit_values[in[1]];
    uint8_t c = padding == 2 ? 0 : digit_values[in[2]];
    if (((a | b | c) & NO) != 0)
        return false;
    /* Bits that reach beyond the last byte must be zero. */
    if ((padding == 2 ? b & 0x0F : c & 0x03) != 0)
        return false;
    out[0] = (uint8_t)(a << 2 | b >> 4);
    if (padding == 1)
        out[1] = (uint8_t)(b << 4 | c >> 2);
    return true;
}

bool base64_decode(struct bytes text, uint8_t *out, size_t *size)
{
    if (text.len % 4 != 0)
        return false;
    size_t padding = 0;
    if (text.len > 0 && text.data[text.len - 1] == '=')
        padding = text.data[text.len - 2] == '=' ? 2 : 1;
    size_t groups = text.len / 4 - (padding > 0);
    const uint8_t *in = text.data;
    unsigned seen = 0;
    for (size_t i = 0; i < groups; i++, in += 4, out += 3) {
        uint32_t a = digit_values[in[0]], b = digit_values[in[1]];
        uint32_t c = digit_values[in[2]], d = digit_values[in[3]];
        seen |= a | b | c | d;
        uint32_t bits = a << 18 | b << 12 | c << 6 | d;
        out[0] = (uint8_t)(bits >> 16);
        out[1] = (uint8_t)(bits >> 8);
        out[2] = (uint8_t)bits;
    }
    if ((seen & NO) != 0 || (padding > 0 && !decode_padded(in, padding, out)))
        return false;
    *size = groups * 3 + (padding > 0 ? 3 - padding : 0);
    return true;
}

void base64_encode(struct bytes value, char *out)
{
    const uint8_t *in = value.data;
    size_t left = value.len;
    for (; left >= 3; left -= 3, in += 3, out += 4) {
        uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        out[0] = digits[bits >> 18];
        out[1] = digits[bits >> 12 & 0x3F];
        out[2] = digits[bits >> 6 & 0x3F];
        out[3] = digits[bits & 0x3F];
    }
    if (left == 0)
        return;
    uint32_t bits = (uint32_t)in[0] << 16 | (left == 2 ? (uint32_t)in[1] << 8 : 0);
    out[0] = digits[bits >> 18];
    out[1] = digits[bits >> 12 & 0x3F];
    out[2] = left == 2 ? digits[bits >> 6 & 0x3F] : '=';
    out[3] = '=';
}
