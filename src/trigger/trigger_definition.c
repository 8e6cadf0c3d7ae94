/* trigger_definition.c -- see trigger_definition.h. */
#include "trigger/trigger_definition.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "consumer/consumer_position.h"
#include "http/url.h"
#include "model/error.h"
#include "model/item_record.h"
#include "model/limits.h"
#include "trigger/event_filter.h"

enum {
    FLAG_FROM_LATEST = 1,
    FLAG_BISECT = 2,
    FLAG_REPORTS_FAILURES = 4,
    FLAGS_ALL = 7,
    LABEL_SIZE_MAX = 64,
};

/* In the order in which they are stored. */
enum {
    NUMBER_LOG,
    NUMBER_CREATED,
    NUMBER_BATCH_SIZE,
    NUMBER_WINDOW,
    NUMBER_TIMEOUT,
    NUMBER_RETRIES, /* Plus one: unlimited is 0. */
    NUMBER_AGE,     /* The same. */
    NUMBER_FLAGS,
    NUMBER_COUNT,
};

/* Attributes of the patterns, without gaps. */
static const char *const filter_names[TRIGGER_FILTERS_MAX] = { "f0", "f1", "f2", "f3", "f4",
                                                               "f5", "f6", "f7", "f8", "f9" };

static bool is_file_symbol(uint8_t symbol)
{
    return (symbol >= 'a' && symbol <= 'z') || (symbol >= 'A' && symbol <= 'Z') ||
           (symbol >= '0' && symbol <= '9') || symbol == '.' || symbol == '_' || symbol == '-';
}

bool trigger_definition_is_file_name(struct bytes name)
{
    if (name.len == 0 || name.len > TRIGGER_DEAD_LETTER_FILE_SIZE_MAX || name.data[0] == '.')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_file_symbol(name.data[i]))
            return false;
    }
    return true;
}

const char *trigger_definition_url_problem(struct bytes url)
{
    struct http_url ignored;
    return http_url_parse(url, &ignored);
}

struct bytes trigger_definition_shown_url(struct arena *arena,
                                          const struct trigger_definition *definition)
{
    return url_without_secrets(arena, definition->url);
}

struct item trigger_definition_encode(struct arena *arena,
                                      const struct trigger_definition *definition)
{
    const uint64_t numbers[NUMBER_COUNT] = {
        [NUMBER_LOG] = definition->log_id,
        [NUMBER_CREATED] = (uint64_t)definition->created_ms,
        [NUMBER_BATCH_SIZE] = (uint64_t)definition->batch_size,
        [NUMBER_WINDOW] = (uint64_t)definition->window_s,
        [NUMBER_TIMEOUT] = (uint64_t)definition->timeout_s,
        [NUMBER_RETRIES] = (uint64_t)(definition->retries_max + 1),
        [NUMBER_AGE] = (uint64_t)(definition->age_max_s + 1),
        [NUMBER_FLAGS] = (definition->from_latest ? FLAG_FROM_LATEST : 0u) |
                         (definition->bisect ? FLAG_BISECT : 0u) |
                         (definition->reports_failures ? FLAG_REPORTS_FAILURES : 0u),
    };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", definition->table_name);
    item_record_add_text(&builder, "l", definition->label);
    item_record_add_text(&builder, "u", definition->url);
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    if (definition->dead_letter_file.len > 0)
        item_record_add_text(&builder, "d", definition->dead_letter_file);
    assert(definition->filter_count <= TRIGGER_FILTERS_MAX);
    for (size_t i = 0; i < definition->filter_count; i++)
        item_record_add_text(&builder, filter_names[i], definition->filters[i]);
    return item_builder_finish(&builder);
}

/* --- Decoding --- */

static bool has(const struct item *record, const char *name)
{
    struct value ignored;
    return item_find(record, bytes_from_text(name), &ignored);
}

static bool is_within(uint64_t value, uint64_t min, uint64_t max)
{
    return value >= min && value <= max;
}

static bool find_numbers(struct arena *arena, const struct item *record,
                         struct trigger_definition *out)
{
    uint64_t *numbers;
    size_t count;
    if (!item_record_find_numbers(arena, record, "i", NUMBER_COUNT, &numbers, &count) ||
        count != NUMBER_COUNT || numbers[NUMBER_CREATED] > INT64_MAX ||
        !is_within(numbers[NUMBER_BATCH_SIZE], 1, TRIGGER_BATCH_SIZE_MAX) ||
        numbers[NUMBER_WINDOW] > TRIGGER_WINDOW_S_MAX ||
        !is_within(numbers[NUMBER_TIMEOUT], 1, TRIGGER_TIMEOUT_S_MAX) ||
        numbers[NUMBER_RETRIES] > TRIGGER_RETRIES_MAX + 1 ||
        numbers[NUMBER_AGE] > TRIGGER_AGE_S_MAX + 1 || numbers[NUMBER_AGE] == 1 ||
        numbers[NUMBER_FLAGS] > FLAGS_ALL)
        return false;
    out->log_id = numbers[NUMBER_LOG];
    out->created_ms = (int64_t)numbers[NUMBER_CREATED];
    out->batch_size = (int64_t)numbers[NUMBER_BATCH_SIZE];
    out->window_s = (int64_t)numbers[NUMBER_WINDOW];
    out->timeout_s = (int64_t)numbers[NUMBER_TIMEOUT];
    out->retries_max = (int64_t)numbers[NUMBER_RETRIES] - 1;
    out->age_max_s = (int64_t)numbers[NUMBER_AGE] - 1;
    out->from_latest = (numbers[NUMBER_FLAGS] & FLAG_FROM_LATEST) != 0;
    out->bisect = (numbers[NUMBER_FLAGS] & FLAG_BISECT) != 0;
    out->reports_failures = (numbers[NUMBER_FLAGS] & FLAG_REPORTS_FAILURES) != 0;
    return true;
}

