/* apply_files.c -- reads templates from files, cdk.out folders and standard input. See apply.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "base/file.h"
#include "command/apply.h"
#include "command/command.h"
#include "schema/model_export.h"
#include "schema/model_file.h"
#include "template/document.h"
#include "template/node.h"

enum { READ_SIZE = 64 * 1024, STACK_NAME_MAX = 128 };

static int fail_template(struct apply_run *run, const struct template_error *err)
{
    apply_print_line(run->arena, stderr, "stator: %.*s",
                     BYTES_FMT(template_error_text(run->arena, err)));
    return COMMAND_MISUSED;
}

/* All of a file, of at most TEMPLATE_SIZE_MAX bytes and one more, which parsing then refuses. */
static bool read_all(struct apply_run *run, int file, struct bytes *out)
{
    struct buffer text;
    buffer_init(&text, run->arena);
    while (text.len <= TEMPLATE_SIZE_MAX) {
        ssize_t got = read(file, buffer_reserve(&text, READ_SIZE), READ_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return false;
        if (got == 0)
            break;
        text.len += (size_t)got;
    }
    *out = buffer_bytes(&text);
    return true;
}

static int read_path(struct apply_run *run, const char *path, struct bytes *out)
{
    bool is_input = strcmp(path, "-") == 0;
    int file = is_input ? STDIN_FILENO : file_open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    bool ok = file >= 0 && read_all(run, file, out);
    int error = errno;
    if (!is_input)
        file_close(file);
    return ok ? COMMAND_OK : command_fail(COMMAND_MISUSED, path, strerror(error));
}

/* The file's name without its folder and ending, of what a stack's name may have. */
static struct bytes stack_name_of(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    struct buffer name;
    buffer_init(&name, arena);
    for (const char *at = slash == NULL ? path : slash + 1; *at != '\0' && *at != '.'; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        bool may_follow = (*at >= '0' && *at <= '9') || *at == '-';
        if ((is_letter || (may_follow && name.len > 0)) && name.len < STACK_NAME_MAX)
            buffer_append_byte(&name, (uint8_t)*at);
    }
    return name.len > 0 ? buffer_bytes(&name) : BYTES("stack");
}

/* The tables of a NoSQL Workbench model, as a template. Other files stay as they are. */
static int convert_model(struct apply_run *run, const char *path, struct bytes *text)
{
    static const struct bytes mark = BYTES("\"DataModel\"");
    struct template_error ignored;
    struct model_report report;
    const struct node *root = memmem(text->data, text->len, mark.data, mark.len) == NULL
                                  ? NULL
                                  : document_read(run->arena, *text, &ignored);
    if (root == NULL || node_get(root, "DataModel") == NULL)
        return COMMAND_OK;
    const struct model_file *file = model_file_load(run->arena, *text, &report);
    if (file == NULL)
        return command_fail(
            COMMAND_MISUSED, path,
            (const char *)arena_printf(run->arena, "%.*s%c", BYTES_FMT(report.failure), 0).data);
    *text = model_export(run->arena, file, MODEL_FORMAT_CLOUDFORMATION);
    return COMMAND_OK;
}

static int add_stack(struct apply_run *run, const char *path, struct apply_stack stack)
{
    struct template_error err;
    struct bytes text;
    if (run->stack_count == APPLY_STACKS_MAX)
        return command_fail(COMMAND_MISUSED, path, "too many stacks");
    int code = read_path(run, path, &text);
    if (code != COMMAND_OK)
        return code;
    stack.file = strcmp(path, "-") == 0 ? BYTES("standard input")
                                        : arena_copy(run->arena, bytes_from_text(path));
    code = convert_model(run, path, &text);
    if (code != COMMAND_OK)
        return code;
    stack.template = template_parse(run->arena, text, stack.file, &err);
    if (stack.template == NULL)
        return fail_template(run, &err);
    run->stacks[run->stack_count++] = stack;
    return COMMAND_OK;
}

static const char *join_path(struct arena *arena, const char *folder, struct bytes name)
{
    return (const char *)arena_printf(arena, "%s/%.*s%c", folder, BYTES_FMT(name), 0).data;
}

/* A folder that `cdk synth` wrote. Recursion is bounded by APPLY_FOLDER_DEPTH_MAX. */
static int load_folder(struct apply_run *run, const char *folder, unsigned depth)
{
    const char *path = join_path(run->arena, folder, BYTES("manifest.json"));
    const struct template_cdk_stack *stacks;
    const struct bytes *nested;
    size_t stack_count, nested_count;
    struct template_error err;
    struct bytes text;
    if (depth == APPLY_FOLDER_DEPTH_MAX)
        return command_fail(COMMAND_MISUSED, folder, "folders are nested too deep");
    if (access(path, R_OK) != 0)
        return command_fail(COMMAND_MISUSED, folder,
                            "a folder without manifest.json: not a cdk.out folder");
    int code = read_path(run, path, &text);
    if (code != COMMAND_OK)
        return code;
    if (!template_read_manifest(run->arena, text, bytes_from_text(path), &stacks, &stack_count,
                                &nested, &nested_count, &err))
        return fail_template(run, &err);
    for (size_t i = 0; i < nested_count && code == COMMAND_OK; i++)
        code = load_folder(run, join_path(run->arena, folder, nested[i]), depth + 1);
    for (size_t i = 0; i < stack_count && code == COMMAND_OK; i++)
        code = add_stack(run, join_path(run->arena, folder, stacks[i].file),
                         (struct apply_stack){ .name = stacks[i].name,
                                               .parameters = stacks[i].parameters,
                                               .parameter_count = stacks[i].parameter_count });
    return code;
}

int apply_load(struct apply_run *run, const char *path)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return load_folder(run, path, 0);
    struct bytes name = run->stack_name != NULL ? bytes_from_text(run->stack_name)
                                                : stack_name_of(run->arena, path);
    return add_stack(run, path, (struct apply_stack){ .name = name });
}
