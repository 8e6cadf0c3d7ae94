/* test_trigger_definition.c -- a trigger's record, there and back; what is out of bounds is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "trigger/trigger_definition.h"

#define UUID BYTES("01234567-89ab-4cde-8f01-23456789abcd")

static struct trigger_definition example(void)
{
    return (struct trigger_definition){
        .uuid = UUID,
        .table_name = BYTES("orders"),
        .label = BYTES("2015-05-11T21:21:33.291"),
        .log_id = UINT64_MAX,
        .url = BYTES("http://127.0.0.1:9000/f"),
        .created_ms = INT64_MAX,
        .batch_size = 1,
        .timeout_s = 1,
        .retries_max = TRIGGER_UNLIMITED,
        .age_max_s = TRIGGER_UNLIMITED,
        .from_latest = true,
        .reports_failures = true,
        .dead_letter_file = BYTES("a.jsonl"),
        .filters = { BYTES("{\"a\":[1]}"), BYTES("{\"b\":[2]}") },
        .filter_count = 2,
    };
}

static bool comes_back(struct arena *arena, const struct trigger_definition *want)
{
    struct trigger_definition got;
    struct item record = trigger_definition_encode(arena, want);
    if (!trigger_definition_decode(arena, want->uuid, &record, &got))
        return false;
    assert_true(bytes_equal(got.uuid, want->uuid));
    assert_true(bytes_equal(trigger_definition_encode(arena, &got).encoded, record.encoded));
    return true;
}

static void a_trigger_comes_back_as_it_was(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct trigger_definition definition = example();
    assert_true(comes_back(arena, &definition));
    definition.dead_letter_file = BYTES("");
    definition.filter_count = 0;
    assert_true(comes_back(arena, &definition));
    definition.filter_count = TRIGGER_FILTERS_MAX;
    for (size_t i = 0; i < TRIGGER_FILTERS_MAX; i++)
        definition.filters[i] = BYTES("{\"a\":[1]}");
    assert_true(comes_back(arena, &definition));
    arena_destroy(arena);
}

static const struct {
    size_t offset;
    int64_t min, max;
} numbers[] = {
    { offsetof(struct trigger_definition, batch_size), 1, TRIGGER_BATCH_SIZE_MAX },
    { offsetof(struct trigger_definition, window_s), 0, TRIGGER_WINDOW_S_MAX },
    { offsetof(struct trigger_definition, timeout_s), 1, TRIGGER_TIMEOUT_S_MAX },
    { offsetof(struct trigger_definition, retries_max), TRIGGER_UNLIMITED, TRIGGER_RETRIES_MAX },
    { offsetof(struct trigger_definition, age_max_s), 1, TRIGGER_AGE_S_MAX },
};

static bool number_comes_back(struct arena *arena, size_t offset, int64_t value)
{
    struct trigger_definition definition = example();
    *(int64_t *)(void *)((char *)&definition + offset) = value;
    return comes_back(arena, &definition);
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        assert_true(number_comes_back(arena, numbers[i].offset, numbers[i].min));
        assert_true(number_comes_back(arena, numbers[i].offset, numbers[i].max));
        assert_false(number_comes_back(arena, numbers[i].offset, numbers[i].min - 1));
        assert_false(number_comes_back(arena, numbers[i].offset, numbers[i].max + 1));
    }
    arena_destroy(arena);
}

static void texts_that_nobody_could_have_given_are_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct trigger_definition definition = example();
    definition.url = BYTES("ftp://h/");
    assert_false(comes_back(arena, &definition));
    definition = example();
    definition.dead_letter_file = BYTES("../a");
    assert_false(comes_back(arena, &definition));
    definition = example();
    definition.filters[1] = BYTES("x");
    assert_false(comes_back(arena, &definition));
    definition = example();
    definition.uuid = BYTES("short");
    assert_false(comes_back(arena, &definition));
    arena_destroy(arena);
}

static void a_dead_letter_file_has_a_plain_name(void **state)
{
    (void)state;
    static char name[TRIGGER_DEAD_LETTER_FILE_SIZE_MAX + 1];
    static const char *const refused[] = { "",   ".",   "..",   ".x",      "a/b",
                                           "/a", "a b", "a\\b", "\xC3\xA4" };
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        assert_false(trigger_definition_is_file_name(bytes_from_text(refused[i])));
    assert_true(trigger_definition_is_file_name(BYTES("a")));
    assert_true(trigger_definition_is_file_name(BYTES("Az09._-")));
    memset(name, 'x', sizeof name);
    assert_true(trigger_definition_is_file_name(bytes_of(name, sizeof name - 1)));
    assert_false(trigger_definition_is_file_name(bytes_of(name, sizeof name)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trigger_comes_back_as_it_was),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(texts_that_nobody_could_have_given_are_refused),
        cmocka_unit_test(a_dead_letter_file_has_a_plain_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
