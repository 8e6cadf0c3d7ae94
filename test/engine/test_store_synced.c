/* test_store_synced.c -- what SYNCED says about the manifest, and files of the first version.
 *
 * A store that was opened a second time has what the first one wrote in a table, of which only the
 * manifest tells. A manifest that lost its end would give back a store without that table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "engine/engine.h"
#include "engine/rocksdb/store_directory.h"
#include "engine_fixture.h"

enum { MANIFEST_SIZE_MAX = 4096, CURRENT_SIZE = 16, OLD_FILE_SIZE = 12 };

static const struct engine_place items = { 7, 1, ENGINE_SPACE_ITEMS };

struct store_files {
    char scratch[SCRATCH_PATH_MAX];
    char data[SCRATCH_PATH_MAX];
    char manifest[SCRATCH_PATH_MAX];
    uint8_t bytes[MANIFEST_SIZE_MAX]; /* Of the manifest. */
    size_t size;
};

static struct engine *open_store(const struct store_files *files, char *message)
{
    struct engine_options options = engine_fixture_rocksdb_options(files->data);
    return engine_open(&options, message);
}

static void put(const struct store_files *files, struct bytes key)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_store(files, message);
    assert_non_null(engine);
    engine_fixture_put(engine, items, key, BYTES("1"));
    engine_close(engine);
}

static size_t read_file(const char *path, uint8_t *out, size_t size_max)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(out, 1, size_max, file);
    fclose(file);
    return size;
}

static void write_file(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static int setup(void **state)
{
    struct store_files *files = calloc(1, sizeof *files);
    char current[SCRATCH_PATH_MAX], name[CURRENT_SIZE + 1] = { 0 };
    scratch_create(files->scratch);
    scratch_join(files->data, files->scratch, "data");
    put(files, BYTES("a"));
    put(files, BYTES("b"));
    scratch_join(current, files->data, "CURRENT");
    assert_int_equal(read_file(current, (uint8_t *)name, CURRENT_SIZE), CURRENT_SIZE);
    name[CURRENT_SIZE - 1] = '\0';
    scratch_join(files->manifest, files->data, name);
    files->size = read_file(files->manifest, files->bytes, sizeof files->bytes);
    assert_true(files->size > 0 && files->size < sizeof files->bytes);
    *state = files;
    return 0;
}

static int teardown(void **state)
{
    struct store_files *files = *state;
    scratch_destroy(files->scratch);
    free(files);
    return 0;
}

static void expect_refusal(const struct store_files *files, const char *reason)
{
    char message[ENGINE_MESSAGE_MAX], want[ENGINE_MESSAGE_MAX];
    snprintf(want, sizeof want, "cannot use data directory '%s': the store is damaged: %s",
             files->data, reason);
    for (int attempt = 0; attempt < 2; attempt++) { /* The first must not hide it. */
        assert_null(open_store(files, message));
        assert_string_equal(message, want);
    }
}

static void expect_both(const struct store_files *files)
{
    char message[ENGINE_MESSAGE_MAX];
    struct engine *engine = open_store(files, message);
    if (engine == NULL)
        fail_msg("%s", message);
    struct engine_view *view = engine_fixture_view(engine);
    assert_true(engine_fixture_view_has(view, items, BYTES("a"), BYTES("1")));
    assert_true(engine_fixture_view_has(view, items, BYTES("b"), BYTES("1")));
    engine_view_close(view);
    engine_close(engine);
}

static const char *manifest_name(const struct store_files *files)
{
    return strrchr(files->manifest, '/') + 1;
}

static void a_manifest_that_lost_its_end_is_refused(void **state)
{
    struct store_files *files = *state;
    char reason[ENGINE_MESSAGE_MAX];
    for (size_t size = 0; size < files->size; size++) {
        write_file(files->manifest, files->bytes, size);
        snprintf(reason, sizeof reason, "%s has %zu bytes, and %zu were synced",
                 manifest_name(files), size, files->size);
        expect_refusal(files, reason);
    }
    write_file(files->manifest, files->bytes, files->size);
    expect_both(files);
}

static void a_manifest_that_is_zero_from_some_place_on_is_refused(void **state)
{
    struct store_files *files = *state;
    uint8_t damaged[MANIFEST_SIZE_MAX] = { 0 };
    char reason[ENGINE_MESSAGE_MAX];
    snprintf(reason, sizeof reason, "%s is not what was synced", manifest_name(files));
    for (size_t start = 0; start < files->size; start++) {
        memcpy(damaged, files->bytes, start);
        if (files->bytes[start] == 0)
            continue; /* One of the next ones is damage. */
        write_file(files->manifest, damaged, files->size);
        expect_refusal(files, reason);
    }
    write_file(files->manifest, files->bytes, files->size);
    expect_both(files);
}

/* What was appended and not synced may be anything; RocksDB leaves it out. */
static void what_is_behind_the_synced_position_is_not_compared(void **state)
{
    struct store_files *files = *state;
    memset(files->bytes + files->size, 0, 3);
    write_file(files->manifest, files->bytes, files->size + 3);
    expect_both(files);
}

static void a_manifest_that_was_replaced_is_refused(void **state)
{
    static const uint8_t older[] = "MANIFEST-000001\n";
    struct store_files *files = *state;
    char path[SCRATCH_PATH_MAX], reason[ENGINE_MESSAGE_MAX];
    scratch_join(path, files->data, "MANIFEST-000001");
    write_file(path, files->bytes, files->size);
    scratch_join(path, files->data, "CURRENT");
    write_file(path, older, sizeof older - 1);
    snprintf(reason, sizeof reason, "CURRENT names MANIFEST-000001, which %s has replaced",
             manifest_name(files));
    expect_refusal(files, reason);
}

static void the_synced_position_follows_the_manifest(void **state)
{
    struct store_files *files = *state;
    char message[ENGINE_MESSAGE_MAX];
    struct store_directory directory;
    struct store_manifest manifest;
    uint64_t sequence;
    assert_true(store_directory_open(&directory, files->data, message));
    assert_int_equal(store_synced_read(&directory.synced, &sequence, &manifest), STORE_SYNCED_READ);
    assert_int_equal(sequence, 2);
    assert_int_equal(manifest.size, files->size);
    assert_int_equal(manifest.crc, crc32c(bytes_of(files->bytes, files->size)));
    store_directory_close(&directory);
}

static void a_file_of_the_first_version_says_nothing_of_a_manifest(void **state)
{
    struct store_files *files = *state;
    char path[SCRATCH_PATH_MAX];
    uint8_t content[OLD_FILE_SIZE];
    scratch_join(path, files->data, "SYNCED");
    for (uint64_t sequence = 3; sequence >= 2; sequence--) {
        store_u64_be(content, sequence);
        store_u32_be(content + 8, crc32c(bytes_of(content, 8)));
        write_file(path, content, sizeof content);
        if (sequence == 3)
            expect_refusal(files, "1 changes that were synced cannot be read back");
    }
    expect_both(files);
    assert_int_equal(read_file(path, files->bytes, sizeof files->bytes), 32); /* Of ours now. */
}

#define IN_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_STORE(a_manifest_that_lost_its_end_is_refused),
        IN_STORE(a_manifest_that_is_zero_from_some_place_on_is_refused),
        IN_STORE(what_is_behind_the_synced_position_is_not_compared),
        IN_STORE(a_manifest_that_was_replaced_is_refused),
        IN_STORE(the_synced_position_follows_the_manifest),
        IN_STORE(a_file_of_the_first_version_says_nothing_of_a_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
