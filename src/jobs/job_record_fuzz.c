/* job_record_fuzz.c -- any bytes as a job's record: what decodes encodes to a record that decodes
 * to the same. */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "jobs/job_record.h"
#include "model/item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The key is not among the bytes: it is one that fits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    struct job_record record, again;
    struct bytes key = BYTES("B01763300000123-00000abc");
    if (arena == NULL)
        arena = arena_create();
    if (job_record_decode(arena, key, bytes_of(data, size), &record)) {
        struct item encoded = job_record_encode(arena, &record);
        bool decoded = job_record_decode(arena, key, encoded.encoded, &again);
        assert(decoded && again.state == record.state && again.created_ms == record.created_ms &&
               bytes_equal(again.position, record.position) &&
               bytes_equal(again.detail, record.detail));
        (void)decoded;
    }
    (void)job_cancel_decode(BYTES("C01763300000123-00000abc"), bytes_of(data, size));
    arena_reset(arena);
    return 0;
}
