/* key_fuzz.c -- key parts from arbitrary content, and arbitrary bytes as key parts.
 *
 * The input is cut in two. The halves as content: the encoded keys sort as the contents do, and
 * decode to them. As bytes: what decodes is what encoding writes.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "model/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct buffer encode(struct arena *arena, const struct value *value)
{
    struct buffer out;
    buffer_init(&out, arena);
    key_encode_part(&out, value);
    return out;
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

/* Decodes a part; if it is one, encoding it again gives the bytes it came from. */
static bool check_bytes(struct arena *arena, struct bytes bytes, enum value_type type,
                        struct value *out)
{
    struct buffer decoded;
    struct bytes rest = bytes;
    buffer_init(&decoded, arena);
    if (!key_decode_part(&rest, type, &decoded))
        return false;
    struct bytes encoded = buffer_bytes(&decoded);
    bool opened = value_open(&encoded, out);
    assert(opened && encoded.len == 0 && out->type == type);
    struct buffer again = encode(arena, out);
    assert(bytes_equal(buffer_bytes(&again), bytes_of(bytes.data, bytes.len - rest.len)));
    return true;
}

static void check_contents(struct arena *arena, struct bytes a, struct bytes b)
{
    struct value left = { .type = VALUE_B, .data = a }, right = { .type = VALUE_B, .data = b };
    struct buffer left_key = encode(arena, &left), right_key = encode(arena, &right);
    struct buffer prefix;
    struct value back;
    int order = bytes_compare(buffer_bytes(&left_key), buffer_bytes(&right_key));
    assert(sign(order) == sign(bytes_compare(a, b)));
    bool decodes = check_bytes(arena, buffer_bytes(&left_key), VALUE_B, &back);
    assert(decodes && bytes_equal(back.data, a));
    /* No key is a prefix of another, but the prefix form of a value's beginning is. */
    assert(order == 0 || !bytes_starts_with(buffer_bytes(&left_key), buffer_bytes(&right_key)));
    buffer_init(&prefix, arena);
    key_encode_prefix(&prefix, b);
    assert(bytes_starts_with(buffer_bytes(&left_key), buffer_bytes(&prefix)) ==
           bytes_starts_with(a, b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    const uint8_t *bytes = size == 0 ? (const uint8_t *)"" : data;
    size_t half = size / 2;
    struct value value;
    check_contents(arena, bytes_of(bytes, half), bytes_of(bytes + half, size - half));
    (void)check_bytes(arena, bytes_of(bytes, size), VALUE_S, &value);
    (void)check_bytes(arena, bytes_of(bytes, size), VALUE_B, &value);
    (void)check_bytes(arena, bytes_of(bytes, size), VALUE_N, &value);
    arena_destroy(arena);
    return 0;
}
