/* test_item_range.c -- ranges hold just the keys that a condition names, in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "base/random.h"
#include "engine/engine.h"
#include "model/error.h"
#include "model/item.h"
#include "model/number.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/item_address.h"
#include "table/item_range.h"
#include "table/layout.h"

static struct partition partitions[] = { { .id = 11, .first_hash = 0 },
                                         { .id = 12, .first_hash = UINT64_C(1) << 62 },
                                         { .id = 13, .first_hash = UINT64_C(1) << 63 },
                                         { .id = 14, .first_hash = UINT64_C(3) << 62 } };

static struct table_definition table_of(enum value_type sort_type, bool has_range)
{
    return (struct table_definition){
        .name = BYTES("t"),
        .id = 7,
        .key = { .hash = { .name = BYTES("pk"), .type = VALUE_S },
                 .range = { .name = BYTES("sk"), .type = sort_type },
                 .has_range = has_range },
        .partitions = partitions,
        .partition_count = COUNT_OF(partitions),
    };
}

static struct value make_value(struct arena *arena, enum value_type type, struct bytes content)
{
    struct buffer out;
    struct value value;
    buffer_init(&out, arena);
    if (type == VALUE_S) {
        value_append_string(&out, content);
    } else if (type == VALUE_B) {
        value_append_binary(&out, content);
    } else {
        uint8_t encoded[NUMBER_ENCODED_MAX];
        size_t size;
        struct error err;
        error_init(&err, arena);
        assert_true(number_encode_text(content, encoded, &size, &err));
        value_append_number(&out, bytes_of(encoded, size));
    }
    struct bytes in = buffer_bytes(&out);
    assert_true(value_open(&in, &value));
    return value;
}

static struct item_address place_of(struct arena *arena, const struct table_definition *table,
                                    const struct value *hash, const struct value *range)
{
    struct item_builder builder;
    struct item_address place;
    struct error err;
    error_init(&err, arena);
    item_builder_init(&builder, arena);
    item_builder_add(&builder, BYTES("pk"), hash->encoded);
    if (range != NULL)
        item_builder_add(&builder, BYTES("sk"), range->encoded);
    struct item item = item_builder_finish(&builder);
    assert_true(item_address_of_key(arena, table, &item, &place, &err));
    return place;
}

/* --- Bounds, byte by byte --- */

static void range_of_partition_key(struct arena *arena, const struct table_definition *table,
                                   const struct value *partition_key,
                                   const struct item_range_condition *condition, bool reverse,
                                   struct item_range *out)
{
    const struct item_range_key key = { .hash = { partition_key }, .hash_count = 1 };
    item_range_of_key(arena, table, &key, condition, reverse, out);
}

/* Behind the hash and the partition key "p", whose bytes are 70 00 01. */
#define PREFIX "\x70\x00\x01"
#define NEXT "\x70\x00\x02"

#define RUN(literal)                                                                               \
    {                                                                                              \
        (const uint8_t *)(literal), sizeof(literal) - 1                                            \
    }
#define NONE                                                                                       \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

static const struct {
    const char *name;
    enum item_range_test test;
    const char *value, *upper; /* Of type S. */
    struct bytes first, last, end, reverse_end;
} bound_cases[] = {
    { "all", ITEM_RANGE_ALL, NULL, NULL, RUN(PREFIX), RUN(NEXT), NONE, NONE },
    { "equal", ITEM_RANGE_EQUAL, "b", NULL, RUN(PREFIX "b\0\1"), RUN(PREFIX "b\0\2"), NONE, NONE },
    { "less", ITEM_RANGE_LESS, "b", NULL, RUN(PREFIX), RUN(PREFIX "b\0\1"), NONE, NONE },
    { "less or equal", ITEM_RANGE_LESS_EQUAL, "b", NULL, RUN(PREFIX), RUN(PREFIX "b\0\2"),
      RUN(PREFIX "b\0\1"), NONE },
    { "greater", ITEM_RANGE_GREATER, "b", NULL, RUN(PREFIX "b\0\2"), RUN(NEXT), NONE, NONE },
    { "greater or equal", ITEM_RANGE_GREATER_EQUAL, "b", NULL, RUN(PREFIX "b\0\1"), RUN(NEXT), NONE,
      RUN(PREFIX "b\0\1") },
    { "between", ITEM_RANGE_BETWEEN, "b", "c", RUN(PREFIX "b\0\1"), RUN(PREFIX "c\0\2"),
      RUN(PREFIX "c\0\1"), RUN(PREFIX "b\0\1") },
    { "begins with", ITEM_RANGE_BEGINS_WITH, "b", NULL, RUN(PREFIX "b"), RUN(PREFIX "c"), NONE,
      NONE },
};

