/* series_identity.h -- what names a series, as bytes that are equal if and only if the names are.
 *
 * Namespace, name, number of dimensions, and name and value of each, sorted by name. Each text is a
 * length and its bytes, the number is a length, too. The unit is not part of it.
 */
#ifndef STATOR_CLOUDWATCH_SERIES_IDENTITY_H
#define STATOR_CLOUDWATCH_SERIES_IDENTITY_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "cloudwatch/series.h"

struct bytes series_identity_encode(struct arena *arena, const struct series_key *key);
/* False unless series_identity_encode could have made the bytes. The texts are borrowed from them;
 * `unit` is UNIT_ANY. */
MUST_CHECK bool series_identity_decode(struct arena *arena, struct bytes identity,
                                       struct series_key *out);

/* Seeded, so that clients cannot choose names whose hashes are equal. */
uint64_t series_identity_hash(struct bytes identity, uint64_t seed);

#endif
