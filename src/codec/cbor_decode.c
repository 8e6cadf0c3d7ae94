/* cbor_decode.c -- see cbor.h.
 *
 * One loop over the data items with a stack of open containers, so that nesting costs no recursion.
 * A container counts as an element of the one around it when it is closed.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "codec/cbor.h"
#include "codec/cbor_head.h"
#include "json/utf8.h"
#include "json/writer.h"
#include "model/error.h"

struct frame {
    bool is_map;
    bool is_indefinite;
    bool has_key;  /* Of a map: the value of a key is next. */
    uint64_t left; /* Of a definite one: elements, or pairs of a map. */
};

struct decoder {
    struct arena *arena;
    struct error *err;
    const uint8_t *at;
    const uint8_t *end;
    struct buffer out;
    struct json_writer json;
    struct frame frames[CODEC_DEPTH_MAX];
    unsigned depth;
};

/* A major type with its argument. */
struct head {
    uint8_t major;
    uint8_t info;
    bool is_indefinite;
    uint64_t argument;
};

static bool refuse(struct decoder *decoder, const char *reason)
{
    return error_set(decoder->err, ERROR_SERIALIZATION, "The body is not valid CBOR: %s", reason);
}

/* --- Heads --- */

static size_t bytes_left(const struct decoder *decoder)
{
    return (size_t)(decoder->end - decoder->at);
}

static bool read_argument(struct decoder *decoder, size_t size, uint64_t *out)
{
    if (bytes_left(decoder) < size)
        return refuse(decoder, "it ends within a data item");
    *out = 0;
    for (size_t i = 0; i < size; i++)
        *out = *out << 8 | *decoder->at++;
    return true;
}

static bool may_be_indefinite(uint8_t major)
{
    return major == CBOR_BYTES || major == CBOR_TEXT || major == CBOR_ARRAY || major == CBOR_MAP ||
           major == CBOR_SIMPLE; /* The break. */
}

static bool read_head(struct decoder *decoder, struct head *out)
{
    if (decoder->at == decoder->end)
        return refuse(decoder, "it ends where a data item is expected");
    uint8_t first = *decoder->at++;
    *out = (struct head){ .major = first >> 5, .info = first & 31 };
    out->argument = out->info;
    if (out->info < CBOR_ARGUMENT_1)
        return true;
    if (out->info <= CBOR_ARGUMENT_8)
        return read_argument(decoder, (size_t)1 << (out->info - CBOR_ARGUMENT_1), &out->argument);
    out->is_indefinite = out->info == CBOR_INDEFINITE;
    return (out->is_indefinite && may_be_indefinite(out->major)) ||
           refuse(decoder, "a data item has a reserved length");
}

/* --- Strings --- */

static bool is_utf8(struct bytes text)
{
    return utf8_prefix(text, text.len) == text.len;
}

static bool read_chunk(struct decoder *decoder, const struct head *head, struct bytes *out)
{
    if (head->argument > bytes_left(decoder))
        return refuse(decoder, "a string is longer than the body");
    *out = bytes_of(decoder->at, (size_t)head->argument);
    decoder->at += out->len;
    return head->major == CBOR_BYTES || is_utf8(*out) ||
           refuse(decoder, "a text is not valid UTF-8");
}

/* The content of a string whose head has been read. */
static bool read_string(struct decoder *decoder, const struct head *head, struct bytes *out)
{
    struct buffer whole;
    struct head chunk;
    if (!head->is_indefinite)
        return read_chunk(decoder, head, out);
    buffer_init(&whole, decoder->arena);
    for (;;) {
        if (!read_head(decoder, &chunk))
            return false;
        if (chunk.major == CBOR_SIMPLE && chunk.is_indefinite)
            break;
        if (chunk.major != head->major || chunk.is_indefinite)
            return refuse(decoder, "a string has a part of another type");
        if (!read_chunk(decoder, &chunk, out))
            return false;
        buffer_append_bytes(&whole, *out);
    }
    *out = buffer_bytes(&whole);
    return true;
}

/* --- Numbers --- */

static void write_integer(struct decoder *decoder, const struct head *head)
{
    char text[sizeof "-18446744073709551616"];
    if (head->major == CBOR_UNSIGNED)
        snprintf(text, sizeof text, "%" PRIu64, head->argument);
    else if (head->argument == UINT64_MAX) /* One more does not fit. */
        snprintf(text, sizeof text, "-18446744073709551616");
    else
        snprintf(text, sizeof text, "-%" PRIu64, head->argument + 1);
    json_write_raw(&decoder->json, bytes_from_text(text));
}

static double half_to_double(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double mantissa = (double)(bits & 1023);
    double value;
    if (exponent == 0)
        value = ldexp(mantissa, -24);
    else if (exponent == 31)
        value = mantissa == 0 ? INFINITY : NAN;
    else
        value = ldexp(mantissa + 1024, exponent - 25);
    return bits >> 15 == 0 ? value : -value;
}

static double float_of_head(const struct head *head)
{
    float single;
    double value;
    uint32_t bits = (uint32_t)head->argument;
    switch (head->info) {
    case CBOR_HALF:
        return half_to_double(head->argument);
    case CBOR_SINGLE:
        memcpy(&single, &bits, sizeof single);
        return (double)single;
    default:
        memcpy(&value, &head->argument, sizeof value);
        return value;
    }
}

static void write_double(struct decoder *decoder, double value)
{
    if (isfinite(value))
        json_write_double(&decoder->json, value);
    else if (isnan(value))
        json_write_text(&decoder->json, "NaN");
    else
        json_write_text(&decoder->json, value < 0 ? "-Infinity" : "Infinity");
}

