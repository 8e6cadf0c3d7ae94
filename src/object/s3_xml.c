/* s3_xml.c -- see s3_xml.h. */
#include "object/s3_xml.h"
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "json/utf8.h"

struct element {
    struct bytes name; /* As written. */
    bool has_elements;
};

struct reader {
    struct arena *arena;
    struct bytes rest;
    const struct s3_xml_visitor *visitor;
    struct element open[S3_XML_DEPTH_MAX];
    size_t depth;
    struct buffer text; /* Of the innermost element. */
    bool ended;         /* The root was closed. */
};

static void skip(struct reader *reader, size_t size)
{
    reader->rest = bytes_of(reader->rest.data + size, reader->rest.len - size);
}

static bool starts_with(const struct reader *reader, const char *text)
{
    return bytes_starts_with(reader->rest, bytes_from_text(text));
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Skips to behind the next `mark`. What lies between is `*before`. */
static bool skip_behind(struct reader *reader, const char *mark, struct bytes *before)
{
    size_t size = strlen(mark);
    const uint8_t *found = memmem(reader->rest.data, reader->rest.len, mark, size);
    if (found == NULL)
        return false;
    *before = bytes_of(reader->rest.data, (size_t)(found - reader->rest.data));
    skip(reader, before->len + size);
    return true;
}

static struct bytes local_name(struct bytes name)
{
    const uint8_t *colon = memchr(name.data, ':', name.len);
    size_t prefix = colon == NULL ? 0 : (size_t)(colon - name.data) + 1;
    return bytes_of(name.data + prefix, name.len - prefix);
}

/* --- Text --- */

/* "#38" or "#x26". */
static bool append_numbered(struct buffer *out, struct bytes digits)
{
    bool is_hex = digits.len > 0 && digits.data[0] == 'x';
    uint32_t value = 0;
    if (digits.len <= is_hex)
        return false;
    for (size_t i = is_hex; i < digits.len; i++) {
        uint8_t byte = digits.data[i], lower = byte | 0x20;
        uint32_t digit = byte >= '0' && byte <= '9'               ? (uint32_t)(byte - '0')
                         : is_hex && lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a' + 10)
                                                                  : UINT32_MAX;
        if (digit == UINT32_MAX)
            return false;
        value = value * (is_hex ? 16 : 10) + digit;
        if (value > 0x10FFFF)
            return false;
    }
    if (value == 0 || (value >= 0xD800 && value <= 0xDFFF))
        return false;
    uint8_t bytes[UTF8_SIZE_MAX];
    buffer_append(out, bytes, utf8_encode(value, bytes));
    return true;
}

static bool append_entity(struct buffer *out, struct bytes name)
{
    static const struct {
        const char *name;
        uint8_t byte;
    } entities[] = {
        { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' }
    };
    if (name.len > 0 && name.data[0] == '#')
        return append_numbered(out, bytes_of(name.data + 1, name.len - 1));
    for (size_t i = 0; i < COUNT_OF(entities); i++) {
        if (bytes_equal_text(name, entities[i].name)) {
            buffer_append_byte(out, entities[i].byte);
            return true;
        }
    }
    return false;
}

/* Up to the next markup. */
static bool read_text(struct reader *reader)
{
    enum { ENTITY_SIZE_MAX = 10 };
    while (reader->rest.len > 0 && reader->rest.data[0] != '<') {
        struct bytes name;
        if (reader->depth == 0 && !is_blank(reader->rest.data[0]))
            return false;
        if (reader->rest.data[0] != '&') {
            buffer_append_byte(&reader->text, reader->rest.data[0]);
            skip(reader, 1);
            continue;
        }
        skip(reader, 1);
        if (!skip_behind(reader, ";", &name) || name.len > ENTITY_SIZE_MAX ||
            !append_entity(&reader->text, name))
            return false;
    }
    return true;
}

/* --- Elements --- */

/* A tag's end: a quoted value may hold a bracket. */
static bool take_tag(struct reader *reader, struct bytes *out)
{
    uint8_t quote = 0;
    for (size_t i = 0; i < reader->rest.len; i++) {
        uint8_t byte = reader->rest.data[i];
        if (quote != 0)
            quote = byte == quote ? 0 : quote;
        else if (byte == '"' || byte == '\'')
            quote = byte;
        else if (byte == '>') {
            *out = bytes_of(reader->rest.data, i);
            skip(reader, i + 1);
            return true;
        }
    }
    return false;
}

static struct bytes tag_name(struct bytes tag)
{
    size_t size = 0;
    while (size < tag.len && !is_blank(tag.data[size]) && tag.data[size] != '/')
        size++;
    return bytes_of(tag.data, size);
}

static bool close_element(struct reader *reader, struct bytes name)
{
    const struct s3_xml_visitor *visitor = reader->visitor;
    if (reader->depth == 0)
        return false;
    const struct element *element = &reader->open[--reader->depth];
    if (!bytes_equal(element->name, name))
        return false;
    struct bytes parent =
        reader->depth == 0 ? BYTES("") : local_name(reader->open[reader->depth - 1].name);
    if (!element->has_elements)
        visitor->leaf(visitor->context, parent, local_name(name),
                      arena_copy(reader->arena, buffer_bytes(&reader->text)));
    else if (visitor->end != NULL)
        visitor->end(visitor->context, local_name(name));
    reader->text.len = 0;
    reader->ended = reader->depth == 0;
    return true;
}

static bool open_element(struct reader *reader, struct bytes tag)
{
    struct bytes name = tag_name(tag);
    if (name.len == 0 || local_name(name).len == 0 || reader->ended ||
        reader->depth == S3_XML_DEPTH_MAX)
        return false;
    if (reader->depth > 0)
        reader->open[reader->depth - 1].has_elements = true;
    reader->open[reader->depth++] = (struct element){ .name = name };
    reader->text.len = 0;
    return tag.data[tag.len - 1] != '/' || close_element(reader, name);
}

static bool read_markup(struct reader *reader)
{
    struct bytes content;
    if (starts_with(reader, "<!--"))
        return skip_behind(reader, "-->", &content);
    if (starts_with(reader, "<![CDATA[")) {
        skip(reader, strlen("<![CDATA["));
        if (reader->depth == 0 || !skip_behind(reader, "]]>", &content))
            return false;
        buffer_append_bytes(&reader->text, content);
        return true;
    }
    if (starts_with(reader, "<?"))
        return skip_behind(reader, "?>", &content);
    if (starts_with(reader, "<!"))
        return false;
    bool closes = starts_with(reader, "</");
    skip(reader, closes ? 2 : 1);
    if (!take_tag(reader, &content) || content.len == 0)
        return false;
    return closes ? close_element(reader, tag_name(content)) : open_element(reader, content);
}

bool s3_xml_read(struct arena *arena, struct bytes text, const struct s3_xml_visitor *visitor)
{
    struct reader reader = { .arena = arena, .rest = text, .visitor = visitor };
    if (text.len > S3_XML_SIZE_MAX)
        return false;
    buffer_init(&reader.text, arena);
    while (reader.rest.len > 0)
        if (!read_text(&reader) || (reader.rest.len > 0 && !read_markup(&reader)))
            return false;
    return reader.ended;
}
