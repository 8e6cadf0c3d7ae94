/* scaling.c -- see scaling.h. */
#include "scaling/scaling.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object_list.h"
#include "engine/engine_load.h"

struct scaling {
    struct engine *engine;
    pthread_mutex_t mutex;
    struct object_list lists[SCALING_KIND_COUNT];
    struct scaling_actions *actions;
    size_t action_count, action_capacity;
    struct arena *action_names; /* Of `actions`. */
};

static const size_t count_max[SCALING_KIND_COUNT] = {
    [SCALING_TARGET] = SCALING_TARGETS_MAX,
    [SCALING_POLICY] = SCALING_POLICIES_MAX,
    [SCALING_ACTION] = SCALING_ACTIONS_MAX,
    [SCALING_ACTIVITY] = SCALING_ACTIVITIES_MAX,
};

/* --- Lists --- */

/* A copy with memory of its own, made by decoding the stored form. */
static bool make_entry(const struct engine_entry *stored, struct object_list_entry *out,
                       enum scaling_kind *kind)
{
    *out = (struct object_list_entry){ .arena = arena_create() };
    struct engine_entry copy = { .key = arena_copy(out->arena, stored->key),
                                 .value = arena_copy(out->arena, stored->value) };
    out->key = copy.key;
    out->object = scaling_decode(out->arena, &copy, kind);
    if (out->object != NULL)
        return true;
    arena_destroy(out->arena);
    return false;
}

/* --- Open and close --- */

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *stored)
{
    struct scaling *scaling = context;
    struct object_list_entry entry;
    enum scaling_kind kind;
    (void)arena;
    if (!make_entry(stored, &entry, &kind))
        return false;
    object_list_put(&scaling->lists[kind], &entry);
    return true;
}

struct scaling *scaling_open(struct engine *engine, enum engine_status *status)
{
    struct scaling *scaling = memory_checked(calloc(1, sizeof *scaling));
    scaling->engine = engine;
    scaling->action_names = arena_create();
    pthread_mutex_init(&scaling->mutex, NULL);
    const struct engine_load load = { .range.place = scaling_place,
                                      .take = load_entry,
                                      .context = scaling,
                                      .module = "scaling",
                                      .damage = "damaged record of a scaling target or policy" };
    *status = engine_load(engine, &load);
    if (*status == ENGINE_OK)
        return scaling;
    scaling_close(scaling);
    return NULL;
}

void scaling_close(struct scaling *scaling)
{
    if (scaling == NULL)
        return;
    for (size_t kind = 0; kind < SCALING_KIND_COUNT; kind++) {
        object_list_deinit(&scaling->lists[kind]);
    }
    free(scaling->actions);
    arena_destroy(scaling->action_names);
    pthread_mutex_destroy(&scaling->mutex);
    free(scaling);
}

void scaling_lock(struct scaling *scaling)
{
    pthread_mutex_lock(&scaling->mutex);
}

void scaling_unlock(struct scaling *scaling)
{
    pthread_mutex_unlock(&scaling->mutex);
}

/* --- Reading --- */

size_t scaling_count(const struct scaling *scaling, enum scaling_kind kind)
{
    return scaling->lists[kind].count;
}

const void *scaling_at(const struct scaling *scaling, enum scaling_kind kind, size_t index)
{
    assert(index < scaling->lists[kind].count);
    return scaling->lists[kind].entries[index].object;
}

size_t scaling_of_target(const struct scaling *scaling, enum scaling_kind kind,
                         const struct scaling_id *id, size_t *first)
{
    const struct object_list *list = &scaling->lists[kind];
    struct arena *arena = arena_create();
    struct bytes prefix = scaling_key_prefix(arena, kind, id);
    size_t end;
    assert(kind != SCALING_ACTIVITY);
    *first = end = object_list_lower_bound(list, prefix);
    while (end < list->count && bytes_starts_with(list->entries[end].key, prefix))
        end++;
    arena_destroy(arena);
    return end - *first;
}

static const void *find(const struct scaling *scaling, enum scaling_kind kind,
                        const struct scaling_id *id, struct bytes name)
{
    size_t first;
    size_t count = scaling_of_target(scaling, kind, id, &first);
    for (size_t i = first; i < first + count; i++) {
        const struct scaling_head *head = scaling_at(scaling, kind, i);
        if (bytes_equal(head->name, name))
            return head;
    }
    return NULL;
}

