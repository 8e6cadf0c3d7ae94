/* test_table_definition.c -- tables' records and lifecycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/compiler.h"
#include "model/number.h"
#include "model/table_definition.h"

static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_destroy(arena);
    return 0;
}

#define UUID "123e4567-e89b-42d3-a456-426614174000"

static struct table_definition small_table(void)
{
    struct key_attribute *attributes = arena_alloc(arena, sizeof(*attributes));
    attributes[0] = (struct key_attribute){ .name = BYTES("pk"), .type = VALUE_S };
    struct partition *partitions = arena_alloc_zeroed(arena, sizeof(*partitions));
    partitions[0].id = 7;
    return (struct table_definition){ .name = BYTES("abc"),
                                      .id = 1,
                                      .uuid = BYTES(UUID),
                                      .status = TABLE_ACTIVE,
                                      .key = { .hash = attributes[0] },
                                      .attributes = attributes,
                                      .attribute_count = 1,
                                      .partitions = partitions,
                                      .partition_count = 1,
                                      .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                      .warm_throughput = { UNITS_UNSET, UNITS_UNSET } };
}

static void fill_indexes(struct index_definition *indexes, const struct key_attribute *attributes)
{
    static struct bytes included[] = { { (const uint8_t *)"two", 3 },
                                       { (const uint8_t *)"one", 3 } };
    static struct partition partitions[] = {
        { .id = 4 },
        { .id = 5, .first_hash = UINT64_C(1) << 62, .parent_id = 4 },
        { .id = 6, .first_hash = UINT64_C(1) << 63 },
    };
    indexes[0] = (struct index_definition){ .name = { (const uint8_t *)"local", 5 },
                                            .id = 2,
                                            .hash_count = 1,
                                            .range_count = 1,
                                            .projection = PROJECTION_INCLUDE,
                                            .included = included,
                                            .included_count = 2,
                                            .on_demand_max = { UNITS_UNSET, UNITS_UNSET },
                                            .warm_throughput = { UNITS_UNSET, UNITS_UNSET } };
    indexes[1] = (struct index_definition){ .name = { (const uint8_t *)"global", 6 },
                                            .global = true,
                                            .id = UINT64_MAX,
                                            .hash_count = 2,
                                            .range_count = 1,
                                            .partitions = partitions,
                                            .partition_count = COUNT_OF(partitions),
                                            .projection = PROJECTION_KEYS_ONLY,
                                            .throughput = { 1, 2, 3, 4, 5 },
                                            .on_demand_max = { 10, UNITS_UNSET },
                                            .warm_throughput = { 12000, 4000 } };
    indexes[0].hash[0] = attributes[0];
    indexes[0].range[0] = attributes[2];
    indexes[1].hash[0] = attributes[2];
    indexes[1].hash[1] = attributes[1];
    indexes[1].range[0] = attributes[0];
}

/* A table that uses every field. */
static struct table_definition full_table(void)
{
    static struct key_attribute attributes[] = {
        { .name = { (const uint8_t *)"pk", 2 }, .type = VALUE_S },
        { .name = { (const uint8_t *)"sk", 2 }, .type = VALUE_N },
        { .name = { (const uint8_t *)"x", 1 }, .type = VALUE_B },
    };
    static struct tag tags[] = {
        { { (const uint8_t *)"a", 1 }, { (const uint8_t *)"", 0 } },
        { { (const uint8_t *)"b", 1 }, { (const uint8_t *)"v", 1 } },
    };
    static struct index_definition indexes[2];
    static struct partition partitions[] = {
        { .id = 3 },
        { .id = UINT64_MAX - 1, .first_hash = UINT64_C(1) << 63, .parent_id = 3 },
    };
    fill_indexes(indexes, attributes);
    return (struct table_definition){
        .name = BYTES("full_table"),
        .id = 12345678901234567890u,
        .uuid = BYTES(UUID),
        .created_ms = 1700000000000,
        .status = TABLE_UPDATING,
        .transition_at_ms = 1700000000123,
        .key = { .hash = attributes[0], .range = attributes[1], .has_range = true },
        .attributes = attributes,
        .attribute_count = COUNT_OF(attributes),
        .indexes = indexes,
        .index_count = COUNT_OF(indexes),
        .partitions = partitions,
        .partition_count = COUNT_OF(partitions),
        .billing_mode = BILLING_PAY_PER_REQUEST,
        .on_demand_since_ms = 1700000000000,
        .billing_mode_given = true,
        .throughput = { 1000000000000, 1, 2, 3, 4 },
        .on_demand_max = { 1, INT64_MAX },
        .warm_throughput = { INT64_MAX, 1 },
        .table_class = TABLE_CLASS_STANDARD_INFREQUENT_ACCESS,
        .table_class_given = true,
        .table_class_updated_ms = 5,
        .deletion_protected = true,
        .encryption_given = true,
        .encryption_key = BYTES("alias/k"),
        .stream_enabled = true,
        .stream_view_type = BYTES("KEYS_ONLY"),
        .stream_label = BYTES("2026-11-15T05:40:04.123"),
        .log_id = UINT64_MAX - 2,
        .recovery_since_ms = 1700000000001,
        .recovery_days = RECOVERY_DAYS_MAX,
        .resource_policy = { .text = BYTES("{}"), .revision = 6 },
        .stream_policy = { .text = BYTES("{ }"), .revision = 7 },
        .stream_policy_label = BYTES("2026-11-15T05:40:04.123"),
        .expiry = { .status = EXPIRY_FILLING,
                    .attribute = BYTES("expires"),
                    .filled = BYTES("12345678 and more") },
        .tags = { tags, COUNT_OF(tags) },
        .stream_tags = { tags, 1 },
    };
}

