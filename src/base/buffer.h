/* buffer.h -- bytes that grow at the end, in an arena.
 *
 * For texts and items that are built piece by piece. The result of buffer_bytes is valid until the
 * next append.
 */
#ifndef STATOR_BASE_BUFFER_H
#define STATOR_BASE_BUFFER_H
#include "base/arena.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct buffer {
    struct arena *arena;
    uint8_t *data;
    size_t len;
    size_t capacity;
};

static inline void buffer_init(struct buffer *buffer, struct arena *arena)
{
    *buffer = (struct buffer){ .arena = arena };
}

/* Makes room for `size` more bytes behind `data + len`. Callers that write there themselves then
 * add to `len`. */
void buffer_grow(struct buffer *buffer, size_t size);

/* Frees the room behind `len` if possible: for a buffer that is complete and kept for long. */
static inline void buffer_trim(struct buffer *buffer)
{
    buffer->data = arena_shrink(buffer->arena, buffer->data, &buffer->capacity, buffer->len);
}

static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t size)
{
    /* Not just `>`: room for nothing in an empty buffer must not be NULL plus an offset. */
    if (UNLIKELY(size >= buffer->capacity - buffer->len))
        buffer_grow(buffer, size);
    return buffer->data + buffer->len;
}

static inline void buffer_append(struct buffer *buffer, const void *data, size_t size)
{
    uint8_t *end = buffer_reserve(buffer, size);
    if (size > 0)
        memcpy(end, data, size);
    buffer->len += size;
}

static inline void buffer_append_bytes(struct buffer *buffer, struct bytes value)
{
    buffer_append(buffer, value.data, value.len);
}

static inline void buffer_append_byte(struct buffer *buffer, uint8_t byte)
{
    *buffer_reserve(buffer, 1) = byte;
    buffer->len++;
}

static inline struct bytes buffer_bytes(const struct buffer *buffer)
{
    return bytes_of(buffer->data == NULL ? (const uint8_t *)"" : buffer->data, buffer->len);
}

#endif
