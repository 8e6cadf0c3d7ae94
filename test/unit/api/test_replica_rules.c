/* The rules of global tables with strong consistency, which no server makes yet: as if there were
 * one, with or without a witness. */
#include "api/table/replica_rules.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "api/table/replica_shapes.h"
#include "api/table/table_shapes.h"
#include "arena_fixture.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "model/error.h"
#include "model/table_definition.h"
#include "shape/shape.h"
#include "table_fixture.h"

#define STRONG "global tables with MultiRegionConsistency set to STRONG"
#define UPDATES(list) "{'TableName':'orders','ReplicaUpdates':[" list "]"
#define CREATE(region) "{'Create':{'RegionName':'" region "'}}"
#define DELETE(region) "{'Delete':{'RegionName':'" region "'}}"
#define WITNESS(region) ",'GlobalTableWitnessUpdates':[" DELETE(region) "]}"

static const struct {
    const char *body;
    bool has_witness;    /* Else three replicas. */
    const char *message; /* NULL: it passes. */
} cases[] = {
    { UPDATES(CREATE("c-1")) "}", false,
      "Cannot add replicas to a global table with strong MultiRegionConsistency" },
    { UPDATES(CREATE("c-1") "," CREATE("d-1")) ",'MultiRegionConsistency':'STRONG'}", false,
      "MultiRegionConsistency parameter is unsupported on existing global table" },
    { UPDATES(DELETE("a-1")) "}", false,
      "Deletion of only one table replica is not supported for " STRONG "." },
    { UPDATES(DELETE("a-1")) "}", true,
      "Update table delete operation does not include all witnesses." },
    { UPDATES(DELETE("a-1")) WITNESS("x-1"), true,
      "Update global table operation failed because one or more witnesses were not part of the "
      "global table. Please retry the request without these witnesses: [x-1]." },
    { UPDATES(DELETE("a-1")) WITNESS("w-1"), true, NULL },
};

static void a_strong_group_is_made_and_ended_as_a_whole(void **state)
{
    static const struct bytes peers[] = { BYTES("a-1"), BYTES("b-1"), BYTES("c-1"), BYTES("d-1") };
    const struct replica_regions regions = { "us-east-1", peers, COUNT_OF(peers) };
    struct arena *arena = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table_definition table = table_fixture_draft(arena, BYTES("orders"));
        struct replica_member members[] = { { .region = peers[0] }, { .region = peers[1] } };
        table.replicas = (struct replica_definition){
            .group_id = BYTES("00000000-0000-0000-0000-000000000000"),
            .epoch = 1,
            .own = { .region = BYTES("us-east-1") },
            .members = members,
            .count = cases[i].has_witness ? 1 : 2,
        };
        struct replica_state judged = { .table = &table, .is_strong = true };
        struct update_table_request request;
        struct replica_action action;
        struct error error;
        if (cases[i].has_witness)
            judged.witness = BYTES("w-1");
        error_init(&error, arena);
        struct bytes text = arena_copy(arena, bytes_from_text(cases[i].body));
        for (size_t j = 0; j < text.len; j++)
            if (text.data[j] == '\'')
                ((uint8_t *)(uintptr_t)text.data)[j] = '"';
        assert_true(shape_read(arena, text, &update_table_shape, &request, &error));
        bool ok = replica_rules_check(&request, &regions, &action, &error) &&
                  replica_rules_check_state(&request, &action, &judged, &error);
        assert_true(ok == (cases[i].message == NULL));
        if (!ok)
            assert_string_equal((const char *)error.message.data, cases[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { ARENA_TEST(a_strong_group_is_made_and_ended_as_a_whole) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
