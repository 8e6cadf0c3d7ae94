/* main.c -- load: sends requests to a server on this machine and says how it answered.
 *
 *   load --port N [--tls] [--connections N] [--threads N] [--keys N] [--seed N]
 *        (--seconds S [--rate N] [--interval S] | --fill) WEIGHT:FILE...
 *
 * A FILE is a whole request, see template.h; with several, each is sent in proportion to its
 * weight. --keys is how many there are to choose from. --fill sends each key once instead, in
 * order, until all are sent. --rate is requests per second, by default as many as the server
 * answers. The result is one JSON text: counts, and for each --interval a histogram of times in
 * nanoseconds as [end of the bucket, count].
 */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "connection.h"
#include "worker.h"

enum {
    THREADS_MAX = 16,
    CONNECTIONS_MAX = 10000,
    TEMPLATES_MAX = 256,
    INTERVALS_MAX = 1000,
    SECONDS_MAX = 24 * 60 * 60,
    RATE_MAX = 10 * 1000 * 1000,
};
#define NS_PER_S 1e9

struct options {
    uint64_t port, connections, threads, keys, seed;
    double seconds, rate_per_s, interval_s;
    bool fill, tls;
};

static double number(const char *text, double min, double max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= min && value <= max))
        errx(2, "%s: expected a number from %g to %g", text, min, max);
    return value;
}

static uint64_t count(const char *text, uint64_t max)
{
    double value = number(text, 1, (double)max);
    if (value != floor(value))
        errx(2, "%s: expected a whole number", text);
    return (uint64_t)value;
}

static struct options read_options(int argc, char **argv)
{
    static const struct option known[] = {
        { "port", required_argument, NULL, 'p' },
        { "connections", required_argument, NULL, 'c' },
        { "threads", required_argument, NULL, 't' },
        { "keys", required_argument, NULL, 'k' },
        { "seed", required_argument, NULL, 'x' },
        { "seconds", required_argument, NULL, 's' },
        { "rate", required_argument, NULL, 'r' },
        { "interval", required_argument, NULL, 'i' },
        { "fill", no_argument, NULL, 'f' },
        { "tls", no_argument, NULL, 'e' },
        { NULL, 0, NULL, 0 },
    };
    struct options options = { .connections = 1, .threads = 1, .keys = 1, .seed = 1 };
    for (int name; (name = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (name) {
        case 'p':
            options.port = count(optarg, UINT16_MAX);
            break;
        case 'c':
            options.connections = count(optarg, CONNECTIONS_MAX);
            break;
        case 't':
            options.threads = count(optarg, THREADS_MAX);
            break;
        case 'k':
            options.keys = count(optarg, TEMPLATE_KEY_LIMIT);
            break;
        case 'x':
            options.seed = count(optarg, UINT32_MAX);
            break;
        case 's':
            options.seconds = number(optarg, 0.01, SECONDS_MAX);
            break;
        case 'r':
            options.rate_per_s = number(optarg, 1, RATE_MAX);
            break;
        case 'i':
            options.interval_s = number(optarg, 0.01, SECONDS_MAX);
            break;
        case 'f':
            options.fill = true;
            break;
        case 'e':
            options.tls = true;
            break;
        default:
            exit(2);
        }
    }
    if (options.port == 0 || options.fill == (options.seconds > 0))
        errx(2, "needs --port and one of --seconds and --fill");
    if (options.fill && (options.rate_per_s > 0 || options.interval_s > 0))
        errx(2, "--fill takes neither --rate nor --interval");
    if (options.threads > options.connections)
        options.threads = options.connections;
    return options;
}

static void open_templates(struct plan *plan, struct template *templates, char **arguments,
                           size_t argument_count)
{
    if (argument_count == 0 || argument_count > TEMPLATES_MAX)
        errx(2, "needs 1 to %d requests", TEMPLATES_MAX);
    plan->key_count = 1;
    for (size_t i = 0; i < argument_count; i++) {
        template_open(&templates[i], arguments[i]);
        plan->weight_sum += templates[i].weight;
        if (templates[i].key_count > plan->key_count)
            plan->key_count = templates[i].key_count;
    }
    plan->templates = templates;
    plan->template_count = argument_count;
}

static void make_plan(struct plan *plan, const struct options *options)
{
    plan->port = (uint16_t)options->port;
    plan->tls = options->tls ? connection_tls_create() : NULL;
    plan->key_range = options->keys;
    if (options->keys < plan->key_count)
        errx(2, "a request has %u keys, and there are %" PRIu64, plan->key_count, options->keys);
    plan->rate_per_s = options->rate_per_s / (double)options->threads;
    double seconds = options->seconds;
    if (options->fill) {
        if (options->keys % plan->key_count != 0)
            errx(2, "%" PRIu64 " keys are no multiple of a request's %u", options->keys,
                 plan->key_count);
        plan->fill_count = options->keys / plan->key_count;
        seconds = SECONDS_MAX; /* Ends when all are sent. */
    }
    double interval_s = options->interval_s > 0 ? options->interval_s : seconds;
    plan->interval_ns = (int64_t)(interval_s * NS_PER_S);
    plan->interval_count = (size_t)ceil(seconds / interval_s);
    if (plan->interval_count > INTERVALS_MAX)
        errx(2, "more than %d intervals", INTERVALS_MAX);
    plan->end_ns = (int64_t)(seconds * NS_PER_S); /* From the beginning, which is not known yet. */
}

static void print_interval(const struct worker *workers, size_t worker_count, size_t index)
{
    uint64_t answers = 0;
    for (size_t i = 0; i < worker_count; i++)
        answers += workers[i].intervals[index].answers;
    printf("{\"answers\": %" PRIu64 ", \"times_ns\": [", answers);
    const char *between = "";
    for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < worker_count; i++)
            sum += workers[i].intervals[index].times_ns.counts[bucket];
        if (sum == 0)
            continue;
        printf("%s[%" PRIu64 ", %" PRIu64 "]", between, histogram_bucket_end(bucket), sum);
        between = ", ";
    }
    printf("]}");
}

