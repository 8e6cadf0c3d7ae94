/* ion.h -- Ion text (amazon-ion.github.io), as far as items need it. Private to format/.
 *
 * Writing follows ion-java to the byte, so that exports look like the service's. Reading turns a
 * value into DynamoDB's JSON, which model/value_json.h reads: the rules of items are there, and
 * nowhere else.
 */
#ifndef STATOR_FORMAT_ION_H
#define STATOR_FORMAT_ION_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"

struct item;

/* {pk:"a",n:1.5} */
void ion_write_item(struct buffer *out, const struct item *item);

/* --- Reading --- */

/* Reads values from one struct that ion_scan found. */
struct ion_reader {
    struct arena *arena;
    const uint8_t *at;
    const uint8_t *end;
    const char *failure; /* NULL while all is well; otherwise what is wrong with the text. */
    /* The first value of a type that no item can have; NULL: none. null stands in its place. */
    const char *unsupported;
};

void ion_reader_init(struct ion_reader *reader, struct arena *arena, struct bytes text);
/* Enters the struct that the text begins with. */
bool ion_enter_struct(struct ion_reader *reader);
/* False at the end of the struct and after a failure. The caller then reads the field's value. */
bool ion_next_field(struct ion_reader *reader, struct bytes *name);
/* True if the field's value is a struct. */
bool ion_at_struct(struct ion_reader *reader);
/* Appends the struct as the JSON of an item: {"pk":{"S":"a"}}. */
MUST_CHECK bool ion_read_item(struct ion_reader *reader, struct buffer *json);
/* Reads a struct of strings into JSON: {"#a":"b"}. */
MUST_CHECK bool ion_read_texts(struct ion_reader *reader, struct buffer *json);
MUST_CHECK bool ion_read_string(struct ion_reader *reader, struct bytes *out);
MUST_CHECK bool ion_skip(struct ion_reader *reader);
/* True if only white space and comments are left. */
bool ion_finish(struct ion_reader *reader);

/* --- Finding records in a stream --- */

enum ion_scan_result { ION_SCAN_MORE, ION_SCAN_RECORD, ION_SCAN_BROKEN };

/* Finds the structs of a stream: those at its top, and those in lists at its top. Looks at each
 * byte once, however the stream is cut. */
struct ion_scan {
    uint8_t state;
    uint8_t token; /* How much of a version marker, or of a row of quotes, was seen. */
    bool in_list;
    bool after_value; /* In a list: a comma must come first. */
    bool triple;
    uint32_t depth;
};

void ion_scan_init(struct ion_scan *scan);
/* Looks at the bytes from `*at` to `len` and moves `*at` behind them, or behind the record that
 * ends there. `*begin` is where the record under way begins; it is set when one begins. */
enum ion_scan_result ion_scan_run(struct ion_scan *scan, const uint8_t *data, size_t len,
                                  size_t *at, size_t *begin);
/* True if the stream may end here. */
bool ion_scan_complete(const struct ion_scan *scan);

#endif
