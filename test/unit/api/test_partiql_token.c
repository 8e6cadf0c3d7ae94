/* test_partiql_token.c -- NextToken fits the statement that it was made for, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "api/partiql/partiql_statement.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "item_fixture.h"
#include "json/base64.h"
#include "model/error.h"
#include "model/limits.h"

static struct arena *arena;
static struct shape_value parameter;
static struct statement_request request;

static int setup(void **state)
{
    struct buffer value;
    (void)state;
    arena = arena_create();
    buffer_init(&value, arena);
    value_append_string(&value, BYTES("x"));
    parameter = (struct shape_value){ .present = true, .encoded = buffer_bytes(&value) };
    request = (struct statement_request){
        .statement = BYTES("SELECT * FROM tab WHERE a=?"),
        .parameters = { .present = true, .count = 1, .elements = &parameter },
    };
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

static bool parses(struct bytes token, const struct statement_request *of, struct item *key)
{
    struct error err;
    error_init(&err, arena);
    bool ok = partiql_statement_parse_token(arena, token, of, key, &err);
    if (!ok)
        assert_true(bytes_equal_text(err.message, "Invalid NextToken") ||
                    bytes_equal_text(err.message, "NextToken does not match request"));
    return ok;
}

static struct bytes a_token(void)
{
    struct item key = item_fixture_read(arena, "{'pk':{'S':'a'},'sk':{'N':'1.5'}}");
    return partiql_statement_format_token(arena, &request, &key);
}

static void a_token_gives_its_key_back(void **state)
{
    struct item key;
    (void)state;
    assert_true(parses(a_token(), &request, &key));
    struct bytes json = item_fixture_write(arena, &key);
    assert_true(bytes_equal_text(json, "{\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1.5\"}}"));
}

static void a_token_fits_no_other_statement(void **state)
{
    struct item key;
    struct statement_request other = request;
    (void)state;
    other.statement = BYTES("SELECT * FROM tab WHERE b=?");
    assert_false(parses(a_token(), &other, &key));
    other = request;
    other.parameters.count = 0;
    assert_false(parses(a_token(), &other, &key));
}

static void a_token_that_was_changed_is_none(void **state)
{
    struct bytes token = a_token();
    uint8_t *data = arena_alloc(arena, base64_decoded_max(token.len));
    size_t size;
    struct item key;
    (void)state;
    assert_true(base64_decode(token, data, &size));
    for (size_t i = 0; i < size * 8; i++) {
        char *text = arena_alloc(arena, token.len);
        data[i / 8] ^= (uint8_t)(1u << i % 8);
        base64_encode(bytes_of(data, size), text);
        assert_false(parses(bytes_of(text, token.len), &request, &key));
        data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t len = 0; len < size; len++) {
        char *text = arena_alloc(arena, token.len);
        base64_encode(bytes_of(data, len), text);
        assert_false(parses(bytes_of(text, base64_encoded_size(len)), &request, &key));
    }
}

/* All attributes of an index's key and of its table's, as long as they may be. */
static void the_longest_key_fits_into_a_token(void **state)
{
    enum { HASHES = INDEX_HASH_KEYS_MAX + 1, RANGES = INDEX_RANGE_KEYS_MAX + 1 };
    struct item_builder builder;
    struct item key;
    (void)state;
    item_builder_init(&builder, arena);
    for (size_t i = 0; i < HASHES + RANGES; i++) {
        struct buffer value;
        size_t size = i < HASHES ? PARTITION_KEY_SIZE_MAX : SORT_KEY_SIZE_MAX;
        uint8_t *text = arena_alloc(arena, size);
        uint8_t *name = arena_alloc(arena, KEY_ATTRIBUTE_NAME_SIZE_MAX);
        memset(text, 'x', size);
        memset(name, 'a' + (int)i, KEY_ATTRIBUTE_NAME_SIZE_MAX);
        buffer_init(&value, arena);
        value_append_string(&value, bytes_of(text, size));
        item_builder_add(&builder, bytes_of(name, KEY_ATTRIBUTE_NAME_SIZE_MAX),
                         buffer_bytes(&value));
    }
    key = item_builder_finish(&builder);
    struct bytes token = partiql_statement_format_token(arena, &request, &key);
    assert_true(token.len <= STATEMENT_NEXT_TOKEN_SIZE_MAX);
    assert_true(parses(token, &request, &key));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_gives_its_key_back),
        cmocka_unit_test(a_token_fits_no_other_statement),
        cmocka_unit_test(a_token_that_was_changed_is_none),
        cmocka_unit_test(the_longest_key_fits_into_a_token),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
