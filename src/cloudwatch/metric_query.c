/* metric_query.c -- see metric_query.h. */
#include "cloudwatch/metric_query.h"
#include <assert.h>
#include <stdio.h>
#include "base/arena.h"
#include "base/buffer.h"
#include "cloudwatch/metric_search.h"

static struct metric_query *find(struct metric_query_run *run, struct bytes id)
{
    for (size_t i = 0; i < run->count; i++) {
        if (bytes_equal(run->queries[i].id, id))
            return &run->queries[i];
    }
    return NULL;
}

static bool is_metric(const struct metric_query *query)
{
    return query->source.key.namespace.data != NULL;
}

/* --- Metrics --- */

/* The values that the bins tell of a statistic. */
static bool take_points(struct metric_query_run *run, const struct series_bins *bins,
                        const struct statistic *statistic, struct math_series *out,
                        struct metric_math_error *err)
{
    size_t max = run->points_max == 0 ? METRIC_QUERY_POINTS_MAX : run->points_max;
    size_t count = 0;
    if (bins->count > max - run->points)
        return metric_math_fail(err, "You have requested more than %zu datapoints", max);
    run->points += bins->count;
    int64_t *times = arena_alloc(run->arena, (bins->count + 1) * sizeof *times);
    double *values = arena_alloc(run->arena, (bins->count + 1) * sizeof *values);
    for (size_t i = 0; i < bins->count; i++) {
        if (!statistic_value(statistic, &bins->bins[i].set, &values[count]))
            continue;
        times[count++] = bins->bins[i].start_s;
    }
    *out = (struct math_series){ .times = times, .values = values, .count = count };
    return true;
}

/* A chunk of the store has more than was asked for, and histograms: only points are kept. */
static bool read_source(struct metric_query_run *run, const struct metric_source *source,
                        const struct statistic *statistic, struct math_series *out,
                        struct metric_math_error *err)
{
    struct series_bins bins;
    struct arena *before = series_reader_set_arena(run->reader, run->scratch);
    run->status =
        series_read(run->reader, &source->key, source->period_s, run->start_s, run->end_s, &bins);
    series_reader_set_arena(run->reader, before);
    bool ok = run->status == ENGINE_OK ? take_points(run, &bins, statistic, out, err)
                                       : metric_math_fail(err, "The samples cannot be read");
    arena_reset(run->scratch);
    if (!ok)
        return false;
    out->period_s = source->period_s;
    out->is_metric = true;
    out->origin = source;
    return true;
}

static bool read_metric(struct metric_query_run *run, struct metric_query *query,
                        struct metric_math_error *err)
{
    struct math_series *series = arena_alloc(run->arena, sizeof *series);
    if (!read_source(run, &query->source, &query->statistic, series, err))
        return false;
    query->value = (struct math_value){ .kind = MATH_SERIES, .series = series, .series_count = 1 };
    query->is_done = true;
    return true;
}

/* --- What expressions ask for --- */

static bool resolve(void *context, struct bytes id, struct math_value *out,
                    struct metric_math_error *err)
{
    const struct metric_query *query = find(context, id);
    if (query == NULL)
        return metric_math_fail(err, "ID '%.*s' not found", BYTES_FMT(id));
    assert(query->is_done); /* By the order of evaluation. */
    *out = query->value;
    return true;
}

static bool contains(struct bytes text, struct bytes part)
{
    return part.len == 0 ||
           (text.len >= part.len && memmem(text.data, text.len, part.data, part.len) != NULL);
}

static bool all_metrics(void *context, struct bytes part, struct math_value *out,
                        struct metric_math_error *err)
{
    struct metric_query_run *run = context;
    size_t count = 0;
    if (!metric_math_charge(&run->math_points, run->count * METRIC_MATH_SERIES_POINTS, err))
        return false;
    struct math_series *series = arena_alloc(run->arena, (run->count + 1) * sizeof *series);
    for (size_t i = 0; i < run->count; i++) {
        const struct metric_query *query = &run->queries[i];
        if (!is_metric(query) || !contains(query->id, part))
            continue;
        series[count] = query->value.series[0];
        series[count++].label = query->id;
    }
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = count };
    return true;
}