static void assert_behind_hash(const char *name, struct bytes got, struct bytes want)
{
    if (want.data == NULL) {
        assert_null(got.data);
        return;
    }
    assert_true(got.len >= LAYOUT_HASH_SIZE);
    if (!bytes_equal(bytes_of(got.data + LAYOUT_HASH_SIZE, got.len - LAYOUT_HASH_SIZE), want))
        fail_msg("%s", name);
}

static void bounds_are_those_of_the_condition(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct table_definition table = table_of(VALUE_S, true);
    struct value hash = make_value(arena, VALUE_S, BYTES("p"));
    for (size_t i = 0; i < COUNT_OF(bound_cases); i++) {
        struct item_range_condition condition = { .test = bound_cases[i].test };
        if (bound_cases[i].value != NULL)
            condition.values[0] = make_value(arena, VALUE_S, bytes_from_text(bound_cases[i].value));
        if (bound_cases[i].upper != NULL)
            condition.values[1] = make_value(arena, VALUE_S, bytes_from_text(bound_cases[i].upper));
        struct item_range range;
        for (int reverse = 0; reverse <= 1; reverse++) {
            range_of_partition_key(arena, &table, &hash, &condition, reverse, &range);
            assert_int_equal(range.engine.reverse, reverse);
            assert_int_equal(range.engine.place.owner, 7);
            assert_int_equal(range.engine.place.space, ENGINE_SPACE_ITEMS);
            assert_behind_hash(bound_cases[i].name, range.engine.first, bound_cases[i].first);
            assert_behind_hash(bound_cases[i].name, range.engine.last, bound_cases[i].last);
            assert_behind_hash(bound_cases[i].name, range.end,
                               reverse ? bound_cases[i].reverse_end : bound_cases[i].end);
        }
    }
    arena_destroy(arena);
}

static void a_prefix_of_all_ones_ends_with_the_partition_key(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct table_definition table = table_of(VALUE_B, true);
    struct value hash = make_value(arena, VALUE_S, BYTES("p"));
    struct item_range_condition condition = { .test = ITEM_RANGE_BEGINS_WITH };
    condition.values[0] = make_value(arena, VALUE_B, BYTES("\xFF\xFF"));
    struct item_range range;
    range_of_partition_key(arena, &table, &hash, &condition, false, &range);
    assert_behind_hash("first", range.engine.first, BYTES(PREFIX "\xFF\xFF"));
    assert_behind_hash("last", range.engine.last, BYTES(NEXT));
    arena_destroy(arena);
}

static void the_range_lies_where_the_items_are(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct table_definition table = table_of(VALUE_S, false);
    struct item_range_condition all = { .test = ITEM_RANGE_ALL };
    for (int i = 0; i < 100; i++) {
        struct value hash = make_value(arena, VALUE_S, arena_printf(arena, "key %d", i));
        struct item_address place = place_of(arena, &table, &hash, NULL);
        struct item_range range;
        range_of_partition_key(arena, &table, &hash, &all, false, &range);
        assert_int_equal(range.engine.place.partition, place.address.place.partition);
        assert_true(bytes_equal(range.engine.first, place.address.key));
    }
    arena_destroy(arena);
}

/* --- Against a plain model --- */

enum { MODEL_VALUES = 60, MODEL_ROUNDS = 400, MODEL_CONTENT_MAX = 5 };

struct model {
    struct arena *arena;
    struct random random;
    struct engine *engine;
    struct engine_view *view;
    struct table_definition table;
    enum value_type type;
    struct value hash;
    struct value values[MODEL_VALUES]; /* Sorted; no two equal. */
    struct bytes keys[MODEL_VALUES];   /* Of the items stored. */
    size_t count;
};

/* Short, of few different bytes, so that prefixes and neighbours abound. */
static struct value random_value(struct model *model)
{
    static const uint8_t binary[] = { 0x00, 0x01, 0x02, 0x61, 0xFE, 0xFF };
    static const uint8_t text[] = { 0x00, 0x01, 0x02, 0x61, 0x62, 0x7F };
    if (model->type == VALUE_N) {
        static const char *const endings[] = { "", ".5", ".25", "E20", "E-20" };
        const char *sign = random_below(&model->random, 2) == 0 ? "" : "-";
        int number = (int)random_below(&model->random, 12);
        const char *ending = endings[random_below(&model->random, COUNT_OF(endings))];
        return make_value(model->arena, VALUE_N,
                          arena_printf(model->arena, "%s%d%s", sign, number, ending));
    }
    size_t size = 1 + (size_t)random_below(&model->random, MODEL_CONTENT_MAX);
    uint8_t *data = arena_alloc(model->arena, size);
    for (size_t i = 0; i < size; i++)
        data[i] = model->type == VALUE_B ? binary[random_below(&model->random, sizeof binary)]
                                         : text[random_below(&model->random, sizeof text)];
    return make_value(model->arena, model->type, bytes_of(data, size));
}

