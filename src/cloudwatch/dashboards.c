/* dashboards.c -- see dashboards.h. */
#include "cloudwatch/dashboards.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "cloudwatch/alarm_definition.h"
#include "cloudwatch/alarm_record.h"
#include "engine/engine_load.h"
#include "model/item.h"
#include "model/item_record.h"

struct entry {
    size_t size; /* Of the body. */
    int64_t modified_ms;
    size_t name_size;
    char name[DASHBOARD_NAME_SIZE_MAX];
};

struct dashboards {
    struct dashboards_options options;
    pthread_mutex_t mutex; /* Guards the list; held while a change is written. */
    struct entry *entries; /* In the order of their names. */
    size_t count;
    size_t capacity;
};

/* --- Stored form --- */

struct bytes dashboard_encode(struct arena *arena, const struct dashboard *dashboard)
{
    const uint64_t numbers[] = { (uint64_t)dashboard->modified_ms };
    struct item_builder builder;
    item_builder_init(&builder, arena);
    item_record_add_text(&builder, "b", dashboard->body);
    item_record_add_numbers(&builder, "i", numbers, COUNT_OF(numbers));
    if (dashboard->tags.kept > 0)
        item_record_add_text(&builder, "g", alarm_tags_encode(arena, &dashboard->tags));
    return item_builder_finish(&builder).encoded;
}

bool dashboard_decode(struct arena *arena, struct bytes stored, struct dashboard *out)
{
    struct item record;
    struct value ignored;
    struct bytes tags;
    uint64_t *numbers;
    size_t count;
    *out = (struct dashboard){ 0 };
    if (!item_open(stored, &record) || !item_verify(&record) ||
        !item_record_find_text(arena, &record, "b", DASHBOARD_BODY_SIZE_MAX, &out->body) ||
        !item_record_find_numbers(arena, &record, "i", 1, &numbers, &count) || count != 1 ||
        numbers[0] > INT64_MAX)
        return false;
    out->modified_ms = (int64_t)numbers[0];
    if (!item_find(&record, BYTES("g"), &ignored))
        return true;
    return item_record_find_text(arena, &record, "g", ALARM_TAGS_SIZE_MAX, &tags) &&
           alarm_tags_decode(arena, tags, &out->tags) && out->tags.kept > 0;
}

/* --- The list --- */

static struct bytes name_of(const struct entry *entry)
{
    return bytes_of(entry->name, entry->name_size);
}

static size_t place_of(const struct dashboards *dashboards, struct bytes name, bool *found)
{
    size_t place = 0;
    while (place < dashboards->count &&
           bytes_compare(name_of(&dashboards->entries[place]), name) < 0)
        place++;
    *found = place < dashboards->count && bytes_equal(name_of(&dashboards->entries[place]), name);
    return place;
}

static void note(struct dashboards *dashboards, struct bytes name, size_t size, int64_t modified_ms)
{
    bool found;
    size_t place = place_of(dashboards, name, &found);
    assert(name.len <= DASHBOARD_NAME_SIZE_MAX);
    if (!found) {
        if (dashboards->count == dashboards->capacity) {
            dashboards->capacity = dashboards->capacity == 0 ? 16 : dashboards->capacity * 2;
            dashboards->entries = memory_checked(
                realloc(dashboards->entries, dashboards->capacity * sizeof *dashboards->entries));
        }
        memmove(dashboards->entries + place + 1, dashboards->entries + place,
                (dashboards->count - place) * sizeof *dashboards->entries);
        dashboards->count++;
    }
    struct entry *entry = &dashboards->entries[place];
    *entry = (struct entry){ .size = size, .modified_ms = modified_ms, .name_size = name.len };
    memcpy(entry->name, name.data, name.len);
}

static void forget(struct dashboards *dashboards, struct bytes name)
{
    bool found;
    size_t place = place_of(dashboards, name, &found);
    if (!found)
        return;
    dashboards->count--;
    memmove(dashboards->entries + place, dashboards->entries + place + 1,
            (dashboards->count - place) * sizeof *dashboards->entries);
}

/* --- Opening --- */

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *entry)
{
    struct dashboard dashboard;
    struct bytes name = bytes_of(entry->key.data + 1, entry->key.len - 1);
    if (!dashboard_is_name(name) || !dashboard_decode(arena, entry->value, &dashboard))
        return false;
    note(context, name, dashboard.body.len, dashboard.modified_ms);
    return true;
}

static enum engine_status load(struct dashboards *dashboards)
{
    static_assert(MONITOR_KEY_DASHBOARD == 'B', "the range");
    const struct engine_load load = {
        .range = { .place = monitor_place, .first = BYTES("B"), .last = BYTES("C") },
        .take = load_entry,
        .context = dashboards,
        .module = "dashboard",
        .damage = "a stored dashboard is damaged"
    };
    return engine_load(dashboards->options.engine, &load);
}

struct dashboards *dashboards_open(const struct dashboards_options *options,
                                   enum engine_status *status)
{
    struct dashboards *dashboards = memory_checked(calloc(1, sizeof *dashboards));
    dashboards->options = *options;
    if (dashboards->options.dashboards_max == 0)
        dashboards->options.dashboards_max = DASHBOARDS_MAX_DEFAULT;
    pthread_mutex_init(&dashboards->mutex, NULL);
    *status = load(dashboards);
    if (*status == ENGINE_OK)
        return dashboards;
    dashboards_close(dashboards);
    return NULL;
}

void dashboards_close(struct dashboards *dashboards)
{
    if (dashboards == NULL)
        return;
    pthread_mutex_destroy(&dashboards->mutex);
    free(dashboards->entries);
    free(dashboards);
}

/* --- Reading --- */

