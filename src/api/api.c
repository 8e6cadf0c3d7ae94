/* api.c -- one call from its body to its end: read, validate, run, answer. */
#include "api/api.h"
#include <assert.h>
#include <stdlib.h>
#include "access/access.h"
#include "advice/advice_history.h"
#include "advice/shape_counter.h"
#include "api/admission.h"
#include "api/advice/shape_note.h"
#include "api/backup/backup_job.h"
#include "api/backup/backups.h"
#include "api/backup/restore_job.h"
#include "api/backup/system_backup.h"
#include "api/call_meter.h"
#include "api/import/bulk_job.h"
#include "api/import/import_job.h"
#include "api/export/export_job.h"
#include "api/capacity.h"
#include "api/cloudformation/stack_driver.h"
#include "api/key_use.h"
#include "api/model/model_scan.h"
#include "api/model/model_watch.h"
#include "api/kinesis/destination_metrics.h"
#include "api/replica/replication_metrics.h"
#include "api/operation.h"
#include "api/operation_access.h"
#include "api/scaling/scaling_driver.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/timed_wait.h"
#include "cloudformation/stacks.h"
#include "cloudwatch/alarm_source.h"
#include "cloudwatch/alarms.h"
#include "cloudwatch/collector.h"
#include "cloudwatch/dashboards.h"
#include "cloudwatch/series.h"
#include "cloudwatch/ticker.h"
#include "control/control.h"
#include "engine/engine.h"
#include "history/commit_ceiling.h"
#include "history/history_holds.h"
#include "insight/insights.h"
#include "jobs/job_runner.h"
#include "kinesis/destinations.h"
#include "replica/replica_group.h"
#include "replica/replicas.h"
#include "object/object_store.h"
#include "model/limits.h"
#include "read/index_delay.h"
#include "scaling/scaling.h"
#include "shape/shape.h"
#include "stream/streams.h"
#include "table/catalogue.h"
#include "table/storage_error.h"
#include "trigger/triggers.h"
#include "txn/txn.h"
#include "txn/txn_conflicts.h"
#include "txn/txn_group.h"

struct api {
    struct api_options options;
    struct catalogue *catalogue;
    struct streams *streams;
    struct triggers *triggers; /* Control thread only. */
    struct replicas *replicas;
    struct destinations *destinations;
    struct destination_metrics *destination_metrics;
    struct control *control;
    struct index_delay *index_delay; /* NULL: none. */
    struct txn_conflicts *conflicts; /* NULL: writes wait for one another. */
    struct call_meter *call_meter;
    struct series_store *series;
    struct collector *collector;
    struct ticker *ticker;
    struct alarms *alarms;
    struct scaling *scaling;
    struct scaling_driver *scaling_driver;
    struct stacks *stacks;
    struct stack_driver *stack_driver;
    struct dashboards *dashboards;
    struct insights *insights;
    struct job_runner *jobs;
    struct advice_history *advice_history;
    struct shape_counter *shapes;    /* NULL: expressions are not counted. */
    struct object_store *no_objects; /* For a server without buckets: all are missing. */
    struct export_job_options exports;
    struct backups *backups;
    struct history_holds *holds;
    int64_t opened_ms;
};

static struct triggers *open_triggers(const struct api_options *options, struct streams *streams,
                                      enum engine_status *status)
{
    struct trigger_runner_options triggers = { .engine = options->engine,
                                               .streams = streams,
                                               .clock = options->clock,
                                               .region = options->region,
                                               .account_id = options->account_id };
    if (options->trigger_outside != NULL)
        triggers.outside = *options->trigger_outside;
    return triggers_open(&triggers, status);
}

static struct destinations *open_destinations(const struct api_options *options,
                                              struct streams *streams, enum engine_status *status)
{
    struct kinesis_runner_options destinations = { .engine = options->engine,
                                                   .streams = streams,
                                                   .clock = options->clock,
                                                   .region = options->region };
    if (options->kinesis_outside != NULL)
        destinations.outside = *options->kinesis_outside;
    return destinations_open(&destinations, status);
}

