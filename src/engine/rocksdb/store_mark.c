/* store_mark.c -- see store_mark.h. */
#include "engine/rocksdb/store_mark.h"
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
    FIRST_CONTENT_SIZE = 8, /* The sequence number alone: marks before there was a manifest. */
    CONTENT_SIZE = 28,      /* Sequence number; the manifest's number, size and checksum. */
    MARK_SIZE = CONTENT_SIZE + CRC_SIZE,
    MANIFEST_NAME_MAX = 64,
    CHUNK_SIZE = 4096,
};

static const char manifest_prefix[] = "MANIFEST-";

/* --- Open and close --- */

bool store_mark_open(struct store_mark *mark, int directory)
{
    *mark = STORE_MARK_NONE;
    mark->file = file_open_at(directory, "SYNCED", O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0600);
    return mark->file >= 0;
}

void store_mark_open_read_only(struct store_mark *mark, int directory)
{
    *mark = STORE_MARK_NONE;
    mark->file = file_open_at(directory, "SYNCED", O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

void store_mark_close(struct store_mark *mark)
{
    if (mark->file >= 0)
        close(mark->file);
    if (mark->manifest >= 0)
        close(mark->manifest);
    *mark = STORE_MARK_NONE;
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

/* Takes up what the file has beyond what is known, up to `size_max`. False if it cannot be read. */
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

bool store_mark_find_manifest(int directory, uint64_t size_max, struct store_manifest *out)
{
    *out = (struct store_manifest){ 0 };
    int manifest = open_manifest(directory, &out->number);
    if (manifest < 0)
        return false;
    bool ok = extend(manifest, size_max, out);
    close(manifest);
    return ok;
}

void store_mark_follow_manifest(struct store_mark *mark, int directory)
{
    mark->synced = (struct store_manifest){ 0 };
    mark->manifest = open_manifest(directory, &mark->synced.number);
    if (mark->manifest < 0)
        mark->synced.number = 0;
}

/* RocksDB appends to the manifest when tables come and go, and syncs it; but in between its size
 * already shows what is not durable yet. So it is synced here too, whenever it has grown. If
 * RocksDB has begun another one, or a sync fails, which must not be repeated, the mark stays with
 * what is known. */
static void sync_manifest(struct store_mark *mark)
{
    struct stat status;
    if (mark->manifest < 0 || fstat(mark->manifest, &status) != 0 ||
        (uint64_t)status.st_size <= mark->synced.size)
        return;
    if (fdatasync(mark->manifest) != 0) {
        file_close(mark->manifest);
        mark->manifest = -1;
        return;
    }
    struct store_manifest grown = mark->synced;
    if (extend(mark->manifest, (uint64_t)status.st_size, &grown))
        mark->synced = grown;
}

/* --- Content: big-endian numbers, and their CRC-32C. --- */

void store_mark_move(struct store_mark *mark, uint64_t sequence)
{
    uint8_t content[MARK_SIZE];
    sync_manifest(mark);
    store_u64_be(content, sequence);
    store_u64_be(content + 8, mark->synced.number);
    store_u64_be(content + 16, mark->synced.size);
    store_u32_be(content + 24, mark->synced.crc);
    store_u32_be(content + CONTENT_SIZE, crc32c(bytes_of(content, CONTENT_SIZE)));
    /* One that could not be written leaves an older one, which is true as well. */
    if (!file_write_at(mark->file, bytes_of(content, sizeof content), 0))
        return;
}

static bool is_whole(const uint8_t *content, size_t content_size)
{
    return load_u32_be(content + content_size) == crc32c(bytes_of(content, content_size));
}

enum store_mark_state store_mark_read(const struct store_mark *mark, uint64_t *sequence,
                                      struct store_manifest *manifest)
{
    uint8_t content[MARK_SIZE];
    *manifest = (struct store_manifest){ 0 };
    ssize_t size = mark->file < 0 ? 0 : pread(mark->file, content, sizeof content, 0);
    if (size == 0)
        return STORE_MARK_MISSING;
    bool is_first_kind = size == FIRST_CONTENT_SIZE + CRC_SIZE;
    if (!is_first_kind && size != MARK_SIZE)
        return STORE_MARK_DAMAGED;
    if (!is_whole(content, is_first_kind ? FIRST_CONTENT_SIZE : CONTENT_SIZE))
        return STORE_MARK_DAMAGED;
    *sequence = load_u64_be(content);
    if (!is_first_kind)
        *manifest = (struct store_manifest){ .number = load_u64_be(content + 8),
                                             .size = load_u64_be(content + 16),
                                             .crc = load_u32_be(content + 24) };
    return STORE_MARK_READ;
}
