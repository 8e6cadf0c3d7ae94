/* reserved_words.h -- words that an expression may use only behind a #name. */
#ifndef STATOR_EXPR_RESERVED_WORDS_H
#define STATOR_EXPR_RESERVED_WORDS_H
#include <stdbool.h>
#include "base/bytes.h"

enum { RESERVED_WORDS_COUNT = 573 };

/* Letter case does not matter. */
bool reserved_words_contain(struct bytes name);

#endif
