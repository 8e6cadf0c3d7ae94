/* reference_engine.c -- see reference_engine.h.
 *
 * A completion runs before the commit returns: there is no disk to wait for.
 */
#include "reference_engine.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "engine/engine_ops.h"

/* Never changed once it is in a table. */
struct record {
    size_t references; /* Guarded by the engine's mutex. */
    struct engine_address address;
    struct bytes value;
};

/* Records in order of their addresses. Never changed once it is current. */
struct table {
    size_t references; /* Guarded by the engine's mutex. */
    size_t count;
    struct record **records;
};

struct reference_engine {
    struct engine base;
    struct engine_ops ops;
    pthread_mutex_t mutex;
    bool writing;          /* Guarded by mutex. A write has begun and not ended. */
    struct table *current; /* Guarded by mutex. */
    struct reference_write *first_waiting, *last_waiting; /* Guarded by mutex. */
};

struct reference_view {
    struct engine_view base;
    struct table *table;
};

struct reference_scan {
    struct engine_scan base;
    struct table *table; /* The view's, which outlives the scan. */
    size_t first;        /* What is left: indexes [first, last). */
    size_t last;
    bool reverse;
    size_t count_left; /* SIZE_MAX: no limit. */
    size_t bytes_left; /* SIZE_MAX: no limit. */
};

struct reference_write {
    struct engine_write base;
    struct table *table; /* What the commit makes current: a copy, changed call by call. */
    struct table *before;
    struct engine_wait *wait;     /* While others write. */
    bool changes;                 /* Something, all of it in `partition` of `owner`. */
    uint64_t owner, partition;    /* Of an engine without ENGINE_GLOBAL_ATOMIC. */
    struct reference_write *next; /* Among those that wait. */
};

static void *alloc(size_t size)
{
    void *block = calloc(1, size == 0 ? 1 : size);
    assert(block != NULL);
    return block;
}

static struct bytes copy_bytes(struct bytes from)
{
    uint8_t *to = alloc(from.len);
    if (from.len > 0)
        memcpy(to, from.data, from.len);
    return bytes_of(to, from.len);
}

/* --- Order --- */

static int compare_u64(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const struct engine_address *a, const struct engine_address *b)
{
    int order = compare_u64(a->place.owner, b->place.owner);
    if (order == 0)
        order = compare_u64(a->place.partition, b->place.partition);
    if (order == 0)
        order = (int)a->place.space - (int)b->place.space;
    return order != 0 ? order : bytes_compare(a->key, b->key);
}

/* The index of the first record that is not below `address`. */
static size_t lower_bound(const struct table *table, const struct engine_address *address)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&table->records[middle]->address, address) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds_at(const struct table *table, size_t index, const struct engine_address *address)
{
    return index < table->count && compare(&table->records[index]->address, address) == 0;
}

/* The index behind a range whose `last` is empty: to the end of the place. */
static size_t range_end(const struct table *table, const struct engine_place *place,
                        struct bytes last)
{
    struct engine_address address = { *place, last };
    if (last.len == 0)
        address.place.space++;
    return lower_bound(table, &address);
}

/* --- Ownership. The caller holds the engine's mutex. --- */

static void release_record_locked(struct record *record)
{
    if (--record->references > 0)
        return;
    free((void *)record->address.key.data);
    free((void *)record->value.data);
    free(record);
}

static void release_table_locked(struct table *table)
{
    if (--table->references > 0)
        return;
    for (size_t i = 0; i < table->count; i++)
        release_record_locked(table->records[i]);
    free(table->records);
    free(table);
}

static struct table *copy_table_locked(const struct table *from)
{
    struct table *to = alloc(sizeof *to);
    to->references = 1;
    to->count = from->count;
    to->records = alloc(from->count * sizeof(struct record *));
    for (size_t i = 0; i < from->count; i++) {
        to->records[i] = from->records[i];
        to->records[i]->references++;
    }
    return to;
}

