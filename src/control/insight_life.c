/* insight_life.c -- see insight_life.h. */
#include "control/insight_life.h"
#include <assert.h>
#include "base/arena.h"
#include "base/timed_wait.h"
#include "insight/insights.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* --- Moves --- */

bool insight_life_may_move(enum insight_status from, enum insight_status to)
{
    static const bool allowed[INSIGHT_STATUS_COUNT][INSIGHT_STATUS_COUNT] = {
        [INSIGHT_NEVER] = { [INSIGHT_ENABLING] = true },
        [INSIGHT_ENABLING] = { [INSIGHT_ENABLING] = true,
                               [INSIGHT_ENABLED] = true,
                               [INSIGHT_DISABLING] = true,
                               [INSIGHT_FAILED] = true },
        [INSIGHT_ENABLED] = { [INSIGHT_ENABLING] = true, [INSIGHT_DISABLING] = true },
        [INSIGHT_DISABLING] = { [INSIGHT_ENABLING] = true, [INSIGHT_DISABLED] = true },
        [INSIGHT_DISABLED] = { [INSIGHT_ENABLING] = true },
        [INSIGHT_FAILED] = { [INSIGHT_ENABLING] = true, [INSIGHT_DISABLING] = true },
    };
    assert(from < INSIGHT_STATUS_COUNT && to < INSIGHT_STATUS_COUNT);
    return allowed[from][to];
}

static void move(struct insight_definition *insight, enum insight_status to)
{
    assert(insight_life_may_move(insight->status, to));
    insight->status = to;
}

static void begin(struct insight_definition *insight, enum insight_status to,
                  const struct table_life_pace *pace)
{
    assert(pace->now_ms > 0 && pace->transition_ms >= 0);
    move(insight, to);
    insight->updated_ms = pace->now_ms;
    insight->transition_at_ms = pace->now_ms + pace->transition_ms;
}

/* ENABLING without a rule is one that fails. */
static void settle(struct insight_definition *insight)
{
    assert(insight->status == INSIGHT_ENABLING || insight->status == INSIGHT_DISABLING);
    if (insight->status == INSIGHT_DISABLING)
        move(insight, INSIGHT_DISABLED);
    else
        move(insight, insight->throttled_since_ms == 0 ? INSIGHT_FAILED : INSIGHT_ENABLED);
    insight->transition_at_ms = 0;
}

static size_t count_rules(unsigned rules)
{
    return (size_t)__builtin_popcount(rules);
}

void insight_life_enable(const struct insight_life *life, struct insight_definition *insight,
                         bool has_sort_key, bool throttled_only, const struct table_life_pace *pace)
{
    unsigned before = insight_definition_rules(insight, has_sort_key);
    begin(insight, INSIGHT_ENABLING, pace);
    insight->throttled_only = throttled_only;
    if (before == 0 || insight->throttled_since_ms == 0)
        insight->throttled_since_ms = pace->now_ms;
    if (throttled_only)
        insight->accessed_since_ms = 0;
    else if (before == 0 || insight->accessed_since_ms == 0)
        insight->accessed_since_ms = pace->now_ms;
    unsigned after = insight_definition_rules(insight, has_sort_key);
    if (insight_life_count_rules(life) - count_rules(before) + count_rules(after) >
        insights_rules_max(life->insights)) {
        insight->throttled_since_ms = 0;
        insight->accessed_since_ms = 0;
        after = 0;
    }
    assert(after == 0 || insight->throttled_since_ms != 0);
    if (pace->transition_ms == 0 && (before & ~after) == 0)
        settle(insight);
}

void insight_life_disable(struct insight_definition *insight, const struct table_life_pace *pace)
{
    begin(insight, INSIGHT_DISABLING, pace);
    insight->throttled_since_ms = 0;
    insight->accessed_since_ms = 0;
}

static bool counts(const struct table_definition *definition, void *context)
{
    struct insight_target target;
    size_t *count = context;
    for (size_t i = 0; insight_target_at(definition, i, &target); i++)
        *count += count_rules(insight_definition_rules(insight_target_definition(&target),
                                                       insight_target_has_sort_key(&target)));
    return false; /* Look at the next one. */
}

size_t insight_life_count_rules(const struct insight_life *life)
{
    size_t count = 0;
    struct table *none = catalogue_find_next(life->catalogue, BYTES(""), counts, &count);
    assert(none == NULL);
    (void)none;
    return count;
}

/* --- Steps --- */

struct round {
    const struct insight_life *life;
    const struct table_life_pace *pace;
    int64_t wait_ms; /* Until the next step is due. */
};

/* Milliseconds until its status ends; TIMED_WAIT_FOREVER if it is not transient. */
static int64_t wait_for(const struct insight_definition *insight,
                        const struct table_life_pace *pace)
{
    if (insight->transition_at_ms == 0)
        return TIMED_WAIT_FOREVER;
    int64_t wait_ms = insight->transition_at_ms - pace->now_ms;
    /* Not longer than the setting: the wall clock was set back, or the setting has changed. */
    return wait_ms <= 0 || wait_ms > pace->transition_ms ? 0 : wait_ms;
}

static bool has_step(const struct table_definition *table, void *context)
{
    struct round *round = context;
    struct insight_target target;
    bool due = false;
    if (table->status == TABLE_DELETING)
        return false;
    for (size_t i = 0; insight_target_at(table, i, &target); i++) {
        int64_t wait_ms = wait_for(insight_target_definition(&target), round->pace);
        if (wait_ms == 0)
            due = true;
        else
            round->wait_ms = timed_wait_sooner(round->wait_ms, wait_ms);
    }
    return due;
}

static enum engine_status forget(const struct insight_life *life,
                                 const struct insight_target *target)
{
    struct table *table = catalogue_find(life->catalogue, target->table->name);
    assert(table != NULL); /* Only this thread drops tables. */
    unsigned rules = insight_definition_rules(insight_target_definition(target),
                                              insight_target_has_sort_key(target));
    enum engine_status status =
        insights_forget(life->insights, table_runtime(table), insight_target_id(target), rules);
    table_release(table);
    return status;
}

/* What is gone is removed first: as long as the definition has the status, a restart repeats it. */
static enum engine_status take_step(void *context, struct arena *arena,
                                    const struct table_definition *table)
{
    const struct round *round = context;
    struct table_definition changed = table_definition_copy(arena, table);
    struct insight_target target;
    enum engine_status status = ENGINE_OK;
    for (size_t i = 0; insight_target_at(table, i, &target) && status == ENGINE_OK; i++) {
        if (wait_for(insight_target_definition(&target), round->pace) != 0)
            continue;
        status = forget(round->life, &target);
        settle(target.index == NULL ? &changed.insight
                                    : &changed.indexes[target.index - table->indexes].insight);
    }
    return status == ENGINE_OK ? catalogue_update(round->life->catalogue, arena, &changed) : status;
}

int64_t insight_life_run(const struct insight_life *life, struct arena *arena,
                         const struct table_life_pace *pace)
{
    struct round round = { .life = life, .pace = pace, .wait_ms = TIMED_WAIT_FOREVER };
    const struct table_life_part part = { .name = "change of its insights",
                                          .has_step = has_step,
                                          .take_step = take_step,
                                          .context = &round };
    int64_t wait_ms = table_life_run_part(life->catalogue, arena, &part);
    return timed_wait_sooner(wait_ms, round.wait_ms);
}
