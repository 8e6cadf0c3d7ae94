/* stacks.c -- see stacks.h. */
#include "cloudformation/stacks.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/give_way.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/object_list.h"
#include "base/uuid.h"
#include "cloudformation/stacks_internal.h"
#include "engine/engine_load.h"

/* --- Lists --- */

/* A copy with memory of its own, made by decoding the stored form. */
static bool make_entry(const struct engine_entry *stored, struct object_list_entry *out,
                       enum stack_kind *kind)
{
    *out = (struct object_list_entry){ .arena = arena_create_sized(1024) };
    struct engine_entry copy = { .key = arena_copy(out->arena, stored->key),
                                 .value = stored->value };
    out->key = copy.key;
    out->object = stack_decode(out->arena, &copy, kind);
    if (out->object != NULL)
        return true;
    arena_destroy(out->arena);
    return false;
}

/* What the entry of that key holds; 0: there is none. */
static size_t held_size(const struct object_list *list, struct bytes key)
{
    size_t at = object_list_lower_bound(list, key);
    bool found = at < list->count && bytes_equal(list->entries[at].key, key);
    return found ? arena_held_size(list->entries[at].arena) : 0;
}

static void list_put(struct stacks *stacks, enum stack_kind kind,
                     const struct object_list_entry *entry)
{
    stacks->memory_size += arena_held_size(entry->arena);
    stacks->memory_size -= held_size(&stacks->lists[kind], entry->key);
    object_list_put(&stacks->lists[kind], entry);
}

static void list_delete(struct stacks *stacks, enum stack_kind kind, struct bytes key)
{
    stacks->memory_size -= held_size(&stacks->lists[kind], key);
    object_list_delete(&stacks->lists[kind], key);
}

/* --- Open and close --- */

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *stored)
{
    struct stacks *stacks = context;
    struct object_list_entry entry;
    enum stack_kind kind;
    uint8_t letter = stored->key.len == 0 ? 0 : stored->key.data[0];
    if (letter == STACK_KEY_TEMPLATE)
        return true;
    if (letter == STACK_KEY_ASSET)
        return stacks_note_stored_asset(stacks, arena, stored);
    if (!make_entry(stored, &entry, &kind))
        return false;
    list_put(stacks, kind, &entry);
    return true;
}

struct stacks *stacks_open(struct engine *engine, enum engine_status *status)
{
    struct stacks *stacks = memory_checked(calloc(1, sizeof *stacks));
    stacks->engine = engine;
    pthread_mutex_init(&stacks->mutex, NULL);
    pthread_mutex_init(&stacks->assets.mutex, NULL);
    const struct engine_load load = { .range.place = stack_place,
                                      .take = load_entry,
                                      .context = stacks,
                                      .module = "stacks",
                                      .damage = "damaged record of a stack" };
    *status = engine_load(engine, &load);
    if (*status == ENGINE_OK)
        return stacks;
    stacks_close(stacks);
    return NULL;
}

void stacks_close(struct stacks *stacks)
{
    if (stacks == NULL)
        return;
    for (size_t kind = 0; kind < STACK_KIND_COUNT; kind++) {
        object_list_deinit(&stacks->lists[kind]);
    }
    stacks_free_assets(stacks);
    pthread_mutex_destroy(&stacks->assets.mutex);
    pthread_mutex_destroy(&stacks->mutex);
    free(stacks);
}

void stacks_lock(struct stacks *stacks)
{
    pthread_mutex_lock(&stacks->mutex);
    /* Objects are copied as JSON, which counts work, and others must not wait for a thread that
     * gives way while it holds the lock. */
    stacks->gave_way = give_way_own.is_on;
    give_way_set(false);
}

void stacks_unlock(struct stacks *stacks)
{
    bool gave_way = stacks->gave_way;
    pthread_mutex_unlock(&stacks->mutex);
    give_way_set(gave_way);
}

/* --- Reading --- */

size_t stacks_count(const struct stacks *stacks)
{
    return stacks->lists[STACK_STACK].count;
}

const void *stacks_object(const struct stacks *stacks, enum stack_kind kind, size_t index)
{
    assert(index < stacks->lists[kind].count);
    return stacks->lists[kind].entries[index].object;
}

const struct stack *stacks_at(const struct stacks *stacks, size_t index)
{
    return stacks_object(stacks, STACK_STACK, index);
}

static bool is_deleted(const struct stack *stack)
{
    return stack_status_of(stack->status_name) == STACK_DELETE_COMPLETE;
}

const struct stack *stacks_find(const struct stacks *stacks, struct bytes name_or_uid)
{
    const struct stack *named = NULL;
    for (size_t i = 0; i < stacks_count(stacks); i++) {
        const struct stack *stack = stacks_at(stacks, i);
        if (bytes_equal(stack->head.stack_uid, name_or_uid))
            return stack;
        if (bytes_equal(stack->name, name_or_uid) && !is_deleted(stack))
            named = stack;
    }
    return named;
}

