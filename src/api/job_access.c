/* job_access.c -- see job_access.h. */
#include "api/job_access.h"
#include <stdlib.h>
#include "access/access.h"
#include "api/operation.h"
#include "api/stored_caller.h"
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

bool job_access_note(struct api_call *call, struct job_record *record)
{
    record->caller = (struct bytes){ 0 };
    if (call->caller == NULL)
        return true;
    record->caller = stored_caller_encode(call->arena, call->caller);
    return record->caller.len <= JOB_CALLER_SIZE_MAX ||
           error_validation(&call->error, "Invalid Request: The headers of the request are too "
                                          "large");
}

/* --- Deciding --- */

struct job_access {
    struct api *api;
    struct arena *arena; /* For all of the turn. */
    struct arena *scratch;
    bool decides;                       /* Otherwise everything is allowed. */
    const struct stored_caller *caller; /* NULL: its record is damaged. */
};

struct job_access *job_access_open(struct api *api, const struct job_record *record)
{
    struct job_access *access = memory_checked(calloc(1, sizeof *access));
    access->api = api;
    access->arena = arena_create();
    access->scratch = arena_create();
    access->decides = record->caller.data != NULL && api_options(api)->keys != NULL;
    if (access->decides)
        access->caller = stored_caller_decode(access->arena, record->caller);
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

static bool decide(struct job_access *access, const struct access_question *question)
{
    int64_t now_ms = clock_wall_ms(api_options(access->api)->clock);
    struct error ignored;
    if (access->caller == NULL)
        return false;
    struct live_ring *ring = live_keys_acquire(api_options(access->api)->keys);
    const struct caller *caller = stored_caller_now(access->scratch, access->caller, ring, now_ms);
    error_init(&ignored, access->scratch);
    bool allowed = caller != NULL && access_decide(access->scratch, caller, question, &ignored);
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
    bool allowed = decide(access, &question);
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
    bool allowed = decide(access, &question);
    arena_reset(access->scratch);
    return allowed;
}
