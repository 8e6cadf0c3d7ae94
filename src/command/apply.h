/* apply.h -- `stator apply` in parts: templates from files, what a server has, the plan, and its
 * execution. `stator serve --apply` uses the same parts without a network.
 *
 * The plan itself is made by template/plan.h. Running again after a failure is safe: each run asks
 * the server anew what is there, and plans the rest.
 */
#ifndef STATOR_COMMAND_APPLY_H
#define STATOR_COMMAND_APPLY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "template/plan.h"
#include "template/template.h"

struct api;
struct arena;
struct config;

enum {
    APPLY_STACKS_MAX = 200,                 /* Of all files together. */
    APPLY_FOLDER_DEPTH_MAX = 4,             /* Of cdk.out folders within each other. */
    APPLY_TABLES_MAX = 10000,               /* That --prune looks at. */
    APPLY_PAGES_MAX = 1000,                 /* Of a list that the server has. */
    APPLY_WAIT_SECONDS_MAX = 600,           /* For a table to become ACTIVE, or to be gone. */
    APPLY_INDEX_SECONDS_MAX = 24 * 60 * 60, /* For an index to be filled. */
    APPLY_RETRIES_MAX = 60,                 /* Of a request that the server is too busy for. */
};

/* The tag of a table that a stack made, and may delete (--prune). */
#define APPLY_OWNER_TAG "stator:stack"

/* --- The server --- */

struct apply_answer {
    struct bytes body;
    struct bytes error; /* "ResourceNotFoundException"; data NULL: the request succeeded. */
    struct bytes message;
};

struct apply_target {
    /* False if there is no answer, which standard error reports. */
    bool (*send)(void *context, struct arena *arena, const char *operation, struct bytes body,
                 struct apply_answer *out);
    void *context;
};

/* Sends a request of an operation that this program knows; others are an error of the answer. */
MUST_CHECK bool apply_send(const struct apply_target *target, struct arena *arena,
                           const char *operation, struct bytes body, struct apply_answer *out);

/* --- Templates --- */

struct apply_stack {
    struct bytes name;
    struct bytes file;
    struct template *template;
    const struct template_value *parameters; /* Of the tool that wrote it. */
    size_t parameter_count;
    struct template_result *result;
    struct plan *plan;
};

struct apply_run {
    struct arena *arena;
    struct apply_target target;
    const char *stack_name;                  /* NULL: after the file, and tables get no tag. */
    const struct template_value *parameters; /* Of the command line. */
    size_t parameter_count;
    bool prune, allow_replace, refuse_foreign;
    bool is_quiet;                /* No lines about progress. */
    struct bytes region, account; /* data NULL: not known yet. */
    struct apply_stack stacks[APPLY_STACKS_MAX];
    size_t stack_count;
};

/* Reads a file, a cdk.out folder, or standard input ("-"). COMMAND_OK, or an exit code with a line
 * on standard error. */
MUST_CHECK int apply_load(struct apply_run *run, const char *path);

/* Evaluates all templates and plans against what the server has. The same results. */
MUST_CHECK int apply_plan(struct apply_run *run);
/* What a server has of a stack's resources, and with `prune` its other tables; false without an
 * answer. */
MUST_CHECK bool apply_read_live(struct apply_run *run, const struct apply_stack *stack,
                                struct plan_before **before, size_t *count);
size_t apply_change_count(const struct apply_run *run);
size_t apply_refused_count(const struct apply_run *run);

/* Carries out the plans. Stops at the first failure, and tells it. */
MUST_CHECK int apply_execute(struct apply_run *run);
/* Evaluates once more, so that outputs have what is known only now. */
MUST_CHECK int apply_finish(struct apply_run *run);

/* --- For people --- */

/* Prints a line. What is in the texts may come from anybody, a template or a server, and people
 * decide by what they read: control characters become question marks, so that no text can hide or
 * forge a line of a plan on a terminal. */
void apply_print_line(struct arena *arena, FILE *out, const char *format, ...) PRINTF_LIKE(3, 4);
void apply_print_plan(const struct apply_run *run);
void apply_print_outputs(const struct apply_run *run);
void apply_print_json(const struct apply_run *run, bool is_applied);

/* `stator serve --apply`: applies a file to a server in this process, without a question. False
 * with a line on standard error. */
MUST_CHECK bool apply_at_start(struct api *api, const struct config *config, const char *path);

#endif
