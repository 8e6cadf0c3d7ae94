/* meter_slots.c -- which table has which slot. See meter_parts.h. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "metric/meter_parts.h"
#include "table/catalogue.h"
#include "table/table_runtime.h"

static char *copy_name(struct bytes name)
{
    char *copy = memory_checked(malloc(name.len + 1));
    memcpy(copy, name.data, name.len);
    copy[name.len] = '\0';
    return copy;
}

static uint32_t find_free_locked(struct meter *meter)
{
    if (meter->slots_reached < meter->slot_count)
        return (uint32_t)meter->slots_reached++;
    for (size_t i = METER_SLOT_FIRST_TABLE; i < meter->slot_count; i++) {
        if (meter->slots[i].id == 0)
            return (uint32_t)i;
    }
    return METER_SLOT_OTHER;
}

uint32_t meter_slots_take(struct meter *meter, const struct table *table)
{
    struct table_runtime *runtime = table_runtime(table);
    pthread_mutex_lock(&meter->lock);
    uint32_t slot = atomic_load(&runtime->meter_slot);
    if (slot < METER_SLOT_FIRST_TABLE) {
        slot = atomic_load(&meter->free_slots) > 0 ? find_free_locked(meter) : METER_SLOT_OTHER;
        if (slot != METER_SLOT_OTHER) {
            meter->slots[slot].id = runtime->table_id;
            meter->slots[slot].name = copy_name(table_definition(table)->name);
            meter->slots[slot].missing_since = 0;
            atomic_fetch_sub(&meter->free_slots, 1);
        }
        atomic_store(&runtime->meter_slot, slot);
    }
    pthread_mutex_unlock(&meter->lock);
    return slot;
}

bool meter_slots_has(struct meter *meter, uint32_t slot, uint64_t table_id)
{
    pthread_mutex_lock(&meter->lock);
    bool has = meter->slots[slot].id == table_id;
    pthread_mutex_unlock(&meter->lock);
    return has;
}

/* --- Indexes --- */

static bool is_defined(const struct table_definition *definition, uint64_t index_id)
{
    for (size_t i = 0; i < definition->index_count; i++) {
        if (definition->indexes[i].id == index_id)
            return true;
    }
    return false;
}

static void free_index(struct meter_slot_index *index)
{
    free(index->name);
    *index = (struct meter_slot_index){ 0 };
}

/* A free place; or, if a client has added and removed very many indexes within minutes, that of one
 * which is gone, whose last minutes are lost. A table has fewer indexes than there are places. */
static size_t find_index_place(struct meter_slot_index *indexes,
                               const struct table_definition *definition)
{
    static_assert((int)METER_INDEXES_MAX > (int)INDEXES_MAX, "there is a place for every index");
    size_t gone = METER_INDEXES_MAX;
    for (size_t i = 0; i < METER_INDEXES_MAX; i++) {
        if (indexes[i].id == 0)
            return i;
        if (!is_defined(definition, indexes[i].id))
            gone = i;
    }
    assert(gone < METER_INDEXES_MAX);
    free_index(&indexes[gone]);
    return gone;
}

size_t meter_slots_take_index(struct meter *meter, uint32_t slot,
                              const struct table_definition *definition,
                              const struct index_definition *index)
{
    assert(slot >= METER_SLOT_FIRST_TABLE && index->id != 0);
    pthread_mutex_lock(&meter->lock);
    struct meter_slot *entry = &meter->slots[slot];
    if (entry->indexes == NULL)
        entry->indexes = memory_checked(calloc(METER_INDEXES_MAX, sizeof *entry->indexes));
    size_t place = 0;
    while (place < METER_INDEXES_MAX && entry->indexes[place].id != index->id)
        place++;
    if (place == METER_INDEXES_MAX) {
        place = find_index_place(entry->indexes, definition);
        entry->indexes[place] = (struct meter_slot_index){ .id = index->id,
                                                           .name = copy_name(index->name),
                                                           .global = index->global };
    }
    pthread_mutex_unlock(&meter->lock);
    return place;
}

/* --- What is gone --- */

static void free_slot(struct meter_slot *slot)
{
    for (size_t i = 0; slot->indexes != NULL && i < METER_INDEXES_MAX; i++)
        free_index(&slot->indexes[i]);
    free(slot->indexes);
    free(slot->name);
    *slot = (struct meter_slot){ 0 };
}

/* Notes since when something is missing. True: for so long that its minutes are over. */
static bool is_over(bool exists, int64_t now_minute, int64_t *missing_since)
{
    if (exists)
        *missing_since = 0;
    else if (*missing_since == 0 || *missing_since > now_minute) /* Or the clock was set back. */
        *missing_since = now_minute;
    return !exists && now_minute - *missing_since > METER_MINUTES;
}

void meter_slots_sweep(struct meter *meter)
{
    int64_t now_minute = meter_wall_minute(meter);
    for (size_t i = METER_SLOT_FIRST_TABLE; i < meter->slot_count; i++) {
        pthread_mutex_lock(&meter->lock);
        struct meter_slot *slot = &meter->slots[i];
        if (slot->id != 0) {
            struct table *table =
                catalogue_find(meter->options.catalogue, bytes_from_text(slot->name));
            const struct table_definition *definition =
                table == NULL ? NULL : table_definition(table);
            bool exists = definition != NULL && definition->id == slot->id;
            if (is_over(exists, now_minute, &slot->missing_since)) {
                free_slot(slot);
                atomic_fetch_add(&meter->free_slots, 1);
            }
            for (size_t k = 0; exists && slot->indexes != NULL && k < METER_INDEXES_MAX; k++) {
                struct meter_slot_index *index = &slot->indexes[k];
                if (index->id != 0 &&
                    is_over(is_defined(definition, index->id), now_minute, &index->missing_since))
                    free_index(index);
            }
            table_release(table);
        }
        pthread_mutex_unlock(&meter->lock);
    }
}

void meter_slots_deinit(struct meter *meter)
{
    for (size_t i = 0; i < meter->slot_count; i++)
        free_slot(&meter->slots[i]);
    free(meter->slots);
}
