/* pattern.c -- see pattern.h. Backtracking over the pattern's text, with a budget of steps.
 *
 * The pattern is interpreted where it stands. "What remains to be matched" behind a group is a
 * linked list of continuations on the stack, so nothing is allocated; both steps and depth are
 * bounded, because backtracking takes exponential time in the worst case. A step looks at a few
 * characters of the pattern; what scans more of it takes more steps (scan_steps).
 */
#include "template/pattern.h"
#include <stdbool.h>
#include <string.h>

struct matcher {
    struct bytes text;
    unsigned *steps;
    unsigned depth;
    enum pattern_result trouble; /* PATTERN_MATCHES: none so far. */
};

/* Behind the end of a piece of pattern: another round of a repeated group, or what follows it. */
struct rest {
    struct bytes pattern; /* That follows. */
    const struct rest *next;
    const struct repeat *repeat; /* NULL: nothing is repeated. */
};

struct repeat {
    struct bytes body;
    unsigned min, max; /* That may still follow. */
    bool is_lazy;
    size_t started; /* Where this round began: an empty round ends the repetition. */
};

enum { REPEAT_MAX = 100000 };

static bool match_here(struct matcher *matcher, struct bytes pattern, size_t at,
                       const struct rest *rest);

static bool give_up(struct matcher *matcher, enum pattern_result why)
{
    if (matcher->trouble == PATTERN_MATCHES)
        matcher->trouble = why;
    return false;
}

/* Sums stay far below UINT_MAX: a pattern has at most PATTERN_SIZE_MAX bytes. */
static unsigned scan_steps(struct bytes pattern)
{
    enum { BYTES_PER_STEP = 16 };
    return 1 + (unsigned)(pattern.len / BYTES_PER_STEP);
}

static bool spend(struct matcher *matcher, unsigned steps)
{
    *matcher->steps += steps;
    return *matcher->steps <= PATTERN_STEPS_MAX || give_up(matcher, PATTERN_TOO_LONG);
}

static struct bytes from(struct bytes pattern, size_t start)
{
    return bytes_of(pattern.data + start, pattern.len - start);
}

/* --- The extent of things --- */

/* The size of the class at the start, "[...]"; 0: malformed. */
static size_t class_size(struct bytes pattern)
{
    size_t at = 1;
    if (at < pattern.len && pattern.data[at] == '^')
        at++;
    for (bool is_first = true; at < pattern.len; at++, is_first = false) {
        if (pattern.data[at] == '\\')
            at++;
        else if (pattern.data[at] == ']' && !is_first)
            return at + 1;
        else if (pattern.data[at] == '[')
            return 0; /* Java's unions are not supported. */
    }
    return 0;
}

/* The size of the group at the start, "(...)"; 0: malformed. */
static size_t group_size(struct bytes pattern)
{
    size_t depth = 0;
    for (size_t at = 0; at < pattern.len; at++) {
        if (pattern.data[at] == '\\') {
            at++;
        } else if (pattern.data[at] == '[') {
            size_t size = class_size(from(pattern, at));
            if (size == 0)
                return 0;
            at += size - 1;
        } else if (pattern.data[at] == '(') {
            depth++;
        } else if (pattern.data[at] == ')' && --depth == 0) {
            return at + 1;
        }
    }
    return 0;
}

/* The size of the atom at the start; 0: malformed or not supported. */
static size_t atom_size(struct bytes pattern)
{
    switch (pattern.data[0]) {
    case '[':
        return class_size(pattern);
    case '(':
        return group_size(pattern);
    case '\\':
        return pattern.len < 2 ? 0 : 2;
    case '*':
    case '+':
    case '?':
    case '{':
    case ')':
        return 0;
    default:
        return 1;
    }
}

/* The top-level '|' of a pattern; its length if there is none, or if an atom before it is
 * malformed: then the pattern is given up. */
static size_t find_bar(struct matcher *matcher, struct bytes pattern)
{
    for (size_t at = 0; at < pattern.len;) {
        if (pattern.data[at] == '|')
            return at;
        size_t size = pattern.data[at] == '[' || pattern.data[at] == '(' || pattern.data[at] == '\\'
                          ? atom_size(from(pattern, at))
                          : 1;
        if (size == 0) {
            give_up(matcher, PATTERN_UNSUPPORTED);
            break;
        }
        at += size;
    }
    return pattern.len;
}