/* Policies of resources are compiled when a definition is read, not when a request comes. */
static const void *compile_policies(struct arena *arena, const struct table_definition *definition)
{
    return access_compile(arena, definition);
}

static struct series_store *open_series(const struct api_options *options,
                                        enum engine_status *status)
{
    return series_store_open(
        &(struct series_store_options){ .engine = options->engine,
                                        .clock = options->clock,
                                        .series_max = options->metrics_series_max,
                                        .size_max = options->metrics_size_max },
        status);
}

/* Alarms use the network of triggers. */
static struct alarms *open_alarms(const struct api_options *options, struct series_store *series,
                                  enum engine_status *status)
{
    struct alarm_source *source = alarm_source_create(series);
    struct alarms_options alarms = { .engine = options->engine,
                                     .clock = options->clock,
                                     .region = options->region,
                                     .account_id = options->account_id,
                                     .alarms_max = options->alarms_max,
                                     .history_max = options->alarm_history_max,
                                     .read = alarm_source_read,
                                     .read_end = alarm_source_end,
                                     .read_destroy = alarm_source_destroy,
                                     .read_context = source };
    if (options->trigger_outside != NULL) {
        alarms.outside.network = options->trigger_outside->network;
        alarms.outside.send = options->trigger_outside->send;
    }
    return alarms_open(&alarms, status);
}

static struct dashboards *open_dashboards(const struct api_options *options,
                                          enum engine_status *status)
{
    return dashboards_open(
        &(struct dashboards_options){ .engine = options->engine,
                                      .clock = options->clock,
                                      .dashboards_max = options->dashboards_max },
        status);
}

static int64_t tick_alarms(void *context, int64_t now_ms)
{
    return alarms_tick(context, now_ms);
}

static int64_t store_insights(void *context, int64_t now_ms)
{
    struct api *api = context;
    insights_tick(api->insights, api->catalogue, now_ms); /* It logs its failures. */
    return TIMED_WAIT_FOREVER;
}

static int64_t note_for_advice(void *context, int64_t now_ms)
{
    advice_history_tick(context, now_ms);
    return TIMED_WAIT_FOREVER;
}

/* What counts beside the meter: keys, and expressions. */
static void start_counting(struct api *api)
{
    api->insights =
        insights_create(&(struct insights_options){ .engine = api->options.engine,
                                                    .keys_max = api->options.insight_keys,
                                                    .rules_max = api->options.insight_rules });
    api->advice_history = advice_history_create(api_meter(api), clock_wall_ms(api->options.clock));
    if (api->options.advice_shapes > 0)
        api->shapes = shape_counter_create(api->options.advice_shapes);
}

/* Once all of the api is there: hooks of the ticker may use it. */
static void start_monitoring(struct api *api)
{
    const struct api_quotas *quotas = &api->options.quotas;
    api->collector = collector_create(&(struct collector_options){
        .store = api->series,
        .meter = api_meter(api),
        .catalogue = api->catalogue,
        .clock = api->options.clock,
        .account_units_max = { quotas->account_read_units, quotas->account_write_units },
        .table_units_max = { quotas->table_read_units, quotas->table_write_units } });
    api->ticker =
        ticker_create(&(struct ticker_options){ .store = api->series,
                                                .collector = api->collector,
                                                .clock = api->options.clock,
                                                .interval_ms = api->options.metrics_interval_ms });
    ticker_add_hook(api->ticker, tick_alarms, api->alarms);
    ticker_add_hook(api->ticker, store_insights, api);
    ticker_add_hook(api->ticker, note_for_advice, api->advice_history);
    api->destination_metrics = destination_metrics_create(api->destinations, api->series);
    ticker_add_hook(api->ticker, destination_metrics_tick, api->destination_metrics);
    ticker_add_hook(api->ticker, replication_metrics_tick, api);
    api->scaling_driver = scaling_driver_create(api);
    alarms_set_scaler(api->alarms, scaling_driver_accept, api->scaling_driver);
    ticker_add_hook(api->ticker, scaling_driver_round, api->scaling_driver);
    if (api->options.metrics_interval_ms > 0)
        ticker_start(api->ticker);
}

