/* body.c -- see body.h. */
#include "http/body.h"
#include <assert.h>
#include <stdlib.h>
#include "base/memory.h"
#include "base/memory_budget.h"

void http_body_deinit(struct http_body *body, struct memory_budget *budget)
{
    memory_budget_give(budget, body->capacity);
    free(body->data);
    *body = (struct http_body){ 0 };
}

size_t http_body_growth(const struct http_body *body, size_t more, size_t len_max)
{
    assert(more <= len_max - body->len);
    size_t capacity = body->capacity;
    while (capacity - body->len < more)
        capacity = capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : capacity * 2;
    if (capacity > len_max)
        capacity = len_max;
    return capacity - body->capacity;
}

void http_body_grow(struct http_body *body, size_t size)
{
    body->data = memory_checked(realloc(body->data, body->capacity + size));
    body->capacity += size;
}

void http_body_append(struct http_body *body, struct bytes more)
{
    assert(more.len <= body->capacity - body->len);
    if (more.len > 0)
        memcpy(body->data + body->len, more.data, more.len);
    body->len += more.len;
}
