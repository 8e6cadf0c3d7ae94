/* table_job.c -- see table_job.h. */
#include "api/table_job.h"
#include <assert.h>
#include "api/cancel_job.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/log.h"
#include "control/control.h"
#include "control/table_life.h"
#include "model/limits.h"
#include "table/catalogue.h"
#include "table/storage_error.h"

/* --- Beginning --- */

bool table_job_check_room(struct api_call *call)
{
    return catalogue_table_count(api_catalogue(call->api)) < TABLES_MAX ||
           error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                     "Subscriber limit exceeded: There is a limit of %d tables per subscriber",
                     TABLES_MAX);
}

bool table_job_create(struct api_call *call, struct table_definition *draft,
                      struct job_record *record)
{
    assert(draft->origin.kind != TABLE_ORIGIN_NONE);
    draft->status = TABLE_CREATING;
    draft->transition_at_ms = 0;
    draft->origin.job_id = bytes_of(record->id, JOB_ID_SIZE);
    record->table_name = draft->name;
    record->table_uuid = draft->uuid;
    const struct catalogue_extra extra = {
        .address = job_record_address(call->arena, record->letter, draft->origin.job_id),
        .value = job_record_encode(call->arena, record).encoded
    };
    enum engine_status status =
        catalogue_create_with(api_catalogue(call->api), call->arena, draft, &extra);
    if (status != ENGINE_OK)
        return storage_error_set_for_table(&call->error, status, "table of a job");
    job_runner_add_stored(api_jobs(call->api), record);
    return true;
}

/* --- Ending --- */

struct table *table_job_find(struct api *api, const struct job *job)
{
    const struct job_record *record = job_record(job);
    struct table *table = catalogue_find(api_catalogue(api), record->table_name);
    if (table == NULL || bytes_equal_text(table_definition(table)->origin.job_id, record->id))
        return table;
    table_release(table);
    return NULL;
}

struct ending {
    struct api *api;
    struct job *job;
    bool drops;
    enum engine_status status;
};

/* Without a table only the record is stored. */
static enum engine_status store_end(struct ending *ending, struct arena *arena, struct table *table,
                                    const struct catalogue_extra *extra)
{
    struct catalogue *catalogue = api_catalogue(ending->api);
    if (table == NULL)
        return job_save(ending->job);
    struct table_definition changed = table_definition_copy(arena, table_definition(table));
    table_release(table);
    if (ending->drops)
        return catalogue_drop_with(catalogue, arena, changed.name, extra);
    table_life_end_origin(&changed);
    return catalogue_update_with(catalogue, arena, &changed, extra);
}

static void run_end(void *context)
{
    struct ending *ending = context;
    struct arena *arena = arena_create();
    struct catalogue_extra extra;
    job_encode_record(ending->job, arena, &extra.address, &extra.value);
    ending->status = store_end(ending, arena, table_job_find(ending->api, ending->job), &extra);
    arena_destroy(arena);
}

/* After the end, so that a crash in between leaves a request without a job, which nobody reads. */
static void forget_request(const struct job *job)
{
    const char *id = job_record(job)->id;
    if (job_is_cancelled(job) &&
        job_cancel_remove(job_engine(job), bytes_of(id, JOB_ID_SIZE)) != ENGINE_OK)
        log_write(LOG_WARN, "jobs", "the request to cancel job %s stays in the store", id);
}

static enum job_result end(struct api *api, struct job *job, bool drops, enum job_state state)
{
    struct ending ending = { .api = api, .job = job, .drops = drops };
    job_set_end(job, state);
    control_run(api_control(api), run_end, &ending);
    if (ending.status == ENGINE_OK) {
        forget_request(job);
        return JOB_RESULT_STORED;
    }
    log_write(LOG_ERROR, "jobs", "the end of job %s cannot be stored: %s", job_record(job)->id,
              engine_status_name(ending.status));
    job_unset_end(job);
    return JOB_RESULT_AGAIN;
}

enum job_result table_job_end(struct api *api, struct job *job, enum job_state state)
{
    return end(api, job, false, state);
}

enum job_result table_job_cancel(struct api *api, struct job *job)
{
    job_fail(job, CANCEL_JOB_CODE, CANCEL_JOB_MESSAGE);
    return end(api, job, true, JOB_CANCELLED);
}

enum job_result table_job_drop(struct api *api, struct job *job)
{
    assert(job_record(job)->failure_code.data != NULL);
    return end(api, job, true, JOB_FAILED);
}
