/* rados_run.c -- operations of partition_store.h as compound operations on objects.
 *
 * A write asserts that its object exists. If it does not, the answer says so and nothing was
 * changed; then the partition is put on the list of all partitions, and the write is sent again
 * with leave to create the object. So every object is on the list before it exists, and a write to
 * a partition that exists is one operation.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/crc32c.h"
#include "engine/rados/rados_connection.h"
#include "engine/rados/rados_key.h"
#include "engine/rados/rados_page.h"

/* The byte behind every stored value: where the value is. */
enum { VALUE_INLINE = 1 };
/* A value that begins with a stamp is above the stamp and below the stamp with this byte.
 * Observed on Ceph 16: OSDs compare bytes as signed. */
enum { ABOVE_STAMP = 0x7F };

/* One listing of a read. */
struct page {
    rados_omap_iter_t entries;
    unsigned char more;
    int result;
};

/* One operation under way. */
struct call {
    char object[RADOS_OBJECT_NAME_MAX + 1];
    rados_write_op_t write;
    rados_read_op_t read;
    rados_completion_t completion;
    int error;
    /* Of a read. */
    rados_omap_iter_t found;
    int found_result;
    struct page *pages;
};

/* --- Writes --- */

static void add_guard(const struct rados_library *library, rados_write_op_t write,
                      struct arena *arena, const struct partition_guard *guard)
{
    struct bytes key = rados_key_encode(arena, guard->key);
    const char *name = (const char *)key.data;
    if (guard->absent) { /* A missing key compares as an empty value, which none that exists is. */
        library->write_op_omap_cmp2(write, name, LIBRADOS_CMPXATTR_OP_EQ, "", key.len, 0, NULL);
        return;
    }
    char bound[PARTITION_STAMP_SIZE + 1];
    memcpy(bound, guard->stamp.bytes, PARTITION_STAMP_SIZE);
    bound[PARTITION_STAMP_SIZE] = ABOVE_STAMP;
    library->write_op_omap_cmp2(write, name, LIBRADOS_CMPXATTR_OP_GT, bound, key.len,
                                PARTITION_STAMP_SIZE, NULL);
    library->write_op_omap_cmp2(write, name, LIBRADOS_CMPXATTR_OP_LT, bound, key.len, sizeof bound,
                                NULL);
}

static void add_changes(const struct rados_library *library, rados_write_op_t write,
                        struct arena *arena, const struct partition_operation *operation)
{
    size_t count = operation->change_count, sets = 0, removals = 0;
    /* Sets from the front, removals from the back. */
    const char **keys = arena_alloc(arena, (count + 1) * sizeof *keys);
    const char **values = arena_alloc(arena, (count + 1) * sizeof *values);
    size_t *key_sizes = arena_alloc(arena, (count + 1) * sizeof *key_sizes);
    size_t *value_sizes = arena_alloc(arena, (count + 1) * sizeof *value_sizes);
    for (size_t i = 0; i < count; i++) {
        const struct partition_change *change = &operation->changes[i];
        bool is_set = change->value.data != NULL;
        size_t at = is_set ? sets++ : count - ++removals;
        struct bytes key = rados_key_encode(arena, change->key);
        keys[at] = (const char *)key.data;
        key_sizes[at] = key.len;
        if (!is_set)
            continue;
        assert(change->value.len > PARTITION_STAMP_SIZE); /* As partition_store.h asks. */
        assert(change->value.data[PARTITION_STAMP_SIZE] < ABOVE_STAMP);
        static const uint8_t where = VALUE_INLINE;
        struct bytes parts[] = { change->value, bytes_of(&where, 1) };
        struct bytes value = arena_join(arena, parts, 2);
        values[at] = (const char *)value.data;
        value_sizes[at] = value.len;
    }
    if (sets > 0)
        library->write_op_omap_set2(write, keys, values, key_sizes, value_sizes, sets);
    if (removals > 0)
        library->write_op_omap_rm_keys2(write, keys + sets, key_sizes + sets, removals);
}

/* With `create`, the object need not exist. */
static void send_write(struct rados_store *store, struct call *call,
                       const struct partition_operation *operation, bool create)
{
    const struct rados_library *library = &store->library;
    struct arena *arena = arena_create(); /* librados copies everything. */
    call->write = library->create_write_op();
    if (create)
        library->write_op_create(call->write, LIBRADOS_CREATE_IDEMPOTENT, NULL);
    else
        library->write_op_assert_exists(call->write);
    for (size_t i = 0; i < operation->guard_count; i++)
        add_guard(library, call->write, arena, &operation->guards[i]);
    add_changes(library, call->write, arena, operation);
    arena_destroy(arena);
    atomic_fetch_add(&store->writes, 1);
    /* On a full cluster: an answer instead of a wait, and leave to delete. */
    call->error = library->aio_write_op_operate(call->write, store->pool, call->completion,
                                                call->object, NULL, LIBRADOS_OPERATION_FULL_TRY);
}

