/* check_expiry.h -- a table's expiry queue against its items: each item that can expire has its
 * entry, and each entry is that of an item. A queue that is being filled may lack entries behind
 * its position; of one that is about to go nothing is asked. */
#ifndef STATOR_CHECK_CHECK_EXPIRY_H
#define STATOR_CHECK_CHECK_EXPIRY_H
#include "base/bytes.h"
#include "engine/engine.h"

struct arena;
struct check_report;
struct item;
struct table_definition;

struct check_expiry {
    struct engine_view *view;
    const struct table_definition *table;
    struct check_report *report;
    struct arena *scratch; /* Used during the calls; the second one resets it. */
};

/* For each whole item in its place. */
void check_expiry_of_item(const struct check_expiry *check, const struct engine_address *address,
                          const struct item *item);
/* Walks the queues of all partitions. */
void check_expiry_queues(struct check_expiry *check);

#endif