static void assert_same_text(struct bytes a, struct bytes b)
{
    assert_true((a.data == NULL) == (b.data == NULL));
    assert_true(bytes_equal(a, b));
}

static void assert_same_key(const struct key_attribute *a, const struct key_attribute *b)
{
    assert_same_text(a->name, b->name);
    assert_int_equal(a->type, b->type);
}

static void assert_same_partitions(const struct partition *a, size_t a_count,
                                   const struct partition *b, size_t b_count)
{
    assert_int_equal(a_count, b_count);
    for (size_t i = 0; i < a_count; i++)
        assert_memory_equal(&a[i], &b[i], sizeof(a[i]));
}

static void assert_same_index(const struct index_definition *a, const struct index_definition *b)
{
    assert_same_text(a->name, b->name);
    assert_int_equal(a->global, b->global);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->hash_count, b->hash_count);
    assert_int_equal(a->range_count, b->range_count);
    for (size_t i = 0; i < a->hash_count; i++)
        assert_same_key(&a->hash[i], &b->hash[i]);
    for (size_t i = 0; i < a->range_count; i++)
        assert_same_key(&a->range[i], &b->range[i]);
    assert_same_partitions(a->partitions, a->partition_count, b->partitions, b->partition_count);
    assert_int_equal(a->projection, b->projection);
    assert_int_equal(a->included_count, b->included_count);
    for (size_t i = 0; i < a->included_count; i++)
        assert_same_text(a->included[i], b->included[i]);
    assert_memory_equal(&a->throughput, &b->throughput, sizeof(a->throughput));
    assert_memory_equal(&a->on_demand_max, &b->on_demand_max, sizeof(a->on_demand_max));
    assert_memory_equal(&a->warm_throughput, &b->warm_throughput, sizeof(a->warm_throughput));
    assert_int_equal(a->status, b->status);
    assert_same_text(a->backfilled, b->backfilled);
}

static void assert_same_settings(const struct table_definition *a, const struct table_definition *b)
{
    assert_int_equal(a->model.mode, b->model.mode);
    assert_int_equal(a->model.updated_ms, b->model.updated_ms);
    assert_true(bytes_equal(a->model.text, b->model.text));
    assert_int_equal(a->billing_mode, b->billing_mode);
    assert_int_equal(a->on_demand_since_ms, b->on_demand_since_ms);
    assert_int_equal(a->billing_mode_given, b->billing_mode_given);
    assert_memory_equal(&a->throughput, &b->throughput, sizeof(a->throughput));
    assert_memory_equal(&a->on_demand_max, &b->on_demand_max, sizeof(a->on_demand_max));
    assert_memory_equal(&a->warm_throughput, &b->warm_throughput, sizeof(a->warm_throughput));
    assert_int_equal(a->table_class, b->table_class);
    assert_int_equal(a->table_class_given, b->table_class_given);
    assert_int_equal(a->table_class_updated_ms, b->table_class_updated_ms);
    assert_int_equal(a->deletion_protected, b->deletion_protected);
    assert_int_equal(a->encryption_given, b->encryption_given);
    assert_same_text(a->encryption_key, b->encryption_key);
    assert_int_equal(a->stream_enabled, b->stream_enabled);
    assert_same_text(a->stream_view_type, b->stream_view_type);
    assert_same_text(a->stream_label, b->stream_label);
    assert_true(a->log_id == b->log_id);
    assert_int_equal(a->recovery_since_ms, b->recovery_since_ms);
    assert_int_equal(a->recovery_days, b->recovery_days);
    assert_same_text(a->resource_policy.text, b->resource_policy.text);
    assert_int_equal(a->resource_policy.revision, b->resource_policy.revision);
    assert_same_text(a->stream_policy.text, b->stream_policy.text);
    assert_int_equal(a->stream_policy.revision, b->stream_policy.revision);
    assert_same_text(a->stream_policy_label, b->stream_policy_label);
    assert_int_equal(a->history.status, b->history.status);
    assert_int_equal(a->history.id, b->history.id);
    assert_int_equal(a->history.since_us, b->history.since_us);
    assert_int_equal(a->expiry.status, b->expiry.status);
    assert_same_text(a->expiry.attribute, b->expiry.attribute);
    assert_same_text(a->expiry.filled, b->expiry.filled);
}

