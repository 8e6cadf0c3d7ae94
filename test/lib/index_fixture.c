/* index_fixture.c -- see index_fixture.h. */
#include "index_fixture.h"
#include "base/compiler.h"

#define TEXT(literal)                                                                              \
    {                                                                                              \
        (const uint8_t *)("" literal), sizeof(literal) - 1                                         \
    }
#define ATTRIBUTE(text, value_type)                                                                \
    {                                                                                              \
        .name = TEXT(text), .type = (value_type)                                                   \
    }
#define HALVES(first_id)                                                                           \
    {                                                                                              \
        { .id = (first_id), .first_hash = 0 },                                                     \
        {                                                                                          \
            .id = (first_id) + 1, .first_hash = UINT64_C(1) << 63                                  \
        }                                                                                          \
    }

static struct partition table_partitions[] = HALVES(11);
static struct partition keys_partitions[] = HALVES(21);
static struct partition all_partitions[] = HALVES(31);
static struct partition multiple_partitions[] = HALVES(41);

static struct bytes local_included[] = { TEXT("x"), TEXT("y") };
static struct bytes multiple_included[] = { TEXT("p"), TEXT("x") };

static struct index_definition indexes[] = {
    [INDEX_FIXTURE_LOCAL] = { .name = TEXT("local"),
                              .id = 2,
                              .hash = { ATTRIBUTE("p", VALUE_S) },
                              .hash_count = 1,
                              .range = { ATTRIBUTE("l", VALUE_S) },
                              .range_count = 1,
                              .projection = PROJECTION_INCLUDE,
                              .included = local_included,
                              .included_count = COUNT_OF(local_included) },
    [INDEX_FIXTURE_KEYS] = { .name = TEXT("keys"),
                             .global = true,
                             .id = 3,
                             .hash = { ATTRIBUTE("g", VALUE_S) },
                             .hash_count = 1,
                             .range = { ATTRIBUTE("h", VALUE_N) },
                             .range_count = 1,
                             .partitions = keys_partitions,
                             .partition_count = COUNT_OF(keys_partitions),
                             .projection = PROJECTION_KEYS_ONLY },
    [INDEX_FIXTURE_ALL] = { .name = TEXT("all"),
                            .global = true,
                            .id = 4,
                            .hash = { ATTRIBUTE("g", VALUE_S) },
                            .hash_count = 1,
                            .partitions = all_partitions,
                            .partition_count = COUNT_OF(all_partitions),
                            .projection = PROJECTION_ALL },
    [INDEX_FIXTURE_MULTIPLE] = { .name = TEXT("multiple"),
                                 .global = true,
                                 .id = 5,
                                 .hash = { ATTRIBUTE("g", VALUE_S), ATTRIBUTE("b", VALUE_B) },
                                 .hash_count = 2,
                                 .range = { ATTRIBUTE("h", VALUE_N), ATTRIBUTE("l", VALUE_S) },
                                 .range_count = 2,
                                 .partitions = multiple_partitions,
                                 .partition_count = COUNT_OF(multiple_partitions),
                                 .projection = PROJECTION_INCLUDE,
                                 .included = multiple_included,
                                 .included_count = COUNT_OF(multiple_included) },
};

const struct table_definition index_fixture_table = {
    .name = TEXT("table"),
    .id = 1,
    .key = { .hash = ATTRIBUTE("p", VALUE_S), .range = ATTRIBUTE("s", VALUE_N), .has_range = true },
    .indexes = indexes,
    .index_count = INDEX_FIXTURE_COUNT,
    .partitions = table_partitions,
    .partition_count = COUNT_OF(table_partitions),
};
