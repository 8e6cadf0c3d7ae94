/* job_access.c -- see job_access.h. Layout: doc/disk-format-recovery.md, "Job records". */
#include "api/job_access.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "access/access.h"
#include "api/operation.h"
#include "auth/caller.h"
#include "auth/live_keys.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "jobs/job_record.h"
#include "model/arn.h"
#include "model/error.h"
#include "model/item.h"
#include "model/table_definition.h"
#include "table/catalogue.h"

/* Context keys are attributes with this in front of their names, so that no name meets another. */
#define KEY_MARK "="
#define CURRENT_TIME "aws:CurrentTime"
#define EPOCH_TIME "aws:EpochTime"

/* --- Noting --- */

static void add(struct item_builder *builder, struct bytes name, struct bytes value)
{
    struct buffer encoded;
    buffer_init(&encoded, builder->arena);
    value_append_binary(&encoded, value);
    item_builder_add(builder, name, buffer_bytes(&encoded));
}

static struct bytes encode(struct arena *arena, const struct caller *caller)
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

bool job_access_note(struct api_call *call, struct job_record *record)
{
    record->caller = (struct bytes){ 0 };
    if (call->caller == NULL)
        return true;
    record->caller = encode(call->arena, call->caller);
    return record->caller.len <= JOB_CALLER_SIZE_MAX ||
           error_validation(&call->error, "Invalid Request: The headers of the request are too "
                                          "large");
}

/* --- Deciding --- */

struct job_access {
    struct api *api;
    struct arena *arena; /* For all of the turn. */
    struct arena *scratch;
    bool decides; /* Otherwise everything is allowed. */
    bool is_damaged;
    struct bytes grantor_id;
    struct caller caller; /* Without policies and times. */
};

static struct bytes find(const struct job_access *access, const struct item *item, const char *name)
{
    struct value value;
    if (!item_find(item, bytes_from_text(name), &value) || value.type != VALUE_B)
        return (struct bytes){ 0 };
    return arena_copy(access->arena, value.data);
}

static bool decode(struct job_access *access, struct bytes stored)
{
    struct item item;
    struct item_iter iter;
    struct bytes name;
    struct value value;
    size_t count = 0;
    if (!item_open(arena_copy(access->arena, stored), &item) || !item_verify(&item))
        return false;
    struct caller *caller = &access->caller;
    access->grantor_id = find(access, &item, "g");
    caller->key_id = find(access, &item, "i");
    caller->arn = find(access, &item, "r");
    caller->account = find(access, &item, "o");
    item_iter_init(&iter, &item);
    while (item_iter_next(&iter, &name, &value))
        count++;
    struct policy_key *keys = arena_alloc(access->arena, (count + 2) * sizeof *keys);
    item_iter_init(&iter, &item);
    while (item_iter_next(&iter, &name, &value)) {
        if (name.data[0] != KEY_MARK[0] || value.type != VALUE_B)
            continue;
        struct bytes *copy = arena_alloc(access->arena, sizeof *copy);
        *copy = arena_copy(access->arena, value.data);
        name = arena_copy(access->arena, bytes_of(name.data + 1, name.len - 1));
        if (!bytes_equal_text(name, CURRENT_TIME) && !bytes_equal_text(name, EPOCH_TIME))
            keys[caller->key_count++] =
                (struct policy_key){ .name = name, .values = copy, .count = 1 };
    }
    caller->keys = keys;
    return access->grantor_id.data != NULL && caller->key_id.data != NULL &&
           caller->arn.data != NULL && caller->account.data != NULL;
}

struct job_access *job_access_open(struct api *api, const struct job_record *record)
{
    struct job_access *access = memory_checked(calloc(1, sizeof *access));
    access->api = api;
    access->arena = arena_create();
    access->scratch = arena_create();
    access->decides = record->caller.data != NULL && api_options(api)->keys != NULL;
    access->is_damaged = access->decides && !decode(access, record->caller);
    return access;
}

