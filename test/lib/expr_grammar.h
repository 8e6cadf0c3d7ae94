/* expr_grammar.h -- the four grammars behind one face, for what their tests and fuzzers share. */
#ifndef STATOR_TEST_EXPR_GRAMMAR_H
#define STATOR_TEST_EXPR_GRAMMAR_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"

struct arena;
struct error;
struct expr_params;
struct expr_text;

struct expr_grammar {
    const char *parameter; /* The request's field, as messages name it. */
    /* NULL with the error set, or the compiled form. */
    const void *(*parse)(struct arena *arena, struct bytes text, struct expr_params *params,
                         struct error *err);
    void (*write)(struct expr_text *out, const void *compiled);
};
extern const struct expr_grammar expr_grammar_condition, expr_grammar_update,
    expr_grammar_projection, expr_grammar_key_condition;

/* For a fuzzer: what compiles is written as text, which must compile to the same; what is refused
 * has a message of bounded size. */
void expr_grammar_fuzz(const struct expr_grammar *grammar, const uint8_t *data, size_t size);

#endif
