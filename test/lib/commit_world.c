/* commit_world.c -- see commit_world.h. */
#include "commit_world.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/commit/commit_txn.h"
#include "fiber.h"
#include "partition_memory.h"

enum { PARTITIONS = 3, LATE_MAX = 64, BANK_START = 10, STEPS_MAX = 200000 };

/* What goes wrong with a step. */
enum fault {
    FAULT_NONE,
    FAULT_FAILED, /* The store could not be reached. */
    FAULT_DEATH_BEFORE,
    FAULT_DEATH_AFTER,
    FAULT_DEATH_LATE,
    FAULT_LOST_APPLIED,
    FAULT_LOST_DROPPED,
    FAULT_LOST_LATE,
    FAULT_COUNT,
};

struct server {
    struct partition_store base;
    struct partition_store_ops ops;
    struct world *world;
    struct commit_core core;
    struct arena *arena; /* Of its transaction. */
    struct fiber *fiber; /* NULL: the sweeper's, which never fails. */
    const struct world_client *client;
    size_t number;
    bool is_dead;
    uint64_t stalled_until;              /* A step. */
    int64_t clock_rate, clock_offset_ms; /* The rate in sixteenths. */
};

struct world {
    struct partition_store *memory;
    struct arena *arena; /* Late operations. */
    struct history history;
    struct server servers[WORLD_CLIENTS_MAX + 1];
    const struct world_options *options;
    uint64_t step;
    int64_t now_ms;
    struct server *running;
    bool rotate; /* The one that runs waits, so another one is next. */
    size_t faults_left, preemptions_left;
    struct partition_operation late[LATE_MAX];
    size_t late_count;
    uint8_t next_element;
    const char *problem;
    struct world_counts counts;
    /* Decisions: random, or the search's. */
    bool is_search;
    struct random random;
    size_t choices[WORLD_CHOICES_MAX], widths[WORLD_CHOICES_MAX];
    size_t choice_count, choice_at;
};

/* --- Decisions --- */

/* In [0, count); 0 is the harmless one. */
static size_t choose(struct world *world, size_t count)
{
    if (!world->is_search)
        return (size_t)random_below(&world->random, count);
    if (world->choice_at == WORLD_CHOICES_MAX)
        return 0;
    size_t at = world->choice_at++;
    if (at == world->choice_count) {
        world->choices[at] = 0;
        world->choice_count++;
    }
    world->widths[at] = count;
    return world->choices[at];
}

/* The next sequence of choices in order; false after the last one. */
static bool advance(struct world *world)
{
    world->choice_count = world->choice_at;
    while (world->choice_count > 0) {
        size_t last = world->choice_count - 1;
        if (++world->choices[last] < world->widths[last])
            return true;
        world->choice_count--;
    }
    return false;
}

/* --- Late operations --- */

static void keep_late(struct world *world, const struct partition_operation *operation)
{
    if (world->late_count == LATE_MAX)
        return; /* Dropped, which is a fault as well. */
    struct partition_operation *late = &world->late[world->late_count++];
    *late = *operation;
    struct partition_guard *guards =
        arena_alloc(world->arena, (late->guard_count + 1) * sizeof *guards);
    struct partition_change *changes =
        arena_alloc(world->arena, (late->change_count + 1) * sizeof *changes);
    for (size_t i = 0; i < late->guard_count; i++) {
        guards[i] = operation->guards[i];
        guards[i].key = arena_copy(world->arena, guards[i].key);
    }
    for (size_t i = 0; i < late->change_count; i++) {
        changes[i].key = arena_copy(world->arena, operation->changes[i].key);
        changes[i].value = (struct bytes){ 0 };
        if (operation->changes[i].value.data != NULL)
            changes[i].value = arena_copy(world->arena, operation->changes[i].value);
    }
    late->guards = guards;
    late->changes = changes;
}

static void apply_late(struct world *world, size_t index)
{
    struct partition_operation late = world->late[index];
    world->late[index] = world->late[--world->late_count];
    world->memory->ops->run(world->memory, world->arena, &late, 1);
    world->counts.late_applied += late.status == PARTITION_OK;
}

/* --- A server's store --- */

