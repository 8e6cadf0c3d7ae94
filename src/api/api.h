/* api.h -- the database behind its one door: an operation's name and a JSON body in, JSON out.
 *
 * No socket is needed: the server, the embeddable library, the fuzzers and the benchmarks all
 * come through here.
 */
#ifndef STATOR_API_API_H
#define STATOR_API_API_H
#include <stdbool.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "control/split_life.h"
#include "engine/engine.h"
#include "model/error.h"
#include "model/table_definition.h"

struct admission;
struct api;
struct api_call;
struct arena;
struct call_faults;
struct caller;
struct capacity_use;
struct catalogue;
struct clock;
struct expression_shape;
struct faults;
struct live_keys;
struct meter;
struct model_note;
struct kinesis_outside;
struct replica_outside;
struct replica_peer;
struct object_store;
struct operation;
struct shape;
struct tag_list;
struct trigger_outside;
struct txn_group;

/* How a call ended. */
struct api_outcome {
    enum error_code error; /* ERROR_NONE: it succeeded. */
    int64_t elapsed_ns;    /* Since it started. */
};

/* What an account may have, in units per second. */
struct api_quotas {
    int64_t table_read_units; /* Of a table, and of an index. */
    int64_t table_write_units;
    int64_t account_read_units; /* Provisioned for all tables and indexes together. */
    int64_t account_write_units;
};

#define API_QUOTAS_DEFAULT                                                                         \
    {                                                                                              \
        .table_read_units = 40000, .table_write_units = 40000, .account_read_units = 80000,        \
        .account_write_units = 80000                                                               \
    }

struct api_options {
    struct engine *engine; /* Borrowed; must outlive the api. */
    const struct clock *clock;
    const char *region;     /* For ARNs. */
    const char *account_id; /* For ARNs: 12 digits. */
    /* The regions of other servers that may have replicas of tables. Borrowed. */
    const struct bytes *peer_regions;
    size_t peer_region_count;
    int64_t transition_ms;  /* How long CREATING, UPDATING and DELETING last; 0: not at all. */
    int64_t index_delay_ms; /* How far reads of global indexes lag behind; 0: not at all. */
    int64_t item_collection_size_max; /* 0: the service's, ITEM_COLLECTION_SIZE_MAX. */
    uint64_t read_work_max;           /* Of one page; 0: READ_PAGE_WORK_MAX of read/read_page.h. */
    /* A transaction or single write that meets an item of a transaction under way is refused at
     * once, instead of waiting for its turn. */
    bool refuse_conflicts;
    bool refuse_foreign_resources; /* Of templates, instead of skipping them. */
    int64_t rollover_ms;           /* How long a shard of a stream is open; 0: for good. */
    struct split_limits splits;    /* When partitions of tables with a stream split. */
    int64_t recovery_lag_ms;       /* How far LatestRestorableDateTime is behind now. */
    int64_t expiry_interval_ms;    /* How often expired items are deleted; 0: never. */
    /* How often metrics are stored and alarms are evaluated; 0: only by ticker_run. */
    int64_t metrics_interval_ms;
    size_t metrics_series_max; /* Of cloudwatch/series.h; 0: its default. */
    int64_t metrics_size_max;  /* The same. */
    size_t alarms_max;         /* Of cloudwatch/alarms.h; 0: its default. */
    size_t alarm_history_max;  /* The same. */
    size_t dashboards_max;     /* Of cloudwatch/dashboards.h; 0: its default. */
    /* What becomes of requests beyond the throughput of a table that has no tag of its own.
     * CAPACITY_UNSET: CAPACITY_ACCOUNT. */
    enum capacity_setting capacity;
    struct api_quotas quotas; /* Of zeros: the service's defaults. */
    /* How triggers, and actions of alarms, reach their endpoints; NULL: triggers are stored and
     * none is run, and actions wait. */
    const struct trigger_outside *trigger_outside;
    /* How Kinesis destinations reach Kinesis; NULL: enabling one fails. */
    const struct kinesis_outside *kinesis_outside;
    /* Servers of other regions, for replicas of tables; NULL: there are none. Borrowed. */
    const struct replica_peer *replica_peers;
    size_t replica_peer_count;
    const struct replica_outside *replica_outside;
    /* The store was made from a backup: other regions know what it does not know any more, so its
     * tables leave their groups. */
    bool is_restored;
    /* A power cut may take back acknowledged writes (durability "os"): no table has replicas. */
    bool loses_writes;
    int64_t replica_skew_max_ms;  /* How far ahead of the own clock rows may be stamped. */
    int64_t kinesis_retention_ms; /* How long a record may wait for delivery; 0: for ever. */
    /* Called once at the end of every call, before `done`, on the thread that ends it; must not
     * wait. The call's tables are still held. NULL: nobody observes. */
    void (*observe)(void *context, const struct api_call *call, const struct api_outcome *outcome);
    void *observe_context;
    /* Where on-demand backups are stored: in a bucket of an object store (borrowed), or in the
     * folder "backups" of a folder, such as the data directory. NULL: in a temporary one. */
    struct object_store *backup_store;
    const char *backup_bucket;
    const char *backup_folder;
    size_t insight_keys;     /* Keys that a rule of Contributor Insights keeps apart; 0: 256. */
    size_t insight_rules;    /* Of all tables together; 0: 100. */
    int64_t slow_request_ms; /* Requests that take as long are kept for GetSlowRequests; 0: none. */
    size_t metric_tables_max; /* Tables counted one by one; 0: METER_TABLES_DEFAULT. */
    size_t advice_shapes;     /* Shapes of expressions that the adviser counts; 0: none. */
    /* Faults to inject into requests. Borrowed; NULL: fault injection is off. */
    struct faults *faults;
    /* The access keys. Borrowed; NULL: requests are not authenticated. */
    struct live_keys *keys;
    /* The buckets that exports, imports and bulk operations use; NULL: none is there. */
    struct object_store *objects;
    const char *imports_folder; /* For the errors of imports; NULL: they are only counted. */
};

