/* continuous_backups.h -- what DescribeContinuousBackups and UpdateContinuousBackups share.
 *
 * Only the setting is there: the table's definition says since when and how far back a table is to
 * be restorable.
 */
#ifndef STATOR_API_TABLE_CONTINUOUS_BACKUPS_H
#define STATOR_API_TABLE_CONTINUOUS_BACKUPS_H
#include <stdint.h>
#include "base/bytes.h"

struct api_call;
struct table;
struct table_definition;

/* The table of that name or ARN; the caller owes a table_release. NULL with TableNotFoundException,
 * which these operations have in place of ResourceNotFoundException, if there is none or it is
 * being deleted. */
struct table *continuous_backups_find(struct api_call *call, struct bytes name_or_arn);

/* The earliest time the table can be restored to; 0 while recovery is disabled. */
int64_t continuous_backups_earliest_ms(const struct table_definition *definition, int64_t now_ms);

/* Writes the call's response. */
void continuous_backups_answer(struct api_call *call, const struct table_definition *definition);

#endif
