/* test_engine_registry.c -- engines are opened by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "engine/engine.h"

static struct engine *open_named(const char *name, char *message)
{
    struct engine_options options = {
        .engine = name,
        .in_memory = true,
        .write_buffer_size = 1024 * 1024,
    };
    return engine_open(&options, message);
}

static void an_engine_is_opened_by_its_name(void **state)
{
    char message[ENGINE_MESSAGE_MAX];
    (void)state;
    struct engine *engine = open_named("rocksdb", message);
    assert_non_null(engine);
    assert_string_equal(message, "");
    engine_close(engine);
}

static void without_a_name_the_first_engine_is_opened(void **state)
{
    char message[ENGINE_MESSAGE_MAX];
    (void)state;
    struct engine *engine = open_named(NULL, message);
    assert_non_null(engine);
    engine_close(engine);
}

static void an_unknown_engine_is_refused_by_its_name(void **state)
{
    char message[ENGINE_MESSAGE_MAX];
    (void)state;
    assert_null(open_named("rockdb", message));
    assert_string_equal(message, "there is no storage engine named \"rockdb\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_is_opened_by_its_name),
        cmocka_unit_test(without_a_name_the_first_engine_is_opened),
        cmocka_unit_test(an_unknown_engine_is_refused_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
