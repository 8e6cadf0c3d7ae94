/* condition_texts.h -- contains() on long values. The first few searches of a value run one by one;
 * then one pass finds all texts of the condition at once (text_search.h), except texts that are too
 * long for that, which are still searched one by one, equal ones once. */
#ifndef STATOR_EXPR_CONDITION_TEXTS_H
#define STATOR_EXPR_CONDITION_TEXTS_H
#include <stdbool.h>
#include "base/bytes.h"

struct condition;
struct lookup;

enum {
    CONDITION_TEXTS_LONG_MIN = 16 * 1024, /* Shorter values are always searched text by text. */
    /* Of a longer value, before one pass searches for all texts. */
    CONDITION_TEXTS_SEARCHES_MAX = 4,
};

/* True if `haystack`, a value of the lookup's item, contains `needle`, the second operand of
 * `contains`, which is part of the lookup's condition. Counts its work. */
bool condition_texts_found(struct lookup *lookup, const struct condition *contains,
                           struct bytes haystack, struct bytes needle);

#endif
