/* table_definition_fuzz.c -- arbitrary records of tables.
 *
 * The input is an encoded map, whose members become the record's attributes: a record of its own
 * would hide behind its checksum. Whatever decodes must encode to a record that decodes to the same
 * again.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "model/limits.h"
#include "model/table_definition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool build_record(struct arena *arena, struct bytes input, struct item *out)
{
    struct value map;
    struct value value;
    struct value_iter iter;
    struct bytes name;
    struct item_builder builder;
    struct bytes rest = input;
    if (!value_verify(input, NESTING_DEPTH_MAX) || !value_open(&rest, &map) || map.type != VALUE_M)
        return false;
    item_builder_init(&builder, arena);
    value_iter_init(&iter, &map);
    while (value_iter_next(&iter, &name, &value))
        item_builder_add(&builder, name, value.encoded);
    *out = item_builder_finish(&builder);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create();
    struct item record;
    struct table_definition table;
    if (build_record(arena, bytes_of(data, size), &record) &&
        table_definition_decode(arena, &record, &table)) {
        struct item encoded = table_definition_encode(arena, &table);
        assert(item_verify(&encoded));
        struct table_definition again;
        bool decodes = table_definition_decode(arena, &encoded, &again);
        assert(decodes);
        assert(bytes_equal(table_definition_encode(arena, &again).encoded, encoded.encoded));
    }
    arena_destroy(arena);
    return 0;
}
