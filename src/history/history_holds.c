/* history_holds.c -- see history_holds.h. */
#include "history/history_holds.h"
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include "base/memory.h"

struct hold {
    uint64_t number;
    uint64_t table_id;
    int64_t at_us;
};

struct history_holds {
    pthread_mutex_t mutex; /* Guards what follows. A leaf. */
    struct hold list[HISTORY_HOLDS_MAX];
    size_t count;
    uint64_t last_number;
};

struct history_holds *history_holds_create(void)
{
    struct history_holds *holds = memory_checked(calloc(1, sizeof *holds));
    pthread_mutex_init(&holds->mutex, NULL);
    return holds;
}

void history_holds_destroy(struct history_holds *holds)
{
    if (holds == NULL)
        return;
    pthread_mutex_destroy(&holds->mutex);
    free(holds);
}

uint64_t history_holds_add(struct history_holds *holds, uint64_t table_id, int64_t at_us)
{
    uint64_t number = 0;
    assert(table_id != 0 && at_us >= 0);
    pthread_mutex_lock(&holds->mutex);
    if (holds->count < HISTORY_HOLDS_MAX) {
        number = ++holds->last_number;
        holds->list[holds->count++] =
            (struct hold){ .number = number, .table_id = table_id, .at_us = at_us };
    }
    pthread_mutex_unlock(&holds->mutex);
    return number;
}

static struct hold *find_locked(struct history_holds *holds, uint64_t number)
{
    assert(number != 0 && number <= holds->last_number);
    for (size_t i = 0; i < holds->count; i++)
        if (holds->list[i].number == number)
            return &holds->list[i];
    return NULL;
}

void history_holds_move(struct history_holds *holds, uint64_t hold, int64_t at_us)
{
    pthread_mutex_lock(&holds->mutex);
    struct hold *found = find_locked(holds, hold);
    assert(found != NULL && at_us >= found->at_us);
    found->at_us = at_us;
    pthread_mutex_unlock(&holds->mutex);
}

void history_holds_remove(struct history_holds *holds, uint64_t hold)
{
    if (hold == 0)
        return;
    pthread_mutex_lock(&holds->mutex);
    struct hold *found = find_locked(holds, hold);
    assert(found != NULL);
    *found = holds->list[--holds->count];
    pthread_mutex_unlock(&holds->mutex);
}

bool history_holds_has_table(struct history_holds *holds, uint64_t table_id)
{
    return history_holds_earliest_us(holds, table_id) != INT64_MAX;
}

int64_t history_holds_earliest_us(struct history_holds *holds, uint64_t table_id)
{
    int64_t earliest_us = INT64_MAX;
    pthread_mutex_lock(&holds->mutex);
    for (size_t i = 0; i < holds->count; i++)
        if (holds->list[i].table_id == table_id && holds->list[i].at_us < earliest_us)
            earliest_us = holds->list[i].at_us;
    pthread_mutex_unlock(&holds->mutex);
    return earliest_us;
}