/* NULL with the engine's status if the catalogue cannot be read, or ENGINE_UNSUPPORTED if the
 * engine lacks ENGINE_GLOBAL_ATOMIC. Starts the control thread. */
MUST_CHECK struct api *api_open(const struct api_options *options, enum engine_status *status);
/* Finishes what is under way. Closing NULL is allowed. */
void api_close(struct api *api);

/* The parts of the service, which name their operations under different prefixes. */
enum operation_service {
    OPERATION_OF_DYNAMODB,
    OPERATION_OF_STREAMS,
    OPERATION_OF_STATOR, /* Our own. */
    OPERATION_OF_CLOUDWATCH,
    OPERATION_OF_STS,
    OPERATION_OF_SCALING, /* Application Auto Scaling. */
    OPERATION_OF_CLOUDFORMATION,
    OPERATION_OF_SSM, /* Systems Manager: parameters. */
    OPERATION_OF_S3,  /* For the files that deployments upload. */
    OPERATION_SERVICE_COUNT,
};

/* NULL if the service has no such operation. Names are without a prefix: "PutItem". */
const struct operation *operation_find(enum operation_service service, struct bytes name);
/* By the name that policies have for it: "cloudwatch:ListMetrics". Without a prefix: an operation
 * of DynamoDB, of its streams, or our own. For tests, fuzzers and benchmarks. */
const struct operation *operation_find_action(struct bytes action);
/* The prefix of a service's actions in policies: "dynamodb". */
const char *operation_service_prefix(enum operation_service service);
enum operation_service operation_service(const struct operation *operation);
/* The shape of its request, a SHAPE_STRUCTURE. */
const struct shape *operation_request(const struct operation *operation);
const char *operation_name(const struct operation *operation);
/* Whether it may read so much that it takes milliseconds. */
bool operation_reads_many(const struct operation *operation);
/* Whether it only reads items, and so holds nothing that a write may wait for. */
bool operation_only_reads(const struct operation *operation);
/* Whether it sleeps or computes for long, and what others may wait for meanwhile. This decides on
 * which threads it may run, and with which priority (call/call_runner.h). */
enum operation_waits {
    /* Never: any thread may run it. Its writes of items go through the thread's group, in which
     * they wait without a thread. */
    OPERATION_WAITS_NOT,
    /* For the disk, a lock or another thread; or it computes for long. Nobody waits for it but its
     * client: it holds no latch of an item. */
    OPERATION_WAITS,
    /* The same, and it also decides about items under their latches, on the thread that runs it. So
     * other writers wait for that thread. */
    OPERATION_WAITS_AND_WRITES,
};
enum operation_waits operation_waits(const struct operation *operation);
/* Whether it changes tables or access keys, rather than items. */
bool operation_is_audited(const struct operation *operation);

/* Which units of provisioned throughput an UpdateTable is about. */
enum api_own_units {
    API_ALL_UNITS,
    API_OWN_READ_UNITS,
    API_OWN_WRITE_UNITS,
};

