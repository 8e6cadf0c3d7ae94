/* test_template_work.c -- how many templates of a model may search one key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/table_definition.h"
#include "schema/entity_rules.h"
#include "schema/template_work.h"

static const struct table_definition shop = {
    .name = BYTES("shop"),
    .key = { .hash = { BYTES("PK"), VALUE_S },
             .range = { BYTES("SK"), VALUE_S },
             .has_range = true },
};

/* `count` entities whose keys are the templates, with the entity's number in place of %d, and
 * `more` entities, which have others. */
static const struct {
    const char *name, *hash, *range;
    int count;
    const char *other_hash;
    int more;
    const char *refused; /* The attribute; NULL: accepted. */
} cases[] = {
    { "as many as may search", "<a>-%d-<b>", NULL, TEMPLATE_SEARCHES_MAX, NULL, 0, NULL },
    { "one more", "<a>-%d-<b>", NULL, TEMPLATE_SEARCHES_MAX + 1, NULL, 0, "PK" },
    { "of the sort key", "E%d", "<a>-<b>", TEMPLATE_SEARCHES_MAX + 1, NULL, 0, "SK" },
    { "each key by itself", "<a>-%d-<b>", "<c>x<d>", TEMPLATE_SEARCHES_MAX, NULL, 0, NULL },
    { "beginnings differ", "E%d#<a>-<b>", NULL, 200, NULL, 0, NULL },
    { "a separator ends each parameter", "<a>#E%d#<b>", NULL, 200, NULL, 0, NULL },
    { "no text between parameters", "<a>-%d", NULL, 200, NULL, 0, NULL },
    { "a beginning of another", "E#%d<a>-<b>", NULL, 3, "E#<a>-<b>", TEMPLATE_SEARCHES_MAX, "PK" },
    { "not of this one", "E#%d<a>-<b>", NULL, 3, "E#9<a>-<b>", TEMPLATE_SEARCHES_MAX, NULL },
};

static void add_entity(struct arena *arena, struct buffer *text, const char *hash,
                       const char *range, int number)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    struct bytes key = arena_printf(arena, hash, number);
#pragma GCC diagnostic pop
    size_t is_first = buffer_bytes(text).len < sizeof "{\"Entities\":[";
    buffer_append_bytes(
        text,
        arena_printf(arena, "%s{\"Name\":\"E%zu\",\"Keys\":[{\"PartitionKey\":\"%.*s\"%s%s%s}]}",
                     is_first ? "" : ",", buffer_bytes(text).len, BYTES_FMT(key),
                     range == NULL ? "" : ",\"SortKey\":\"", range == NULL ? "" : range,
                     range == NULL ? "" : "\""));
}

static void templates_that_search_one_key_are_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create();
        struct buffer text;
        struct bytes failure = { 0 };
        buffer_init(&text, arena);
        buffer_append_bytes(&text, BYTES("{\"Entities\":["));
        for (int n = 0; n < cases[i].count; n++)
            add_entity(arena, &text, cases[i].hash, cases[i].range, n);
        for (int n = 0; n < cases[i].more; n++)
            add_entity(arena, &text, cases[i].other_hash, NULL, n);
        buffer_append_bytes(&text, BYTES("]}"));
        struct bytes stored = entity_rules_prepare(arena, buffer_bytes(&text), &shop, &failure);
        if ((stored.data == NULL) != (cases[i].refused != NULL))
            fail_msg("%s: %.*s", cases[i].name, BYTES_FMT(failure));
        if (cases[i].refused != NULL)
            assert_true(bytes_equal(
                failure,
                arena_printf(arena,
                             "more than 32 templates of %s that begin alike have parameters with a "
                             "text between them that does not begin with '#'",
                             cases[i].refused)));
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_that_search_one_key_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
