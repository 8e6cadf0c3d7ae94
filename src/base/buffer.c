/* buffer.c -- growth by doubling, so that appending is linear in what is appended. */
#include "base/buffer.h"
#include <assert.h>

enum { BUFFER_FIRST_CAPACITY = 512 };

void buffer_grow(struct buffer *buffer, size_t size)
{
    assert(size <= ARENA_ALLOCATION_MAX - buffer->len);
    size_t capacity = buffer->capacity == 0 ? BUFFER_FIRST_CAPACITY : buffer->capacity * 2;
    while (capacity - buffer->len < size)
        capacity *= 2;
    buffer->data = arena_grow(buffer->arena, buffer->data, buffer->capacity, capacity);
    buffer->capacity = capacity;
}
