/* test_archive.c -- what is written into files of a backup is read back, from any position; damage
 * is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "archive/archive.h"
#include "archive/archive_block.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "scratch.h"

enum { ITEMS = 20000, FILE_SIZE = 64 * 1024, FILES_MAX = 64 };

static struct {
    struct arena *arena;
    char folder[SCRATCH_PATH_MAX];
    struct object_store *store;
    struct object_bucket *bucket;
    struct archive_file files[FILES_MAX];
    size_t file_count;
} fixture;

/* Items of different sizes that do not compress to nothing. */
static struct bytes item_of(int number, char text[4096])
{
    unsigned state = (unsigned)number * 2654435761u + 1;
    size_t size = (size_t)snprintf(text, 64, "item %d ", number);
    for (size_t i = 0; i < (size_t)(number % 200); i++) {
        state = state * 1664525u + 1013904223u;
        text[size++] = (char)(state >> 24);
    }
    return bytes_of(text, size);
}

static void write_files(void)
{
    char text[4096];
    struct object_error err;
    struct archive_writer *writer =
        archive_writer_create(fixture.bucket, BYTES("b/"), 0, FILE_SIZE);
    for (int i = 0; i < ITEMS; i++) {
        if (archive_writer_is_full(writer))
            assert_true(
                archive_writer_end_file(writer, &fixture.files[fixture.file_count++], &err));
        assert_true(archive_writer_add(writer, item_of(i, text), &err));
    }
    assert_true(archive_writer_end_file(writer, &fixture.files[fixture.file_count++], &err));
    assert_true(archive_writer_is_empty(writer));
    archive_writer_destroy(writer);
    assert_true(fixture.file_count > 3);
}

static int set_up(void **state)
{
    (void)state;
    char message[OBJECT_MESSAGE_MAX], path[SCRATCH_PATH_MAX + 16];
    struct object_error err;
    fixture.arena = arena_create();
    fixture.file_count = 0;
    scratch_create(fixture.folder);
    snprintf(path, sizeof path, "%s/bucket", fixture.folder);
    assert_int_equal(mkdir(path, 0700), 0);
    fixture.store = object_store_open(
        &(struct object_store_options){ .folder = fixture.folder, .clock = &clock_system },
        message);
    assert_non_null(fixture.store);
    fixture.bucket = object_bucket_open(
        fixture.store, &(struct object_bucket_options){ .name = BYTES("bucket") }, &err);
    assert_non_null(fixture.bucket);
    write_files();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    object_bucket_close(fixture.bucket);
    object_store_close(fixture.store);
    scratch_destroy(fixture.folder);
    arena_destroy(fixture.arena);
    return 0;
}

static struct archive_reader *open_reader(const struct archive_position *position)
{
    return archive_reader_create(fixture.bucket, BYTES("b/"), fixture.files, fixture.file_count,
                                 position);
}

static void items_come_back_in_order_from_any_position(void **state)
{
    (void)state;
    char text[4096];
    struct bytes item;
    struct object_error err;
    struct archive_position position = { 0 };
    struct archive_reader *reader = open_reader(&position);
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(archive_reader_next(reader, &item, &err), ARCHIVE_ITEM);
        assert_true(bytes_equal(item, item_of(i, text)));
        if (i % 997 == 0) { /* As after a restart. */
            position = archive_reader_position(reader);
            archive_reader_destroy(reader);
            reader = open_reader(&position);
        }
    }
    assert_int_equal(archive_reader_next(reader, &item, &err), ARCHIVE_END);
    position = archive_reader_position(reader);
    archive_reader_destroy(reader);
    reader = open_reader(&position);
    assert_int_equal(archive_reader_next(reader, &item, &err), ARCHIVE_END);
    archive_reader_destroy(reader);
}

static void files_are_encoded_and_decoded(void **state)
{
    (void)state;
    struct archive_file *files;
    size_t count;
    struct bytes bytes = archive_files_encode(fixture.arena, fixture.files, fixture.file_count);
    assert_true(archive_files_decode(fixture.arena, bytes, &files, &count));
    assert_int_equal(count, fixture.file_count);
    assert_memory_equal(files, fixture.files, count * sizeof *files);
    assert_false(
        archive_files_decode(fixture.arena, bytes_of(bytes.data, bytes.len - 1), &files, &count));
}

/* Reads all of it and returns how that ended. */
static enum archive_status read_all(struct object_error *err)
{
    struct archive_position position = { 0 };
    struct archive_reader *reader = open_reader(&position);
    struct bytes item;
    enum archive_status status;
    while ((status = archive_reader_next(reader, &item, err)) == ARCHIVE_ITEM)
        continue;
    archive_reader_destroy(reader);
    return status;
}

static void path_of_file(size_t number, char path[SCRATCH_PATH_MAX + 64])
{
    snprintf(path, SCRATCH_PATH_MAX + 64, "%s/bucket/b/data-%05zu", fixture.folder, number);
}

static void any_changed_byte_is_found(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_MAX + 64];
    struct object_error err;
    path_of_file(1, path);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    for (off_t at = 0; at < (off_t)fixture.files[1].size; at += 1201) {
        uint8_t byte, changed;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        changed = byte ^ 1;
        assert_int_equal(pwrite(fd, &changed, 1, at), 1);
        assert_int_equal(read_all(&err), ARCHIVE_DAMAGED);
        assert_non_null(strstr(err.text, "file 00001"));
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    assert_int_equal(read_all(&err), ARCHIVE_END);
    close(fd);
}

static void missing_or_short_file_is_found(void **state)
{
    (void)state;
    char path[SCRATCH_PATH_MAX + 64];
    struct object_error err;
    path_of_file(2, path);
    assert_int_equal(truncate(path, (off_t)fixture.files[2].size - 1), 0);
    assert_int_equal(read_all(&err), ARCHIVE_DAMAGED);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(read_all(&err), ARCHIVE_DAMAGED);
    assert_string_equal(err.text, "the backup is damaged: file 00002, which is missing");
}

static void block_holds_the_largest_item(void **state)
{
    (void)state;
    struct archive_block_writer *writer = archive_block_writer_create();
    struct archive_block_reader *reader = archive_block_reader_create();
    struct bytes item;
    uint8_t *large = calloc(1, ARCHIVE_ITEM_SIZE_MAX);
    archive_block_writer_add(writer, BYTES("small"));
    assert_false(archive_block_writer_is_full(writer));
    archive_block_writer_add(writer, bytes_of(large, ARCHIVE_ITEM_SIZE_MAX - 64));
    assert_true(archive_block_writer_is_full(writer));
    assert_true(archive_block_reader_open(reader, archive_block_writer_finish(writer)));
    assert_true(archive_block_reader_next(reader, &item));
    assert_true(bytes_equal(item, BYTES("small")));
    assert_true(archive_block_reader_next(reader, &item));
    assert_int_equal(item.len, ARCHIVE_ITEM_SIZE_MAX - 64);
    assert_false(archive_block_reader_next(reader, &item));
    free(large);
    archive_block_reader_destroy(reader);
    archive_block_writer_destroy(writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(items_come_back_in_order_from_any_position, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_are_encoded_and_decoded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(any_changed_byte_is_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_or_short_file_is_found, set_up, tear_down),
        cmocka_unit_test(block_holds_the_largest_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
