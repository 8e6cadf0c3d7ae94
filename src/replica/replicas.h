/* replicas.h -- replication between this server and those of other regions: one thread for each
 * peer, the state of each link, and the rows that others send.
 *
 * Sending. A thread goes through the tables that its peer has replicas of. The queue of the peer
 * (table/replica_stamp.h) names the items whose state it may lack; they are sent as they are now,
 * with their stamps, and leave the queue when the peer has made them durable. Before a pass over a
 * queue a cut is made (history/history_cut.h): when the pass is complete, the peer has everything
 * of this region up to that moment, which is the link's closed time.
 *
 * Collecting. The low time of a region is the least of its closed times: every other region has
 * what it wrote up to then. What is at or below the low times of all regions has arrived
 * everywhere, so nothing older can come any more: stamps up to there are removed. None are while a
 * member is CREATING, and none before every member has spoken in the newest epoch.
 *
 * Messages that come late. Rows are only taken within a session, which the receiver gives out when
 * it starts, and in the order of their numbers, which go on when the sender restarts. So a request
 * that was held up on the way, and repeated meanwhile, is refused: what it says may be older than
 * what was collected.
 */
#ifndef STATOR_REPLICA_REPLICAS_H
#define STATOR_REPLICA_REPLICAS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "replica/replica_client.h"
#include "table/replica_stamp.h"

struct arena;
struct catalogue;
struct clock;
struct replica_member;
struct replicas;
struct table;
struct table_definition;

enum {
    REPLICA_ROWS_MAX = 256,                  /* Of one request. */
    REPLICA_ROWS_SIZE_MAX = 2 * 1024 * 1024, /* And their bytes; one row may be larger. */
    REPLICA_TURN_PAGES = 16,   /* Requests for one table; then it is the next table's turn. */
    REPLICA_IDLE_MS = 20,      /* Between two looks at empty queues, at first, */
    REPLICA_IDLE_MS_MAX = 200, /* and at last. */
    REPLICA_HEARTBEAT_MS = 500,
    REPLICA_RETRY_MS = 200, /* After a failure, doubled each time, */
    REPLICA_RETRY_MS_MAX = 5000,
    REPLICA_COLLECT_MS = 500,
    REPLICA_COLLECT_MAX = 4096, /* Stamps looked at in a table between two looks for the end. */
    REPLICA_LINKS_MAX = 10000,  /* Tables of one peer. */
    REPLICA_EXPIRY_DELAY_S = 60,
};

/* Of epochs and of requests in a session. Greater ones are refused, so that counting on is safe. */
#define REPLICA_NUMBER_MAX (INT64_C(1) << 53)

struct replicas_options {
    struct engine *engine;
    const struct clock *clock;
    struct catalogue *catalogue;
    struct bytes region;
    const struct replica_peer *peers;
    size_t peer_count;
    struct replica_outside outside;
    /* A power cut may take back what was acknowledged: nothing is sent, and nothing is taken. */
    bool loses_writes;
    /* Rows stamped so much ahead of the own clock wait. */
    int64_t skew_max_us;
};

/* Borrows all; NULL never. Threads start with replicas_start. */
struct replicas *replicas_create(const struct replicas_options *options);
/* `run` carries out a function on the control thread and waits for it (control_run). */
void replicas_start(struct replicas *replicas,
                    void (*run)(void *context, void (*task)(void *task_context),
                                void *task_context),
                    void *context);
/* Ends the threads. Before the control thread ends. */
void replicas_stop(struct replicas *replicas);
void replicas_destroy(struct replicas *replicas); /* Destroying NULL is allowed. */

const struct replicas_options *replicas_get_options(const struct replicas *replicas);
/* NULL: there is no such peer. */
const struct replica_peer *replicas_find_peer(const struct replicas *replicas, struct bytes region);

/* --- The state of links; any thread --- */

/* The moment up to which this region has everything that was written in all regions of the table;
 * 0: unknown. Items that expired until then may be deleted. */
int64_t replicas_complete_us(struct replicas *replicas, const struct table_definition *table);
/* For the expiry job: the last second at which items of the table may expire now. The first region
 * by name deletes at once, the others delete the rest a minute later. */
int64_t replicas_expiry_limit(void *replicas, const struct table_definition *table, int64_t to);
/* The moment up to which all regions have everything; 0: unknown. */
int64_t replicas_low_us(struct replicas *replicas, const struct table_definition *table);

struct replica_link_state {
    int64_t closed_us;      /* What was written here until then is there. */
    int64_t received_us;    /* What was written there until then is here. */
    int64_t rows_sent;      /* Since the start. */
    int64_t latency_max_us; /* Of those, from their stamp until they were durable there. */
    int64_t ahead_us;       /* How far its clock is ahead of ours, as last heard. */
    bool is_reached;        /* The last call was answered. */
};
/* False if nothing is known of the link. */
bool replicas_link_state(struct replicas *replicas, const struct table_definition *table,
                         struct bytes region, struct replica_link_state *out);

/* Whether `member` of the table, which may be this region, is CREATING, and the region that fills
 * it does not answer. Not before it was called. */
bool replicas_lost_source(struct replicas *replicas, const struct table_definition *table,
                          const struct replica_member *member);

/* Of rows written here, from their stamps until they were durable in the region. */
struct replica_latency {
    int64_t count;
    int64_t sum_us, min_us, max_us;
};
/* What was sent since the last call, of which there may be one caller. False if nothing was. */
bool replicas_take_latency(struct replicas *replicas, const struct table_definition *table,
                           struct bytes region, struct replica_latency *out);

/* Of a peer, over all tables. */
struct replicas_peer_statistics {
    struct bytes region;
    bool is_reached;
    size_t table_count;   /* Those of which something is known. */
    size_t refused_count; /* Those of them that the peer refused the last time. */
    uint64_t rows_sent;   /* Since the start. */
    int64_t closed_us; /* What was written here until then is there, of all tables; 0: unknown. */
};
/* Of the peer with that index; false: there is none. */
bool replicas_read_statistics(struct replicas *replicas, size_t index,
                              struct replicas_peer_statistics *out);

/* --- Rows from another region --- */

struct replica_row {
    struct replica_stamp stamp; /* commit_us 0: a row without one. */
    struct bytes item;          /* In its stored encoding; data NULL: deleted. */
    struct bytes key;           /* Deleted: the stored key. */
};
struct replica_batch {
    struct bytes from, to; /* The regions. */
    struct bytes session;
    int64_t number;
    int64_t epoch;   /* Of the sender's group. */
    int64_t time_us; /* Of the sender's clock. */
    int64_t closed_us;
    int64_t low_us;
    const struct replica_row *rows;
    size_t row_count;
};
enum replica_verdict {
    REPLICA_APPLIED,
    REPLICA_NEW_SESSION, /* Nothing was done: `session` is to be used from now on. */
    REPLICA_TOO_EARLY,   /* A row is from the future, more than is allowed. */
    REPLICA_BAD_ROW,     /* A row is none. */
    REPLICA_NO_MEMBER,   /* The sender is not of the group. */
    REPLICA_NOT_DURABLE, /* The server may lose what it acknowledges. */
    REPLICA_NOT_STORED,  /* See `status`. */
};
struct replica_outcome {
    enum replica_verdict verdict;
    struct bytes session; /* In the arena. */
    int64_t number;       /* The last that was taken: the next must be greater. */
    enum engine_status status;
};
/* Waits for the disk, and for other batches of the sender. */
struct replica_outcome replicas_receive(struct replicas *replicas, struct arena *arena,
                                        const struct table *table,
                                        const struct replica_batch *batch);

#endif