static void print_result(const struct plan *plan, const struct worker *workers, size_t worker_count)
{
    uint64_t answers = 0, errors = 0, unsent = 0, body_bytes = 0;
    int64_t last_ns = plan->begin_ns;
    for (size_t i = 0; i < worker_count; i++) {
        answers += workers[i].answered;
        errors += workers[i].errors;
        unsent += workers[i].unsent;
        body_bytes += workers[i].body_bytes;
        if (workers[i].last_answer_ns > last_ns)
            last_ns = workers[i].last_answer_ns;
    }
    printf("{\"answers\": %" PRIu64 ", \"errors\": %" PRIu64 ", \"unsent\": %" PRIu64
           ", \"body_bytes\": %" PRIu64 ", \"elapsed_s\": %.6f, \"intervals\": [",
           answers, errors, unsent, body_bytes, (double)(last_ns - plan->begin_ns) / NS_PER_S);
    for (size_t index = 0; index < plan->interval_count; index++) {
        if (index > 0)
            printf(", ");
        print_interval(workers, worker_count, index);
    }
    printf("]}\n");
}

int main(int argc, char **argv)
{
    struct template *templates = calloc(TEMPLATES_MAX, sizeof *templates);
    if (templates == NULL)
        err(1, "calloc");
    struct worker workers[THREADS_MAX];
    struct options options = read_options(argc, argv);
    struct plan plan = { 0 };
    open_templates(&plan, templates, argv + optind, (size_t)(argc - optind));
    make_plan(&plan, &options);
    for (unsigned i = 0; i < options.threads; i++) {
        size_t share = options.connections / options.threads;
        share += i < options.connections % options.threads;
        worker_open(&workers[i], &plan, i, share, options.seed);
    }
    plan.begin_ns = clock_monotonic_ns();
    plan.end_ns += plan.begin_ns;
    for (unsigned i = 0; i < options.threads; i++)
        worker_start(&workers[i]);
    for (unsigned i = 0; i < options.threads; i++)
        worker_join(&workers[i]);
    print_result(&plan, workers, options.threads);
    for (unsigned i = 0; i < options.threads; i++)
        worker_close(&workers[i]);
    for (size_t i = 0; i < plan.template_count; i++)
        template_close(&templates[i]);
    free(templates);
    SSL_CTX_free(plan.tls);
    return 0;
}
