/* expr_examples.h -- tables of expressions, each with what it compiles to or why it is refused. */
#ifndef STATOR_TEST_EXPR_EXAMPLES_H
#define STATOR_TEST_EXPR_EXAMPLES_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;
struct expr_grammar;

/* The compiled form as text, or the message behind "Invalid ...Expression: ". */
struct expr_example {
    const char *text, *want;
};

/* Under which the examples of a test are parsed. */
struct expr_examples {
    const struct expr_grammar *grammar;
    const char *names;  /* ExpressionAttributeNames as JSON; NULL: absent. */
    const char *values; /* ExpressionAttributeValues. */
    struct arena *arena;
};

/* The message behind its prefix, or what the text compiles to. */
struct bytes expr_examples_parse(const struct expr_examples *examples, struct bytes text);
bool expr_examples_accept(const struct expr_examples *examples, struct bytes text);
/* Both fail the test, showing the text. */
void expr_examples_expect(const struct expr_examples *examples, struct bytes text,
                          const char *want);
void expr_examples_check(const struct expr_examples *examples, const struct expr_example *table,
                         size_t count);
/* `head`, then `unit` so many times, then `tail`. */
struct bytes expr_examples_repeat(const struct expr_examples *examples, const char *head,
                                  const char *unit, size_t count, const char *tail);

/* A test that checks one table. */
#define EXPR_EXAMPLES_TEST(name, examples, table)                                                  \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        expr_examples_check(&(examples), table, COUNT_OF(table));                                  \
    }

#endif
