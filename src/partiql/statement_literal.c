/* statement_literal.c -- values written out: 'text', 1.5, true, null, [list], {map} and <<set>>.
 *
 * A value is appended to a buffer in its encoded form; the parts of maps and sets are sorted when
 * they are complete.
 */
#include <assert.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "model/error.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/number.h"
#include "model/value.h"
#include "partiql/statement_parser.h"

/* The position of a value within its containers. */
struct place {
    const struct place *parent; /* NULL: the root. */
    struct bytes name;          /* Of a member; data NULL: an element. */
    uint32_t index;
    unsigned depth; /* Nesting levels, including the value itself. */
};

static bool append_value(struct statement_parser *parser, const struct place *place,
                         struct buffer *out);

/* As messages show it: root.name.0, or root.name[0] if elements are in brackets. */
static struct bytes show_place(struct statement_parser *parser, const struct place *place,
                               bool brackets)
{
    struct buffer text;
    if (place->parent == NULL)
        return BYTES("root");
    buffer_init(&text, parser->arena);
    buffer_append_bytes(&text, show_place(parser, place->parent, brackets));
    if (place->name.data != NULL) {
        buffer_append_byte(&text, '.');
        buffer_append_bytes(&text, place->name);
    } else {
        buffer_append_bytes(
            &text, arena_printf(parser->arena, brackets ? "[%u]" : ".%u", (unsigned)place->index));
    }
    return buffer_bytes(&text);
}

static bool fail_unsupported(struct statement_parser *parser, const struct place *place)
{
    struct bytes what = statement_parser_text(parser, parser->token);
    if (parser->token.keyword == KEYWORD_MISSING)
        what = BYTES("MISSING");
    else if (parser->token.type == STATEMENT_PARAMETER)
        what = BYTES("Parameter");
    else if (statement_parser_is_name(parser) && place->depth > 1)
        what = BYTES("VariableReference");
    else if (!statement_parser_is_name(parser))
        return statement_parser_unexpected(parser);
    return statement_parser_fail_at(parser, parser->token,
                                    "Unsupported data type: %.*s under key "
                                    "%.*s",
                                    BYTES_FMT(what), BYTES_FMT(show_place(parser, place, false)));
}

/* --- Parts of containers --- */

/* Elements in the order of the text: the key they are sorted by, and their bytes. */
struct parts {
    struct arena *arena;
    struct item_attribute *items;
    size_t count;
    size_t capacity;
};
enum { PARTS_CAPACITY_MIN = 8 };

static void add_part(struct parts *parts, struct bytes key, struct bytes encoded)
{
    if (parts->count == parts->capacity) {
        size_t capacity = parts->capacity == 0 ? PARTS_CAPACITY_MIN : parts->capacity * 2;
        parts->items =
            arena_grow(parts->arena, parts->items, parts->capacity * sizeof *parts->items,
                       capacity * sizeof *parts->items);
        parts->capacity = capacity;
    }
    parts->items[parts->count++] = (struct item_attribute){ .name = key, .value = encoded };
}

static void sort_parts(struct parts *parts)
{
    struct item_attribute *scratch = arena_alloc(parts->arena, parts->count * sizeof *scratch);
    item_sort_attributes(parts->items, parts->count, scratch);
}

/* --- Scalars --- */

static bool append_number(struct statement_parser *parser, const struct place *place, bool negative,
                          struct buffer *out)
{
    uint8_t encoded[NUMBER_ENCODED_MAX];
    size_t size;
    struct bytes text = arena_printf(parser->arena, "%s%.*s", negative ? "-" : "",
                                     BYTES_FMT(statement_parser_text(parser, parser->token)));
    statement_parser_advance(parser);
    if (!number_encode_text(text, encoded, &size, parser->err))
        return statement_parser_fail(parser, "%.*s under %.*s", BYTES_FMT(parser->err->message),
                                     BYTES_FMT(show_place(parser, place, true)));
    value_append_number(out, bytes_of(encoded, size));
    return true;
}

/* + and - before a number, perhaps in parentheses. */
static bool append_signed(struct statement_parser *parser, const struct place *place,
                          struct buffer *out)
{
    struct statement_token sign = parser->token;
    statement_parser_advance(parser);
    bool grouped = statement_parser_accept(parser, STATEMENT_OPEN);
    if (parser->token.type != STATEMENT_NUMBER)
        return statement_parser_fail_at(parser, sign, "Unsupported data type: %.*s under key root",
                                        BYTES_FMT(statement_parser_text(parser, sign)));
    return append_number(parser, place, sign.type == STATEMENT_MINUS, out) &&
           (!grouped || statement_parser_expect(parser, STATEMENT_CLOSE, ")"));
}

