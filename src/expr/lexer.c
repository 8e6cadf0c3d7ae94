/* lexer.c -- see lexer.h. One table tells each byte's class, so the usual token costs one lookup
 * per byte. */
#include "expr/lexer.h"
#include <assert.h>
#include <stdbool.h>
#include "base/compiler.h"

enum byte_class {
    CLASS_OTHER,
    CLASS_SPACE,
    CLASS_LETTER,
    CLASS_DIGIT,
    CLASS_UNDERSCORE,
    CLASS_REFERENCE, /* # or : */
    CLASS_COMPARATOR,
    CLASS_SIGN, /* A token of its own. */
};

/* Vertical tab and form feed are not white space to the service. */
static const uint8_t classes[256] = {
    [' '] = CLASS_SPACE,      ['\t'] = CLASS_SPACE,     ['\r'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,     ['0'] = CLASS_DIGIT,      ['1'] = CLASS_DIGIT,
    ['2'] = CLASS_DIGIT,      ['3'] = CLASS_DIGIT,      ['4'] = CLASS_DIGIT,
    ['5'] = CLASS_DIGIT,      ['6'] = CLASS_DIGIT,      ['7'] = CLASS_DIGIT,
    ['8'] = CLASS_DIGIT,      ['9'] = CLASS_DIGIT,      ['A'] = CLASS_LETTER,
    ['B'] = CLASS_LETTER,     ['C'] = CLASS_LETTER,     ['D'] = CLASS_LETTER,
    ['E'] = CLASS_LETTER,     ['F'] = CLASS_LETTER,     ['G'] = CLASS_LETTER,
    ['H'] = CLASS_LETTER,     ['I'] = CLASS_LETTER,     ['J'] = CLASS_LETTER,
    ['K'] = CLASS_LETTER,     ['L'] = CLASS_LETTER,     ['M'] = CLASS_LETTER,
    ['N'] = CLASS_LETTER,     ['O'] = CLASS_LETTER,     ['P'] = CLASS_LETTER,
    ['Q'] = CLASS_LETTER,     ['R'] = CLASS_LETTER,     ['S'] = CLASS_LETTER,
    ['T'] = CLASS_LETTER,     ['U'] = CLASS_LETTER,     ['V'] = CLASS_LETTER,
    ['W'] = CLASS_LETTER,     ['X'] = CLASS_LETTER,     ['Y'] = CLASS_LETTER,
    ['Z'] = CLASS_LETTER,     ['a'] = CLASS_LETTER,     ['b'] = CLASS_LETTER,
    ['c'] = CLASS_LETTER,     ['d'] = CLASS_LETTER,     ['e'] = CLASS_LETTER,
    ['f'] = CLASS_LETTER,     ['g'] = CLASS_LETTER,     ['h'] = CLASS_LETTER,
    ['i'] = CLASS_LETTER,     ['j'] = CLASS_LETTER,     ['k'] = CLASS_LETTER,
    ['l'] = CLASS_LETTER,     ['m'] = CLASS_LETTER,     ['n'] = CLASS_LETTER,
    ['o'] = CLASS_LETTER,     ['p'] = CLASS_LETTER,     ['q'] = CLASS_LETTER,
    ['r'] = CLASS_LETTER,     ['s'] = CLASS_LETTER,     ['t'] = CLASS_LETTER,
    ['u'] = CLASS_LETTER,     ['v'] = CLASS_LETTER,     ['w'] = CLASS_LETTER,
    ['x'] = CLASS_LETTER,     ['y'] = CLASS_LETTER,     ['z'] = CLASS_LETTER,
    ['_'] = CLASS_UNDERSCORE, ['#'] = CLASS_REFERENCE,  [':'] = CLASS_REFERENCE,
    ['='] = CLASS_COMPARATOR, ['<'] = CLASS_COMPARATOR, ['>'] = CLASS_COMPARATOR,
    ['('] = CLASS_SIGN,       [')'] = CLASS_SIGN,       ['['] = CLASS_SIGN,
    [']'] = CLASS_SIGN,       ['.'] = CLASS_SIGN,       [','] = CLASS_SIGN,
    ['+'] = CLASS_SIGN,       ['-'] = CLASS_SIGN,
};

static const uint8_t signs[128] = {
    ['('] = TOKEN_OPEN,          [')'] = TOKEN_CLOSE, ['['] = TOKEN_OPEN_BRACKET,
    [']'] = TOKEN_CLOSE_BRACKET, ['.'] = TOKEN_DOT,   [','] = TOKEN_COMMA,
    ['+'] = TOKEN_PLUS,          ['-'] = TOKEN_MINUS,
};

static const struct {
    const char *word;
    uint8_t len;
    uint8_t type;
} keywords[] = {
    { "AND", 3, TOKEN_AND },         { "OR", 2, TOKEN_OR },   { "NOT", 3, TOKEN_NOT },
    { "BETWEEN", 7, TOKEN_BETWEEN }, { "IN", 2, TOKEN_IN },   { "SET", 3, TOKEN_SET },
    { "REMOVE", 6, TOKEN_REMOVE },   { "ADD", 3, TOKEN_ADD }, { "DELETE", 6, TOKEN_DELETE },
};
enum { KEYWORD_LEN_MAX = 7 };
#define LETTER_BIT(letter) (1u << ((letter) - 'A'))
static const uint32_t keyword_initials = LETTER_BIT('A') | LETTER_BIT('B') | LETTER_BIT('D') |
                                         LETTER_BIT('I') | LETTER_BIT('N') | LETTER_BIT('O') |
                                         LETTER_BIT('R') | LETTER_BIT('S');

static bool is_word_byte(uint8_t byte)
{
    return classes[byte] >= CLASS_LETTER && classes[byte] <= CLASS_UNDERSCORE;
}
static_assert(CLASS_LETTER < CLASS_DIGIT && CLASS_DIGIT < CLASS_UNDERSCORE, "one range of classes");

static uint32_t word_end(struct bytes text, uint32_t at)
{
    while (at < text.len && is_word_byte(text.data[at]))
        at++;
    return at;
}

static enum token_type word_type(struct bytes word)
{
    if (word.len < 2 || word.len > KEYWORD_LEN_MAX ||
        (keyword_initials & LETTER_BIT(word.data[0] & ~0x20)) == 0)
        return TOKEN_NAME;
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (keywords[i].len != word.len)
            continue;
        size_t same = 0;
        /* Clearing bit 5 makes a letter upper-case; no other word byte becomes a letter by it. */
        while (same < word.len && (word.data[same] & ~0x20) == keywords[i].word[same])
            same++;
        if (same == word.len)
            return (enum token_type)keywords[i].type;
    }
    return TOKEN_NAME;
}

