/* model_command.c -- `stator model`: models of tables as files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "codegen/model_code.h"
#include "command/answer.h"
#include "command/command.h"
#include "command/model_check.h"
#include "command/model_live.h"
#include "command/model_samples.h"
#include "command/model_template.h"
#include "schema/model_export.h"
#include "schema/model_file.h"

enum { READ_SIZE = 64 * 1024, FOLDER_MODE = 0777, FILE_MODE = 0666 };

/* --- Files --- */

/* COMMAND_OK with the file's text. `name` may be - for standard input. */
static int read_file(const struct command_call *call, const char *name, struct bytes *text)
{
    struct buffer out;
    ssize_t size;
    int file = strcmp(name, "-") == 0 ? STDIN_FILENO : file_open_at(AT_FDCWD, name, O_RDONLY, 0);
    if (file < 0)
        return command_fail(COMMAND_MISUSED, name, strerror(errno));
    buffer_init(&out, call->arena);
    do {
        size = read(file, buffer_reserve(&out, READ_SIZE), READ_SIZE);
        if (size > 0)
            out.len += (size_t)size;
    } while ((size > 0 && out.len <= MODEL_FILE_SIZE_MAX) || (size < 0 && errno == EINTR));
    int reason = errno;
    if (file != STDIN_FILENO)
        file_close(file);
    if (size < 0)
        return command_fail(COMMAND_MISUSED, name, strerror(reason));
    *text = buffer_bytes(&out);
    return COMMAND_OK;
}

/* COMMAND_OK with the model of a file, a template, or a sample. */
static int load_model(const struct command_call *call, const char *name, struct model_file **file,
                      struct model_report *report)
{
    struct bytes text = model_samples_find(name);
    int code = text.data != NULL ? COMMAND_OK : read_file(call, name, &text);
    if (code != COMMAND_OK)
        return code;
    *file = model_file_load(call->arena, text, report);
    if (*file != NULL)
        return COMMAND_OK;
    switch (model_template_convert(call->arena, text, name, &text)) {
    case MODEL_TEMPLATE_CONVERTED:
        *file = model_file_load(call->arena, text, report);
        report->format = BYTES("a template");
        if (*file != NULL)
            return COMMAND_OK;
        break;
    case MODEL_TEMPLATE_WRONG:
        return COMMAND_MISUSED;
    case MODEL_TEMPLATE_NONE:
        break;
    }
    fprintf(stderr, "stator: %s: %.*s\n", name,
            BYTES_FMT(answer_clean(call->arena, report->failure)));
    return COMMAND_MISUSED;
}

/* --- Verbs --- */

static int check(const struct command_call *call)
{
    struct model_file *file;
    struct model_report report;
    int code = load_model(call, call->words[0], &file, &report);
    if (code != COMMAND_OK)
        return code;
    size_t problems = model_check(call->arena, file, &report);
    code = command_flush();
    if (code != COMMAND_OK || problems == 0)
        return code;
    fprintf(stderr, "stator: model: %zu problems in %s\n", problems, call->words[0]);
    return COMMAND_FAILED;
}

static int samples(const struct command_call *call)
{
    if (call->word_count == 0) {
        model_samples_list();
        return command_flush();
    }
    struct bytes text = model_samples_find(call->words[0]);
    if (text.data == NULL)
        return command_fail(COMMAND_MISUSED, call->words[0],
                            "there is no such sample; `stator model samples` lists them");
    fwrite(text.data, 1, text.len, stdout);
    return command_flush();
}

static int export(const struct command_call *call)
{
    const char *name = command_value_of(call, "format");
    enum model_format format = MODEL_FORMAT_WORKBENCH;
    struct model_file *file;
    struct model_report report;
    if (name != NULL && !model_format_parse(name, &format))
        return command_fail(COMMAND_MISUSED, "--format",
                            "is workbench, cloudformation, cdk, terraform or cli");
    int code = load_model(call, call->words[0], &file, &report);
    if (code != COMMAND_OK)
        return code;
    struct bytes text = model_export(call->arena, file, format);
    fwrite(text.data, 1, text.len, stdout);
    return command_flush();
}

/* Writes one file into the folder, in the place of an older one. */
static int write_code(int folder, const char *path, const struct code_file *code)
{
    int file = file_open_at(folder, code->name, O_WRONLY | O_CREAT | O_TRUNC, FILE_MODE);
    bool ok = file >= 0 && file_write(file, code->text);
    if (!ok)
        fprintf(stderr, "stator: %s/%s: %s\n", path, code->name, strerror(errno));
    file_close(file);
    return ok ? COMMAND_OK : COMMAND_FAILED;
}

static int write_codes(const char *path, const struct code_files *files)
{
    if (mkdir(path, FOLDER_MODE) != 0 && errno != EEXIST)
        return command_fail(COMMAND_FAILED, path, strerror(errno));
    int folder = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    int code = folder >= 0 ? COMMAND_OK : command_fail(COMMAND_FAILED, path, strerror(errno));
    for (size_t i = 0; i < CODE_FILES && code == COMMAND_OK; i++)
        code = write_code(folder, path, &files->files[i]);
    file_close(folder);
    return code;
}

static int generate(const struct command_call *call)
{
    const char *name = command_value_of(call, "language");
    const char *path = command_value_of(call, "out");
    enum code_language language;
    struct model_file *file;
    struct model_report report;
    struct code_files files;
    struct bytes failure;
    if (name == NULL || !code_language_parse(name, &language))
        return command_fail(COMMAND_MISUSED, "--language", "is python or typescript");
    int code = load_model(call, call->words[0], &file, &report);
    if (code != COMMAND_OK)
        return code;
    if (!model_code(call->arena, file, language, &files, &failure)) {
        fprintf(stderr, "stator: %s: %.*s\n", call->words[0],
                BYTES_FMT(answer_clean(call->arena, failure)));
        return COMMAND_FAILED;
    }
    if (path != NULL)
        return write_codes(path, &files);
    fwrite(files.files[0].text.data, 1, files.files[0].text.len, stdout);
    return command_flush();
}

/* FILE: against the server; FILE FILE: from the first to the second. */
static int diff(const struct command_call *call)
{
    struct model_file *first, *second = NULL;
    struct model_report report;
    int code = load_model(call, call->words[0], &first, &report);
    if (code == COMMAND_OK && call->word_count > 1)
        code = load_model(call, call->words[1], &second, &report);
    if (code != COMMAND_OK)
        return code;
    return second == NULL ? model_live_diff(call, NULL, first)
                          : model_live_diff(call, first, second);
}

static int apply(const struct command_call *call)
{
    struct model_file *file;
    struct model_report report;
    int code = load_model(call, call->words[0], &file, &report);
    return code == COMMAND_OK ? model_live_apply(call, file) : code;
}

static int infer(const struct command_call *call)
{
    return model_live_infer(call, call->words[0]);
}

int model_command(const struct command_call *call)
{
    static const struct {
        const char *verb;
        int (*run)(const struct command_call *call);
    } verbs[] = { { "check", check },  { "samples", samples }, { "export", export },
                  { "diff", diff },    { "apply", apply },     { "infer", infer },
                  { "code", generate } };
    for (size_t i = 0; i < COUNT_OF(verbs); i++) {
        if (strcmp(call->verb->name, verbs[i].verb) == 0)
            return verbs[i].run(call);
    }
    return command_fail(COMMAND_MISUSED, "model", "unknown verb");
}
