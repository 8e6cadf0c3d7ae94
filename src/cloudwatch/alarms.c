/* alarms.c -- see alarms.h: the list, and how it is opened. */
#include "cloudwatch/alarms.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "cloudwatch/alarm_list.h"
#include "engine/engine_load.h"

/* --- Entries --- */

struct bytes alarm_entry_name(const struct alarm_entry *entry)
{
    return bytes_of(entry->bytes, entry->name_size);
}

struct bytes alarm_entry_record(const struct alarm_entry *entry)
{
    return bytes_of(entry->bytes + entry->name_size, entry->record_size);
}

size_t alarms_place_locked(const struct alarms *alarms, struct bytes name, bool *found)
{
    size_t low = 0, high = alarms->count;
    *found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = bytes_compare(alarm_entry_name(alarms->entries[middle]), name);
        if (order == 0) {
            *found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct alarm_entry *alarms_entry_locked(const struct alarms *alarms, struct bytes name)
{
    bool found;
    size_t place = alarms_place_locked(alarms, name, &found);
    return found ? alarms->entries[place] : NULL;
}

bool alarms_decode_locked(const struct alarms *alarms, struct arena *arena,
                          const struct alarm_entry *entry, struct alarm *out)
{
    (void)alarms;
    /* A copy: texts of the result may borrow from the record. */
    return alarm_decode(arena, arena_copy(arena, alarm_entry_record(entry)), out);
}

static struct alarm_entry *create_entry(struct alarms *alarms, struct bytes name,
                                        struct bytes record, int64_t pace_s)
{
    struct alarm_entry *entry = memory_checked(malloc(sizeof *entry + name.len + record.len));
    *entry = (struct alarm_entry){ .version = ++alarms->last_version,
                                   .pace_s = pace_s,
                                   .name_size = name.len,
                                   .record_size = record.len };
    memcpy(entry->bytes, name.data, name.len);
    memcpy(entry->bytes + name.len, record.data, record.len);
    return entry;
}

static void insert(struct alarms *alarms, size_t place, struct alarm_entry *entry)
{
    if (alarms->count == alarms->capacity) {
        alarms->capacity = alarms->capacity == 0 ? 16 : alarms->capacity * 2;
        alarms->entries =
            memory_checked(realloc(alarms->entries, alarms->capacity * sizeof *alarms->entries));
    }
    memmove(alarms->entries + place + 1, alarms->entries + place,
            (alarms->count - place) * sizeof *alarms->entries);
    alarms->entries[place] = entry;
    alarms->count++;
}

void alarms_apply_locked(struct alarms *alarms, struct bytes name, struct bytes record,
                         enum alarm_state state, int64_t pace_s, bool is_due)
{
    bool found;
    size_t place = alarms_place_locked(alarms, name, &found);
    struct alarm_entry *old = found ? alarms->entries[place] : NULL;
    alarms->size -= old == NULL ? 0 : old->name_size + old->record_size;
    if (record.data == NULL) {
        if (found) {
            alarms->count--;
            memmove(alarms->entries + place, alarms->entries + place + 1,
                    (alarms->count - place) * sizeof *alarms->entries);
        }
        free(old);
        return;
    }
    struct alarm_entry *entry = create_entry(alarms, name, record, pace_s);
    entry->state = state;
    alarms->size += name.len + record.len;
    if (found) {
        entry->due_s = old->pace_s == pace_s && !is_due ? old->due_s : 0;
        alarms->entries[place] = entry;
        free(old);
    } else {
        insert(alarms, place, entry);
    }
}

/* --- Opening --- */

static bool load_alarm(struct alarms *alarms, struct arena *arena, const struct engine_entry *entry)
{
    struct alarm alarm;
    struct bytes name = bytes_of(entry->key.data + 1, entry->key.len - 1);
    if (!alarm_decode(arena, entry->value, &alarm) || !bytes_equal(alarm.definition.name, name))
        return false;
    alarms_apply_locked(alarms, name, entry->value, alarm.state,
                        alarm_definition_pace_s(&alarm.definition), true);
    return true;
}

static bool load_action(struct alarms *alarms, struct arena *arena, uint64_t number,
                        struct bytes value)
{
    struct alarm_action action;
    if (!alarm_action_decode(arena, value, &action))
        return false;
    alarm_delivery_add(alarms->delivery, number, action.target);
    return true;
}

static bool load_entry(void *context, struct arena *arena, const struct engine_entry *entry)
{
    struct alarms *alarms = context;
    uint64_t number;
    if (entry->key.len > 1 && entry->key.data[0] == MONITOR_KEY_ALARM)
        return load_alarm(alarms, arena, entry);
    if (monitor_parse_number(entry->key, MONITOR_KEY_HISTORY, &number))
        alarms->history_count++;
    else if (!monitor_parse_number(entry->key, MONITOR_KEY_ACTION, &number))
        return true; /* Of others. */
    else if (!load_action(alarms, arena, number, entry->value))
        return false;
    if (number > alarms->last_number)
        alarms->last_number = number;
    return true;
}

/* Called by the delivery: notes how an action ended. */
static bool end_action(void *context, struct arena *arena, uint64_t number,
                       const struct alarm_action *action, const char *problem)
{
    struct alarms *alarms = context;
    enum engine_status status;
    struct alarms_change *change = alarms_own_change_begin(alarms, arena, &status);
    if (change == NULL)
        return false;
    alarms_change_remove_action(change, number);
    alarms_change_add_history(
        change, action->alarm_name, ALARM_HISTORY_ACTION,
        arena_printf(arena, "%s action %.*s",
                     problem == NULL ? "Successfully executed" : "Failed to execute",
                     BYTES_FMT(action->target)),
        alarm_action_data(arena, action, problem));
    return alarms_own_change_end(change, ALARMS_DONE, &status) == ALARMS_DONE;
}

struct alarms *alarms_open(const struct alarms_options *options, enum engine_status *status)
{
    struct alarms *alarms = memory_checked(calloc(1, sizeof *alarms));
    alarms->options = *options;
    if (alarms->options.alarms_max == 0)
        alarms->options.alarms_max = ALARMS_MAX_DEFAULT;
    if (alarms->options.history_max == 0)
        alarms->options.history_max = ALARMS_HISTORY_MAX_DEFAULT;
    pthread_mutex_init(&alarms->mutex, NULL);
    alarms->delivery =
        alarm_delivery_create(&(struct alarm_delivery_options){ .engine = options->engine,
                                                                .outside = options->outside,
                                                                .ended = end_action,
                                                                .context = alarms });
    pthread_mutex_lock(&alarms->mutex); /* Actions that are resumed may end already. */
    const struct engine_load load = { .range.place = monitor_place,
                                      .take = load_entry,
                                      .context = alarms,
                                      .module = "alarm",
                                      .damage = "a stored alarm or action is damaged" };
    *status = engine_load(alarms->options.engine, &load);
    pthread_mutex_unlock(&alarms->mutex);
    if (*status == ENGINE_OK)
        return alarms;
    alarms_close(alarms);
    return NULL;
}

void alarms_close(struct alarms *alarms)
{
    if (alarms == NULL)
        return;
    alarm_delivery_destroy(alarms->delivery);
    if (alarms->options.read_destroy != NULL)
        alarms->options.read_destroy(alarms->options.read_context);
    for (size_t i = 0; i < alarms->count; i++)
        free(alarms->entries[i]);
    free(alarms->entries);
    pthread_mutex_destroy(&alarms->mutex);
    free(alarms);
}

void alarms_set_scaler(struct alarms *alarms, alarm_scaler *scaler, void *context)
{
    alarm_delivery_set_scaler(alarms->delivery, scaler, context);
}

/* --- Looking up --- */

size_t alarms_count(struct alarms *alarms)
{
    pthread_mutex_lock(&alarms->mutex);
    size_t count = alarms->count;
    pthread_mutex_unlock(&alarms->mutex);
    return count;
}

void alarms_count_states(struct alarms *alarms, size_t counts[ALARM_STATE_COUNT])
{
    memset(counts, 0, ALARM_STATE_COUNT * sizeof *counts);
    pthread_mutex_lock(&alarms->mutex);
    for (size_t i = 0; i < alarms->count; i++)
        counts[alarms->entries[i]->state]++;
    pthread_mutex_unlock(&alarms->mutex);
}

bool alarms_find(struct alarms *alarms, struct arena *arena, struct bytes name, struct alarm *out)
{
    pthread_mutex_lock(&alarms->mutex);
    const struct alarm_entry *entry = alarms_entry_locked(alarms, name);
    bool found = entry != NULL && alarms_decode_locked(alarms, arena, entry, out);
    pthread_mutex_unlock(&alarms->mutex);
    return found;
}

bool alarms_next(struct alarms *alarms, struct arena *arena, struct bytes after, struct alarm *out)
{
    bool exact = false;
    pthread_mutex_lock(&alarms->mutex);
    size_t place = after.data == NULL ? 0 : alarms_place_locked(alarms, after, &exact);
    place += exact;
    bool found =
        place < alarms->count && alarms_decode_locked(alarms, arena, alarms->entries[place], out);
    pthread_mutex_unlock(&alarms->mutex);
    return found;
}
