/* test_error_log.c -- lines, resuming, the bound, and what is removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "api/import/error_log.h"
#include "scratch.h"

static struct error_line line_of(uint64_t index, struct bytes message)
{
    return (struct error_line){ .bucket = BYTES("b"),
                                .key = BYTES("k"),
                                .index = index,
                                .arn_name = "importArn",
                                .arn = BYTES("arn"),
                                .message = message };
}

static long size_of(const char *folder, const char *id)
{
    char path[2 * SCRATCH_PATH_MAX];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s/error", folder, id);
    return stat(path, &status) == 0 ? (long)status.st_size : -1;
}

static void a_log_that_resumes_forgets_what_is_behind_its_position(void **state)
{
    char root[SCRATCH_PATH_MAX], folder[SCRATCH_PATH_MAX];
    (void)state;
    scratch_create(root);
    scratch_join(folder, root, "imports");
    struct error_log *log = error_log_open(folder, "id", "error", 0);
    error_log_sync(log);
    assert_int_equal(size_of(folder, "id"), -1); /* Nothing before the first line. */
    struct error_line line = line_of(0, BYTES("first"));
    error_log_add(log, &line);
    assert_int_equal(error_log_size(log), 0);
    error_log_sync(log);
    uint64_t size = error_log_size(log);
    assert_int_equal(size_of(folder, "id"), size);
    line = line_of(1, BYTES("second, which is longer"));
    error_log_add(log, &line);
    error_log_sync(log);
    error_log_close(log);
    log = error_log_open(folder, "id", "error", size);
    line = line_of(1, BYTES("again"));
    error_log_add(log, &line);
    error_log_sync(log);
    assert_int_equal(error_log_size(log), 2 * size); /* "again" is as long as "first". */
    assert_int_equal(size_of(folder, "id"), 2 * size);
    error_log_close(log);
    scratch_destroy(root);
}

static void a_log_stops_at_its_bound(void **state)
{
    char root[SCRATCH_PATH_MAX], folder[SCRATCH_PATH_MAX];
    (void)state;
    scratch_create(root);
    scratch_join(folder, root, "imports");
    struct error_log *log = error_log_open(folder, "id", "error", ERROR_LOG_SIZE_MAX - 1);
    struct error_line line = line_of(0, BYTES("last"));
    error_log_add(log, &line);
    for (int i = 0; i < 3; i++)
        error_log_add(log, &line);
    error_log_sync(log);
    long size = size_of(folder, "id");
    assert_true(size > ERROR_LOG_SIZE_MAX && size < ERROR_LOG_SIZE_MAX + 1000);
    error_log_add(log, &line);
    error_log_sync(log);
    assert_int_equal(size_of(folder, "id"), size);
    error_log_close(log);
    log = error_log_open(folder, "id", "error", (uint64_t)size); /* Nor does it resume. */
    error_log_add(log, &line);
    error_log_sync(log);
    assert_int_equal(size_of(folder, "id"), size);
    error_log_close(log);
    scratch_destroy(root);
}

static void without_a_folder_lines_are_forgotten(void **state)
{
    (void)state;
    struct error_log *log = error_log_open(NULL, "id", "error", 0);
    struct error_line line = line_of(0, BYTES("x"));
    error_log_add(log, &line);
    error_log_sync(log);
    assert_int_equal(error_log_size(log), 0);
    error_log_close(log);
}

static bool knows(void *context, const char *id)
{
    return strcmp(id, context) == 0;
}

static void files_that_nobody_knows_are_removed(void **state)
{
    char root[SCRATCH_PATH_MAX], folder[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX];
    (void)state;
    scratch_create(root);
    scratch_join(folder, root, "imports");
    error_log_sweep(folder, knows, "kept"); /* There is none. */
    static const char *const ids[] = { "kept", "gone" };
    for (int i = 0; i < 2; i++) {
        struct error_log *log = error_log_open(folder, ids[i], "error", 0);
        struct error_line line = line_of(0, BYTES("x"));
        error_log_add(log, &line);
        error_log_sync(log);
        error_log_close(log);
    }
    error_log_sweep(folder, knows, "kept");
    assert_true(size_of(folder, "kept") > 0);
    assert_int_equal(size_of(folder, "gone"), -1);
    scratch_join(path, folder, "gone");
    assert_int_not_equal(access(path, F_OK), 0);
    scratch_destroy(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_that_resumes_forgets_what_is_behind_its_position),
        cmocka_unit_test(a_log_stops_at_its_bound),
        cmocka_unit_test(without_a_folder_lines_are_forgotten),
        cmocka_unit_test(files_that_nobody_knows_are_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