/* Reads what was found. */
static bool read_found(struct metric_query_run *run, const struct series_keys *keys,
                       struct bytes statistic_name, const struct statistic *statistic,
                       int64_t period_s, struct math_value *out, struct metric_math_error *err)
{
    struct math_series *series = arena_alloc(run->arena, (keys->count + 1) * sizeof *series);
    struct metric_source *sources = arena_alloc(run->arena, (keys->count + 1) * sizeof *sources);
    const struct metric_source **pointers =
        arena_alloc(run->arena, (keys->count + 1) * sizeof *pointers);
    struct bytes *labels = arena_alloc(run->arena, (keys->count + 1) * sizeof *labels);
    for (size_t i = 0; i < keys->count; i++) {
        sources[i] = (struct metric_source){ .key = keys->keys[i],
                                             .statistic = statistic_name,
                                             .period_s = period_s };
        pointers[i] = &sources[i];
        if (!read_source(run, &sources[i], statistic, &series[i], err))
            return false;
    }
    metric_query_label(run->arena, pointers, keys->count, labels);
    for (size_t i = 0; i < keys->count; i++)
        series[i].label = labels[i];
    *out = (struct math_value){ .kind = MATH_ARRAY, .series = series, .series_count = keys->count };
    return true;
}

static struct series_key copy_key(struct arena *arena, const struct series_key *key)
{
    struct series_key copy = *key;
    struct series_dimension *dimensions =
        arena_alloc(arena, (key->dimension_count + 1) * sizeof *dimensions);
    copy.namespace = arena_copy(arena, key->namespace);
    copy.name = arena_copy(arena, key->name);
    copy.dimensions = dimensions;
    for (size_t i = 0; i < key->dimension_count; i++)
        dimensions[i] =
            (struct series_dimension){ .name = arena_copy(arena, key->dimensions[i].name),
                                       .value = arena_copy(arena, key->dimensions[i].value) };
    return copy;
}

/* Lists every series, of which few may match: those alone are kept. */
static bool find_series(struct metric_query_run *run, const struct metric_search *terms,
                        struct series_keys *out, struct metric_math_error *err)
{
    struct series_keys listed = { 0 };
    uint64_t token = 0;
    struct series_filter filter = metric_search_filter(terms);
    filter.active_since_s = run->now_s - SERIES_LISTED_S;
    struct arena *before = series_reader_set_arena(run->reader, run->scratch);
    series_list(run->reader, &filter, SIZE_MAX, &token, &listed);
    series_reader_set_arena(run->reader, before);
    size_t count = 0; /* In place: it never overtakes what it reads. */
    for (size_t i = 0; i < listed.count && count < METRIC_QUERY_FOUND_MAX; i++) {
        if (metric_search_matches(terms, &listed.keys[i]))
            listed.keys[count++] = listed.keys[i];
    }
    run->found += count;
    *out = (struct series_keys){ .count = count };
    out->keys = arena_alloc(run->arena, (count + 1) * sizeof out->keys[0]);
    for (size_t i = 0; i < count; i++)
        out->keys[i] = copy_key(run->arena, &listed.keys[i]);
    arena_reset(run->scratch);
    if (run->found > METRIC_QUERY_FOUND_ALL_MAX)
        return metric_math_fail(err, "The searches of a request may find %d metrics at most",
                                METRIC_QUERY_FOUND_ALL_MAX);
    return true;
}

static bool search(void *context, struct bytes text, struct bytes statistic_name, int64_t period_s,
                   struct math_value *out, struct metric_math_error *err)
{
    struct metric_query_run *run = context;
    struct statistic statistic;
    struct series_keys found;
    if (run->searches++ == METRIC_QUERY_SEARCHES_MAX)
        return metric_math_fail(err, "A request may use SEARCH %d times at most",
                                METRIC_QUERY_SEARCHES_MAX);
    const struct metric_search *terms = metric_search_parse(run->arena, text, err);
    if (terms == NULL)
        return false;
    if (!statistic_parse(statistic_name, &statistic))
        return metric_math_fail(err, "'%.*s' is not a valid statistic", BYTES_FMT(statistic_name));
    if (period_s == 0)
        period_s = run->current->period_s == 0 ? 300 : run->current->period_s;
    return find_series(run, terms, &found, err) &&
           read_found(run, &found, statistic_name, &statistic, period_s, out, err);
}

