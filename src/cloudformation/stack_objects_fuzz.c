/* stack_objects_fuzz.c -- arbitrary documents as stored stacks, resources, events and change sets.
 *
 * The first byte chooses the kind; the rest is the JSON of the record. What decodes, encodes and
 * decodes again, is the same record.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "cloudformation/stack_objects.h"
#include "model/item.h"
#include "model/item_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes wrap(struct arena *arena, struct bytes text)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "j", text);
    return item_builder_finish(&builder).encoded;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena *arena = arena_create();
    enum stack_kind kind = data[0] % STACK_KIND_COUNT, found;
    void *object = stack_decode_any(arena, kind, wrap(arena, bytes_of(data + 1, size - 1)));
    if (object != NULL) {
        struct engine_entry entry = { .key = stack_key(arena, kind, object),
                                      .value = stack_encode(arena, kind, object) };
        void *again = stack_decode(arena, &entry, &found);
        assert(again != NULL && found == kind);
        assert(bytes_equal(entry.value, stack_encode(arena, kind, again)));
        assert(stack_record_is_whole(arena, &entry));
    }
    arena_destroy(arena);
    return 0;
}
