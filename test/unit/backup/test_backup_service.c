/* test_backup_service.c -- who asks a server for a copy, and what it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backup/backup_service.h"
#include "base/log.h"
#include "engine_fixture.h"

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static void nobody_answers_where_no_server_is(void **state)
{
    char scratch[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX], message[BACKUP_MESSAGE_MAX];
    struct backup_connection connection;
    (void)state;
    scratch_create(scratch);
    assert_int_equal(backup_service_ask(scratch, &connection, message), BACKUP_SERVICE_ABSENT);
    scratch_join(path, scratch, "missing");
    assert_int_equal(backup_service_ask(path, &connection, message), BACKUP_SERVICE_ABSENT);
    scratch_destroy(scratch);
}

static void an_engine_that_cannot_be_copied_is_refused_in_words(void **state)
{
    struct engine_fixture fixture;
    char scratch[SCRATCH_PATH_MAX], message[BACKUP_MESSAGE_MAX], want[BACKUP_MESSAGE_MAX];
    struct backup_connection connection;
    (void)state;
    scratch_create(scratch);
    engine_fixture_open(&fixture, ENGINE_FIXTURE_REFERENCE);
    struct backup_service *service = backup_service_start(fixture.engine, scratch);
    assert_non_null(service);
    for (int i = 0; i < 2; i++) { /* It goes on. */
        assert_int_equal(backup_service_ask(scratch, &connection, message), BACKUP_SERVICE_REFUSED);
        snprintf(want, sizeof want, "%s: the server cannot copy its store: unsupported", scratch);
        assert_string_equal(message, want);
    }
    backup_service_stop(service);
    engine_fixture_close(&fixture);
    scratch_destroy(scratch);
}

/* A copy is there for as long as the connection, also where no socket's name could be so long. */
static void a_copy_lasts_as_long_as_its_connection(void **state)
{
    struct engine_fixture fixture;
    char long_name[150 + 1] = "", folder[SCRATCH_PATH_MAX], message[BACKUP_MESSAGE_MAX] = "";
    struct backup_connection connection;
    (void)state;
    engine_fixture_open(&fixture, ENGINE_FIXTURE_ROCKSDB_SYNC);
    engine_fixture_put(fixture.engine, items, BYTES("a"), BYTES("1"));
    memset(long_name, 'n', sizeof long_name - 1);
    scratch_join(folder, fixture.directory, long_name);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct backup_service *service = backup_service_start(fixture.engine, folder);
    assert_non_null(service);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(backup_service_ask(folder, &connection, message), BACKUP_SERVICE_READY);
        assert_true(is_there(connection.path));
        assert_true(backup_service_holds(&connection));
        if (i < 2)
            close(connection.fd); /* The next one waits until the copy before is gone. */
    }
    backup_service_stop(service);
    assert_false(backup_service_holds(&connection));
    assert_false(is_there(connection.path));
    close(connection.fd);
    assert_int_equal(backup_service_ask(folder, &connection, message), BACKUP_SERVICE_ABSENT);
    engine_fixture_close(&fixture);
}

static void a_server_does_without_if_it_must(void **state)
{
    struct engine_fixture fixture;
    (void)state;
    engine_fixture_open(&fixture, ENGINE_FIXTURE_REFERENCE);
    assert_null(backup_service_start(fixture.engine, "/nowhere/at/all"));
    backup_service_stop(NULL);
    engine_fixture_close(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_answers_where_no_server_is),
        cmocka_unit_test(an_engine_that_cannot_be_copied_is_refused_in_words),
        cmocka_unit_test(a_copy_lasts_as_long_as_its_connection),
        cmocka_unit_test(a_server_does_without_if_it_must),
    };
    log_set_level(LOG_ERROR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
