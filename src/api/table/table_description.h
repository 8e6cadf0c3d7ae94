/* table_description.h -- a table's definition as the service's TableDescription. */
#ifndef STATOR_API_TABLE_TABLE_DESCRIPTION_H
#define STATOR_API_TABLE_TABLE_DESCRIPTION_H
#include <stdbool.h>
#include <stdint.h>
#include "model/table_definition.h"
#include "table/table_stats.h"

struct arena;
struct json_writer;

/* CreateTable does not show throughput that it was not asked to warm, and DeleteTable shows little
 * more than what the table was. */
enum description_kind { DESCRIPTION_OF_TABLE, DESCRIPTION_OF_CREATION, DESCRIPTION_OF_DELETION };

/* What is shown of the throughput of a table or a global index. */
struct capacity_shown {
    struct throughput provisioned;
    struct unit_pair on_demand_max;
    bool read_max_removed; /* Shown as -1; so for the next one. */
    bool write_max_removed;
    struct unit_pair warm;
    bool is_warming;  /* WarmThroughput.Status is UPDATING. */
    bool is_updating; /* Of an index: IndexStatus is UPDATING. */
};

/* What is shown may differ from the definition, which may have moved on already: UpdateTable's
 * answer shows what was before (update_answer.h). */
struct table_description {
    enum description_kind kind;
    const struct table_definition *definition;
    const struct table_definition *encrypted; /* Whose encryption is shown. */
    bool encryption_changes;
    const struct table_definition *classed; /* Whose table class is shown. */
    enum table_status status;
    int64_t on_demand_since_ms;
    struct capacity_shown table;
    struct capacity_shown indexes[INDEXES_MAX]; /* In the order of the table's indexes. */
    struct table_stats stats;
    struct table_stats index_stats[INDEXES_MAX]; /* In the order of the table's indexes. */
    struct bytes hidden_replica; /* The region of one that is not shown yet; data NULL: none. */
    int64_t now_ms;
    const char *region;
    const char *account_id;
};

/* Describes the definition as it is; the statistics, the time and the place are zero. */
void table_description_init(struct table_description *description, enum description_kind kind,
                            const struct table_definition *definition, enum table_status status);

/* KMSMasterKeyArn of an encrypted table, in the arena. */
struct bytes table_description_key_arn(struct arena *arena,
                                       const struct table_definition *definition,
                                       const char *region, const char *account_id);

/* One JSON object. The arena is for what is formatted on the way. */
void table_description_write(struct json_writer *writer, struct arena *arena,
                             const struct table_description *description);

/* The member KeySchema: HASH attributes, then RANGE attributes. */
void table_description_write_key(struct json_writer *writer, const struct key_attribute *hash,
                                 size_t hash_count, const struct key_attribute *range,
                                 size_t range_count);
/* The member Projection. The arena is for what is formatted on the way. */
void table_description_write_projection(struct json_writer *writer, struct arena *arena,
                                        const struct index_definition *index);

#endif
