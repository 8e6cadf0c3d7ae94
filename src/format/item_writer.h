/* item_writer.h -- items and changes as lines of text.
 *
 * Each function appends one line with its newline to a buffer. A caller that writes many empties
 * the buffer now and then, into a compressor for example: a line has at most a few times the size
 * of its items.
 */
#ifndef STATOR_FORMAT_ITEM_WRITER_H
#define STATOR_FORMAT_ITEM_WRITER_H
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "format/item_format.h"

struct item;

/* One item. `format` is not ITEM_FORMAT_CSV, which needs columns. */
void item_writer_item(struct buffer *out, enum item_format format, const struct item *item);

/* What an incremental export tells of one item. */
struct item_change {
    int64_t write_micros; /* Of the last change: microseconds since 1970. */
    const struct item *keys;
    const struct item *old_image; /* NULL: there was no item, or old images are not asked for. */
    const struct item *new_image; /* NULL: the item is gone. */
};
/* `format` is ITEM_FORMAT_DYNAMODB_JSON or ITEM_FORMAT_ION. */
void item_writer_change(struct buffer *out, enum item_format format,
                        const struct item_change *change);

/* A CSV header, and an item in its columns. An attribute without a column is left out, and a
 * column without an attribute is empty. Strings, numbers and booleans stand as they are, NULL is
 * empty, binary values are base64, lists, maps and sets are plain JSON. */
void item_writer_csv_header(struct buffer *out, const struct bytes *columns, size_t count);
void item_writer_csv_row(struct buffer *out, const struct bytes *columns, size_t count,
                         const struct item *item);

#endif