/* --- Single characters --- */

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* A class like \d; false with `*is_class` false: the character itself is meant. */
static bool escape_matches(struct matcher *matcher, uint8_t letter, uint8_t c, bool *is_class)
{
    *is_class = true;
    switch (letter) {
    case 'd':
        return c >= '0' && c <= '9';
    case 'D':
        return c < '0' || c > '9';
    case 'w':
        return is_word(c);
    case 'W':
        return !is_word(c);
    case 's':
        return c == ' ' || (c >= '\t' && c <= '\r');
    case 'S':
        return c != ' ' && (c < '\t' || c > '\r');
    case 'n':
        return c == '\n';
    case 't':
        return c == '\t';
    case 'r':
        return c == '\r';
    default:
        *is_class = false;
        if (is_word(letter)) /* \b, \p{...}, \1 */
            return give_up(matcher, PATTERN_UNSUPPORTED);
        return letter == c;
    }
}

static bool class_matches(struct matcher *matcher, struct bytes class, uint8_t c)
{
    size_t at = 1, end = class.len - 1;
    bool is_negated = class.data[1] == '^', found = false;
    for (at += is_negated; at < end; at++) {
        uint8_t low = class.data[at];
        bool is_class = false;
        if (low == '\\') {
            low = class.data[++at];
            found |= escape_matches(matcher, low, c, &is_class);
        }
        if (!is_class && at + 2 < end && class.data[at + 1] == '-') {
            uint8_t high = class.data[at + 2];
            at += 2;
            if (high == '\\')
                high = class.data[++at];
            found |= c >= low && c <= high;
        } else if (!is_class) {
            found |= c == low;
        }
    }
    return found != is_negated;
}

static bool single_matches(struct matcher *matcher, struct bytes atom, uint8_t c)
{
    bool is_class;
    if (atom.data[0] == '[')
        return class_matches(matcher, atom, c);
    if (atom.data[0] == '\\')
        return escape_matches(matcher, atom.data[1], c, &is_class);
    return atom.data[0] == '.' ? c != '\n' : atom.data[0] == c;
}

/* --- Quantifiers --- */

static bool read_number(struct bytes pattern, size_t *at, unsigned *out)
{
    size_t start = *at;
    for (*out = 0; *at < pattern.len && pattern.data[*at] >= '0' && pattern.data[*at] <= '9'; ++*at)
        *out = *out < REPEAT_MAX ? *out * 10 + (unsigned)(pattern.data[*at] - '0') : REPEAT_MAX;
    return *at > start;
}

/* Returns the size of the quantifier at the start; 0: none, once. */
static size_t read_quantifier(struct matcher *matcher, struct bytes pattern, struct repeat *out)
{
    size_t size = 1;
    *out = (struct repeat){ .min = 1, .max = 1 };
    if (pattern.len == 0 || strchr("*+?{", pattern.data[0]) == NULL || pattern.data[0] == '\0')
        return 0;
    if (pattern.data[0] == '{') {
        bool ok = read_number(pattern, &size, &out->min);
        out->max = out->min;
        if (ok && size < pattern.len && pattern.data[size] == ',') {
            size++;
            if (!read_number(pattern, &size, &out->max))
                out->max = REPEAT_MAX;
        }
        if (!ok || size == pattern.len || pattern.data[size] != '}' || out->max < out->min) {
            give_up(matcher, PATTERN_UNSUPPORTED);
            return 0;
        }
        size++;
    } else {
        out->min = pattern.data[0] == '+';
        out->max = pattern.data[0] == '?' ? 1 : REPEAT_MAX;
    }
    if (size < pattern.len && pattern.data[size] == '?') {
        out->is_lazy = true;
        size++;
    } else if (size < pattern.len && pattern.data[size] == '+') {
        give_up(matcher, PATTERN_UNSUPPORTED); /* Possessive. */
    }
    return size;
}

/* --- Matching --- */

static bool match_rest(struct matcher *matcher, size_t at, const struct rest *rest);

static bool match_round(struct matcher *matcher, const struct repeat *repeat, size_t at,
                        struct bytes behind, const struct rest *next)
{
    struct repeat further = *repeat;
    if (further.min > 0)
        further.min--;
    further.max--;
    further.started = at;
    const struct rest rest = { behind, next, &further };
    return match_here(matcher, repeat->body, at, &rest);
}

static bool match_repeat(struct matcher *matcher, const struct repeat *repeat, size_t at,
                         struct bytes behind, const struct rest *next)
{
    if (repeat->min > 0)
        return match_round(matcher, repeat, at, behind, next);
    if (repeat->is_lazy && match_here(matcher, behind, at, next))
        return true;
    if (repeat->max > 0 && matcher->trouble == PATTERN_MATCHES &&
        match_round(matcher, repeat, at, behind, next))
        return true;
    return !repeat->is_lazy && match_here(matcher, behind, at, next);
}

