/* backup_manifest_fuzz.c -- any text as a list of files: what is read is written back byte for
 * byte, and no name in it leads anywhere else.
 *
 * The digest at its end would keep every changed text out, so it is put right first.
 */
#include <assert.h>
#include <stdint.h>
#include "backup/backup_manifest.h"
#include "base/arena.h"
#include "base/buffer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes with_digest(struct arena *arena, struct sha256 *hasher, struct bytes text)
{
    struct buffer out;
    uint8_t digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    sha256_digest(hasher, text, digest);
    sha256_hex(digest, hex);
    buffer_init(&out, arena);
    buffer_append_bytes(&out, text);
    buffer_append_bytes(&out, arena_printf(arena, "end %.*s\n", SHA256_HEX_SIZE, hex));
    return buffer_bytes(&out);
}

static void parse(struct arena *arena, struct sha256 *hasher, struct bytes text)
{
    struct backup_manifest manifest;
    struct buffer out;
    if (!backup_manifest_parse(arena, hasher, text, &manifest))
        return;
    buffer_init(&out, arena);
    backup_manifest_write(&manifest, hasher, &out);
    assert(bytes_equal(buffer_bytes(&out), text));
    for (size_t i = 0; i < manifest.file_count; i++) {
        struct bytes name = manifest.files[i].name;
        assert(memchr(name.data, '/', name.len) == NULL && name.data[0] != '.');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct sha256 *hasher = sha256_create();
    parse(arena, hasher, bytes_of(data, size));
    parse(arena, hasher, with_digest(arena, hasher, bytes_of(data, size)));
    sha256_destroy(hasher);
    arena_destroy(arena);
    return 0;
}
