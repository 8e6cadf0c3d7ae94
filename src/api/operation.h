/* operation.h -- what the operations' files share: how they are declared and how they end.
 *
 * An operation's function is called with its request read and validated by its shape. It checks
 * the rules that tie fields together, does the work, writes `call->response`, and ends the call in
 * exactly one of two ways: operation_succeed, or operation_fail after setting call->error.
 */
#ifndef STATOR_API_OPERATION_H
#define STATOR_API_OPERATION_H
#include <stdbool.h>
#include "api/api.h"
#include "api/operation_list.h"
#include "shape/shape.h"
#include "base/compiler.h"

struct advice_history;
struct alarms;
struct backups;
struct scaling;
struct scaling_driver;
struct control;
struct dashboards;
struct index_delay;
struct insights;
struct item;
struct job_runner;
struct json_writer;
struct replicas;
struct series_store;
struct shape_counter;
struct slow_log;
struct stack_driver;
struct stacks;
struct streams;
struct table;
struct table_definition;
struct table_stats;
struct ticker;
struct triggers;
struct destinations;
struct txn;
struct txn_conflicts;

enum operation_kind {
    OPERATION_DATA,    /* Runs on the caller's thread, and must not wait unless `waits` says so. */
    OPERATION_CONTROL, /* Runs on the control thread, one at a time, and may wait. */
};

/* About what access is decided before the operation runs: see operation_access.h. */
enum operation_asks {
    OPERATION_ASKS_NOBODY,   /* Refused where requests are authenticated. */
    OPERATION_ASKS_RESOURCE, /* The table or stream that the request names. */
    OPERATION_ASKS_ACCOUNT,  /* It is about no single resource. */
    OPERATION_ASKS_ITSELF,   /* The operation decides, once it knows its resources. */
};

struct operation {
    const char *name; /* Unique within its service. */
    enum operation_service service;
    /* The prefix of the actions that it asks for; NULL: the one of its service. */
    const char *actions_of;
    enum operation_kind kind;
    const struct shape *request; /* A SHAPE_STRUCTURE. */
    enum error_family family;    /* How it words faults of values and parameters. */
    enum operation_asks asks;
    /* OPERATION_ASKS_ITSELF of a control operation: decides before the call is queued whether its
     * caller can succeed at all, so that callers without rights do not fill the queue. */
    bool (*admits)(struct api_call *call, const void *request);
    bool only_lists;            /* OPERATION_CONTROL: it changes nothing. */
    bool reads_many;            /* It may go through a megabyte of items, or more. */
    bool only_reads;            /* Items: it never takes a latch. */
    enum operation_waits waits; /* OPERATION_DATA. */
    bool is_audited; /* OPERATION_DATA: it changes what the audit must tell, such as access keys. */
    bool hides_keys; /* PartiQL: Contributor Insights does not count its keys. */
    void (*run)(struct api_call *call, const void *request);
};

/* Pauses a call whose caller asked for that (api.h). `resume` continues, or releases everything and
 * fails with the call->error that api_cancel has set. */
void operation_pause(struct api_call *call, void (*resume)(struct api_call *call, bool cancelled),
                     void *state);

/* Has the call, which is passed as `context`, been asked to pause by now? */
bool operation_is_pause_due(const void *context, int64_t now_ns);

/* Defined in an op_*.c. */
#define DECLARE_OPERATION(identifier, name) extern const struct operation op_##identifier;
OPERATION_LIST(DECLARE_OPERATION)
#undef DECLARE_OPERATION

/* For fuzzers and tests that visit all operations. */
size_t operation_count(void);
const struct operation *operation_at(size_t index);

/* "dynamodb": the prefix of the actions that the operation asks for. */
const char *operation_action_prefix(const struct operation *operation);

