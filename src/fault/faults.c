/* faults.c -- see faults.h. */
#include "fault/faults.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"

struct fault {
    struct faults *faults;
    uint64_t number;
    struct fault_rule rule; /* Names point to `names`. */
    _Atomic size_t holders; /* The list is one of them. */
    _Atomic uint64_t draws;
    _Atomic uint64_t hits;
    uint8_t names[2 * FAULT_NAME_SIZE_MAX];
};

struct faults {
    const struct clock *clock;
    atomic_bool has_active; /* May be true for a while after the last one has ended. */
    _Atomic uint64_t totals[FAULT_KINDS];
    pthread_mutex_t mutex; /* Guards the rest. Nothing is waited for while it is held. */
    struct fault *list[FAULTS_MAX];
    size_t count;
    uint64_t last_number;
};

/* --- Names --- */

const char *fault_kind_name(enum fault_kind kind)
{
    static const char *const names[FAULT_KINDS] = {
        [FAULT_THROTTLE] = "Throttle",
        [FAULT_INTERNAL_ERROR] = "InternalServerError",
        [FAULT_TRANSACTION_CONFLICT] = "TransactionConflict",
        [FAULT_CONDITION_FAILED] = "ConditionalCheckFailed",
        [FAULT_CUT_CONNECTION] = "CutConnection",
        [FAULT_LOSE_ANSWER] = "LoseAnswer",
        [FAULT_DELAY] = "Delay",
    };
    assert(kind < FAULT_KINDS);
    return names[kind];
}

const char *fault_operation_name(enum fault_operation operation)
{
    static const char *const names[FAULT_OPERATIONS] = {
        [FAULT_BATCH_EXECUTE_STATEMENT] = "BatchExecuteStatement",
        [FAULT_BATCH_GET_ITEM] = "BatchGetItem",
        [FAULT_BATCH_WRITE_ITEM] = "BatchWriteItem",
        [FAULT_DELETE_ITEM] = "DeleteItem",
        [FAULT_EXECUTE_STATEMENT] = "ExecuteStatement",
        [FAULT_EXECUTE_TRANSACTION] = "ExecuteTransaction",
        [FAULT_GET_ITEM] = "GetItem",
        [FAULT_PUT_ITEM] = "PutItem",
        [FAULT_QUERY] = "Query",
        [FAULT_SCAN] = "Scan",
        [FAULT_TRANSACT_GET_ITEMS] = "TransactGetItems",
        [FAULT_TRANSACT_WRITE_ITEMS] = "TransactWriteItems",
        [FAULT_UPDATE_ITEM] = "UpdateItem",
    };
    assert(operation < FAULT_OPERATIONS);
    return names[operation];
}

enum fault_operation fault_operation_find(const char *name)
{
    enum fault_operation operation = 0;
    while (operation < FAULT_OPERATIONS && strcmp(fault_operation_name(operation), name) != 0)
        operation++;
    return operation;
}

bool fault_operation_is_transaction(enum fault_operation operation)
{
    return operation == FAULT_TRANSACT_GET_ITEMS || operation == FAULT_TRANSACT_WRITE_ITEMS ||
           operation == FAULT_EXECUTE_TRANSACTION;
}

bool fault_operation_meets(enum fault_operation operation, enum fault_kind kind)
{
    switch (kind) {
    case FAULT_TRANSACTION_CONFLICT:
        return operation != FAULT_GET_ITEM && operation != FAULT_BATCH_GET_ITEM &&
               operation != FAULT_QUERY && operation != FAULT_SCAN;
    case FAULT_CONDITION_FAILED:
        return operation == FAULT_PUT_ITEM || operation == FAULT_UPDATE_ITEM ||
               operation == FAULT_DELETE_ITEM || operation == FAULT_TRANSACT_WRITE_ITEMS;
    case FAULT_THROTTLE:
    case FAULT_INTERNAL_ERROR:
    case FAULT_CUT_CONNECTION:
    case FAULT_LOSE_ANSWER:
    case FAULT_DELAY:
    case FAULT_KINDS:
        break;
    }
    return true;
}

/* --- The list --- */

struct faults *faults_create(const struct clock *clock)
{
    struct faults *faults = memory_checked(calloc(1, sizeof *faults));
    faults->clock = clock;
    pthread_mutex_init(&faults->mutex, NULL);
    return faults;
}

void fault_release(struct fault *fault)
{
    if (atomic_fetch_sub(&fault->holders, 1) == 1)
        free(fault);
}

void faults_destroy(struct faults *faults)
{
    if (faults == NULL)
        return;
    for (size_t i = 0; i < faults->count; i++) {
        assert(atomic_load(&faults->list[i]->holders) == 1);
        fault_release(faults->list[i]);
    }
    pthread_mutex_destroy(&faults->mutex);
    free(faults);
}

static bool is_active(const struct fault *fault, int64_t now_ms)
{
    const struct fault_rule *rule = &fault->rule;
    return now_ms < rule->ends_ms &&
           (rule->count_max == 0 || atomic_load(&fault->hits) < (uint64_t)rule->count_max);
}

static void drop_locked(struct faults *faults, size_t index)
{
    fault_release(faults->list[index]);
    faults->count--;
    for (size_t i = index; i < faults->count; i++)
        faults->list[i] = faults->list[i + 1];
}

static void note_active_locked(struct faults *faults, int64_t now_ms)
{
    bool any = false;
    for (size_t i = 0; i < faults->count; i++)
        any |= is_active(faults->list[i], now_ms);
    atomic_store(&faults->has_active, any);
}

/* Drops the oldest one that has ended, if there is no room. */
static bool has_room_locked(struct faults *faults, int64_t now_ms)
{
    for (size_t i = 0; faults->count == FAULTS_MAX && i < faults->count; i++) {
        if (!is_active(faults->list[i], now_ms))
            drop_locked(faults, i);
    }
    return faults->count < FAULTS_MAX;
}

