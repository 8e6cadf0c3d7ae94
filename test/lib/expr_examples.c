/* expr_examples.c -- see expr_examples.h. */
#include "expr_examples.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "expr_grammar.h"
#include "expr_text.h"
#include "model/error.h"

static const void *compile(const struct expr_examples *examples, struct bytes text,
                           struct error *err)
{
    struct expr_params params;
    error_init(err, examples->arena);
    assert_true(expr_text_params(examples->arena, examples->names, examples->values, &params, err));
    const void *compiled = examples->grammar->parse(examples->arena, text, &params, err);
    assert_true((compiled == NULL) == error_is_set(err));
    return compiled;
}

struct bytes expr_examples_parse(const struct expr_examples *examples, struct bytes text)
{
    struct error err;
    const void *compiled = compile(examples, text, &err);
    if (compiled == NULL) {
        struct bytes prefix =
            arena_printf(examples->arena, "Invalid %s: ", examples->grammar->parameter);
        assert_int_equal(err.code, ERROR_VALIDATION);
        if (!bytes_starts_with(err.message, prefix)) /* Some of key conditions have none. */
            return err.message;
        return bytes_of(err.message.data + prefix.len, err.message.len - prefix.len);
    }
    struct expr_text shown;
    expr_text_init(&shown, examples->arena);
    examples->grammar->write(&shown, compiled);
    return expr_text_show(&shown);
}

bool expr_examples_accept(const struct expr_examples *examples, struct bytes text)
{
    struct error err;
    return compile(examples, text, &err) != NULL;
}

void expr_examples_expect(const struct expr_examples *examples, struct bytes text, const char *want)
{
    struct bytes got = expr_examples_parse(examples, text);
    if (!bytes_equal_text(got, want))
        fail_msg("%.*s\n got  %.*s\n want %s", BYTES_FMT(text), BYTES_FMT(got), want);
}

void expr_examples_check(const struct expr_examples *examples, const struct expr_example *table,
                         size_t count)
{
    for (size_t i = 0; i < count; i++)
        expr_examples_expect(examples, bytes_from_text(table[i].text), table[i].want);
}

struct bytes expr_examples_repeat(const struct expr_examples *examples, const char *head,
                                  const char *unit, size_t count, const char *tail)
{
    struct buffer out;
    buffer_init(&out, examples->arena);
    buffer_append(&out, head, strlen(head));
    for (size_t i = 0; i < count; i++)
        buffer_append(&out, unit, strlen(unit));
    buffer_append(&out, tail, strlen(tail));
    return buffer_bytes(&out);
}
