/* model_code.c -- see model_code.h. The texts that are the same for every model are the files
 * python_*.py and typescript_*.ts of this folder. */
#include "codegen/model_code.h"
#include <stdint.h>
#include <string.h>
#include "base/arena.h"
#include "codegen/code_parts.h"

/* The Makefile lists the files as prerequisites of this object. */
#define EMBED(identifier, name)                                                                    \
    __asm__(".section .rodata\n"                                                                   \
            "code_text_" #identifier ": .incbin \"src/codegen/" name "\"\n"                        \
            "code_text_end_" #identifier ":\n"                                                     \
            ".previous\n");                                                                        \
    extern const uint8_t code_text_##identifier[], code_text_end_##identifier[];
EMBED(python_access, "python_access.py")
EMBED(python_tests, "python_tests.py")
EMBED(typescript_access, "typescript_access.ts")
EMBED(typescript_tests, "typescript_tests.ts")
#undef EMBED

static const struct {
    const char *name, *access, *tests;
    const uint8_t *access_text, *access_end, *tests_text, *tests_end;
} languages[CODE_LANGUAGE_COUNT] = {
    [CODE_PYTHON] = { "python", "access.py", "test_access.py", code_text_python_access,
                      code_text_end_python_access, code_text_python_tests,
                      code_text_end_python_tests },
    [CODE_TYPESCRIPT] = { "typescript", "access.ts", "access.test.ts", code_text_typescript_access,
                          code_text_end_typescript_access, code_text_typescript_tests,
                          code_text_end_typescript_tests },
};

bool code_language_parse(const char *text, enum code_language *out)
{
    for (enum code_language i = 0; i < CODE_LANGUAGE_COUNT; i++) {
        if (strcmp(text, languages[i].name) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* The first line, and what is the same for every model. */
static void begin(struct code_writer *writer, const char *what, const uint8_t *text,
                  const uint8_t *end)
{
    code_add_either(writer, "\"\"\"", "/* ");
    code_add(writer, "%s of a model of tables, by `stator model code`.", what);
    code_add_either(writer, "\"\"\"\n", " */\n");
    buffer_append(&writer->out, text, (size_t)(end - text));
}

bool model_code(struct arena *arena, const struct model_file *file, enum code_language language,
                struct code_files *out, struct bytes *failure)
{
    struct code_plan plan;
    struct code_writer writer;
    if (!code_plan_make(arena, file, language, &plan, failure))
        return false;
    code_writer_init(&writer, arena, language);
    begin(&writer, "Access functions", languages[language].access_text,
          languages[language].access_end);
    code_entities_add(&writer, &plan);
    code_patterns_add(&writer, &plan);
    out->files[0] = (struct code_file){ languages[language].access, buffer_bytes(&writer.out) };
    code_writer_init(&writer, arena, language);
    begin(&writer, "Tests of the access functions", languages[language].tests_text,
          languages[language].tests_end);
    code_tests_add(&writer, &plan);
    out->files[1] = (struct code_file){ languages[language].tests, buffer_bytes(&writer.out) };
    out->files[2] = (struct code_file){ "sample.json", code_tests_sample(&plan) };
    return true;
}
