/* code_parts.h -- for the files of this room: the parts of the generated files. */
#ifndef STATOR_CODEGEN_CODE_PARTS_H
#define STATOR_CODEGEN_CODE_PARTS_H
#include "codegen/code_plan.h"
#include "codegen/code_writer.h"

/* Types of items and functions that build them. */
void code_entities_add(struct code_writer *writer, const struct code_plan *plan);
/* Functions for the patterns. */
void code_patterns_add(struct code_writer *writer, const struct code_plan *plan);
/* Tests of both. */
void code_tests_add(struct code_writer *writer, const struct code_plan *plan);
/* The tables and rows that the tests load, as JSON. */
struct bytes code_tests_sample(const struct code_plan *plan);

/* The type of an item with these members. */
void code_add_item_type(struct code_writer *writer, struct bytes type,
                        const struct code_members *members);
/* The value of a key, of its template: "ORDER#" + _part("date", date). */
void code_add_key(struct code_writer *writer, const struct key_template *template,
                  enum value_type type, const struct code_parameters *parameters);
/* A note for the reader, as the first line of a function. */
void code_add_docstring(struct code_writer *writer, const char *before, struct bytes name);
/* A parameter of ours, which is optional. */
struct code_option {
    const char *python;     /* "start_after: Item | None = None" */
    const char *typescript; /* "startAfter?: Item" */
    const char *name;       /* "startAfter" */
};
/* The parameters of a function, in parentheses: `first` is our own text; `option` may be NULL. */
void code_add_parameters(struct code_writer *writer, const char *first,
                         const struct code_parameters *parameters,
                         const struct code_option *option);

#endif
