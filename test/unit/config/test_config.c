/* test_config.c -- values, files and variables, without a command line.
 *
 * How the sources override each other is in test/unit/command/test_command_line.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "base/arena.h"
#include "config/config.h"
#include "config/setting.h"

static void the_longest_value_is_taken_and_one_more_byte_refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct config config = { 0 };
    struct config_error err;
    char text[SETTING_PATH_MAX + 1];
    memset(text, 'x', sizeof text);
    const struct setting *path = setting_find(BYTES("data-dir"));
    const struct setting *origins = setting_find(BYTES("cors-origins"));
    assert_true(setting_parse(arena, path, bytes_of(text, SETTING_PATH_MAX), "p", &config, &err));
    assert_false(
        setting_parse(arena, path, bytes_of(text, SETTING_PATH_MAX + 1), "p", &config, &err));
    assert_string_equal(err.text, "p: longer than 4000 bytes");
    assert_true(
        setting_parse(arena, origins, bytes_of(text, SETTING_TEXT_MAX), "o", &config, &err));
    assert_false(
        setting_parse(arena, origins, bytes_of(text, SETTING_TEXT_MAX + 1), "o", &config, &err));
    assert_string_equal(err.text, "o: longer than 1024 bytes");
    arena_destroy(arena);
}

static void a_real_file_is_read_up_to_its_limit(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const char *directory = getenv("TMPDIR");
    char *path = (char *)arena_printf(arena, "%s/stator-config-XXXXXX",
                                      directory == NULL ? "/tmp" : directory)
                     .data;
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    struct bytes text;
    const char *reason = NULL;
    assert_int_equal(ftruncate(descriptor, CONFIG_FILE_SIZE_MAX), 0);
    assert_true(config_read_file(NULL, arena, path, &text, &reason));
    assert_int_equal(text.len, CONFIG_FILE_SIZE_MAX);
    assert_int_equal(ftruncate(descriptor, CONFIG_FILE_SIZE_MAX + 1), 0);
    assert_false(config_read_file(NULL, arena, path, &text, &reason));
    assert_string_equal(reason, "too large for a file of settings");
    close(descriptor);
    unlink(path);
    assert_false(config_read_file(NULL, arena, path, &text, &reason));
    assert_string_equal(reason, "No such file or directory");
    assert_false(config_read_file(NULL, arena, "/", &text, &reason));
    assert_string_equal(reason, "Is a directory");
    arena_destroy(arena);
}

static bool read_variable(const char *variable, struct config_error *err)
{
    struct arena *arena = arena_create();
    struct config config;
    const char *const environment[] = { "HOME=/", variable, NULL };
    struct config_input input = { .environment = environment, .read_file = config_read_file };
    bool ok = config_read(arena, &input, &config, err);
    arena_destroy(arena);
    return ok;
}

static void a_misspelt_variable_is_refused_with_the_one_that_was_meant(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *want;
    } cases[] = {
        { "STATOR_PROT=1", "STATOR_PROT: no such variable; did you mean STATOR_PORT?" },
        { "STATOR_PORTS=1", "STATOR_PORTS: no such variable; did you mean STATOR_PORT?" },
        { "STATOR_DATADIR=d", "STATOR_DATADIR: no such variable; did you mean STATOR_DATA_DIR?" },
        { "STATOR_data_dir=d", "STATOR_data_dir: no such variable; did you mean STATOR_DATA_DIR?" },
        { "stator_port=1", "stator_port: no such variable; did you mean STATOR_PORT?" },
        { "Stator_Prot=1", "Stator_Prot: no such variable; did you mean STATOR_PORT?" },
        { "STATOR_INMEMORY=1",
          "STATOR_INMEMORY: no such variable; did you mean STATOR_IN_MEMORY?" },
        { "STATOR_TSL_CERT_FILE=c",
          "STATOR_TSL_CERT_FILE: no such variable; did you mean STATOR_TLS_CERT_FILE?" },
        { "STATOR_TLS_CERTFILE_=c",
          "STATOR_TLS_CERTFILE_: no such variable; did you mean STATOR_TLS_CERT_FILE?" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct config_error err = { "" };
        assert_false(read_variable(cases[i].variable, &err));
        assert_string_equal(err.text, cases[i].want);
    }
}

static void a_variable_of_somebody_else_is_ignored(void **state)
{
    (void)state;
    static const char *const variables[] = {
        "STATOR_SERVICE_HOST=10.0.0.1", /* Kubernetes, for a service called stator. */
        "STATOR_SERVICE_PORT=8000",
        "STATOR_PORT=tcp://10.0.0.1:8000",
        "STATOR_PORT_8000_TCP=tcp://10.0.0.1:8000",
        "STATOR_PORT_8000_TCP_PROTO=tcp",
        "STATOR_PORT_8000_TCP_ADDR=10.0.0.1",
        "STATOR_DATA_SERVICE_HOST=10.0.0.1", /* The same for a service called stator-data. */
        "STATOR_DATA_PORT=tcp://10.0.0.1:8000",
        "stator_ports=",              /* Empty, in small letters. */
        "STATOR_BINARY=build/stator", /* The tests. */
        "STATOR_PRELOADS=p",
        "STATOR_PROT=", /* Empty counts as not set. */
        "STATOR_=x",
        "STATORPORT=x",
        "STATOR_0123456789012345678901234567890123456789012345678901234567890123456789=x",
        "STATOR_PORTS", /* Not even a variable. */
    };
    for (size_t i = 0; i < COUNT_OF(variables); i++) {
        struct config_error err = { "" };
        if (!read_variable(variables[i], &err))
            fail_msg("%s: %s", variables[i], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_value_is_taken_and_one_more_byte_refused),
        cmocka_unit_test(a_real_file_is_read_up_to_its_limit),
        cmocka_unit_test(a_misspelt_variable_is_refused_with_the_one_that_was_meant),
        cmocka_unit_test(a_variable_of_somebody_else_is_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
