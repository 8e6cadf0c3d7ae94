/* expiry_queue.c -- see expiry_queue.h. Layout: doc/disk-format.md, "Expiry queue". */
#include "table/expiry_queue.h"
#include <assert.h>
#include "base/arena.h"
#include "base/byte_order.h"
#include "model/item.h"
#include "model/limits.h"
#include "model/number.h"
#include "table/layout.h"

enum { MS_PER_SECOND = 1000 };

/* The number rounded up, as far as it can be a second. */
static bool round_up(struct number number, int64_t *out)
{
    bool has_fraction = false;
    for (; number.exponent < 0 && number.coefficient > 0; number.exponent++) {
        has_fraction |= number.coefficient % 10 != 0;
        number.coefficient /= 10;
    }
    for (; number.exponent > 0 && number.coefficient <= EXPIRY_QUEUE_SECOND_MAX; number.exponent--)
        number.coefficient *= 10;
    number.coefficient += has_fraction;
    if (number.coefficient > EXPIRY_QUEUE_SECOND_MAX)
        return false;
    *out = (int64_t)number.coefficient;
    return true;
}

bool expiry_queue_second(struct bytes attribute, const struct item *item, int64_t *out)
{
    assert(attribute.len > 0);
    struct value value;
    struct number number;
    size_t size;
    return item_find(item, attribute, &value) && value.type == VALUE_N &&
           number_decode(value.data, &number, &size) && !number.negative && round_up(number, out);
}

struct expiry_window expiry_queue_window(int64_t now_ms)
{
    assert(now_ms >= 0);
    int64_t now = now_ms / MS_PER_SECOND;
    int64_t from = now - EXPIRY_AGE_SECONDS_MAX;
    return (struct expiry_window){ .from = from > 0 ? from : 0, .to = now };
}

struct engine_place expiry_queue_place(uint64_t table_id, uint64_t partition_id)
{
    return (struct engine_place){ .owner = table_id,
                                  .partition = partition_id,
                                  .space = ENGINE_SPACE_EXPIRY };
}

static uint8_t *make_key(struct arena *arena, int64_t second, size_t item_key_size)
{
    assert(second >= 0 && second <= EXPIRY_QUEUE_SECOND_MAX);
    uint8_t *key = arena_alloc(arena, LAYOUT_EXPIRY_SECOND_SIZE + item_key_size);
    store_u64_be(key, (uint64_t)second);
    return key;
}

struct engine_address expiry_queue_address(struct arena *arena, const struct engine_address *item,
                                           int64_t second)
{
    assert(item->place.space == ENGINE_SPACE_ITEMS);
    uint8_t *key = make_key(arena, second, item->key.len);
    memcpy(key + LAYOUT_EXPIRY_SECOND_SIZE, item->key.data, item->key.len);
    return (struct engine_address){
        .place = expiry_queue_place(item->place.owner, item->place.partition),
        .key = bytes_of(key, LAYOUT_EXPIRY_SECOND_SIZE + item->key.len),
    };
}

struct bytes expiry_queue_first_key(struct arena *arena, int64_t second)
{
    return bytes_of(make_key(arena, second, 0), LAYOUT_EXPIRY_SECOND_SIZE);
}

bool expiry_queue_decode(struct bytes key, int64_t *second, struct bytes *item_key)
{
    if (key.len < LAYOUT_EXPIRY_SECOND_SIZE + LAYOUT_HASH_SIZE)
        return false;
    uint64_t stored = load_u64_be(key.data);
    if (stored > EXPIRY_QUEUE_SECOND_MAX)
        return false;
    *second = (int64_t)stored;
    *item_key = bytes_of(key.data + LAYOUT_EXPIRY_SECOND_SIZE, key.len - LAYOUT_EXPIRY_SECOND_SIZE);
    return true;
}
