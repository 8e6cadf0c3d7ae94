/* update_parse_fuzz.c -- arbitrary text as an update expression; what must hold is in
 * expr_grammar.h. */
#include "expr_grammar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    expr_grammar_fuzz(&expr_grammar_update, data, size);
    return 0;
}
