/* model_request.h -- the requests that create a model's tables, load its sample and run its access
 * patterns. */
#ifndef STATOR_SCHEMA_MODEL_REQUEST_H
#define STATOR_SCHEMA_MODEL_REQUEST_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "schema/model_file.h"

struct arena;
struct json_node;

/* What changes in a table's billing. The service refuses units that are what they were, and asks
 * for those of each global index when a table becomes provisioned. */
struct model_throughput {
    struct bytes index;
    int64_t read_units, write_units;
};
struct model_billing {
    const struct model_table *table;
    bool mode;
    bool units; /* Of the table. */
    const struct model_throughput *indexes;
    size_t index_count;
};

/* Bodies in JSON, in the arena. */
struct bytes model_request_create_table(struct arena *arena, const struct model_table *table);
/* data NULL: the table has no time to live. */
struct bytes model_request_time_to_live(struct arena *arena, const struct model_table *table);
/* Disables the time to live of a table that has it. */
struct bytes model_request_end_time_to_live(struct arena *arena, const struct model_table *table);
struct bytes model_request_put_item(struct arena *arena, const struct model_table *table,
                                    const struct json_node *row);
/* UpdateTable: one change each. */
struct bytes model_request_create_index(struct arena *arena, const struct model_table *table,
                                        const struct model_index *index);
struct bytes model_request_delete_index(struct arena *arena, const struct model_table *table,
                                        const struct model_index *index);
struct bytes model_request_billing(struct arena *arena, const struct model_billing *billing);
/* One page of a pattern, with its capacity; `after` is the LastEvaluatedKey of the page before, or
 * NULL. False with `*missing` set if a parameter has no value. */
MUST_CHECK bool model_request_pattern(struct arena *arena, const struct model_file *file,
                                      const struct model_pattern *pattern,
                                      const struct json_node *after, struct bytes *body,
                                      struct bytes *missing);

#endif
