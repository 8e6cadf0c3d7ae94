/* legacy_update.h -- AttributeUpdates and AttributesToGet as compiled expressions. */
#ifndef STATOR_EXPR_LEGACY_UPDATE_H
#define STATOR_EXPR_LEGACY_UPDATE_H
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "expr/ast.h"
#include "model/value.h"

struct arena;
struct error;
struct path_node;

/* One member of AttributeUpdates. */
struct legacy_update {
    struct bytes name;
    struct bytes action;       /* "PUT", "ADD", "DELETE"; data NULL: absent, which means PUT. */
    const struct value *value; /* NULL: absent. */
};

/* `updates` sorted by name. The result and `updates` may be empty. */
MUST_CHECK const struct update *legacy_update_translate(struct arena *arena,
                                                        const struct legacy_update *updates,
                                                        size_t count, struct error *err);

/* AttributesToGet as a tree of paths: each name is one whole attribute, dots and brackets included.
 * Borrows `names`. */
MUST_CHECK const struct path_node *legacy_update_projection(struct arena *arena,
                                                            const struct bytes *names, size_t count,
                                                            struct error *err);

#endif
