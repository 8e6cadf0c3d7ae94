/* condition_texts.h -- contains() on long texts: the first few are searched one by one, the others
 * all at once (text_search.h). Those that are too long for that are searched one by one too, equal
 * ones once.
 */
#ifndef STATOR_EXPR_CONDITION_TEXTS_H
#define STATOR_EXPR_CONDITION_TEXTS_H
#include <stdbool.h>
#include "base/bytes.h"

struct condition;
struct lookup;

enum {
    CONDITION_TEXTS_LONG_MIN = 16 * 1024, /* Shorter ones are always searched by themselves. */
    CONDITION_TEXTS_SEARCHES_MAX = 4,     /* Of a longer one, before all texts are looked for. */
};

/* Whether `haystack`, a value of the lookup's item, contains `needle`, the second operand of
 * `contains`, which is part of the lookup's condition. Counts its work. */
bool condition_texts_found(struct lookup *lookup, const struct condition *contains,
                           struct bytes haystack, struct bytes needle);

#endif
