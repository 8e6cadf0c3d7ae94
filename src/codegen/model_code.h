/* model_code.h -- programs that use the tables of a model: types of its entities, functions that
 * build their items, a function for each access pattern, and tests of all of them on the sample.
 *
 * For Python with boto3, and TypeScript with the AWS SDK v3. Nothing of the model becomes code but
 * identifiers that are made of its names' letters and digits.
 */
#ifndef STATOR_CODEGEN_MODEL_CODE_H
#define STATOR_CODEGEN_MODEL_CODE_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct model_file;

enum code_language { CODE_PYTHON, CODE_TYPESCRIPT, CODE_LANGUAGE_COUNT };
/* "python", "typescript"; false for any other text. */
MUST_CHECK bool code_language_parse(const char *text, enum code_language *out);

enum { CODE_FILES = 3 };
struct code_file {
    const char *name;
    struct bytes text;
};
/* The functions, their tests, and the tables and rows that the tests load. */
struct code_files {
    struct code_file files[CODE_FILES];
};

/* Texts are in the arena. False with `*failure` set to a sentence if a pattern has a value that is
 * none, or one that the functions would refuse. */
MUST_CHECK bool model_code(struct arena *arena, const struct model_file *file,
                           enum code_language language, struct code_files *out,
                           struct bytes *failure);

#endif
