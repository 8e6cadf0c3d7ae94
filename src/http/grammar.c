/* grammar.c -- see grammar.h. */
#include "http/grammar.h"
#include "base/byte_order.h"

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

/* Sets the top bit of each byte that is a control byte. Exact for the first one; a borrow may set
 * the bit of later bytes. */
static uint64_t mark_controls(const uint8_t *data)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = ones << 7;
    uint64_t word = load_u64_le(data);
    uint64_t below_space = (word - ones * 0x20) & ~word & tops;
    uint64_t delete_xor = word ^ (ones * 0x7F);
    return below_space | ((delete_xor - ones) & ~delete_xor & tops);
}

/* Eight bytes at a time, since values are most of a request's head. The last bytes are checked
 * together with some before them. */
size_t http_grammar_skip_value(const uint8_t *data, size_t at, size_t end)
{
    enum { WORD = sizeof(uint64_t) };
    bool has_word = end - at >= WORD;
    while (end - at >= WORD) {
        uint64_t marks = mark_controls(data + at);
        if (marks == 0) {
            at += WORD;
            continue;
        }
        at += (size_t)__builtin_ctzll(marks) / 8;
        if (data[at] != '\t')
            return at;
        at++;
    }
    if (has_word && mark_controls(data + end - WORD) == 0)
        return end;
    while (at < end && is_value_byte(data[at]))
        at++;
    return at;
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
