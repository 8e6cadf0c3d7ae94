/* store_key.c -- see store_key.h. Integers are big-endian, so that memcmp orders them. */
#include "engine/rocksdb/store_key.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/byte_order.h"
#include "engine/rocksdb/store.h"

static_assert(STORE_KEY_PREFIX_SIZE <= STORE_KEY_INLINE_SIZE, "a bare prefix needs no heap");

static char *make_room(struct store_key *key, size_t size)
{
    key->heap = size <= sizeof key->space ? NULL : store_alloc(size);
    char *data = key->heap == NULL ? key->space : key->heap;
    key->data = data;
    key->size = size;
    return data;
}

void store_key_init(struct store_key *key, const struct engine_place *place, struct bytes rest)
{
    char *data = make_room(key, STORE_KEY_PREFIX_SIZE + rest.len);
    store_u64_be((uint8_t *)data, place->owner);
    store_u64_be((uint8_t *)data + 8, place->partition);
    data[16] = (char)place->space;
    if (rest.len > 0)
        memcpy(data + STORE_KEY_PREFIX_SIZE, rest.data, rest.len);
}

void store_key_init_place_end(struct store_key *key, const struct engine_place *place)
{
    assert(place->space < UINT8_MAX); /* So the space behind it is still one byte. */
    struct engine_place behind = *place;
    behind.space++;
    store_key_init(key, &behind, BYTES(""));
}

void store_key_init_last(struct store_key *key, const struct engine_place *place, struct bytes last)
{
    if (last.len == 0)
        store_key_init_place_end(key, place);
    else
        store_key_init(key, place, last);
}

void store_key_init_owner(struct store_key *key, uint64_t owner)
{
    store_u64_be((uint8_t *)make_room(key, STORE_KEY_OWNER_SIZE), owner);
}

bool store_key_init_next_place(struct store_key *key, const struct engine_place *place)
{
    struct engine_place next = *place;
    if (next.space < UINT8_MAX)
        next.space++;
    else if (next.partition < UINT64_MAX)
        next = (struct engine_place){ .owner = next.owner, .partition = next.partition + 1 };
    else if (next.owner < UINT64_MAX)
        next = (struct engine_place){ .owner = next.owner + 1 };
    else
        return false;
    store_key_init(key, &next, BYTES(""));
    return true;
}

bool store_key_decode_place(struct bytes key, struct engine_place *out)
{
    if (key.len < STORE_KEY_PREFIX_SIZE)
        return false;
    *out = (struct engine_place){ .owner = load_u64_be(key.data),
                                  .partition = load_u64_be(key.data + 8),
                                  .space = (enum engine_space)key.data[16] };
    return true;
}

void store_key_run_end(struct bytes run, char end[STORE_KEY_FILTERED_SIZE])
{
    assert(run.len == STORE_KEY_FILTERED_SIZE);
    memcpy(end, run.data, STORE_KEY_FILTERED_SIZE);
    size_t i = STORE_KEY_FILTERED_SIZE;
    do
        end[--i]++;
    while (end[i] == 0 && i > 0); /* Carries, but never out of the owner, see ENGINE_OWNER_MAX. */
}

bool store_key_is_filtered(const struct store_key *first, const struct store_key *last)
{
    return first->size >= STORE_KEY_FILTERED_SIZE && last->size >= STORE_KEY_FILTERED_SIZE &&
           memcmp(first->data, last->data, STORE_KEY_FILTERED_SIZE) == 0;
}

void store_key_deinit(struct store_key *key)
{
    free(key->heap);
}
