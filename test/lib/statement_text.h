/* statement_text.h -- a parsed statement back to PartiQL, for tests and the fuzzer. */
#ifndef STATOR_TEST_STATEMENT_TEXT_H
#define STATOR_TEST_STATEMENT_TEXT_H
#include <stddef.h>
#include "base/bytes.h"

struct arena;
struct statement;
struct value;

/* Values that were taken out of a statement, in the order of its `?`. */
struct statement_text_values {
    struct value *items;
    size_t count;
    size_t capacity;
};

/* Parsed again, with the values, the text gives the same statement. `values` NULL: values are
 * written as DynamoDB's JSON, for people. */
struct bytes statement_text_write(struct arena *arena, const struct statement *statement,
                                  struct statement_text_values *values);

#endif
