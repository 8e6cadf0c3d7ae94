/* storage_error.h -- the one place where an engine's failure becomes an answer to a client. */
#ifndef STATOR_TABLE_STORAGE_ERROR_H
#define STATOR_TABLE_STORAGE_ERROR_H
#include <stdbool.h>
#include "engine/engine.h"

struct error;

/* Sets an InternalServerError; what happened goes to the log, at a limited rate, and not to the
 * client, but for a full disk, which both can do something about. `doing` says what failed, for
 * people. Where a transaction was in the way (ENGINE_CONFLICT) it is a
 * TransactionConflictException. Where other writes were, for too long (ENGINE_BUSY), it is a
 * ThrottlingException: documented for every write, repeated by every SDK in all its retry modes,
 * after a pause, and clear about nothing having been written, which an InternalServerError is not.
 * Returns false. */
bool storage_error_set(struct error *err, enum engine_status status, const char *doing);
/* The same for changes of tables, which know neither of the two: writes that were in the way are an
 * InternalServerError, too, and clients repeat it. */
bool storage_error_set_for_table(struct error *err, enum engine_status status, const char *doing);

#endif
