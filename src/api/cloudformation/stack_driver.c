/* stack_driver.c -- see stack_driver.h: the thread, and what all phases share. */
#include "api/cloudformation/stack_driver.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "api/cloudformation/stack_turn.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/timed_wait.h"
#include "base/uuid.h"
#include "jobs/job.h"
#include "json/utf8.h"

/* After a round in which every stack waits for a table; doubled up to the second one. */
enum { POLL_MS_MIN = 5, POLL_MS_MAX = 80 };

/* A stack whose requests meet errors that may pass. */
struct stall {
    uint8_t uid[UUID_TEXT_SIZE];
    int64_t since_ns;
};

struct stack_driver {
    struct api *api;
    struct job_thread thread;
    pthread_mutex_t mutex; /* Guards the next ones. */
    bool has_started;
    bool is_stopped;
    /* The thread's own. */
    struct stall stalls[STACKS_MAX];
    size_t stall_count;
    int64_t poll_ms;
};

/* --- Storing --- */

static int64_t now_ms(const struct stack_turn *turn)
{
    return clock_wall_ms(api_options(turn->api)->clock);
}

/* Whether the stack is still on the course that the turn began with. With the stacks locked. */
static bool is_current(const struct stack_turn *turn)
{
    const struct stack *stored = stacks_find(turn->stacks, turn->stack->head.stack_uid);
    return stored != NULL && stack_status_of(stored->status_name) == turn->began_as &&
           stored->generation.value == turn->began_generation;
}

/* A step exceeds the bounds of records, and would do so each time: the operation fails, from what
 * is stored, without what the step would have added. */
static void give_up(struct stack_turn *turn)
{
    static const struct bytes reason = BYTES("An output or a resource is too large to be stored");
    if (turn->has_given_up)
        return; /* Not even that could be stored. The log has it. */
    turn->has_given_up = true;
    stacks_lock(turn->stacks);
    const struct stack *stored = stacks_find(turn->stacks, turn->stack->head.stack_uid);
    struct stack *copy = stored == NULL ? NULL : stack_copy(turn->arena, STACK_STACK, stored);
    stacks_unlock(turn->stacks);
    if (copy == NULL)
        return;
    turn->stack = copy;
    enum stack_status began = turn->began_as;
    if (began == STACK_CREATE_IN_PROGRESS || began == STACK_UPDATE_IN_PROGRESS)
        (void)!stack_fail(turn, reason);
    else if (began == STACK_DELETE_IN_PROGRESS)
        (void)!stack_turn_move(turn, STACK_DELETE_FAILED, reason);
    else if (began == STACK_ROLLBACK_IN_PROGRESS)
        (void)!stack_turn_move(turn, STACK_ROLLBACK_FAILED, reason);
    else if (began == STACK_UPDATE_ROLLBACK_IN_PROGRESS)
        (void)!stack_turn_move(turn, STACK_UPDATE_ROLLBACK_FAILED, reason);
    /* What a cleanup stores is no larger than what was stored. */
}

/* With the stacks locked, which it unlocks. */
static bool commit(struct stack_turn *turn, struct stacks_change *change)
{
    enum engine_status status = ENGINE_OK;
    bool current = is_current(turn);
    if (current) {
        stacks_put(change, STACK_STACK, turn->stack);
        status = stacks_commit(change);
    }
    stacks_unlock(turn->stacks);
    if (status != ENGINE_OK)
        log_write(LOG_ERROR, "stacks", "cannot store a step of stack %.*s: %s",
                  BYTES_FMT(turn->stack->name), engine_status_name(status));
    if (status == ENGINE_CORRUPT)
        give_up(turn);
    return current && status == ENGINE_OK;
}

static bool save(struct stack_turn *turn, struct stack_resource *resource, bool with_event)
{
    stacks_lock(turn->stacks);
    struct stacks_change *change = stacks_change_begin(turn->stacks, turn->arena);
    if (resource != NULL)
        stacks_put(change, STACK_RESOURCE, resource);
    if (with_event)
        stacks_add_event(change, turn->stack, resource, turn->calls.stack_id, now_ms(turn));
    return commit(turn, change);
}

bool stack_turn_save(struct stack_turn *turn, struct stack_resource *resource)
{
    return save(turn, resource, resource != NULL);
}

bool stack_turn_save_quietly(struct stack_turn *turn, struct stack_resource *resource)
{
    return save(turn, resource, false);
}

bool stack_turn_save_as(struct stack_turn *turn, struct stack_resource *resource,
                        const struct stack_resource *shown)
{
    stacks_lock(turn->stacks);
    struct stacks_change *change = stacks_change_begin(turn->stacks, turn->arena);
    stacks_put(change, STACK_RESOURCE, resource);
    stacks_add_event(change, turn->stack, shown, turn->calls.stack_id, now_ms(turn));
    return commit(turn, change);
}

