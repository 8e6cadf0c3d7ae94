/* destination_definition.c -- see destination_definition.h. */
#include "kinesis/destination_definition.h"
#include <assert.h>
#include <string.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "consumer/consumer_position.h"
#include "model/item_record.h"
#include "model/limits.h"

enum {
    NUMBER_LOG,
    NUMBER_CREATED,
    NUMBER_PRECISION,
    NUMBER_COUNT,

    WORD_SIZE_MAX = 32,
};

static const char *const status_names[DESTINATION_STATUS_COUNT] = {
    [DESTINATION_ENABLING] = "ENABLING", [DESTINATION_ACTIVE] = "ACTIVE",
    [DESTINATION_UPDATING] = "UPDATING", [DESTINATION_DISABLING] = "DISABLING",
    [DESTINATION_DISABLED] = "DISABLED", [DESTINATION_ENABLE_FAILED] = "ENABLE_FAILED",
};

const char *destination_status_name(enum destination_status status)
{
    assert(status < DESTINATION_STATUS_COUNT);
    return status_names[status];
}

bool destination_status_may_follow(enum destination_status from, enum destination_status to)
{
    static const unsigned allowed[DESTINATION_STATUS_COUNT] = {
        [DESTINATION_ENABLING] = 1u << DESTINATION_ACTIVE | 1u << DESTINATION_ENABLE_FAILED,
        [DESTINATION_ACTIVE] = 1u << DESTINATION_UPDATING | 1u << DESTINATION_DISABLING,
        [DESTINATION_UPDATING] = 1u << DESTINATION_ACTIVE,
        [DESTINATION_DISABLING] = 1u << DESTINATION_DISABLED,
        [DESTINATION_DISABLED] = 1u << DESTINATION_ENABLING,
        [DESTINATION_ENABLE_FAILED] = 1u << DESTINATION_ENABLING,
    };
    return from == to || (allowed[from] >> to & 1) != 0;
}

const char *destination_precision_name(enum destination_precision precision)
{
    return precision == DESTINATION_MICROSECOND ? "MICROSECOND" : "MILLISECOND";
}

/* Cuts off the text before the next colon. */
static struct bytes next_part(struct bytes *rest)
{
    size_t size = 0;
    while (size < rest->len && rest->data[size] != ':')
        size++;
    struct bytes part = bytes_of(rest->data, size);
    size_t skipped = size < rest->len ? size + 1 : size;
    *rest = bytes_of(rest->data + skipped, rest->len - skipped);
    return part;
}

static bool is_stream_name(struct bytes name)
{
    static const char symbols[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (name.len == 0 || name.len > 128)
        return false;
    for (size_t i = 0; i < name.len; i++)
        if (memchr(symbols, name.data[i], sizeof symbols - 1) == NULL)
            return false;
    return true;
}

bool destination_definition_parse_arn(struct bytes arn, struct bytes *region, struct bytes *name)
{
    static const char prefix[] = "stream/";
    struct bytes rest = arn;
    bool is_arn = bytes_equal_text(next_part(&rest), "arn");
    is_arn = next_part(&rest).len > 0 && is_arn; /* "aws", "aws-cn", ... */
    is_arn = bytes_equal_text(next_part(&rest), "kinesis") && is_arn;
    *region = next_part(&rest);
    next_part(&rest); /* The account. */
    if (!is_arn || region->len == 0 || !bytes_starts_with(rest, bytes_from_text(prefix)))
        return false;
    *name = bytes_of(rest.data + (sizeof prefix - 1), rest.len - (sizeof prefix - 1));
    return is_stream_name(*name);
}

/* --- The record --- */

struct item destination_definition_encode(struct arena *arena,
                                          const struct destination_definition *definition)
{
    const uint64_t numbers[NUMBER_COUNT] = {
        [NUMBER_LOG] = definition->log_id,
        [NUMBER_CREATED] = (uint64_t)definition->created_ms,
        [NUMBER_PRECISION] = definition->precision,
    };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", definition->table_name);
    item_record_add_text(&builder, "u", definition->table_uuid);
    item_record_add_text(&builder, "a", definition->stream_arn);
    item_record_add_text(&builder, "s",
                         bytes_from_text(destination_status_name(definition->status)));
    if (definition->description.len > 0)
        item_record_add_text(&builder, "d", definition->description);
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    return item_builder_finish(&builder);
}

static bool find_status(struct arena *arena, const struct item *record,
                        enum destination_status *out)
{
    struct bytes word;
    if (!item_record_find_text(arena, record, "s", WORD_SIZE_MAX, &word))
        return false;
    for (int status = 0; status < DESTINATION_STATUS_COUNT; status++) {
        *out = (enum destination_status)status;
        if (bytes_equal_text(word, status_names[status]))
            return true;
    }
    return false;
}

static bool find_numbers(struct arena *arena, const struct item *record,
                         struct destination_definition *out)
{
    uint64_t *numbers;
    size_t count;
    if (!item_record_find_numbers(arena, record, "i", NUMBER_COUNT, &numbers, &count) ||
        count != NUMBER_COUNT || numbers[NUMBER_CREATED] > INT64_MAX ||
        numbers[NUMBER_PRECISION] > DESTINATION_MICROSECOND)
        return false;
    out->log_id = numbers[NUMBER_LOG];
    out->created_ms = (int64_t)numbers[NUMBER_CREATED];
    out->precision = (enum destination_precision)numbers[NUMBER_PRECISION];
    return true;
}

bool destination_definition_decode(struct arena *arena, struct bytes uuid,
                                   const struct item *record, struct destination_definition *out)
{
    struct value ignored;
    *out = (struct destination_definition){ .uuid = arena_copy(arena, uuid) };
    bool has_description = item_find(record, BYTES("d"), &ignored);
    return uuid.len == UUID_TEXT_SIZE &&
           item_record_find_text(arena, record, "n", TABLE_NAME_SIZE_MAX, &out->table_name) &&
           item_record_find_text(arena, record, "u", UUID_TEXT_SIZE, &out->table_uuid) &&
           item_record_find_text(arena, record, "a", DESTINATION_ARN_SIZE_MAX, &out->stream_arn) &&
           find_status(arena, record, &out->status) &&
           (!has_description ||
            item_record_find_text(arena, record, "d", DESTINATION_DESCRIPTION_SIZE_MAX,
                                  &out->description)) &&
           find_numbers(arena, record, out);
}

/* --- In the store --- */

struct engine_address destination_definition_address(struct arena *arena, struct bytes uuid)
{
    uint8_t *key = arena_alloc(arena, DESTINATION_KEY_SIZE);
    assert(uuid.len == UUID_TEXT_SIZE);
    key[0] = CONSUMER_DESTINATION_KEY;
    memcpy(key + 1, uuid.data, UUID_TEXT_SIZE);
    return (struct engine_address){ .place = consumer_position_place,
                                    .key = bytes_of(key, DESTINATION_KEY_SIZE) };
}

bool destination_definition_open_entry(struct arena *arena, const struct engine_entry *entry,
                                       struct destination_definition *out, bool *ok)
{
    struct item item;
    if (entry->key.len == 0 || entry->key.data[0] != CONSUMER_DESTINATION_KEY)
        return false;
    *ok = entry->key.len == DESTINATION_KEY_SIZE &&
          item_open(arena_copy(arena, entry->value), &item) && item_verify(&item) &&
          destination_definition_decode(arena, bytes_of(entry->key.data + 1, UUID_TEXT_SIZE), &item,
                                        out);
    return true;
}
