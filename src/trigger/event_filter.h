/* event_filter.h -- Lambda's filter patterns: which records a trigger delivers.
 *
 * A pattern has the form of the record it describes. Where the record has a value, the pattern has
 * a list of allowed values. A record matches if every field of the pattern has a matching entry:
 *
 *     {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"Total": {"N": [{"prefix": "1"}]}}}}
 *
 * An entry is a value (text, number, true, false, null) or an object with one of "prefix",
 * "suffix", "equals-ignore-case", "anything-but", "numeric" and "exists". "$or" in place of a field
 * holds several patterns, one of which must match. Patterns are parsed once; matching reads only
 * the record's text.
 */
#ifndef STATOR_TRIGGER_EVENT_FILTER_H
#define STATOR_TRIGGER_EVENT_FILTER_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct error;
struct event_filter; /* Opaque. Lives in the arena it was parsed into. */

enum {
    EVENT_FILTER_SIZE_MAX = 4096,
    EVENT_FILTER_DEPTH_MAX = 32,
    /* Fields of one object, and of the list of a "$or". */
    EVENT_FILTER_FIELDS_MAX = 64,
};

/* NULL with a ValidationException set if the pattern is invalid. The result borrows `pattern`. */
MUST_CHECK const struct event_filter *event_filter_parse(struct arena *arena, struct bytes pattern,
                                                         struct error *err);
/* `record` is the JSON text of one record. Unescaped texts go into the arena. */
bool event_filter_matches(const struct event_filter *filter, struct arena *arena,
                          struct bytes record);

#endif
