/* shape.h -- the service model's shape rules: one table per operation, one reader, one validator.
 *
 * A shape describes a JSON value and the C structure it is read into. shape_read fills the
 * structure in one pass over the text and fails only if the protocol cannot read the text
 * (SerializationException). shape_validate then walks the same tables and collects every broken
 * constraint the way the service does ("2 validation errors detected: ..."). Rules that tie fields
 * together belong to the operation's own file.
 */
#ifndef STATOR_SHAPE_SHAPE_H
#define STATOR_SHAPE_SHAPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "model/error.h"
#include "model/item.h"

struct arena;

/* The C type that each kind is read into. An absent member, or JSON null, leaves it zeroed. */
enum shape_kind {
    SHAPE_STRING,    /* struct bytes; absent: data NULL */
    SHAPE_BOOLEAN,   /* struct shape_boolean */
    SHAPE_INTEGER,   /* struct shape_integer; 32 bits */
    SHAPE_LONG,      /* struct shape_integer; 64 bits */
    SHAPE_DOUBLE,    /* struct shape_double; may be infinite or not a number */
    SHAPE_TIMESTAMP, /* struct shape_integer: milliseconds since 1970 */
    SHAPE_STRUCTURE, /* pointer to a structure of `size` bytes; absent: NULL */
    SHAPE_LIST,      /* struct shape_list of the element's representation */
    SHAPE_MAP,       /* struct shape_map: parallel names and elements */
    SHAPE_ITEM,      /* struct shape_item: a map of attribute values, encoded at once */
    SHAPE_VALUE,     /* struct shape_value: one attribute value, encoded */
};

struct shape_boolean {
    bool present;
    bool value;
};
struct shape_integer {
    bool present;
    int64_t value;
};
struct shape_double {
    bool present;
    double value;
};
struct shape_list {
    bool present;
    size_t count; /* In the text. */
    size_t kept;  /* In `elements`: all of them, unless there are more than the list may have. */
    void *elements;
};
struct shape_map {
    bool present;
    size_t count;
    struct bytes *names; /* Sorted by bytes. Of equal names in the text the last one counts. */
    void *elements;
};
struct shape_item {
    bool present;
    struct item item;
    /* The first broken rule of attribute values, which the operation reports in the service's
     * order; NULL: none. */
    const struct error *rule;
};
struct shape_value {
    bool present;
    struct bytes encoded;
    const struct error *rule; /* As an item's. Not the error itself: lists have many values. */
};

struct shape_field {
    const char *name; /* As in JSON: "TableName". Paths in messages begin lower-case. */
    const struct shape *shape;
    size_t offset; /* Of the representation within the structure. */
    bool required;
    /* The service checks this field before the others and reports it alone. */
    bool alone;
    /* Required fields: the whole message, if the service has a special one. */
    const char *absent_text;
};

struct shape {
    enum shape_kind kind;
    /* SHAPE_STRUCTURE: the service's name of it, as messages show it: "KeySchemaElement". */
    const char *type_name;
    int64_t min; /* Length as Java counts it, count or value; SHAPE_NO_MIN: unchecked. */
    int64_t max;
    const char
        *length_text; /* The whole message for a wrong length, if the service has a special one. */
    /* SHAPE_STRING: whole messages, each reported alone, for an empty text and for one outside the
     * enumeration, if the service has special ones. */
    const char *empty_text;
    const char *enum_text;
    /* SHAPE_STRING: a value for which this returns true is not checked further (an ARN as a name).
     */
    bool (*exempt)(struct bytes);
    /* Observed for a few: messages name the field as JSON does, and do not show its value. */
    bool bare;
    /* SHAPE_STRUCTURE, observed for one: only the first value outside its enumeration is reported.
     */
    bool one_enum_error;
    /* SHAPE_STRING, observed for a few: a wrong length is reported before a broken pattern. */
    bool length_first;
    const char *pattern;           /* As the service prints it; NULL: none. */
    bool (*matches)(struct bytes); /* Does a value match it? */
    /* NULL-terminated, in the order in which the service prints them; NULL: none. All but one of
     * those that were captured are in the order of Java's String.hashCode modulo 32, so the others
     * are assumed to be. */
    const char *const *enum_values;
    const struct shape_field *fields; /* SHAPE_STRUCTURE: in the order errors are reported. */
    size_t field_count;
    size_t size;                 /* SHAPE_STRUCTURE: of the C structure. */
    const struct shape *element; /* SHAPE_LIST, SHAPE_MAP */
};

#define SHAPE_NO_MIN INT64_MIN
#define SHAPE_NO_MAX INT64_MAX
#define SHAPE_UNBOUNDED .min = SHAPE_NO_MIN, .max = SHAPE_NO_MAX

/* A row of a shape's fields: JSON name, shape, structure and its member. */
#define SHAPE_FIELD(structure, member, json_name, shape_pointer)                                   \
    .name = (json_name), .shape = (shape_pointer), .offset = offsetof(structure, member)
/* The fields and size of a SHAPE_STRUCTURE. */
#define SHAPE_STRUCTURE_OF(structure, field_table)                                                 \
    .kind = SHAPE_STRUCTURE, .fields = (field_table), .field_count = COUNT_OF(field_table),        \
    .size = sizeof(structure), SHAPE_UNBOUNDED

enum {
    /* Containers open at once in a request's JSON. An attribute value takes two (its type's object
     * and its map), so this is past NESTING_DEPTH_MAX, whose own error must be reachable. The
     * service reports that one at 100 levels too. */
    SHAPE_JSON_DEPTH_MAX = 256,
    /* The service reports no more broken constraints than this. */
    SHAPE_ERRORS_MAX = 10,
    /* Values in messages are cut here: a request may hold millions of elements. */
    SHAPE_RENDERED_MAX = 64 * 1024,
    /* Elements kept of a list that is longer than its bound; the rest is only counted. */
    SHAPE_ELEMENTS_KEPT_MAX = 4096,
    /* Memory that reading may take from the arena: a multiple of the text's size, and a minimum. No
     * request that the service would accept comes near. */
    SHAPE_MEMORY_FACTOR = 8,
    SHAPE_MEMORY_MIN = 8 * 1024 * 1024,
};

/* Timestamps outside of these years, which ISO 8601 can write, become the nearest one inside. */
#define SHAPE_TIMESTAMP_MIN_MS (-62135596800000) /* 0001-01-01T00:00:00Z */
#define SHAPE_TIMESTAMP_MAX_MS 253402300799999   /* 9999-12-31T23:59:59.999Z */

/* Size of the C type, as a field or as an element of a list or map. */
size_t shape_element_size(const struct shape *shape);

/* Reads one value of a SHAPE_STRUCTURE into memory of `shape->size` bytes at `out`, which it clears
 * first. Unknown members are skipped, as the service does. False with a SerializationException,
 * whose message is empty where the text is not JSON, or with an error of ours for a text that would
 * take too much memory. */
MUST_CHECK bool shape_read(struct arena *arena, struct bytes text, const struct shape *shape,
                           void *out, struct error *err);
/* False with all broken constraints in one message. */
MUST_CHECK bool shape_validate(struct arena *arena, const struct shape *shape,
                               const void *structure, struct error *err);

#endif