/* By content, not by key bytes. */
static int compare_values(const struct value *a, const struct value *b)
{
    if (a->type != VALUE_N)
        return bytes_compare(a->data, b->data);
    struct number left, right;
    size_t size;
    assert_true(number_decode(a->data, &left, &size));
    assert_true(number_decode(b->data, &right, &size));
    return number_compare(&left, &right);
}

static bool model_matches(const struct item_range_condition *condition, const struct value *value)
{
    const struct value *bound = &condition->values[0];
    if (condition->test == ITEM_RANGE_ALL)
        return true;
    if (condition->test == ITEM_RANGE_BEGINS_WITH)
        return bytes_starts_with(value->data, bound->data);
    int order = compare_values(value, bound);
    switch (condition->test) {
    case ITEM_RANGE_EQUAL:
        return order == 0;
    case ITEM_RANGE_LESS:
        return order < 0;
    case ITEM_RANGE_LESS_EQUAL:
        return order <= 0;
    case ITEM_RANGE_GREATER:
        return order > 0;
    case ITEM_RANGE_GREATER_EQUAL:
        return order >= 0;
    default:
        return order >= 0 && compare_values(value, &condition->values[1]) <= 0;
    }
}

static void store(struct model *model, const struct item_address *place)
{
    struct engine_write *write = NULL;
    assert_int_equal(engine_write_begin(model->engine, &place->address, 1, &write), ENGINE_OK);
    engine_write_put(write, &place->address, BYTES("x"));
    assert_int_equal(engine_write_commit_wait(write), ENGINE_OK);
}

static void add_value(struct model *model, const struct value *value)
{
    size_t at = 0;
    while (at < model->count && compare_values(&model->values[at], value) < 0)
        at++;
    if (at < model->count && compare_values(&model->values[at], value) == 0)
        return;
    struct item_address place = place_of(model->arena, &model->table, &model->hash, value);
    store(model, &place);
    for (size_t i = model->count; i > at; i--) {
        model->values[i] = model->values[i - 1];
        model->keys[i] = model->keys[i - 1];
    }
    model->values[at] = *value;
    model->keys[at] = place.address.key;
    model->count++;
}

static void model_open(struct model *model, enum value_type type, uint64_t seed)
{
    *model = (struct model){ .arena = arena_create(),
                             .engine = reference_engine_create(),
                             .table = table_of(type, true),
                             .type = type };
    random_init(&model->random, seed);
    /* Other partition keys, which no range may touch. */
    static const char *const others[] = { "o", "pa", "q" };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct value hash = make_value(model->arena, VALUE_S, bytes_from_text(others[i]));
        struct value value = random_value(model);
        struct item_address place = place_of(model->arena, &model->table, &hash, &value);
        store(model, &place);
    }
    model->hash = make_value(model->arena, VALUE_S, BYTES("p"));
    for (int i = 0; i < MODEL_VALUES; i++) {
        struct value value = random_value(model);
        add_value(model, &value);
    }
    assert_int_equal(engine_view_open(model->engine, ENGINE_STRONG, &model->view), ENGINE_OK);
}

static void model_close(struct model *model)
{
    engine_view_close(model->view);
    engine_close(model->engine);
    arena_destroy(model->arena);
}

/* The range holds those values of the model that match and come behind position `from` (counted in
 * its direction among those that match). */
static void check_range(struct model *model, const struct item_range_condition *condition,
                        const struct item_range *range, size_t from)
{
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    size_t seen = 0;
    assert_int_equal(engine_scan_open(model->view, &range->engine, &scan), ENGINE_OK);
    for (size_t i = 0; i < model->count; i++) {
        size_t at = range->engine.reverse ? model->count - 1 - i : i;
        if (!model_matches(condition, &model->values[at]) || seen++ < from)
            continue;
        assert_int_equal(engine_scan_next(scan, &entry), ENGINE_OK);
        assert_true(bytes_equal(entry.key, model->keys[at]));
    }
    assert_int_equal(engine_scan_next(scan, &entry), ENGINE_END);
    engine_scan_close(scan);
}

/* Starting behind each key of the model, whether the range holds it or not. */
static void check_starts(struct model *model, const struct item_range_condition *condition,
                         const struct item_range *range)
{
    size_t matched = 0;
    bool ended = false;
    for (size_t i = 0; i < model->count; i++) {
        size_t at = range->engine.reverse ? model->count - 1 - i : i;
        struct item_range rest = *range;
        bool matches = model_matches(condition, &model->values[at]);
        assert_false(ended && matches); /* Behind its end a range holds nothing. */
        if (range->end.data != NULL && bytes_equal(model->keys[at], range->end))
            ended = true;
        bool started = item_range_start_behind(model->arena, &rest, model->keys[at]);
        assert_int_equal(started, matches && !ended);
        if (matches)
            matched++;
        if (started)
            check_range(model, condition, &rest, matched);
    }
}