static bool insight(void *context, struct bytes rule, struct bytes metric, struct math_value *out,
                    struct metric_math_error *err)
{
    struct metric_query_run *run = context;
    if (run->insight == NULL)
        return metric_math_fail(err, "INSIGHT_RULE_METRIC is not supported here");
    return run->insight(run->insight_context, rule, metric, out, err);
}

/* --- Expressions --- */

struct readiness {
    struct metric_query_run *run;
    bool is_ready;
};

static void check_id(void *context, struct bytes id)
{
    struct readiness *readiness = context;
    const struct metric_query *query = find(readiness->run, id);
    if (query != NULL && !query->is_done)
        readiness->is_ready = false; /* One that is missing is reported by the evaluation. */
}

/* The smallest period of all metrics: that of series which have no other. */
static int64_t default_period(const struct metric_query_run *run)
{
    int64_t period_s = 0;
    for (size_t i = 0; i < run->count; i++) {
        const struct metric_query *query = &run->queries[i];
        if (is_metric(query) && (period_s == 0 || query->source.period_s < period_s))
            period_s = query->source.period_s;
    }
    return period_s == 0 ? 60 : period_s;
}

static bool evaluate(struct metric_query_run *run, struct metric_query *query,
                     const struct metric_math *math, struct metric_math_error *err)
{
    const struct metric_math_environment environment = {
        .context = run,
        .start_s = run->start_s,
        .end_s = run->end_s,
        .period_s = query->period_s == 0 ? default_period(run) : query->period_s,
        .points = &run->math_points,
        .resolve = resolve,
        .metrics = all_metrics,
        .search = search,
        .insight = insight,
    };
    run->current = query;
    query->is_done = metric_math_evaluate(run->arena, math, &environment, &query->value, err);
    return query->is_done;
}

/* Names the expression before what is wrong with it. */
static bool fail_expression(const struct metric_query *query, struct metric_math_error *err)
{
    struct metric_math_error inner = *err;
    return metric_math_fail(err, "Error in expression '%.*s': %s", BYTES_FMT(query->id),
                            inner.text);
}

/* Evaluates each expression as soon as all that it names is there: no recursion. */
static bool evaluate_all(struct metric_query_run *run, const struct metric_math **math,
                         struct metric_math_error *err)
{
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < run->count; i++) {
            struct metric_query *query = &run->queries[i];
            struct readiness readiness = { .run = run, .is_ready = true };
            if (query->is_done)
                continue;
            metric_math_visit_ids(math[i], check_id, &readiness);
            if (!readiness.is_ready)
                continue;
            if (!evaluate(run, query, math[i], err))
                return fail_expression(query, err);
            progress = true;
        }
    }
    for (size_t i = 0; i < run->count; i++) {
        if (!run->queries[i].is_done)
            return metric_math_fail(err, "Circular dependency involving '%.*s'.",
                                    BYTES_FMT(run->queries[i].id));
    }
    return true;
}

static bool run_all(struct metric_query_run *run, struct metric_math_error *err)
{
    const struct metric_math **math =
        arena_alloc_zeroed(run->arena, (run->count + 1) * sizeof *math);
    for (size_t i = 0; i < run->count; i++) { /* Before anything is read. */
        if (is_metric(&run->queries[i]))
            continue;
        math[i] = metric_math_parse(run->arena, run->queries[i].expression, err);
        if (math[i] == NULL)
            return fail_expression(&run->queries[i], err);
    }
    for (size_t i = 0; i < run->count; i++) {
        if (is_metric(&run->queries[i]) && !read_metric(run, &run->queries[i], err))
            return false;
    }
    return evaluate_all(run, math, err);
}

bool metric_query_run(struct metric_query_run *run, struct metric_math_error *err)
{
    assert(run->count <= METRIC_QUERIES_MAX);
    run->status = ENGINE_OK;
    run->scratch = arena_create();
    bool ok = run_all(run, err);
    arena_destroy(run->scratch);
    return ok;
}

/* --- Labels --- */

