/* alarm_record.c -- see alarm_record.h. */
#include "cloudwatch/alarm_record.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/item_record.h"
#include "table/layout.h"

const struct engine_place monitor_place = { .owner = LAYOUT_CATALOGUE_OWNER,
                                            .partition = LAYOUT_CATALOGUE_PARTITION,
                                            .space = ENGINE_SPACE_MONITORS };

/* --- Keys --- */

struct engine_address monitor_address(struct arena *arena, uint8_t kind, struct bytes name)
{
    uint8_t *key = arena_alloc(arena, 1 + name.len);
    key[0] = kind;
    memcpy(key + 1, name.data, name.len);
    return (struct engine_address){ .place = monitor_place, .key = bytes_of(key, 1 + name.len) };
}

struct engine_address monitor_number_address(struct arena *arena, uint8_t kind, uint64_t number)
{
    uint8_t *key = arena_alloc(arena, MONITOR_NUMBER_KEY_SIZE);
    key[0] = kind;
    store_u64_be(key + 1, number);
    return (struct engine_address){ .place = monitor_place,
                                    .key = bytes_of(key, MONITOR_NUMBER_KEY_SIZE) };
}

bool monitor_parse_number(struct bytes key, uint8_t kind, uint64_t *out)
{
    if (key.len != MONITOR_NUMBER_KEY_SIZE || key.data[0] != kind)
        return false;
    *out = load_u64_be(key.data + 1);
    return true;
}

/* --- Alarms --- */

enum { NUMBER_STATE, NUMBER_UPDATED, NUMBER_TRANSITIONED, NUMBER_CONFIGURED, NUMBER_COUNT };

static bool has(const struct item *record, const char *name)
{
    struct value ignored;
    return item_find(record, bytes_from_text(name), &ignored);
}

/* An absent text is a missing attribute; an empty one has no form of its own, and none needs it. */
static void add_text(struct item_builder *builder, const char *name, struct bytes text)
{
    if (text.len > 0)
        item_record_add_text(builder, name, text);
}

static bool find_text(struct arena *arena, const struct item *record, const char *name,
                      size_t size_max, struct bytes *out)
{
    *out = (struct bytes){ 0 };
    return !has(record, name) || item_record_find_text(arena, record, name, size_max, out);
}

static bool find_numbers(struct arena *arena, const struct item *record, size_t count,
                         uint64_t **out)
{
    size_t found;
    if (!item_record_find_numbers(arena, record, "i", count, out, &found) || found != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((*out)[i] > INT64_MAX)
            return false;
    return true;
}

static bool open_record(struct bytes stored, struct item *out)
{
    return item_open(stored, out) && item_verify(out);
}

struct bytes alarm_encode(struct arena *arena, const struct alarm *alarm)
{
    const uint64_t numbers[NUMBER_COUNT] = {
        [NUMBER_STATE] = (uint64_t)alarm->state,
        [NUMBER_UPDATED] = (uint64_t)alarm->updated_ms,
        [NUMBER_TRANSITIONED] = (uint64_t)alarm->transitioned_ms,
        [NUMBER_CONFIGURED] = (uint64_t)alarm->configured_ms,
    };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "d", alarm_definition_encode(arena, &alarm->definition));
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    add_text(&builder, "r", alarm->reason);
    add_text(&builder, "q", alarm->reason_data);
    if (alarm->tags.kept > 0)
        item_record_add_text(&builder, "g", alarm_tags_encode(arena, &alarm->tags));
    return item_builder_finish(&builder).encoded;
}

