/* commit_store.h -- the structures of the engine, for commit_engine.c and commit_view.c only. */
#ifndef STATOR_ENGINE_COMMIT_COMMIT_STORE_H
#define STATOR_ENGINE_COMMIT_COMMIT_STORE_H
#include "engine/commit/commit_engine.h"
#include "engine/commit/commit_txn.h"
#include "engine/engine_ops.h"
#include "engine/latches.h"

struct commit_engine {
    struct engine base;
    struct engine_ops ops;
    struct commit_core core;
    struct latches latches;
    pthread_mutex_t mutex; /* A leaf: guards `writes`. */
    pthread_cond_t idle;   /* `writes` became 0. */
    size_t writes;         /* Begun, and not freed yet. */
};

/* A value that the caller owns: a copy. */
void commit_value_set(struct engine_value *out, struct bytes payload);

enum engine_status commit_view_open(struct engine *engine, enum engine_consistency consistency,
                                    struct engine_view **out);
struct engine_view *commit_view_share(struct engine_view *view);
void commit_view_close(struct engine_view *view);
enum engine_status commit_view_get(struct engine_view *view, const struct engine_address *address,
                                   struct engine_value *out);
enum engine_status commit_scan_open(struct engine_view *view, const struct engine_range *range,
                                    struct engine_scan **out);
enum engine_status commit_scan_next(struct engine_scan *scan, struct engine_entry *out);
void commit_scan_close(struct engine_scan *scan);
enum engine_status commit_view_next_place(struct engine_view *view,
                                          const struct engine_place *after,
                                          struct engine_place *out);

#endif
