/* update_answer.h -- what UpdateTable's answer shows of a change that is under way.
 *
 * Observed in 2026: the answer describes the table as it is before the change takes effect. Which
 * values are the old ones, and which status shows the change (the table's, an index's, that of
 * encryption or of warm throughput), depends on what is changed.
 */
#ifndef STATOR_API_TABLE_UPDATE_ANSWER_H
#define STATOR_API_TABLE_UPDATE_ANSWER_H
#include <stdbool.h>

struct table_definition;
struct table_description;
struct update_table_request;

/* Does the table itself become UPDATING? Not by a change that is done with the answer, or of which
 * only an index or a setting tells. */
bool update_answer_begins_update(const struct update_table_request *request,
                                 const struct table_definition *before,
                                 const struct table_definition *after);

/* Turns a description of the changed definition into the answer's. */
void update_answer_apply(const struct update_table_request *request,
                         const struct table_definition *before, struct table_description *shown);

#endif
