/* properties.h -- the properties of resource types as tables, and the one check of them. Private to
 * template/.
 *
 * Templates write numbers and booleans as text as often as not; what comes out has the type that
 * the table says. What the table does not have is refused.
 */
#ifndef STATOR_TEMPLATE_PROPERTIES_H
#define STATOR_TEMPLATE_PROPERTIES_H
#include <stdbool.h>
#include <stddef.h>
#include "base/compiler.h"

struct evaluation;
struct node;
struct template_resource;

enum property_kind {
    PROPERTY_TEXT,
    PROPERTY_INTEGER,
    PROPERTY_NUMBER,
    PROPERTY_BOOL,
    PROPERTY_TEXTS, /* A list of texts. */
    PROPERTY_MAP,   /* With the members of `shape`. */
    PROPERTY_LIST,  /* Of such maps. */
    PROPERTY_JSON,  /* Any object, or JSON as text. */
    PROPERTY_ANY,   /* Left as it is. */
};

enum property_flags {
    PROPERTY_REQUIRED = 1,
    /* A value that depends on a resource of another service is left out, with a notice, instead of
     * refused. */
    PROPERTY_DROPPABLE = 2,
};

struct property {
    const char *name;
    enum property_kind kind;
    unsigned flags;
    const struct property_shape *shape;
};

struct property_shape {
    const struct property *properties;
    size_t count;
};

extern const struct property_shape property_shape_table;
extern const struct property_shape property_shape_global_table;
extern const struct property_shape property_shape_simple_table;
extern const struct property_shape property_shape_scalable_target;
extern const struct property_shape property_shape_scaling_policy;
extern const struct property_shape property_shape_alarm;
extern const struct property_shape property_shape_composite_alarm;
extern const struct property_shape property_shape_dashboard;

/* The properties of a resource with the types of the table; NULL with the error set. */
MUST_CHECK struct node *properties_check(struct evaluation *evaluation,
                                         const struct template_resource *resource,
                                         const struct property_shape *shape);

#endif
