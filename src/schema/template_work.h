/* template_work.h -- bounds what the templates of a model cost the write path.
 *
 * A write compares its keys with the templates of all entities. Nearly all differ within the first
 * bytes. Those that begin alike and have a text between parameters that does not begin with '#',
 * such as `<year>-<month>`, each search the whole key, which has up to 2 KB: of them there may be
 * only so many.
 */
#ifndef STATOR_SCHEMA_TEMPLATE_WORK_H
#define STATOR_SCHEMA_TEMPLATE_WORK_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct model_file;

enum { TEMPLATE_SEARCHES_MAX = 32 }; /* Of one value. */

/* False with `*failure` set to a sentence if some value of a key of the file's tables could be
 * searched more often. */
MUST_CHECK bool template_work_check(struct arena *arena, const struct model_file *file,
                                    struct bytes *failure);

#endif