static struct bytes copy_name(uint8_t *to, struct bytes name)
{
    assert(name.len <= FAULT_NAME_SIZE_MAX);
    if (name.len > 0)
        memcpy(to, name.data, name.len);
    return bytes_of(to, name.len);
}

static struct fault *create_fault(struct faults *faults, const struct fault_rule *rule)
{
    struct fault *fault = memory_checked(calloc(1, sizeof *fault));
    fault->faults = faults;
    fault->rule = *rule;
    fault->rule.table_name = copy_name(fault->names, rule->table_name);
    fault->rule.index_name = copy_name(fault->names + FAULT_NAME_SIZE_MAX, rule->index_name);
    atomic_store(&fault->holders, 1);
    return fault;
}

uint64_t faults_add(struct faults *faults, const struct fault_rule *rule)
{
    assert(rule->percent > 0 && rule->percent <= 100 && rule->operations != 0);
    assert(rule->kind < FAULT_KINDS && rule->count_max >= 0);
    assert(rule->delay_ms >= 0 && rule->delay_ms <= FAULT_DELAY_MS_MAX);
    assert(rule->jitter_ms >= 0 && rule->jitter_ms <= FAULT_DELAY_MS_MAX);
    uint64_t number = 0;
    int64_t now_ms = clock_server_ms(faults->clock);
    pthread_mutex_lock(&faults->mutex);
    if (has_room_locked(faults, now_ms)) {
        struct fault *fault = create_fault(faults, rule);
        number = ++faults->last_number;
        fault->number = number;
        faults->list[faults->count++] = fault;
        note_active_locked(faults, now_ms);
    }
    pthread_mutex_unlock(&faults->mutex);
    return number;
}

bool faults_remove(struct faults *faults, uint64_t number)
{
    bool found = false;
    pthread_mutex_lock(&faults->mutex);
    for (size_t i = 0; i < faults->count && !found; i++) {
        if (faults->list[i]->number == number) {
            drop_locked(faults, i);
            found = true;
        }
    }
    note_active_locked(faults, clock_server_ms(faults->clock));
    pthread_mutex_unlock(&faults->mutex);
    return found;
}

size_t faults_read(struct faults *faults, struct arena *arena, struct fault_reading *out)
{
    int64_t now_ms = clock_server_ms(faults->clock);
    pthread_mutex_lock(&faults->mutex);
    size_t count = faults->count;
    for (size_t i = 0; i < count; i++) {
        const struct fault *fault = faults->list[i];
        out[i] = (struct fault_reading){ .number = fault->number,
                                         .rule = fault->rule,
                                         .draws = atomic_load(&fault->draws),
                                         .hits = atomic_load(&fault->hits),
                                         .is_active = is_active(fault, now_ms) };
        out[i].rule.table_name = arena_copy(arena, fault->rule.table_name);
        out[i].rule.index_name = arena_copy(arena, fault->rule.index_name);
    }
    pthread_mutex_unlock(&faults->mutex);
    return count;
}

uint64_t faults_total(const struct faults *faults, enum fault_kind kind)
{
    return atomic_load_explicit(&faults->totals[kind], memory_order_relaxed);
}

/* --- For requests --- */

bool faults_have_active(const struct faults *faults)
{
    return atomic_load_explicit(&faults->has_active, memory_order_relaxed);
}

size_t faults_find(struct faults *faults, struct bytes table_name, enum fault_operation operation,
                   struct fault **out)
{
    assert(operation < FAULT_OPERATIONS);
    int64_t now_ms = clock_server_ms(faults->clock);
    size_t count = 0;
    bool any_ended = false;
    pthread_mutex_lock(&faults->mutex);
    for (size_t i = 0; i < faults->count; i++) {
        struct fault *fault = faults->list[i];
        if (!is_active(fault, now_ms)) {
            any_ended = true;
        } else if ((fault->rule.operations >> operation & 1) != 0 &&
                   bytes_equal(fault->rule.table_name, table_name)) {
            atomic_fetch_add(&fault->holders, 1);
            out[count++] = fault;
        }
    }
    if (any_ended)
        note_active_locked(faults, now_ms);
    pthread_mutex_unlock(&faults->mutex);
    return count;
}

const struct fault_rule *fault_rule(const struct fault *fault)
{
    return &fault->rule;
}

/* SplitMix64: neighbouring numbers give unrelated ones. */
static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
    return value ^ value >> 31;
}

/* Counts a hit, unless there were as many as there may be. */
static bool take_hit(struct fault *fault)
{
    uint64_t hits = atomic_load(&fault->hits);
    uint64_t max = fault->rule.count_max == 0 ? UINT64_MAX : (uint64_t)fault->rule.count_max;
    do {
        if (hits >= max)
            return false;
    } while (!atomic_compare_exchange_weak(&fault->hits, &hits, hits + 1));
    atomic_fetch_add_explicit(&fault->faults->totals[fault->rule.kind], 1, memory_order_relaxed);
    return true;
}

struct fault_draw fault_draw(struct fault *fault)
{
    const struct fault_rule *rule = &fault->rule;
    uint64_t number = atomic_fetch_add(&fault->draws, 1) + 1;
    uint64_t dice = mix(rule->seed + number * UINT64_C(0x9E3779B97F4A7C15));
    double percent = (double)(dice >> 11) * 0x1p-53 * 100;
    struct fault_draw draw = { .is_hit = percent < rule->percent && take_hit(fault) };
    if (draw.is_hit)
        draw.delay_ms = rule->delay_ms + (int64_t)(mix(dice) % ((uint64_t)rule->jitter_ms + 1));
    return draw;
}