static bool is_too_large(const struct partition_operation *operation)
{
    size_t size = 0;
    for (size_t i = 0; i < operation->guard_count; i++)
        size += operation->guards[i].key.len + PARTITION_STAMP_SIZE;
    for (size_t i = 0; i < operation->change_count; i++)
        size += operation->changes[i].key.len + operation->changes[i].value.len;
    return operation->change_count > RADOS_CHANGES_MAX || size > RADOS_WRITE_SIZE_MAX ||
           2 * operation->guard_count + 3 > RADOS_WRITE_PARTS_MAX;
}

/* --- Reads --- */

static atomic_uint_fast32_t *hint_of(struct rados_store *store, const struct partition_id *id,
                                     const struct partition_range *range)
{
    uint64_t hash = (id->number * 31 + id->kind) * 0x9E3779B97F4A7C15u;
    size_t prefix = range->first.len < range->alike_size ? range->first.len : range->alike_size;
    hash = (hash >> 32) + crc32c(bytes_of(range->first.data, prefix));
    return &store->hints[hash % RADOS_HINTS];
}

static void send_read(struct rados_store *store, struct call *call,
                      const struct partition_operation *operation, struct arena *arena)
{
    const struct rados_library *library = &store->library;
    call->read = library->create_read_op();
    library->read_op_assert_exists(call->read);
    if (operation->key_count > 0) {
        size_t count = operation->key_count;
        const char **keys = arena_alloc(arena, count * sizeof *keys);
        size_t *sizes = arena_alloc(arena, count * sizeof *sizes);
        for (size_t i = 0; i < count; i++) {
            struct bytes key = rados_key_encode(arena, operation->keys[i]);
            keys[i] = (const char *)key.data;
            sizes[i] = key.len;
        }
        library->read_op_omap_get_vals_by_keys2(call->read, keys, count, sizes, &call->found,
                                                &call->found_result);
    }
    call->pages = arena_alloc_zeroed(arena, (operation->range_count + 1) * sizeof *call->pages);
    for (size_t i = 0; i < operation->range_count; i++) {
        const struct partition_range *range = &operation->ranges[i];
        struct page *page = &call->pages[i];
        assert(range->count_max > 0 && !range->reverse);
        struct bytes prefix = rados_key_shared_prefix(range->first, range->last);
        uint32_t largest = (uint32_t)atomic_load(hint_of(store, &operation->partition, range));
        library->read_op_omap_get_vals2(
            call->read, rados_key_before(arena, range->first), rados_key_before(arena, prefix),
            rados_page_entries(largest, range->bytes_max, range->count_max), &page->entries,
            &page->more, &page->result);
    }
    atomic_fetch_add(&store->reads, 1);
    call->error =
        library->aio_read_op_operate(call->read, store->pool, call->completion, call->object, 0);
}

/* The next entry of an answer; data NULL behind the last. False if it cannot be read. */
static bool next_entry(const struct rados_library *library, rados_omap_iter_t entries,
                       struct arena *arena, struct partition_entry *out)
{
    char *key, *value;
    size_t key_size, value_size;
    *out = (struct partition_entry){ 0 };
    if (library->omap_get_next2(entries, &key, &value, &key_size, &value_size) != 0)
        return false;
    if (key == NULL)
        return true;
    if (value_size < PARTITION_STAMP_SIZE + 2 || value[value_size - 1] != VALUE_INLINE ||
        !rados_key_decode(arena, bytes_of(key, key_size), &out->key))
        return false;
    out->value = arena_copy(arena, bytes_of(value, value_size - 1));
    return true;
}

/* A key that was asked for, and where its value goes. */
struct wanted {
    struct bytes key;
    struct bytes *value;
};

static int compare_wanted(const void *a, const void *b)
{
    return bytes_compare(((const struct wanted *)a)->key, ((const struct wanted *)b)->key);
}

/* The answer has the keys that exist, in order and each once. */
static bool take_keys(const struct rados_library *library, const struct call *call,
                      const struct partition_operation *operation, struct arena *arena)
{
    size_t count = operation->key_count, at = 0;
    struct wanted *wanted = arena_alloc(arena, (count + 1) * sizeof *wanted);
    for (size_t i = 0; i < count; i++)
        wanted[i] = (struct wanted){ operation->keys[i], &operation->values[i] };
    qsort(wanted, count, sizeof *wanted, compare_wanted);
    for (;;) {
        struct partition_entry entry;
        if (!next_entry(library, call->found, arena, &entry))
            return false;
        if (entry.key.data == NULL)
            return true;
        while (at < count && bytes_compare(wanted[at].key, entry.key) < 0)
            at++;
        for (; at < count && bytes_equal(wanted[at].key, entry.key); at++)
            *wanted[at].value = entry.value;
    }
}