static void assert_same_tags(const struct tag_list *a, const struct tag_list *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_same_text(a->elements[i].key, b->elements[i].key);
        assert_same_text(a->elements[i].value, b->elements[i].value);
    }
}

static void assert_same_table(const struct table_definition *a, const struct table_definition *b)
{
    assert_same_text(a->name, b->name);
    assert_int_equal(a->id, b->id);
    assert_same_text(a->uuid, b->uuid);
    assert_int_equal(a->created_ms, b->created_ms);
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->transition_at_ms, b->transition_at_ms);
    assert_same_key(&a->key.hash, &b->key.hash);
    assert_int_equal(a->key.has_range, b->key.has_range);
    if (a->key.has_range)
        assert_same_key(&a->key.range, &b->key.range);
    assert_int_equal(a->attribute_count, b->attribute_count);
    for (size_t i = 0; i < a->attribute_count; i++)
        assert_same_key(&a->attributes[i], &b->attributes[i]);
    assert_int_equal(a->index_count, b->index_count);
    for (size_t i = 0; i < a->index_count; i++)
        assert_same_index(&a->indexes[i], &b->indexes[i]);
    assert_same_partitions(a->partitions, a->partition_count, b->partitions, b->partition_count);
    assert_same_settings(a, b);
    assert_same_tags(&a->tags, &b->tags);
    assert_same_tags(&a->stream_tags, &b->stream_tags);
}

static void a_record_decodes_to_what_was_encoded(void **state)
{
    (void)state;
    const struct table_definition tables[] = { small_table(), full_table() };
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        struct item record = table_definition_encode(arena, &tables[i]);
        assert_true(item_verify(&record));
        struct table_definition decoded;
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_same_table(&tables[i], &decoded);
        struct item again = table_definition_encode(arena, &decoded);
        assert_true(bytes_equal(record.encoded, again.encoded));
    }
}

static void every_status_is_kept(void **state)
{
    (void)state;
    for (int status = 0; status < TABLE_STATUS_COUNT; status++) {
        struct table_definition table = small_table();
        table.status = (enum table_status)status;
        struct item record = table_definition_encode(arena, &table);
        struct table_definition decoded;
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_int_equal(decoded.status, status);
    }
}

static struct bytes encoded_number(unsigned __int128 coefficient, int16_t exponent)
{
    struct number number = { .coefficient = coefficient, .exponent = exponent };
    uint8_t bytes[NUMBER_ENCODED_MAX];
    size_t size = number_encode(&number, bytes);
    struct buffer out;
    buffer_init(&out, arena);
    value_append_number(&out, bytes_of(bytes, size));
    return buffer_bytes(&out);
}

static bool decodes(const struct item *record)
{
    struct table_definition decoded;
    return table_definition_decode(arena, record, &decoded);
}

/* The global index of the full table in a status, with a position of that many bytes. */
static struct item record_with_index(enum index_status status, size_t position_size)
{
    static const uint8_t position[BACKFILLED_SIZE_MAX + 1];
    struct table_definition table = full_table();
    table.expiry = (struct expiry_definition){ .status = EXPIRY_NONE };
    table.indexes[1].status = status;
    table.indexes[1].backfilled = bytes_of(position, position_size);
    return table_definition_encode(arena, &table);
}

static void a_model_is_kept_and_older_programs_refuse_its_record(void **state)
{
    (void)state;
    for (int mode = MODEL_OBSERVE; mode <= MODEL_ENFORCE; mode++) {
        struct table_definition table = full_table(), decoded;
        struct value version;
        table.model = (struct model_definition){ .mode = (enum model_mode)mode,
                                                 .text = BYTES("{\"Entities\":[]}"),
                                                 .updated_ms = 1700000000002 };
        struct item record = table_definition_encode(arena, &table);
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_same_table(&table, &decoded);
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(bytes_equal(version.encoded, encoded_number(7, 0)));
        table.model.text.len = 0;
        record = table_definition_encode(arena, &table);
        assert_false(decodes(&record));
    }
}

