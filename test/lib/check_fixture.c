/* check_fixture.c -- see check_fixture.h. */
#include "check_fixture.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/random.h"
#include "engine_fixture.h"
#include "failing_engine.h"
#include "index/index_entry.h"
#include "model/table_definition.h"
#include "reference_engine.h"
#include "table/catalogue.h"

enum { ITEMS = 40, BODY_MAX = 1024, PROBLEMS_MAX = 400 };

/* Pieces of a request, each in braces. */
#define HASH(name) "{'AttributeName':'" name "','KeyType':'HASH'}"
#define RANGE(name) "{'AttributeName':'" name "','KeyType':'RANGE'}"
#define TYPE(name, type) "{'AttributeName':'" name "','AttributeType':'" type "'}"
#define INDEX(name, keys, projection)                                                              \
    "{'IndexName':'" name "','KeySchema':[" keys "],'Projection':{" projection "}}"
#define KEYS_ONLY "'ProjectionType':'KEYS_ONLY'"
#define ALL "'ProjectionType':'ALL'"
#define INCLUDE(name) "'ProjectionType':'INCLUDE','NonKeyAttributes':['" name "']"

#define TYPES                                                                                      \
    TYPE("p", "S")                                                                                 \
    "," TYPE("s", "N") "," TYPE("d", "S") "," TYPE("g", "S") "," TYPE("h", "N") "," TYPE("x", "S")
#define TABLE_KEYS HASH("p") "," RANGE("s")
#define BY_DATE INDEX("by-date", HASH("p") "," RANGE("d"), INCLUDE("x"))
#define BY_NUMBER INDEX("by-number", HASH("p") "," RANGE("h"), KEYS_ONLY)
#define BY_GROUP INDEX("by-group", HASH("g") "," RANGE("h"), KEYS_ONLY)
#define WHOLE INDEX("all", HASH("g"), ALL)
#define MULTIPLE_KEYS HASH("g") "," HASH("d") "," RANGE("h") "," RANGE("x")
#define MULTIPLE INDEX("multiple", MULTIPLE_KEYS, INCLUDE("note"))

static const char create_orders[] =
    "{'TableName':'orders','BillingMode':'PAY_PER_REQUEST'"
    ",'AttributeDefinitions':[" TYPES "],'KeySchema':[" TABLE_KEYS
    "],'LocalSecondaryIndexes':[" BY_DATE "," BY_NUMBER "],'GlobalSecondaryIndexes':[" BY_GROUP
    "," WHOLE "," MULTIPLE "]}";

static void call(struct check_fixture *fixture, const char *operation, const char *body)
{
    if (!api_fixture_call(&fixture->api, operation, body))
        fail_msg("%s %s\n got: %.*s", operation, body, BYTES_FMT(fixture->api.error.message));
}

/* --- Filling --- */

/* Sparse: each attribute that an index needs is there three times out of four. */
static void write_attributes(struct random *random, char *out, size_t out_size)
{
    bool has[4];
    for (size_t i = 0; i < 4; i++)
        has[i] = random_below(random, 4) > 0;
    unsigned value = (unsigned)random_below(random, 5);
    snprintf(out, out_size, "%s%s%s%s,'note':{'L':[{'S':'n'},{'N':'%u'}]}",
             has[0] ? ",'d':{'S':'2024-01'}" : "", has[1] ? ",'g':{'S':'open'}" : "",
             has[2] ? ",'h':{'N':'12.5'}" : "", has[3] ? ",'x':{'S':'some'}" : "", value);
}

static void write_one(struct check_fixture *fixture, struct random *random)
{
    char body[BODY_MAX], key[BODY_MAX / 4], attributes[BODY_MAX / 2];
    snprintf(key, sizeof key, "'p':{'S':'customer-%u'},'s':{'N':'%u'}",
             (unsigned)random_below(random, 8), (unsigned)random_below(random, 8));
    switch (random_below(random, 4)) {
    case 0:
        snprintf(body, sizeof body, "{'TableName':'orders','Key':{%s}}", key);
        call(fixture, "DeleteItem", body);
        break;
    case 1:
        snprintf(body, sizeof body,
                 "{'TableName':'orders','Key':{%s},'UpdateExpression':'SET g = :g REMOVE d ADD h "
                 ":h','ExpressionAttributeValues':{':g':{'S':'%s'},':h':{'N':'1'}}}",
                 key, random_below(random, 2) == 0 ? "open" : "closed");
        call(fixture, "UpdateItem", body);
        break;
    default:
        write_attributes(random, attributes, sizeof attributes);
        snprintf(body, sizeof body, "{'TableName':'orders','Item':{%s%s}}", key, attributes);
        call(fixture, "PutItem", body);
        break;
    }
}

void check_fixture_write_random(struct check_fixture *fixture, uint64_t seed, size_t count)
{
    struct random random;
    random_init(&random, seed);
    for (size_t i = 0; i < count; i++)
        write_one(fixture, &random);
}

/* The definition, decoded from the catalogue as a server would. */
static const struct table_definition *read_definition(struct check_fixture *fixture)
{
    enum engine_status status;
    struct catalogue *catalogue = catalogue_open(fixture->engine, &status);
    assert_non_null(catalogue);
    struct table *table = catalogue_find(catalogue, BYTES("orders"));
    assert_non_null(table);
    struct item record = table_definition_encode(fixture->arena, table_definition(table));
    struct table_definition *copy = arena_alloc(fixture->arena, sizeof *copy);
    assert_true(table_definition_decode(fixture->arena, &record, copy));
    table_release(table);
    catalogue_close(catalogue);
    return copy;
}

