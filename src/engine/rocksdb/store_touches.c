/* store_touches.c -- see store_touches.h.
 *
 * Keys and values are not copied: RocksDB has them in its batch, each value just behind its key
 * and its own size, so that the end of the batch after a put tells where both are.
 */
#include "engine/rocksdb/store_touches.h"
#include <assert.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

void store_touches_clear(struct store_touches *touches)
{
    touches->count = 0;
    touches->wanted_count = 0;
}

void store_touches_deinit(struct store_touches *touches)
{
    free(touches->list);
}

void store_touches_want(struct store_touches *touches, const struct store_cache_name *name)
{
    if (touches->wanted_count < STORE_TOUCHES_WANTED_MAX)
        touches->wanted[touches->wanted_count++] = name->hash;
}

static bool is_wanted(const struct store_touches *touches, uint64_t hash)
{
    for (size_t i = 0; i < touches->wanted_count; i++)
        if (touches->wanted[i] == hash)
            return true;
    return false;
}

static struct store_touch *add(struct store_touches *touches, const struct store_cache_name *name)
{
    if (touches->count == touches->capacity) {
        size_t capacity = touches->capacity == 0 ? FIRST_CAPACITY : 2 * touches->capacity;
        touches->list = realloc(touches->list, capacity * sizeof *touches->list);
        if (touches->list == NULL)
            abort();
        touches->capacity = capacity;
    }
    struct store_touch *touch = &touches->list[touches->count++];
    *touch = (struct store_touch){ .touch = { .run_hash = name->run_hash, .hash = name->hash } };
    return touch;
}

void store_touches_put(struct store_touches *touches, const struct store_cache_name *name,
                       size_t value_size, size_t batch_size)
{
    struct store_touch *touch = add(touches, name);
    if (!is_wanted(touches, name->hash))
        return;
    assert(value_size < batch_size);
    touch->value_at = batch_size - value_size;
    touch->value_size = value_size;
    touch->key_size = name->key.len;
}

void store_touches_delete(struct store_touches *touches, const struct store_cache_name *name)
{
    add(touches, name);
}

void store_touches_begin(struct store_touches *touches, struct store_cache *cache)
{
    touches->moment = store_cache_moment(cache);
    for (size_t i = 0; i < touches->count; i++)
        store_cache_begin_change(cache, &touches->list[i].touch);
}

/* How many bytes RocksDB writes a size in: seven bits in each. */
static size_t size_of_size(size_t size)
{
    size_t count = 1;
    for (; size >= 0x80; size >>= 7)
        count++;
    return count;
}

void store_touches_end(const struct store_touches *touches, struct store_cache *cache,
                       struct bytes batch, uint64_t generation)
{
    struct store_cache_removed removed = { 0 };
    for (size_t i = 0; i < touches->count; i++) {
        const struct store_touch *touch = &touches->list[i];
        if (removed.count >= STORE_CACHE_REMOVED_MAX)
            store_cache_free_removed(cache, &removed);
        struct store_cache_name name = { .kind = STORE_CACHE_VALUE,
                                         .run_hash = touch->touch.run_hash,
                                         .hash = touch->touch.hash };
        if (touch->value_at == 0 || batch.len == 0) {
            store_cache_end_change(cache, &touch->touch, generation, &removed);
            continue;
        }
        size_t key_end = touch->value_at - size_of_size(touch->value_size);
        assert(touch->value_at + touch->value_size <= batch.len && key_end > touch->key_size);
        name.key = bytes_of(batch.data + key_end - touch->key_size, touch->key_size);
        store_cache_replace(cache, &name, touches->moment, generation,
                            bytes_of(batch.data + touch->value_at, touch->value_size), &removed);
    }
    store_cache_free_removed(cache, &removed);
}
