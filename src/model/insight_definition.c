/* insight_definition.c -- see insight_definition.h. */
#include "model/insight_definition.h"
#include <assert.h>
#include <inttypes.h>
#include "base/arena.h"
#include "model/table_definition.h"

const char *insight_status_name(enum insight_status status)
{
    static const char *const names[INSIGHT_STATUS_COUNT] = {
        [INSIGHT_NEVER] = "DISABLED",    [INSIGHT_ENABLING] = "ENABLING",
        [INSIGHT_ENABLED] = "ENABLED",   [INSIGHT_DISABLING] = "DISABLING",
        [INSIGHT_DISABLED] = "DISABLED", [INSIGHT_FAILED] = "FAILED",
    };
    assert(status < INSIGHT_STATUS_COUNT);
    return names[status];
}

const char *insight_definition_mode_name(const struct insight_definition *insight)
{
    return insight->throttled_only ? "THROTTLED_KEYS" : "ACCESSED_AND_THROTTLED_KEYS";
}

unsigned insight_definition_rules(const struct insight_definition *insight, bool has_sort_key)
{
    unsigned rules = 0;
    if (!insight_definition_counts(insight))
        return 0;
    for (enum insight_rule rule = 0; rule < INSIGHT_RULE_COUNT; rule++) {
        if ((has_sort_key || !insight_rule_is_of_whole_keys(rule)) &&
            (!insight->throttled_only || insight_rule_is_of_throttles(rule)) &&
            insight_definition_since_ms(insight, rule) != 0)
            rules |= 1U << rule;
    }
    return rules;
}

int64_t insight_definition_since_ms(const struct insight_definition *insight,
                                    enum insight_rule rule)
{
    return insight_rule_is_of_throttles(rule) ? insight->throttled_since_ms
                                              : insight->accessed_since_ms;
}

/* --- Targets --- */

uint64_t insight_target_id(const struct insight_target *target)
{
    return target->index == NULL ? target->table->id : target->index->id;
}

const struct insight_definition *insight_target_definition(const struct insight_target *target)
{
    return target->index == NULL ? &target->table->insight : &target->index->insight;
}

bool insight_target_has_sort_key(const struct insight_target *target)
{
    return target->index == NULL ? target->table->key.has_range : target->index->range_count > 0;
}

unsigned insight_target_rules(const struct insight_target *target)
{
    if (target->index != NULL && target->index->status != INDEX_ACTIVE)
        return 0;
    return insight_definition_rules(insight_target_definition(target),
                                    insight_target_has_sort_key(target));
}

struct bytes insight_target_rule_name(struct arena *arena, const struct insight_target *target,
                                      enum insight_rule rule)
{
    static const char *const kinds[INSIGHT_RULE_COUNT] = {
        [INSIGHT_ACCESSED_PARTITION_KEYS] = "PKC",
        [INSIGHT_THROTTLED_PARTITION_KEYS] = "PKT",
        [INSIGHT_ACCESSED_KEYS] = "SKC",
        [INSIGHT_THROTTLED_KEYS] = "SKT",
    };
    assert(rule < INSIGHT_RULE_COUNT);
    struct bytes index = target->index == NULL ? BYTES("") : target->index->name;
    int64_t since_ms = insight_definition_since_ms(insight_target_definition(target), rule);
    return arena_printf(arena, "DynamoDBContributorInsights-%s-%.*s%s%.*s-%" PRId64, kinds[rule],
                        BYTES_FMT(target->table->name), index.len > 0 ? "-" : "", BYTES_FMT(index),
                        since_ms);
}

bool insight_target_at(const struct table_definition *table, size_t number,
                       struct insight_target *out)
{
    *out = (struct insight_target){ .table = table };
    if (number == 0)
        return true;
    for (size_t i = 0; i < table->index_count; i++) {
        if (table->indexes[i].global && --number == 0) {
            out->index = &table->indexes[i];
            return true;
        }
    }
    return false;
}