void check_fixture_open(struct check_fixture *fixture)
{
    fixture->engine = failing_engine_create(reference_engine_create());
    fixture->arena = arena_create();
    api_fixture_open_on(&fixture->api, fixture->engine, 0);
    call(fixture, "CreateTable", create_orders);
    for (int i = 0; i < ITEMS; i++) {
        char body[BODY_MAX];
        snprintf(body, sizeof body,
                 "{'TableName':'orders','Item':{'p':{'S':'c%d'},'s':{'N':'%d'},'d':{'S':'%d'},"
                 "'g':{'S':'g%d'},'h':{'N':'%d'},'x':{'S':'x'},'note':{'S':'n'}}}",
                 i % 7, i, i % 3, i % 5, i);
        call(fixture, "PutItem", body);
    }
    fixture->orders = read_definition(fixture);
    assert_int_equal(fixture->orders->index_count, CHECK_FIXTURE_INDEX_COUNT);
}

void check_fixture_close(struct check_fixture *fixture)
{
    api_fixture_close(&fixture->api);
    arena_destroy(fixture->arena);
}

/* --- Checking --- */

struct lines {
    struct arena *arena;
    const char *lines[PROBLEMS_MAX];
    size_t count;
};

static void keep_line(void *context, const char *line)
{
    struct lines *lines = context;
    assert_true(lines->count < PROBLEMS_MAX);
    lines->lines[lines->count++] =
        (const char *)arena_copy(lines->arena, bytes_of(line, strlen(line) + 1)).data;
}

struct check_result check_fixture_expect(struct check_fixture *fixture, const char *const *want)
{
    struct lines lines = { .arena = fixture->arena };
    struct check_result result = check_store(fixture->engine, keep_line, &lines);
    assert_int_equal(result.problem_count, lines.count);
    size_t i = 0;
    for (; want[i] != NULL && i < lines.count; i++) {
        if (fnmatch(want[i], lines.lines[i], 0) != 0)
            fail_msg("problem %zu\n got: %s\nwant: %s", i, lines.lines[i], want[i]);
    }
    if (i < lines.count)
        fail_msg("beyond what was expected: %s", lines.lines[i]);
    if (want[i] != NULL)
        fail_msg("not found: %s", want[i]);
    return result;
}

/* --- Entries of the store --- */

static bool first_of(struct check_fixture *fixture, struct engine_view *view,
                     struct engine_place place, struct check_fixture_entry *out)
{
    struct engine_range range = { .place = place };
    struct engine_scan *scan;
    struct engine_entry entry;
    bool found = false;
    assert_int_equal(engine_scan_open(view, &range, &scan), ENGINE_OK);
    while (!found && engine_scan_next(scan, &entry) == ENGINE_OK) {
        struct item item;
        struct item_address expected;
        assert_true(item_open(entry.value, &item));
        found = true;
        for (size_t i = 0; i < fixture->orders->index_count; i++)
            found &= index_entry_locate(fixture->arena, fixture->orders,
                                        &fixture->orders->indexes[i], &item, &expected);
        *out = (struct check_fixture_entry){ .place = place,
                                             .key = arena_copy(fixture->arena, entry.key),
                                             .value = arena_copy(fixture->arena, entry.value) };
    }
    engine_scan_close(scan);
    return found;
}

struct check_fixture_entry check_fixture_item(struct check_fixture *fixture)
{
    struct check_fixture_entry item = { 0 };
    struct engine_view *view = engine_fixture_view(fixture->engine);
    bool found = false;
    for (size_t i = 0; i < fixture->orders->partition_count && !found; i++)
        found = first_of(
            fixture, view,
            item_address_of_hash(fixture->orders, fixture->orders->partitions[i].first_hash),
            &item);
    engine_view_close(view);
    assert_true(found);
    return item;
}

struct check_fixture_entry check_fixture_entry_of(struct check_fixture *fixture, size_t index,
                                                  const struct check_fixture_entry *stored)
{
    struct item item;
    struct item_address place;
    struct engine_value value;
    assert_true(item_open(stored->value, &item));
    assert_true(index_entry_locate(fixture->arena, fixture->orders,
                                   &fixture->orders->indexes[index], &item, &place));
    struct engine_view *view = engine_fixture_view(fixture->engine);
    assert_int_equal(engine_view_get(view, &place.address, &value), ENGINE_OK);
    struct check_fixture_entry entry = { .place = place.address.place,
                                         .key = place.address.key,
                                         .value = arena_copy(fixture->arena, value.bytes) };
    engine_value_release(&value);
    engine_view_close(view);
    return entry;
}

struct check_fixture_entry check_fixture_flip(struct check_fixture *fixture,
                                              struct check_fixture_entry entry)
{
    uint8_t *copy = (uint8_t *)arena_copy(fixture->arena, entry.value).data;
    copy[entry.value.len - 1] ^= 1;
    entry.value = bytes_of(copy, entry.value.len);
    return entry;
}

void check_fixture_put(struct check_fixture *fixture, const struct check_fixture_entry *entry)
{
    engine_fixture_put(fixture->engine, entry->place, entry->key, entry->value);
}

void check_fixture_delete(struct check_fixture *fixture, const struct check_fixture_entry *entry)
{
    engine_fixture_delete(fixture->engine, entry->place, entry->key);
}
