/* reader.h -- a strict, one-pass JSON reader (RFC 8259) that pulls values and builds no tree.
 *
 * The caller asks for what it expects next. Text must be valid UTF-8 with paired surrogates;
 * numbers stay text; nesting is bounded by the depth given at the start. The first mistake in
 * the text makes every later call fail, so a caller may check once, at the end of a loop.
 *
 *     json_enter_object(&reader);
 *     while (json_next_member(&reader, &name))
 *         json_skip(&reader);            // every member's value must be consumed
 *     if (!json_finish(&reader)) ...     // also refuses text behind the value
 */
#ifndef STATOR_JSON_READER_H
#define STATOR_JSON_READER_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum {
    /* The largest `depth_max`: json_skip keeps one bit for each open container. */
    JSON_DEPTH_LIMIT = 256,
};

enum json_type {
    JSON_INVALID, /* No value begins here, or the reader failed earlier. */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_OBJECT,
    JSON_ARRAY,
};

struct json_reader {
    struct arena *arena; /* Holds strings that had escapes; the others are borrowed. */
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end;
    unsigned depth;
    unsigned depth_max;
    bool container_fresh; /* Just entered: the next member needs no comma before it. */
    bool value_due;       /* At the start, behind a name, and where an element begins. */
    const char *failure;  /* NULL while all is well; else what was wrong, for people. */
};

/* `text` must outlive what is read from it. `depth_max` containers may be open at once; it is at
 * most JSON_DEPTH_LIMIT. */
void json_reader_init(struct json_reader *reader, struct arena *arena, struct bytes text,
                      unsigned depth_max);

/* The type of the value that comes next, judged by its first byte; consumes only white space.
 * JSON_INVALID is a failure like any other: nothing can be read behind it. */
enum json_type json_peek(struct json_reader *reader);

/* Each reads one value of its type and fails on any other. Strings are UTF-8 without the quotes. */
MUST_CHECK bool json_read_string(struct json_reader *reader, struct bytes *out);
MUST_CHECK bool json_read_number(struct json_reader *reader, struct bytes *text);
MUST_CHECK bool json_read_bool(struct json_reader *reader, bool *out);
MUST_CHECK bool json_read_null(struct json_reader *reader);

/* False if the next value is of another type or too deep; the loops below then end at once. */
bool json_enter_object(struct json_reader *reader);
bool json_enter_array(struct json_reader *reader);
/* False at the end of the container (which is then left behind) and after a failure. */
bool json_next_member(struct json_reader *reader, struct bytes *name);
bool json_next_element(struct json_reader *reader);

/* Reads and checks the next value, whatever it is, without keeping it. */
bool json_skip(struct json_reader *reader);

/* True if one whole value was read without a mistake and only white space is left. */
MUST_CHECK bool json_finish(struct json_reader *reader);

static inline bool json_failed(const struct json_reader *reader)
{
    return reader->failure != NULL;
}

/* Where the reader stands; a copy of the struct is a bookmark that can be returned to. */
static inline size_t json_offset(const struct json_reader *reader)
{
    return (size_t)(reader->at - reader->start);
}

#endif
