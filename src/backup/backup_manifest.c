/* backup_manifest.c -- see backup_manifest.h.
 *
 * One fact per line, one space between words. Every list has exactly one text: reading refuses text
 * that writing would not have produced.
 */
#include "backup/backup_manifest.h"
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "engine/data_directory.h"

#define MAGIC "stator backup 1"
enum { SIZE_DIGITS_MAX = 19 }; /* Any number of so many digits fits into 64 bits. */

static_assert((BACKUP_NAME_MAX + SIZE_DIGITS_MAX + SHA256_HEX_SIZE + 8) *
                          (int64_t)BACKUP_FILES_MAX +
                      1024 <=
                  BACKUP_MANIFEST_SIZE_MAX,
              "the largest list fits");

/* --- Words --- */

static bool is_name_byte(uint8_t byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || byte == '-' || byte == '_' || byte == '.';
}

bool backup_manifest_is_name(struct bytes name)
{
    if (name.len == 0 || name.len > BACKUP_NAME_MAX || name.data[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_byte(name.data[i]))
            return false;
    return !bytes_equal_text(name, DATA_DIRECTORY_BACKUP) &&
           !bytes_equal_text(name, DATA_DIRECTORY_INCOMPLETE);
}

/* A time or a version: printable, without spaces. */
static bool is_word(struct bytes word)
{
    if (word.len == 0 || word.len > BACKUP_WORD_MAX)
        return false;
    for (size_t i = 0; i < word.len; i++)
        if (word.data[i] <= ' ' || word.data[i] >= 0x7F)
            return false;
    return true;
}

static bool is_digest(struct bytes word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!((word.data[i] >= '0' && word.data[i] <= '9') ||
              (word.data[i] >= 'a' && word.data[i] <= 'f')))
            return false;
    return word.len == SHA256_HEX_SIZE;
}

static bool parse_size(struct bytes word, uint64_t *out)
{
    if (word.len == 0 || word.len > SIZE_DIGITS_MAX || (word.data[0] == '0' && word.len > 1))
        return false;
    *out = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (word.data[i] < '0' || word.data[i] > '9')
            return false;
        *out = *out * 10 + (uint64_t)(word.data[i] - '0');
    }
    return true;
}

/* --- Writing --- */

static void digest_of(struct sha256 *hasher, struct bytes text, char out[SHA256_HEX_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_digest(hasher, text, digest);
    sha256_hex(digest, out);
}

void backup_manifest_write(const struct backup_manifest *manifest, struct sha256 *hasher,
                           struct buffer *out)
{
    struct arena *arena = out->arena;
    size_t start = out->len;
    assert(manifest->file_count <= BACKUP_FILES_MAX);
    buffer_append_bytes(out, arena_printf(arena, MAGIC "\ntime %.*s\nversion %.*s\n",
                                          BYTES_FMT(manifest->time), BYTES_FMT(manifest->version)));
    for (size_t i = 0; i < manifest->file_count; i++) {
        const struct backup_file *file = &manifest->files[i];
        assert(backup_manifest_is_name(file->name));
        assert(i == 0 || bytes_compare(manifest->files[i - 1].name, file->name) < 0);
        buffer_append_bytes(out,
                            arena_printf(arena, "file %" PRIu64 " %.*s %.*s\n", file->size,
                                         SHA256_HEX_SIZE, file->digest, BYTES_FMT(file->name)));
    }
    char digest[SHA256_HEX_SIZE];
    digest_of(hasher, bytes_of(out->data + start, out->len - start), digest);
    buffer_append_bytes(out, arena_printf(arena, "end %.*s\n", SHA256_HEX_SIZE, digest));
}

/* --- Reading --- */

/* Takes what is before the next `end`, and that byte, off the front. False if there is none. */
static bool take(struct bytes *rest, char end, struct bytes *out)
{
    const uint8_t *found = rest->len == 0 ? NULL : memchr(rest->data, end, rest->len);
    if (found == NULL)
        return false;
    *out = bytes_of(rest->data, (size_t)(found - rest->data));
    *rest = bytes_of(found + 1, rest->len - out->len - 1);
    return true;
}

/* Takes a line that begins with `name` and a space; the rest of it is `out`. */
static bool take_fact(struct bytes *rest, const char *name, struct bytes *out)
{
    struct bytes line, word;
    struct bytes saved = *rest;
    if (take(rest, '\n', &line) && take(&line, ' ', &word) && bytes_equal_text(word, name)) {
        *out = line;
        return true;
    }
    *rest = saved;
    return false;
}

static bool parse_file(struct bytes fact, struct backup_file *out)
{
    struct bytes size, digest;
    if (!take(&fact, ' ', &size) || !take(&fact, ' ', &digest) || !parse_size(size, &out->size) ||
        !is_digest(digest) || !backup_manifest_is_name(fact))
        return false;
    memcpy(out->digest, digest.data, SHA256_HEX_SIZE);
    out->name = fact;
    return true;
}

static size_t count_lines(struct bytes text)
{
    size_t count = 0;
    struct bytes line;
    while (take(&text, '\n', &line))
        count++;
    return count;
}

static bool parse_files(struct arena *arena, struct bytes *rest, struct backup_manifest *out)
{
    struct bytes fact;
    size_t lines = count_lines(*rest);
    size_t room = lines < BACKUP_FILES_MAX ? lines : BACKUP_FILES_MAX;
    out->files = arena_alloc(arena, sizeof out->files[0] * (room + 1));
    while (take_fact(rest, "file", &fact)) {
        struct backup_file *file = &out->files[out->file_count];
        if (out->file_count == BACKUP_FILES_MAX || !parse_file(fact, file) ||
            (out->file_count > 0 && bytes_compare(file[-1].name, file->name) >= 0))
            return false;
        out->file_count++;
    }
    return true;
}

bool backup_manifest_parse(struct arena *arena, struct sha256 *hasher, struct bytes text,
                           struct backup_manifest *out)
{
    struct bytes rest = text, line, end;
    char digest[SHA256_HEX_SIZE];
    *out = (struct backup_manifest){ 0 };
    if (text.len > BACKUP_MANIFEST_SIZE_MAX || !take(&rest, '\n', &line) ||
        !bytes_equal_text(line, MAGIC) || !take_fact(&rest, "time", &out->time) ||
        !take_fact(&rest, "version", &out->version) || !is_word(out->time) ||
        !is_word(out->version) || !parse_files(arena, &rest, out))
        return false;
    digest_of(hasher, bytes_of(text.data, text.len - rest.len), digest);
    return take_fact(&rest, "end", &end) && rest.len == 0 && is_digest(end) &&
           memcmp(end.data, digest, SHA256_HEX_SIZE) == 0;
}