static void every_status_of_an_index_is_kept(void **state)
{
    (void)state;
    for (int status = 0; status < INDEX_STATUS_COUNT; status++) {
        struct item record = record_with_index((enum index_status)status, 0);
        struct table_definition decoded;
        struct value version;
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_int_equal(decoded.indexes[1].status, status);
        /* Programs that know of no status refuse the record. */
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(
            bytes_equal(version.encoded, encoded_number(status == INDEX_ACTIVE ? 1 : 2, 0)));
    }
}

static void a_table_that_a_job_fills_is_kept_with_its_origin(void **state)
{
    (void)state;
    for (int kind = TABLE_ORIGIN_BACKUP; kind <= TABLE_ORIGIN_IMPORT; kind++) {
        struct table_definition table = small_table(), decoded;
        struct value version;
        table.status = TABLE_CREATING;
        table.origin = (struct origin_definition){ .kind = (enum table_origin)kind,
                                                   .job_id = BYTES("01763300000123-00000abc"),
                                                   .backup_arn = BYTES("arn:backup"),
                                                   .table_arn = BYTES("arn:table"),
                                                   .restored_ms = 1763300000123 };
        struct item record = table_definition_encode(arena, &table);
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_int_equal(decoded.origin.kind, kind);
        assert_same_text(decoded.origin.job_id, table.origin.job_id);
        assert_same_text(decoded.origin.backup_arn, table.origin.backup_arn);
        assert_same_text(decoded.origin.table_arn, table.origin.table_arn);
        assert_int_equal(decoded.origin.restored_ms, table.origin.restored_ms);
        /* Programs that know nothing of jobs refuse the record. */
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(bytes_equal(version.encoded, encoded_number(6, 0)));

        table.status = TABLE_ACTIVE; /* Half a table must not be in use. */
        record = table_definition_encode(arena, &table);
        assert_false(decodes(&record));
        table.status = TABLE_CREATING;
        table.transition_at_ms = 1;
        record = table_definition_encode(arena, &table);
        assert_false(decodes(&record));
        table.transition_at_ms = 0;
        table.origin.job_id = (struct bytes){ 0 };
        record = table_definition_encode(arena, &table);
        assert_false(decodes(&record));
    }
}

