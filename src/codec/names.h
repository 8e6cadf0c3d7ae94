/* names.h -- what JSON does not say about a service's answers: which members are times, doubles,
 * maps or blobs.
 *
 * A member has the same type wherever its service uses its name, so one short table per service is
 * enough. The type of a list's name is that of its elements.
 */
#ifndef STATOR_CODEC_NAMES_H
#define STATOR_CODEC_NAMES_H
#include <stddef.h>
#include "base/bytes.h"

enum {
    /* Requests in forms other than JSON are refused above this size, after inflating. The largest
     * that a service accepts has 1 MB. */
    CODEC_INPUT_SIZE_MAX = 4 * 1024 * 1024,
    /* Containers open at once, in requests and answers. */
    CODEC_DEPTH_MAX = 32,
};

enum codec_type {
    CODEC_PLAIN,          /* As JSON shows it; an object is a structure. */
    CODEC_TIMESTAMP,      /* A number of seconds since 1970. */
    CODEC_DOUBLE,         /* A number, or "NaN", "Infinity", "-Infinity". */
    CODEC_BLOB,           /* base64 text. */
    CODEC_MAP,            /* An object whose names are data. */
    CODEC_MAP_OF_DOUBLES, /* The same; its values are CODEC_DOUBLE. */
};

struct codec_member {
    const char *name;
    enum codec_type type;
};

struct codec_names {
    const struct codec_member *members; /* Sorted by name. */
    size_t count;
};

/* CODEC_PLAIN if the name is not in the table. */
enum codec_type codec_names_find(const struct codec_names *names, struct bytes name);

/* The type of the values in a map or list that has type `type`. */
enum codec_type codec_element_type(enum codec_type type);

#endif