/* --- Containers --- */

static struct frame *top(struct decoder *decoder)
{
    assert(decoder->depth > 0);
    return &decoder->frames[decoder->depth - 1];
}

/* A value has ended: it is one element less that its container lacks. */
static void count_value(struct decoder *decoder)
{
    if (decoder->depth == 0)
        return;
    struct frame *frame = top(decoder);
    frame->has_key = false;
    if (!frame->is_indefinite)
        frame->left--;
}

static bool open_container(struct decoder *decoder, const struct head *head)
{
    bool is_map = head->major == CBOR_MAP;
    if (decoder->depth == CODEC_DEPTH_MAX)
        return refuse(decoder, "it is nested too deeply");
    if (!head->is_indefinite && head->argument > bytes_left(decoder) / (is_map ? 2 : 1))
        return refuse(decoder, "a list or map is longer than the body");
    decoder->frames[decoder->depth++] = (struct frame){
        .is_map = is_map,
        .is_indefinite = head->is_indefinite,
        .left = head->argument,
    };
    (is_map ? json_open_object : json_open_array)(&decoder->json);
    return true;
}

static void close_container(struct decoder *decoder)
{
    (top(decoder)->is_map ? json_close_object : json_close_array)(&decoder->json);
    decoder->depth--;
    count_value(decoder);
}

static bool read_break(struct decoder *decoder)
{
    if (decoder->depth == 0 || !top(decoder)->is_indefinite || top(decoder)->has_key)
        return refuse(decoder, "a break stands where none may");
    close_container(decoder);
    return true;
}

/* --- Data items --- */

static bool read_simple(struct decoder *decoder, const struct head *head)
{
    switch (head->info) {
    case CBOR_FALSE:
    case CBOR_TRUE:
        json_write_bool(&decoder->json, head->info == CBOR_TRUE);
        break;
    case CBOR_NULL:
    case CBOR_UNDEFINED:
        json_write_null(&decoder->json);
        break;
    case CBOR_HALF:
    case CBOR_SINGLE:
    case CBOR_DOUBLE:
        write_double(decoder, float_of_head(head));
        break;
    default:
        return refuse(decoder, "it has an unknown simple value");
    }
    count_value(decoder);
    return true;
}

static bool read_key(struct decoder *decoder, const struct head *head)
{
    struct bytes name;
    if (head->major != CBOR_TEXT)
        return refuse(decoder, "the key of a map is not text");
    if (!read_string(decoder, head, &name))
        return false;
    json_write_name_bytes(&decoder->json, name);
    top(decoder)->has_key = true;
    return true;
}

static bool read_scalar(struct decoder *decoder, const struct head *head)
{
    struct bytes content;
    if (head->major == CBOR_UNSIGNED || head->major == CBOR_NEGATIVE) {
        write_integer(decoder, head);
    } else {
        if (!read_string(decoder, head, &content))
            return false;
        (head->major == CBOR_TEXT ? json_write_string : json_write_base64)(&decoder->json, content);
    }
    count_value(decoder);
    return true;
}

static bool is_number(const struct head *head)
{
    return head->major == CBOR_UNSIGNED || head->major == CBOR_NEGATIVE ||
           (head->major == CBOR_SIMPLE && head->info >= CBOR_HALF && head->info <= CBOR_DOUBLE);
}

static bool read_item(struct decoder *decoder)
{
    struct head head;
    bool is_tagged = false, is_time = false;
    if (!read_head(decoder, &head))
        return false;
    if (head.major == CBOR_SIMPLE && head.is_indefinite)
        return read_break(decoder);
    if (decoder->depth > 0 && top(decoder)->is_map && !top(decoder)->has_key)
        return read_key(decoder, &head);
    while (head.major == CBOR_TAG) {
        is_tagged = true;
        is_time = is_time || head.argument == CBOR_TAG_EPOCH_TIME;
        if (!read_head(decoder, &head))
            return false;
    }
    if (is_tagged && head.major == CBOR_SIMPLE && head.is_indefinite)
        return refuse(decoder, "a tag has no content");
    if (is_time && !is_number(&head))
        return refuse(decoder, "a time is not a number");
    switch (head.major) {
    case CBOR_ARRAY:
    case CBOR_MAP:
        return open_container(decoder, &head);
    case CBOR_SIMPLE:
        return read_simple(decoder, &head);
    default:
        return read_scalar(decoder, &head);
    }
}

bool cbor_decode(struct arena *arena, struct bytes cbor, struct bytes *json, struct error *err)
{
    struct decoder decoder = {
        .arena = arena, .err = err, .at = cbor.data, .end = cbor.data + cbor.len
    };
    if (cbor.len > CODEC_INPUT_SIZE_MAX)
        return error_set(err, ERROR_REQUEST_TOO_LARGE, "Request body exceeds %d bytes",
                         CODEC_INPUT_SIZE_MAX);
    if (cbor.len == 0) {
        *json = BYTES("{}");
        return true;
    }
    buffer_init(&decoder.out, arena);
    json_writer_init(&decoder.json, &decoder.out);
    do {
        if (!read_item(&decoder))
            return false;
        while (decoder.depth > 0 && !top(&decoder)->is_indefinite && top(&decoder)->left == 0)
            close_container(&decoder);
    } while (decoder.depth > 0);
    if (decoder.at != decoder.end)
        return refuse(&decoder, "bytes follow the data item");
    *json = buffer_bytes(&decoder.out);
    return true;
}