static void a_position_is_bounded_and_belongs_to_a_backfill(void **state)
{
    (void)state;
    static const struct {
        enum index_status status;
        size_t size;
        bool decodes;
    } cases[] = {
        { INDEX_BACKFILLING, BACKFILLED_SIZE_MIN - 1, false },
        { INDEX_BACKFILLING, BACKFILLED_SIZE_MIN, true },
        { INDEX_BACKFILLING, BACKFILLED_SIZE_MAX, true },
        { INDEX_BACKFILLING, BACKFILLED_SIZE_MAX + 1, false },
        { INDEX_ACTIVE, BACKFILLED_SIZE_MIN, false },
        { INDEX_ALLOCATING, BACKFILLED_SIZE_MIN, false },
        { INDEX_DELETING, BACKFILLED_SIZE_MIN, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item record = record_with_index(cases[i].status, cases[i].size);
        assert_int_equal(decodes(&record), cases[i].decodes);
    }
}

/* The small table with time to live in a status, and a position of that many bytes. */
static struct item record_with_expiry(enum expiry_status status, struct bytes attribute,
                                      size_t position_size)
{
    static const uint8_t position[BACKFILLED_SIZE_MAX + 1];
    struct table_definition table = small_table();
    table.expiry = (struct expiry_definition){ .status = status,
                                               .attribute = attribute,
                                               .filled = bytes_of(position, position_size) };
    return table_definition_encode(arena, &table);
}

static void every_status_of_time_to_live_is_kept(void **state)
{
    (void)state;
    for (int status = 0; status < EXPIRY_STATUS_COUNT; status++) {
        struct item record = record_with_expiry((enum expiry_status)status, BYTES("a"), 0);
        struct table_definition decoded;
        struct value version;
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_int_equal(decoded.expiry.status, status);
        assert_int_equal(decoded.expiry.attribute.len, status == EXPIRY_NONE ? 0 : 1);
        /* Programs that know of no queue refuse the record. */
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(bytes_equal(version.encoded, encoded_number(status == EXPIRY_NONE ? 1 : 3, 0)));
    }
}

static struct item record_with_history(enum history_status status, uint64_t id, int64_t since_us)
{
    struct table_definition table = small_table();
    table.history = (struct history_definition){ .status = status, .id = id, .since_us = since_us };
    return table_definition_encode(arena, &table);
}

static void every_status_of_a_history_is_kept(void **state)
{
    (void)state;
    for (int status = 0; status < HISTORY_STATUS_COUNT; status++) {
        struct item record =
            record_with_history((enum history_status)status, 7, status == HISTORY_ACTIVE ? 9 : 0);
        struct table_definition decoded;
        struct value version;
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_int_equal(decoded.history.status, status);
        assert_int_equal(decoded.history.id, status == HISTORY_NONE ? 0 : 7);
        assert_int_equal(decoded.history.since_us, status == HISTORY_ACTIVE ? 9 : 0);
        /* Programs that know of no history refuse the record. */
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(
            bytes_equal(version.encoded, encoded_number(status == HISTORY_NONE ? 1 : 5, 0)));
    }
}

#define QUARTER (UINT64_C(1) << 62)

static void splits_are_kept_and_older_programs_refuse_their_record(void **state)
{
    (void)state;
    struct partition splits[] = { { .id = 9, .first_hash = 1, .parent_id = 7 },
                                  { .id = 8, .first_hash = QUARTER, .parent_id = 7 } };
    for (uint64_t under_way = 8; under_way <= 10; under_way++) {
        struct table_definition table = small_table(), decoded;
        struct value version;
        table.splits = splits;
        table.split_count = COUNT_OF(splits);
        table.splitting_id = under_way == 10 ? 0 : under_way;
        struct item record = table_definition_encode(arena, &table);
        assert_true(table_definition_decode(arena, &record, &decoded));
        assert_same_partitions(decoded.splits, decoded.split_count, splits, COUNT_OF(splits));
        assert_int_equal(decoded.splitting_id, table.splitting_id);
        assert_true(item_find(&record, BYTES("v"), &version));
        assert_true(bytes_equal(version.encoded, encoded_number(9, 0)));
    }
}

static void splits_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct partition splits[2];
        size_t count;
        uint64_t under_way;
        bool accepted;
    } cases[] = {
        { { { 8, QUARTER, 7 }, { 9, 2 * QUARTER, 8 } }, 2, 9, true },
        { { { 8, QUARTER, 7 }, { 9, 2 * QUARTER, 8 } }, 2, 10, false }, /* None of them. */
        { { { 8, QUARTER, 7 }, { 9, QUARTER, 8 } }, 2, 0, false },     /* No border between them. */
        { { { 9, QUARTER, 8 }, { 8, 2 * QUARTER, 7 } }, 2, 0, false }, /* Before its parent. */
        { { { 8, QUARTER, 6 } }, 1, 0, false },                        /* Of nobody. */
        { { { 8, QUARTER, 8 } }, 1, 0, false },                        /* Of itself. */
        { { { 0, QUARTER, 7 } }, 1, 0, false },
        { { { 8, 0, 7 } }, 1, 0, false }, /* Where a place begins. */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table_definition table = small_table(), decoded;
        struct partition splits[] = { cases[i].splits[0], cases[i].splits[1] };
        struct item record;
        table.splits = splits;
        table.split_count = cases[i].count;
        table.splitting_id = cases[i].under_way;
        record = table_definition_encode(arena, &table);
        assert_int_equal(table_definition_decode(arena, &record, &decoded), cases[i].accepted);
    }
}