static bool find_filters(struct arena *arena, const struct item *record,
                         struct trigger_definition *out)
{
    struct error ignored;
    error_init(&ignored, arena);
    for (size_t i = 0; i < TRIGGER_FILTERS_MAX && has(record, filter_names[i]); i++) {
        struct bytes *filter = &out->filters[out->filter_count++];
        if (!item_record_find_text(arena, record, filter_names[i], EVENT_FILTER_SIZE_MAX, filter) ||
            event_filter_parse(arena, *filter, &ignored) == NULL)
            return false;
    }
    return true;
}

bool trigger_definition_decode(struct arena *arena, struct bytes uuid, const struct item *record,
                               struct trigger_definition *out)
{
    *out = (struct trigger_definition){ .uuid = arena_copy(arena, uuid) };
    return uuid.len == UUID_TEXT_SIZE &&
           item_record_find_text(arena, record, "n", TABLE_NAME_SIZE_MAX, &out->table_name) &&
           item_record_find_text(arena, record, "l", LABEL_SIZE_MAX, &out->label) &&
           item_record_find_text(arena, record, "u", HTTP_URL_SIZE_MAX, &out->url) &&
           trigger_definition_url_problem(out->url) == NULL &&
           (!has(record, "d") ||
            (item_record_find_text(arena, record, "d", TRIGGER_DEAD_LETTER_FILE_SIZE_MAX,
                                   &out->dead_letter_file) &&
             trigger_definition_is_file_name(out->dead_letter_file))) &&
           find_numbers(arena, record, out) && find_filters(arena, record, out);
}

/* --- In the store --- */

struct engine_address trigger_definition_address(struct arena *arena, struct bytes uuid)
{
    uint8_t *key = arena_alloc(arena, TRIGGER_DEFINITION_KEY_SIZE);
    assert(uuid.len == UUID_TEXT_SIZE);
    key[0] = CONSUMER_TRIGGER_KEY;
    memcpy(key + 1, uuid.data, UUID_TEXT_SIZE);
    return (struct engine_address){ .place = consumer_position_place,
                                    .key = bytes_of(key, TRIGGER_DEFINITION_KEY_SIZE) };
}

void trigger_definition_put(struct arena *arena, struct engine_write *write,
                            const struct trigger_definition *definition)
{
    struct engine_address address = trigger_definition_address(arena, definition->uuid);
    engine_write_put(write, &address, trigger_definition_encode(arena, definition).encoded);
}

enum engine_status trigger_definition_delete(struct arena *arena, struct engine *engine,
                                             struct bytes uuid)
{
    struct engine_address address = trigger_definition_address(arena, uuid);
    struct engine_value value = { 0 };
    struct engine_write *write = NULL;
    enum engine_status status = engine_write_begin(engine, &address, 1, &write);
    if (status != ENGINE_OK)
        return status;
    status = engine_write_get(write, &address, &value);
    engine_value_release(&value);
    if (status != ENGINE_OK) {
        engine_write_abandon(write);
        return status;
    }
    engine_write_delete(write, &address);
    consumer_position_delete_all(arena, write, uuid);
    return engine_write_commit_wait(write);
}

struct trigger_record trigger_definition_open_entry(struct arena *arena,
                                                    const struct engine_entry *entry,
                                                    struct trigger_definition *definition)
{
    struct bytes key = entry->key;
    struct consumer_position position;
    struct item item;
    if (consumer_position_open_entry(entry, &position))
        return (struct trigger_record){ .kind = TRIGGER_RECORD_POSITION,
                                        .uuid = position.uuid,
                                        .partition = position.partition,
                                        .next = position.next };
    if (key.len > 0 && key.data[0] == CONSUMER_DESTINATION_KEY)
        return (struct trigger_record){ .kind = TRIGGER_RECORD_DESTINATION };
    if (key.len != TRIGGER_DEFINITION_KEY_SIZE || key.data[0] != CONSUMER_TRIGGER_KEY)
        return (struct trigger_record){ .kind = TRIGGER_RECORD_NONE };
    struct trigger_record record = { .kind = TRIGGER_RECORD_DEFINITION,
                                     .uuid = bytes_of(key.data + 1, UUID_TEXT_SIZE) };
    if (!item_open(entry->value, &item) || !item_verify(&item) ||
        !trigger_definition_decode(arena, record.uuid, &item, definition))
        record.kind = TRIGGER_RECORD_NONE;
    return record;
}
