/* store_writer.c -- see store_writer.h. */
#include "engine/rocksdb/store_writer.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include "base/clock.h"
#include "engine/rocksdb/store.h"

struct store_writer {
    struct store *store;
    pthread_t thread;
    atomic_bool stalled;
    /* Of the queue and the batch that is being written. */
    atomic_size_t count;
    atomic_size_t bytes;
    atomic_uint_fast64_t stalls;   /* Writes that were ever queued. */
    _Atomic int64_t busy_since_ns; /* When the batch that is being written came; 0: none is. */

    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct store_write *first, *last; /* Linked by `next`. Guarded by mutex. */
    bool stopping;                    /* Guarded by mutex. */
};

/* NULL: there is none and there will be none. */
static struct store_write *take(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->first == NULL && !writer->stopping)
        pthread_cond_wait(&writer->changed, &writer->mutex);
    struct store_write *write = writer->first;
    if (write != NULL)
        writer->first = write->next;
    pthread_mutex_unlock(&writer->mutex);
    return write;
}

static size_t size_of(const struct store_write *write)
{
    size_t size;
    rocksdb_writebatch_data(write->batch, &size);
    return size;
}

static void *run(void *argument)
{
    struct store_writer *writer = argument;
    struct store_write *write;
    while ((write = take(writer)) != NULL) {
        size_t size = size_of(write);
        atomic_store_explicit(&writer->busy_since_ns, write->queued_ns, memory_order_relaxed);
        enum engine_status status = store_write_apply_slowly(write);
        atomic_store_explicit(&writer->busy_since_ns, 0, memory_order_relaxed);
        /* RocksDB has just let a batch pass: others may try. */
        atomic_store(&writer->stalled, false);
        atomic_fetch_sub(&writer->bytes, size);
        atomic_fetch_sub(&writer->count, 1);
        store_write_end(write, status);
    }
    return NULL;
}

struct store_writer *store_writer_create(struct store *store)
{
    struct store_writer *writer = store_alloc(sizeof *writer);
    writer->store = store;
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, NULL);
    if (pthread_create(&writer->thread, NULL, run, writer) == 0)
        return writer;
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
    return NULL;
}

void store_writer_destroy(struct store_writer *writer)
{
    if (writer == NULL)
        return;
    pthread_mutex_lock(&writer->mutex);
    writer->stopping = true;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
    pthread_join(writer->thread, NULL);
    assert(writer->first == NULL);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
}

bool store_writer_is_stalled(const struct store_writer *writer)
{
    return atomic_load_explicit(&writer->stalled, memory_order_relaxed);
}

bool store_writer_is_full(const struct store_writer *writer)
{
    return atomic_load_explicit(&writer->count, memory_order_relaxed) >= STORE_WRITER_QUEUE_MAX ||
           atomic_load_explicit(&writer->bytes, memory_order_relaxed) >= STORE_WRITER_BYTES_MAX;
}

int64_t store_writer_busy_since_ns(const struct store_writer *writer)
{
    return atomic_load_explicit(&writer->busy_since_ns, memory_order_relaxed);
}

void store_writer_read_statistics(const struct store_writer *writer, struct engine_statistics *out)
{
    out->stall_queue = atomic_load(&writer->count);
    out->stalls = atomic_load(&writer->stalls);
    out->is_stalled = store_writer_is_stalled(writer);
}

void store_writer_queue(struct store_writer *writer, struct store_write *write,
                        struct engine_completion *completion)
{
    write->completion = completion;
    write->queued_ns = clock_monotonic_ns();
    write->next = NULL;
    pthread_mutex_lock(&writer->mutex);
    assert(!writer->stopping);
    atomic_store(&writer->stalled, true);
    atomic_fetch_add(&writer->count, 1);
    atomic_fetch_add(&writer->stalls, 1);
    atomic_fetch_add(&writer->bytes, size_of(write));
    if (writer->first == NULL)
        writer->first = write;
    else
        writer->last->next = write;
    writer->last = write;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
}
