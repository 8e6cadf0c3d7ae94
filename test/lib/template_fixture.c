/* template_fixture.c -- see template_fixture.h. */
#include "template_fixture.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"

struct bytes template_fixture_text(struct arena *arena, const char *text)
{
    size_t size = strlen(text);
    char *copy = arena_alloc(arena, size + 1);
    for (size_t i = 0; i <= size; i++)
        copy[i] = text[i] == '\'' ? '"' : text[i];
    return bytes_of(copy, size);
}

struct template_result *template_fixture_evaluate(struct arena *arena, const char *text,
                                                  const struct template_environment *environment,
                                                  struct template_error *err)
{
    const struct template *template =
        template_parse(arena, template_fixture_text(arena, text), BYTES("test"), err);
    return template == NULL ? NULL : template_evaluate(arena, template, environment, err);
}

struct template_result *template_fixture_result(struct arena *arena, const char *text)
{
    struct template_error err;
    const struct template_environment environment = { 0 };
    struct template_result *result = template_fixture_evaluate(arena, text, &environment, &err);
    if (result == NULL)
        fprintf(stderr, "%.*s\n", BYTES_FMT(template_error_text(arena, &err)));
    assert(result != NULL);
    return result;
}

const char *template_fixture_error(struct arena *arena, const char *text)
{
    struct template_error err;
    const struct template_environment environment = { 0 };
    const struct template_result *result =
        template_fixture_evaluate(arena, text, &environment, &err);
    if (result != NULL)
        return "no error";
    return (const char *)arena_printf(arena, "%u: %.*s%c", err.line, BYTES_FMT(err.message), 0)
        .data;
}
