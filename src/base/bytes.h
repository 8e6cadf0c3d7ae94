/* bytes.h -- a borrowed run of bytes: client text and blobs, which may contain NUL.
 *
 * `data` NULL means "absent" where a header says so; an empty value has a non-NULL pointer.
 */
#ifndef STATOR_BASE_BYTES_H
#define STATOR_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t len;
};

/* A string literal as bytes, without its NUL. */
#define BYTES(literal) ((struct bytes){ (const uint8_t *)("" literal), sizeof(literal) - 1 })
/* The two arguments of printf's "%.*s". The text must be free of NUL to print whole. */
#define BYTES_FMT(value) (int)(value).len, (const char *)(value).data

static inline struct bytes bytes_of(const void *data, size_t len)
{
    return (struct bytes){ (const uint8_t *)data, len };
}

static inline struct bytes bytes_from_text(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, strlen(text) };
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool bytes_equal_text(struct bytes a, const char *text)
{
    return bytes_equal(a, bytes_from_text(text));
}

/* Negative, zero or positive, by unsigned bytes; a prefix sorts first. */
static inline int bytes_compare(struct bytes a, struct bytes b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared == 0 ? 0 : memcmp(a.data, b.data, shared);
    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static inline bool bytes_starts_with(struct bytes value, struct bytes prefix)
{
    return value.len >= prefix.len &&
           (prefix.len == 0 || memcmp(value.data, prefix.data, prefix.len) == 0);
}

#endif