static bool match_rest(struct matcher *matcher, size_t at, const struct rest *rest)
{
    if (rest == NULL)
        return at == matcher->text.len;
    if (rest->repeat == NULL)
        return match_here(matcher, rest->pattern, at, rest->next);
    if (rest->repeat->started == at && rest->repeat->min == 0) /* An empty round. */
        return match_here(matcher, rest->pattern, at, rest->next);
    return match_repeat(matcher, rest->repeat, at, rest->pattern, rest->next);
}

static bool match_group(struct matcher *matcher, struct bytes atom, const struct repeat *repeat,
                        size_t at, struct bytes behind, const struct rest *rest)
{
    struct repeat group = *repeat;
    group.body = bytes_of(atom.data + 1, atom.len - 2);
    if (bytes_starts_with(group.body, BYTES("?:")))
        group.body = from(group.body, 2);
    else if (group.body.len > 0 && group.body.data[0] == '?')
        return give_up(matcher, PATTERN_UNSUPPORTED);
    group.started = SIZE_MAX;
    return match_repeat(matcher, &group, at, behind, rest);
}

/* A repeated single character needs no recursion for each of its rounds. */
static bool match_single(struct matcher *matcher, struct bytes atom, const struct repeat *repeat,
                         size_t at, struct bytes behind, const struct rest *rest)
{
    size_t count = 0, limit = repeat->is_lazy ? repeat->min : repeat->max;
    while (count < limit && at + count < matcher->text.len && spend(matcher, scan_steps(atom)) &&
           single_matches(matcher, atom, matcher->text.data[at + count]))
        count++;
    if (count < repeat->min || matcher->trouble != PATTERN_MATCHES)
        return false;
    for (;;) {
        if (match_here(matcher, behind, at + count, rest))
            return true;
        if (matcher->trouble != PATTERN_MATCHES)
            return false;
        if (repeat->is_lazy) {
            if (count == repeat->max || at + count == matcher->text.len ||
                !spend(matcher, scan_steps(atom)) ||
                !single_matches(matcher, atom, matcher->text.data[at + count]))
                return false;
            count++;
        } else if (count-- == repeat->min) {
            return false;
        }
    }
}

static bool match_sequence(struct matcher *matcher, struct bytes pattern, size_t at,
                           const struct rest *rest)
{
    struct repeat repeat;
    if (pattern.len == 0)
        return match_rest(matcher, at, rest);
    if (pattern.data[0] == '^')
        return at == 0 && match_here(matcher, from(pattern, 1), at, rest);
    if (pattern.data[0] == '$')
        return at == matcher->text.len && match_here(matcher, from(pattern, 1), at, rest);
    size_t size = atom_size(pattern);
    if (size == 0)
        return give_up(matcher, PATTERN_UNSUPPORTED);
    struct bytes atom = bytes_of(pattern.data, size);
    size_t quantifier = read_quantifier(matcher, from(pattern, size), &repeat);
    if (matcher->trouble != PATTERN_MATCHES)
        return false;
    struct bytes behind = from(pattern, size + quantifier);
    if (atom.data[0] == '(')
        return match_group(matcher, atom, &repeat, at, behind, rest);
    return match_single(matcher, atom, &repeat, at, behind, rest);
}

/* Recursion is bounded by PATTERN_DEPTH_MAX. */
static bool match_here(struct matcher *matcher, struct bytes pattern, size_t at,
                       const struct rest *rest)
{
    if (matcher->trouble != PATTERN_MATCHES)
        return false;
    if (!spend(matcher, scan_steps(pattern)))
        return false;
    if (matcher->depth == PATTERN_DEPTH_MAX)
        return give_up(matcher, PATTERN_TOO_LONG);
    size_t bar = find_bar(matcher, pattern);
    if (matcher->trouble != PATTERN_MATCHES)
        return false;
    matcher->depth++;
    bool matches = match_sequence(matcher, bytes_of(pattern.data, bar), at, rest);
    if (!matches && bar < pattern.len)
        matches = match_here(matcher, from(pattern, bar + 1), at, rest);
    matcher->depth--;
    return matches;
}

enum pattern_result pattern_match(struct bytes pattern, struct bytes text, unsigned *steps)
{
    struct matcher matcher = { .text = text, .steps = steps, .trouble = PATTERN_MATCHES };
    if (pattern.len > PATTERN_SIZE_MAX)
        return PATTERN_TOO_LONG;
    bool matches = match_here(&matcher, pattern, 0, NULL);
    if (matcher.trouble != PATTERN_MATCHES)
        return matcher.trouble;
    return matches ? PATTERN_MATCHES : PATTERN_DIFFERS;
}
