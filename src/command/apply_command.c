/* apply_command.c -- `stator apply`: a plan first, a question, then its execution; and `stator
 * serve
 * --apply`, which asks nothing.
 *
 * Exit codes: 0 done or nothing to do, 1 failed, 2 the command line or a file makes no sense; with
 * --plan 0 no changes, 3 changes pending.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/api.h"
#include "base/arena.h"
#include "base/compiler.h"
#include "command/admin_client.h"
#include "command/apply.h"
#include "command/command.h"
#include "config/config.h"

enum { CHANGES_PENDING = 3, ANSWER_MAX = 16 };

/* --- A server elsewhere --- */

struct remote {
    const struct command_call *call;
    struct admin_client_session *session;
    int code; /* Of the first request without an answer; COMMAND_OK: none. */
};

static bool send_remote(void *context, struct arena *arena, const char *operation,
                        struct bytes body, struct apply_answer *out)
{
    struct remote *remote = context;
    struct admin_client_refusal refusal = { 0 };
    struct admin_client_call request = admin_client_call_of(remote->call, operation);
    request.body = body;
    request.refusal = &refusal;
    request.session = remote->session;
    int code = admin_client_send(arena, &request, &out->body);
    if (code != COMMAND_OK && refusal.type.data == NULL) {
        remote->code = code;
        return false;
    }
    out->error = code == COMMAND_OK ? (struct bytes){ 0 } : refusal.type;
    out->message = refusal.message;
    return true;
}

/* --- A server in this process --- */

struct local_call {
    struct api_call call;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool is_done;
};

static void end_call(struct api_call *call)
{
    struct local_call *local =
        (struct local_call *)((char *)call - offsetof(struct local_call, call));
    pthread_mutex_lock(&local->mutex);
    local->is_done = true;
    pthread_cond_signal(&local->ended);
    pthread_mutex_unlock(&local->mutex);
}

static bool send_local(void *context, struct arena *arena, const char *operation, struct bytes body,
                       struct apply_answer *out)
{
    struct local_call local = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                                .ended = PTHREAD_COND_INITIALIZER };
    local.call.arena = arena;
    local.call.operation = operation_find_action(bytes_from_text(operation));
    local.call.body = body;
    local.call.done = end_call;
    api_run(context, &local.call);
    pthread_mutex_lock(&local.mutex);
    while (!local.is_done)
        pthread_cond_wait(&local.ended, &local.mutex);
    pthread_mutex_unlock(&local.mutex);
    pthread_cond_destroy(&local.ended);
    pthread_mutex_destroy(&local.mutex);
    out->body = buffer_bytes(&local.call.response);
    if (error_is_set(&local.call.error)) {
        out->error = error_short_name(local.call.error.code);
        out->message = local.call.error.message;
    }
    return true;
}

bool apply_at_start(struct api *api, const struct config *config, const char *path)
{
    struct arena *arena = arena_create();
    struct apply_run *run = arena_alloc_zeroed(arena, sizeof *run);
    run->arena = arena;
    run->target = (struct apply_target){ send_local, api };
    run->region = bytes_from_text(config->region);
    run->account = bytes_from_text(config->account_id);
    run->is_quiet = true;
    run->refuse_foreign = config->foreign_resources == CONFIG_FOREIGN_FAIL;
    int code = apply_load(run, path);
    if (code == COMMAND_OK)
        code = apply_plan(run);
    if (code == COMMAND_OK && apply_refused_count(run) > 0) {
        apply_print_plan(run);
        code = command_fail(COMMAND_FAILED, path, "the plan above cannot be carried out");
    }
    if (code == COMMAND_OK)
        code = apply_execute(run);
    arena_destroy(arena);
    return code == COMMAND_OK;
}

/* --- The command --- */

static int read_parameters(const struct command_call *call, struct apply_run *run)
{
    struct template_value *values =
        arena_alloc(call->arena, (call->value_count + 1) * sizeof *values);
    for (size_t i = 0; i < call->value_count; i++) {
        const char *text = call->values[i].text, *sign = strchr(text, '=');
        if (strcmp(call->values[i].flag->name, "parameter") != 0)
            continue;
        if (sign == NULL || sign == text)
            return command_fail(COMMAND_MISUSED, text, "not of the form NAME=VALUE");
        values[run->parameter_count++] =
            (struct template_value){ bytes_of(text, (size_t)(sign - text)),
                                     bytes_from_text(sign + 1) };
    }
    run->parameters = values;
    return COMMAND_OK;
}

