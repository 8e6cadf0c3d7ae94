/* partition_memory.c -- see partition_memory.h. Sorted arrays, one mutex. */
#include "partition_memory.h"
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/memory.h"

struct partition {
    struct partition_id id;
    uint64_t version;
    struct partition_entry *entries; /* Both parts of an entry are one block, at its key. */
    size_t count, capacity;
};

struct memory {
    struct partition_store base;
    struct partition_store_ops ops;
    pthread_mutex_t mutex; /* Guards the rest. */
    size_t users;
    unsigned bugs;
    bool disturbs;
    struct partition *partitions; /* In order. */
    size_t count, capacity;
    struct partition_memory_counts counts;
};

static struct partition *find_partition(struct memory *memory, const struct partition_id *id,
                                        bool create)
{
    size_t at = 0;
    while (at < memory->count && partition_id_compare(&memory->partitions[at].id, id) < 0)
        at++;
    if (at < memory->count && partition_id_compare(&memory->partitions[at].id, id) == 0)
        return &memory->partitions[at];
    if (!create)
        return NULL;
    if (memory->count == memory->capacity) {
        memory->capacity = 2 * memory->capacity + 4;
        memory->partitions = memory_checked(
            realloc(memory->partitions, memory->capacity * sizeof *memory->partitions));
    }
    memmove(memory->partitions + at + 1, memory->partitions + at,
            (memory->count - at) * sizeof *memory->partitions);
    memory->count++;
    memory->partitions[at] = (struct partition){ .id = *id };
    return &memory->partitions[at];
}

/* The index of the first entry that is not below `key`. */
static size_t lower_bound(const struct partition *partition, struct bytes key)
{
    size_t low = 0, high = partition == NULL ? 0 : partition->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bytes_compare(partition->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct bytes find(const struct partition *partition, struct bytes key)
{
    size_t at = lower_bound(partition, key);
    if (partition == NULL || at == partition->count ||
        !bytes_equal(partition->entries[at].key, key))
        return (struct bytes){ 0 };
    return partition->entries[at].value;
}

static void change(struct partition *partition, const struct partition_change *change)
{
    size_t at = lower_bound(partition, change->key);
    bool is_there = at < partition->count && bytes_equal(partition->entries[at].key, change->key);
    if (is_there) {
        free((void *)partition->entries[at].key.data);
        memmove(partition->entries + at, partition->entries + at + 1,
                (partition->count - at - 1) * sizeof *partition->entries);
        partition->count--;
    }
    if (change->value.data == NULL)
        return;
    assert(change->value.len > PARTITION_STAMP_SIZE); /* As partition_store.h asks. */
    assert(change->value.data[PARTITION_STAMP_SIZE] < 0x7F);
    if (partition->count == partition->capacity) {
        partition->capacity = 2 * partition->capacity + 8;
        partition->entries = memory_checked(
            realloc(partition->entries, partition->capacity * sizeof *partition->entries));
    }
    memmove(partition->entries + at + 1, partition->entries + at,
            (partition->count - at) * sizeof *partition->entries);
    uint8_t *block = memory_checked(malloc(change->key.len + change->value.len));
    memcpy(block, change->key.data, change->key.len);
    memcpy(block + change->key.len, change->value.data, change->value.len);
    partition->entries[at].key = bytes_of(block, change->key.len);
    partition->entries[at].value = bytes_of(block + change->key.len, change->value.len);
    partition->count++;
}

static bool is_ignored(const struct memory *memory, const struct partition_guard *guard)
{
    switch (guard->key.data[0]) {
    case 'E':
        return (memory->bugs & PARTITION_BUG_NO_FENCE) != 0;
    case 'D':
        return (memory->bugs & PARTITION_BUG_NO_COMPARISON) != 0;
    case 'I':
        return (memory->bugs &
                (guard->absent ? PARTITION_BUG_HOLD_IGNORED : PARTITION_BUG_ANY_INTENT)) != 0;
    default:
        return false;
    }
}

static bool holds(const struct memory *memory, const struct partition *partition,
                  const struct partition_guard *guard)
{
    struct bytes value = find(partition, guard->key);
    if (is_ignored(memory, guard))
        return true;
    if (guard->absent)
        return value.data == NULL;
    return value.data != NULL && memcmp(value.data, guard->stamp.bytes, PARTITION_STAMP_SIZE) == 0;
}

static void run_write(struct memory *memory, struct partition_operation *operation)
{
    struct partition *partition = find_partition(memory, &operation->partition, true);
    memory->counts.writes++;
    for (size_t i = 0; i < operation->guard_count; i++)
        if (!holds(memory, partition, &operation->guards[i])) {
            operation->status = PARTITION_REFUSED;
            return;
        }
    for (size_t i = 0; i < operation->change_count; i++) {
        struct partition_change next = operation->changes[i];
        if (next.key.data[0] == 'R' && (memory->bugs & PARTITION_BUG_NO_RECORD) != 0)
            next.value = (struct bytes){ 0 };
        change(partition, &next);
        if ((memory->bugs & PARTITION_BUG_TORN) != 0)
            break;
    }
    partition->version++;
    operation->status = PARTITION_OK;
}

static struct bytes copy(struct arena *arena, struct bytes value)
{
    return value.data == NULL ? value : arena_copy(arena, value);
}

static void run_range(const struct partition *partition, struct arena *arena, bool disturbs,
                      struct partition_range *range)
{
    size_t first = lower_bound(partition, range->first);
    size_t last = lower_bound(partition, range->last);
    size_t size = 0;
    assert(range->count_max > 0);
    size_t room = first < last ? last - first : 0;
    size_t count_max = disturbs && range->count_max > 2 ? 2 : range->count_max;
    room = room < count_max ? room : count_max;
    range->entries = arena_alloc(arena, (room + 1) * sizeof *range->entries);
    range->count = 0;
    while (first < last && range->count < count_max &&
           (range->bytes_max == 0 || size < range->bytes_max)) {
        const struct partition_entry *entry =
            &partition->entries[range->reverse ? --last : first++];
        size += entry->key.len + entry->value.len;
        range->entries[range->count++] =
            (struct partition_entry){ copy(arena, entry->key), copy(arena, entry->value) };
    }
    range->more = first < last;
}

static void run_read(struct memory *memory, struct arena *arena,
                     struct partition_operation *operation)
{
    struct partition *partition = find_partition(memory, &operation->partition, false);
    memory->counts.reads++;
    for (size_t i = 0; i < operation->key_count; i++)
        operation->values[i] = copy(arena, find(partition, operation->keys[i]));
    if ((memory->bugs & PARTITION_BUG_UNDECIDED) != 0 && operation->key_count == 2 &&
        operation->keys[1].data[0] == 'R') {
        uint8_t *later = arena_alloc_zeroed(arena, PARTITION_STAMP_SIZE + 1);
        later[PARTITION_STAMP_SIZE - 5] = 1;
        later[PARTITION_STAMP_SIZE] = 1;
        operation->values[0] = bytes_of(later, PARTITION_STAMP_SIZE + 1);
    }
    for (size_t i = 0; i < operation->range_count; i++)
        run_range(partition, arena, memory->disturbs, &operation->ranges[i]);
    operation->version = partition == NULL ? 0 : partition->version;
    if (partition != NULL && memory->disturbs)
        partition->version++;
    operation->status = PARTITION_OK;
}

static void run(struct partition_store *base, struct arena *arena,
                struct partition_operation *operations, size_t count)
{
    struct memory *memory = (struct memory *)base;
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&memory->mutex);
        if (operations[i].is_write)
            run_write(memory, &operations[i]);
        else
            run_read(memory, arena, &operations[i]);
        bool is_shared = memory->users > 1;
        pthread_mutex_unlock(&memory->mutex);
        if (is_shared) /* So that servers meet, whose operations take no time here. */
            sched_yield();
    }
}

