/* test_partition_map.c -- every hash belongs to one partition, whether splits divided it or not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arena_fixture.h"
#include "base/compiler.h"
#include "base/random.h"
#include "model/table_definition.h"
#include "table/partition_map.h"

#define AT(eighths) (UINT64_C(eighths) << 61)

static struct partition partitions[] = { { .id = 11, .first_hash = 0 },
                                         { .id = 12, .first_hash = AT(4) } };
static struct partition splits[] = {
    { .id = 21, .first_hash = AT(1), .parent_id = 20 },
    { .id = 20, .first_hash = AT(2), .parent_id = 11 },
    { .id = 22, .first_hash = AT(7), .parent_id = 12 },
};

static struct table_definition table_with(size_t split_count)
{
    return (struct table_definition){ .partitions = partitions,
                                      .partition_count = COUNT_OF(partitions),
                                      .splits = splits,
                                      .split_count = split_count };
}

static void each_border_begins_a_partition(void **state)
{
    (void)state;
    static const struct {
        uint64_t hash, whole, split;
    } cases[] = {
        { 0, 11, 11 },     { AT(1) - 1, 11, 11 },  { AT(1), 11, 21 }, { AT(2) - 1, 11, 21 },
        { AT(2), 11, 20 }, { AT(4) - 1, 11, 20 },  { AT(4), 12, 12 }, { AT(7) - 1, 12, 12 },
        { AT(7), 12, 22 }, { UINT64_MAX, 12, 22 },
    };
    const struct table_definition whole = table_with(0), split = table_with(COUNT_OF(splits));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(partition_map_find(&whole, cases[i].hash), cases[i].whole);
        assert_int_equal(partition_map_find(&split, cases[i].hash), cases[i].split);
    }
}

static void the_list_covers_all_hashes_once(void **state)
{
    struct random random;
    random_init(&random, 1);
    for (size_t split_count = 0; split_count <= COUNT_OF(splits); split_count++) {
        const struct table_definition table = table_with(split_count);
        struct partition_range *ranges;
        size_t count = partition_map_list(*state, &table, &ranges);
        assert_int_equal(count, COUNT_OF(partitions) + split_count);
        assert_true(ranges[0].first_hash == 0 && ranges[count - 1].last_hash == UINT64_MAX);
        for (size_t i = 0; i < count; i++) {
            assert_true(ranges[i].first_hash <= ranges[i].last_hash);
            assert_true(i == 0 || ranges[i].first_hash == ranges[i - 1].last_hash + 1);
            assert_int_equal(partition_map_find(&table, ranges[i].first_hash), ranges[i].id);
            assert_int_equal(partition_map_find(&table, ranges[i].last_hash), ranges[i].id);
        }
        for (int n = 0; n < 1000; n++) {
            uint64_t hash = random_next(&random);
            size_t at = 0;
            while (ranges[at].last_hash < hash)
                at++;
            assert_int_equal(partition_map_find(&table, hash), ranges[at].id);
        }
    }
}

static void only_the_split_that_is_under_way_has_a_parent_to_ask(void **state)
{
    (void)state;
    struct table_definition table = table_with(COUNT_OF(splits));
    for (uint64_t id = 10; id < 25; id++)
        assert_int_equal(partition_map_parent(&table, id), 0);
    table.splitting_id = 21;
    for (uint64_t id = 10; id < 25; id++)
        assert_int_equal(partition_map_parent(&table, id), id == 21 ? 20 : 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_border_begins_a_partition),
        ARENA_TEST(the_list_covers_all_hashes_once),
        cmocka_unit_test(only_the_split_that_is_under_way_has_a_parent_to_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
