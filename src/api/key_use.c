/* key_use.c -- see key_use.h. */
#include "api/key_use.h"
#include <assert.h>
#include "api/api.h"
#include "api/capacity.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "index/index_change.h"
#include "insight/insights.h"
#include "model/key.h"
#include "model/table_definition.h"
#include "table/catalogue.h"
#include "table/item_address.h"
#include "table/layout.h"

enum { WRITE_WEIGHT = 3 }; /* A partition's limit is 3,000 read units or 1,000 write units. */

struct key_use {
    struct key_use *next;
    struct insight_event event;
};

enum {
    THROTTLE_RULES = 1 << INSIGHT_THROTTLED_PARTITION_KEYS | 1 << INSIGHT_THROTTLED_KEYS,
};

/* insight_target_rules of a decoded definition. */
static unsigned rules_of(const struct insight_target *target)
{
    return target->index == NULL ? target->table->insight_rules : target->index->insight_rules;
}

static unsigned access_rules_of(const struct insight_target *target)
{
    return rules_of(target) & ~(unsigned)THROTTLE_RULES;
}

static void note(struct capacity_use *use, const struct insight_target *target,
                 struct bytes partition_key, struct bytes key, int64_t half_units)
{
    struct key_use *noted = arena_alloc(use->key_arena, sizeof *noted);
    assert(half_units >= 0);
    noted->next = use->key_uses;
    noted->event = (struct insight_event){
        .target = target->index == NULL ? target->table->id : target->index->id,
        .rules = access_rules_of(target),
        .partition_key = partition_key,
        .key = key,
        .weight = (uint64_t)half_units * (use->kind == CAPACITY_WRITE ? WRITE_WEIGHT : 1),
    };
    use->key_uses = noted;
}

static size_t skip_parts(struct bytes key, size_t at, const struct key_attribute *attributes,
                         size_t count)
{
    for (size_t i = 0; i < count && at <= key.len; i++) {
        size_t size = key_part_size(bytes_of(key.data + at, key.len - at), attributes[i].type);
        assert(size > 0); /* We encoded it. */
        at += size;
    }
    return at;
}

/* Where the partition key of a stored key ends. */
static size_t end_of_partition_key(const struct insight_target *target, struct bytes stored_key)
{
    return target->index == NULL
               ? skip_parts(stored_key, LAYOUT_HASH_SIZE, &target->table->key.hash, 1)
               : skip_parts(stored_key, LAYOUT_HASH_SIZE, target->index->hash,
                            target->index->hash_count);
}

static struct bytes cut(struct bytes key, size_t end)
{
    return bytes_of(key.data + LAYOUT_HASH_SIZE, end - LAYOUT_HASH_SIZE);
}

/* --- Notes --- */

void key_use_note_item(struct capacity_use *use, const struct item_address *place,
                       int64_t half_units)
{
    const struct insight_target target = { .table = use->definition };
    struct bytes key = place->address.key;
    if (access_rules_of(&target) != 0)
        note(use, &target, cut(key, place->prefix_size), cut(key, key.len), half_units);
}

/* An entry's key goes on with that of the table, which is no part of the index's. */
static void note_entry(struct capacity_use *use, const struct insight_target *target,
                       struct bytes key, int64_t half_units)
{
    size_t partition_end = end_of_partition_key(target, key);
    size_t end = skip_parts(key, partition_end, target->index->range, target->index->range_count);
    note(use, target, cut(key, partition_end), cut(key, end), half_units);
}

/* Returns how many half units that is. */
static int64_t note_change(struct capacity_use *use, const struct insight_target *target,
                           const struct index_change *change, bool noted)
{
    int64_t removed = 0, stored = 0;
    if (change->type == INDEX_CHANGE_REMOVE || change->type == INDEX_CHANGE_MOVE)
        removed = capacity_write_half_units(change->size_before, 0);
    if (change->type == INDEX_CHANGE_MOVE)
        stored = capacity_write_half_units(0, change->size_after);
    else if (change->type == INDEX_CHANGE_INSERT || change->type == INDEX_CHANGE_UPDATE)
        stored = capacity_write_half_units(change->size_before, change->size_after);
    if (noted && removed > 0)
        note_entry(use, target, change->removed.key, removed);
    if (noted && stored > 0)
        note_entry(use, target, change->stored.key, stored);
    return removed + stored;
}

void key_use_note_write(struct capacity_use *use, const struct item_address *place,
                        int64_t half_units, const struct index_change *changes)
{
    for (size_t i = 0; i < use->definition->index_count; i++) {
        const struct insight_target target = { .table = use->definition,
                                               .index = &use->definition->indexes[i] };
        bool global = target.index->global;
        bool noted = global && access_rules_of(&target) != 0;
        int64_t of_index = note_change(use, &target, &changes[i], noted);
        half_units += global ? 0 : of_index;
    }
    key_use_note_item(use, place, half_units);
}

void key_use_note_query(struct capacity_use *use, const struct index_definition *index,
                        struct bytes stored_key, int64_t half_units)
{
    const struct insight_target target = { .table = use->definition,
                                           .index = index != NULL && index->global ? index : NULL };
    if (access_rules_of(&target) == 0)
        return;
    struct bytes key = arena_copy(use->key_arena, stored_key); /* Ranges change as they are read. */
    note(use, &target, cut(key, end_of_partition_key(&target, key)), (struct bytes){ 0 },
         half_units);
}

/* --- Counting --- */

void key_use_count(const struct api_call *call, const struct capacity_use *use, int64_t now_ns)
{
    if (call->operation->hides_keys)
        return;
    struct insights *insights = api_insights(call->api);
    int64_t now_ms = insights_wall_ms(insights, api_options(call->api)->clock, now_ns);
    for (const struct key_use *noted = use->key_uses; noted != NULL; noted = noted->next)
        insights_count(insights, table_runtime(use->table), &noted->event, now_ms);
}

void key_use_count_throttled(const struct api_call *call, const struct table *table,
                             const struct index_definition *index, struct bytes stored_key,
                             bool is_whole)
{
    const struct insight_target target = { .table = table_definition(table), .index = index };
    unsigned rules = rules_of(&target) & THROTTLE_RULES;
    if (!is_whole)
        rules &= ~(1U << INSIGHT_THROTTLED_KEYS);
    if (rules == 0 || call->operation->hides_keys)
        return;
    size_t partition_end = end_of_partition_key(&target, stored_key);
    size_t end = partition_end;
    if (is_whole)
        end = index == NULL
                  ? stored_key.len
                  : skip_parts(stored_key, partition_end, index->range, index->range_count);
    const struct insight_event event = { .target = insight_target_id(&target),
                                         .rules = rules,
                                         .partition_key = cut(stored_key, partition_end),
                                         .key = cut(stored_key, end),
                                         .weight = 1 };
    insights_count(api_insights(call->api), table_runtime(table), &event,
                   clock_wall_ms(api_options(call->api)->clock));
}
