/* commit_format_fuzz.c -- whatever a store hands out decodes to what encodes to the same bytes, or
 * is refused. */
#include <assert.h>
#include "base/arena.h"
#include "engine/commit/commit_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct bytes value = bytes_of(data, size);
    struct partition_stamp id;
    struct bytes payload;
    struct commit_intent intent;
    struct commit_record record;
    uint64_t epoch, owner;
    enum engine_space space;
    if (commit_format_read_data(value, &id, &payload))
        assert(bytes_equal(commit_format_data(arena, &id, payload), value));
    if (commit_format_read_intent(value, &intent))
        assert(bytes_equal(commit_format_intent(arena, &intent), value));
    if (commit_format_read_record(arena, value, &record))
        assert(bytes_equal(commit_format_record(arena, &record), value));
    if (commit_format_read_epoch(value, &epoch) && value.data != NULL)
        assert(bytes_equal(commit_format_epoch(arena, epoch), value));
    if (commit_format_read_name(value, &owner, &space, &payload))
        assert(bytes_equal(commit_format_name(arena, owner, space, payload), value));
    arena_destroy(arena);
    return 0;
}
