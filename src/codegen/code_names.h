/* code_names.h -- identifiers of a program, made of the names of a model.
 *
 * An identifier has letters, digits and underscores of ASCII, begins with a letter, is no word of
 * the language or of the generated file, and is the only one in its scope. So it never begins with
 * the underscore that the generated files' own helpers have.
 */
#ifndef STATOR_CODEGEN_CODE_NAMES_H
#define STATOR_CODEGEN_CODE_NAMES_H
#include <stddef.h>
#include "base/bytes.h"
#include "codegen/model_code.h"

struct arena;

/* order_id in Python and orderId in TypeScript; or OrderId in both. */
enum code_case { CODE_CASE_FUNCTION, CODE_CASE_TYPE };

enum { CODE_NAME_SIZE_MAX = 80 }; /* Without what makes it unique. */

/* The identifiers of a file, or of the parameters of a function. */
struct code_scope {
    struct arena *arena;
    enum code_language language;
    struct bytes *names;
    size_t count, capacity;
};

void code_scope_init(struct code_scope *scope, struct arena *arena, enum code_language language);
/* Adds an identifier for `name`; `prefix` and `suffix` are words of ours, or "". */
struct bytes code_scope_add(struct code_scope *scope, enum code_case form, const char *prefix,
                            struct bytes name, const char *suffix);

#endif