bool stack_turn_forget(struct stack_turn *turn, const struct stack_resource *resource)
{
    stacks_lock(turn->stacks);
    struct stacks_change *change = stacks_change_begin(turn->stacks, turn->arena);
    stacks_delete(change, STACK_RESOURCE, resource);
    return commit(turn, change);
}

/* Whole characters only: records are UTF-8. */
static struct bytes cut_reason(struct bytes reason)
{
    if (reason.data == NULL)
        return reason;
    return bytes_of(reason.data, utf8_prefix(reason, STACK_REASON_SIZE_MAX));
}

static void set_status(struct stack_turn *turn, enum stack_status status, struct bytes reason)
{
    assert(stack_status_may_follow(turn->began_as, status));
    turn->stack->status_name = bytes_from_text(stack_status_name(status));
    turn->stack->reason = cut_reason(reason);
}

bool stack_turn_move(struct stack_turn *turn, enum stack_status status, struct bytes reason)
{
    set_status(turn, status, reason);
    return save(turn, NULL, true);
}

struct bytes stack_turn_policy(enum template_policy policy)
{
    switch (policy) {
    case TEMPLATE_RETAIN:
        return BYTES("Retain");
    case TEMPLATE_RETAIN_EXCEPT_ON_CREATE:
        return BYTES("RetainExceptOnCreate");
    default:
        return (struct bytes){ 0 };
    }
}

/* Nothing is new any more, and every resource has the DeletionPolicy of the stack's template,
 * whether the update touched it or not. */
static void settle_resources(struct stack_turn *turn, struct stacks_change *change,
                             const struct template_result *result)
{
    struct stack_resource **resources;
    size_t count = stack_turn_resources(turn, &resources);
    for (size_t i = 0; i < count; i++) {
        struct stack_resource *resource = resources[i];
        const struct template_resource *known = template_find(result, resource->head.id);
        struct bytes policy =
            known == NULL ? resource->deletion_policy : stack_turn_policy(known->deletion_policy);
        if (!resource->is_new.value && bytes_equal(policy, resource->deletion_policy))
            continue;
        resource->is_new = (struct shape_boolean){ 0 };
        resource->deletion_policy = policy;
        stacks_put(change, STACK_RESOURCE, resource);
    }
}

bool stack_turn_end_update(struct stack_turn *turn, enum stack_status status, bool succeeded,
                           const struct stack_evaluation *evaluation)
{
    struct stack *stack = turn->stack;
    struct bytes uid = stack->head.stack_uid, text;
    set_status(turn, status, (struct bytes){ 0 });
    stacks_lock(turn->stacks);
    struct stacks_change *change = stacks_change_begin(turn->stacks, turn->arena);
    if (succeeded) {
        if (stacks_read_template(turn->stacks, turn->arena, uid, STACK_TEMPLATE_NEXT, &text) !=
            ENGINE_OK) {
            stacks_unlock(turn->stacks);
            return false;
        }
        stacks_put_template(change, uid, STACK_TEMPLATE_NOW, text, now_ms(turn));
        stack->settings = stack->next;
    }
    stacks_delete_template(change, uid, STACK_TEMPLATE_NEXT);
    stack->next = NULL;
    stack_turn_is_stable(turn);
    settle_resources(turn, change, evaluation->result);
    stacks_add_event(change, stack, NULL, turn->calls.stack_id, now_ms(turn));
    return commit(turn, change);
}

/* The stack that was deleted first, if there are too many. */
static const struct stack *oldest_deleted(const struct stacks *stacks)
{
    const struct stack *oldest = NULL;
    size_t count = 0;
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        if (stack_status_of(stack->status_name) != STACK_DELETE_COMPLETE)
            continue;
        count++;
        if (oldest == NULL || stack->deleted_ms.value < oldest->deleted_ms.value)
            oldest = stack;
    }
    return count >= STACKS_DELETED_MAX ? oldest : NULL;
}

bool stack_turn_end_deletion(struct stack_turn *turn)
{
    struct stack *stack = turn->stack;
    set_status(turn, STACK_DELETE_COMPLETE, (struct bytes){ 0 });
    stack->deleted_ms = (struct shape_integer){ true, now_ms(turn) };
    stacks_lock(turn->stacks);
    struct stacks_change *change = stacks_change_begin(turn->stacks, turn->arena);
    const struct stack *oldest = oldest_deleted(turn->stacks);
    if (oldest != NULL)
        stacks_forget(change, oldest);
    stacks_add_event(change, stack, NULL, turn->calls.stack_id, now_ms(turn));
    return commit(turn, change);
}

