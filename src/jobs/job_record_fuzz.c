/* job_record_fuzz.c -- any bytes as a job's record, with the checksum made right: what decodes
 * encodes to a record that decodes to the same. */
#include <assert.h>
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/crc32c.h"
#include "jobs/job_record.h"
#include "model/item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKSUM_AT = 1, COVERED_AT = 5 };

/* A copy that is an item as far as its checksum tells. */
static struct bytes seal(struct arena *arena, const uint8_t *data, size_t size)
{
    uint8_t *copy = arena_alloc(arena, size + 1);
    if (size > 0)
        memcpy(copy, data, size);
    if (size > COVERED_AT) {
        copy[0] = 1;
        store_u32_le(copy + CHECKSUM_AT, crc32c(bytes_of(copy + COVERED_AT, size - COVERED_AT)));
    }
    return bytes_of(copy, size);
}

/* The key is not among the bytes: it is one that fits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    struct job_record record, again;
    struct bytes key = BYTES("B01763300000123-00000abc");
    if (arena == NULL)
        arena = arena_create();
    struct bytes sealed = seal(arena, data, size);
    if (job_record_decode(arena, key, sealed, &record)) {
        struct item encoded = job_record_encode(arena, &record);
        bool decoded = job_record_decode(arena, key, encoded.encoded, &again);
        assert(decoded && again.state == record.state && again.created_ms == record.created_ms &&
               bytes_equal(again.position, record.position) &&
               bytes_equal(again.detail, record.detail));
        (void)decoded;
    }
    (void)job_cancel_decode(BYTES("C01763300000123-00000abc"), sealed);
    arena_reset(arena);
    return 0;
}
