/* store_run.c -- see store_run.h. */
#include "engine/rocksdb/store_run.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE_BYTES = sizeof(uint32_t),
    ENTRY_HEAD_SIZE = 2 * SIZE_BYTES,
    FIRST_CAPACITY = 4096,
};

static uint32_t number_at(struct bytes block, size_t offset)
{
    uint32_t number;
    memcpy(&number, block.data + offset, sizeof number);
    return number;
}

static void append(struct store_run_builder *builder, const void *data, size_t size)
{
    if (size > 0)
        memcpy(builder->data + builder->size, data, size);
    builder->size += size;
}

static void append_size(struct store_run_builder *builder, size_t size)
{
    uint32_t number = (uint32_t)size;
    append(builder, &number, sizeof number);
}

static void reserve(struct store_run_builder *builder, size_t size)
{
    size_t capacity = builder->capacity == 0 ? FIRST_CAPACITY : builder->capacity;
    while (capacity < builder->size + size)
        capacity *= 2;
    if (capacity == builder->capacity)
        return;
    builder->data = realloc(builder->data, capacity);
    if (builder->data == NULL)
        abort();
    builder->capacity = capacity;
}

bool store_run_add(struct store_run_builder *builder, const struct engine_entry *entry)
{
    size_t size = ENTRY_HEAD_SIZE + entry->key.len + entry->value.len;
    if (builder->count == STORE_RUN_ENTRIES_MAX || builder->size + size > STORE_RUN_SIZE_MAX)
        return false;
    reserve(builder, size);
    builder->offsets[builder->count++] = (uint32_t)builder->size;
    append_size(builder, entry->key.len);
    append_size(builder, entry->value.len);
    append(builder, entry->key.data, entry->key.len);
    append(builder, entry->value.data, entry->value.len);
    return true;
}

struct bytes store_run_finish(struct store_run_builder *builder)
{
    assert(builder->count <= STORE_RUN_ENTRIES_MAX);
    size_t table_size = SIZE_BYTES * (1 + (size_t)builder->count);
    reserve(builder, table_size);
    memmove(builder->data + table_size, builder->data, builder->size);
    memcpy(builder->data, &builder->count, SIZE_BYTES);
    for (uint32_t i = 0; i < builder->count; i++) {
        uint32_t offset = builder->offsets[i] + (uint32_t)table_size;
        memcpy(builder->data + SIZE_BYTES * (1 + (size_t)i), &offset, SIZE_BYTES);
    }
    builder->size += table_size;
    return bytes_of(builder->data, builder->size);
}

void store_run_deinit(struct store_run_builder *builder)
{
    free(builder->data);
}

size_t store_run_count(struct bytes block)
{
    assert(block.len >= SIZE_BYTES);
    return number_at(block, 0);
}

struct engine_entry store_run_at(struct bytes block, size_t index)
{
    size_t offset = number_at(block, SIZE_BYTES * (1 + index));
    size_t key_size = number_at(block, offset);
    const uint8_t *key = block.data + offset + ENTRY_HEAD_SIZE;
    return (struct engine_entry){
        .key = bytes_of(key, key_size),
        .value = bytes_of(key + key_size, number_at(block, offset + SIZE_BYTES)),
    };
}

size_t store_run_search(struct bytes block, struct bytes key)
{
    size_t first = 0;
    size_t last = store_run_count(block);
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (bytes_compare(store_run_at(block, middle).key, key) < 0)
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}
