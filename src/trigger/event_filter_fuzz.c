/* event_filter_fuzz.c -- any pattern is refused with a reason or can be held against any record.
 *
 * The input is a pattern, a zero byte, and a record. A pattern whose alternative is itself lets
 * through just what it lets through alone.
 */
#include <assert.h>
#include <stdint.h>
#include "base/arena.h"
#include "model/error.h"
#include "trigger/event_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct event_filter *parse(struct arena *arena, struct bytes pattern)
{
    struct error err;
    error_init(&err, arena);
    const struct event_filter *filter = event_filter_parse(arena, pattern, &err);
    assert((filter == NULL) == error_is_set(&err));
    return filter;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size == 0 ? NULL : memchr(data, 0, size);
    struct arena *arena = arena_create();
    if (zero != NULL) {
        struct bytes pattern = bytes_of(data, (size_t)(zero - data));
        struct bytes record = bytes_of(zero + 1, size - pattern.len - 1);
        const struct event_filter *filter = parse(arena, pattern);
        if (filter != NULL) {
            struct bytes twice = arena_printf(arena, "{\"$or\":[%.*s]}", BYTES_FMT(pattern));
            const struct event_filter *or_filter = parse(arena, twice);
            bool matches = event_filter_matches(filter, arena, record);
            /* It may have become too long or too deep. */
            assert(or_filter == NULL || event_filter_matches(or_filter, arena, record) == matches);
        }
    }
    arena_destroy(arena);
    return 0;
}
