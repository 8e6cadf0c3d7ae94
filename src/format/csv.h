/* csv.h -- CSV as RFC 4180 has it. Private to format/.
 *
 * A field is quoted as a whole or not at all; inside, a quote is written twice, and delimiters and
 * newlines stand for themselves. Backslashes mean nothing.
 */
#ifndef STATOR_FORMAT_CSV_H
#define STATOR_FORMAT_CSV_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

/* Finds the ends of rows; looks at each byte once, however the text is cut. */
struct csv_scan {
    uint8_t state;
    uint8_t delimiter;
};
void csv_scan_init(struct csv_scan *scan, uint8_t delimiter);
/* Looks at the bytes from `*at` to `len`. True if a row ends there: `*at` is then behind its
 * newline. */
bool csv_scan_run(struct csv_scan *scan, const uint8_t *data, size_t len, size_t *at);

/* The fields of a row, without its newline, in the arena. NULL with `*failure` set if the row is
 * not CSV or has more than `count_max` fields. */
MUST_CHECK struct bytes *csv_split(struct arena *arena, struct bytes row, uint8_t delimiter,
                                   size_t count_max, size_t *count, const char **failure);

#endif
