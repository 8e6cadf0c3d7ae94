/* replica_internal.h -- the parts of struct replicas; for this folder only. */
#ifndef STATOR_REPLICA_REPLICA_INTERNAL_H
#define STATOR_REPLICA_REPLICA_INTERNAL_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/compiler.h"
#include "base/uuid.h"
#include "jobs/job.h"
#include "model/replica_definition.h"
#include "replica/replicas.h"

enum { REPLICA_ID_SIZE = UUID_TEXT_SIZE };

/* What the collector did last for a table. At the link of the group's first member. */
struct replica_collected {
    int64_t low_us;      /* The low time of its last whole pass. */
    int64_t swept_epoch; /* In which nothing waits for regions that are no members. */
};

/* What is known of a table at a peer. Guarded by the mutex of struct replicas. */
struct replica_link {
    char group_id[REPLICA_ID_SIZE];
    int64_t known_epoch; /* That the peer has confirmed. */
    int64_t closed_us;   /* Of replica_link_state, as the rest. */
    int64_t received_us;
    int64_t low_us; /* The peer's low time, and the epoch in which it said so. */
    int64_t low_epoch;
    int64_t leaving_us;  /* Since when this region waits to leave; 0: it does not. */
    uint64_t seen_round; /* When the peer's thread last saw the table, or when this was made. */
    struct replica_collected collected;
    bool is_refused; /* By the peer, the last time. */
    int64_t rows_sent, latency_max_us;
    struct replica_latency latency; /* Since it was last taken. */

    /* The peer's thread only. */
    struct replica_pass *pass; /* A pass over the queue that is under way; NULL: none. */
    int64_t heartbeat_at_ms;
    int64_t retry_at_ms, retry_ms; /* After the peer has refused something of this table. */
    bool in_trouble;               /* It did the last time, which was logged. */
};

struct replica_peer_state {
    struct replicas *owner;
    struct replica_peer at;
    uint32_t id;
    struct replica_link **links;
    size_t link_count, link_capacity;
    uint64_t round; /* Of its thread, over all tables; guarded by the mutex of struct replicas. */
    bool is_full;   /* There was no room for a link, which was logged; its thread only. */
    uint64_t rows_sent;
    int64_t ahead_us;
    bool is_called, is_reached; /* Since the start, and the last time. */

    /* Sending: the peer's thread only. */
    struct replica_client *client;
    struct job_thread thread;
    bool has_thread;
    struct arena *arena; /* Of one request, or one step. */
    char session[REPLICA_ID_SIZE + 1];
    int64_t number;
    int64_t idle_ms, retry_ms;
    bool in_trouble; /* The last call did not reach it, which was logged. */

    /* Receiving. */
    pthread_mutex_t receiving; /* Guards the rest, and is held while rows are applied. */
    char given[REPLICA_ID_SIZE + 1];
    int64_t last_number;
    struct job_batches batches;
};

struct replicas {
    struct replicas_options options;
    struct replica_peer_state *peers;
    size_t peer_count;
    pthread_mutex_t mutex; /* Guards the links and their state. */
    void (*run)(void *context, void (*task)(void *task_context), void *task_context);
    void *run_context;
    struct job_thread collector;
    bool is_started;
};

/* The link of a table at a peer; made if there is none. With the mutex held. NULL: too many. */
struct replica_link *replica_link_find_locked(struct replica_peer_state *peer,
                                              const struct replica_definition *group);
struct replica_peer_state *replica_peer_find(struct replicas *replicas, struct bytes region);

/* Frees the links of tables that the peer's thread has not seen for two rounds. With the mutex
 * held, on the peer's thread. */
void replica_links_drop_locked(struct replica_peer_state *peer);

/* The least closed time of this region in a group; 0: not all members have everything that was
 * there when they were added. With the mutex held. */
int64_t replica_own_low_locked(struct replicas *replicas, const struct replica_definition *group);

/* The rounds of threads: milliseconds until the next. */
int64_t replica_ship_round(void *peer);
int64_t replica_collect_round(void *replicas);

/* --- Changes of definitions, from threads --- */

enum replica_step {
    REPLICA_STEP_NOTE,     /* The member's queue has what was there before it. */
    REPLICA_STEP_ACTIVATE, /* The member has everything. */
    REPLICA_STEP_FORGET,   /* The member's table is gone. */
    REPLICA_STEP_LEAVE,    /* This region was disassociated, and nothing waits any more. */
    REPLICA_STEP_REMOVED,  /* Another member says that this region was taken out. */
    REPLICA_STEP_SWEEP,    /* Removes what waits for regions that are no members any more. */
    REPLICA_STEP_END,      /* The group has no other member. */
    REPLICA_STEP_DROP,     /* Nor was the table filled: it goes. */
};
/* Carries out a step on the control thread, unless the group has changed since `table` was read. */
MUST_CHECK enum engine_status replica_step_take(struct replicas *replicas,
                                                const struct table_definition *table,
                                                enum replica_step step, struct bytes region);

#endif
