/* code_names.c -- see code_names.h. */
#include "codegen/code_names.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"

/* Words of Python, builtins that people would not want to lose, and names of python_access.py. */
static const char python_words[] =
    " False None True and as assert async await break class continue def del elif else except"
    " finally for from global if import in is lambda nonlocal not or pass raise return try"
    " while with yield match case type bool bytes bytearray dict float frozenset int"
    " isinstance iter len list map max min next object print range set str super tuple zip"
    " self Database Item Numeric Page Results TypeError ValueError database item start_after"
    " omit_indexes request answer"
    " ";

/* Words of TypeScript, globals that the generated files use, and names of typescript_access.ts. */
static const char typescript_words[] =
    " arguments await break case catch class const continue debugger default delete do else"
    " enum eval export extends false finally for function if implements import in instanceof"
    " interface let module new null package private protected public require return static"
    " super switch this throw true try typeof undefined var void while with yield exports"
    " process globalThis then Array AsyncGenerator AsyncIterable Buffer Database Error Exact"
    " Function Infinity Item JSON Map NaN Number Numeric Object Omit Page Promise RangeError"
    " ReadonlyMap Record Results Set String Symbol Uint8Array Value database item numeric"
    " omitIndexes startAfter request answer input"
    " ";

static bool is_word(enum code_language language, struct bytes name)
{
    char text[CODE_NAME_SIZE_MAX + 3];
    if (name.len > CODE_NAME_SIZE_MAX)
        return false;
    snprintf(text, sizeof text, " %.*s ", BYTES_FMT(name));
    return strstr(language == CODE_PYTHON ? python_words : typescript_words, text) != NULL;
}

void code_scope_init(struct code_scope *scope, struct arena *arena, enum code_language language)
{
    *scope = (struct code_scope){ .arena = arena, .language = language };
}

static bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* Appends the words of `name`: it is divided where other characters are, and in front of a capital
 * behind a small letter. */
static void add_words(struct buffer *out, struct bytes name, enum code_case form, bool snake)
{
    bool begins = true;
    uint8_t before = 0;
    for (size_t i = 0; i < name.len && out->len < CODE_NAME_SIZE_MAX; i++) {
        uint8_t c = name.data[i];
        bool keeps = is_lower(c) || is_upper(c) || is_digit(c);
        if (!keeps || (is_upper(c) && (is_lower(before) || is_digit(before))))
            begins = true;
        before = c;
        if (!keeps)
            continue;
        bool capital = !snake && begins && (out->len > 0 || form == CODE_CASE_TYPE);
        bool small = snake || (begins && !capital) || (!begins && form == CODE_CASE_FUNCTION);
        if (snake && begins && out->len > 0)
            buffer_append_byte(out, '_');
        if (capital && is_lower(c))
            c = (uint8_t)(c - 'a' + 'A');
        else if (small && is_upper(c))
            c = (uint8_t)(c - 'A' + 'a');
        buffer_append_byte(out, c);
        begins = false;
    }
}

static bool is_taken(const struct code_scope *scope, struct bytes name)
{
    for (size_t i = 0; i < scope->count; i++) {
        if (bytes_equal(scope->names[i], name))
            return true;
    }
    return false;
}

struct bytes code_scope_add(struct code_scope *scope, enum code_case form, const char *prefix,
                            struct bytes name, const char *suffix)
{
    bool snake = scope->language == CODE_PYTHON && form == CODE_CASE_FUNCTION;
    struct buffer out;
    buffer_init(&out, scope->arena);
    add_words(&out, bytes_from_text(prefix), form, snake);
    size_t own = out.len;
    add_words(&out, name, form, snake);
    if (out.len == own) /* No letter or digit at all. */
        add_words(&out, BYTES("unnamed"), form, snake);
    if (is_digit(out.data[0])) {
        struct bytes digits = arena_printf(scope->arena, "n%.*s", BYTES_FMT(buffer_bytes(&out)));
        buffer_init(&out, scope->arena);
        add_words(&out, digits, form, snake);
    }
    add_words(&out, bytes_from_text(suffix), form, snake);
    struct bytes base = buffer_bytes(&out), result = base;
    if (is_word(scope->language, result))
        result = arena_printf(scope->arena, "%.*s_", BYTES_FMT(base));
    for (size_t number = 2; is_taken(scope, result); number++)
        result = arena_printf(scope->arena, "%.*s_%zu", BYTES_FMT(base), number);
    if (scope->count == scope->capacity) {
        size_t capacity = scope->capacity * 2 + 16;
        scope->names = arena_grow(scope->arena, scope->names, scope->count * sizeof *scope->names,
                                  capacity * sizeof *scope->names);
        scope->capacity = capacity;
    }
    scope->names[scope->count++] = result;
    assert(is_lower(result.data[0]) || is_upper(result.data[0]));
    return result;
}
