/* insight_definition.h -- the Contributor Insights of a table or of one of its global indexes: part
 * of the table's definition.
 *
 * Up to four rules count keys: the most accessed and the most throttled ones, by partition key and,
 * where there is a sort key, by the whole key.
 */
#ifndef STATOR_MODEL_INSIGHT_DEFINITION_H
#define STATOR_MODEL_INSIGHT_DEFINITION_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct index_definition;
struct table_definition;

/* Stored: the numbers stay. Which moves are allowed: control/insight_life.h. */
enum insight_status {
    INSIGHT_NEVER, /* DISABLED, and was never anything else. */
    INSIGHT_ENABLING,
    INSIGHT_ENABLED,
    INSIGHT_DISABLING,
    INSIGHT_DISABLED,
    INSIGHT_FAILED, /* There would have been too many rules. */
    INSIGHT_STATUS_COUNT,
};
const char *insight_status_name(enum insight_status status);

/* Stored: the numbers stay. */
enum insight_rule {
    INSIGHT_ACCESSED_PARTITION_KEYS,  /* PKC */
    INSIGHT_THROTTLED_PARTITION_KEYS, /* PKT */
    INSIGHT_ACCESSED_KEYS,            /* SKC: partition and sort key. */
    INSIGHT_THROTTLED_KEYS,           /* SKT */
    INSIGHT_RULE_COUNT,
};
static inline bool insight_rule_is_of_whole_keys(enum insight_rule rule)
{
    return rule == INSIGHT_ACCESSED_KEYS || rule == INSIGHT_THROTTLED_KEYS;
}
static inline bool insight_rule_is_of_throttles(enum insight_rule rule)
{
    return rule == INSIGHT_THROTTLED_PARTITION_KEYS || rule == INSIGHT_THROTTLED_KEYS;
}

struct insight_definition {
    enum insight_status status;
    bool throttled_only; /* ContributorInsightsMode is THROTTLED_KEYS. */
    /* When its rules were made, which their names end with; 0: there are none. */
    int64_t accessed_since_ms;
    int64_t throttled_since_ms;
    int64_t updated_ms;       /* LastUpdateDateTime. */
    int64_t transition_at_ms; /* When ENABLING or DISABLING ends; 0: it is neither. */
};

enum { INSIGHT_DEFINITION_FIELDS = 6, INSIGHT_RULE_NAME_SIZE_MAX = 30 + 2 * 256 + 20 };

/* "ACCESSED_AND_THROTTLED_KEYS" or "THROTTLED_KEYS". */
const char *insight_definition_mode_name(const struct insight_definition *insight);
/* Are keys being counted? */
static inline bool insight_definition_counts(const struct insight_definition *insight)
{
    return insight->status == INSIGHT_ENABLING || insight->status == INSIGHT_ENABLED;
}
/* A bit for each rule that there is. `has_sort_key` is the table's or index's. */
unsigned insight_definition_rules(const struct insight_definition *insight, bool has_sort_key);
/* When the rule was made. */
int64_t insight_definition_since_ms(const struct insight_definition *insight,
                                    enum insight_rule rule);

/* A table or global index with insights. */
struct insight_target {
    const struct table_definition *table;
    const struct index_definition *index; /* NULL: the table itself. */
};
uint64_t insight_target_id(const struct insight_target *target); /* Of the table or index. */
const struct insight_definition *insight_target_definition(const struct insight_target *target);
bool insight_target_has_sort_key(const struct insight_target *target);
/* insight_definition_rules; none of an index that is not ACTIVE. */
unsigned insight_target_rules(const struct insight_target *target);
/* "DynamoDBContributorInsights-PKC-Table-Index-1757000000000" */
struct bytes insight_target_rule_name(struct arena *arena, const struct insight_target *target,
                                      enum insight_rule rule);
/* The table's own first, then its global indexes in their order. `number` starts with 0; false
 * behind the last one. */
MUST_CHECK bool insight_target_at(const struct table_definition *table, size_t number,
                                  struct insight_target *out);

#endif