/* Stores what was counted since the last round. The ticker has stopped, and so has the control
 * thread, whose calls use alarms and scaling policies. */
static void close_monitoring(struct api *api)
{
    if (api->options.metrics_interval_ms > 0 && collector_flush(api->collector) != ENGINE_OK)
        log_write(LOG_WARN, "metrics", "the metrics of the last minute could not be stored");
    if (api->options.metrics_interval_ms > 0) /* The open minute as well. */
        store_insights(api, clock_wall_ms(api->options.clock) + INSIGHTS_MINUTE_MS);
    ticker_destroy(api->ticker);
    alarms_close(api->alarms); /* Its threads ask the scaling driver. */
    scaling_driver_destroy(api->scaling_driver);
    scaling_close(api->scaling);
    dashboards_close(api->dashboards);
    collector_destroy(api->collector);
    series_store_close(api->series);
}

/* The data of a dropped table stays while a job reads it. */
static bool is_read_by_job(void *context, uint64_t table_id)
{
    const struct api *api = context;
    return history_holds_has_table(api->holds, table_id);
}

/* A table with recovery becomes a backup. */
static enum engine_status keep_dropped(void *context, struct arena *arena,
                                       const struct table_definition *definition,
                                       struct engine_write *write, bool *is_kept)
{
    const struct api *api = context;
    return system_backup_keep(&api->options, arena, definition, write, is_kept);
}

static struct job_runner *open_jobs(const struct api_options *options, struct history_holds *holds,
                                    enum engine_status *status)
{
    return job_runner_open(&(struct job_runner_options){ .engine = options->engine,
                                                         .clock = options->clock,
                                                         .holds = holds },
                           status);
}

/* Every kind of long work registers here. Jobs that were interrupted resume. */
static void start_jobs(struct api *api)
{
    const struct job_kind import = import_job_kind(api);
    job_runner_register(api->jobs, &import);
    const struct job_kind bulk = bulk_job_kind(api);
    job_runner_register(api->jobs, &bulk);
    const struct job_kind model_scan = model_scan_kind(api);
    job_runner_register(api->jobs, &model_scan);
    static const struct object_store_options no_buckets;
    char message[OBJECT_MESSAGE_MAX];
    api->no_objects = object_store_open(&no_buckets, message);
    struct object_store *objects =
        api->options.objects != NULL ? api->options.objects : api->no_objects;
    api->exports = (struct export_job_options){ .api = api,
                                                .objects = objects,
                                                .region = api->options.region,
                                                .account_id = api->options.account_id };
    const struct job_kind exports = export_job_kind(&api->exports);
    job_runner_register(api->jobs, &exports);
    const struct job_kind kinds[] = {
        { .letter = JOB_BACKUP,
          .name = "backup",
          .active_max = BACKUP_JOBS_MAX + BACKUP_REMOVALS_MAX,
          .run = backup_job_run,
          .context = api },
        { .letter = JOB_RESTORE,
          .name = "restore",
          .active_max = RESTORE_JOBS_MAX,
          .run = restore_job_run,
          .context = api },
    };
    api->backups =
        backups_create(&(struct backups_options){ .clock = api->options.clock,
                                                  .store = api->options.backup_store,
                                                  .bucket = api->options.backup_bucket,
                                                  .folder = api->options.backup_folder });
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        job_runner_register(api->jobs, &kinds[i]);
    job_runner_start(api->jobs);
}

static void set_quotas(struct api_quotas *quotas)
{
    const struct api_quotas defaults = API_QUOTAS_DEFAULT;
    if (quotas->table_read_units == 0)
        quotas->table_read_units = defaults.table_read_units;
    if (quotas->table_write_units == 0)
        quotas->table_write_units = defaults.table_write_units;
    if (quotas->account_read_units == 0)
        quotas->account_read_units = defaults.account_read_units;
    if (quotas->account_write_units == 0)
        quotas->account_write_units = defaults.account_write_units;
}