struct catalogue *api_catalogue(const struct api *api);
struct slow_log *api_slow_log(const struct api *api);
/* Counts expressions for the adviser; NULL: switched off. */
struct advice_history *
api_advice_history(const struct api *api); /* The same of calls, by the hour. */
struct shape_counter *api_shapes(const struct api *api);
bool api_counts_shapes(const struct api *api);
struct streams *api_streams(const struct api *api);
struct insights *api_insights(const struct api *api);
struct control *api_control(const struct api *api);
/* Long work: backups, restores, exports, imports. */
struct job_runner *api_jobs(const struct api *api);
/* Where backups are stored. */
struct backups *api_backups(const struct api *api);
/* For the control thread, except for what triggers.h allows any thread. */
struct triggers *api_triggers(const struct api *api);
/* The same (kinesis/destinations.h). */
struct destinations *api_destinations(const struct api *api);
/* Replication with other regions; never NULL. */
struct replicas *api_replicas(const struct api *api);
/* Samples of metrics, for calls off the loops, and the thread that keeps them. */
struct series_store *api_series(const struct api *api);
struct ticker *api_ticker(const struct api *api);
/* Not for event loops, both. */
struct alarms *api_alarms(const struct api *api);
struct scaling *api_scaling(const struct api *api);
struct scaling_driver *api_scaling_driver(const struct api *api);
/* Stacks of CloudFormation, and files that were uploaded for them. */
struct stacks *api_stacks(const struct api *api);
struct stack_driver *api_stack_driver(const struct api *api);
struct dashboards *api_dashboards(const struct api *api);
const struct api_options *api_options(const struct api *api);
int64_t api_opened_ms(const struct api *api);               /* Server time. */
struct index_delay *api_index_delay(const struct api *api); /* NULL: none. */
/* NULL unless conflicts are to be refused. */
struct txn_conflicts *api_conflicts(const struct api *api);

/* Sets the fields that every write of items shares; the rest is zero. */
void operation_txn_init(struct txn *txn, struct api_call *call);

void operation_succeed(struct api_call *call);
void operation_fail(struct api_call *call);
void operation_end(struct api_call *call, bool ok); /* Either of the two. */
/* For the adviser: a transaction of one item costs twice as much as a request that does the same.
 */
void operation_note_single_transaction(struct api_call *call);

/* Ends a call whose write has ended: with the answer or the refusal that was decided, or with the
 * exception for the engine's status; details go to the log. */
void operation_end_engine(struct api_call *call, enum engine_status status);

/* Makes room for the tables of a request that may name several. A call without this has room for
 * one. */
void operation_expect_tables(struct api_call *call, size_t count_max);
/* The table of that name or ARN, whatever its status. It is the next of call->uses, and the call
 * holds it until it ends. NULL: there is none, which the client must not learn before access was
 * decided: operation_check_table reports it. */
struct table *operation_find_table(struct api_call *call, struct bytes name_or_arn);
/* The same for a call that ends on the thread that runs it: it writes to no memory that other cores
 * write. */
struct table *operation_borrow_table(struct api_call *call, struct bytes name_or_arn);
/* Lets go of the call's tables before its end: of versions that were just replaced. */
void operation_release_tables(struct api_call *call);
/* False with the service's error set if the last table that was not found is one of another region
 * or account. operation_check_table asks. */
MUST_CHECK bool operation_is_own(struct api_call *call);
/* False with the service's error set if `table` is NULL or its items cannot be used yet, or any
 * more. */
MUST_CHECK bool operation_check_table(struct api_call *call, const struct table *table);
/* The table's name within "arn:aws:dynamodb:region:account:table/NAME", or the argument itself if
 * it is no ARN. */
struct bytes operation_table_name(struct bytes name_or_arn);
/* "arn:aws:dynamodb:<region>:<account>:table/<name>", in the call's arena. */
struct bytes operation_table_arn(struct api_call *call, struct bytes name);
/* The numbers of items and their sizes, as DescribeTable shows them: of the table, and of each
 * index in their order. False with call->error set if the store cannot be read. */
MUST_CHECK bool operation_table_stats(struct api_call *call, const struct table *table,
                                      struct table_stats *stats, struct table_stats *indexes);

/* Refuses an item that is too large to be put: by itself if `table` is NULL, else together with its
 * entry in a local index of the table. */
MUST_CHECK bool operation_check_item_size(struct api_call *call,
                                          const struct table_definition *table,
                                          const struct item *item);
bool operation_refuse_item_size(struct error *err); /* Returns false. */

/* Reports the broken rule of a request's attribute values in its turn; NULL: there is none. */
MUST_CHECK bool operation_check_rule(struct api_call *call, const struct error *rule);

#endif
