/* rados_key.h -- names of objects and keys, as C strings in the order of what they stand for.
 *
 * librados takes some keys as C strings, so no stored key holds a zero byte: the bytes 0, 1 and 2
 * become 02 02, 02 03 and 02 04, and 01 ends the key. So keys keep their order, no key is a prefix
 * of another, the empty key exists, and a listing can start at a key itself: the key without its
 * end sorts before it and behind all smaller ones. doc/disk-format-rados.md.
 */
#ifndef STATOR_ENGINE_RADOS_RADOS_KEY_H
#define STATOR_ENGINE_RADOS_RADOS_KEY_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/commit/partition_store.h"

struct arena;

/* The stored key. Its `data` ends with a zero byte that is not counted. */
struct bytes rados_key_encode(struct arena *arena, struct bytes key);
/* False if no key is stored so. */
MUST_CHECK bool rados_key_decode(struct arena *arena, struct bytes stored, struct bytes *key);
/* The same without the end: listing behind it begins with the key itself. As a filter, it lets all
 * keys through that begin with `key`. A C string. */
const char *rados_key_before(struct arena *arena, struct bytes key);
/* The longest prefix that all keys from `first` up to `last` (exclusive) have in common, and no key
 * behind them if that can be. Of an empty range: any. */
struct bytes rados_key_shared_prefix(struct bytes first, struct bytes last);

enum {
    RADOS_PARTITION_SIZE = 2 + 16,                    /* "KIND.NUMBER", in hexadecimal. */
    RADOS_OBJECT_NAME_MAX = RADOS_PARTITION_SIZE + 2, /* With "p." before it. */
};
/* The partition's name in the list of all: their order is that of the partitions. */
void rados_key_format_partition(const struct partition_id *id, char out[RADOS_PARTITION_SIZE + 1]);
MUST_CHECK bool rados_key_parse_partition(struct bytes text, struct partition_id *id);
void rados_key_format_object(const struct partition_id *id, char out[RADOS_OBJECT_NAME_MAX + 1]);

#endif
