/* slow_log.c -- see slow_log.h. */
#include "metric/slow_log.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"

struct slow_log {
    int64_t threshold_ns;
    pthread_mutex_t mutex;
    size_t next;
    struct slow_request entries[SLOW_LOG_ENTRIES];
};

struct slow_log *slow_log_create(int64_t threshold_ns)
{
    struct slow_log *log = memory_checked(calloc(1, sizeof *log));
    log->threshold_ns = threshold_ns == 0 ? INT64_MAX : threshold_ns;
    pthread_mutex_init(&log->mutex, NULL);
    return log;
}

void slow_log_destroy(struct slow_log *log)
{
    if (log == NULL)
        return;
    pthread_mutex_destroy(&log->mutex);
    free(log);
}

int64_t slow_log_threshold_ns(const struct slow_log *log)
{
    return log->threshold_ns;
}

static void copy_name(char out[SLOW_LOG_NAME_MAX], struct bytes name)
{
    size_t size = name.len < SLOW_LOG_NAME_MAX ? name.len : SLOW_LOG_NAME_MAX - 1;
    memcpy(out, name.data, size);
    out[size] = '\0';
}

static void add_use(struct slow_request *request, const struct capacity_use *use)
{
    uint64_t half_units = (uint64_t)use->table_half_units;
    request->items_read += use->read_count;
    request->items_returned += use->returned_count;
    request->items_written += use->written_count;
    for (size_t i = 0; i < use->definition->index_count; i++) {
        half_units += (uint64_t)use->index_half_units[i];
        if (use->kind == CAPACITY_READ && use->index_half_units[i] > 0)
            copy_name(request->index, use->definition->indexes[i].name);
    }
    if (use->kind == CAPACITY_READ)
        request->read_half_units += half_units;
    else
        request->write_half_units += half_units;
}

void slow_log_note(struct slow_log *log, const struct meter_call *call, int64_t wall_ms,
                   uint32_t pause_count, const struct capacity_use *uses, size_t use_count)
{
    struct slow_request request = { .wall_ms = wall_ms,
                                    .elapsed_ns = call->elapsed_ns,
                                    .queue_ns = call->queue_ns,
                                    .operation = call->operation,
                                    .error = call->error,
                                    .batch_count = call->batch_count,
                                    .request_size = call->request_size,
                                    .response_size = call->response_size,
                                    .pause_count = pause_count };
    for (size_t i = 0; i < use_count; i++) {
        if (uses[i].table == NULL)
            continue;
        if (request.table_count++ == 0)
            copy_name(request.table, uses[i].definition->name);
        add_use(&request, &uses[i]);
    }
    pthread_mutex_lock(&log->mutex);
    log->entries[log->next++ % SLOW_LOG_ENTRIES] = request;
    pthread_mutex_unlock(&log->mutex);
}

static int by_time(const void *a, const void *b)
{
    const struct slow_request *x = a, *y = b;
    return x->elapsed_ns > y->elapsed_ns ? -1 : x->elapsed_ns < y->elapsed_ns;
}

size_t slow_log_read(struct slow_log *log, struct slow_request *out, size_t max)
{
    struct slow_request *all = memory_checked(malloc(sizeof log->entries));
    pthread_mutex_lock(&log->mutex);
    memcpy(all, log->entries, sizeof log->entries);
    size_t count = log->next < SLOW_LOG_ENTRIES ? log->next : SLOW_LOG_ENTRIES;
    pthread_mutex_unlock(&log->mutex);
    qsort(all, count, sizeof *all, by_time);
    if (count > max)
        count = max;
    memcpy(out, all, count * sizeof *all);
    free(all);
    return count;
}
