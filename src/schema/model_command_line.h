/* model_command_line.h -- access patterns that are written as commands of the AWS CLI. */
#ifndef STATOR_SCHEMA_MODEL_COMMAND_LINE_H
#define STATOR_SCHEMA_MODEL_COMMAND_LINE_H
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct json_node;

/* A pattern in our form, of one of AWS's MCP server: {pattern, table, index, implementation, ...}.
 * `root` has the tables. NULL with `*why` set if the command is not understood. */
MUST_CHECK struct json_node *model_command_line_pattern(struct arena *arena,
                                                        const struct json_node *source,
                                                        const struct json_node *root,
                                                        struct bytes *why);

#endif