static bool append_keyword(struct statement_parser *parser, const struct place *place,
                           struct buffer *out)
{
    enum statement_keyword keyword = parser->token.keyword;
    if (keyword != KEYWORD_TRUE && keyword != KEYWORD_FALSE && keyword != KEYWORD_NULL)
        return fail_unsupported(parser, place);
    if (keyword == KEYWORD_NULL)
        value_append_null(out);
    else
        value_append_bool(out, keyword == KEYWORD_TRUE);
    statement_parser_advance(parser);
    return true;
}

static void append_string(struct statement_parser *parser, struct buffer *out)
{
    value_append_string(out, statement_lexer_content(&parser->lexer, parser->arena, parser->token));
    statement_parser_advance(parser);
}

/* --- Lists --- */

static bool append_list(struct statement_parser *parser, const struct place *place,
                        struct buffer *out)
{
    struct buffer elements;
    uint32_t count = 0;
    buffer_init(&elements, parser->arena);
    statement_parser_advance(parser);
    while (count > 0 || parser->token.type != STATEMENT_CLOSE_BRACKET) {
        struct place below = { .parent = place, .index = count, .depth = place->depth + 1 };
        if (!append_value(parser, &below, &elements))
            return false;
        count++;
        if (!statement_parser_accept(parser, STATEMENT_COMMA))
            break;
    }
    value_append_container(out, VALUE_L, count, buffer_bytes(&elements));
    return statement_parser_expect(parser, STATEMENT_CLOSE_BRACKET, "]");
}

/* --- Maps --- */

static bool read_key(struct statement_parser *parser, const struct place *place, struct bytes *out)
{
    struct statement_token token = parser->token;
    struct bytes type = statement_parser_text(parser, token);
    if (token.type == STATEMENT_STRING) {
        *out = statement_lexer_content(&parser->lexer, parser->arena, token);
        statement_parser_advance(parser);
        return out->len > 0 ||
               statement_parser_fail(parser, "Path component cannot be an empty string");
    }
    if (statement_parser_is_name(parser))
        type = BYTES("VariableReference");
    else if (token.type == STATEMENT_NUMBER)
        type = BYTES("INT");
    else if (token.type == STATEMENT_PARAMETER)
        type = BYTES("Parameter");
    else
        return statement_parser_unexpected(parser);
    return statement_parser_fail_at(parser, token,
                                    "Tuple keys must be of type String. Actual type: %.*s under "
                                    "%.*s",
                                    BYTES_FMT(type), BYTES_FMT(show_place(parser, place, false)));
}

static bool fail_duplicate(struct statement_parser *parser, struct statement_token token,
                           struct bytes key, const struct place *place)
{
    return statement_parser_fail_at(parser, token, "Duplicate keys in tuple. Key: %.*s under %.*s",
                                    BYTES_FMT(key), BYTES_FMT(show_place(parser, place, false)));
}

static bool append_map(struct statement_parser *parser, const struct place *place,
                       struct buffer *out)
{
    struct statement_token open = parser->token;
    struct parts parts = { .arena = parser->arena };
    struct buffer members;
    statement_parser_advance(parser);
    while (parts.count > 0 || parser->token.type != STATEMENT_CLOSE_BRACE) {
        struct bytes key;
        struct buffer value;
        buffer_init(&value, parser->arena);
        if (!read_key(parser, place, &key) ||
            !statement_parser_expect(parser, STATEMENT_COLON, ":"))
            return false;
        struct place below = { .parent = place, .name = key, .depth = place->depth + 1 };
        if (!append_value(parser, &below, &value))
            return false;
        add_part(&parts, key, buffer_bytes(&value));
        if (!statement_parser_accept(parser, STATEMENT_COMMA))
            break;
    }
    sort_parts(&parts);
    buffer_init(&members, parser->arena);
    for (size_t i = 0; i < parts.count; i++) {
        if (i > 0 && bytes_equal(parts.items[i - 1].name, parts.items[i].name))
            return fail_duplicate(parser, open, parts.items[i].name, place);
        value_append_length_prefixed(&members, parts.items[i].name);
        buffer_append_bytes(&members, parts.items[i].value);
    }
    value_append_container(out, VALUE_M, (uint32_t)parts.count, buffer_bytes(&members));
    return statement_parser_expect(parser, STATEMENT_CLOSE_BRACE, "}");
}

/* --- Sets --- */