size_t stacks_of(const struct stacks *stacks, enum stack_kind kind, struct bytes stack_uid,
                 size_t *first)
{
    const struct object_list *list = &stacks->lists[kind];
    struct arena *arena = arena_create_sized(256);
    struct bytes prefix = stack_key_prefix(arena, kind, stack_uid);
    size_t end;
    assert(kind != STACK_STACK && stack_uid.len == UUID_TEXT_SIZE);
    *first = end = object_list_lower_bound(list, prefix);
    while (end < list->count && bytes_starts_with(list->entries[end].key, prefix))
        end++;
    arena_destroy(arena);
    return end - *first;
}

const struct stack_resource *stacks_find_resource(const struct stacks *stacks,
                                                  struct bytes stack_uid, struct bytes logical_id)
{
    const struct object_list *list = &stacks->lists[STACK_RESOURCE];
    struct arena *arena = arena_create_sized(512);
    const struct stack_head head = { .stack_uid = stack_uid, .id = logical_id };
    struct bytes key = stack_key(arena, STACK_RESOURCE, &head);
    const struct stack_resource *found = object_list_find(list, key);
    arena_destroy(arena);
    return found;
}

bool stacks_are_full(const struct stacks *stacks)
{
    size_t count = 0;
    for (size_t i = 0; i < stacks_count(stacks); i++)
        count += !is_deleted(stacks_at(stacks, i));
    return count >= STACKS_MAX;
}

bool stacks_fill_memory(const struct stacks *stacks)
{
    return stacks->memory_size >= STACKS_MEMORY_MAX;
}

enum engine_status stacks_read_blob(struct stacks *stacks, struct arena *arena, struct bytes key,
                                    struct stack_blob *out)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    struct engine_address address = { .place = stack_place, .key = key };
    enum engine_status status = engine_view_open(stacks->engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    if (status == ENGINE_OK && !stack_blob_decode(arena, arena_copy(arena, value.bytes), out))
        status = ENGINE_CORRUPT;
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

enum engine_status stacks_read_template(struct stacks *stacks, struct arena *arena,
                                        struct bytes stack_uid, struct bytes which,
                                        struct bytes *out)
{
    struct stack_blob blob;
    enum engine_status status =
        stacks_read_blob(stacks, arena, stack_template_key(arena, stack_uid, which), &blob);
    if (status == ENGINE_OK)
        *out = blob.bytes;
    return status;
}

/* --- Changing --- */

struct change_entry {
    bool is_template;
    bool is_deleted;
    enum stack_kind kind;
    const void *object;
    struct bytes key;   /* Of a template. */
    struct bytes value; /* The same. */
};

struct stacks_change {
    struct stacks *stacks;
    struct arena *arena;
    struct change_entry *entries;
    size_t count;
    size_t capacity;
};

struct stacks_change *stacks_change_begin(struct stacks *stacks, struct arena *arena)
{
    struct stacks_change *change = arena_alloc_zeroed(arena, sizeof *change);
    change->stacks = stacks;
    change->arena = arena;
    change->capacity = 16;
    change->entries = arena_alloc(arena, change->capacity * sizeof change->entries[0]);
    return change;
}

static struct change_entry *add(struct stacks_change *change)
{
    if (change->count == change->capacity) {
        struct change_entry *larger =
            arena_alloc(change->arena, 2 * change->capacity * sizeof larger[0]);
        memcpy(larger, change->entries, change->count * sizeof larger[0]);
        change->entries = larger;
        change->capacity *= 2;
    }
    struct change_entry *entry = &change->entries[change->count++];
    *entry = (struct change_entry){ 0 };
    return entry;
}

void stacks_put(struct stacks_change *change, enum stack_kind kind, const void *object)
{
    struct change_entry *entry = add(change);
    entry->kind = kind;
    entry->object = object;
}

void stacks_delete(struct stacks_change *change, enum stack_kind kind, const void *object)
{
    stacks_put(change, kind, object);
    change->entries[change->count - 1].is_deleted = true;
}

void stacks_put_template(struct stacks_change *change, struct bytes stack_uid, struct bytes which,
                         struct bytes text, int64_t now_ms)
{
    const struct stack_blob blob = { .bytes = text, .modified_ms = now_ms };
    struct change_entry *entry = add(change);
    assert(text.len <= STACK_TEMPLATE_SIZE_MAX);
    entry->is_template = true;
    entry->key = stack_template_key(change->arena, stack_uid, which);
    entry->value = stack_blob_encode(change->arena, &blob);
}

void stacks_delete_template(struct stacks_change *change, struct bytes stack_uid,
                            struct bytes which)
{
    struct change_entry *entry = add(change);
    entry->is_template = true;
    entry->is_deleted = true;
    entry->key = stack_template_key(change->arena, stack_uid, which);
}

void stacks_forget(struct stacks_change *change, const struct stack *stack)
{
    static const enum stack_kind parts[] = { STACK_RESOURCE, STACK_EVENT, STACK_CHANGE_SET };
    struct bytes uid = stack->head.stack_uid;
    size_t first;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        size_t count = stacks_of(change->stacks, parts[i], uid, &first);
        for (size_t j = first; j < first + count; j++) {
            const struct stack_head *head = stacks_object(change->stacks, parts[i], j);
            stacks_delete(change, parts[i], head);
            if (parts[i] == STACK_CHANGE_SET)
                stacks_delete_template(change, uid, head->id);
        }
    }
    stacks_delete_template(change, uid, STACK_TEMPLATE_NOW);
    stacks_delete_template(change, uid, STACK_TEMPLATE_NEXT);
    stacks_delete(change, STACK_STACK, stack);
}