bool alarm_decode(struct arena *arena, struct bytes stored, struct alarm *out)
{
    struct item record;
    struct bytes definition;
    struct bytes tags;
    uint64_t *numbers;
    *out = (struct alarm){ 0 };
    if (!open_record(stored, &record) ||
        !item_record_find_text(arena, &record, "d", ALARM_DEFINITION_SIZE_MAX, &definition) ||
        !alarm_definition_decode(arena, definition, &out->definition) ||
        !find_numbers(arena, &record, NUMBER_COUNT, &numbers) ||
        numbers[NUMBER_STATE] >= ALARM_STATE_COUNT ||
        !find_text(arena, &record, "r", ALARM_REASON_SIZE_MAX, &out->reason) ||
        !find_text(arena, &record, "q", ALARM_REASON_SIZE_MAX, &out->reason_data) ||
        !find_text(arena, &record, "g", ALARM_TAGS_SIZE_MAX, &tags))
        return false;
    if (out->reason.data == NULL)
        out->reason = BYTES("");
    out->state = (enum alarm_state)numbers[NUMBER_STATE];
    out->updated_ms = (int64_t)numbers[NUMBER_UPDATED];
    out->transitioned_ms = (int64_t)numbers[NUMBER_TRANSITIONED];
    out->configured_ms = (int64_t)numbers[NUMBER_CONFIGURED];
    return tags.data == NULL || (alarm_tags_decode(arena, tags, &out->tags) && out->tags.kept > 0);
}

/* --- History --- */

const char *alarm_history_type_name(enum alarm_history_type type)
{
    static const char *const names[ALARM_HISTORY_TYPE_COUNT] = {
        [ALARM_HISTORY_CONFIGURATION] = "ConfigurationUpdate",
        [ALARM_HISTORY_STATE] = "StateUpdate",
        [ALARM_HISTORY_ACTION] = "Action",
    };
    assert(type < ALARM_HISTORY_TYPE_COUNT);
    return names[type];
}

struct bytes alarm_history_encode(struct arena *arena, const struct alarm_history *entry)
{
    const uint64_t numbers[] = { (uint64_t)entry->type, (uint64_t)entry->time_ms };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", entry->alarm_name);
    item_record_add_text(&builder, "s", entry->summary);
    item_record_add_text(&builder, "h", entry->data);
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    return item_builder_finish(&builder).encoded;
}

bool alarm_history_decode(struct arena *arena, struct bytes stored, struct alarm_history *out)
{
    struct item record;
    uint64_t *numbers;
    if (!open_record(stored, &record) ||
        !item_record_find_text(arena, &record, "n", ALARM_NAME_SIZE_MAX, &out->alarm_name) ||
        !item_record_find_text(arena, &record, "s", ALARM_MESSAGE_SIZE_MAX, &out->summary) ||
        !item_record_find_text(arena, &record, "h", ALARM_MESSAGE_SIZE_MAX, &out->data) ||
        !find_numbers(arena, &record, 2, &numbers) || numbers[0] >= ALARM_HISTORY_TYPE_COUNT)
        return false;
    out->type = (enum alarm_history_type)numbers[0];
    out->time_ms = (int64_t)numbers[1];
    return true;
}

/* --- Actions --- */

struct bytes alarm_action_encode(struct arena *arena, const struct alarm_action *action)
{
    const uint64_t numbers[] = { (uint64_t)action->from, (uint64_t)action->state,
                                 (uint64_t)action->time_ms };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", action->alarm_name);
    item_record_add_text(&builder, "t", action->target);
    item_record_add_text(&builder, "m", action->message);
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    return item_builder_finish(&builder).encoded;
}

bool alarm_action_decode(struct arena *arena, struct bytes stored, struct alarm_action *out)
{
    struct item record;
    uint64_t *numbers;
    if (!open_record(stored, &record) ||
        !item_record_find_text(arena, &record, "n", ALARM_NAME_SIZE_MAX, &out->alarm_name) ||
        !item_record_find_text(arena, &record, "t", ALARM_MESSAGE_SIZE_MAX, &out->target) ||
        !item_record_find_text(arena, &record, "m", ALARM_MESSAGE_SIZE_MAX, &out->message) ||
        !find_numbers(arena, &record, 3, &numbers) || numbers[0] >= ALARM_STATE_COUNT ||
        numbers[1] >= ALARM_STATE_COUNT)
        return false;
    out->from = (enum alarm_state)numbers[0];
    out->state = (enum alarm_state)numbers[1];
    out->time_ms = (int64_t)numbers[2];
    return alarm_action_is_url(out->target) || alarm_action_is_arn(out->target);
}
