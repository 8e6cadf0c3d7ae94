/* writer.h -- JSON text into a buffer, with commas put where they belong.
 *
 * The caller keeps the grammar (a name before each member's value); asserts catch what they can.
 * Nothing here fails: strings are valid UTF-8 by contract, numbers are text already.
 */
#ifndef STATOR_JSON_WRITER_H
#define STATOR_JSON_WRITER_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"

struct json_writer {
    struct buffer *out;
    bool needs_comma; /* The last thing written was a whole value. */
};

void json_writer_init(struct json_writer *writer, struct buffer *out);

void json_open_object(struct json_writer *writer);
void json_close_object(struct json_writer *writer);
void json_open_array(struct json_writer *writer);
void json_close_array(struct json_writer *writer);

/* A member's name. json_write_name is for literals, which need no escaping. */
void json_write_name(struct json_writer *writer, const char *name);
void json_write_name_bytes(struct json_writer *writer, struct bytes name);

void json_write_string(struct json_writer *writer, struct bytes value);
void json_write_text(struct json_writer *writer, const char *value);
void json_write_base64(struct json_writer *writer, struct bytes value); /* A quoted string. */
void json_write_bool(struct json_writer *writer, bool value);
void json_write_null(struct json_writer *writer);
void json_write_integer(struct json_writer *writer, int64_t value);
/* Rounded to the fewest digits that read back as the same number, with a point or an exponent:
 * "7.0", "0.1", "1e+300". The number must be finite. */
void json_write_double(struct json_writer *writer, double value);
enum { JSON_DOUBLE_TEXT_SIZE = 32 };
void json_format_double(double value, char out[JSON_DOUBLE_TEXT_SIZE]);
/* A time as DynamoDB writes it: seconds with three decimals, trailing zeros dropped. */
void json_write_seconds(struct json_writer *writer, int64_t milliseconds);
/* Twice the number of capacity units: halves are exact ("0.5", "1.0"). */
void json_write_half_units(struct json_writer *writer, int64_t half_units);

/* What stands before and behind a string's content in a value that is written over and over, for
 * example {"S":" and "}. Copied in one step, which is why it is short. */
enum { JSON_FRAME_SIZE_MAX = 8 };
struct json_frame {
    char before[JSON_FRAME_SIZE_MAX];
    char behind[JSON_FRAME_SIZE_MAX];
    uint8_t before_size;
    uint8_t behind_size;
};
#define JSON_FRAME(before, behind)                                                                 \
    {                                                                                              \
        before, behind, sizeof(before) - 1, sizeof(behind) - 1                                     \
    }
/* One value: the frame around `value`, which is escaped. */
void json_write_framed(struct json_writer *writer, const struct json_frame *frame,
                       struct bytes value);
/* A member and its value in one step: the frame begins with the name's closing quote and a colon.
 * Short texts are copied as blocks of JSON_BLOCK_SIZE, and so read beyond their end: both are
 * followed by memory up to `readable`. */
enum { JSON_BLOCK_SIZE = 16 };
void json_write_framed_member(struct json_writer *writer, struct bytes name,
                              const struct json_frame *frame, struct bytes value,
                              const uint8_t *readable);
/* The same of a value that lies elsewhere than its name, and is followed by a block. */
void json_write_made_member(struct json_writer *writer, struct bytes name,
                            const struct json_frame *frame, struct bytes value,
                            const uint8_t *name_readable);
/* Text that is one JSON value already. */
void json_write_raw(struct json_writer *writer, struct bytes value);

#endif
