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

static bool set_capacity(struct http_body *body, struct memory_budget *budget, size_t capacity)
{
    if (!memory_budget_try_take(budget, capacity - body->capacity))
        return false;
    body->data = memory_checked(realloc(body->data, capacity));
    body->capacity = capacity;
    return true;
}

size_t http_body_next_size(const struct http_body *body)
{
    return body->capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : body->capacity;
}

bool http_body_reserve(struct http_body *body, struct memory_budget *budget, size_t len_max)
{
    assert(len_max > body->len);
    if (body->len < body->capacity)
        return true;
    size_t capacity = body->capacity + http_body_next_size(body);
    return set_capacity(body, budget, capacity < len_max ? capacity : len_max);
}

bool http_body_append(struct http_body *body, struct memory_budget *budget, struct bytes more)
{
    size_t capacity = body->capacity == 0 ? HTTP_BODY_FIRST_CAPACITY : body->capacity;
    while (capacity - body->len < more.len)
        capacity *= 2;
    if (capacity != body->capacity && !set_capacity(body, budget, capacity))
        return false;
    if (more.len > 0)
        memcpy(body->data + body->len, more.data, more.len);
    body->len += more.len;
    return true;
}
