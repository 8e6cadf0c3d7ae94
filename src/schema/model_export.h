/* model_export.h -- the tables of a model as the input of other tools. */
#ifndef STATOR_SCHEMA_MODEL_EXPORT_H
#define STATOR_SCHEMA_MODEL_EXPORT_H
#include <stdbool.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct model_file;

enum model_format {
    MODEL_FORMAT_WORKBENCH,
    MODEL_FORMAT_CLOUDFORMATION, /* JSON */
    MODEL_FORMAT_CDK,            /* TypeScript, CDK v2 */
    MODEL_FORMAT_TERRAFORM,
    MODEL_FORMAT_CLI, /* Commands of the AWS CLI, with the rows of the sample. */
    MODEL_FORMAT_COUNT,
};
/* "workbench", "cloudformation", "cdk", "terraform", "cli"; false for any other text. */
MUST_CHECK bool model_format_parse(const char *text, enum model_format *out);

/* The text, in the arena. */
struct bytes model_export(struct arena *arena, const struct model_file *file,
                          enum model_format format);

#endif
