/* plan_parts.h -- a plan item while it is put together. Private to template/. */
#ifndef STATOR_TEMPLATE_PLAN_PARTS_H
#define STATOR_TEMPLATE_PLAN_PARTS_H
#include <stdbool.h>
#include "base/compiler.h"
#include "template/plan.h"

struct plan_builder {
    struct arena *arena;
    const struct plan_options *options;
    const struct template_result *result; /* Whose scalable targets matter; may be NULL. */
    struct plan_change *changes;
    size_t change_count, change_capacity;
    struct plan_step *steps;
    size_t step_count, step_capacity;
    struct bytes replacement; /* Why the resource must be replaced; data NULL: it need not. */
    struct bytes refusal;     /* data NULL: none. */
};

void plan_builder_change(struct plan_builder *builder, char sign, const char *property,
                         const char *format, ...) PRINTF_LIKE(4, 5);
void plan_builder_step(struct plan_builder *builder, const char *operation, const struct node *body,
                       enum plan_wait wait, struct bytes table);
void plan_builder_add(struct plan_builder *builder, struct plan_step step);
/* The first refusal counts. */
void plan_builder_refuse(struct plan_builder *builder, const char *format, ...) PRINTF_LIKE(2, 3);

/* plan_table.c: the changes between two states of a table of one name. */
void plan_table_compare(struct plan_builder *builder, const struct plan_before *before,
                        const struct template_resource *after);
/* plan_settings.c: those of its settings that UpdateTable does not have. */
void plan_settings_compare(struct plan_builder *builder, const struct plan_before *before,
                           const struct template_resource *after);
/* plan_index.c: those of its global indexes. Each returns the last step's state of affairs in
 * requests; indexes that go come before a change of the billing mode, those that come after it. */
void plan_index_remove(struct plan_builder *builder, const struct plan_before *before,
                       const struct template_resource *after);
void plan_index_add(struct plan_builder *builder, const struct plan_before *before,
                    const struct template_resource *after);
/* Refuses what CloudFormation refuses. */
void plan_index_check(struct plan_builder *builder, const struct plan_before *before,
                      const struct template_resource *after);
/* True if the index of this name is in both and can stay. */
bool plan_index_stays(const struct node *before, const struct node *after, struct bytes name);

/* plan_text.c */
/* "id S, at N" */
struct bytes plan_text_key(struct arena *arena, const struct node *owner,
                           const struct node *definitions);
/* "PROVISIONED 5/5" or "PAY_PER_REQUEST" */
struct bytes plan_text_billing(struct arena *arena, const struct node *state);
/* "index byUser (user S; ALL)" */
struct bytes plan_text_index(struct arena *arena, const struct node *index,
                             const struct node *definitions);
/* "table orders (id S; on demand)" */
struct bytes plan_text_table(struct arena *arena, const struct node *state);
/* The type of an attribute; data NULL: not defined. */
struct bytes plan_text_type(const struct node *definitions, struct bytes name);

#endif
