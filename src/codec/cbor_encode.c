/* cbor_encode.c -- see cbor.h.
 *
 * The length of a container stands before its content and is known only behind it. One byte is
 * reserved for it, which is enough for 23 elements; the content of a larger one moves up once.
 */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "codec/cbor.h"
#include "codec/cbor_head.h"
#include "json/base64.h"
#include "json/reader.h"

struct frame {
    bool is_object;
    bool is_map;           /* An object whose names are data. */
    enum codec_type inner; /* Of a list's elements and a map's values. */
    size_t head_at;
    size_t count;
};

struct encoder {
    struct arena *arena;
    const struct codec_names *names;
    struct json_reader json;
    struct buffer out;
    struct frame frames[CODEC_DEPTH_MAX];
    unsigned depth;
};

/* --- Heads --- */

enum { HEAD_SIZE_MAX = 9 };

static size_t format_head(uint8_t out[HEAD_SIZE_MAX], uint8_t major, uint64_t argument)
{
    unsigned info = CBOR_ARGUMENT_1;
    size_t size = 1;
    if (argument < CBOR_ARGUMENT_1) {
        out[0] = (uint8_t)((unsigned)major << 5 | (unsigned)argument);
        return 1;
    }
    while (size < 8 && argument >> (8 * size) != 0) {
        size *= 2;
        info++;
    }
    out[0] = (uint8_t)((unsigned)major << 5 | info);
    for (size_t i = 0; i < size; i++)
        out[1 + i] = (uint8_t)(argument >> (8 * (size - 1 - i)));
    return 1 + size;
}

static void append_head(struct encoder *encoder, uint8_t major, uint64_t argument)
{
    uint8_t head[HEAD_SIZE_MAX];
    buffer_append(&encoder->out, head, format_head(head, major, argument));
}

static void append_string(struct encoder *encoder, uint8_t major, struct bytes content)
{
    append_head(encoder, major, content.len);
    buffer_append_bytes(&encoder->out, content);
}

static void append_simple(struct encoder *encoder, uint8_t value)
{
    buffer_append_byte(&encoder->out, (uint8_t)(CBOR_SIMPLE << 5 | value));
}

/* --- Scalars --- */

static void append_double(struct encoder *encoder, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_simple(encoder, CBOR_DOUBLE);
    for (int shift = 56; shift >= 0; shift -= 8)
        buffer_append_byte(&encoder->out, (uint8_t)(bits >> shift));
}

/* A number with a fraction or an exponent, or too large for an integer, is a double. */
static void append_number(struct encoder *encoder, struct bytes text, bool is_double)
{
    char *copy = arena_alloc(encoder->arena, text.len + 1);
    char *end;
    memcpy(copy, text.data, text.len);
    copy[text.len] = '\0';
    errno = 0;
    long long value = strtoll(copy, &end, 10);
    if (is_double || *end != '\0' || errno == ERANGE)
        append_double(encoder, strtod(copy, NULL));
    else if (value < 0)
        append_head(encoder, CBOR_NEGATIVE, (uint64_t)(-1 - value));
    else
        append_head(encoder, CBOR_UNSIGNED, (uint64_t)value);
}

static bool append_blob(struct encoder *encoder, struct bytes text)
{
    uint8_t *content = arena_alloc(encoder->arena, base64_decoded_max(text.len));
    size_t size;
    if (!base64_decode(text, content, &size))
        return false;
    append_string(encoder, CBOR_BYTES, bytes_of(content, size));
    return true;
}

static bool append_text(struct encoder *encoder, struct bytes text, enum codec_type type)
{
    if (type == CODEC_BLOB)
        return append_blob(encoder, text);
    if (type == CODEC_DOUBLE && bytes_equal_text(text, "NaN"))
        append_double(encoder, NAN);
    else if (type == CODEC_DOUBLE && bytes_equal_text(text, "Infinity"))
        append_double(encoder, INFINITY);
    else if (type == CODEC_DOUBLE && bytes_equal_text(text, "-Infinity"))
        append_double(encoder, -INFINITY);
    else
        append_string(encoder, CBOR_TEXT, text);
    return true;
}

/* --- Containers --- */

static bool open_container(struct encoder *encoder, bool is_object, enum codec_type type)
{
    if (encoder->depth == CODEC_DEPTH_MAX ||
        !(is_object ? json_enter_object : json_enter_array)(&encoder->json))
        return false;
    encoder->frames[encoder->depth++] = (struct frame){
        .is_object = is_object,
        .is_map = is_object && (type == CODEC_MAP || type == CODEC_MAP_OF_DOUBLES),
        .inner = codec_element_type(type),
        .head_at = encoder->out.len,
    };
    buffer_append_byte(&encoder->out, 0);
    return true;
}

static void close_container(struct encoder *encoder)
{
    const struct frame *frame = &encoder->frames[--encoder->depth];
    uint8_t head[HEAD_SIZE_MAX];
    size_t size = format_head(head, frame->is_object ? CBOR_MAP : CBOR_ARRAY, frame->count);
    size_t content_size = encoder->out.len - frame->head_at - 1;
    buffer_reserve(&encoder->out, size - 1);
    uint8_t *at = encoder->out.data + frame->head_at;
    if (size > 1)
        memmove(at + size, at + 1, content_size);
    memcpy(at, head, size);
    encoder->out.len += size - 1;
}

static bool append_value(struct encoder *encoder, enum codec_type type)
{
    struct json_reader *json = &encoder->json;
    struct bytes text;
    bool boolean;
    switch (json_peek(json)) {
    case JSON_NULL:
        append_simple(encoder, CBOR_NULL);
        return json_read_null(json);
    case JSON_BOOL:
        if (!json_read_bool(json, &boolean))
            return false;
        append_simple(encoder, boolean ? CBOR_TRUE : CBOR_FALSE);
        return true;
    case JSON_NUMBER:
        if (!json_read_number(json, &text))
            return false;
        if (type == CODEC_TIMESTAMP)
            append_head(encoder, CBOR_TAG, CBOR_TAG_EPOCH_TIME);
        append_number(encoder, text, type == CODEC_DOUBLE);
        return true;
    case JSON_STRING:
        return json_read_string(json, &text) && append_text(encoder, text, type);
    case JSON_OBJECT:
    case JSON_ARRAY:
        return open_container(encoder, json_peek(json) == JSON_OBJECT, type);
    case JSON_INVALID:
        break;
    }
    return false;
}

/* The next member or element of the innermost container, or its end. */
static bool append_next(struct encoder *encoder)
{
    struct frame *frame = &encoder->frames[encoder->depth - 1];
    struct json_reader *json = &encoder->json;
    enum codec_type type = frame->inner;
    struct bytes name;
    if (frame->is_object ? !json_next_member(json, &name) : !json_next_element(json)) {
        close_container(encoder);
        return !json_failed(json);
    }
    frame->count++;
    if (frame->is_object)
        append_string(encoder, CBOR_TEXT, name);
    if (frame->is_object && !frame->is_map)
        type = codec_names_find(encoder->names, name);
    return append_value(encoder, type);
}

bool cbor_encode(struct arena *arena, const struct codec_names *names, struct bytes json,
                 struct bytes *cbor)
{
    struct encoder encoder = { .arena = arena, .names = names };
    buffer_init(&encoder.out, arena);
    json_reader_init(&encoder.json, arena, json, CODEC_DEPTH_MAX);
    if (!append_value(&encoder, CODEC_PLAIN))
        return false;
    while (encoder.depth > 0)
        if (!append_next(&encoder))
            return false;
    *cbor = buffer_bytes(&encoder.out);
    return json_finish(&encoder.json);
}
