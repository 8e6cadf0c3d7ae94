/* test_item_form.c -- an item's form shows what the item shows. */
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
#include "model/item_form.h"

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
    assert_true(item_form_read(item_form_make(arena, plain.item.encoded), &formed.form));
    assert_int_equal(shown_item_size(&formed), plain.item.size);
    assert_int_equal(shown_item_size(&plain), plain.item.size);
    assert_true(plain.item.size > 0);
    assert_true(bytes_equal(shown(arena, &formed), shown(arena, &plain)));
    arena_destroy(arena);
}

static void a_damaged_item_has_no_form(void **state)
{
    struct arena *arena = arena_create();
    struct item_form form;
    (void)state;
    struct bytes encoded = make_item(arena).encoded;
    for (size_t i = 0; i < encoded.len; i++) {
        uint8_t *damaged = arena_alloc(arena, encoded.len);
        memcpy(damaged, encoded.data, encoded.len);
        damaged[i] ^= 0x10;
        assert_false(item_form_read(item_form_make(arena, bytes_of(damaged, encoded.len)), &form));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_shows_the_items_json_and_size),
        cmocka_unit_test(a_damaged_item_has_no_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
