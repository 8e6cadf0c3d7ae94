/* stored_caller.c -- see stored_caller.h. Layout: doc/disk-format-recovery.md, "Job records". */
#include "api/stored_caller.h"
#include <inttypes.h>
#include <string.h>
#include "auth/caller.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "model/item.h"
#include "model/value.h"

/* Context keys are attributes with this in front of their names, so that no name meets another. */
#define KEY_MARK "="
#define CURRENT_TIME "aws:CurrentTime"
#define EPOCH_TIME "aws:EpochTime"

struct stored_caller {
    struct bytes grantor_id;
    struct caller caller; /* Without policies and times. */
};

/* --- Noting --- */

static void add(struct item_builder *builder, struct bytes name, struct bytes value)
{
    struct buffer encoded;
    buffer_init(&encoded, builder->arena);
    value_append_binary(&encoded, value);
    item_builder_add(builder, name, buffer_bytes(&encoded));
}

struct bytes stored_caller_encode(struct arena *arena, const struct caller *caller)
{
    struct item_builder builder;
    item_builder_init(&builder, arena);
    add(&builder, BYTES("i"), caller->key_id);
    add(&builder, BYTES("g"),
        caller->grantor_id.data == NULL ? caller->key_id : caller->grantor_id);
    add(&builder, BYTES("r"), caller->arn);
    add(&builder, BYTES("o"), caller->account);
    for (size_t i = 0; i < caller->key_count; i++) {
        const struct bytes parts[] = { BYTES(KEY_MARK), caller->keys[i].name };
        /* Those of a request have one value, or none. */
        if (caller->keys[i].count == 1)
            add(&builder, arena_join(arena, parts, COUNT_OF(parts)), caller->keys[i].values[0]);
    }
    return item_builder_finish(&builder).encoded;
}

/* --- Reading --- */

static struct bytes find(struct arena *arena, const struct item *item, const char *name)
{
    struct value value;
    if (!item_find(item, bytes_from_text(name), &value) || value.type != VALUE_B)
        return (struct bytes){ 0 };
    return arena_copy(arena, value.data);
}

static void read_keys(struct arena *arena, const struct item *item, struct caller *caller)
{
    struct item_iter iter;
    struct bytes name;
    struct value value;
    size_t count = 0;
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value))
        count++;
    struct policy_key *keys = arena_alloc(arena, (count + 1) * sizeof *keys);
    item_iter_init(&iter, item);
    while (item_iter_next(&iter, &name, &value)) {
        if (name.data[0] != KEY_MARK[0] || value.type != VALUE_B)
            continue;
        struct bytes *copy = arena_alloc(arena, sizeof *copy);
        *copy = arena_copy(arena, value.data);
        name = arena_copy(arena, bytes_of(name.data + 1, name.len - 1));
        if (!bytes_equal_text(name, CURRENT_TIME) && !bytes_equal_text(name, EPOCH_TIME))
            keys[caller->key_count++] =
                (struct policy_key){ .name = name, .values = copy, .count = 1 };
    }
    caller->keys = keys;
}

const struct stored_caller *stored_caller_decode(struct arena *arena, struct bytes stored)
{
    struct item item;
    if (!item_open(arena_copy(arena, stored), &item) || !item_verify(&item))
        return NULL;
    struct stored_caller *out = arena_alloc_zeroed(arena, sizeof *out);
    struct caller *caller = &out->caller;
    out->grantor_id = find(arena, &item, "g");
    caller->key_id = find(arena, &item, "i");
    caller->arn = find(arena, &item, "r");
    caller->account = find(arena, &item, "o");
    read_keys(arena, &item, caller);
    bool is_whole = out->grantor_id.data != NULL && caller->key_id.data != NULL &&
                    caller->arn.data != NULL && caller->account.data != NULL;
    return is_whole ? out : NULL;
}

struct bytes stored_caller_arn(const struct stored_caller *stored)
{
    return stored->caller.arn;
}

/* --- Deciding --- */

/* The two context keys that tell the time. */
enum { TIME_KEYS = 2 };

static void add_times(struct arena *arena, int64_t now_ms, struct policy_key keys[TIME_KEYS])
{
    static const char *const names[TIME_KEYS] = { CURRENT_TIME, EPOCH_TIME };
    char *current = arena_alloc(arena, CLOCK_TEXT_SIZE);
    struct bytes *values = arena_alloc(arena, TIME_KEYS * sizeof *values);
    clock_format_utc(now_ms, current);
    values[0] = bytes_from_text(current);
    values[1] = arena_printf(arena, "%" PRId64, now_ms / 1000);
    for (size_t i = 0; i < TIME_KEYS; i++)
        keys[i] = (struct policy_key){ .name = bytes_from_text(names[i]),
                                       .values = &values[i],
                                       .count = 1 };
}

const struct caller *stored_caller_now(struct arena *arena, const struct stored_caller *stored,
                                       const struct live_ring *ring, int64_t now_ms)
{
    const struct access_key *key = key_ring_find(&ring->ring, stored->grantor_id);
    const struct access_key *grantor =
        key == NULL ? NULL : key_ring_grantor(&ring->ring, key, now_ms);
    if (grantor == NULL)
        return NULL;
    struct caller *caller = arena_alloc(arena, sizeof *caller);
    size_t count = stored->caller.key_count;
    struct policy_key *keys = arena_alloc(arena, (count + TIME_KEYS) * sizeof *keys);
    const struct policy **policies =
        arena_alloc(arena, (grantor->policy_count + 1) * sizeof(*policies));
    if (count > 0)
        memcpy(keys, stored->caller.keys, count * sizeof *keys);
    add_times(arena, now_ms, keys + count);
    for (size_t i = 0; i < grantor->policy_count; i++)
        policies[i] = grantor->policies[i].policy;
    *caller = stored->caller;
    caller->policies = policies;
    caller->policy_count = grantor->policy_count;
    caller->keys = keys;
    caller->key_count = count + TIME_KEYS;
    return caller;
}
