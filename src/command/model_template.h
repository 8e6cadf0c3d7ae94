/* model_template.h -- templates of CloudFormation and plans of Terraform as models of their tables.
 */
#ifndef STATOR_COMMAND_MODEL_TEMPLATE_H
#define STATOR_COMMAND_MODEL_TEMPLATE_H
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum model_template_result {
    MODEL_TEMPLATE_NONE, /* The text is no template. */
    MODEL_TEMPLATE_CONVERTED,
    MODEL_TEMPLATE_WRONG, /* It is one, and makes no sense: a line was written to stderr. */
};
/* Turns the tables of a template into a text that model_file_load reads, in the arena. Parameters
 * have their defaults. `name` is that of the file, for messages. */
MUST_CHECK enum model_template_result model_template_convert(struct arena *arena, struct bytes text,
                                                             const char *name, struct bytes *out);

#endif
