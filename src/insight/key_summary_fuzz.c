/* key_summary_fuzz.c -- arbitrary bytes as a stored summary, with the checksum made right.
 *
 * What decodes encodes to the same bytes, and can be merged.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "insight/key_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { COVERED_AT = 5, SEED = 7 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    uint8_t *stored = arena_alloc(arena, COVERED_AT + size);
    stored[0] = KEY_SUMMARY_FORMAT;
    if (size > 0)
        memcpy(stored + COVERED_AT, data, size);
    store_u32_le(stored + 1, crc32c(bytes_of(stored + COVERED_AT, size)));
    struct bytes bytes = bytes_of(stored, COVERED_AT + size);
    struct key_summary *summary = key_summary_decode(bytes, KEY_SUMMARY_COUNTERS_MIN, SEED);
    if (summary != NULL) {
        struct bytes encoded = key_summary_encode(arena, summary, KEY_SUMMARY_COUNTERS_MAX);
        assert(bytes_equal(encoded, bytes));
        struct key_summary *merged = key_summary_copy(summary, KEY_SUMMARY_COUNTERS_MIN);
        key_summary_merge(merged, summary);
        assert(space_saving_total(merged->keys) == 2 * space_saving_total(summary->keys));
        assert(hyperloglog_estimate(&merged->distinct) == hyperloglog_estimate(&summary->distinct));
        key_summary_destroy(merged);
    }
    key_summary_destroy(summary);
    arena_destroy(arena);
    return 0;
}