static enum fault choose_fault(struct world *world, struct server *server, bool is_write)
{
    if (server->fiber == NULL || world->faults_left == 0)
        return FAULT_NONE;
    size_t kinds = is_write ? FAULT_COUNT : FAULT_DEATH_BEFORE + 1;
    if (!world->is_search && random_below(&world->random, 12) != 0)
        return FAULT_NONE;
    enum fault fault = (enum fault)choose(world, kinds);
    if (fault != FAULT_NONE)
        world->faults_left--;
    return fault;
}

static void run_one(struct world *world, struct server *server, struct arena *arena,
                    struct partition_operation *operation)
{
    if (server->is_dead) {
        operation->status = PARTITION_FAILED;
        return;
    }
    enum fault fault = choose_fault(world, server, operation->is_write);
    bool dies = fault >= FAULT_DEATH_BEFORE && fault <= FAULT_DEATH_LATE;
    if (fault == FAULT_DEATH_LATE || fault == FAULT_LOST_LATE)
        keep_late(world, operation);
    else if (fault != FAULT_FAILED && fault != FAULT_DEATH_BEFORE && fault != FAULT_LOST_DROPPED)
        world->memory->ops->run(world->memory, arena, operation, 1);
    if (fault == FAULT_FAILED) {
        operation->status = PARTITION_FAILED;
    } else if (dies) {
        server->is_dead = true;
        world->counts.deaths++;
        operation->status = PARTITION_FAILED; /* Nobody is told. */
    } else if (fault != FAULT_NONE) {
        world->counts.lost_answers++;
        operation->status = PARTITION_UNKNOWN;
    }
}

static void take_turn(struct world *world, struct server *server)
{
    if (server->fiber != NULL)
        fiber_yield(server->fiber);
    world->step++;
    world->now_ms++;
    if (world->late_count > 0 &&
        (world->is_search ? choose(world, 2) == 1 : random_below(&world->random, 8) == 0))
        apply_late(world, choose(world, world->late_count));
}

static void run_operations(struct partition_store *base, struct arena *arena,
                           struct partition_operation *operations, size_t count)
{
    struct server *server = (struct server *)base;
    struct world *world = server->world;
    size_t first = count < 2 ? 0 : choose(world, count);
    for (size_t i = 0; i < count; i++) {
        take_turn(world, server);
        run_one(world, server, arena, &operations[(first + i) % count]);
    }
}

static int64_t now_ms(void *context)
{
    struct server *server = context;
    struct world *world = server->world;
    if (!world->is_search && random_below(&world->random, 16) == 0)
        server->clock_offset_ms += (int64_t)random_below(&world->random, 4000) - 2000;
    return world->now_ms * server->clock_rate / 16 + server->clock_offset_ms;
}

static void pause_server(void *context, unsigned ms)
{
    struct server *server = context;
    server->world->now_ms += ms;
    server->world->rotate = true;
    take_turn(server->world, server);
}

static void init_server(struct world *world, size_t number, struct fiber *fiber)
{
    struct server *server = &world->servers[number];
    struct commit_time time = { now_ms, pause_server, server };
    server->ops = *world->memory->ops;
    server->ops.run = run_operations;
    server->base.ops = &server->ops;
    server->world = world;
    server->fiber = fiber;
    server->number = number;
    server->is_dead = false;
    server->stalled_until = 0;
    server->clock_rate =
        world->is_search || fiber == NULL ? 16 : (int64_t)random_below(&world->random, 64);
    server->clock_offset_ms = 0;
    commit_core_init(&server->core, &server->base, &time, number + 1);
}

/* --- Transactions --- */

static struct engine_address address_of(size_t key, uint8_t *text)
{
    *text = (uint8_t)('a' + key);
    return (struct engine_address){
        { .owner = 1 + key / PARTITIONS, /* Those of one partition may have different owners. */
          .partition = key % PARTITIONS,
          .space = ENGINE_SPACE_ITEMS },
        bytes_of(text, 1),
    };
}

static bool reads(enum world_access access)
{
    return access == WORLD_READ || access >= WORLD_READ_PUT;
}

