/* replica_update.h -- UpdateTable of the replicas of a global table. */
#ifndef STATOR_API_TABLE_REPLICA_UPDATE_H
#define STATOR_API_TABLE_REPLICA_UPDATE_H
#include <stdbool.h>
#include "base/compiler.h"

struct api_call;
struct update_table_request;

/* Carries out a request that replica_rules_concerns, and writes the answer. False with call->error
 * set. On the control thread. */
MUST_CHECK bool replica_update_run(struct api_call *call,
                                   const struct update_table_request *request);

#endif
