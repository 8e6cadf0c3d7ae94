/* template_fixture.h -- templates in tests, with ' for " in JSON. */
#ifndef STATOR_TEST_TEMPLATE_FIXTURE_H
#define STATOR_TEST_TEMPLATE_FIXTURE_H
#include "template/template.h"

struct arena;

/* A copy with every ' replaced by ". */
struct bytes template_fixture_text(struct arena *arena, const char *text);

/* Parses and evaluates; NULL with `err` set. */
struct template_result *template_fixture_evaluate(struct arena *arena, const char *text,
                                                  const struct template_environment *environment,
                                                  struct template_error *err);
/* The same, in the default environment, without errors. */
struct template_result *template_fixture_result(struct arena *arena, const char *text);
/* The message of the failure, with its line: "3: MESSAGE". */
const char *template_fixture_error(struct arena *arena, const char *text);

#endif