static bool take_page(struct rados_store *store, struct page *page,
                      const struct partition_id *partition, struct partition_range *range,
                      struct arena *arena)
{
    const struct rados_library *library = &store->library;
    size_t received = library->omap_iter_size(page->entries), size = 0, largest = 0;
    range->entries = arena_alloc(arena, (received + 1) * sizeof *range->entries);
    range->count = 0;
    range->more = page->more != 0;
    for (size_t i = 0; i < received; i++) {
        struct partition_entry entry;
        if (!next_entry(library, page->entries, arena, &entry) || entry.key.data == NULL)
            return false;
        if (bytes_compare(entry.key, range->last) >= 0) {
            range->more = false;
            break;
        }
        if (range->bytes_max > 0 && size >= range->bytes_max) {
            range->more = true;
            break;
        }
        size_t entry_size = entry.key.len + entry.value.len;
        size += entry_size;
        largest = entry_size > largest ? entry_size : largest;
        range->entries[range->count++] = entry;
    }
    if (range->count > 0) { /* Two threads may overwrite one another's: it is a guess. */
        atomic_uint_fast32_t *hint = hint_of(store, partition, range);
        atomic_store(hint, rados_page_remember((uint32_t)atomic_load(hint), largest));
    }
    return true;
}

static enum partition_status take_read(struct rados_store *store, struct call *call,
                                       struct partition_operation *operation, struct arena *arena)
{
    for (size_t i = 0; i < operation->key_count; i++)
        operation->values[i] = (struct bytes){ 0 };
    operation->version = 0;
    if (call->error == -ENOENT) { /* A partition that nobody has written to is empty. */
        if (rados_absence_status(store, call->object) != PARTITION_OK)
            return PARTITION_FAILED;
        for (size_t i = 0; i < operation->range_count; i++) {
            operation->ranges[i].entries = NULL;
            operation->ranges[i].count = 0;
            operation->ranges[i].more = false;
        }
        return PARTITION_OK;
    }
    if (call->error < 0)
        return rados_read_status(call->error);
    if (operation->key_count > 0 &&
        (call->found_result < 0 || !take_keys(&store->library, call, operation, arena)))
        return PARTITION_CORRUPT;
    for (size_t i = 0; i < operation->range_count; i++)
        if (call->pages[i].result < 0 ||
            !take_page(store, &call->pages[i], &operation->partition, &operation->ranges[i], arena))
            return PARTITION_CORRUPT;
    operation->version = store->library.aio_get_version(call->completion);
    return PARTITION_OK;
}

/* --- Calls --- */

/* Prepares one, which `receive` waits for. False if nothing can be sent. */
static bool prepare(struct rados_store *store, struct call *call, const struct partition_id *id)
{
    *call = (struct call){ 0 };
    rados_key_format_object(id, call->object);
    call->error = store->library.aio_create_completion2(NULL, NULL, &call->completion);
    if (call->error == 0)
        return true;
    call->completion = NULL;
    return false;
}

/* Waits for the answer: true if there is one, false if nothing was sent. */
static bool receive(struct rados_store *store, struct call *call)
{
    if (call->completion == NULL || call->error < 0)
        return false;
    store->library.aio_wait_for_complete(call->completion);
    call->error = store->library.aio_get_return_value(call->completion);
    return true;
}

static void release(struct rados_store *store, struct call *call, size_t range_count)
{
    const struct rados_library *library = &store->library;
    if (call->found != NULL)
        library->omap_get_end(call->found);
    for (size_t i = 0; call->pages != NULL && i < range_count; i++)
        library->omap_get_end(call->pages[i].entries);
    if (call->completion != NULL)
        library->aio_release(call->completion);
    if (call->read != NULL)
        library->release_read_op(call->read);
    if (call->write != NULL)
        library->release_write_op(call->write);
}