static void remove_range(struct reference_engine *engine, struct table *table, size_t first,
                         size_t last)
{
    if (first >= last)
        return;
    pthread_mutex_lock(&engine->mutex);
    for (size_t i = first; i < last; i++)
        release_record_locked(table->records[i]);
    pthread_mutex_unlock(&engine->mutex);
    memmove(table->records + first, table->records + last,
            (table->count - last) * sizeof(struct record *));
    table->count -= last - first;
}

static void insert(struct table *table, size_t index, const struct engine_address *address,
                   struct bytes value)
{
    struct record *record = alloc(sizeof *record);
    record->references = 1;
    record->address = (struct engine_address){ address->place, copy_bytes(address->key) };
    record->value = copy_bytes(value);
    table->records = realloc(table->records, (table->count + 1) * sizeof(struct record *));
    assert(table->records != NULL);
    memmove(table->records + index + 1, table->records + index,
            (table->count - index) * sizeof(struct record *));
    table->records[index] = record;
    table->count++;
}

/* --- Views and scans --- */

static enum engine_status view_open(struct engine *base, enum engine_consistency consistency,
                                    struct engine_view **out)
{
    (void)consistency;
    struct reference_engine *engine = (struct reference_engine *)base;
    struct reference_view *view = alloc(sizeof *view);
    view->base.engine = base;
    pthread_mutex_lock(&engine->mutex);
    view->table = engine->current;
    view->table->references++;
    pthread_mutex_unlock(&engine->mutex);
    *out = &view->base;
    return ENGINE_OK;
}

static struct engine_view *view_share(struct engine_view *base)
{
    struct reference_engine *engine = (struct reference_engine *)base->engine;
    struct reference_view *view = alloc(sizeof *view);
    view->base.engine = base->engine;
    view->table = ((struct reference_view *)base)->table;
    pthread_mutex_lock(&engine->mutex);
    view->table->references++;
    pthread_mutex_unlock(&engine->mutex);
    return &view->base;
}

static void view_close(struct engine_view *base)
{
    struct reference_engine *engine = (struct reference_engine *)base->engine;
    struct reference_view *view = (struct reference_view *)base;
    pthread_mutex_lock(&engine->mutex);
    release_table_locked(view->table);
    pthread_mutex_unlock(&engine->mutex);
    free(view);
}

/* A copy, so that a value used after its release is found by the sanitizers. */
static enum engine_status get(const struct table *table, const struct engine_address *address,
                              struct engine_value *out)
{
    size_t index = lower_bound(table, address);
    if (!holds_at(table, index, address))
        return ENGINE_NOT_FOUND;
    out->bytes = copy_bytes(table->records[index]->value);
    out->handle = (void *)out->bytes.data;
    out->release = free;
    return ENGINE_OK;
}

static enum engine_status view_get(struct engine_view *base, const struct engine_address *address,
                                   struct engine_value *out)
{
    return get(((struct reference_view *)base)->table, address, out);
}

static enum engine_status scan_open(struct engine_view *base, const struct engine_range *range,
                                    struct engine_scan **out)
{
    struct engine_address first = { range->place, range->first };
    assert(!range->reverse || (engine_capabilities(base->engine) & ENGINE_REVERSE) != 0);
    struct reference_scan *scan = alloc(sizeof *scan);
    scan->base.engine = base->engine;
    scan->table = ((struct reference_view *)base)->table;
    scan->first = lower_bound(scan->table, &first);
    scan->last = range_end(scan->table, &range->place, range->last);
    scan->reverse = range->reverse;
    scan->count_left = range->count_max == 0 ? SIZE_MAX : range->count_max;
    scan->bytes_left = range->bytes_max == 0 ? SIZE_MAX : range->bytes_max;
    *out = &scan->base;
    return ENGINE_OK;
}