static void set_defaults(struct api_options *options)
{
    if (options->item_collection_size_max == 0)
        options->item_collection_size_max = ITEM_COLLECTION_SIZE_MAX;
    if (options->capacity == CAPACITY_UNSET)
        options->capacity = CAPACITY_ACCOUNT;
    set_quotas(&options->quotas);
}

/* And makes commit times resume where they were. */
static struct catalogue *open_catalogue(const struct api_options *options,
                                        enum engine_status *status)
{
    struct catalogue *catalogue =
        catalogue_open_attaching(options->engine, compile_policies, status);
    if (catalogue != NULL)
        *status = commit_ceiling_load(options->engine, options->clock);
    if (catalogue != NULL && *status == ENGINE_OK && options->is_restored)
        *status = replica_group_leave_all(catalogue);
    return catalogue;
}

/* For the threads of replication. */
static void run_on_control(void *context, void (*task)(void *task_context), void *task_context)
{
    control_run(context, task, task_context);
}

static struct replicas *open_replicas(const struct api_options *options,
                                      struct catalogue *catalogue)
{
    struct replicas_options replicas = { .engine = options->engine,
                                         .clock = options->clock,
                                         .catalogue = catalogue,
                                         .region = bytes_from_text(options->region),
                                         .peers = options->replica_peers,
                                         .peer_count = options->replica_peer_count,
                                         .loses_writes = options->loses_writes,
                                         .skew_max_us = options->replica_skew_max_ms * 1000 };
    if (options->replica_outside != NULL)
        replicas.outside = *options->replica_outside;
    return replicas_create(&replicas);
}

static void start_control(struct api *api)
{
    const struct api_options *options = &api->options;
    catalogue_set_keeper(api->catalogue, &(struct catalogue_keeper){ .keep = keep_dropped,
                                                                     .is_read = is_read_by_job,
                                                                     .context = api });
    api->control = control_start(
        &(struct control_options){ .engine = options->engine,
                                   .clock = options->clock,
                                   .catalogue = api->catalogue,
                                   .streams = api->streams,
                                   .triggers = api->triggers,
                                   .destinations = api->destinations,
                                   .kinesis_retention_ms = options->kinesis_retention_ms,
                                   .meter = call_meter_meter(api->call_meter),
                                   .insights = api->insights,
                                   .transition_ms = options->transition_ms,
                                   .rollover_ms = options->rollover_ms,
                                   .splits = options->splits,
                                   .holds = api->holds,
                                   .expiry_limit = replicas_expiry_limit,
                                   .expiry_limit_context = api->replicas,
                                   .expiry_interval_ms = options->expiry_interval_ms });
}

