/* body.c -- see body.h. */
#include "http/body.h"
#include <assert.h>
#include <stdlib.h>

void http_body_deinit(struct http_body *body)
{
    free(body->data);
    *body = (struct http_body){ 0 };
}

static void set_capacity(struct http_body *body, size_t capacity)
{
    uint8_t *data = realloc(body->data, capacity);
    if (data == NULL)
        abort(); /* As arenas do: the bound on bodies is the protection. */
    body->data = data;
    body->capacity = capacity;
}

void http_body_reserve(struct http_body *body, size_t len_max)
{
    assert(len_max > body->len);
    if (body->len < body->capacity)
        return;
    size_t capacity = body->capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : body->capacity * 2;
    set_capacity(body, capacity < len_max ? capacity : len_max);
}

void http_body_append(struct http_body *body, struct bytes more)
{
    size_t capacity = body->capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : body->capacity;
    while (capacity - body->len < more.len)
        capacity *= 2;
    if (capacity != body->capacity)
        set_capacity(body, capacity);
    if (more.len > 0)
        memcpy(body->data + body->len, more.data, more.len);
    body->len += more.len;
}
