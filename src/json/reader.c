/* reader.c -- the pull reader: one pass over the text, no tree and no recursion.
 *
 * A string is checked as a whole before anything is made of it. One without escapes is then a
 * slice of the text; one with escapes is decoded into the arena by a second pass that cannot
 * fail. json_skip runs the check alone.
 *
 * After a failure the text ends where the mistake is (`end` == `at`). Every function needs at
 * least one more byte to succeed, so the good path never has to ask whether the reader failed.
 */
#include "json/reader.h"
#include <assert.h>
#include "base/arena.h"
#include "json/scan.h"
#include "json/utf8.h"

static bool fail_at(struct json_reader *reader, const uint8_t *at, const char *reason)
{
    if (reader->failure == NULL) {
        reader->failure = reason;
        reader->at = at;
        reader->end = at;
    }
    return false;
}

/* For a byte that is not the one needed, which may be because there is none. */
static bool fail_here(struct json_reader *reader, const char *reason)
{
    bool ended = reader->at == reader->end;
    return fail_at(reader, reader->at, ended ? "the text ends too early" : reason);
}

void json_reader_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                      unsigned depth_max)
{
    assert(depth_max <= JSON_DEPTH_LIMIT);
    const uint8_t *start = text.len == 0 ? (const uint8_t *)"" : text.data;
    *reader = (struct json_reader){
        .arena = arena,
        .start = start,
        .at = start,
        .end = start + text.len,
        .depth_max = depth_max,
        .value_due = true,
    };
}

static inline void skip_space(struct json_reader *reader)
{
    static const uint64_t spaces = UINT64_C(1) << ' ' | 1 << '\t' | 1 << '\n' | 1 << '\r';
    const uint8_t *at = reader->at;
    while (at < reader->end && *at <= ' ' && (spaces >> *at & 1) != 0)
        at++;
    reader->at = at;
}

/* The byte that comes next, behind white space; 0, which JSON has no use for, at the end. */
static inline uint8_t next_byte(struct json_reader *reader)
{
    skip_space(reader);
    return LIKELY(reader->at < reader->end) ? *reader->at : 0;
}

/* The first byte of the value that is due; 0 where none is. */
static inline uint8_t value_start(struct json_reader *reader)
{
    uint8_t byte = next_byte(reader);
    return LIKELY(reader->value_due) ? byte : 0;
}

enum json_type json_peek(struct json_reader *reader)
{
    static const uint8_t types[256] = {
        ['n'] = JSON_NULL,   ['t'] = JSON_BOOL,   ['f'] = JSON_BOOL,   ['"'] = JSON_STRING,
        ['{'] = JSON_OBJECT, ['['] = JSON_ARRAY,  ['-'] = JSON_NUMBER, ['0'] = JSON_NUMBER,
        ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER, ['4'] = JSON_NUMBER,
        ['5'] = JSON_NUMBER, ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER, ['8'] = JSON_NUMBER,
        ['9'] = JSON_NUMBER,
    };
    enum json_type type = types[value_start(reader)];
    if (UNLIKELY(type == JSON_INVALID))
        fail_here(reader, "a value was expected");
    return type;
}

/* --- Strings --- */

static inline bool in_range(uint8_t byte, uint8_t low, uint8_t high)
{
    return byte >= low && byte <= high;
}

