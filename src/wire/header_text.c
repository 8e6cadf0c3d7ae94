/* header_text.c -- see header_text.h. */
#include "wire/header_text.h"
#include <strings.h>

bool header_text_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

struct bytes header_text_trim(struct bytes text)
{
    while (text.len > 0 && (text.data[0] == ' ' || text.data[0] == '\t'))
        text = bytes_of(text.data + 1, text.len - 1);
    while (text.len > 0 && (text.data[text.len - 1] == ' ' || text.data[text.len - 1] == '\t'))
        text.len--;
    return text;
}

struct bytes header_text_next(struct bytes *rest, char separator)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, separator, rest->len);
    size_t len = found == NULL ? rest->len : (size_t)(found - rest->data);
    struct bytes part = bytes_of(rest->data, len);
    size_t taken = found == NULL ? len : len + 1;
    *rest = bytes_of(rest->data + taken, rest->len - taken);
    return header_text_trim(part);
}
