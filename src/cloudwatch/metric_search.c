/* metric_search.c -- see metric_search.h. */
#include "cloudwatch/metric_search.h"
#include <ctype.h>
#include "base/arena.h"
#include "cloudwatch/metric_math.h"
#include "cloudwatch/series.h"

enum term_kind { TERM_ALL, TERM_WORD, TERM_AND, TERM_OR, TERM_NOT };

struct term {
    enum term_kind kind;
    struct bytes property; /* data NULL: any. */
    struct bytes word;
    bool is_exact;
    const struct term *left, *right; /* NOT has only `left`. */
};

struct metric_search {
    bool has_schema;
    struct bytes namespace;
    struct series_dimension dimensions[SERIES_DIMENSIONS_MAX];
    size_t dimension_count;
    const struct term *terms;
};

struct search_parser {
    struct arena *arena;
    struct bytes text;
    size_t at;
    unsigned depth;
    size_t term_count;
    struct metric_math_error *err;
    bool failed;
};

static const struct term all = { .kind = TERM_ALL };

static const struct term *fail(struct search_parser *parser, const char *what)
{
    if (!parser->failed)
        metric_math_fail(parser->err, "Invalid search: %s at position %zu", what, parser->at);
    parser->failed = true;
    return &all;
}

static void skip_space(struct search_parser *parser)
{
    while (parser->at < parser->text.len && isspace(parser->text.data[parser->at]))
        parser->at++;
}

static bool is_next(struct search_parser *parser, char wanted)
{
    skip_space(parser);
    return parser->at < parser->text.len && parser->text.data[parser->at] == (uint8_t)wanted;
}

static bool take(struct search_parser *parser, char wanted)
{
    if (!is_next(parser, wanted))
        return false;
    parser->at++;
    return true;
}

/* Up to the next space or sign. False if there is none. */
static bool read_word(struct search_parser *parser, const char *signs, struct bytes *out,
                      bool *is_quoted)
{
    struct bytes text = parser->text;
    skip_space(parser);
    size_t start = parser->at;
    *is_quoted = start < text.len && text.data[start] == '"';
    if (*is_quoted) {
        const uint8_t *end = memchr(text.data + start + 1, '"', text.len - start - 1);
        if (end == NULL) {
            fail(parser, "a quote has no end");
            return false;
        }
        *out = bytes_of(text.data + start + 1, (size_t)(end - text.data) - start - 1);
        parser->at = (size_t)(end - text.data) + 1;
        return true;
    }
    while (parser->at < text.len && !isspace(text.data[parser->at]) &&
           strchr(signs, text.data[parser->at]) == NULL)
        parser->at++;
    *out = bytes_of(text.data + start, parser->at - start);
    return out->len > 0;
}

/* --- Terms --- */

static struct term *add_term(struct search_parser *parser, enum term_kind kind)
{
    struct term *term = arena_alloc_zeroed(parser->arena, sizeof *term);
    term->kind = kind;
    if (++parser->term_count > METRIC_SEARCH_TERMS_MAX)
        fail(parser, "there are too many terms");
    return term;
}

static const struct term *parse_any(struct search_parser *parser, struct bytes property);

static const struct term *parse_parentheses(struct search_parser *parser, struct bytes property)
{
    if (++parser->depth > METRIC_SEARCH_DEPTH_MAX)
        return fail(parser, "it is nested too deeply");
    const struct term *inner = parse_any(parser, property);
    parser->depth--;
    return take(parser, ')') || parser->failed ? inner : fail(parser, "a ) is missing");
}

/* `property`: of all words within its parentheses. */
static const struct term *parse_word(struct search_parser *parser, struct bytes property)
{
    struct bytes word;
    bool is_quoted;
    if (take(parser, '('))
        return parse_parentheses(parser, property);
    if (!read_word(parser, "=(){},\"", &word, &is_quoted))
        return fail(parser, "a word is missing");
    if (!is_quoted && bytes_equal_text(word, "NOT")) {
        struct term *negated = add_term(parser, TERM_NOT);
        if (++parser->depth > METRIC_SEARCH_DEPTH_MAX)
            return fail(parser, "it is nested too deeply");
        negated->left = parse_word(parser, property);
        parser->depth--;
        return negated;
    }
    if (property.data == NULL && take(parser, '=')) {
        if (take(parser, '('))
            return parse_parentheses(parser, word);
        property = word;
        if (!read_word(parser, "=(){},\"", &word, &is_quoted))
            return fail(parser, "a value is missing");
    }
    struct term *term = add_term(parser, TERM_WORD);
    term->property = property;
    term->word = word;
    term->is_exact = is_quoted;
    return term;
}

/* Takes the operator if it is the next word. */
static bool take_operator(struct search_parser *parser, const char *operator)
{
    size_t before = parser->at;
    struct bytes word;
    bool is_quoted;
    if (parser->failed || !read_word(parser, "=(){},\"", &word, &is_quoted))
        return false;
    if (!is_quoted && bytes_equal_text(word, operator))
        return true;
    parser->at = before;
    return false;
}

