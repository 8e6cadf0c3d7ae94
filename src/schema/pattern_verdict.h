/* pattern_verdict.h -- judges a model without running it: which index serves which access pattern
 * and why, entities whose keys collide, projections that lack attributes or waste them, and what a
 * pattern costs on the sample.
 *
 * If the file has a budget and it is used up, discard the result (model_budget.h).
 */
#ifndef STATOR_SCHEMA_PATTERN_VERDICT_H
#define STATOR_SCHEMA_PATTERN_VERDICT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "model/item.h"
#include "schema/model_file.h"

struct arena;

enum verdict {
    VERDICT_SERVED,  /* By one GetItem, one write, or one Query of as many pages as it needs. */
    VERDICT_FETCHES, /* The same, and a local index reads further attributes from its table. */
    VERDICT_NOT_PROJECTED, /* A global index lacks attributes: the request is refused. */
    VERDICT_SCAN,          /* Only by reading everything. */
    VERDICT_REFUSED,       /* The request makes no sense there. */
    VERDICT_FINDS_NOTHING, /* No entity that it is for has such keys. */
    VERDICT_COUNT,
};
const char *verdict_name(enum verdict verdict); /* "served" */
/* Whether the pattern works there as it is. */
static inline bool verdict_is_good(enum verdict verdict)
{
    return verdict == VERDICT_SERVED || verdict == VERDICT_FETCHES;
}

struct pattern_verdict {
    enum verdict verdict;
    struct bytes reason;  /* A sentence without a full stop. */
    struct bytes missing; /* Attributes that are not projected, with commas; data NULL: none. */
};

/* The pattern as it is written, on the index that it names. */
struct pattern_verdict pattern_verdict_of(struct arena *arena, const struct model_file *file,
                                          const struct model_pattern *pattern);
/* Whether another index could serve a reading pattern: by the templates that the pattern's entities
 * have there, and the parameters that the pattern has. */
struct pattern_verdict pattern_verdict_elsewhere(struct arena *arena, const struct model_file *file,
                                                 const struct model_pattern *pattern,
                                                 const struct model_index *index);

/* Called for each pair of entities of which one item may have the key of the other. */
typedef void collision_visit(void *context, const struct model_entity *a,
                             const struct model_entity *b);
size_t pattern_verdict_collisions(const struct model_file *file, collision_visit *visit,
                                  void *context);

/* What no pattern needs of an index, as a sentence; data NULL: everything is needed, or unknown. */
struct bytes pattern_verdict_waste(struct arena *arena, const struct model_file *file,
                                   const struct model_table *table,
                                   const struct model_index *index);

/* Whether items of the index have the attribute. */
bool model_index_projects(const struct model_table *table, const struct model_index *index,
                          struct bytes attribute);

/* What a pattern consumes on the rows of the sample, before any pattern has changed them. */
struct pattern_estimate {
    bool known;
    int64_t items;      /* Read, before a filter; or written. */
    int64_t half_units; /* Of the table and its indexes, read or written. */
};
/* Only for a pattern whose verdict is good. Not known: UpdateItem, which is not evaluated here,
 * reads through a local index that fetches, and limits that end between items whose order is not
 * known here. */
struct pattern_estimate pattern_estimate_of(struct arena *arena, const struct model_file *file,
                                            const struct model_pattern *pattern);

/* What is wrong with the values of a pattern's keys on an index, all of whose parameters have
 * values: a sentence; data NULL: nothing. */
struct bytes pattern_estimate_fault(struct arena *arena, const struct model_pattern *pattern,
                                    const struct model_index *index);

/* A row as an item; false if it is none: `*failure` tells why. */
bool model_row_item(struct arena *arena, const struct json_node *row, struct item *out,
                    struct bytes *failure);

#endif