const struct scaling_target *scaling_find_target(const struct scaling *scaling,
                                                 const struct scaling_id *id)
{
    return find(scaling, SCALING_TARGET, id, BYTES(""));
}

const struct scaling_policy *scaling_find_policy(const struct scaling *scaling,
                                                 const struct scaling_id *id, struct bytes name)
{
    return find(scaling, SCALING_POLICY, id, name);
}

const struct scaling_action *scaling_find_action(const struct scaling *scaling,
                                                 const struct scaling_id *id, struct bytes name)
{
    return find(scaling, SCALING_ACTION, id, name);
}

bool scaling_is_full(const struct scaling *scaling, enum scaling_kind kind)
{
    return scaling->lists[kind].count >= count_max[kind];
}

/* --- Counters --- */

const char *scaling_outcome_name(enum scaling_outcome outcome)
{
    static const char *const names[SCALING_OUTCOMES] = { [SCALING_SUCCESSFUL] = "Successful",
                                                         [SCALING_FAILED] = "Failed",
                                                         [SCALING_UNFULFILLED] = "Unfulfilled" };
    assert(outcome < SCALING_OUTCOMES);
    return names[outcome];
}

void scaling_count_action(struct scaling *scaling, const struct scaling_id *id,
                          enum scaling_outcome outcome)
{
    size_t i = 0;
    assert(outcome < SCALING_OUTCOMES);
    while (i < scaling->action_count &&
           (scaling->actions[i].id.dimension != id->dimension ||
            !bytes_equal(scaling->actions[i].id.resource_id, id->resource_id)))
        i++;
    if (i == SCALING_TARGETS_MAX)
        return;
    if (i == scaling->action_capacity) {
        scaling->action_capacity = i == 0 ? 16 : 2 * i;
        scaling->actions = memory_checked(
            realloc(scaling->actions, scaling->action_capacity * sizeof scaling->actions[0]));
    }
    if (i == scaling->action_count) {
        scaling->actions[i] = (struct scaling_actions){ .id = *id };
        scaling->actions[i].id.resource_id = arena_copy(scaling->action_names, id->resource_id);
        scaling->action_count++;
    }
    scaling->actions[i].counts[outcome]++;
}

const struct scaling_actions *scaling_actions_at(const struct scaling *scaling, size_t index)
{
    return index < scaling->action_count ? &scaling->actions[index] : NULL;
}

/* --- Changing --- */

void scaling_change_init(struct scaling_change *change, struct scaling *scaling,
                         struct arena *arena)
{
    change->scaling = scaling;
    change->arena = arena;
    change->count = 0;
}

static void add(struct scaling_change *change, enum scaling_kind kind, const void *object,
                bool is_deleted)
{
    assert(change->count < SCALING_CHANGES_MAX && object != NULL);
    change->changes[change->count].kind = kind;
    change->changes[change->count].object = object;
    change->changes[change->count].is_deleted = is_deleted;
    change->count++;
}

void scaling_change_put(struct scaling_change *change, enum scaling_kind kind, const void *object)
{
    add(change, kind, object, false);
}

void scaling_change_delete(struct scaling_change *change, enum scaling_kind kind,
                           const void *object)
{
    add(change, kind, object, true);
}

static bool puts_activity(const struct scaling_change *change, const struct scaling_head *activity)
{
    for (size_t i = 0; i < change->count; i++) {
        const struct scaling_head *head = change->changes[i].object;
        if (change->changes[i].kind == SCALING_ACTIVITY &&
            head->created_ms.value == activity->created_ms.value &&
            bytes_equal(head->uuid, activity->uuid))
            return true;
    }
    return false;
}

/* A few more than were added, so that the list shrinks to its bound. An activity that is under way
 * stays, however old: its end says whether the change has to be tried again. */
static void forget_activities(struct scaling_change *change, int64_t now_ms)
{
    const struct object_list *list = &change->scaling->lists[SCALING_ACTIVITY];
    size_t room = SCALING_CHANGES_MAX - change->count;
    for (size_t i = 0; i < list->count && i < 8 && i < room; i++) {
        const struct scaling_activity *activity = list->entries[i].object;
        const struct scaling_head *head = &activity->head;
        bool is_old = now_ms - head->created_ms.value > SCALING_ACTIVITY_MS_MAX;
        if (bytes_equal(activity->status, BYTES("InProgress")) || puts_activity(change, head))
            continue;
        if (is_old || list->count - i > SCALING_ACTIVITIES_MAX - 1)
            scaling_change_delete(change, SCALING_ACTIVITY, head);
    }
}