static void forget_oldest_event(struct stacks_change *change, struct bytes stack_uid)
{
    size_t first;
    size_t count_max =
        stacks_fill_memory(change->stacks) ? STACK_EVENTS_SCARCE_MAX : STACK_EVENTS_MAX;
    if (stacks_of(change->stacks, STACK_EVENT, stack_uid, &first) >= count_max - 4)
        stacks_delete(change, STACK_EVENT, stacks_object(change->stacks, STACK_EVENT, first));
}

void stacks_add_event(struct stacks_change *change, struct stack *stack,
                      const struct stack_resource *resource, struct bytes stack_id, int64_t now_ms)
{
    struct arena *arena = change->arena;
    struct stack_event *event = arena_alloc_zeroed(arena, sizeof *event);
    forget_oldest_event(change, stack->head.stack_uid);
    event->head.stack_uid = stack->head.stack_uid;
    event->head.id = arena_printf(arena, "%012lld", (long long)stack->event_count.value);
    stack->event_count.value++;
    event->token = stack->token;
    event->at_ms = (struct shape_integer){ true, now_ms };
    if (resource == NULL) {
        event->uid = uuid_create(arena);
        event->logical_id = stack->name;
        event->physical_id = stack_id;
        event->type = BYTES("AWS::CloudFormation::Stack");
        event->status_name = stack->status_name;
        event->reason = stack->reason;
    } else {
        event->uid =
            arena_printf(arena, "%.*s-%.*s-%lld", BYTES_FMT(resource->head.id),
                         BYTES_FMT(resource->status_name), (long long)stack->event_count.value);
        event->logical_id = resource->head.id;
        event->physical_id = resource->physical_id;
        event->type = resource->type;
        event->status_name = resource->status_name;
        event->reason = resource->reason;
    }
    stacks_put(change, STACK_EVENT, event);
}

static void destroy_entries(struct object_list_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        arena_destroy(entries[i].arena);
}

/* The stored form of all objects, and of those to put the entries of the lists. False: an object
 * could not be read again, so it must not be stored. The objects may be those of the lists, which
 * applying the change frees. */
static bool prepare(struct stacks_change *change, struct engine_entry *stored,
                    struct object_list_entry *entries)
{
    for (size_t i = 0; i < change->count; i++) {
        const struct change_entry *entry = &change->entries[i];
        enum stack_kind decoded;
        entries[i] = (struct object_list_entry){ 0 };
        stored[i] = (struct engine_entry){ .key = entry->key, .value = entry->value };
        if (!entry->is_template)
            stored[i].key = stack_key(change->arena, entry->kind, entry->object);
        if (entry->is_deleted)
            continue;
        if (!entry->is_template)
            stored[i].value = stack_encode(change->arena, entry->kind, entry->object);
        if (entry->is_template ? !stack_record_is_whole(change->arena, &stored[i])
                               : !make_entry(&stored[i], &entries[i], &decoded)) {
            log_write(LOG_ERROR, "stacks", "a record exceeds its bounds");
            destroy_entries(entries, i);
            return false;
        }
    }
    return true;
}

static enum engine_status write(struct stacks_change *change, const struct engine_entry *stored)
{
    struct engine_write *batch = NULL;
    enum engine_status status = engine_write_begin(change->stacks->engine, NULL, 0, &batch);
    if (status != ENGINE_OK)
        return status;
    for (size_t i = 0; i < change->count; i++) {
        struct engine_address address = { .place = stack_place, .key = stored[i].key };
        if (change->entries[i].is_deleted)
            engine_write_delete(batch, &address);
        else
            engine_write_put(batch, &address, stored[i].value);
    }
    return engine_write_commit_wait(batch);
}

enum engine_status stacks_commit(struct stacks_change *change)
{
    struct stacks *stacks = change->stacks;
    struct engine_entry *stored =
        arena_alloc(change->arena, (change->count + 1) * sizeof stored[0]);
    struct object_list_entry *entries =
        arena_alloc(change->arena, (change->count + 1) * sizeof entries[0]);
    if (!prepare(change, stored, entries))
        return ENGINE_CORRUPT;
    enum engine_status status = write(change, stored);
    if (status != ENGINE_OK) {
        destroy_entries(entries, change->count);
        return status;
    }
    for (size_t i = 0; i < change->count; i++) {
        const struct change_entry *entry = &change->entries[i];
        if (entry->is_template)
            continue;
        if (entry->is_deleted)
            list_delete(stacks, entry->kind, stored[i].key);
        else
            list_put(stacks, entry->kind, &entries[i]);
    }
    return ENGINE_OK;
}
