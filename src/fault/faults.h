/* faults.h -- faults that are injected into requests for items, so that clients can be tested.
 *
 * A fault says what goes wrong, for which table and operations, for what share of the requests, and
 * until when. Requests draw: the n-th draw of a fault depends on its seed and on n alone, so a test
 * that sends the same requests in the same order meets the same faults. Every fault ends, after a
 * time or after a number of hits.
 *
 * Faults live in memory only: an experiment must not outlive the server, and starting it again is a
 * sure way out of one. Nothing here knows requests, exceptions or connections; the time arrives as
 * a clock.
 *
 * Any thread may use all of this. While no fault is active, a request looks at one atomic flag.
 * Otherwise finding the faults of a request takes a lock for FAULTS_MAX comparisons.
 */
#ifndef STATOR_FAULT_FAULTS_H
#define STATOR_FAULT_FAULTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "capacity/limiter.h"

struct arena;
struct clock;
struct fault;
struct faults;

enum {
    FAULTS_MAX = 100, /* Active ones; those that have ended make room for others. */
    FAULT_NAME_SIZE_MAX = 255,
    FAULT_DELAY_MS_MAX = 60 * 1000,
    FAULT_DURATION_S_DEFAULT = 5 * 60,
    FAULT_DURATION_S_MAX = 7 * 24 * 60 * 60,
};

enum fault_kind {
    FAULT_THROTTLE,
    FAULT_INTERNAL_ERROR,
    FAULT_TRANSACTION_CONFLICT,
    FAULT_CONDITION_FAILED, /* Of a write with a condition, whatever the condition says. */
    FAULT_CUT_CONNECTION,   /* Nothing is done, and the connection is closed without an answer. */
    FAULT_LOSE_ANSWER,      /* Everything is done, and then the same. */
    FAULT_DELAY,            /* Everything is done, and the answer waits. */
    FAULT_KINDS,
};
const char *fault_kind_name(enum fault_kind kind); /* "CutConnection" */

/* Operations that have faults: those on items. */
enum fault_operation {
    FAULT_BATCH_EXECUTE_STATEMENT,
    FAULT_BATCH_GET_ITEM,
    FAULT_BATCH_WRITE_ITEM,
    FAULT_DELETE_ITEM,
    FAULT_EXECUTE_STATEMENT,
    FAULT_EXECUTE_TRANSACTION,
    FAULT_GET_ITEM,
    FAULT_PUT_ITEM,
    FAULT_QUERY,
    FAULT_SCAN,
    FAULT_TRANSACT_GET_ITEMS,
    FAULT_TRANSACT_WRITE_ITEMS,
    FAULT_UPDATE_ITEM,
    FAULT_OPERATIONS,
};
#define FAULT_ALL_OPERATIONS ((UINT32_C(1) << FAULT_OPERATIONS) - 1)
const char *fault_operation_name(enum fault_operation operation);
/* FAULT_OPERATIONS if it has no faults. */
enum fault_operation fault_operation_find(const char *name);
/* Whether it is one transaction, which fails as a whole. */
bool fault_operation_is_transaction(enum fault_operation operation);
/* Whether it can meet the kind at all. */
bool fault_operation_meets(enum fault_operation operation, enum fault_kind kind);

struct fault_rule {
    struct bytes table_name;
    struct bytes index_name; /* FAULT_THROTTLE: the index that refuses; empty: any. */
    uint32_t operations;     /* A bit for each enum fault_operation; not 0. */
    enum fault_kind kind;
    enum limiter_limit limit;    /* FAULT_THROTTLE; LIMITER_ADMITS: the usual one of the table. */
    double percent;              /* Above 0, up to 100. */
    int64_t delay_ms, jitter_ms; /* FAULT_DELAY: from delay_ms to delay_ms + jitter_ms. */
    int64_t count_max;           /* Hits; 0: until it ends. */
    int64_t ends_ms;             /* Server time. */
    int64_t shown_end_ms;        /* The same as wall time. */
    uint64_t seed;
};

struct faults *faults_create(const struct clock *clock);
void faults_destroy(struct faults *faults); /* No request may be using one. NULL is allowed. */

/* Copies the rule. Returns its number, above 0; 0: FAULTS_MAX are active. */
MUST_CHECK uint64_t faults_add(struct faults *faults, const struct fault_rule *rule);
/* False if there is none of that number. Requests that have drawn already keep what they drew. */
bool faults_remove(struct faults *faults, uint64_t number);

/* What a fault is and has done. */
struct fault_reading {
    uint64_t number;
    struct fault_rule rule; /* Names in the arena. */
    uint64_t draws;
    uint64_t hits;
    bool is_active;
};
/* All faults, in the order in which they were added; `out` has room for FAULTS_MAX. */
size_t faults_read(struct faults *faults, struct arena *arena, struct fault_reading *out);
/* Hits of all faults of a kind since the start, with those that were removed. */
uint64_t faults_total(const struct faults *faults, enum fault_kind kind);

/* --- For requests --- */

bool faults_have_active(const struct faults *faults);
/* Finds the active faults of a request for a table, in the order in which they were added. `out`
 * has room for FAULTS_MAX; each is held until fault_release. */
size_t faults_find(struct faults *faults, struct bytes table_name, enum fault_operation operation,
                   struct fault **out);
void fault_release(struct fault *fault);
const struct fault_rule *fault_rule(const struct fault *fault); /* While it is held. */

struct fault_draw {
    bool is_hit;
    int64_t delay_ms; /* Of a FAULT_DELAY. */
};
struct fault_draw fault_draw(struct fault *fault);

#endif
