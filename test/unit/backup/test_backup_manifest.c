/* test_backup_manifest.c -- the list of a backup's files: one text for each list, and no other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "backup/backup_manifest.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

struct fixture {
    struct arena *arena;
    struct sha256 *hasher;
};

static int setup(void **state)
{
    struct fixture *fixture = malloc(sizeof *fixture);
    *fixture = (struct fixture){ arena_create(), sha256_create() };
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    sha256_destroy(fixture->hasher);
    arena_destroy(fixture->arena);
    free(fixture);
    return 0;
}

/* `body` with the line that ends it. */
static struct bytes ended(struct fixture *fixture, struct bytes body)
{
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    sha256_digest(fixture->hasher, body, digest);
    sha256_hex(digest, hex);
    struct bytes end = arena_printf(fixture->arena, "end %.*s\n", SHA256_HEX_SIZE, hex);
    const struct bytes parts[] = { body, end };
    return arena_join(fixture->arena, parts, COUNT_OF(parts));
}

static bool parses(struct fixture *fixture, struct bytes text)
{
    struct backup_manifest manifest;
    return backup_manifest_parse(fixture->arena, fixture->hasher, text, &manifest);
}

static struct bytes write(struct fixture *fixture, const struct backup_manifest *manifest)
{
    struct buffer out;
    buffer_init(&out, fixture->arena);
    backup_manifest_write(manifest, fixture->hasher, &out);
    return buffer_bytes(&out);
}

static void what_is_written_is_read_back(void **state)
{
    struct fixture *fixture = *state;
    struct backup_file files[] = {
        { .name = BYTES("000012.sst"), .size = 0, .digest = HEX64 },
        { .name = BYTES("CURRENT"), .size = INT64_MAX, .digest = HEX64 },
    };
    struct backup_manifest read, manifest = { .time = BYTES("2026-11-15T12:00:00Z"),
                                              .version = BYTES("0.1.0"),
                                              .files = files,
                                              .file_count = COUNT_OF(files) };
    struct bytes text = write(fixture, &manifest);
    assert_true(bytes_equal(
        text, ended(fixture, BYTES("stator backup 1\ntime 2026-11-15T12:00:00Z\nversion 0.1.0\n"
                                   "file 0 " HEX64 " 000012.sst\n"
                                   "file 9223372036854775807 " HEX64 " CURRENT\n"))));
    assert_true(backup_manifest_parse(fixture->arena, fixture->hasher, text, &read));
    assert_true(bytes_equal(read.time, manifest.time));
    assert_true(bytes_equal(read.version, manifest.version));
    assert_int_equal(read.file_count, COUNT_OF(files));
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        assert_true(bytes_equal(read.files[i].name, files[i].name));
        assert_int_equal(read.files[i].size, files[i].size);
        assert_memory_equal(read.files[i].digest, files[i].digest, SHA256_HEX_SIZE);
    }
}

#define HEAD "stator backup 1\ntime T\nversion V\n"
#define FILE_LINE(size, name) "file " size " " HEX64 " " name "\n"