static enum engine_status scan_next(struct engine_scan *base, struct engine_entry *out)
{
    struct reference_scan *scan = (struct reference_scan *)base;
    if (scan->first >= scan->last || scan->count_left == 0 || scan->bytes_left == 0)
        return ENGINE_END;
    const struct record *record =
        scan->table->records[scan->reverse ? --scan->last : scan->first++];
    out->key = record->address.key;
    out->value = record->value;
    size_t size = out->key.len + out->value.len;
    if (scan->count_left != SIZE_MAX)
        scan->count_left--;
    if (scan->bytes_left != SIZE_MAX)
        scan->bytes_left -= size < scan->bytes_left ? size : scan->bytes_left;
    return ENGINE_OK;
}

static void scan_close(struct engine_scan *base)
{
    free(base);
}

static enum engine_status next_place(struct engine_view *base, const struct engine_place *after,
                                     struct engine_place *out)
{
    const struct table *table = ((struct reference_view *)base)->table;
    size_t index = after == NULL ? 0 : range_end(table, after, BYTES(""));
    if (index == table->count)
        return ENGINE_END;
    *out = table->records[index]->address.place;
    return ENGINE_OK;
}

/* --- Writes --- */

static void begin_locked(struct reference_engine *engine, struct reference_write *write)
{
    engine->writing = true;
    write->before = engine->current;
    write->before->references++;
    write->table = copy_table_locked(engine->current);
}

/* Every write holds all addresses. */
static enum engine_status write_begin(struct engine *base, const struct engine_address *addresses,
                                      size_t address_count, struct engine_wait *wait,
                                      struct engine_write **out)
{
    (void)addresses;
    (void)address_count;
    struct reference_engine *engine = (struct reference_engine *)base;
    struct reference_write *write = alloc(sizeof *write);
    write->base.engine = base;
    write->wait = wait;
    pthread_mutex_lock(&engine->mutex);
    bool waits = engine->writing;
    if (!waits)
        begin_locked(engine, write);
    else if (engine->first_waiting == NULL)
        engine->first_waiting = write;
    else
        engine->last_waiting->next = write;
    if (waits)
        engine->last_waiting = write;
    pthread_mutex_unlock(&engine->mutex);
    if (waits)
        return ENGINE_WAITING;
    *out = &write->base;
    return ENGINE_OK;
}

static enum engine_status write_try(struct engine *base, const struct engine_address *addresses,
                                    size_t address_count, bool *busy, struct engine_write **out)
{
    (void)addresses;
    struct reference_engine *engine = (struct reference_engine *)base;
    struct reference_write *write = NULL;
    pthread_mutex_lock(&engine->mutex);
    if (!engine->writing) {
        write = alloc(sizeof *write);
        write->base.engine = base;
        begin_locked(engine, write);
    }
    pthread_mutex_unlock(&engine->mutex);
    for (size_t i = 0; i < address_count; i++)
        busy[i] = write == NULL;
    if (write == NULL)
        return ENGINE_BUSY;
    *out = &write->base;
    return ENGINE_OK;
}

static enum engine_status write_extend(struct engine_write *base,
                                       const struct engine_address *addresses, size_t address_count,
                                       struct engine_wait *wait)
{
    (void)base;
    (void)addresses;
    (void)address_count;
    (void)wait;
    return ENGINE_OK;
}

static enum engine_status write_get(struct engine_write *base, const struct engine_address *address,
                                    struct engine_value *out)
{
    return get(((struct reference_write *)base)->before, address, out);
}

static void check_partition(struct reference_write *write, const struct engine_place *place)
{
    if ((engine_capabilities(write->base.engine) & ENGINE_GLOBAL_ATOMIC) != 0)
        return;
    assert(!write->changes ||
           (write->owner == place->owner && write->partition == place->partition));
    write->changes = true;
    write->owner = place->owner;
    write->partition = place->partition;
}

static void write_delete(struct engine_write *base, const struct engine_address *address)
{
    struct table *table = ((struct reference_write *)base)->table;
    check_partition((struct reference_write *)base, &address->place);
    size_t index = lower_bound(table, address);
    if (holds_at(table, index, address))
        remove_range((struct reference_engine *)base->engine, table, index, index + 1);
}