static void a_history_has_an_owner_and_a_beginning(void **state)
{
    (void)state;
    static const struct {
        enum history_status status;
        uint64_t id;
        int64_t since_us;
    } cases[] = {
        { HISTORY_ACTIVE, 0, 9 },  { HISTORY_ACTIVE, 7, 0 },  { HISTORY_ACTIVE, 7, -1 },
        { HISTORY_OPENING, 7, 9 }, { HISTORY_CLOSING, 7, 9 }, { HISTORY_CLOSING, 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item record = record_with_history(cases[i].status, cases[i].id, cases[i].since_us);
        assert_false(decodes(&record));
    }
}

static void time_to_live_has_an_attribute_and_a_bounded_position(void **state)
{
    (void)state;
    static const uint8_t name[3 * KEY_ATTRIBUTE_NAME_SIZE_MAX + 1] = "a";
    static const struct {
        enum expiry_status status;
        size_t name_size;
        size_t position_size;
        bool decodes;
    } cases[] = {
        { EXPIRY_ACTIVE, 0, 0, false },
        { EXPIRY_ACTIVE, 1, 0, true },
        { EXPIRY_ACTIVE, sizeof name - 1, 0, true },
        { EXPIRY_ACTIVE, sizeof name, 0, false },
        { EXPIRY_FILLING, 1, BACKFILLED_SIZE_MIN - 1, false },
        { EXPIRY_FILLING, 1, BACKFILLED_SIZE_MIN, true },
        { EXPIRY_FILLING, 1, BACKFILLED_SIZE_MAX, true },
        { EXPIRY_FILLING, 1, BACKFILLED_SIZE_MAX + 1, false },
        { EXPIRY_ALLOCATING, 1, BACKFILLED_SIZE_MIN, false },
        { EXPIRY_ACTIVE, 1, BACKFILLED_SIZE_MIN, false },
        { EXPIRY_REMOVING, 1, BACKFILLED_SIZE_MIN, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item record = record_with_expiry(cases[i].status, bytes_of(name, cases[i].name_size),
                                                cases[i].position_size);
        assert_int_equal(decodes(&record), cases[i].decodes);
    }
    struct item nameless = record_with_expiry(EXPIRY_ACTIVE, (struct bytes){ 0 }, 0);
    assert_false(decodes(&nameless));
}

static void an_index_goes_with_the_definitions_that_only_it_refers_to(void **state)
{
    (void)state;
    struct table_definition table = full_table();
    table_definition_remove_index(arena, &table, UINT64_MAX);
    assert_int_equal(table.index_count, 1);
    assert_same_text(table.indexes[0].name, BYTES("local"));
    assert_int_equal(table.attribute_count, 3); /* The local index has x as well. */
    table_definition_remove_index(arena, &table, 2);
    assert_int_equal(table.index_count, 0);
    assert_int_equal(table.attribute_count, 2);
    assert_null(table_definition_attribute(&table, BYTES("x")));
    struct item record = table_definition_encode(arena, &table);
    assert_true(decodes(&record));
}

static void an_index_that_is_being_deleted_uses_nothing(void **state)
{
    (void)state;
    struct table_definition table = full_table();
    assert_true(table_definition_uses_attribute(&table, BYTES("x")));
    assert_false(table_definition_uses_attribute(&table, BYTES("y")));
    table.indexes[0].status = table.indexes[1].status = INDEX_DELETING;
    assert_false(table_definition_uses_attribute(&table, BYTES("x")));
    assert_true(table_definition_uses_attribute(&table, BYTES("pk")));
    assert_true(table_definition_uses_attribute(&table, BYTES("sk")));
}

/* --- Damaged records: one attribute replaced or taken away --- */

/* The record of the full table with `name` set to `value`; `value` NULL data removes it. */
static struct item changed_record(const char *name, struct bytes value)
{
    struct table_definition table = full_table();
    struct item record = table_definition_encode(arena, &table);
    struct item_builder builder;
    struct item_iter iter;
    struct bytes attribute;
    struct value old;
    item_builder_init(&builder, arena);
    item_iter_init(&iter, &record);
    while (item_iter_next(&iter, &attribute, &old)) {
        if (!bytes_equal_text(attribute, name))
            item_builder_add(&builder, attribute, old.encoded);
    }
    if (value.data != NULL)
        item_builder_add(&builder, bytes_from_text(name), value);
    return item_builder_finish(&builder);
}

static void a_record_needs_its_required_attributes(void **state)
{
    (void)state;
    static const char *const required[] = { "v", "n", "id", "u", "s", "k", "a", "i", "p", "bm", "t",
                                            "o", "w", "tc", "g",
                                            /* Since the stream is enabled: */
                                            "xv", "xl" };
    for (size_t i = 0; i < COUNT_OF(required); i++) {
        struct item record = changed_record(required[i], (struct bytes){ 0 });
        if (decodes(&record))
            fail_msg("decoded without %s", required[i]);
    }
}

static void attributes_of_another_type_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "v",  "n",  "id", "u",  "c",  "s",  "sa", "k",  "a",  "i",
                                         "p",  "bm", "bg", "bs", "t",  "o",  "w",  "tc", "tg", "tu",
                                         "dp", "e",  "ek", "x",  "xv", "xl", "l",  "rp", "g",  "ps",
                                         "pd", "rr", "xp", "xr", "xo", "qs", "qa", "qf" };
    struct buffer null;
    buffer_init(&null, arena);
    value_append_null(&null);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct item record = changed_record(names[i], buffer_bytes(&null));
        if (decodes(&record))
            fail_msg("decoded with %s as NULL", names[i]);
    }
}

static void unknown_attributes_are_ignored(void **state)
{
    (void)state;
    struct buffer text;
    buffer_init(&text, arena);
    value_append_string(&text, BYTES("from the future"));
    struct item record = changed_record("future", buffer_bytes(&text));
    assert_true(decodes(&record));
}

static struct bytes encoded_text(struct bytes text)
{
    struct buffer out;
    buffer_init(&out, arena);
    value_append_string(&out, text);
    return buffer_bytes(&out);
}

