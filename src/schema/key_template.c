/* key_template.c -- see key_template.h. */
#include "schema/key_template.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/give_way.h"

/* --- Parsing --- */

static bool fail(struct arena *arena, struct bytes *failure, struct bytes text, const char *why)
{
    *failure = arena_printf(arena, "the template \"%.*s\" %s", BYTES_FMT(text), why);
    return false;
}

static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.'))
            return false;
    }
    return name.len > 0;
}

/* Where a parameter begins at or behind `at`; text.len if there is none. `*open` is the size of
 * what opens it. */
static size_t find_parameter(struct bytes text, size_t at, size_t *open)
{
    for (; at < text.len; at++) {
        if (text.data[at] == '<') {
            *open = 1;
            return at;
        }
        if (text.data[at] == '$' && at + 1 < text.len && text.data[at + 1] == '{') {
            *open = 2;
            return at;
        }
    }
    return text.len;
}

bool key_template_parse(struct arena *arena, struct bytes text, struct key_template *out,
                        struct bytes *failure)
{
    *out = (struct key_template){ .source = text };
    if (text.len == 0 || text.len > KEY_TEMPLATE_SIZE_MAX)
        return fail(arena, failure, text, "must have 1 to 1024 bytes");
    size_t at = 0;
    bool ended = false;
    while (at < text.len || out->part_count == 0) {
        size_t open = 0, begin = find_parameter(text, at, &open);
        struct key_template_part *part = &out->parts[out->part_count];
        if (ended)
            return fail(arena, failure, text, "has something behind a parameter with a *");
        if (begin < text.len && out->part_count == KEY_TEMPLATE_PARAMETERS_MAX)
            return fail(arena, failure, text, "has more than 16 parameters");
        part->text = bytes_of(text.data + at, begin - at);
        out->size_min += part->text.len;
        out->part_count++;
        if (begin == text.len)
            break;
        if (out->part_count > 1 && part->text.len == 0)
            return fail(arena, failure, text, "has two parameters without text between them");
        const uint8_t *name = text.data + begin + open;
        const uint8_t *end =
            memchr(name, open == 1 ? '>' : '}', (size_t)(text.data + text.len - name));
        if (end == NULL)
            return fail(arena, failure, text, "has a parameter without an end");
        part->parameter = bytes_of(name, (size_t)(end - name));
        part->takes_all = part->parameter.len > 1 && end[-1] == '*';
        part->parameter.len -= part->takes_all;
        ended = part->takes_all;
        if (!is_name(part->parameter))
            return fail(arena, failure, text,
                        "has a parameter without a name of letters, digits, "
                        "'_', '-' and '.'");
        out->size_min++;
        at = (size_t)(end + 1 - text.data);
    }
    assert(out->part_count > 0);
    return true;
}

/* --- Looking at one --- */

bool key_template_is_bare(const struct key_template *template)
{
    return template->part_count == 1 && template->parts[0].text.len == 0;
}

size_t key_template_parameter_count(const struct key_template *template)
{
    bool last_has = template->parts[template->part_count - 1].parameter.data != NULL;
    return template->part_count - !last_has;
}

bool key_template_has_parameter(const struct key_template *template, struct bytes name)
{
    for (size_t i = 0; i < template->part_count; i++) {
        const struct key_template_part *part = &template->parts[i];
        if (part->parameter.data != NULL && bytes_equal(part->parameter, name))
            return true;
    }
    return false;
}

bool key_template_fill(struct arena *arena, const struct key_template *template,
                       key_template_lookup *lookup, const void *context, struct bytes *out,
                       struct bytes *missing)
{
    struct buffer text;
    bool ok = true;
    buffer_init(&text, arena);
    for (size_t i = 0; i < template->part_count && ok; i++) {
        const struct key_template_part *part = &template->parts[i];
        struct bytes value;
        buffer_append_bytes(&text, part->text);
        if (part->parameter.data == NULL)
            continue;
        ok = lookup(context, part->parameter, &value);
        if (ok)
            buffer_append_bytes(&text, value);
        else
            *missing = part->parameter;
    }
    *out = buffer_bytes(&text);
    return ok;
}

/* --- Matching --- */

/* Where the parameter of part `index`, which begins at `at`, ends; 0: nowhere. A parameter in the
 * middle has no '#', so the text that ends it begins at the first one at the latest. */
static size_t parameter_end(const struct key_template *template, size_t index, struct bytes value,
                            size_t at)
{
    if (index + 1 == template->part_count)
        return value.len;
    struct bytes text = template->parts[index + 1].text;
    if (value.len < at + 1 + text.len)
        return 0;
    if (template->parts[index + 1].parameter.data == NULL) /* The last text: it ends the value. */
        return memcmp(value.data + value.len - text.len, text.data, text.len) == 0
                   ? value.len - text.len
                   : 0;
    const uint8_t *begin = value.data + at;
    const uint8_t *separator = memchr(begin, KEY_TEMPLATE_SEPARATOR, value.len - at);
    const uint8_t *limit = value.data + value.len;
    if (text.data[0] == KEY_TEMPLATE_SEPARATOR)
        return separator != NULL && (size_t)(limit - separator) >= text.len &&
                       memcmp(separator, text.data, text.len) == 0
                   ? (size_t)(separator - value.data)
                   : 0;
    if (separator != NULL && (size_t)(limit - separator) > text.len)
        limit = separator + text.len;
    const uint8_t *found = memmem(begin + 1, (size_t)(limit - begin) - 1, text.data, text.len);
    return found == NULL ? 0 : (size_t)(found - value.data);
}

