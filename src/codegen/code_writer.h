/* code_writer.h -- text of a program, in which everything that comes from a model is a literal, a
 * comment, or an identifier of code_names.h.
 *
 * A model file is untrusted. Literals hold printable ASCII only; all else is escaped, so that no
 * quote, line end or invisible character of a model reaches the program.
 */
#ifndef STATOR_CODEGEN_CODE_WRITER_H
#define STATOR_CODEGEN_CODE_WRITER_H
#include <stdbool.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "codegen/model_code.h"
#include "model/value.h"

struct json_node;

struct code_writer {
    struct buffer out;
    enum code_language language;
};

static inline bool code_is_python(const struct code_writer *writer)
{
    return writer->language == CODE_PYTHON;
}

void code_writer_init(struct code_writer *writer, struct arena *arena, enum code_language language);
/* Our own text. */
void PRINTF_LIKE(2, 3) code_add(struct code_writer *writer, const char *format, ...);
/* One of two texts, by language. */
void code_add_either(struct code_writer *writer, const char *python, const char *typescript);
/* "text" */
void code_add_literal(struct code_writer *writer, struct bytes text);
/* "name": with its colon, as a member of a literal. Any name is a member of its own: in TypeScript
 * a plain "__proto__" would not be. */
void code_add_member(struct code_writer *writer, struct bytes name);
/* The text without what could end a comment. */
void code_add_comment(struct code_writer *writer, struct bytes text);
void code_add_bool(struct code_writer *writer, bool value);
/* Whether no later member of the object has the same name: a literal has each once. */
bool code_is_last(const struct json_node *object, const struct json_node *member);
/* The member that tells type and content of an attribute value: others may be null. */
const struct json_node *code_value_content(const struct json_node *value);
/* An attribute value in DynamoDB's JSON as a value of the language, for the tests: it needs what
 * they import. */
void code_add_value(struct code_writer *writer, const struct json_node *value);
/* The same for an object of attribute values. */
void code_add_item(struct code_writer *writer, const struct json_node *item);
/* A text as the value of a key of a type: binary is in base64. */
void code_add_scalar(struct code_writer *writer, enum value_type type, struct bytes text);
/* "str", "Set<string>"; any value if there is no type. */
const char *code_type_name(enum code_language language, bool has_type, enum value_type type);

#endif