static void write_put(struct engine_write *base, const struct engine_address *address,
                      struct bytes value)
{
    struct table *table = ((struct reference_write *)base)->table;
    write_delete(base, address);
    insert(table, lower_bound(table, address), address, value);
}

static void write_delete_range(struct engine_write *base, const struct engine_place *place,
                               struct bytes first, struct bytes last)
{
    struct table *table = ((struct reference_write *)base)->table;
    struct engine_address from = { *place, first };
    remove_range((struct reference_engine *)base->engine, table, lower_bound(table, &from),
                 range_end(table, place, last));
}

static void write_delete_owner(struct engine_write *base, uint64_t owner)
{
    struct table *table = ((struct reference_write *)base)->table;
    struct engine_address from = { { .owner = owner }, BYTES("") };
    struct engine_address to = { { .owner = owner + 1 }, BYTES("") };
    remove_range((struct reference_engine *)base->engine, table, lower_bound(table, &from),
                 lower_bound(table, &to));
}

/* Ends the write and keeps one of its two tables as the current one. */
static void end_write(struct engine_write *base, bool apply)
{
    struct reference_engine *engine = (struct reference_engine *)base->engine;
    struct reference_write *write = (struct reference_write *)base;
    pthread_mutex_lock(&engine->mutex);
    if (apply) {
        release_table_locked(engine->current);
        engine->current = write->table;
    } else {
        release_table_locked(write->table);
    }
    release_table_locked(write->before);
    engine->writing = false;
    struct reference_write *next = engine->first_waiting;
    if (next != NULL) {
        engine->first_waiting = next->next;
        begin_locked(engine, next);
    }
    pthread_mutex_unlock(&engine->mutex);
    free(write);
    if (next != NULL)
        next->wait->ready(next->wait, ENGINE_OK, &next->base);
}

static void write_commit(struct engine_write *base, struct engine_completion *completion)
{
    end_write(base, true);
    completion->done(completion, ENGINE_OK);
}

static void write_abandon(struct engine_write *base)
{
    end_write(base, false);
}

/* --- Engine --- */

static void close_engine(struct engine *base)
{
    struct reference_engine *engine = (struct reference_engine *)base;
    assert(!engine->writing);
    assert(engine->current->references == 1); /* No view may outlive its engine. */
    release_table_locked(engine->current);
    pthread_mutex_destroy(&engine->mutex);
    free(engine);
}

static const struct engine_ops ops = {
    .close = close_engine,
    .view_open = view_open,
    .view_share = view_share,
    .view_close = view_close,
    .view_get = view_get,
    .scan_open = scan_open,
    .scan_next = scan_next,
    .scan_close = scan_close,
    .next_place = next_place,
    .write_begin = write_begin,
    .write_try = write_try,
    .write_extend = write_extend,
    .write_get = write_get,
    .write_put = write_put,
    .write_delete = write_delete,
    .write_delete_range = write_delete_range,
    .write_delete_owner = write_delete_owner,
    .write_commit = write_commit,
    .write_abandon = write_abandon,
};

struct engine *reference_engine_create_with(unsigned capabilities)
{
    struct reference_engine *engine = alloc(sizeof *engine);
    engine->ops = ops;
    engine->ops.capabilities = capabilities;
    if ((capabilities & ENGINE_RANGE_DELETE) == 0) {
        engine->ops.write_delete_range = NULL;
        engine->ops.write_delete_owner = NULL;
    }
    engine->base.ops = &engine->ops;
    engine->current = alloc(sizeof *engine->current);
    engine->current->references = 1;
    pthread_mutex_init(&engine->mutex, NULL);
    return &engine->base;
}

struct engine *reference_engine_create(void)
{
    return reference_engine_create_with(ENGINE_GLOBAL_ATOMIC | ENGINE_REVERSE |
                                        ENGINE_RANGE_DELETE | ENGINE_SPANS_FREELY);
}
