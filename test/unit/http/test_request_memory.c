/* test_request_memory.c -- large bodies grow without being copied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/memory_budget.h"
#include "http/request_memory.h"

enum { LARGEST = 16 * 1024 * 1024, PIECE = 16 * 1024 };

static uint8_t byte_at(size_t at)
{
    return (uint8_t)(at / PIECE + 1);
}

/* As a connection does it: room for one more byte, then as much as fits. */
static void fill(struct http_body *body, size_t size)
{
    static uint8_t piece[PIECE];
    while (body->len < size) {
        size_t growth = http_body_growth(body, 1, size);
        if (growth > 0)
            http_body_grow(body, growth);
        size_t more = PIECE - body->len % PIECE;
        if (more > size - body->len)
            more = size - body->len;
        if (more > body->capacity - body->len)
            more = body->capacity - body->len;
        memset(piece, byte_at(body->len), more);
        http_body_append(body, bytes_of(piece, more));
    }
}

static void check(const struct http_body *body, size_t size)
{
    assert_int_equal(body->len, size);
    assert_int_equal(body->capacity, size);
    for (size_t at = 0; at < size; at++) {
        if (body->data[at] != byte_at(at))
            fail_msg("byte %zu of %zu", at, size);
    }
}

static void a_body_keeps_its_bytes_while_it_grows(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1,
                                    HTTP_BODY_FIRST_CAPACITY + 1,
                                    HTTP_BODY_MAPPED_CAPACITY - 1,
                                    HTTP_BODY_MAPPED_CAPACITY,
                                    HTTP_BODY_MAPPED_CAPACITY + 1,
                                    1000001,
                                    LARGEST };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct http_body body = { 0 };
        fill(&body, sizes[i]);
        check(&body, sizes[i]);
        http_body_deinit(&body, NULL);
        assert_null(body.data);
    }
}

/* Whatever malloc has in its heap: bytes that were copied are counted, at most. */
static void the_largest_body_copies_less_than_the_capacity_at_which_it_is_mapped(void **state)
{
    (void)state;
    struct http_body body = { 0 };
    fill(&body, LARGEST);
    assert_true(body.copied < HTTP_BODY_MAPPED_CAPACITY);
    http_body_deinit(&body, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_keeps_its_bytes_while_it_grows),
        cmocka_unit_test(the_largest_body_copies_less_than_the_capacity_at_which_it_is_mapped),
    };
    return cmocka_run_group_tests_name("http/request_memory", tests, NULL, NULL);
}