struct api *api_open(const struct api_options *options, enum engine_status *status)
{
    struct index_delay *index_delay = NULL;
    if ((engine_capabilities(options->engine) & ENGINE_GLOBAL_ATOMIC) == 0) {
        log_write(LOG_ERROR, "storage",
                  "this storage engine cannot change several partitions in one step, which a write "
                  "to a table with indexes or a stream needs: choose another engine");
        *status = ENGINE_UNSUPPORTED;
        return NULL;
    }
    struct catalogue *catalogue = open_catalogue(options, status);
    struct streams *streams =
        *status != ENGINE_OK ? NULL : streams_open(options->engine, options->clock, status);
    struct triggers *triggers = streams == NULL ? NULL : open_triggers(options, streams, status);
    struct destinations *destinations =
        triggers == NULL ? NULL : open_destinations(options, streams, status);
    struct series_store *series = destinations == NULL ? NULL : open_series(options, status);
    struct alarms *alarms = series == NULL ? NULL : open_alarms(options, series, status);
    struct dashboards *dashboards = alarms == NULL ? NULL : open_dashboards(options, status);
    struct scaling *scaling = dashboards == NULL ? NULL : scaling_open(options->engine, status);
    struct history_holds *holds = history_holds_create();
    struct stacks *stacks = scaling == NULL ? NULL : stacks_open(options->engine, status);
    struct job_runner *jobs = stacks == NULL ? NULL : open_jobs(options, holds, status);
    if (jobs != NULL && options->index_delay_ms > 0)
        index_delay = index_delay_start(options->engine, options->index_delay_ms, status);
    if (*status != ENGINE_OK) {
        job_runner_close(jobs);
        history_holds_destroy(holds);
        dashboards_close(dashboards);
        stacks_close(stacks);
        scaling_close(scaling);
        alarms_close(alarms);
        series_store_close(series);
        destinations_close(destinations);
        triggers_close(triggers);
        streams_close(streams);
        catalogue_close(catalogue);
        return NULL;
    }
    struct api *api = malloc(sizeof *api);
    if (api == NULL)
        abort();
    *api = (struct api){ .options = *options,
                         .catalogue = catalogue,
                         .streams = streams,
                         .triggers = triggers,
                         .destinations = destinations,
                         .replicas = open_replicas(options, catalogue),
                         .series = series,
                         .alarms = alarms,
                         .scaling = scaling,
                         .stacks = stacks,
                         .dashboards = dashboards,
                         .jobs = jobs,
                         .holds = holds,
                         .index_delay = index_delay };
    set_defaults(&api->options);
    if (options->refuse_conflicts)
        api->conflicts = txn_conflicts_create();
    api->opened_ms = clock_server_ms(api->options.clock);
    api->call_meter = call_meter_create(catalogue, options);
    start_counting(api);
    start_control(api);
    replicas_start(api->replicas, run_on_control, api->control);
    start_monitoring(api);
    start_jobs(api);
    api->stack_driver = stack_driver_create(api);
    stack_driver_resume(api->stack_driver);
    return api;
}

void api_close(struct api *api)
{
    if (api == NULL)
        return;
    replicas_stop(api->replicas); /* Its threads call the control thread, too. */
    ticker_stop(api->ticker);
    job_runner_stop(api->jobs);           /* Jobs call the control thread, */
    stack_driver_stop(api->stack_driver); /* and so do deployments. */
    control_stop(api->control);
    close_monitoring(api);
    stack_driver_destroy(api->stack_driver);
    stacks_close(api->stacks);
    destination_metrics_destroy(api->destination_metrics);
    replicas_destroy(api->replicas);
    destinations_close(api->destinations);
    triggers_close(api->triggers);
    index_delay_stop(api->index_delay);
    streams_close(api->streams);
    call_meter_destroy(api->call_meter);
    catalogue_close(api->catalogue);
    insights_destroy(api->insights);
    job_runner_close(api->jobs);
    shape_counter_destroy(api->shapes);
    advice_history_destroy(api->advice_history);
    object_store_close(api->no_objects);
    backups_destroy(api->backups);
    history_holds_destroy(api->holds);
    txn_conflicts_destroy(api->conflicts);
    free(api);
}

struct backups *api_backups(const struct api *api)
{
    return api->backups;
}

struct job_runner *api_jobs(const struct api *api)
{
    return api->jobs;
}

struct catalogue *api_catalogue(const struct api *api)
{
    return api->catalogue;
}

int64_t api_opened_ms(const struct api *api)
{
    return api->opened_ms;
}

struct index_delay *api_index_delay(const struct api *api)
{
    return api->index_delay;
}

struct txn_conflicts *api_conflicts(const struct api *api)
{
    return api->conflicts;
}

static void resume_txn(struct api_call *call, bool cancelled)
{
    struct txn *txn = call->resume_state;
    if (!cancelled) {
        txn_continue(txn, call->group);
        return;
    }
    txn_forget(txn);
    operation_fail(call);
}

static void hand_over_txn(struct txn *txn, void *context)
{
    struct api_call *call = context;
    assert(call->resume == NULL);
    error_clear(&call->error); /* Of a decision that had no effect. */
    call->resume = resume_txn;
    call->resume_state = txn;
    call->too_large(call);
}

