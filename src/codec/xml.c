/* xml.c -- see xml.h. One loop with a stack of open elements, like cbor_encode.c. */
#include "codec/xml.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "codec/iso_time.h"
#include "json/reader.h"
#include "json/utf8.h"

enum frame_kind { FRAME_STRUCTURE, FRAME_LIST, FRAME_MAP };

struct frame {
    enum frame_kind kind;
    enum codec_type inner; /* Of a list's elements and a map's values. */
    struct bytes name;     /* Of its element. */
    bool ends_entry;       /* It is the value of a map's entry. */
    size_t content_at;     /* Behind its start tag. */
};

struct encoder {
    struct arena *arena;
    const struct codec_names *names;
    struct json_reader json;
    struct buffer *out;
    struct frame frames[CODEC_DEPTH_MAX];
    unsigned depth;
};

/* --- Text --- */

/* Is the character of `size` bytes one of the two that XML 1.0 excludes: U+FFFE, U+FFFF? */
static bool is_noncharacter(const uint8_t *at, size_t size)
{
    return size == 3 && at[0] == 0xEF && at[1] == 0xBF && at[2] >= 0xBE;
}

/* What stands for an ASCII character in text; NULL: the character itself. */
static const char *escape_of(uint8_t byte)
{
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r': /* Readers would turn a bare one into a line feed. */
        return "&#xD;";
    case '\t':
    case '\n':
        return NULL;
    default:
        return byte < ' ' ? "\xEF\xBF\xBD" : NULL;
    }
}

void xml_append_text(struct buffer *out, struct bytes text)
{
    const uint8_t *at = text.data;
    const uint8_t *end = at + text.len;
    while (at < end) {
        size_t size = *at < 0x80 ? 1 : utf8_size(at, end);
        const char *escape = *at < 0x80 ? escape_of(*at) : NULL;
        if (size == 0 || is_noncharacter(at, size))
            escape = "\xEF\xBF\xBD";
        if (size == 0)
            size = 1;
        if (escape == NULL)
            buffer_append(out, at, size);
        else
            buffer_append_bytes(out, bytes_from_text(escape));
        at += size;
    }
}

/* --- Elements --- */

static bool is_name(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++) {
        uint8_t byte = name.data[i];
        bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        bool is_inner = (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
        if (!is_letter && byte != '_' && !(is_inner && i > 0))
            return false;
    }
    return name.len > 0;
}

static void append_start(struct buffer *out, struct bytes name)
{
    buffer_append_byte(out, '<');
    buffer_append_bytes(out, name);
    buffer_append_byte(out, '>');
}

static void append_end(struct buffer *out, struct bytes name)
{
    buffer_append_bytes(out, BYTES("</"));
    buffer_append_bytes(out, name);
    buffer_append_byte(out, '>');
}

void xml_append_element(struct buffer *out, const char *name, struct bytes text)
{
    append_start(out, bytes_from_text(name));
    xml_append_text(out, text);
    append_end(out, bytes_from_text(name));
}

/* Ends an element; one without content is written as <name/>. */
static void end_element(struct encoder *encoder, const struct frame *frame)
{
    struct buffer *out = encoder->out;
    if (out->len == frame->content_at) {
        out->len--;
        buffer_append_bytes(out, BYTES("/>"));
    } else {
        append_end(out, frame->name);
    }
    if (frame->ends_entry)
        buffer_append_bytes(out, BYTES("</entry>"));
}

/* --- Values --- */

static void append_number(struct encoder *encoder, struct bytes text, enum codec_type type)
{
    if (type != CODEC_TIMESTAMP) {
        buffer_append_bytes(encoder->out, text);
        return;
    }
    char *copy = arena_alloc(encoder->arena, text.len + 1);
    char iso[ISO_TIME_TEXT_SIZE];
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    double milliseconds = round(strtod(copy, NULL) * 1000);
    double bound = 1e15; /* Past the years that are shown. */
    iso_time_format((int64_t)fmax(-bound, fmin(bound, milliseconds)), iso);
    buffer_append_bytes(encoder->out, bytes_from_text(iso));
}

