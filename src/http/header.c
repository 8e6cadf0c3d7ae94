/* header.c -- see header.h. */
#include "http/header.h"

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? (uint8_t)(byte + ('a' - 'A')) : byte;
}

bool http_header_equal(struct bytes a, struct bytes b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.data[i] != b.data[i] && lower(a.data[i]) != lower(b.data[i]))
            return false;
    return true;
}

struct bytes http_header_trim(struct bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

struct bytes http_header_next_part(struct bytes *rest, char separator)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    size_t len = found == NULL ? rest->len : (size_t)(found - rest->data);
    struct bytes part = bytes_of(rest->data, len);
    size_t taken = found == NULL ? len : len + 1;
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return http_header_trim(part);
}