static enum partition_status next_partition(struct partition_store *base,
                                            const struct partition_id *after,
                                            struct partition_id *out)
{
    struct memory *memory = (struct memory *)base;
    enum partition_status status = PARTITION_REFUSED;
    pthread_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < memory->count && status != PARTITION_OK; i++)
        if (after == NULL || partition_id_compare(after, &memory->partitions[i].id) < 0) {
            *out = memory->partitions[i].id;
            status = PARTITION_OK;
        }
    pthread_mutex_unlock(&memory->mutex);
    return status;
}

void partition_memory_clear(struct partition_store *base)
{
    struct memory *memory = (struct memory *)base;
    for (size_t i = 0; i < memory->count; i++) {
        for (size_t j = 0; j < memory->partitions[i].count; j++)
            free((void *)memory->partitions[i].entries[j].key.data);
        free(memory->partitions[i].entries);
    }
    memory->count = 0;
    memory->counts = (struct partition_memory_counts){ 0 };
}

static void close(struct partition_store *base)
{
    struct memory *memory = (struct memory *)base;
    pthread_mutex_lock(&memory->mutex);
    bool is_used = --memory->users > 0;
    pthread_mutex_unlock(&memory->mutex);
    if (is_used)
        return;
    partition_memory_clear(base);
    free(memory->partitions);
    pthread_mutex_destroy(&memory->mutex);
    free(memory);
}

struct partition_store *partition_memory_create(bool reverse)
{
    struct memory *memory = memory_checked(calloc(1, sizeof *memory));
    memory->ops = (struct partition_store_ops){
        .reverse = reverse,
        .changes_max = 16384,
        .size_max = 64 * 1024 * 1024,
        .run = run,
        .next_partition = next_partition,
        .close = close,
    };
    memory->base.ops = &memory->ops;
    memory->users = 1;
    pthread_mutex_init(&memory->mutex, NULL);
    return &memory->base;
}

struct partition_store *partition_memory_retain(struct partition_store *base)
{
    struct memory *memory = (struct memory *)base;
    pthread_mutex_lock(&memory->mutex);
    memory->users++;
    pthread_mutex_unlock(&memory->mutex);
    return base;
}

void partition_memory_limit(struct partition_store *base, size_t changes_max, size_t size_max)
{
    ((struct memory *)base)->ops.changes_max = changes_max;
    ((struct memory *)base)->ops.size_max = size_max;
}

void partition_memory_disturb(struct partition_store *base, bool disturbs)
{
    struct memory *memory = (struct memory *)base;
    pthread_mutex_lock(&memory->mutex);
    memory->disturbs = disturbs;
    pthread_mutex_unlock(&memory->mutex);
}

void partition_memory_plant(struct partition_store *base, unsigned bugs)
{
    ((struct memory *)base)->bugs = bugs;
}

struct partition_memory_counts partition_memory_counts(struct partition_store *base)
{
    struct memory *memory = (struct memory *)base;
    pthread_mutex_lock(&memory->mutex);
    struct partition_memory_counts counts = memory->counts;
    pthread_mutex_unlock(&memory->mutex);
    return counts;
}

size_t partition_memory_count_keys(struct partition_store *base, uint8_t first)
{
    struct memory *memory = (struct memory *)base;
    size_t count = 0;
    pthread_mutex_lock(&memory->mutex);
    for (size_t i = 0; i < memory->count; i++)
        for (size_t j = 0; j < memory->partitions[i].count; j++)
            count += memory->partitions[i].entries[j].key.data[0] == first;
    pthread_mutex_unlock(&memory->mutex);
    return count;
}