static bool has_flag(const struct command_call *call, const char *name)
{
    return command_value_of(call, name) != NULL;
}

static int check_flags(const struct command_call *call, const struct apply_run *run)
{
    if (run->prune && run->stack_name == NULL)
        return command_fail(COMMAND_MISUSED, "--prune",
                            "needs --stack: only tables that the stack made are deleted");
    for (size_t i = 0; run->stack_name != NULL && run->stack_name[i] != '\0'; i++) {
        char c = run->stack_name[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && (i == 0 || ((c < '0' || c > '9') && c != '-')))
            return command_fail(COMMAND_MISUSED, "--stack",
                                "a name has letters, digits and hyphens, a letter first");
    }
    if (run->prune && call->word_count > 1)
        return command_fail(COMMAND_MISUSED, "--prune", "takes one file");
    return COMMAND_OK;
}

/* COMMAND_OK: go on. */
static int confirm(const struct command_call *call)
{
    char answer[ANSWER_MAX];
    if (has_flag(call, "yes"))
        return COMMAND_OK;
    if (!isatty(STDIN_FILENO))
        return command_fail(COMMAND_MISUSED, "standard input",
                            "not a terminal to ask for confirmation: give --yes");
    printf("Apply? [y/N] ");
    fflush(stdout);
    if (fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y'))
        return COMMAND_OK;
    return command_fail(COMMAND_FAILED, "apply", "not confirmed; nothing was done");
}

static int carry_out(const struct command_call *call, struct apply_run *run, bool is_json)
{
    int code = COMMAND_OK;
    if (apply_refused_count(run) > 0) {
        if (is_json)
            apply_print_json(run, false);
        return command_fail(COMMAND_FAILED, "apply",
                            "the plan has changes that are refused; nothing was done");
    }
    if (apply_change_count(run) > 0)
        code = confirm(call);
    else if (!is_json)
        printf("Nothing to do.\n");
    if (code == COMMAND_OK)
        code = apply_execute(run);
    if (code == COMMAND_OK)
        code = apply_finish(run);
    if (is_json)
        apply_print_json(run, code == COMMAND_OK);
    else if (code == COMMAND_OK)
        apply_print_outputs(run);
    return code;
}

static struct apply_run *create_run(const struct command_call *call, struct remote *remote,
                                    bool is_json)
{
    struct apply_run *run = arena_alloc_zeroed(call->arena, sizeof *run);
    run->arena = call->arena;
    run->target = (struct apply_target){ send_remote, remote };
    run->stack_name = command_value_of(call, "stack");
    run->prune = has_flag(call, "prune");
    run->allow_replace = has_flag(call, "allow-replace");
    run->refuse_foreign = has_flag(call, "strict");
    run->is_quiet = is_json;
    const char *region = getenv("AWS_REGION");
    if (region == NULL || region[0] == '\0')
        region = getenv("AWS_DEFAULT_REGION");
    if (region != NULL && region[0] != '\0')
        run->region = bytes_from_text(region);
    return run;
}

static int apply(const struct command_call *call, struct remote *remote)
{
    bool is_json = has_flag(call, "json");
    struct apply_run *run = create_run(call, remote, is_json);
    int code = check_flags(call, run);
    if (code == COMMAND_OK)
        code = read_parameters(call, run);
    for (size_t i = 0; i < call->word_count && code == COMMAND_OK; i++)
        code = apply_load(run, call->words[i]);
    if (code == COMMAND_OK)
        code = apply_plan(run);
    if (code != COMMAND_OK)
        return remote->code != COMMAND_OK ? remote->code : code;
    if (!is_json)
        apply_print_plan(run);
    if (has_flag(call, "plan")) {
        if (is_json)
            apply_print_json(run, false);
        code = apply_change_count(run) > 0 ? CHANGES_PENDING : COMMAND_OK;
    } else {
        code = carry_out(call, run, is_json);
    }
    int flushed = command_flush();
    return code != COMMAND_OK ? code : flushed;
}

int apply_command(const struct command_call *call)
{
    struct remote remote = { .call = call, .session = admin_client_session_create() };
    int code = apply(call, &remote);
    admin_client_session_destroy(remote.session);
    return code;
}