static enum engine_status read_keys(struct commit_txn *txn, const struct world_plan *plan,
                                    struct history_transaction *noted)
{
    uint8_t text;
    uint64_t version;
    for (size_t key = 0; key < HISTORY_KEYS; key++)
        if (reads(plan->access[key])) {
            struct engine_address address = address_of(key, &text);
            commit_txn_want(txn, &address);
        }
    enum engine_status status = commit_txn_fetch(txn);
    for (size_t key = 0; key < HISTORY_KEYS && status == ENGINE_OK; key++) {
        struct engine_address address = address_of(key, &text);
        struct bytes payload = { 0 };
        if (!reads(plan->access[key]))
            continue;
        status = commit_txn_get(txn, &address, &payload, &version);
        noted->reads[key] = true;
        if (status == ENGINE_OK) {
            assert(payload.len <= HISTORY_VALUE_MAX);
            noted->seen[key].is_present = true;
            noted->seen[key].len = (uint8_t)payload.len;
            if (payload.len > 0)
                memcpy(noted->seen[key].data, payload.data, payload.len);
        }
        if (status == ENGINE_NOT_FOUND)
            status = ENGINE_OK;
    }
    return status;
}

static void decide_transfer(const struct world_plan *plan, struct history_transaction *noted)
{
    size_t from = HISTORY_KEYS, to = HISTORY_KEYS;
    for (size_t key = 0; key < HISTORY_KEYS; key++)
        if (plan->access[key] == WORLD_TRANSFER) {
            to = from;
            from = key;
        }
    if (to == HISTORY_KEYS)
        return;
    if (noted->seen[to].data[0] > noted->seen[from].data[0]) {
        size_t other = from;
        from = to;
        to = other;
    }
    noted->writes[from] = noted->writes[to] = true;
    noted->left[from] = noted->seen[from];
    noted->left[to] = noted->seen[to];
    noted->left[from].data[0]--;
    noted->left[to].data[0]++;
}

static void decide(struct world *world, const struct world_plan *plan,
                   struct history_transaction *noted)
{
    for (size_t key = 0; key < HISTORY_KEYS; key++) {
        enum world_access access = plan->access[key];
        struct history_value *left = &noted->left[key];
        if (access == WORLD_NOTHING || access == WORLD_READ || access == WORLD_TRANSFER)
            continue;
        noted->writes[key] = true;
        if (access == WORLD_DELETE || access == WORLD_READ_DELETE)
            continue;
        if (access == WORLD_APPEND && noted->seen[key].len < HISTORY_VALUE_MAX)
            *left = noted->seen[key];
        left->is_present = true;
        left->data[left->len++] = ++world->next_element;
    }
    decide_transfer(plan, noted);
}

static void change_keys(struct commit_txn *txn, const struct history_transaction *noted)
{
    for (size_t key = 0; key < HISTORY_KEYS; key++) {
        uint8_t text;
        struct engine_address address = address_of(key, &text);
        if (noted->writes[key] && noted->left[key].is_present)
            commit_txn_put(txn, &address, bytes_of(noted->left[key].data, noted->left[key].len));
        else if (noted->writes[key])
            commit_txn_delete(txn, &address);
    }
}

/* True if the plan should be tried again. */
static bool run_transaction(struct server *server, const struct world_plan *plan)
{
    struct world *world = server->world;
    if (world->history.count == HISTORY_TRANSACTIONS_MAX)
        return false;
    struct history_transaction *noted = &world->history.transactions[world->history.count++];
    struct commit_txn txn;
    *noted = (struct history_transaction){ .begin = world->step,
                                           .end = UINT64_MAX,
                                           .outcome = HISTORY_UNKNOWN };
    arena_reset(server->arena);
    commit_txn_init(&txn, &server->core, server->arena);
    enum engine_status status = read_keys(&txn, plan, noted);
    if (status == ENGINE_OK) {
        decide(world, plan, noted);
        change_keys(&txn, noted);
        status = commit_txn_commit(&txn);
    }
    if (status == ENGINE_CORRUPT)
        world->problem = "stored bytes did not decode";
    if (!server->is_dead && status != ENGINE_UNKNOWN) {
        noted->outcome = status == ENGINE_OK ? HISTORY_COMMITTED : HISTORY_REFUSED;
        noted->end = world->step;
    }
    commit_txn_finish(&txn);
    world->counts.committed += noted->outcome == HISTORY_COMMITTED;
    world->counts.refused += noted->outcome == HISTORY_REFUSED;
    world->counts.unknown += noted->outcome == HISTORY_UNKNOWN;
    return noted->outcome == HISTORY_REFUSED;
}

