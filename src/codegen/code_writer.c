/* code_writer.c -- see code_writer.h. */
#include "codegen/code_writer.h"
#include <assert.h>
#include <stdarg.h>
#include "base/arena.h"
#include "schema/json_tree.h"

void code_writer_init(struct code_writer *writer, struct arena *arena, enum code_language language)
{
    *writer = (struct code_writer){ .language = language };
    buffer_init(&writer->out, arena);
}

void code_add(struct code_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buffer_append_bytes(&writer->out, arena_vprintf(writer->out.arena, format, arguments));
    va_end(arguments);
}

void code_add_either(struct code_writer *writer, const char *python, const char *typescript)
{
    buffer_append_bytes(&writer->out,
                        bytes_from_text(code_is_python(writer) ? python : typescript));
}

/* --- Literals --- */

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

/* The code point at `*at`, which moves behind it. Bytes that are no UTF-8 are U+FFFD each. */
static uint32_t next_point(struct bytes text, size_t *at)
{
    uint8_t first = text.data[(*at)++];
    size_t more = first < 0x80             ? 0
                  : (first & 0xE0) == 0xC0 ? 1
                  : (first & 0xF0) == 0xE0 ? 2
                  : (first & 0xF8) == 0xF0 ? 3
                                           : SIZE_MAX;
    if (more == 0)
        return first;
    if (more > text.len - *at) /* SIZE_MAX, too. */
        return 0xFFFD;
    uint32_t point = first & (0x3FU >> more);
    for (size_t i = 0; i < more; i++) {
        if ((text.data[*at + i] & 0xC0) != 0x80)
            return 0xFFFD;
        point = point << 6 | (text.data[*at + i] & 0x3FU);
    }
    *at += more;
    return point <= 0x10FFFF && (point & ~0x7FFU) != 0xD800 ? point : 0xFFFD;
}

void code_add_literal(struct code_writer *writer, struct bytes text)
{
    buffer_append_byte(&writer->out, '"');
    for (size_t at = 0; at < text.len;) {
        if (is_plain(text.data[at])) {
            buffer_append_byte(&writer->out, text.data[at++]);
            continue;
        }
        uint32_t point = next_point(text, &at);
        if (point == '"' || point == '\\')
            code_add(writer, "\\%c", (char)point);
        else if (point == '\n')
            code_add(writer, "\\n");
        else if (point < 0x10000)
            code_add(writer, "\\u%04x", (unsigned)point);
        else if (code_is_python(writer))
            code_add(writer, "\\U%08x", (unsigned)point);
        else
            code_add(writer, "\\u{%x}", (unsigned)point);
    }
    buffer_append_byte(&writer->out, '"');
}

void code_add_member(struct code_writer *writer, struct bytes name)
{
    code_add_either(writer, "", "[");
    code_add_literal(writer, name);
    code_add_either(writer, ": ", "]: ");
}

void code_add_comment(struct code_writer *writer, struct bytes text)
{
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.data[i];
        buffer_append_byte(&writer->out, byte >= 0x20 && byte < 0x7F ? byte : '?');
        if (byte == '*')
            buffer_append_byte(&writer->out, ' ');
    }
}

void code_add_bool(struct code_writer *writer, bool value)
{
    if (value)
        code_add_either(writer, "True", "true");
    else
        code_add_either(writer, "False", "false");
}

void code_add_scalar(struct code_writer *writer, enum value_type type, struct bytes text)
{
    if (type == VALUE_N)
        code_add_either(writer, "decimal.Decimal(", "access.numeric(");
    else if (type == VALUE_B)
        code_add_either(writer, "base64.b64decode(", "bytes(");
    code_add_literal(writer, text);
    if (type == VALUE_N || type == VALUE_B)
        code_add(writer, ")");
}

static void add_list(struct code_writer *writer, const struct json_node *list, enum value_type type)
{
    for (const struct json_node *at = list->first; at != NULL; at = at->next) {
        if (type == VALUE_L)
            code_add_value(writer, at);
        else
            code_add_scalar(writer,
                            type == VALUE_NS   ? VALUE_N
                            : type == VALUE_BS ? VALUE_B
                                               : VALUE_S,
                            at->text);
        if (at->next != NULL)
            code_add(writer, ", ");
    }
}

bool code_is_last(const struct json_node *object, const struct json_node *member)
{
    return json_tree_member_bytes(object, member->name) == member;
}

const struct json_node *code_value_content(const struct json_node *value)
{
    const struct json_node *content = value->first;
    while (content != NULL && content->type == JSON_NULL)
        content = content->next;
    return content;
}

void code_add_value(struct code_writer *writer, const struct json_node *value)
{
    const struct json_node *content = code_value_content(value);
    enum value_type type;
    bool is_known = content != NULL && value_type_parse(content->name, &type);
    assert(is_known); /* Checked by code_plan.c. The depth is that of the tree. */
    switch (type) {
    case VALUE_NULL:
        code_add_either(writer, "None", "null");
        break;
    case VALUE_BOOL:
        code_add_bool(writer, content->boolean);
        break;
    case VALUE_S:
    case VALUE_N:
    case VALUE_B:
        code_add_scalar(writer, type, content->text);
        break;
    case VALUE_M:
        code_add_item(writer, content);
        break;
    case VALUE_L:
        code_add(writer, "[");
        add_list(writer, content, type);
        code_add(writer, "]");
        break;
    case VALUE_SS:
    case VALUE_NS:
    case VALUE_BS:
        code_add_either(writer, "{", "new Set([");
        add_list(writer, content, type);
        code_add_either(writer, "}", "])");
        break;
    case VALUE_TYPE_COUNT:
        break;
    }
}

void code_add_item(struct code_writer *writer, const struct json_node *item)
{
    const char *joint = "";
    code_add(writer, "{");
    for (const struct json_node *at = item->first; at != NULL; at = at->next) {
        if (!code_is_last(item, at))
            continue;
        code_add(writer, "%s", joint);
        code_add_member(writer, at->name);
        code_add_value(writer, at);
        joint = ", ";
    }
    code_add(writer, "}");
}

/* --- Types --- */

const char *code_type_name(enum code_language language, bool has_type, enum value_type type)
{
    bool python = language == CODE_PYTHON;
    if (!has_type)
        return python ? "_typing.Any" : "Value";
    switch (type) {
    case VALUE_S:
        return python ? "str" : "string";
    case VALUE_N:
        return "Numeric";
    case VALUE_B:
        return python ? "bytes" : "Uint8Array";
    case VALUE_BOOL:
        return python ? "bool" : "boolean";
    case VALUE_NULL:
        return python ? "None" : "null";
    case VALUE_L:
        return python ? "list[_typing.Any]" : "Value[]";
    case VALUE_M:
        return python ? "dict[str, _typing.Any]" : "Item";
    case VALUE_SS:
        return python ? "set[str]" : "Set<string>";
    case VALUE_NS:
        return python ? "set[Numeric]" : "Set<Numeric>";
    case VALUE_BS:
        return python ? "set[bytes]" : "Set<Uint8Array>";
    case VALUE_TYPE_COUNT:
        break;
    }
    return python ? "_typing.Any" : "Value";
}