/* --- Resources --- */

struct stack_resource *stack_turn_resource(struct stack_turn *turn, struct bytes logical_id)
{
    stacks_lock(turn->stacks);
    const struct stack_resource *found =
        stacks_find_resource(turn->stacks, turn->stack->head.stack_uid, logical_id);
    struct stack_resource *copy =
        found == NULL ? NULL : stack_copy(turn->arena, STACK_RESOURCE, found);
    stacks_unlock(turn->stacks);
    return copy;
}

static int compare_order(const void *left, const void *right)
{
    const struct stack_resource *a = *(const struct stack_resource *const *)left;
    const struct stack_resource *b = *(const struct stack_resource *const *)right;
    return (a->order.value > b->order.value) - (a->order.value < b->order.value);
}

size_t stack_turn_resources(struct stack_turn *turn, struct stack_resource ***out)
{
    size_t first;
    size_t count = stacks_of(turn->stacks, STACK_RESOURCE, turn->stack->head.stack_uid, &first);
    struct stack_resource **list = arena_alloc(turn->arena, (count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        list[i] = stack_copy(turn->arena, STACK_RESOURCE,
                             stacks_object(turn->stacks, STACK_RESOURCE, first + i));
        assert(list[i] != NULL); /* It was read from its stored form. */
    }
    if (count > 0)
        qsort(list, count, sizeof(*list), compare_order);
    *out = list;
    return count;
}

void stack_turn_set(struct stack_turn *turn, struct stack_resource *resource,
                    enum stack_status status, struct bytes reason)
{
    resource->status_name = bytes_from_text(stack_status_name(status));
    resource->reason = cut_reason(reason);
    resource->updated_ms = (struct shape_integer){ true, now_ms(turn) };
    resource->generation = turn->stack->generation;
}

bool stack_turn_is_done(const struct stack_turn *turn, const struct stack_resource *resource)
{
    enum stack_status status = stack_status_of(resource->status_name);
    return resource->generation.value == turn->stack->generation.value &&
           status != STACK_CREATE_IN_PROGRESS && status != STACK_UPDATE_IN_PROGRESS &&
           status != STACK_DELETE_IN_PROGRESS;
}

bool stack_turn_was_touched(const struct stack_turn *turn, const struct stack_resource *resource)
{
    const struct stack *stack = turn->stack;
    int64_t stable = stack->stable_generation.present ? stack->stable_generation.value
                                                      : stack->generation.value - 2;
    return resource->generation.value > stable &&
           resource->generation.value < stack->generation.value;
}

void stack_turn_is_stable(struct stack_turn *turn)
{
    turn->stack->stable_generation = turn->stack->generation;
}

bool stack_turn_is_table(const struct stack_resource *resource)
{
    return bytes_starts_with(resource->type, BYTES("AWS::DynamoDB::")) ||
           bytes_equal_text(resource->type, "AWS::Serverless::SimpleTable");
}

/* --- The thread --- */

static bool run_phase(struct stack_turn *turn)
{
    switch (turn->began_as) {
    case STACK_CREATE_IN_PROGRESS:
    case STACK_UPDATE_IN_PROGRESS:
        return stack_deploy(turn);
    case STACK_UPDATE_COMPLETE_CLEANUP_IN_PROGRESS:
        return stack_clean_up(turn);
    case STACK_UPDATE_ROLLBACK_IN_PROGRESS:
        return stack_roll_back(turn);
    case STACK_UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS:
        return stack_clean_rollback(turn);
    case STACK_DELETE_IN_PROGRESS:
    case STACK_ROLLBACK_IN_PROGRESS:
        return stack_remove(turn);
    default:
        return false;
    }
}

static int64_t refused_since(const struct stack_driver *driver, struct bytes uid)
{
    for (size_t i = 0; i < driver->stall_count; i++)
        if (memcmp(driver->stalls[i].uid, uid.data, UUID_TEXT_SIZE) == 0)
            return driver->stalls[i].since_ns;
    return 0;
}

/* `since_ns` 0: the stack is not refused any more. */
static void note_refusals(struct stack_driver *driver, struct bytes uid, int64_t since_ns)
{
    size_t at = 0;
    while (at < driver->stall_count &&
           memcmp(driver->stalls[at].uid, uid.data, UUID_TEXT_SIZE) != 0)
        at++;
    if (since_ns == 0 && at < driver->stall_count)
        driver->stalls[at] = driver->stalls[--driver->stall_count];
    if (since_ns == 0 || at == STACKS_MAX)
        return;
    memcpy(driver->stalls[at].uid, uid.data, UUID_TEXT_SIZE);
    driver->stalls[at].since_ns = since_ns;
    if (at == driver->stall_count)
        driver->stall_count++;
}

/* False: nothing could be done. Sets `*waits` if that is so because something is not ready yet. */
static bool visit(struct stack_driver *driver, struct arena *arena, struct bytes uid, bool *waits)
{
    struct stack_patience patience = { .refused_since_ns = refused_since(driver, uid) };
    struct stack_turn turn = { .api = driver->api,
                               .stacks = api_stacks(driver->api),
                               .arena = arena };
    stacks_lock(turn.stacks);
    const struct stack *stack = stacks_find(turn.stacks, uid);
    turn.stack = stack == NULL ? NULL : stack_copy(arena, STACK_STACK, stack);
    stacks_unlock(turn.stacks);
    if (turn.stack == NULL)
        return false;
    turn.began_as = stack_status_of(turn.stack->status_name);
    turn.began_generation = turn.stack->generation.value;
    turn.calls = (struct stack_calls){
        .api = driver->api,
        .arena = arena,
        .thread = &driver->thread,
        .patience = &patience,
        .stack = turn.stack,
        .stack_id = stack_evaluation_arn(driver->api, arena, turn.stack),
    };
    stack_calls_find_caller(&turn.calls);
    bool progresses = run_phase(&turn);
    note_refusals(driver, uid, progresses ? 0 : patience.refused_since_ns);
    *waits = *waits || patience.waits;
    return progresses;
}

/* The UUIDs of stacks that something is done with. */
static size_t list_active(struct stacks *stacks, struct arena *arena, struct bytes **out)
{
    size_t count = 0;
    stacks_lock(stacks);
    struct bytes *list = arena_alloc(arena, (stacks_count(stacks) + 1) * sizeof *list);
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        if (stack_status_is_active(stack_status_of(stack->status_name)))
            list[count++] = arena_copy(arena, stack->head.stack_uid);
    }
    stacks_unlock(stacks);
    *out = list;
    return count;
}

