/* table_fixture.c -- see table_fixture.h. */
#include "table_fixture.h"
#include "base/arena.h"

struct table_definition table_fixture_draft(struct arena *arena, struct bytes name)
{
    struct key_attribute *attributes = arena_alloc(arena, 2 * sizeof *attributes);
    attributes[0] = (struct key_attribute){ .name = BYTES("p"), .type = VALUE_S };
    attributes[1] = (struct key_attribute){ .name = BYTES("g"), .type = VALUE_S };
    return (struct table_definition){
        .name = name,
        .uuid = BYTES("00000000-0000-4000-8000-000000000000"),
        .created_ms = 1700000000000,
        .status = TABLE_ACTIVE,
        .key = { .hash = attributes[0] },
        .attributes = attributes,
        .attribute_count = 1,
        .billing_mode = BILLING_PAY_PER_REQUEST,
        .billing_mode_given = true,
        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
        .warm_throughput = { UNITS_UNSET, UNITS_UNSET },
    };
}

void table_fixture_add_index(struct arena *arena, struct table_definition *draft,
                             enum index_status status)
{
    struct index_definition *index = arena_alloc_zeroed(arena, sizeof *index);
    *index = (struct index_definition){ .name = BYTES("index"),
                                        .global = true,
                                        .hash = { draft->attributes[1] },
                                        .hash_count = 1,
                                        .projection = PROJECTION_KEYS_ONLY,
                                        .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                        .warm_throughput = { UNITS_UNSET, UNITS_UNSET },
                                        .status = status };
    draft->attribute_count = 2;
    draft->indexes = index;
    draft->index_count = 1;
}
