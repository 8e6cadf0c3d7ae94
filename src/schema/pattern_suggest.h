/* pattern_suggest.h -- what could be changed in a model so that an index serves a pattern.
 *
 * Only for patterns that read and whose verdict is not good. A suggestion is a list of changes of
 * the file's tree, in the form of JSON Patch (RFC 6902), so that whoever asks can show them and
 * apply them. The cheapest come first: another index as it is, a projection, an index that other
 * entities use already, and only then a new index. Rows of the sample are not changed: entities say
 * which keys they lack.
 */
#ifndef STATOR_SCHEMA_PATTERN_SUGGEST_H
#define STATOR_SCHEMA_PATTERN_SUGGEST_H
#include <stddef.h>
#include "base/bytes.h"
#include "schema/pattern_verdict.h"

struct arena;

enum { PATTERN_SUGGESTIONS_MAX = 4 };

enum suggestion_kind {
    SUGGESTION_USE,      /* An index has the keys already: the pattern is changed only. */
    SUGGESTION_PROJECT,  /* The index lacks attributes. */
    SUGGESTION_OVERLOAD, /* An index of other entities gets keys of these. */
    SUGGESTION_INVERT,   /* The table's keys, with their roles exchanged. */
    SUGGESTION_SPARSE,   /* A new index that has only the items that are wanted. */
    SUGGESTION_ADD,      /* A new index. */
    SUGGESTION_COUNT,
};
const char *suggestion_kind_name(enum suggestion_kind kind); /* "OVERLOAD" */

struct suggestion {
    enum suggestion_kind kind;
    struct bytes text;       /* A sentence without a full stop. */
    struct json_node *patch; /* An array of {op, path, value}; in no tree. */
};

struct suggestions {
    struct suggestion list[PATTERN_SUGGESTIONS_MAX];
    size_t count;
    struct bytes hint; /* If there are none: why, as a sentence; data NULL otherwise. */
};

/* `verdict` is what pattern_verdict_of found. */
struct suggestions pattern_suggest(struct arena *arena, const struct model_file *file,
                                   const struct model_pattern *pattern,
                                   const struct pattern_verdict *verdict);

#endif
