/* kept_life.c -- see kept_life.h. */
#include "control/kept_life.h"
#include <assert.h>
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "control/control.h"
#include "history/history_holds.h"
#include "jobs/job_record.h"
#include "jobs/kept_table.h"
#include "table/catalogue.h"

/* One that is to go. */
struct old_table {
    char id[JOB_ID_SIZE + 1];
    uint64_t owners[KEPT_TABLE_OWNERS_MAX];
    size_t owner_count;
};

struct search {
    const struct kept_life *life;
    struct old_table found[KEPT_LIFE_REMOVALS_MAX];
    size_t count;
};

static bool is_old(const struct kept_life *life, const struct job_record *record)
{
    const int64_t lifetime_ms = INT64_C(86400000) * KEPT_TABLE_DAYS;
    return clock_server_age_ms(life->clock, record->created_server_ms) >= lifetime_ms;
}

static bool collect(void *context, const struct job_record *record,
                    const struct table_definition *table)
{
    struct search *search = context;
    const struct kept_life *life = search->life;
    if (!is_old(life, record) ||
        (life->holds != NULL && history_holds_has_table(life->holds, table->id)))
        return true;
    assert(search->count < KEPT_LIFE_REMOVALS_MAX);
    struct old_table *old = &search->found[search->count++];
    memcpy(old->id, record->id, sizeof old->id);
    old->owner_count = kept_table_owners(table, old->owners);
    return search->count < KEPT_LIFE_REMOVALS_MAX;
}

static enum engine_status remove_old(const struct kept_life *life, struct arena *arena, bool *more)
{
    struct search *search = arena_alloc_zeroed(arena, sizeof *search);
    search->life = life;
    enum engine_status status = kept_table_visit(life->engine, collect, search);
    for (size_t i = 0; i < search->count && status == ENGINE_OK; i++) {
        const struct old_table *old = &search->found[i];
        const struct engine_address record =
            job_record_address(arena, JOB_BACKUP, bytes_of(old->id, JOB_ID_SIZE));
        status = catalogue_give_up(life->catalogue, arena, &record, old->owners, old->owner_count);
    }
    *more = search->count > 0; /* The data of these, and perhaps others. */
    return status;
}

int64_t kept_life_run(struct kept_life *life, struct arena *arena)
{
    assert(life->engine != NULL && life->clock != NULL && life->catalogue != NULL);
    int64_t now_ms = clock_server_ms(life->clock);
    int64_t wait_ms = KEPT_LIFE_INTERVAL_MS;
    bool more;
    if (now_ms < life->due_ms)
        return life->due_ms - now_ms;
    enum engine_status status = remove_old(life, arena, &more);
    if (status != ENGINE_OK) {
        log_write(LOG_ERROR, "control", "removal of a deleted table's backup: %s",
                  engine_status_name(status));
        wait_ms = CONTROL_FAILURE_RETRY_MS;
    } else if (more) {
        wait_ms = CONTROL_RETRY_MS;
    }
    life->due_ms = now_ms + wait_ms;
    return wait_ms;
}
