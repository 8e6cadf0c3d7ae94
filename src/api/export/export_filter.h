/* export_filter.h -- FilterSpecification: which items of an export are written, and what of them.
 */
#ifndef STATOR_API_EXPORT_EXPORT_FILTER_H
#define STATOR_API_EXPORT_EXPORT_FILTER_H
#include <stdbool.h>
#include "base/compiler.h"
#include "expr/lookup.h"
#include "history/history_reader.h"

struct arena;
struct condition;
struct error;
struct export_filter_request;
struct item;
struct path_node;
struct table_definition;

/* Lives in the arena it was compiled in. */
struct export_filter {
    bool has_range;  /* A key condition: only items of this range. */
    bool is_nothing; /* No key satisfies it. */
    struct history_range range;
    const struct condition *condition;  /* NULL: all of them. */
    const struct path_node *projection; /* NULL: whole items. */
    struct lookup lookup;
};

/* `request` NULL: everything passes. False with the service's words. */
MUST_CHECK bool export_filter_compile(struct arena *arena, const struct table_definition *table,
                                      const struct export_filter_request *request,
                                      struct export_filter *out, struct error *err);
bool export_filter_matches(struct export_filter *filter, const struct item *item);
/* What is to be written of the item: itself, or an item in the arena. */
struct item export_filter_project(const struct export_filter *filter, struct arena *arena,
                                  const struct item *item);

#endif