/* The number written by four hexadecimal digits, in either case; -1 if they are not that. */
static int32_t hex4(const uint8_t *at)
{
    int32_t value = 0;
    for (size_t i = 0; i < 4; i++) {
        int32_t digit;
        if (in_range(at[i], '0', '9'))
            digit = at[i] - '0';
        else if (in_range(at[i] | 0x20, 'a', 'f'))
            digit = (at[i] | 0x20) - 'a' + 10;
        else
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* The size of the escape at `at`, a surrogate pair being one; 0 with the reason if it is none. */
static size_t escape_size(const uint8_t *at, const uint8_t *end, const char **reason)
{
    *reason = "a string has an escape that does not exist";
    if (end - at < 2 || at[1] == 0)
        return 0;
    if (at[1] != 'u')
        return strchr("\"\\/bfnrt", at[1]) != NULL ? 2 : 0;
    int32_t unit = end - at < 6 ? -1 : hex4(at + 2);
    if (unit < 0)
        return 0;
    *reason = "a string has half a surrogate pair";
    if (!is_high_surrogate(unit))
        return is_low_surrogate(unit) ? 0 : 6;
    bool paired = end - at >= 12 && at[6] == '\\' && at[7] == 'u' && is_low_surrogate(hex4(at + 8));
    return paired ? 12 : 0;
}

struct raw_string {
    struct bytes text; /* Between the quotes, as it stands in the text. */
    bool has_escapes;
};

/* Goes on checking the string from `at`, its first byte that is not plain. Apart from
 * scan_string, so that the registers of this loop are not saved for every short name. */
static __attribute__((noinline)) bool scan_string_rest(struct json_reader *reader,
                                                       const uint8_t *at, struct raw_string *raw)
{
    const uint8_t *start = reader->at + 1;
    const uint8_t *end = reader->end;
    for (; at < end && *at != '"'; at = scan_plain(at, end)) {
        size_t size = 0;
        const char *reason;
        if (*at == '\\') {
            size = escape_size(at, end, &reason);
            raw->has_escapes = true;
        } else if (*at >= 0x80) {
            reason = "a string is not valid UTF-8";
            size = utf8_size(at, end);
        } else {
            reason = "a string has a control character without an escape";
        }
        if (size == 0)
            return fail_at(reader, at, reason);
        at += size;
    }
    if (at == end)
        return fail_at(reader, at, "a string has no closing quote");
    raw->text = bytes_of(start, (size_t)(at - start));
    reader->at = at + 1;
    return true;
}

/* Checks the string that begins at the quote the reader stands on, and steps over it. */
static inline bool scan_string(struct json_reader *reader, struct raw_string *raw)
{
    const uint8_t *start = reader->at + 1;
    const uint8_t *at = scan_plain(start, reader->end);
    raw->has_escapes = false;
    if (UNLIKELY(at == reader->end || *at != '"'))
        return scan_string_rest(reader, at, raw);
    raw->text = bytes_of(start, (size_t)(at - start));
    reader->at = at + 1;
    return true;
}

/* Decodes the checked escape at `*at` to `out` and steps over it. */
static size_t decode_escape(const uint8_t **at, uint8_t *out)
{
    static const uint8_t meaning[] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                       ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t' };
    uint8_t letter = (*at)[1];
    if (letter != 'u') {
        *out = meaning[letter];
        *at += 2;
        return 1;
    }
    int32_t unit = hex4(*at + 2);
    if (!is_high_surrogate(unit)) {
        *at += 6;
        return utf8_encode((uint32_t)unit, out);
    }
    int32_t low = hex4(*at + 8);
    *at += 12;
    return utf8_encode((uint32_t)(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), out);
}

/* No escape is shorter than what it stands for, so the raw size is enough. */
static struct bytes unescape(struct arena *arena, struct bytes raw)
{
    uint8_t *out = arena_alloc(arena, raw.len);
    size_t size = 0;
    const uint8_t *at = raw.data;
    const uint8_t *end = raw.data + raw.len;
    while (at < end) {
        const uint8_t *escape = memchr(at, '\\', (size_t)(end - at));
        size_t run = (size_t)((escape == NULL ? end : escape) - at);
        memcpy(out + size, at, run);
        size += run;
        at += run;
        if (escape != NULL)
            size += decode_escape(&at, out + size);
    }
    assert(size <= raw.len);
    return bytes_of(out, size);
}

static inline struct bytes string_value(struct json_reader *reader, const struct raw_string *raw)
{
    return UNLIKELY(raw->has_escapes) ? unescape(reader->arena, raw->text) : raw->text;
}

static inline bool read_raw_string(struct json_reader *reader, struct raw_string *raw)
{
    if (value_start(reader) != '"')
        return fail_here(reader, "a string was expected");
    if (!scan_string(reader, raw))
        return false;
    reader->value_due = false;
    return true;
}

bool json_read_string(struct json_reader *reader, struct bytes *out)
{
    struct raw_string raw;
    if (!read_raw_string(reader, &raw))
        return false;
    *out = string_value(reader, &raw);
    return true;
}

/* --- Numbers and the three words --- */

static inline const uint8_t *skip_digits(const uint8_t *at, const uint8_t *end)
{
    while (at < end && in_range(*at, '0', '9'))
        at++;
    return at;
}

bool json_read_number(struct json_reader *reader, struct bytes *text)
{
    static const char no_digit[] = "a number lacks a digit";
    uint8_t first = value_start(reader);
    if (first != '-' && !in_range(first, '0', '9'))
        return fail_here(reader, "a number was expected");
    const uint8_t *end = reader->end;
    const uint8_t *digits = reader->at + (first == '-');
    const uint8_t *at = skip_digits(digits, end);
    if (at == digits)
        return fail_at(reader, at, no_digit);
    if (*digits == '0' && at - digits > 1)
        return fail_at(reader, digits, "a number begins with a needless zero");
    if (at < end && *at == '.') {
        digits = at + 1;
        at = skip_digits(digits, end);
        if (at == digits)
            return fail_at(reader, at, no_digit);
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        digits = at + 1;
        if (digits < end && (*digits == '+' || *digits == '-'))
            digits++;
        at = skip_digits(digits, end);
        if (at == digits)
            return fail_at(reader, at, no_digit);
    }
    *text = bytes_of(reader->at, (size_t)(at - reader->at));
    reader->at = at;
    reader->value_due = false;
    return true;
}

/* Steps over `word` if the value that is due begins with it. */
static bool read_word(struct json_reader *reader, struct bytes word)
{
    uint8_t first = value_start(reader);
    struct bytes rest = bytes_of(reader->at, (size_t)(reader->end - reader->at));
    if (first != word.data[0] || !bytes_starts_with(rest, word))
        return false;
    reader->at += word.len;
    reader->value_due = false;
    return true;
}

bool json_read_bool(struct json_reader *reader, bool *out)
{
    if (read_word(reader, BYTES("true")))
        *out = true;
    else if (read_word(reader, BYTES("false")))
        *out = false;
    else
        return fail_here(reader, "true or false was expected");
    return true;
}

bool json_read_null(struct json_reader *reader)
{
    return read_word(reader, BYTES("null")) || fail_here(reader, "null was expected");
}

/* --- Containers --- */

static inline bool enter(struct json_reader *reader, uint8_t opening, const char *reason)
{
    if (value_start(reader) != opening)
        return fail_here(reader, reason);
    if (reader->depth == reader->depth_max)
        return fail_at(reader, reader->at, "the text is nested too deeply");
    reader->at++;
    reader->depth++;
    reader->container_fresh = true;
    reader->value_due = false;
    return true;
}

bool json_enter_object(struct json_reader *reader)
{
    return enter(reader, '{', "an object was expected");
}

bool json_enter_array(struct json_reader *reader)
{
    return enter(reader, '[', "an array was expected");
}

/* Steps to where the container's next entry begins, over the comma before it. False if `closing`
 * was there instead (the container is then left) and after a failure. */
static inline bool next_entry(struct json_reader *reader, uint8_t closing, const char *reason)
{
    /* Outside of a container, or past a value that the caller did not read. */
    if (UNLIKELY(reader->depth == 0 || reader->value_due))
        return fail_here(reader, "a value was not read");
    uint8_t byte = next_byte(reader);
    if (byte == closing) {
        reader->at++;
        reader->depth--;
        reader->container_fresh = false;
        return false;
    }
    if (byte == 0)
        return fail_here(reader, reason);
    if (reader->container_fresh) {
        reader->container_fresh = false;
        return true;
    }
    if (byte != ',')
        return fail_here(reader, reason);
    reader->at++;
    return true;
}

static inline bool next_raw_member(struct json_reader *reader, struct raw_string *name)
{
    if (!next_entry(reader, '}', "a comma or } was expected"))
        return false;
    if (next_byte(reader) != '"')
        return fail_here(reader, "the name of a member was expected");
    if (!scan_string(reader, name))
        return false;
    if (next_byte(reader) != ':')
        return fail_here(reader, "a colon was expected");
    reader->at++;
    reader->value_due = true;
    return true;
}

bool json_next_member(struct json_reader *reader, struct bytes *name)
{
    struct raw_string raw;
    if (!next_raw_member(reader, &raw))
        return false;
    *name = string_value(reader, &raw);
    return true;
}

bool json_next_element(struct json_reader *reader)
{
    reader->value_due = next_entry(reader, ']', "a comma or ] was expected");
    return reader->value_due;
}

/* --- Whole values --- */

/* One bit for each container json_skip has open, by depth: is it an array? */
struct container_kinds {
    uint64_t words[JSON_DEPTH_LIMIT / 64 + 1];
};

static void kinds_set(struct container_kinds *kinds, unsigned depth, bool is_array)
{
    uint64_t bit = UINT64_C(1) << depth % 64;
    uint64_t *word = &kinds->words[depth / 64];
    *word = is_array ? *word | bit : *word & ~bit;
}

static bool kinds_is_array(const struct container_kinds *kinds, unsigned depth)
{
    return (kinds->words[depth / 64] >> depth % 64 & 1) != 0;
}

/* Reads a value without what is inside of it: a container is only entered. */
static bool skip_shallow(struct json_reader *reader, enum json_type type)
{
    struct raw_string string;
    struct bytes number;
    bool boolean;
    switch (type) {
    case JSON_NULL:
        return json_read_null(reader);
    case JSON_BOOL:
        return json_read_bool(reader, &boolean);
    case JSON_NUMBER:
        return json_read_number(reader, &number);
    case JSON_STRING:
        return read_raw_string(reader, &string);
    case JSON_OBJECT:
        return json_enter_object(reader);
    case JSON_ARRAY:
        return json_enter_array(reader);
    case JSON_INVALID:
        break;
    }
    return false;
}

bool json_skip(struct json_reader *reader)
{
    struct container_kinds kinds = { { 0 } };
    struct raw_string name;
    const unsigned outside = reader->depth;
    do {
        enum json_type type = json_peek(reader);
        if (!skip_shallow(reader, type))
            return false;
        if (type == JSON_OBJECT || type == JSON_ARRAY)
            kinds_set(&kinds, reader->depth, type == JSON_ARRAY);
        /* On to the next value, leaving every container that ends before it. */
        while (reader->depth > outside && !reader->value_due) {
            bool in_array = kinds_is_array(&kinds, reader->depth);
            bool more = in_array ? json_next_element(reader) : next_raw_member(reader, &name);
            if (!more && json_failed(reader))
                return false;
        }
    } while (reader->depth > outside);
    return true;
}

bool json_finish(struct json_reader *reader)
{
    if (json_failed(reader))
        return false;
    skip_space(reader);
    if (reader->depth > 0 || reader->value_due)
        return fail_here(reader, "a value was not read");
    if (reader->at < reader->end)
        return fail_here(reader, "there is text behind the value");
    return true;
}
