/* check_replicas.h -- the stamps of a global table and the queues of its regions are whole. */
#ifndef STATOR_CHECK_CHECK_REPLICAS_H
#define STATOR_CHECK_CHECK_REPLICAS_H

struct check_report;
struct engine_view;
struct table_definition;

/* Every stamp says truly whether its item was deleted; every entry can be read. A table without a
 * group has neither. */
void check_replicas(struct engine_view *view, const struct table_definition *table,
                    struct check_report *report);

#endif