static const struct series_dimension *dimension_of(const struct series_key *key, struct bytes name)
{
    for (size_t i = 0; i < key->dimension_count; i++) {
        if (bytes_equal(key->dimensions[i].name, name))
            return &key->dimensions[i];
    }
    return NULL;
}

/* What all sources of a request have alike, so that labels leave it out. Found once for all labels:
 * there may be 500 sources of 30 dimensions. */
struct alike {
    bool namespace;
    bool name;
    const struct series_dimension *dimensions[SERIES_DIMENSIONS_MAX];
    size_t dimension_count;
};

static bool have_all(const struct metric_source *const *sources, size_t count,
                     const struct series_dimension *dimension)
{
    for (size_t i = 0; i < count; i++) {
        const struct series_dimension *other = dimension_of(&sources[i]->key, dimension->name);
        if (other == NULL || !bytes_equal(other->value, dimension->value))
            return false;
    }
    return true;
}

static struct alike find_alike(const struct metric_source *const *sources, size_t count)
{
    struct alike alike = { .namespace = true, .name = true };
    for (size_t i = 1; i < count; i++) {
        alike.namespace &= bytes_equal(sources[i]->key.namespace, sources[0]->key.namespace);
        alike.name &= bytes_equal(sources[i]->key.name, sources[0]->key.name);
    }
    for (size_t i = 0; count > 0 && i < sources[0]->key.dimension_count; i++) {
        const struct series_dimension *dimension = &sources[0]->key.dimensions[i];
        if (have_all(sources, count, dimension))
            alike.dimensions[alike.dimension_count++] = dimension;
    }
    return alike;
}

static bool is_alike(const struct alike *alike, const struct series_dimension *dimension)
{
    for (size_t i = 0; i < alike->dimension_count; i++) {
        if (bytes_equal(alike->dimensions[i]->name, dimension->name))
            return true;
    }
    return false;
}

static bool is_same_metric(const struct series_key *a, const struct series_key *b)
{
    if (!bytes_equal(a->namespace, b->namespace) || !bytes_equal(a->name, b->name) ||
        a->dimension_count != b->dimension_count)
        return false;
    for (size_t i = 0; i < a->dimension_count; i++) {
        const struct series_dimension *other = &b->dimensions[i]; /* Mostly in the same order. */
        if (!bytes_equal(other->name, a->dimensions[i].name))
            other = dimension_of(b, a->dimensions[i].name);
        if (other == NULL || !bytes_equal(other->value, a->dimensions[i].value))
            return false;
    }
    return true;
}

static void append(struct buffer *out, struct bytes part)
{
    if (out->len > 0)
        buffer_append_byte(out, ' ');
    buffer_append_bytes(out, part);
}

static struct bytes label_of(struct arena *arena, const struct metric_source *const *sources,
                             size_t count, const struct alike *alike,
                             const struct metric_source *source)
{
    struct buffer out;
    bool has_other_statistic = false, has_other_period = false;
    buffer_init(&out, arena);
    if (!alike->namespace)
        append(&out, source->key.namespace);
    for (size_t i = 0; i < source->key.dimension_count; i++) {
        if (!is_alike(alike, &source->key.dimensions[i]))
            append(&out, source->key.dimensions[i].value);
    }
    if (out.len == 0 || !alike->name)
        append(&out, source->key.name);
    for (size_t i = 0; i < count; i++) {
        bool is_statistic = bytes_equal(sources[i]->statistic, source->statistic);
        bool is_period = sources[i]->period_s == source->period_s;
        if ((is_statistic && is_period) || !is_same_metric(&sources[i]->key, &source->key))
            continue;
        has_other_statistic |= !is_statistic;
        has_other_period |= !is_period;
    }
    if (has_other_statistic)
        append(&out, source->statistic);
    if (has_other_period)
        append(&out, arena_printf(arena, "%lld", (long long)source->period_s));
    return buffer_bytes(&out);
}

void metric_query_label(struct arena *arena, const struct metric_source *const *sources,
                        size_t count, struct bytes *labels)
{
    const struct alike alike = find_alike(sources, count);
    for (size_t i = 0; i < count; i++)
        labels[i] = label_of(arena, sources, count, &alike, sources[i]);
}
