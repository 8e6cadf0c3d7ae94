/* spelling.h -- guesses which known name a misspelt one was meant to be, for "did you mean ...?".
 *
 *   struct spelling spelling = spelling_of(written);
 *   for each known name: spelling_try(&spelling, known);
 *   if (spelling.meant != NULL) ...
 */
#ifndef STATOR_BASE_SPELLING_H
#define STATOR_BASE_SPELLING_H
#include <stddef.h>
#include "base/bytes.h"

enum {
    SPELLING_SIZE_MAX = 40,   /* Longer names resemble nothing. */
    SPELLING_EDITS_MAX = 2,   /* So many letters may be wrong, */
    SPELLING_EDIT_LETTERS = 3 /* and only one for so many letters of the known name. */
};

struct spelling {
    struct bytes written;
    const char *meant; /* The most similar of the names tried so far; NULL: it resembles none. */
    size_t distance;   /* Of `meant`. */
};

/* `written` must outlive the result. */
struct spelling spelling_of(struct bytes written);
void spelling_try(struct spelling *spelling, const char *known);

#endif