static void texts_that_nobody_wrote_are_refused(void **state)
{
    static const struct {
        const char *name, *body;
        bool read;
    } cases[] = {
        { "no files", HEAD, true },
        { "one file", HEAD FILE_LINE("1", "a"), true },
        { "empty", "", false },
        { "another version", "stator backup 2\ntime T\nversion V\n", false },
        { "no time", "stator backup 1\nversion V\n", false },
        { "an empty time", "stator backup 1\ntime \nversion V\n", false },
        { "a time of two words", "stator backup 1\ntime T T\nversion V\n", false },
        { "a control character", "stator backup 1\ntime T\nversion \tV\n", false },
        { "facts in another order", "stator backup 1\nversion V\ntime T\n", false },
        { "an unknown fact", HEAD "colour blue\n", false },
        { "a line without end", HEAD "file 1 " HEX64 " a", false },
        { "not in order", HEAD FILE_LINE("1", "b") FILE_LINE("1", "a"), false },
        { "a name twice", HEAD FILE_LINE("1", "a") FILE_LINE("1", "a"), false },
        { "a leading zero", HEAD FILE_LINE("01", "a"), false },
        { "no size", HEAD FILE_LINE("", "a"), false },
        { "a size below zero", HEAD FILE_LINE("-1", "a"), false },
        { "nineteen digits", HEAD FILE_LINE("9999999999999999999", "a"), true },
        { "twenty digits", HEAD FILE_LINE("10000000000000000000", "a"), false },
        { "a short digest", HEAD "file 1 0123 a\n", false },
        { "a digest in capitals", HEAD "file 1 A" HEX64 " a\n", false },
        { "no name", HEAD FILE_LINE("1", ""), false },
        { "a folder", HEAD FILE_LINE("1", "a/b"), false },
        { "the folder above", HEAD FILE_LINE("1", ".."), false },
        { "a hidden file", HEAD FILE_LINE("1", ".a"), false },
        { "from the root", HEAD FILE_LINE("1", "/etc"), false },
        { "itself", HEAD FILE_LINE("1", "BACKUP"), false },
        { "the mark", HEAD FILE_LINE("1", "INCOMPLETE"), false },
        { "a space", HEAD FILE_LINE("1", "a b"), false },
    };
    struct fixture *fixture = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bytes text = ended(fixture, bytes_from_text(cases[i].body));
        if (parses(fixture, text) != cases[i].read)
            fail_msg("%s", cases[i].name);
        if (!cases[i].read)
            continue;
        /* Not a byte more, less or other. */
        assert_false(parses(fixture, bytes_of(text.data, text.len - 1)));
        const struct bytes longer[] = { text, BYTES("\n") };
        assert_false(parses(fixture, arena_join(fixture->arena, longer, COUNT_OF(longer))));
        uint8_t *changed = (uint8_t *)arena_copy(fixture->arena, text).data;
        for (size_t at = 0; at < text.len; at++) {
            changed[at] ^= 1;
            assert_false(parses(fixture, bytes_of(changed, text.len)));
            changed[at] ^= 1;
        }
    }
}

static void names_and_words_have_bounds(void **state)
{
    struct fixture *fixture = *state;
    char text[BACKUP_NAME_MAX + 1];
    memset(text, 'a', sizeof text);
    assert_true(backup_manifest_is_name(bytes_of(text, BACKUP_NAME_MAX - 1)));
    assert_true(backup_manifest_is_name(bytes_of(text, BACKUP_NAME_MAX)));
    assert_false(backup_manifest_is_name(bytes_of(text, BACKUP_NAME_MAX + 1)));
    for (int size = BACKUP_WORD_MAX - 1; size <= BACKUP_WORD_MAX + 1; size++) {
        struct bytes body =
            arena_printf(fixture->arena, "stator backup 1\ntime %.*s\nversion V\n", size, text);
        assert_int_equal(parses(fixture, ended(fixture, body)), size <= BACKUP_WORD_MAX);
    }
}

static struct bytes many_files(struct fixture *fixture, int count)
{
    struct buffer body;
    buffer_init(&body, fixture->arena);
    buffer_append_bytes(&body, BYTES(HEAD));
    for (int i = 0; i < count; i++) {
        char line[SHA256_HEX_SIZE + 40];
        int size = snprintf(line, sizeof line, "file 1 " HEX64 " %06d.sst\n", i);
        buffer_append(&body, line, (size_t)size);
    }
    return ended(fixture, buffer_bytes(&body));
}

static void the_number_of_files_has_a_bound(void **state)
{
    struct fixture *fixture = *state;
    assert_true(parses(fixture, many_files(fixture, BACKUP_FILES_MAX - 1)));
    assert_true(parses(fixture, many_files(fixture, BACKUP_FILES_MAX)));
    assert_false(parses(fixture, many_files(fixture, BACKUP_FILES_MAX + 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, setup, teardown),
        cmocka_unit_test_setup_teardown(texts_that_nobody_wrote_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(names_and_words_have_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(the_number_of_files_has_a_bound, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
