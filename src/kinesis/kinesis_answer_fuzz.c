/* kinesis_answer_fuzz.c -- arbitrary bytes as answers of a Kinesis server. */
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "kinesis/kinesis_answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes body = bytes_of(data, size);
    enum kinesis_fate fates[3];
    struct kinesis_stream stream;
    bool exact = kinesis_answer_fates(arena, body, COUNT_OF(fates), fates);
    /* An answer is about one number of records. */
    assert(!exact || !kinesis_answer_fates(arena, body, COUNT_OF(fates) - 1, fates));
    if (kinesis_answer_stream(arena, body, &stream))
        assert(stream.record_size_max >= 1024 * 1024 && stream.record_size_max <= 10 * 1024 * 1024);
    assert(kinesis_answer_exception(arena, body).len <= size);
    arena_destroy(arena);
    return 0;
}