static void check_model(enum value_type type, uint64_t seed)
{
    struct model model;
    model_open(&model, type, seed);
    for (int round = 0; round < MODEL_ROUNDS; round++) {
        struct item_range_condition condition = {
            .test = (enum item_range_test)random_below(&model.random,
                                                       type == VALUE_N ? ITEM_RANGE_BEGINS_WITH
                                                                       : ITEM_RANGE_BEGINS_WITH + 1)
        };
        condition.values[0] = random_value(&model);
        condition.values[1] = random_value(&model);
        if (compare_values(&condition.values[0], &condition.values[1]) > 0)
            condition.values[1] = condition.values[0];
        for (int reverse = 0; reverse <= 1; reverse++) {
            struct item_range range;
            range_of_partition_key(model.arena, &model.table, &model.hash, &condition, reverse,
                                   &range);
            check_range(&model, &condition, &range, 0);
            if (round % 10 == 0)
                check_starts(&model, &condition, &range);
        }
    }
    model_close(&model);
}

static void ranges_of_strings_hold_what_a_plain_model_holds(void **state)
{
    (void)state;
    check_model(VALUE_S, 1);
}

static void ranges_of_binaries_hold_what_a_plain_model_holds(void **state)
{
    (void)state;
    check_model(VALUE_B, 2);
}

static void ranges_of_numbers_hold_what_a_plain_model_holds(void **state)
{
    (void)state;
    check_model(VALUE_N, 3);
}

/* --- Segments --- */

static const uint32_t totals[] = { 1, 2, 3, 4, 5, 7, 8, 1000, 999999, 1000000 };

static uint64_t first_hash(const struct item_range *range)
{
    assert_int_equal(range->engine.first.len, LAYOUT_HASH_SIZE);
    uint64_t hash = 0;
    for (size_t i = 0; i < LAYOUT_HASH_SIZE; i++)
        hash = hash << 8 | range->engine.first.data[i];
    return hash;
}

static void segments_adjoin_and_cover_every_hash(void **state)
{
    (void)state;
    struct table_definition table = table_of(VALUE_S, true);
    for (size_t t = 0; t < COUNT_OF(totals); t++) {
        struct bytes expected = BYTES("\0\0\0\0\0\0\0\0");
        struct arena *arena = arena_create();
        /* All of them where there are few, else the first and last ones. */
        for (uint32_t i = 0; i < totals[t]; i++) {
            if (totals[t] > 1000 && i == 500) {
                i = totals[t] - 500;
                expected.data = NULL;
            }
            struct item_range_segment segment = { .index = i, .total = totals[t] };
            struct item_range *ranges;
            size_t count = item_range_of_segment(arena, &table, NULL, &segment, &ranges);
            assert_true(count >= 1 && count <= COUNT_OF(partitions));
            for (size_t r = 0; r < count; r++) {
                uint64_t first = first_hash(&ranges[r]);
                if (expected.data != NULL)
                    assert_true(bytes_equal(ranges[r].engine.first, expected));
                assert_int_equal(ranges[r].engine.place.partition,
                                 item_address_of_hash(&table, first).partition);
                assert_true(item_range_segment_contains(&segment, first));
                assert_false(ranges[r].engine.reverse);
                expected = ranges[r].engine.last;
            }
        }
        assert_int_equal(expected.len, 0); /* To the very end. */
        arena_destroy(arena);
    }
}

static void every_hash_is_in_exactly_one_segment(void **state)
{
    (void)state;
    struct random random;
    random_init(&random, 4);
    static const uint64_t edges[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1
    };
    for (int i = 0; i < 200; i++) {
        uint64_t hash = (size_t)i < COUNT_OF(edges) ? edges[i] : random_next(&random);
        for (uint32_t total = 1; total <= 64; total++) {
            unsigned found = 0;
            for (uint32_t index = 0; index < total; index++)
                found += item_range_segment_contains(
                    &(struct item_range_segment){ .index = index, .total = total }, hash);
            assert_int_equal(found, 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_those_of_the_condition),
        cmocka_unit_test(a_prefix_of_all_ones_ends_with_the_partition_key),
        cmocka_unit_test(the_range_lies_where_the_items_are),
        cmocka_unit_test(ranges_of_strings_hold_what_a_plain_model_holds),
        cmocka_unit_test(ranges_of_binaries_hold_what_a_plain_model_holds),
        cmocka_unit_test(ranges_of_numbers_hold_what_a_plain_model_holds),
        cmocka_unit_test(segments_adjoin_and_cover_every_hash),
        cmocka_unit_test(every_hash_is_in_exactly_one_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