/* Puts partitions on the list, which does no harm if one is there. 0 or an error. */
static int list_partitions(struct rados_store *store, struct partition_operation *const *operations,
                           size_t count)
{
    const struct rados_library *library = &store->library;
    char names[RADOS_OPERATIONS_AT_ONCE][RADOS_PARTITION_SIZE + 1];
    const char *keys[RADOS_OPERATIONS_AT_ONCE], *values[RADOS_OPERATIONS_AT_ONCE];
    size_t key_sizes[RADOS_OPERATIONS_AT_ONCE], value_sizes[RADOS_OPERATIONS_AT_ONCE];
    for (size_t i = 0; i < count; i++) {
        rados_key_format_partition(&operations[i]->partition, names[i]);
        keys[i] = names[i];
        key_sizes[i] = RADOS_PARTITION_SIZE;
        values[i] = "1";
        value_sizes[i] = 1;
    }
    rados_write_op_t write = library->create_write_op();
    library->write_op_create(write, LIBRADOS_CREATE_IDEMPOTENT, NULL);
    library->write_op_omap_set2(write, keys, values, key_sizes, value_sizes, count);
    atomic_fetch_add(&store->writes, 1);
    int error = library->write_op_operate(write, store->pool, RADOS_LIST_OBJECT, NULL,
                                          LIBRADOS_OPERATION_FULL_TRY);
    library->release_write_op(write);
    if (error < 0)
        rados_log_failure("writing", RADOS_LIST_OBJECT, error);
    return error;
}

static void finish_write(struct rados_store *store, struct call *call,
                         struct partition_operation *operation)
{
    bool is_answered = receive(store, call);
    operation->status = is_answered ? rados_write_status(call->error) : PARTITION_FAILED;
    if (operation->status != PARTITION_OK && operation->status != PARTITION_REFUSED)
        rados_log_failure("writing", call->object, call->error);
    release(store, call, 0);
}

/* Writes to partitions whose objects do not exist yet. Nothing of them was changed so far. */
static void create_partitions(struct rados_store *store, struct partition_operation **operations,
                              size_t count)
{
    struct call calls[RADOS_OPERATIONS_AT_ONCE];
    int error = list_partitions(store, operations, count);
    for (size_t i = 0; i < count && error < 0; i++)
        operations[i]->status =
            error == -ENOSPC || error == -EDQUOT ? PARTITION_FULL : PARTITION_FAILED;
    for (size_t i = 0; i < count && error == 0; i++)
        if (prepare(store, &calls[i], &operations[i]->partition))
            send_write(store, &calls[i], operations[i], true);
    for (size_t i = 0; i < count && error == 0; i++)
        finish_write(store, &calls[i], operations[i]);
}

/* At most RADOS_OPERATIONS_AT_ONCE. False if one was given up because the cluster did not answer.
 */
static bool run_some(struct rados_store *store, struct arena *arena,
                     struct partition_operation *operations, size_t count)
{
    struct call calls[RADOS_OPERATIONS_AT_ONCE];
    struct partition_operation *missing[RADOS_OPERATIONS_AT_ONCE];
    size_t missing_count = 0;
    bool answers = true;
    for (size_t i = 0; i < count; i++) {
        if (!prepare(store, &calls[i], &operations[i].partition))
            continue;
        if (!operations[i].is_write)
            send_read(store, &calls[i], &operations[i], arena);
        else if (is_too_large(&operations[i]))
            calls[i].error = -EMSGSIZE;
        else
            send_write(store, &calls[i], &operations[i], false);
    }
    for (size_t i = 0; i < count; i++) {
        struct partition_operation *operation = &operations[i];
        bool is_answered = receive(store, &calls[i]);
        if (operation->is_write && is_answered && calls[i].error == -ENOENT) {
            missing[missing_count++] = operation;
            release(store, &calls[i], 0);
            continue;
        }
        answers = answers && calls[i].error != -ETIMEDOUT;
        if (!is_answered)
            operation->status = PARTITION_FAILED;
        else if (operation->is_write)
            operation->status = rados_write_status(calls[i].error);
        else
            operation->status = take_read(store, &calls[i], operation, arena);
        if (operation->status != PARTITION_OK && operation->status != PARTITION_REFUSED)
            rados_log_failure(operation->is_write ? "writing" : "reading", calls[i].object,
                              calls[i].error);
        release(store, &calls[i], operation->range_count);
    }
    if (missing_count > 0)
        create_partitions(store, missing, missing_count);
    return answers;
}

void rados_store_run(struct partition_store *base, struct arena *arena,
                     struct partition_operation *operations, size_t count)
{
    size_t at = 0;
    for (bool answers = true; answers && at < count;) {
        size_t rest = count - at;
        size_t some = rest < RADOS_OPERATIONS_AT_ONCE ? rest : RADOS_OPERATIONS_AT_ONCE;
        answers = run_some((struct rados_store *)base, arena, operations + at, some);
        at += some;
    }
    for (; at < count; at++) /* Not sent: callers wait for one time-out, not for one of each. */
        operations[at].status = PARTITION_FAILED;
}