static void values_that_encoding_never_writes_are_refused(void **state)
{
    (void)state;
    struct buffer no;
    buffer_init(&no, arena);
    value_append_bool(&no, false);
    const struct {
        const char *name;
        struct bytes value;
    } cases[] = {
        { "v", encoded_number(1, 0) }, /* With time to live. */
        { "v", encoded_number(2, 0) }, /* The same. */
        { "v", encoded_number(4, 0) }, /* A later version. */
        { "qs", encoded_text(BYTES("NONE")) },
        { "qs", encoded_text(BYTES("ENABLED")) },
        { "qs", (struct bytes){ 0 } }, /* An attribute without a status. */
        { "qa", (struct bytes){ 0 } },
        { "c", encoded_number(0, 0) },  /* Zero is absence. */
        { "c", encoded_number(5, -1) }, /* A fraction. */
        { "c", encoded_number(1, 19) }, /* Above 63 bits. */
        { "id", encoded_number(((unsigned __int128)1 << 64) + 1, 0) },
        { "dp", buffer_bytes(&no) }, /* False is absence. */
        { "n", encoded_text(BYTES("ab")) },
        { "u", encoded_text(BYTES("not 36 characters")) },
        { "s", encoded_text(BYTES("ARCHIVED")) },
        { "bm", encoded_text(BYTES("FREE")) },
        { "tc", encoded_text(BYTES("GOLD")) },
        { "ps", (struct bytes){ 0 } }, /* A period without its beginning. */
        { "pd", (struct bytes){ 0 } },
        { "pd", encoded_number(36, 0) },
        { "rr", encoded_number(0, 0) },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct item record = changed_record(cases[i].name, cases[i].value);
        if (decodes(&record))
            fail_msg("case %zu: %s", i, cases[i].name);
    }
}

/* Encoding trusts its input, so it can write definitions that decoding must refuse. */
static void definitions_out_of_bounds_are_refused(void **state)
{
    (void)state;
    struct table_definition table;
    struct item record;

    table = full_table();
    table.key.hash.name = BYTES("undefined");
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));

    table = full_table();
    table.index_count = 0;
    table.attributes[2].name = table.attributes[0].name; /* Defined twice. */
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));
    table.attributes[2].name = BYTES("x");

    char label[STREAM_LABEL_SIZE_MAX + 1];
    memset(label, 'x', sizeof label);
    table = full_table();
    table.stream_label = bytes_of(label, STREAM_LABEL_SIZE_MAX);
    record = table_definition_encode(arena, &table);
    assert_true(decodes(&record));
    table.stream_label = bytes_of(label, STREAM_LABEL_SIZE_MAX + 1);
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));

    table = full_table();
    table.indexes[1].name = table.indexes[0].name;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));
    table.indexes[1].name = BYTES("global");

    table = full_table(); /* Local indexes come first. */
    struct index_definition swapped[] = { table.indexes[1], table.indexes[0] };
    table.indexes = swapped;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));

    table = full_table();
    table.partitions[1].first_hash = 0;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));
    table.partitions[1].first_hash = UINT64_C(1) << 63;

    table = full_table();
    table.indexes[1].partitions[1].first_hash = 0;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));
    table.indexes[1].partitions[1].first_hash = UINT64_C(1) << 62;

    table = full_table(); /* A global index has partitions of its own. */
    table.indexes[1].partition_count = 0;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));

    table = full_table();
    table.partition_count = 0;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));

    table = full_table();
    table.throughput.read_units = -1;
    record = table_definition_encode(arena, &table);
    assert_false(decodes(&record));
}

static void the_longest_names_fit(void **state)
{
    (void)state;
    /* 255 UTF-16 units of three bytes each, one byte below the limit, at it and above. */
    enum { SIZE_MAX_OF_NAME = KEY_ATTRIBUTE_NAME_SIZE_MAX * 3 };
    static uint8_t name[SIZE_MAX_OF_NAME + 1];
    memset(name, 'n', sizeof(name));
    for (size_t size = SIZE_MAX_OF_NAME - 1; size <= SIZE_MAX_OF_NAME + 1; size++) {
        struct table_definition table = small_table();
        table.attributes[0].name = bytes_of(name, size);
        table.key.hash = table.attributes[0];
        struct item record = table_definition_encode(arena, &table);
        assert_int_equal(decodes(&record), size <= SIZE_MAX_OF_NAME);
    }
}

