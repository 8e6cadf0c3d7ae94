/* scaling_objects_fuzz.c -- arbitrary documents as stored targets, policies, actions and
 * activities.
 *
 * The first byte chooses the kind; the rest is the JSON of the record, wrapped into an item. What
 * decodes, encodes and decodes again, is the same record under the same key.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "model/item.h"
#include "model/item_record.h"
#include "scaling/scaling_objects.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bytes wrap(struct arena *arena, struct bytes text)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "j", text);
    return item_builder_finish(&builder).encoded;
}

/* Reads the document under whatever key it belongs to. */
static void *read(struct arena *arena, enum scaling_kind kind, struct bytes value)
{
    static const char letters[SCALING_KIND_COUNT] = { 'T', 'P', 'S', 'A' };
    enum scaling_kind found;
    struct engine_entry entry = { .key = bytes_of(&letters[kind], 1), .value = value };
    void *object = scaling_decode_any(arena, &entry, &found);
    assert(object == NULL || found == kind);
    return object;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct arena *arena = arena_create();
    enum scaling_kind kind = data[0] % SCALING_KIND_COUNT;
    void *object = read(arena, kind, wrap(arena, bytes_of(data + 1, size - 1)));
    if (object != NULL) {
        struct engine_entry entry = { .key = scaling_key(arena, kind, object),
                                      .value = scaling_encode(arena, kind, object) };
        enum scaling_kind found;
        void *again = scaling_decode(arena, &entry, &found);
        assert(again != NULL && found == kind);
        assert(bytes_equal(entry.value, scaling_encode(arena, kind, again)));
    }
    arena_destroy(arena);
    return 0;
}