static const char bag_types[] =
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";

/* One member of a set of strings or of numbers, as its value. */
static bool read_member(struct statement_parser *parser, const struct place *place,
                        struct value *out)
{
    struct buffer encoded;
    struct statement_token token = parser->token;
    buffer_init(&encoded, parser->arena);
    if (token.type == STATEMENT_STRING) {
        append_string(parser, &encoded);
    } else if (token.type == STATEMENT_NUMBER) {
        if (!append_number(parser, place, false, &encoded))
            return false;
    } else if (token.type == STATEMENT_MINUS || token.type == STATEMENT_PLUS) {
        if (!append_signed(parser, place, &encoded))
            return false;
    } else if (token.type == STATEMENT_END) {
        return statement_parser_unexpected(parser);
    } else {
        return statement_parser_fail_at(parser, token, "%s", bag_types);
    }
    *out = value_view(buffer_bytes(&encoded));
    return true;
}

/* `parts` are sorted; `text` is the text between << and >>. */
static bool check_distinct(struct statement_parser *parser, const struct parts *parts,
                           enum value_type type, struct bytes text)
{
    for (size_t i = 1; i < parts->count; i++) {
        if (!bytes_equal(parts->items[i - 1].name, parts->items[i].name))
            continue;
        if (type == VALUE_NS)
            return statement_parser_fail(parser, "Input collection contains duplicates");
        return statement_parser_fail(parser,
                                     "One or more parameter values were invalid: Input collection "
                                     "[%.*s] contains duplicates.",
                                     BYTES_FMT(text));
    }
    return true;
}

/* The members as the service lists them. */
static struct bytes list_members(struct statement_parser *parser, const struct parts *parts)
{
    struct buffer text;
    buffer_init(&text, parser->arena);
    for (size_t i = 0; i < parts->count; i++) {
        if (i > 0)
            buffer_append_bytes(&text, BYTES(", "));
        buffer_append_bytes(&text, parts->items[i].name);
    }
    return buffer_bytes(&text);
}

static bool append_set(struct statement_parser *parser, const struct place *place,
                       struct buffer *out)
{
    struct parts parts = { .arena = parser->arena };
    enum value_type type = VALUE_SS;
    statement_parser_advance(parser);
    if (parser->token.type == STATEMENT_CLOSE_BAG)
        return statement_parser_fail(parser, "Empty bags are not supported");
    do {
        struct value member;
        struct place below = { .parent = place,
                               .index = (uint32_t)parts.count,
                               .depth = place->depth + 1 };
        if (!read_member(parser, &below, &member))
            return false;
        enum value_type of = member.type == VALUE_N ? VALUE_NS : VALUE_SS;
        if (parts.count > 0 && of != type)
            return statement_parser_fail(parser, "%s", bag_types);
        type = of;
        add_part(&parts, member.data, member.data);
    } while (statement_parser_accept(parser, STATEMENT_COMMA));
    struct bytes text = list_members(parser, &parts);
    sort_parts(&parts);
    if (!check_distinct(parser, &parts, type, text))
        return false;
    struct buffer members;
    buffer_init(&members, parser->arena);
    for (size_t i = 0; i < parts.count; i++) {
        if (type == VALUE_NS)
            buffer_append_bytes(&members, parts.items[i].value);
        else
            value_append_length_prefixed(&members, parts.items[i].value);
    }
    value_append_container(out, type, (uint32_t)parts.count, buffer_bytes(&members));
    return statement_parser_expect(parser, STATEMENT_CLOSE_BAG, ">>");
}

/* --- Any --- */

static bool append_nested(struct statement_parser *parser, const struct place *place,
                          struct buffer *out)
{
    bool ok;
    if (!statement_parser_enter(parser))
        return false;
    switch (parser->token.type) {
    case STATEMENT_OPEN_BRACKET:
        ok = append_list(parser, place, out);
        break;
    case STATEMENT_OPEN_BRACE:
        ok = append_map(parser, place, out);
        break;
    default:
        assert(parser->token.type == STATEMENT_OPEN);
        statement_parser_advance(parser);
        ok = append_value(parser, place, out) &&
             statement_parser_expect(parser, STATEMENT_CLOSE, ")");
    }
    statement_parser_leave(parser);
    return ok;
}