/* Each active stack gets one turn; again and again, until none is active. */
static int64_t run_round(void *context)
{
    struct stack_driver *driver = context;
    struct arena *list_arena = arena_create(), *arena = arena_create();
    struct bytes *uids;
    bool progresses = false, waits = false;
    size_t count = list_active(api_stacks(driver->api), list_arena, &uids);
    if (count == 0)
        driver->stall_count = 0;
    for (size_t i = 0; i < count && !job_thread_is_stopping(&driver->thread); i++) {
        progresses = visit(driver, arena, uids[i], &waits) || progresses;
        arena_reset(arena);
    }
    arena_destroy(arena);
    arena_destroy(list_arena);
    if (count == 0)
        return TIMED_WAIT_FOREVER;
    if (progresses || !waits) {
        driver->poll_ms = POLL_MS_MIN;
        return progresses ? 0 : STACK_DRIVER_RETRY_MS;
    }
    int64_t poll_ms = driver->poll_ms;
    driver->poll_ms = poll_ms < POLL_MS_MAX ? 2 * poll_ms : poll_ms;
    return poll_ms;
}

struct stack_driver *stack_driver_create(struct api *api)
{
    struct stack_driver *driver = memory_checked(calloc(1, sizeof *driver));
    driver->api = api;
    driver->poll_ms = POLL_MS_MIN;
    pthread_mutex_init(&driver->mutex, NULL);
    return driver;
}

void stack_driver_resume(struct stack_driver *driver)
{
    struct arena *arena = arena_create();
    struct bytes *uids;
    size_t count = list_active(api_stacks(driver->api), arena, &uids);
    arena_destroy(arena);
    if (count > 0)
        stack_driver_wake(driver);
}

void stack_driver_wake(struct stack_driver *driver)
{
    pthread_mutex_lock(&driver->mutex);
    if (!driver->has_started && !driver->is_stopped) {
        driver->has_started = true;
        job_thread_start(&driver->thread, "stacks", run_round, driver);
    }
    if (driver->has_started)
        job_thread_wake(&driver->thread);
    pthread_mutex_unlock(&driver->mutex);
}

void stack_driver_stop(struct stack_driver *driver)
{
    pthread_mutex_lock(&driver->mutex);
    bool was_started = driver->has_started && !driver->is_stopped;
    driver->is_stopped = true;
    pthread_mutex_unlock(&driver->mutex);
    if (was_started)
        job_thread_stop(&driver->thread);
}

void stack_driver_destroy(struct stack_driver *driver)
{
    if (driver->has_started)
        job_thread_deinit(&driver->thread);
    pthread_mutex_destroy(&driver->mutex);
    free(driver);
}
