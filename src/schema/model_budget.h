/* model_budget.h -- bounds the work of judging one model.
 *
 * A model of 1 MB can ask for hours of work: entities times entities times the product of their
 * templates, patterns times rows. So whoever judges a model for others gives the file a budget
 * (model_file.h). The parts take from it what they are about to do, at most, before they do it.
 * Once something was too much the budget is used up: all parts return at once, and what they return
 * is to be thrown away. A file without a budget is judged completely.
 *
 * Work is counted as base/give_way.h does, roughly in nanoseconds; threads give way by it.
 */
#ifndef STATOR_SCHEMA_MODEL_BUDGET_H
#define STATOR_SCHEMA_MODEL_BUDGET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_node;
struct key_template;
struct model_file;
struct model_index;
struct model_pattern;
struct model_table;

struct model_budget {
    uint64_t left;
    bool is_used_up;
};

/* Whether so much work may still be done. */
bool model_budget_take(const struct model_file *file, uint64_t work);
/* Whether what was found is worth nothing. */
bool model_budget_is_used_up(const struct model_file *file);

/* What the parts take, at most. Template with template: */
uint64_t model_budget_overlap(const struct key_template *a, const struct key_template *b);
/* A row becomes an item. */
uint64_t model_budget_row(const struct json_node *row);
/* A row is checked against the entities of its table. */
uint64_t model_budget_rules(const struct model_file *file, const struct model_table *table,
                            const struct json_node *row);
/* pattern_verdict_of, pattern_verdict_elsewhere, pattern_verdict_waste, pattern_suggest without
 * overlaps, pattern_estimate_of. */
uint64_t model_budget_verdict(const struct model_file *file, const struct model_pattern *pattern,
                              const struct model_index *index);
uint64_t model_budget_elsewhere(const struct model_file *file, const struct model_pattern *pattern,
                                const struct model_index *index);
uint64_t model_budget_waste(const struct model_file *file, const struct model_index *index);
uint64_t model_budget_suggest(const struct model_file *file, const struct model_pattern *pattern,
                              const struct model_table *table);
uint64_t model_budget_estimate(const struct model_pattern *pattern,
                               const struct model_table *table);

#endif
