/* stream_definition.c -- see stream_definition.h. */
#include "stream/stream_definition.h"
#include <assert.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "model/change_image.h"
#include "model/item_record.h"
#include "model/table_definition.h"

static const char *const status_names[STREAM_STATUS_COUNT] = {
    [STREAM_ENABLING] = "ENABLING",
    [STREAM_ENABLED] = "ENABLED",
    [STREAM_DISABLED] = "DISABLED",
};

const char *stream_status_name(enum stream_status status)
{
    assert(status < STREAM_STATUS_COUNT);
    return status_names[status];
}

bool stream_status_may_follow(enum stream_status from, enum stream_status to)
{
    return (from == STREAM_ENABLING && to == STREAM_ENABLED) ||
           (from == STREAM_ENABLED && to == STREAM_DISABLED);
}

struct bytes stream_definition_hidden_label(struct arena *arena, uint64_t log_id)
{
    return arena_printf(arena, "log-%llu", (unsigned long long)log_id);
}

/* `partition_count` if the stream has no such partition. */
static size_t position_of(const struct stream_definition *definition, uint64_t partition)
{
    size_t i = 0;
    while (i < definition->partition_count && definition->partitions[i] != partition)
        i++;
    return i;
}

bool stream_definition_has_partition(const struct stream_definition *definition, uint64_t partition)
{
    return position_of(definition, partition) < definition->partition_count;
}

bool stream_definition_has_shard(const struct stream_definition *definition, uint64_t partition,
                                 uint64_t first)
{
    size_t i = position_of(definition, partition);
    return i < definition->partition_count &&
           (definition->firsts == NULL || first >= definition->firsts[i]) &&
           (definition->ends == NULL || first < definition->ends[i]);
}

/* --- Encoding --- */

static void add_key(struct item_builder *builder, const char *name, const char *type,
                    const struct key_attribute *attribute)
{
    item_record_add_text(builder, name, attribute->name);
    item_record_add_text(builder, type, bytes_from_text(value_type_name(attribute->type)));
}

struct item stream_definition_encode(struct arena *arena,
                                     const struct stream_definition *definition)
{
    const uint64_t times[] = { (uint64_t)definition->created_ms, (uint64_t)definition->rolled_ms,
                               (uint64_t)definition->disabled_ms,
                               (uint64_t)definition->disabled_server_ms };
    const uint64_t images = definition->images;
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "n", definition->table_name);
    item_record_add_text(&builder, "l", definition->label);
    if (!stream_definition_is_hidden(definition))
        item_record_add_text(&builder, "w", definition->view_type);
    item_record_add_text(&builder, "s", bytes_from_text(stream_status_name(definition->status)));
    add_key(&builder, "h", "ht", &definition->key.hash);
    if (definition->key.has_range)
        add_key(&builder, "r", "rt", &definition->key.range);
    if (definition->policy.data != NULL)
        item_record_add_text(&builder, "o", definition->policy);
    item_record_add_numbers(&builder, "i", &images, 1);
    item_record_add_numbers(&builder, "t", times, COUNT_OF(times));
    item_record_add_numbers(&builder, "p", definition->partitions, definition->partition_count);
    if (definition->firsts != NULL)
        item_record_add_numbers(&builder, "b", definition->firsts, definition->partition_count);
    if (definition->ends != NULL)
        item_record_add_numbers(&builder, "e", definition->ends, definition->partition_count);
    return item_builder_finish(&builder);
}

/* --- Decoding --- */

enum {
    WORD_SIZE_MAX = 32,
    TIME_COUNT = 4,
    UNSTAMPED_TIME_COUNT = 3, /* Of streams that were stored without server time. */
    /* The limit counts UTF-16 units, and one of them takes up to three bytes in UTF-8. */
    KEY_NAME_BYTES_MAX = KEY_ATTRIBUTE_NAME_SIZE_MAX * 3,
};

