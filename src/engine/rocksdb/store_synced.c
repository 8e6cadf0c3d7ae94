/* store_synced.c -- see store_synced.h. */
#include "engine/rocksdb/store_synced.h"
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/byte_order.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/file.h"

enum {
    CRC_SIZE = 4,
    FIRST_CONTENT_SIZE = 8, /* The sequence number alone: files written by the first versions. */
    CONTENT_SIZE = 28,      /* Sequence number; the manifest's number, size and checksum. */
    FILE_SIZE = CONTENT_SIZE + CRC_SIZE,
    MANIFEST_NAME_MAX = 64,
    CHUNK_SIZE = 4096,
};

static const char manifest_prefix[] = "MANIFEST-";

/* --- Open and close --- */

bool store_synced_open(struct store_synced *synced, int directory)
{
    *synced = STORE_SYNCED_NONE;
    synced->file =
        file_open_at(directory, "SYNCED", O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
    return synced->file >= 0;
}

void store_synced_open_read_only(struct store_synced *synced, int directory)
{
    *synced = STORE_SYNCED_NONE;
    synced->file = file_open_at(directory, "SYNCED", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

void store_synced_close(struct store_synced *synced)
{
    if (synced->file >= 0)
        close(synced->file);
    if (synced->manifest >= 0)
        close(synced->manifest);
    *synced = STORE_SYNCED_NONE;
}

/* --- Manifest --- */

/* The number in CURRENT's text, "MANIFEST-000005" and a line feed; 0 if it is none. */
static uint64_t parse_current(const char *text)
{
    size_t prefix_size = sizeof manifest_prefix - 1;
    if (strncmp(text, manifest_prefix, prefix_size) != 0)
        return 0;
    const char *at = text + prefix_size;
    uint64_t number = 0;
    for (; *at >= '0' && *at <= '9' && number < UINT64_MAX / 100; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return strcmp(at, "\n") == 0 ? number : 0;
}

/* Opens the manifest that CURRENT names. -1 if there is none. */
static int open_manifest(int directory, uint64_t *number)
{
    char name[MANIFEST_NAME_MAX];
    int current = file_open_at(directory, "CURRENT", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (current < 0)
        return -1;
    ssize_t size = read(current, name, sizeof name - 1);
    close(current);
    name[size < 0 ? 0 : size] = '\0';
    *number = parse_current(name);
    if (*number == 0)
        return -1;
    name[size - 1] = '\0';
    return file_open_at(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

/* Extends the checksum over the file up to `size_max`. False if it cannot be read. */
static bool extend(int file, uint64_t size_max, struct store_manifest *known)
{
    uint8_t chunk[CHUNK_SIZE];
    while (known->size < size_max) {
        uint64_t left = size_max - known->size;
        ssize_t got = pread(file, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk,
                            (off_t)known->size);
        if (got <= 0)
            return got == 0;
        known->crc = crc32c_extend(known->crc, bytes_of(chunk, (size_t)got));
        known->size += (uint64_t)got;
    }
    return true;
}

bool store_synced_find_manifest(int directory, uint64_t size_max, struct store_manifest *out)
{
    *out = (struct store_manifest){ 0 };
    int manifest = open_manifest(directory, &out->number);
    if (manifest < 0)
        return false;
    bool ok = extend(manifest, size_max, out);
    close(manifest);
    return ok;
}

void store_synced_follow_manifest(struct store_synced *synced, int directory)
{
    synced->manifest_synced = (struct store_manifest){ 0 };
    synced->manifest = open_manifest(directory, &synced->manifest_synced.number);
    if (synced->manifest < 0)
        synced->manifest_synced.number = 0;
}

/* RocksDB appends to the manifest when tables come and go, and syncs it, but the file grows before
 * that sync ends. So it is synced here too, whenever it has grown. If RocksDB has begun another
 * manifest, or a sync fails, which must not be repeated, the known position stays. */
static void sync_manifest(struct store_synced *synced)
{
    struct stat status;
    if (synced->manifest < 0 || fstat(synced->manifest, &status) != 0 ||
        (uint64_t)status.st_size <= synced->manifest_synced.size)
        return;
    if (fdatasync(synced->manifest) != 0) {
        file_close(synced->manifest);
        synced->manifest = -1;
        return;
    }
    struct store_manifest grown = synced->manifest_synced;
    if (extend(synced->manifest, (uint64_t)status.st_size, &grown))
        synced->manifest_synced = grown;
}

/* --- Content: big-endian numbers, and their CRC-32C. --- */

void store_synced_advance(struct store_synced *synced, uint64_t sequence)
{
    uint8_t content[FILE_SIZE];
    assert(synced->file >= 0);
    sync_manifest(synced);
    store_u64_be(content, sequence);
    store_u64_be(content + 8, synced->manifest_synced.number);
    store_u64_be(content + 16, synced->manifest_synced.size);
    store_u32_be(content + 24, synced->manifest_synced.crc);
    store_u32_be(content + CONTENT_SIZE, crc32c(bytes_of(content, CONTENT_SIZE)));
    /* If this fails, an older position stays in the file, which is true as well. */
    if (!file_write_at(synced->file, bytes_of(content, sizeof content), 0))
        return;
}

static bool is_whole(const uint8_t *content, size_t content_size)
{
    return load_u32_be(content + content_size) == crc32c(bytes_of(content, content_size));
}

enum store_synced_state store_synced_read(const struct store_synced *synced, uint64_t *sequence,
                                          struct store_manifest *manifest)
{
    uint8_t content[FILE_SIZE];
    *manifest = (struct store_manifest){ 0 };
    ssize_t size = synced->file < 0 ? 0 : pread(synced->file, content, sizeof content, 0);
    if (size == 0)
        return STORE_SYNCED_MISSING;
    bool is_first_kind = size == FIRST_CONTENT_SIZE + CRC_SIZE;
    if (!is_first_kind && size != FILE_SIZE)
        return STORE_SYNCED_DAMAGED;
    if (!is_whole(content, is_first_kind ? FIRST_CONTENT_SIZE : CONTENT_SIZE))
        return STORE_SYNCED_DAMAGED;
    *sequence = load_u64_be(content);
    if (!is_first_kind)
        *manifest = (struct store_manifest){ .number = load_u64_be(content + 8),
                                             .size = load_u64_be(content + 16),
                                             .crc = load_u32_be(content + 24) };
    return STORE_SYNCED_READ;
}