bool key_template_searches(const struct key_template *template)
{
    for (size_t i = 1; i < template->part_count; i++) {
        const struct key_template_part *part = &template->parts[i];
        if (part->parameter.data != NULL && part->text.data[0] != KEY_TEMPLATE_SEPARATOR)
            return true;
    }
    return false;
}

bool key_template_extract(const struct key_template *template, struct bytes value,
                          struct bytes *values)
{
    size_t at = 0;
    if (value.len < template->size_min)
        return false;
    for (size_t i = 0; i < template->part_count; i++) {
        const struct key_template_part *part = &template->parts[i];
        if (value.len - at < part->text.len ||
            memcmp(value.data + at, part->text.data, part->text.len) != 0)
            return false;
        at += part->text.len;
        if (part->parameter.data == NULL)
            return at == value.len;
        size_t end = parameter_end(template, i, value, at);
        if (end <= at ||
            (!part->takes_all && memchr(value.data + at, KEY_TEMPLATE_SEPARATOR, end - at) != NULL))
            return false;
        if (values != NULL)
            values[i] = bytes_of(value.data + at, end - at);
        at = end;
    }
    return at == value.len;
}

bool key_template_matches(const struct key_template *template, struct bytes value)
{
    return key_template_extract(template, value, NULL);
}

/* --- Overlaps ---
 *
 * Both templates are read as automata, side by side. A state is a position in each: a byte of its
 * text, or a parameter. A parameter stays for further bytes or lets go to what follows it. */

enum { POSITIONS_MAX = KEY_TEMPLATE_SIZE_MAX + 1, OVERLAP_WORK = 4 };

/* What a byte of a template may be: itself, or one of a class. */
enum symbol_kind { SYMBOL_BYTE, SYMBOL_PARAMETER, SYMBOL_ALL };
struct symbol {
    enum symbol_kind kind;
    uint8_t byte;
};

static size_t expand(const struct key_template *template, struct symbol *out)
{
    size_t count = 0;
    for (size_t i = 0; i < template->part_count; i++) {
        const struct key_template_part *part = &template->parts[i];
        for (size_t b = 0; b < part->text.len; b++)
            out[count++] = (struct symbol){ SYMBOL_BYTE, part->text.data[b] };
        if (part->parameter.data != NULL)
            out[count++] = (struct symbol){ part->takes_all ? SYMBOL_ALL : SYMBOL_PARAMETER, 0 };
    }
    assert(count <= KEY_TEMPLATE_SIZE_MAX);
    return count;
}

static bool accepts(struct symbol symbol, uint8_t byte)
{
    return symbol.kind == SYMBOL_ALL ||
           (symbol.kind == SYMBOL_BYTE ? symbol.byte == byte : byte != KEY_TEMPLATE_SEPARATOR);
}

/* Whether some byte is accepted by both. */
static bool share_byte(struct symbol a, struct symbol b)
{
    if (a.kind == SYMBOL_BYTE)
        return accepts(b, a.byte);
    return b.kind != SYMBOL_BYTE || accepts(a, b.byte);
}

static bool repeats(struct symbol symbol)
{
    return symbol.kind != SYMBOL_BYTE;
}

bool key_template_overlaps(const struct key_template *a, const struct key_template *b)
{
    struct symbol symbols_a[POSITIONS_MAX], symbols_b[POSITIONS_MAX];
    size_t count_a = expand(a, symbols_a), count_b = expand(b, symbols_b);
    /* row[j]: some text takes i symbols of `a` and j of `b`, each at least once. `next` is the row
     * of i + 1. */
    bool rows[2][POSITIONS_MAX] = { { false } };
    bool *row = rows[0], *next = rows[1];
    row[0] = true;
    for (size_t i = 0; i <= count_a; i++) {
        memset(next, 0, POSITIONS_MAX);
        give_way_count(OVERLAP_WORK * (count_b + 1));
        for (size_t j = 0; j <= count_b; j++) {
            if (!row[j])
                continue;
            if (i == count_a && j == count_b)
                return true;
            /* Each side takes its next symbol, or its last one again if that repeats. Not both
             * again: that leads to the same state. */
            if (i < count_a && j < count_b && share_byte(symbols_a[i], symbols_b[j]))
                next[j + 1] = true;
            if (i > 0 && repeats(symbols_a[i - 1]) && j < count_b &&
                share_byte(symbols_a[i - 1], symbols_b[j]))
                row[j + 1] = true;
            if (j > 0 && repeats(symbols_b[j - 1]) && i < count_a &&
                share_byte(symbols_a[i], symbols_b[j - 1]))
                next[j] = true;
        }
        bool *swap = row;
        row = next;
        next = swap;
    }
    return false;
}
