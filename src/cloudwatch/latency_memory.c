/* latency_memory.c -- see latency_memory.h. */
#include "cloudwatch/latency_memory.h"
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include "base/memory.h"

enum { BUCKETS = 1024 };

struct entry {
    uint64_t table_id;
    unsigned operation;
    uint64_t round; /* When it was last set. */
    struct entry *next;
    size_t count;
    size_t capacity;
    struct {
        uint32_t bucket;
        uint64_t count;
    } * seen; /* Ascending. */
};

struct latency_memory {
    uint64_t round;
    struct entry *buckets[BUCKETS];
};

struct latency_memory *latency_memory_create(void)
{
    return memory_checked(calloc(1, sizeof(struct latency_memory)));
}

static void destroy_entry(struct entry *entry)
{
    free(entry->seen);
    free(entry);
}

void latency_memory_destroy(struct latency_memory *memory)
{
    for (size_t i = 0; memory != NULL && i < BUCKETS; i++) {
        while (memory->buckets[i] != NULL) {
            struct entry *entry = memory->buckets[i];
            memory->buckets[i] = entry->next;
            destroy_entry(entry);
        }
    }
    free(memory);
}

static size_t bucket_of(uint64_t table_id, unsigned operation)
{
    return (size_t)((table_id * 31 + operation) * UINT64_C(0x9E3779B97F4A7C15) >> 40) % BUCKETS;
}

static struct entry *find(const struct latency_memory *memory, uint64_t table_id,
                          unsigned operation)
{
    struct entry *entry = memory->buckets[bucket_of(table_id, operation)];
    while (entry != NULL && (entry->table_id != table_id || entry->operation != operation))
        entry = entry->next;
    return entry;
}

void latency_memory_subtract(const struct latency_memory *memory, uint64_t table_id,
                             unsigned operation, struct histogram *histogram)
{
    const struct entry *entry = find(memory, table_id, operation);
    for (size_t i = 0; entry != NULL && i < entry->count; i++) {
        uint64_t *count = &histogram->buckets[entry->seen[i].bucket];
        uint64_t before = entry->seen[i].count;
        *count -= before < *count ? before : *count;
    }
}

void latency_memory_begin(struct latency_memory *memory)
{
    memory->round++;
}

static struct entry *find_or_create(struct latency_memory *memory, uint64_t table_id,
                                    unsigned operation)
{
    struct entry *entry = find(memory, table_id, operation);
    if (entry != NULL)
        return entry;
    struct entry **bucket = &memory->buckets[bucket_of(table_id, operation)];
    entry = memory_checked(calloc(1, sizeof *entry));
    *entry = (struct entry){ .table_id = table_id, .operation = operation, .next = *bucket };
    *bucket = entry;
    return entry;
}

void latency_memory_set(struct latency_memory *memory, uint64_t table_id, unsigned operation,
                        const struct histogram *histogram)
{
    struct entry *entry = find_or_create(memory, table_id, operation);
    size_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        count += histogram->buckets[i] > 0 ? 1 : 0;
    if (count > entry->capacity) {
        entry->seen = memory_checked(realloc(entry->seen, count * sizeof entry->seen[0]));
        entry->capacity = count;
    }
    entry->round = memory->round;
    entry->count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS && entry->count < count; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        assert(entry->seen != NULL);
        entry->seen[entry->count].bucket = (uint32_t)i;
        entry->seen[entry->count++].count = histogram->buckets[i];
    }
}

void latency_memory_end(struct latency_memory *memory)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (struct entry **link = &memory->buckets[i]; *link != NULL;) {
            struct entry *entry = *link;
            if (entry->round == memory->round) {
                link = &entry->next;
                continue;
            }
            *link = entry->next;
            destroy_entry(entry);
        }
    }
}
