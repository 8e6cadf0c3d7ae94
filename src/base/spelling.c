/* spelling.c -- see spelling.h. */
#include "base/spelling.h"
#include <assert.h>

/* How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn `a`
 * into `b`. */
static size_t edit_distance(struct bytes a, struct bytes b)
{
    size_t rows[3][SPELLING_SIZE_MAX + 1];
    size_t *two_above = rows[0], *above = rows[1], *row = rows[2];
    assert(a.len <= SPELLING_SIZE_MAX && b.len <= SPELLING_SIZE_MAX);
    for (size_t j = 0; j <= b.len; j++)
        row[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *free_row = two_above;
        two_above = above;
        above = row;
        row = free_row;
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t best = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            best = above[j] + 1 < best ? above[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
                best = two_above[j - 2] + 1 < best ? two_above[j - 2] + 1 : best;
            row[j] = best;
        }
    }
    return row[b.len];
}

struct spelling spelling_of(struct bytes written)
{
    return (struct spelling){ .written = written, .distance = SPELLING_EDITS_MAX + 1 };
}

void spelling_try(struct spelling *spelling, const char *known)
{
    struct bytes name = bytes_from_text(known);
    if (spelling->written.len > SPELLING_SIZE_MAX || name.len > SPELLING_SIZE_MAX)
        return;
    size_t distance = edit_distance(spelling->written, name);
    if (distance < spelling->distance && distance * SPELLING_EDIT_LETTERS <= name.len) {
        spelling->distance = distance;
        spelling->meant = known;
    }
}