void operation_txn_init(struct txn *txn, struct api_call *call)
{
    *txn = (struct txn){ .arena = call->arena,
                         .engine = call->api->options.engine,
                         .clock = call->api->options.clock,
                         .group = call->group,
                         .hand_over = call->too_large == NULL ? NULL : hand_over_txn,
                         .hand_over_context = call };
}

struct txn_group *api_group_create(void (*wake)(void *context), void *context)
{
    return txn_group_create(wake, context);
}

void api_group_destroy(struct txn_group *group)
{
    txn_group_destroy(group);
}

void api_group_run(struct txn_group *group)
{
    txn_group_run(group);
}

void api_group_resume(struct txn_group *group)
{
    txn_group_resume(group);
}

struct insights *api_insights(const struct api *api)
{
    return api->insights;
}

struct advice_history *api_advice_history(const struct api *api)
{
    return api->advice_history;
}

struct shape_counter *api_shapes(const struct api *api)
{
    return api->shapes;
}

bool api_counts_shapes(const struct api *api)
{
    return api->shapes != NULL;
}

struct replicas *api_replicas(const struct api *api)
{
    return api->replicas;
}

struct streams *api_streams(const struct api *api)
{
    return api->streams;
}

struct destinations *api_destinations(const struct api *api)
{
    return api->destinations;
}

struct triggers *api_triggers(const struct api *api)
{
    return api->triggers;
}

struct control *api_control(const struct api *api)
{
    return api->control;
}

struct series_store *api_series(const struct api *api)
{
    return api->series;
}

struct scaling *api_scaling(const struct api *api)
{
    return api->scaling;
}

struct scaling_driver *api_scaling_driver(const struct api *api)
{
    return api->scaling_driver;
}

struct stacks *api_stacks(const struct api *api)
{
    return api->stacks;
}

struct stack_driver *api_stack_driver(const struct api *api)
{
    return api->stack_driver;
}

struct alarms *api_alarms(const struct api *api)
{
    return api->alarms;
}

struct dashboards *api_dashboards(const struct api *api)
{
    return api->dashboards;
}

struct ticker *api_ticker(const struct api *api)
{
    return api->ticker;
}

const struct api_options *api_options(const struct api *api)
{
    return &api->options;
}

static void run_operation(void *context)
{
    struct api_call *call = context;
    call->operation->run(call, call->request);
}

/* Has the control thread run the call, or refuses it as the service does if too many wait. */
static void run_on_control_thread(struct api_call *call)
{
    struct control_task *task = arena_alloc_zeroed(call->arena, sizeof *task);
    *task = (struct control_task){ .run = run_operation, .context = call };
    if (control_submit(call->api->control, task))
        return;
    if (operation_service(call->operation) != OPERATION_OF_DYNAMODB)
        error_set(&call->error, ERROR_THROTTLING, "Rate exceeded"); /* As all services say. */
    else
        error_set(&call->error, ERROR_LIMIT_EXCEEDED,
                  "Subscriber limit exceeded: Only %d tables can be created, updated, or deleted "
                  "simultaneously",
                  CONTROL_CALLS_MAX);
    operation_fail(call);
}

int64_t api_start_ns(const struct api *api)
{
    (void)api;
    return clock_monotonic_ns();
}

struct slow_log *api_slow_log(const struct api *api)
{
    return call_meter_slow_log(api->call_meter);
}

struct meter *api_meter(const struct api *api)
{
    return call_meter_meter(api->call_meter);
}