/* One request. The caller sets the first part and keeps everything alive until `done`. */
struct api_call {
    struct arena *arena; /* Used by one thread at a time: the one that runs the call. */
    const struct operation *operation;
    struct bytes body;
    /* Who sent the request, and may do what its policies allow; NULL: everything is allowed. */
    const struct caller *caller;
    /* Of the thread that runs the call: its writes are collected there and carried out together,
     * and wait there for others. NULL: the thread itself waits. */
    struct txn_group *group;
    /* For a thread that must not be kept busy: a call that reads many items stops some time after
     * `pause_at_ns` of clock_monotonic_ns, and `paused` is called instead of `done`. The caller
     * then owes an api_resume or an api_cancel. NULL: the call runs to its end. */
    void (*paused)(struct api_call *call);
    int64_t pause_at_ns;
    size_t pause_at_size; /* Or when `response` has so many bytes. */
    /* For the same threads: called instead of `done` when a transaction turns out to be about large
     * items, before anything is done. The caller owes an api_resume on another thread, whose
     * `group` it has set, or an api_cancel. NULL: it is carried out where it is. */
    void (*too_large)(struct api_call *call);
    int64_t started_ns; /* When the request arrived: api_start_ns. 0: when it is run. */
    /* Tags that the server itself adds to a table that is created, sorted: of a stack; NULL: none.
     */
    const struct tag_list *own_tags;
    /* DeleteTable deletes only the table with this id. data NULL: whichever has the name. */
    struct bytes own_table_id;
    /* UpdateTable changes only the read or the write units: whatever the request says of the other
     * ones, they stay as they are when the call runs. */
    enum api_own_units own_units;
    struct bytes host; /* "host:port" as the client addressed us; data NULL: not over a network. */
    /* Called exactly once, on any thread, perhaps before api_run returns. Must not block. Then
     * either `error` is set or `response` holds the answer's JSON. */
    void (*done)(struct api_call *call);

    struct error error;
    struct buffer response;
    /* With a caller: the ARN of the last access decision, or "*"; data NULL: there was none. */
    struct bytes resource;
    /* What becomes of the answer, by fault injection: */
    bool is_cut;      /* it is not sent, and the connection is closed; */
    int64_t delay_ms; /* or it waits so long; 0: no fault. */
    bool denied;      /* Something was refused, perhaps one statement of several. */
    bool asked;       /* With a caller: access was decided, or there was nothing to decide. */
    /* What was done to each of the call's tables, in items and units: see capacity.h. Complete when
     * the call ends; in the order in which the tables were looked up. */
    struct capacity_use *uses;
    size_t use_count;
    /* What its expressions look like, for the adviser; NULL: it has none that are counted. */
    struct expression_shape *shape;
    struct model_note *model_notes; /* What breaks models; NULL: nothing. */
    uint32_t pause_count;           /* How often it has paused. */
    int64_t queue_ns;               /* Set by the caller: how long it waited in queues. */
    uint32_t batch_count; /* Items or statements of a batch or transaction; 0: it is none. */
    uint8_t verb;         /* enum meter_verb, of PartiQL. */

    /* The api's own while the call is under way. */
    struct api *api;
    struct admission *admission; /* NULL: no limit of any of its tables is enforced. */
    struct call_faults *faults;  /* NULL: none of its tables has any. */
    bool is_all_throttled;       /* Limits refused every statement of a batch. */
    bool has_uncounted;          /* The units of one of its tables are not counted. */
    bool is_injected;            /* It failed by a fault, which is counted apart. */
    void *request;
    size_t use_max;           /* Room in `uses`. */
    struct bytes foreign_arn; /* Names a table of another region or account; data NULL: none. */
    void (*resume)(struct api_call *call, bool cancelled); /* Of a paused one; else NULL. */
    void *resume_state;
};

/* The time now, by clock_monotonic_ns. */
int64_t api_start_ns(const struct api *api);
/* Has counted every call that ended (metric/meter.h). Lives as long as the api. */
struct meter *api_meter(const struct api *api);
void api_run(struct api *api, struct api_call *call);
/* Ends a call that is not run because `error` is set already, such as one without rights. */
void api_refuse(struct api *api, struct api_call *call);
/* Resumes a paused call, until it pauses again or ends. Any thread may do so, one at a time. */
void api_resume(struct api_call *call);
/* Ends a paused call whose client has gone: with an error, by `done`. On any thread. */
void api_cancel(struct api_call *call);

/* For a thread that runs many calls in a row: their writes cost less together, and the thread does
 * not wait for the writes of others. The next api_group_run carries out each write of the group, at
 * the latest. A write that has to wait is carried out by an api_group_resume; `wake` is called when
 * that is due. See txn/txn_group.h. */
struct txn_group *api_group_create(void (*wake)(void *context), void *context);
void api_group_destroy(struct txn_group *group); /* No call may be in it. NULL is allowed. */
void api_group_run(struct txn_group *group);
void api_group_resume(struct txn_group *group);

#endif