static bool is_end(struct search_parser *parser)
{
    skip_space(parser);
    return parser->failed || parser->at == parser->text.len || is_next(parser, ')');
}

static const struct term *parse_every(struct search_parser *parser, struct bytes property)
{
    const struct term *left = parse_word(parser, property);
    for (;;) {
        size_t before = parser->at;
        bool has_and = !is_end(parser) && take_operator(parser, "AND");
        if (!has_and && (is_end(parser) || take_operator(parser, "OR"))) {
            parser->at = before;
            return left;
        }
        struct term *both = add_term(parser, TERM_AND);
        both->left = left;
        both->right = parse_word(parser, property);
        left = both;
    }
}

static const struct term *parse_any(struct search_parser *parser, struct bytes property)
{
    const struct term *left = parse_every(parser, property);
    while (!is_end(parser) && take_operator(parser, "OR")) {
        struct term *either = add_term(parser, TERM_OR);
        either->left = left;
        either->right = parse_every(parser, property);
        left = either;
    }
    return left;
}

/* --- The schema --- */

static void parse_schema(struct search_parser *parser, struct metric_search *search)
{
    bool is_quoted;
    if (!take(parser, '{'))
        return;
    search->has_schema = true;
    if (!read_word(parser, ",{}\"", &search->namespace, &is_quoted)) {
        fail(parser, "the namespace is missing");
        return;
    }
    while (!parser->failed && take(parser, ',')) {
        struct bytes name;
        if (search->dimension_count == SERIES_DIMENSIONS_MAX)
            fail(parser, "there are too many dimensions");
        else if (!read_word(parser, ",{}\"", &name, &is_quoted))
            fail(parser, "a dimension is missing");
        else
            search->dimensions[search->dimension_count++].name = name;
    }
    if (!parser->failed && !take(parser, '}'))
        fail(parser, "a } is missing");
}

const struct metric_search *metric_search_parse(struct arena *arena, struct bytes text,
                                                struct metric_math_error *err)
{
    struct metric_search *search = arena_alloc_zeroed(arena, sizeof *search);
    struct search_parser parser = { .arena = arena, .text = text, .err = err };
    search->terms = &all;
    if (text.len > METRIC_SEARCH_SIZE_MAX) {
        metric_math_fail(err, "A search is longer than %d characters", METRIC_SEARCH_SIZE_MAX);
        return NULL;
    }
    parse_schema(&parser, search);
    if (!is_end(&parser))
        search->terms = parse_any(&parser, (struct bytes){ 0 });
    if (!parser.failed && parser.at < text.len)
        fail(&parser, "something unexpected follows");
    if (!parser.failed && !search->has_schema && search->terms == &all)
        fail(&parser, "it is empty");
    return parser.failed ? NULL : search;
}

struct series_filter metric_search_filter(const struct metric_search *search)
{
    struct series_filter filter = { 0 };
    if (search->has_schema)
        filter = (struct series_filter){ .namespace = search->namespace,
                                         .dimensions = search->dimensions,
                                         .dimension_count = search->dimension_count,
                                         .exact_dimensions = true };
    return filter;
}

/* --- Matching --- */

static bool contains(struct bytes text, struct bytes part)
{
    for (size_t i = 0; part.len <= text.len && i <= text.len - part.len; i++) {
        size_t same = 0;
        while (same < part.len && tolower(text.data[i + same]) == tolower(part.data[same]))
            same++;
        if (same == part.len)
            return true;
    }
    return false;
}

static bool word_matches(const struct term *term, const char *property, struct bytes name,
                         struct bytes text)
{
    bool is_meant = term->property.data == NULL ||
                    (property != NULL ? bytes_equal_text(term->property, property)
                                      : bytes_equal(term->property, name));
    if (!is_meant)
        return false;
    return term->is_exact ? bytes_equal(text, term->word) : contains(text, term->word);
}

static bool key_matches(const struct term *term, const struct series_key *key)
{
    if (word_matches(term, "Namespace", BYTES(""), key->namespace) ||
        word_matches(term, "MetricName", BYTES(""), key->name))
        return true;
    for (size_t i = 0; i < key->dimension_count; i++) {
        const struct series_dimension *dimension = &key->dimensions[i];
        if (word_matches(term, NULL, dimension->name, dimension->value) ||
            (term->property.data == NULL &&
             word_matches(term, NULL, dimension->name, dimension->name)))
            return true;
    }
    return false;
}

/* Terms nest to the left, and at most METRIC_SEARCH_TERMS_MAX deep. */
static bool term_matches(const struct term *term, const struct series_key *key)
{
    switch (term->kind) {
    case TERM_ALL:
        return true;
    case TERM_WORD:
        return key_matches(term, key);
    case TERM_AND:
        return term_matches(term->left, key) && term_matches(term->right, key);
    case TERM_OR:
        return term_matches(term->left, key) || term_matches(term->right, key);
    case TERM_NOT:
        return !term_matches(term->left, key);
    }
    return false;
}

bool metric_search_matches(const struct metric_search *search, const struct series_key *key)
{
    return term_matches(search->terms, key);
}