static bool append_scalar(struct encoder *encoder, enum json_type found, enum codec_type type)
{
    struct bytes text;
    bool boolean;
    if (found == JSON_BOOL) {
        if (!json_read_bool(&encoder->json, &boolean))
            return false;
        buffer_append_bytes(encoder->out, boolean ? BYTES("true") : BYTES("false"));
        return true;
    }
    if (found == JSON_NUMBER) {
        if (!json_read_number(&encoder->json, &text))
            return false;
        append_number(encoder, text, type);
        return true;
    }
    if (!json_read_string(&encoder->json, &text))
        return false;
    xml_append_text(encoder->out, text);
    return true;
}

static enum frame_kind kind_of(enum json_type found, enum codec_type type)
{
    if (found == JSON_ARRAY)
        return FRAME_LIST;
    return type == CODEC_MAP || type == CODEC_MAP_OF_DOUBLES ? FRAME_MAP : FRAME_STRUCTURE;
}

/* Appends the element `name` with the next value, or begins it if the value is a container. */
static bool append_value(struct encoder *encoder, struct bytes name, enum codec_type type,
                         bool ends_entry)
{
    enum json_type found = json_peek(&encoder->json);
    append_start(encoder->out, name);
    struct frame frame = { .kind = kind_of(found, type),
                           .inner = codec_element_type(type),
                           .name = name,
                           .ends_entry = ends_entry,
                           .content_at = encoder->out->len };
    if (found != JSON_OBJECT && found != JSON_ARRAY) {
        if (found == JSON_NULL ? !json_read_null(&encoder->json)
                               : !append_scalar(encoder, found, type))
            return false;
        end_element(encoder, &frame);
        return true;
    }
    if (encoder->depth == CODEC_DEPTH_MAX ||
        !(found == JSON_OBJECT ? json_enter_object : json_enter_array)(&encoder->json))
        return false;
    encoder->frames[encoder->depth++] = frame;
    return true;
}

static bool append_entry(struct encoder *encoder, struct bytes key, enum codec_type type)
{
    buffer_append_bytes(encoder->out, BYTES("<entry>"));
    xml_append_element(encoder->out, "key", key);
    return append_value(encoder, BYTES("value"), type, true);
}

static bool append_member(struct encoder *encoder, struct bytes name)
{
    if (!is_name(name))
        return false;
    if (json_peek(&encoder->json) == JSON_NULL)
        return json_read_null(&encoder->json);
    return append_value(encoder, name, codec_names_find(encoder->names, name), false);
}

/* The next member or element of the innermost container, or its end. */
static bool append_next(struct encoder *encoder)
{
    const struct frame *frame = &encoder->frames[encoder->depth - 1];
    struct json_reader *json = &encoder->json;
    struct bytes name;
    if (frame->kind == FRAME_LIST ? !json_next_element(json) : !json_next_member(json, &name)) {
        encoder->depth--;
        end_element(encoder, frame);
        return !json_failed(json);
    }
    switch (frame->kind) {
    case FRAME_LIST:
        return append_value(encoder, BYTES("member"), frame->inner, false);
    case FRAME_MAP:
        return append_entry(encoder, name, frame->inner);
    case FRAME_STRUCTURE:
        break;
    }
    return append_member(encoder, name);
}

bool xml_encode(struct buffer *out, const struct codec_names *names, struct bytes name,
                struct bytes json)
{
    struct encoder encoder = { .arena = out->arena, .names = names, .out = out };
    json_reader_init(&encoder.json, out->arena, json, CODEC_DEPTH_MAX);
    if (json_peek(&encoder.json) != JSON_OBJECT ||
        !append_value(&encoder, name, CODEC_PLAIN, false))
        return false;
    while (encoder.depth > 0)
        if (!append_next(&encoder))
            return false;
    return json_finish(&encoder.json);
}
