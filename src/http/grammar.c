/* grammar.c -- see grammar.h. */
#include "http/grammar.h"

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

/* Eight bytes at a time: a value is most of a request's head. The two tests are exact for "any
 * byte of the word"; which one it is, is left to the loop behind. */
size_t http_grammar_skip_value(const uint8_t *data, size_t at, size_t end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t tops = ones << 7;
    while (end - at >= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, data + at, sizeof word);
        uint64_t below_space = (word - ones * 0x20) & ~word & tops;
        uint64_t delete_xor = word ^ (ones * 0x7F);
        uint64_t is_delete = (delete_xor - ones) & ~delete_xor & tops;
        if ((below_space | is_delete) == 0) {
            at += sizeof word;
            continue;
        }
        for (size_t word_end = at + sizeof word; at < word_end; at++)
            if (!is_value_byte(data[at]))
                return at;
    }
    while (at < end && is_value_byte(data[at]))
        at++;
    return at;
}