void api_run(struct api *api, struct api_call *call)
{
    const struct operation *operation = call->operation;
    assert(operation->request->kind == SHAPE_STRUCTURE);
    call->api = api;
    if (call->started_ns == 0)
        call->started_ns = api_start_ns(api);
    error_init(&call->error, call->arena);
    call->error.family = operation->family;
    buffer_init(&call->response, call->arena);
    call->request = arena_alloc_zeroed(call->arena, operation->request->size);
    if (!shape_read(call->arena, call->body, operation->request, call->request, &call->error) ||
        !shape_validate(call->arena, operation->request, call->request, &call->error) ||
        !operation_may_run(call))
        operation_fail(call);
    else if (operation->kind == OPERATION_CONTROL)
        run_on_control_thread(call);
    else
        operation->run(call, call->request);
}

static void go_on(struct api_call *call, bool cancelled)
{
    void (*resume)(struct api_call *, bool) = call->resume;
    assert(resume != NULL);
    call->resume = NULL;
    resume(call, cancelled);
}

void api_resume(struct api_call *call)
{
    go_on(call, false);
}

void api_cancel(struct api_call *call)
{
    if (!error_is_set(&call->error))
        error_set(&call->error, ERROR_REQUEST_TIMEOUT, "The client is gone");
    go_on(call, true);
}

void operation_pause(struct api_call *call, void (*resume)(struct api_call *call, bool cancelled),
                     void *state)
{
    assert(call->paused != NULL && call->resume == NULL);
    call->resume = resume;
    call->resume_state = state;
    call->pause_count++;
    call->paused(call);
}

bool operation_is_pause_due(const void *context, int64_t now_ns)
{
    const struct api_call *call = context;
    return call->paused != NULL &&
           (now_ns >= call->pause_at_ns || call->response.len >= call->pause_at_size);
}

/* Returns the time now, by clock_monotonic_ns. */
static int64_t observe(const struct api_call *call)
{
    const struct api_options *options = &call->api->options;
    int64_t now_ns = clock_monotonic_ns();
    const struct api_outcome outcome = { .error = call->error.code,
                                         .elapsed_ns = now_ns - call->started_ns };
    if (LIKELY(!call->is_injected))
        call_meter_count(call->api->call_meter, call, &outcome, now_ns);
    else
        call_meter_count_injected(call->api->call_meter, call, now_ns);
    if (options->observe != NULL)
        options->observe(options->observe_context, call, &outcome);
    return now_ns;
}

/* The one end of every call. What succeeds for a caller was decided on: an operation that forgot
 * to ask must not answer. */
static void end(struct api_call *call)
{
    assert(call->caller == NULL || call->asked || error_is_set(&call->error));
    if (UNLIKELY(call->admission != NULL))
        admission_end(call);
    if (UNLIKELY(call->has_uncounted))
        admission_forget_units(call);
    if (UNLIKELY(call->model_notes != NULL))
        model_watch_count_call(call);
    int64_t now_ns = observe(call);
    if (UNLIKELY(call->shape != NULL) && !call->is_injected)
        shape_note_count(call, now_ns);
    for (size_t i = 0; i < call->use_count; i++) {
        if (UNLIKELY(call->uses[i].key_uses != NULL) && !call->is_injected)
            key_use_count(call, &call->uses[i], now_ns);
    }
    operation_release_tables(call);
    call->done(call);
}

void api_refuse(struct api *api, struct api_call *call)
{
    assert(error_is_set(&call->error) && call->use_count == 0);
    call->api = api;
    if (call->started_ns == 0)
        call->started_ns = api_start_ns(api);
    end(call);
}

void operation_succeed(struct api_call *call)
{
    assert(!error_is_set(&call->error));
    end(call);
}

void operation_fail(struct api_call *call)
{
    assert(error_is_set(&call->error));
    end(call);
}

void operation_end(struct api_call *call, bool ok)
{
    if (ok)
        operation_succeed(call);
    else
        operation_fail(call);
}

void operation_end_engine(struct api_call *call, enum engine_status status)
{
    if (status != ENGINE_OK) {
        error_clear(&call->error); /* A refusal, and the item that it shows, is void. */
        for (size_t i = 0; i < call->use_count; i++)
            capacity_use_clear(&call->uses[i]);
        storage_error_set(&call->error, status, call->operation->name);
    }
    end(call);
}