/* Others' transactions go on meanwhile, so it may fail. */
static void sweep_meanwhile(struct server *server)
{
    for (uint64_t i = 0; i < PARTITIONS && server->client->sweeps && !server->is_dead; i++) {
        struct partition_id id = { PARTITION_TABLES, i };
        if (commit_core_sweep(&server->core, &id) == ENGINE_CORRUPT)
            server->world->problem = "stored bytes did not decode";
    }
}

static void run_client(void *context)
{
    struct server *server = context;
    sweep_meanwhile(server);
    for (size_t i = 0; i < server->client->plan_count && !server->is_dead; i++) {
        for (unsigned attempt = 0; attempt < WORLD_ATTEMPTS_MAX && !server->is_dead; attempt++)
            if (!run_transaction(server, &server->client->plans[i]))
                break;
        sweep_meanwhile(server);
    }
}

/* --- A history --- */

/* At random, but a server that stalls only if all do. */
static struct server *choose_awake(struct world *world, struct server **ready, size_t count)
{
    struct server *server = ready[random_below(&world->random, count)];
    for (size_t i = 0; i < count && server->stalled_until > world->step; i++)
        server = ready[i];
    if (random_below(&world->random, 64) == 0)
        server->stalled_until = world->step + random_below(&world->random, 300);
    return server;
}

static struct server *choose_server(struct world *world)
{
    struct server *ready[WORLD_CLIENTS_MAX];
    size_t count = 0, current = 0;
    for (size_t i = 0; i < world->options->client_count; i++)
        if (!fiber_is_done(world->servers[i].fiber)) {
            if (&world->servers[i] == world->running)
                current = count;
            ready[count++] = &world->servers[i];
        }
    if (count == 0)
        return NULL;
    if (!world->is_search)
        return choose_awake(world, ready, count);
    if (world->rotate) {
        world->rotate = false;
        return ready[(current + 1) % count];
    }
    if (count == 1 || world->preemptions_left == 0)
        return ready[current];
    size_t turn = choose(world, count);
    world->preemptions_left -= turn != 0;
    return ready[(current + turn) % count];
}

static void fill_bank(struct world *world)
{
    struct server *server = &world->servers[WORLD_CLIENTS_MAX];
    struct commit_txn txn;
    for (size_t key = 0; key < HISTORY_KEYS; key++) {
        uint8_t text, units = BANK_START;
        struct engine_address address = address_of(key, &text);
        arena_reset(server->arena);
        commit_txn_init(&txn, &server->core, server->arena);
        commit_txn_put(&txn, &address, bytes_of(&units, 1));
        enum engine_status status = commit_txn_commit(&txn);
        assert(status == ENGINE_OK);
        world->history.first[key].is_present = true;
        world->history.first[key].len = 1;
        world->history.first[key].data[0] = units;
    }
}

static void read_last(struct world *world)
{
    for (size_t key = 0; key < HISTORY_KEYS; key++) {
        uint8_t text;
        struct engine_address address = address_of(key, &text);
        struct bytes name =
            commit_format_name(world->arena, address.place.owner, address.place.space, address.key);
        struct bytes stored = commit_format_key(world->arena, COMMIT_KEY_DATA, name), value = { 0 };
        struct partition_operation read = {
            .partition = commit_format_partition(&address.place),
            .keys = &stored,
            .key_count = 1,
            .values = &value,
        };
        struct history_value *last = &world->history.last[key];
        world->memory->ops->run(world->memory, world->arena, &read, 1);
        *last = (struct history_value){ .is_present = value.data != NULL };
        if (value.data != NULL) {
            last->len = (uint8_t)(value.len - COMMIT_DATA_HEADER_SIZE);
            memcpy(last->data, value.data + COMMIT_DATA_HEADER_SIZE, last->len);
        }
    }
}

