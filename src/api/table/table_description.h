/* table_description.h -- a table's definition as the service's TableDescription. */
#ifndef STATOR_API_TABLE_TABLE_DESCRIPTION_H
#define STATOR_API_TABLE_TABLE_DESCRIPTION_H
#include <stdint.h>
#include "model/table_definition.h"
#include "table/table_stats.h"

struct arena;
struct json_writer;

/* CreateTable does not show throughput that it was not asked to warm, and DeleteTable shows little
 * more than what the table was. */
enum description_kind { DESCRIPTION_OF_TABLE, DESCRIPTION_OF_CREATION, DESCRIPTION_OF_DELETION };

struct table_description {
    enum description_kind kind;
    const struct table_definition *definition;
    /* Whose encryption is shown: UpdateTable that disables it still shows the definition before. */
    const struct table_definition *encrypted;
    enum table_status status;      /* What is shown; the stored one may have moved on already. */
    struct throughput provisioned; /* Likewise: UpdateTable still shows the old units. */
    struct table_stats stats;
    struct table_stats index_stats[INDEXES_MAX]; /* In the order of the table's indexes. */
    int64_t now_ms;
    const char *region;
    const char *account_id;
};

/* One JSON object. The arena is for what is formatted on the way. */
void table_description_write(struct json_writer *writer, struct arena *arena,
                             const struct table_description *description);

/* The member KeySchema: HASH attributes, then RANGE attributes. */
void table_description_write_key(struct json_writer *writer, const struct key_attribute *hash,
                                 size_t hash_count, const struct key_attribute *range,
                                 size_t range_count);

#endif
