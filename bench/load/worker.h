/* worker.h -- a thread that keeps its share of the connections busy and counts.
 *
 * Without a rate, each connection sends its next request as soon as it has its answer. With one,
 * requests are due at fixed times, whether the server keeps up or not, and a request's time counts
 * from when it was due: one that had to wait for a connection shows how long (what is known as the
 * correction for coordinated omission).
 */
#ifndef STATOR_BENCH_LOAD_WORKER_H
#define STATOR_BENCH_LOAD_WORKER_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include "base/random.h"
#include "histogram.h"
#include "template.h"

struct connection;
struct ssl_ctx_st;

/* The same for all threads. */
struct plan {
    uint16_t port;
    struct ssl_ctx_st *tls; /* NULL: plain HTTP. */
    const struct template *templates;
    size_t template_count;
    unsigned weight_sum;
    unsigned key_count;       /* The most keys that a template has. */
    uint64_t key_range;       /* Keys are below this. */
    int64_t begin_ns, end_ns; /* No request is sent after the end. */
    int64_t interval_ns;      /* Counts are kept for each. */
    size_t interval_count;
    double rate_per_s;           /* Of each thread; 0: as fast as the answers come. */
    uint64_t fill_count;         /* Requests that put each key once; 0: keys are random. */
    _Atomic uint64_t fill_begun; /* How many of them were begun. */
};

struct interval {
    uint64_t answers; /* That came within it. */
    struct histogram times_ns;
};

struct worker {
    struct plan *plan;
    unsigned number;
    size_t connection_count;
    struct connection *connections; /* Owned. */
    struct connection *free;        /* Those that wait for a request to be due; */
    struct connection **free_end;   /* the longest waiting is first. */
    struct random random;
    int epoll;
    pthread_t thread;
    uint64_t begun, answered, errors; /* Requests; errors are answers other than 200. */
    uint64_t unsent;                  /* Were due by the end and had found no connection. */
    uint64_t body_bytes;
    int64_t last_answer_ns;
    struct interval *intervals; /* Owned. */
};

/* Opens the connections, so that the time that takes is not measured. */
void worker_open(struct worker *worker, struct plan *plan, unsigned number, size_t connection_count,
                 uint64_t seed);
/* `begin_ns` and `end_ns` of the plan are set by now. */
void worker_start(struct worker *worker);
void worker_join(struct worker *worker);
void worker_close(struct worker *worker);

#endif
