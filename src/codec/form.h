/* form.h -- requests of the query protocol: application/x-www-form-urlencoded to JSON.
 *
 * Everything is text there, and lists and maps are spelled in the names of parameters:
 *
 *     Dimensions.member.1.Name=TableName      an element of a list of structures
 *     Attributes.entry.1.key=color            a map's entry, with Attributes.entry.1.value
 *     Dimensions=                             an empty list
 *
 * So the request's shape decides what a value is. Numbers of elements give their order only: they
 * may begin anywhere and have gaps.
 */
#ifndef STATOR_CODEC_FORM_H
#define STATOR_CODEC_FORM_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "codec/names.h"

struct arena;
struct error;
struct shape;

enum {
    /* Parameters of a request. PutMetricData with as many values as it may have needs fewer within
     * its megabyte. */
    FORM_PARAMETERS_MAX = 64 * 1024,
};

/* Reads a body by `shape`, a SHAPE_STRUCTURE. Parameters that it does not know are left out, as the
 * service does; of two with the same name, the last one counts. False with a SerializationException
 * for a value that its shape cannot read, a name that has the wrong form, or text that is not
 * UTF-8, and with another error for a body that is too large. */
MUST_CHECK bool form_decode(struct arena *arena, struct bytes body, const struct shape *shape,
                            struct bytes *json, struct error *err);

/* The value of the first parameter with this name, as sent: "Action" and "Version", whose values
 * need no escapes. data NULL: there is none with a value. */
struct bytes form_find(struct bytes body, const char *name);

#endif
