/* test_rendered_item.c -- a rendered item shows what the item shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "item_fixture.h"
#include "json/writer.h"
#include "model/item.h"
#include "model/rendered_item.h"

static struct item make_item(struct arena *arena)
{
    return item_fixture_read(arena,
                             "{'n':{'N':'1.50'},'q':{'S':'\\\\\\\"'},'l':{'L':[{'BOOL':true}]}}");
}

static struct bytes shown(struct arena *arena, const struct shown_item *item)
{
    struct buffer text;
    struct json_writer writer;
    buffer_init(&text, arena);
    json_writer_init(&writer, &text);
    shown_item_write(&writer, item);
    return buffer_bytes(&text);
}

static void a_form_shows_the_items_json_and_size(void **state)
{
    struct arena *arena = arena_create();
    struct shown_item formed = { 0 };
    (void)state;
    struct shown_item plain = { .item = make_item(arena) };
    assert_true(
        rendered_item_read(rendered_item_make(arena, plain.item.encoded), &formed.rendered));
    assert_int_equal(shown_item_size(&formed), plain.item.size);
    assert_int_equal(shown_item_size(&plain), plain.item.size);
    assert_true(plain.item.size > 0);
    assert_true(bytes_equal(shown(arena, &formed), shown(arena, &plain)));
    arena_destroy(arena);
}

static void a_damaged_item_cannot_be_rendered(void **state)
{
    struct arena *arena = arena_create();
    struct rendered_item rendered;
    (void)state;
    struct bytes encoded = make_item(arena).encoded;
    for (size_t i = 0; i < encoded.len; i++) {
        uint8_t *damaged = arena_alloc(arena, encoded.len);
        memcpy(damaged, encoded.data, encoded.len);
        damaged[i] ^= 0x10;
        assert_false(rendered_item_read(rendered_item_make(arena, bytes_of(damaged, encoded.len)),
                                        &rendered));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_shows_the_items_json_and_size),
        cmocka_unit_test(a_damaged_item_cannot_be_rendered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