static uint32_t number_end(struct bytes text, uint32_t at)
{
    if (text.data[at] == '0')
        return at + 1;
    while (at < text.len && classes[text.data[at]] == CLASS_DIGIT)
        at++;
    return at;
}

/* The whole character, so that messages stay valid UTF-8. */
static uint32_t character_end(struct bytes text, uint32_t at)
{
    at++;
    while (at < text.len && (text.data[at] & 0xC0) == 0x80)
        at++;
    return at;
}

static struct token comparator(struct bytes text, uint32_t at)
{
    uint8_t first = text.data[at];
    uint8_t second = at + 1 < text.len ? text.data[at + 1] : 0;
    if (first == '=')
        return (struct token){ TOKEN_EQUAL, at, at + 1 };
    if (first == '<' && second == '>')
        return (struct token){ TOKEN_NOT_EQUAL, at, at + 2 };
    if (second == '=')
        return (struct token){ first == '<' ? TOKEN_LESS_EQUAL : TOKEN_GREATER_EQUAL, at, at + 2 };
    return (struct token){ first == '<' ? TOKEN_LESS : TOKEN_GREATER, at, at + 1 };
}

static struct token token_at(struct bytes text, uint32_t at)
{
    struct token token = { TOKEN_INVALID, at, at };
    uint8_t byte = text.data[at];
    switch ((enum byte_class)classes[byte]) {
    case CLASS_LETTER:
        token.end = word_end(text, at);
        token.type = word_type(bytes_of(text.data + at, token.end - at));
        break;
    case CLASS_REFERENCE:
        token.end = word_end(text, at + 1);
        if (token.end > at + 1) /* Else the sign stands alone and is invalid. */
            token.type = byte == '#' ? TOKEN_NAME_REFERENCE : TOKEN_VALUE_REFERENCE;
        break;
    case CLASS_DIGIT:
        token.type = TOKEN_NUMBER;
        token.end = number_end(text, at);
        break;
    case CLASS_COMPARATOR:
        token = comparator(text, at);
        break;
    case CLASS_SIGN:
        token.type = (enum token_type)signs[byte];
        token.end = at + 1;
        break;
    case CLASS_OTHER:
    case CLASS_UNDERSCORE:
    case CLASS_SPACE:
        token.end = character_end(text, at);
        break;
    }
    return token;
}

struct token lexer_next(struct lexer *lexer)
{
    struct bytes text = lexer->text;
    uint32_t at = lexer->at;
    while (at < text.len && classes[text.data[at]] == CLASS_SPACE)
        at++;
    if (at == text.len) {
        lexer->at = at;
        return (struct token){ TOKEN_END, at, at };
    }
    struct token token = token_at(text, at);
    assert(token.end > token.start);
    lexer->at = token.end;
    return token;
}
