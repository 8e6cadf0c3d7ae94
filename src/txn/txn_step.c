/* txn_step.c -- see txn_step.h. */
#include "txn/txn_step.h"
#include <assert.h>
#include "txn/txn_group.h"

static bool may_wait(const struct txn_step *step)
{
    return step->group == NULL || txn_group_may_wait(step->group);
}

static void ready(struct engine_wait *wait, enum engine_status status, struct engine_write *write)
{
    struct txn_step *step = (struct txn_step *)((char *)wait - offsetof(struct txn_step, wait));
    assert(step->group != NULL && status != ENGINE_WAITING);
    assert(status != ENGINE_OK || write != NULL);
    step->status = status;
    step->write = write;
    txn_group_post(step->group, step);
}

void txn_step_begin(struct txn_step *step, struct engine *engine,
                    const struct engine_address *addresses, size_t address_count,
                    void (*go_on)(struct txn_step *step))
{
    assert(engine != NULL && address_count > 0 && go_on != NULL);
    struct engine_write *write = NULL;
    enum engine_status status;
    step->go_on = go_on;
    step->wait = (struct engine_wait){ .ready = ready, .thread = step->group };
    if (may_wait(step))
        status = engine_write_begin(engine, addresses, address_count, &write);
    else
        status = engine_write_begin_later(engine, addresses, address_count, &step->wait, &write);
    if (status == ENGINE_WAITING)
        return; /* `ready` may have been called. */
    step->status = status;
    step->write = write;
    go_on(step);
}

void txn_step_extend(struct txn_step *step, const struct engine_address *addresses,
                     size_t address_count, void (*go_on)(struct txn_step *step))
{
    assert(step->write != NULL && go_on != NULL);
    enum engine_status status = ENGINE_OK;
    step->go_on = go_on;
    step->wait = (struct engine_wait){ .ready = ready, .thread = step->group };
    if (address_count > 0 && may_wait(step))
        status = engine_write_extend(step->write, addresses, address_count);
    else if (address_count > 0)
        status = engine_write_extend_later(step->write, addresses, address_count, &step->wait);
    if (status == ENGINE_WAITING)
        return;
    step->status = status;
    go_on(step);
}

void txn_step_post(struct txn_step *step, void (*go_on)(struct txn_step *step))
{
    assert(go_on != NULL);
    step->go_on = go_on;
    if (may_wait(step))
        go_on(step);
    else
        txn_group_post(step->group, step);
}