static void the_number_of_tags_is_bounded(void **state)
{
    (void)state;
    static struct tag tags[TAGS_MAX + 1];
    static char keys[TAGS_MAX + 1][4];
    for (int i = 0; i <= TAGS_MAX; i++) {
        keys[i][0] = (char)('0' + i / 10);
        keys[i][1] = (char)('0' + i % 10);
        tags[i] = (struct tag){ .key = bytes_from_text(keys[i]), .value = BYTES("v") };
    }
    for (size_t count = TAGS_MAX - 1; count <= TAGS_MAX + 1; count++) {
        struct table_definition table = small_table();
        table.tags = (struct tag_list){ tags, count };
        struct item record = table_definition_encode(arena, &table);
        assert_int_equal(decodes(&record), count <= TAGS_MAX);
    }
}

static void the_size_of_policies_is_bounded(void **state)
{
    (void)state;
    static uint8_t text[RESOURCE_POLICY_SIZE_MAX + 1];
    memset(text, ' ', sizeof(text));
    for (size_t size = RESOURCE_POLICY_SIZE_MAX - 1; size <= RESOURCE_POLICY_SIZE_MAX + 1; size++) {
        struct table_definition table = small_table();
        table.resource_policy.text = bytes_of(text, size);
        struct item record = table_definition_encode(arena, &table);
        assert_int_equal(decodes(&record), size <= RESOURCE_POLICY_SIZE_MAX);
        table.stream_policy.text = table.resource_policy.text;
        table.resource_policy.text = (struct bytes){ 0 };
        record = table_definition_encode(arena, &table);
        assert_int_equal(decodes(&record), size <= RESOURCE_POLICY_SIZE_MAX);
    }
}

/* --- Finding --- */

static void indexes_and_attributes_are_found_by_name(void **state)
{
    (void)state;
    struct table_definition table = full_table();
    assert_ptr_equal(table_definition_index(&table, BYTES("global")), &table.indexes[1]);
    assert_null(table_definition_index(&table, BYTES("globa")));
    assert_ptr_equal(table_definition_attribute(&table, BYTES("x")), &table.attributes[2]);
    assert_null(table_definition_attribute(&table, BYTES("y")));
}

static void words_and_enumerations_correspond(void **state)
{
    (void)state;
    enum table_status status;
    enum billing_mode mode;
    enum table_class table_class;
    enum projection_type projection;
    for (int i = 0; i < TABLE_STATUS_COUNT; i++) {
        assert_true(
            table_status_parse(bytes_from_text(table_status_name((enum table_status)i)), &status));
        assert_int_equal(status, i);
    }
    assert_true(billing_mode_parse(BYTES("PAY_PER_REQUEST"), &mode));
    assert_string_equal(billing_mode_name(mode), "PAY_PER_REQUEST");
    assert_true(table_class_parse(BYTES("STANDARD_INFREQUENT_ACCESS"), &table_class));
    assert_string_equal(table_class_name(table_class), "STANDARD_INFREQUENT_ACCESS");
    assert_true(projection_type_parse(BYTES("KEYS_ONLY"), &projection));
    assert_string_equal(projection_type_name(projection), "KEYS_ONLY");
    assert_false(billing_mode_parse(BYTES("pay_per_request"), &mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_decodes_to_what_was_encoded),
        cmocka_unit_test(every_status_is_kept),
        cmocka_unit_test(a_model_is_kept_and_older_programs_refuse_its_record),
        cmocka_unit_test(every_status_of_an_index_is_kept),
        cmocka_unit_test(a_position_is_bounded_and_belongs_to_a_backfill),
        cmocka_unit_test(every_status_of_time_to_live_is_kept),
        cmocka_unit_test(every_status_of_a_history_is_kept),
        cmocka_unit_test(splits_are_kept_and_older_programs_refuse_their_record),
        cmocka_unit_test(splits_that_cannot_be_are_refused),
        cmocka_unit_test(a_history_has_an_owner_and_a_beginning),
        cmocka_unit_test(time_to_live_has_an_attribute_and_a_bounded_position),
        cmocka_unit_test(an_index_goes_with_the_definitions_that_only_it_refers_to),
        cmocka_unit_test(an_index_that_is_being_deleted_uses_nothing),
        cmocka_unit_test(a_record_needs_its_required_attributes),
        cmocka_unit_test(attributes_of_another_type_are_refused),
        cmocka_unit_test(unknown_attributes_are_ignored),
        cmocka_unit_test(values_that_encoding_never_writes_are_refused),
        cmocka_unit_test(definitions_out_of_bounds_are_refused),
        cmocka_unit_test(the_longest_names_fit),
        cmocka_unit_test(the_number_of_tags_is_bounded),
        cmocka_unit_test(a_table_that_a_job_fills_is_kept_with_its_origin),
        cmocka_unit_test(the_size_of_policies_is_bounded),
        cmocka_unit_test(indexes_and_attributes_are_found_by_name),
        cmocka_unit_test(words_and_enumerations_correspond),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