void job_access_close(struct job_access *access)
{
    if (access == NULL)
        return;
    arena_destroy(access->scratch);
    arena_destroy(access->arena);
    free(access);
}

/* The two context keys that tell the time, behind the others. */
static size_t add_times(struct job_access *access, int64_t now_ms, struct policy_key *keys)
{
    static const char *const names[] = { CURRENT_TIME, EPOCH_TIME };
    char *current = arena_alloc(access->scratch, CLOCK_TEXT_SIZE);
    struct bytes *values = arena_alloc(access->scratch, COUNT_OF(names) * sizeof *values);
    clock_format_utc(now_ms, current);
    values[0] = bytes_from_text(current);
    values[1] = arena_printf(access->scratch, "%" PRId64, now_ms / 1000);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        keys[i] = (struct policy_key){ .name = bytes_from_text(names[i]),
                                       .values = &values[i],
                                       .count = 1 };
    return COUNT_OF(names);
}

static bool decide(struct job_access *access, const struct access_question *question)
{
    int64_t now_ms = clock_wall_ms(api_options(access->api)->clock);
    struct caller caller = access->caller;
    struct error ignored;
    struct live_ring *ring = live_keys_acquire(api_options(access->api)->keys, now_ms);
    const struct access_key *key = key_ring_find(&ring->ring, access->grantor_id);
    const struct access_key *grantor =
        key == NULL ? NULL : key_ring_grantor(&ring->ring, key, now_ms);
    bool allowed = false;
    if (grantor != NULL) {
        size_t count = caller.key_count;
        struct policy_key *keys = arena_alloc(access->scratch, (count + 2) * sizeof *keys);
        const struct policy **policies =
            arena_alloc(access->scratch, (grantor->policy_count + 1) * sizeof(*policies));
        if (count > 0)
            memcpy(keys, caller.keys, count * sizeof *keys);
        for (size_t i = 0; i < grantor->policy_count; i++)
            policies[i] = grantor->policies[i].policy;
        caller.policies = policies;
        caller.policy_count = grantor->policy_count;
        caller.keys = keys;
        caller.key_count = count + add_times(access, now_ms, keys + count);
        error_init(&ignored, access->scratch);
        allowed = access_decide(access->scratch, &caller, question, &ignored);
    }
    live_keys_release(ring);
    return allowed;
}

bool job_access_may_use(struct job_access *access, const char *action, struct bytes bucket,
                        struct bytes key)
{
    if (!access->decides)
        return true;
    const struct access_question question = {
        .service = "s3",
        .action = action,
        .arn = arena_printf(access->scratch, "arn:aws:s3:::%.*s/%.*s", BYTES_FMT(bucket),
                            BYTES_FMT(key)),
    };
    bool allowed = !access->is_damaged && decide(access, &question);
    arena_reset(access->scratch);
    return allowed;
}

bool job_access_may_show(struct job_access *access, const struct table *table,
                         const struct item *item)
{
    if (!access->decides)
        return true;
    const struct api_options *options = api_options(access->api);
    const struct table_definition *definition = table_definition(table);
    const struct access_table_policies *policies = table_attachment(table);
    struct access_question question = {
        .service = "dynamodb",
        .action = "GetItem",
        .arn =
            arn_of_table(access->scratch, options->region, options->account_id, definition->name),
        .table = definition,
        .policy = &policies->table,
        .hash = &definition->key.hash,
        .hash_count = 1,
        .shows_unnamed = true,
    };
    access_reserve(access->scratch, &question, 2);
    access_add(&question, (struct access_part){ .kind = ACCESS_KEY_OF, .item = item });
    access_add(&question, (struct access_part){ .kind = ACCESS_NAMES_OF, .item = item });
    bool allowed = !access->is_damaged && decide(access, &question);
    arena_reset(access->scratch);
    return allowed;
}