static bool find_key(struct arena *arena, const struct item *record, const char *name,
                     const char *type, struct key_attribute *out)
{
    struct bytes word;
    return item_record_find_text(arena, record, name, KEY_NAME_BYTES_MAX, &out->name) &&
           item_record_find_text(arena, record, type, WORD_SIZE_MAX, &word) &&
           value_type_parse(word, &out->type) &&
           (out->type == VALUE_S || out->type == VALUE_N || out->type == VALUE_B);
}

static bool find_status(struct arena *arena, const struct item *record, enum stream_status *out)
{
    struct bytes word;
    if (!item_record_find_text(arena, record, "s", WORD_SIZE_MAX, &word))
        return false;
    for (int status = 0; status < STREAM_STATUS_COUNT; status++) {
        *out = (enum stream_status)status;
        if (bytes_equal_text(word, status_names[status]))
            return true;
    }
    return false;
}

static bool find_images(struct arena *arena, const struct item *record, unsigned *out)
{
    uint64_t *images;
    size_t count;
    if (!item_record_find_numbers(arena, record, "i", 1, &images, &count) ||
        images[0] > CHANGE_IMAGES_ALL)
        return false;
    *out = (unsigned)images[0];
    return true;
}

static bool find_times(struct arena *arena, const struct item *record,
                       struct stream_definition *out)
{
    uint64_t *times;
    size_t count;
    if (!item_record_find_numbers(arena, record, "t", TIME_COUNT, &times, &count) ||
        (count != TIME_COUNT && count != UNSTAMPED_TIME_COUNT))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (times[i] > INT64_MAX)
            return false;
    }
    out->created_ms = (int64_t)times[0];
    out->rolled_ms = (int64_t)times[1];
    out->disabled_ms = (int64_t)times[2];
    out->disabled_server_ms = count == TIME_COUNT ? (int64_t)times[3] : 0;
    return true;
}

/* Numbers for each partition; absent: NULL. */
static bool find_borders(struct arena *arena, const struct item *record, const char *name,
                         size_t partition_count, uint64_t **out)
{
    struct value ignored;
    size_t count;
    if (!item_find(record, bytes_from_text(name), &ignored))
        return true;
    return item_record_find_numbers(arena, record, name, PARTITIONS_MAX, out, &count) &&
           count == partition_count;
}

/* A detached stream is one that was disabled. */
static bool is_consistent(const struct stream_definition *definition)
{
    return !stream_definition_is_detached(definition) ||
           (definition->status == STREAM_DISABLED && !stream_definition_is_hidden(definition));
}

bool stream_definition_decode(struct arena *arena, uint64_t log_id, const struct item *record,
                              struct stream_definition *out)
{
    struct value ignored;
    *out = (struct stream_definition){ .log_id = log_id };
    out->key.has_range = item_find(record, BYTES("r"), &ignored);
    bool has_policy = item_find(record, BYTES("o"), &ignored);
    bool is_shown = item_find(record, BYTES("w"), &ignored);
    return item_record_find_text(arena, record, "n", TABLE_NAME_SIZE_MAX, &out->table_name) &&
           item_record_find_text(arena, record, "l", STREAM_LABEL_SIZE_MAX, &out->label) &&
           (!is_shown || item_record_find_text(arena, record, "w", STREAM_VIEW_TYPE_SIZE_MAX,
                                               &out->view_type)) &&
           find_status(arena, record, &out->status) &&
           find_key(arena, record, "h", "ht", &out->key.hash) &&
           (!out->key.has_range || find_key(arena, record, "r", "rt", &out->key.range)) &&
           (!has_policy ||
            item_record_find_text(arena, record, "o", RESOURCE_POLICY_SIZE_MAX, &out->policy)) &&
           find_images(arena, record, &out->images) && find_times(arena, record, out) &&
           item_record_find_numbers(arena, record, "p", PARTITIONS_MAX, &out->partitions,
                                    &out->partition_count) &&
           find_borders(arena, record, "b", out->partition_count, &out->firsts) &&
           find_borders(arena, record, "e", out->partition_count, &out->ends) && is_consistent(out);
}
