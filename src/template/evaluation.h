/* evaluation.h -- the state of one evaluation, shared by the files that do it. Private to
 * template/.
 *
 * Work is bounded: each visited value counts in `nodes`, each byte of text that is new or occurs in
 * one more place in `text`, and each function, condition and reference under way in `depth`.
 * Functions return NULL, or false, with the error set.
 */
#ifndef STATOR_TEMPLATE_EVALUATION_H
#define STATOR_TEMPLATE_EVALUATION_H
#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "template/node.h"
#include "template/template.h"
#include "template/template_error.h"
#include "template/template_parts.h"

enum evaluation_progress { EVALUATION_NOT_YET, EVALUATION_BUSY, EVALUATION_DONE };

/* A resource of the document while it is evaluated. */
struct evaluation_resource {
    const struct node_member *declaration;
    const struct resource_type *type; /* NULL: of another service. */
    bool exists;                      /* Its condition holds. */
    enum evaluation_progress name_progress;
    struct bytes name; /* The physical id, once name_progress is EVALUATION_DONE. */
    bool has_own_name;
    bool *depends_on; /* By index. */
    bool is_placed;   /* In the order of creation. */
    struct template_resource result;
};

struct evaluation_condition {
    enum evaluation_progress progress;
    bool holds;
};

struct evaluation {
    struct arena *arena;
    const struct template *template;
    struct template_environment environment; /* With all defaults filled in. */
    struct template_error *err;
    const struct node *conditions, *outputs; /* Loops expanded; NULL: none. */
    const struct node *resource_section;
    const struct node **parameter_values;          /* By index of the declaration. */
    struct evaluation_condition *condition_states; /* NULL while loops are expanded. */
    struct evaluation_resource *resources;
    size_t resource_count;
    struct evaluation_resource *current; /* Collects dependencies; NULL: nobody does. */
    bool in_condition;                   /* Resources must not be referred to. */
    size_t nodes, text;
    unsigned depth;
    unsigned pattern_steps;                     /* Of all parameters. */
    const struct template_parameter *unchecked; /* The last one with a notice about its pattern. */
    struct node no_value;                       /* What AWS::NoValue gives, by its address. */
    struct template_notice *notices;
    size_t notice_count, notice_capacity;
};

/* evaluate.c */
MUST_CHECK bool evaluation_count(struct evaluation *evaluation, size_t nodes, size_t text,
                                 unsigned line);
/* Counts all values and all text of a tree: of one that the result shares, since whoever reads the
 * result visits it once for each place. */
MUST_CHECK bool evaluation_count_tree(struct evaluation *evaluation, const struct node *node,
                                      unsigned line);
MUST_CHECK bool evaluation_enter(struct evaluation *evaluation, unsigned line);
static inline void evaluation_leave(struct evaluation *evaluation)
{
    evaluation->depth--;
}
void evaluation_notice(struct evaluation *evaluation, struct bytes logical_id, unsigned line,
                       struct bytes message);
/* The resource of a name; NULL: none. */
struct evaluation_resource *evaluation_find(struct evaluation *evaluation, struct bytes name);
static inline bool evaluation_is_no_value(const struct evaluation *evaluation,
                                          const struct node *node)
{
    return node == &evaluation->no_value;
}

/* functions.c: the value of an expression. The result may be the document's own node, and
 * no_value only at the top. */
MUST_CHECK const struct node *evaluation_value(struct evaluation *evaluation,
                                               const struct node *node);
/* A value that must be a string, number or boolean. */
MUST_CHECK const struct node *evaluation_scalar(struct evaluation *evaluation,
                                                const struct node *node, const char *what);
/* references.c */
MUST_CHECK const struct node *evaluation_ref(struct evaluation *evaluation, struct bytes name,
                                             unsigned line);
MUST_CHECK const struct node *evaluation_get_att(struct evaluation *evaluation, struct bytes name,
                                                 struct bytes attribute, unsigned line);
MUST_CHECK const struct node *evaluation_sub(struct evaluation *evaluation,
                                             const struct node *argument);
/* Text with {{resolve:...}} in it. */
MUST_CHECK const struct node *evaluation_dynamic(struct evaluation *evaluation,
                                                 const struct node *node);
/* Fills in resource->name. */
MUST_CHECK bool evaluation_name(struct evaluation *evaluation, struct evaluation_resource *resource,
                                unsigned line);
/* Of a resource whose name is known; data NULL: it has none. */
struct bytes evaluation_arn(const struct evaluation *evaluation,
                            const struct evaluation_resource *resource);
/* The first '}' at or behind `at`; `end`: none. `last` is what the previous call for the same text
 * returned, NULL at first: so the text is searched once, however many "${" it has. */
const uint8_t *evaluation_find_close(const uint8_t *last, const uint8_t *at, const uint8_t *end);
/* conditions.c */
MUST_CHECK bool evaluation_condition(struct evaluation *evaluation, struct bytes name,
                                     unsigned line, bool *holds);
MUST_CHECK bool evaluation_all_conditions(struct evaluation *evaluation);
/* foreach.c: a section with its loops expanded. */
MUST_CHECK const struct node *evaluation_expand(struct evaluation *evaluation,
                                                const struct node *section);
/* parameters.c */
MUST_CHECK bool evaluation_parameters(struct evaluation *evaluation,
                                      struct template_result *result);

#endif