/* Everything that dead servers left is settled, before and after the last late operations. */
static void sweep(struct world *world)
{
    struct server *sweeper = &world->servers[WORLD_CLIENTS_MAX];
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < PARTITIONS; i++) {
            struct partition_id id = { PARTITION_TABLES, i };
            if (commit_core_sweep(&sweeper->core, &id) != ENGINE_OK)
                world->problem = "the sweep failed";
        }
        while (world->late_count > 0)
            apply_late(world, choose(world, world->late_count));
    }
    /* The second round leaves nothing only if no late operation came after it. */
    if (partition_memory_count_keys(world->memory, 'I') > 0)
        world->problem = "an intent is left";
    if (partition_memory_count_keys(world->memory, 'R') > 0)
        world->problem = "a record is left";
}

static const char *check_bank(const struct history *history)
{
    unsigned total = 0;
    for (size_t key = 0; key < HISTORY_KEYS; key++)
        total += history->last[key].data[0];
    if (total != HISTORY_KEYS * BANK_START)
        return "money was made or lost";
    for (size_t i = 0; i < history->count; i++) {
        const struct history_transaction *transaction = &history->transactions[i];
        size_t seen = 0;
        total = 0;
        for (size_t key = 0; key < HISTORY_KEYS; key++) {
            seen += transaction->reads[key];
            total += transaction->seen[key].data[0];
        }
        if (transaction->outcome == HISTORY_COMMITTED && seen == HISTORY_KEYS &&
            total != HISTORY_KEYS * BANK_START)
            return "a read saw half a transfer";
    }
    return NULL;
}

static const char *run_history(struct world *world, const struct world_options *options)
{
    world->options = options;
    world->history.count = 0;
    memset(world->history.first, 0, sizeof world->history.first);
    world->step = 0;
    world->now_ms = 1000;
    world->late_count = 0;
    world->next_element = 0;
    world->problem = NULL;
    world->faults_left = 0;
    world->preemptions_left = options->preemptions_max;
    world->rotate = false;
    arena_reset(world->arena);
    partition_memory_clear(world->memory);
    init_server(world, WORLD_CLIENTS_MAX, NULL);
    partition_memory_plant(world->memory, 0);
    if (options->bank)
        fill_bank(world);
    partition_memory_plant(world->memory, options->bugs);
    world->faults_left = options->faults_max;
    for (size_t i = 0; i < options->client_count; i++) {
        init_server(world, i, world->servers[i].fiber);
        world->servers[i].client = &options->clients[i];
        fiber_start(world->servers[i].fiber, run_client, &world->servers[i]);
    }
    world->running = &world->servers[0];
    struct server *next;
    while ((next = choose_server(world)) != NULL) {
        world->running = next;
        fiber_resume(next->fiber);
        if (world->step > STEPS_MAX)
            world->problem = "no end";
    }
    sweep(world);
    read_last(world);
    world->counts.histories++;
    world->counts.steps += world->step;
    if (world->problem == NULL && options->bank)
        world->problem = check_bank(&world->history);
    if (world->problem == NULL && !history_is_serializable(&world->history))
        world->problem = "not serializable";
    return world->problem;
}

const char *world_run_random(struct world *world, const struct world_options *options,
                             uint64_t seed)
{
    world->is_search = false;
    random_init(&world->random, seed);
    return run_history(world, options);
}

void world_search_begin(struct world *world)
{
    world->choice_count = 0;
}

const char *world_search_next(struct world *world, const struct world_options *options, bool *done)
{
    world->is_search = true;
    world->choice_at = 0;
    const char *problem = run_history(world, options);
    *done = !advance(world);
    return problem;
}

const struct history *world_history(const struct world *world)
{
    return &world->history;
}

struct world_counts world_counts(const struct world *world)
{
    return world->counts;
}

struct world *world_create(void)
{
    struct world *world = memory_checked(calloc(1, sizeof *world));
    world->memory = partition_memory_create(true);
    world->arena = arena_create();
    for (size_t i = 0; i < WORLD_CLIENTS_MAX; i++)
        world->servers[i].fiber = fiber_create();
    for (size_t i = 0; i <= WORLD_CLIENTS_MAX; i++)
        world->servers[i].arena = arena_create();
    return world;
}

void world_destroy(struct world *world)
{
    for (size_t i = 0; i < WORLD_CLIENTS_MAX; i++)
        fiber_destroy(world->servers[i].fiber);
    for (size_t i = 0; i <= WORLD_CLIENTS_MAX; i++)
        arena_destroy(world->servers[i].arena);
    world->memory->ops->close(world->memory);
    arena_destroy(world->arena);
    free(world);
}