static bool append_value(struct statement_parser *parser, const struct place *place,
                         struct buffer *out)
{
    if (place->depth > NESTING_DEPTH_MAX)
        return statement_parser_fail(parser, "Nesting Levels have exceeded supported limits");
    switch (parser->token.type) {
    case STATEMENT_STRING:
        append_string(parser, out);
        return true;
    case STATEMENT_NUMBER:
        return append_number(parser, place, false, out);
    case STATEMENT_PLUS:
    case STATEMENT_MINUS:
        return append_signed(parser, place, out);
    case STATEMENT_OPEN_BRACKET:
    case STATEMENT_OPEN_BRACE:
    case STATEMENT_OPEN:
        return append_nested(parser, place, out);
    case STATEMENT_OPEN_BAG:
        return append_set(parser, place, out);
    case STATEMENT_KEYWORD:
        return append_keyword(parser, place, out);
    default:
        return fail_unsupported(parser, place);
    }
}

bool statement_literal_begins(const struct statement_parser *parser)
{
    switch (parser->token.type) {
    case STATEMENT_STRING:
    case STATEMENT_NUMBER:
    case STATEMENT_OPEN_BRACKET:
    case STATEMENT_OPEN_BRACE:
    case STATEMENT_OPEN_BAG:
        return true;
    default:
        return parser->token.keyword == KEYWORD_TRUE || parser->token.keyword == KEYWORD_FALSE ||
               parser->token.keyword == KEYWORD_NULL;
    }
}

static const struct place root = { .depth = 1 };

bool statement_literal_parse(struct statement_parser *parser, struct value *out)
{
    struct buffer encoded;
    buffer_init(&encoded, parser->arena);
    if (!append_value(parser, &root, &encoded))
        return false;
    *out = value_view(buffer_bytes(&encoded));
    return true;
}

/* --- Items --- */

/* One attribute of an INSERT, and the position of its name. */
struct inserted {
    struct bytes name;
    struct bytes value;
    struct statement_token token;
};

struct insertion {
    struct inserted *items;
    size_t count;
    size_t capacity;
};

static bool add_attribute(struct statement_parser *parser, struct insertion *insertion)
{
    struct inserted inserted = { .token = parser->token };
    struct value value;
    if (!read_key(parser, &root, &inserted.name) ||
        !statement_parser_expect(parser, STATEMENT_COLON, ":") ||
        !(parser->token.type == STATEMENT_PARAMETER ? statement_parser_parameter
                                                    : statement_literal_parse)(parser, &value))
        return false;
    inserted.value = value.encoded;
    if (insertion->count == insertion->capacity) {
        size_t capacity = insertion->capacity == 0 ? PARTS_CAPACITY_MIN : insertion->capacity * 2;
        insertion->items = arena_grow(parser->arena, insertion->items,
                                      insertion->capacity * sizeof *insertion->items,
                                      capacity * sizeof *insertion->items);
        insertion->capacity = capacity;
    }
    insertion->items[insertion->count++] = inserted;
    return true;
}

/* By name, equal names by their position in the text. */
static int compare_inserted(const void *left, const void *right)
{
    const struct inserted *a = left, *b = right;
    int order = bytes_compare(a->name, b->name);
    if (order != 0)
        return order;
    return a->token.start < b->token.start ? -1 : a->token.start > b->token.start;
}

static bool finish_item(struct statement_parser *parser, struct insertion *insertion,
                        struct item *out)
{
    struct item_builder builder;
    item_builder_init(&builder, parser->arena);
    if (insertion->count > 1)
        qsort(insertion->items, insertion->count, sizeof *insertion->items, compare_inserted);
    for (size_t i = 0; i < insertion->count; i++) {
        const struct inserted *inserted = &insertion->items[i];
        if (i > 0 && bytes_equal(insertion->items[i - 1].name, inserted->name))
            return fail_duplicate(parser, inserted->token, inserted->name, &root);
        item_builder_add(&builder, inserted->name, inserted->value);
    }
    *out = item_builder_finish(&builder);
    return true;
}

bool statement_literal_parse_item(struct statement_parser *parser, struct item *out)
{
    struct insertion insertion = { .count = 0 };
    if (parser->token.type != STATEMENT_OPEN_BRACE)
        return statement_parser_fail_at(parser, parser->token,
                                        "Unsupported format in item expression. Please use struct "
                                        "format {...} to express item values for insert "
                                        "statement.");
    statement_parser_advance(parser);
    while (insertion.count > 0 || parser->token.type != STATEMENT_CLOSE_BRACE) {
        if (!add_attribute(parser, &insertion))
            return false;
        if (!statement_parser_accept(parser, STATEMENT_COMMA))
            break;
    }
    return statement_parser_expect(parser, STATEMENT_CLOSE_BRACE, "}") &&
           finish_item(parser, &insertion, out);
}