enum engine_status dashboards_get(struct dashboards *dashboards, struct arena *arena,
                                  struct bytes name, struct dashboard *out)
{
    struct engine_view *view = NULL;
    struct engine_value value = { 0 };
    struct engine_address address = monitor_address(arena, MONITOR_KEY_DASHBOARD, name);
    enum engine_status status = engine_view_open(dashboards->options.engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_view_get(view, &address, &value);
    if (status == ENGINE_OK && !dashboard_decode(arena, arena_copy(arena, value.bytes), out))
        status = ENGINE_CORRUPT;
    if (status == ENGINE_OK)
        out->name = name;
    engine_value_release(&value);
    engine_view_close(view);
    return status;
}

bool dashboards_next(struct dashboards *dashboards, struct arena *arena, struct bytes after,
                     struct dashboard_summary *out)
{
    bool exact = false;
    pthread_mutex_lock(&dashboards->mutex);
    size_t place = after.data == NULL ? 0 : place_of(dashboards, after, &exact);
    place += exact;
    bool found = place < dashboards->count;
    if (found) {
        const struct entry *entry = &dashboards->entries[place];
        *out = (struct dashboard_summary){ .name = arena_copy(arena, name_of(entry)),
                                           .size = entry->size,
                                           .modified_ms = entry->modified_ms };
    }
    pthread_mutex_unlock(&dashboards->mutex);
    return found;
}

/* --- Changing --- */

/* Puts into the list what is stored, if it can be read. */
static void reload_locked(struct dashboards *dashboards, struct arena *arena, struct bytes name)
{
    struct dashboard stored;
    enum engine_status status = dashboards_get(dashboards, arena, name, &stored);
    if (status == ENGINE_OK)
        note(dashboards, name, stored.body.len, stored.modified_ms);
    else if (status == ENGINE_NOT_FOUND)
        forget(dashboards, name);
}

static enum engine_status store_locked(struct dashboards *dashboards, struct arena *arena,
                                       const struct dashboard *dashboard)
{
    struct engine_write *write = NULL;
    struct engine_address address = monitor_address(arena, MONITOR_KEY_DASHBOARD, dashboard->name);
    enum engine_status status = engine_write_begin(dashboards->options.engine, NULL, 0, &write);
    if (status != ENGINE_OK)
        return status;
    engine_write_put(write, &address, dashboard_encode(arena, dashboard));
    status = engine_write_commit_wait(write);
    if (status == ENGINE_OK)
        note(dashboards, dashboard->name, dashboard->body.len, dashboard->modified_ms);
    else if (status == ENGINE_UNKNOWN)
        reload_locked(dashboards, arena, dashboard->name);
    return status;
}

enum engine_status dashboards_put(struct dashboards *dashboards, struct arena *arena,
                                  struct bytes name, struct bytes body,
                                  const struct shape_list *tags)
{
    bool found;
    struct dashboard old = { 0 };
    enum engine_status status = ENGINE_OK;
    assert(body.len > 0 && body.len <= DASHBOARD_BODY_SIZE_MAX && dashboard_is_name(name));
    pthread_mutex_lock(&dashboards->mutex);
    place_of(dashboards, name, &found);
    if (found)
        status = dashboards_get(dashboards, arena, name, &old);
    else if (dashboards->count >= dashboards->options.dashboards_max)
        status = ENGINE_TOO_LARGE;
    if (status == ENGINE_OK) {
        const struct dashboard dashboard = { .name = name,
                                             .body = body,
                                             .modified_ms =
                                                 clock_wall_ms(dashboards->options.clock),
                                             .tags = tags != NULL ? *tags : old.tags };
        status = store_locked(dashboards, arena, &dashboard);
    }
    pthread_mutex_unlock(&dashboards->mutex);
    return status;
}

enum engine_status dashboards_change_tags(struct dashboards *dashboards, struct arena *arena,
                                          struct bytes name, const struct alarm_tags_change *tags)
{
    struct dashboard dashboard;
    pthread_mutex_lock(&dashboards->mutex);
    enum engine_status status = dashboards_get(dashboards, arena, name, &dashboard);
    if (status == ENGINE_OK) {
        dashboard.tags = alarm_tags_apply(arena, &dashboard.tags, tags);
        status = dashboard.tags.kept > ALARM_TAGS_MAX ? ENGINE_TOO_LARGE
                                                      : store_locked(dashboards, arena, &dashboard);
    }
    pthread_mutex_unlock(&dashboards->mutex);
    return status;
}

enum engine_status dashboards_delete(struct dashboards *dashboards, struct arena *arena,
                                     const struct bytes *names, size_t count, size_t *missing)
{
    struct engine_write *write = NULL;
    enum engine_status status = ENGINE_OK;
    bool found = true;
    pthread_mutex_lock(&dashboards->mutex);
    for (*missing = 0; *missing < count; (*missing)++) {
        place_of(dashboards, names[*missing], &found);
        if (!found)
            break;
    }
    status = *missing < count ? ENGINE_NOT_FOUND
                              : engine_write_begin(dashboards->options.engine, NULL, 0, &write);
    if (status == ENGINE_OK) {
        for (size_t i = 0; i < count; i++) {
            struct engine_address address = monitor_address(arena, MONITOR_KEY_DASHBOARD, names[i]);
            engine_write_delete(write, &address);
        }
        status = engine_write_commit_wait(write);
    }
    for (size_t i = 0; i < count; i++) {
        if (status == ENGINE_OK)
            forget(dashboards, names[i]);
        else if (status == ENGINE_UNKNOWN)
            reload_locked(dashboards, arena, names[i]);
    }
    pthread_mutex_unlock(&dashboards->mutex);
    return status;
}