static void destroy_entries(struct object_list_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        arena_destroy(entries[i].arena);
}

/* The stored form of all objects, and of those to put the entries of the lists. False: an object
 * could not be read again, so it must not be stored. The objects may be those of the lists, which
 * applying the change frees. */
static bool prepare(struct scaling_change *change, struct engine_entry *stored,
                    struct object_list_entry *entries)
{
    for (size_t i = 0; i < change->count; i++) {
        enum scaling_kind kind = change->changes[i].kind, decoded;
        const void *object = change->changes[i].object;
        stored[i].key = scaling_key(change->arena, kind, object);
        if (change->changes[i].is_deleted)
            continue;
        stored[i].value = scaling_encode(change->arena, kind, object);
        if (!make_entry(&stored[i], &entries[i], &decoded)) {
            log_write(LOG_ERROR, "scaling", "an object has no stored form");
            destroy_entries(entries, i);
            return false;
        }
    }
    return true;
}

static enum engine_status write(struct scaling_change *change, const struct engine_entry *stored,
                                const struct scaling_partner *partner)
{
    struct engine_write *batch = NULL;
    enum engine_status status = engine_write_begin(change->scaling->engine, NULL, 0, &batch);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < change->count; i++) {
        struct engine_address address = { .place = scaling_place, .key = stored[i].key };
        if (change->changes[i].is_deleted)
            engine_write_delete(batch, &address);
        else
            engine_write_put(batch, &address, stored[i].value);
    }
    if (partner == NULL)
        return engine_write_commit_wait(batch);
    if (partner->add(partner->context, batch)) {
        status = engine_write_commit_wait(batch);
    } else {
        engine_write_abandon(batch);
        status = ENGINE_IO;
    }
    partner->end(partner->context, status);
    return status;
}

/* Whether the write took place is not known: what the store has counts. An object that cannot be
 * read keeps the state that it had. */
static void reload(struct scaling_change *change, const struct engine_entry *stored)
{
    struct engine_view *view = NULL;
    if (engine_view_open(change->scaling->engine, ENGINE_STRONG, &view) != ENGINE_OK)
        return;
    for (size_t i = 0; i < change->count; i++) {
        struct object_list *list = &change->scaling->lists[change->changes[i].kind];
        struct engine_address address = { .place = scaling_place, .key = stored[i].key };
        struct engine_value value = { 0 };
        struct object_list_entry entry;
        enum scaling_kind kind;
        enum engine_status status = engine_view_get(view, &address, &value);
        if (status == ENGINE_NOT_FOUND)
            object_list_delete(list, stored[i].key);
        else if (status == ENGINE_OK &&
                 make_entry(&(struct engine_entry){ .key = stored[i].key, .value = value.bytes },
                            &entry, &kind))
            object_list_put(list, &entry);
        engine_value_release(&value);
    }
    engine_view_close(view);
}

enum engine_status scaling_change_commit(struct scaling_change *change, int64_t now_ms,
                                         const struct scaling_partner *partner)
{
    forget_activities(change, now_ms);
    if (change->count == 0)
        return ENGINE_OK;
    struct engine_entry *stored = arena_alloc_zeroed(change->arena, change->count * sizeof *stored);
    struct object_list_entry *entries =
        arena_alloc_zeroed(change->arena, change->count * sizeof *entries);
    if (!prepare(change, stored, entries))
        return ENGINE_CORRUPT;
    enum engine_status status = write(change, stored, partner);
    if (status != ENGINE_OK) {
        destroy_entries(entries, change->count);
        if (status == ENGINE_UNKNOWN)
            reload(change, stored);
        return status;
    }
    for (size_t i = 0; i < change->count; i++) {
        struct object_list *list = &change->scaling->lists[change->changes[i].kind];
        if (change->changes[i].is_deleted)
            object_list_delete(list, stored[i].key);
        else
            object_list_put(list, &entries[i]);
    }
    return ENGINE_OK;
}
