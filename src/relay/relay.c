/* relay.c -- see relay.h. */
#include "relay/relay.h"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/arena.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "http/grammar.h"
#include "http/relayed.h"
#include "http/server.h"

enum { STATUS_MIN = 200, STATUS_NO_CONTENT = 204, STATUS_MAX = 599 }; /* Of a final answer. */

/* A request under way. Lives in the exchange's arena. */
struct job {
    struct http_task task;
    struct job *next;
    struct http_exchange *exchange;
    void *loop_context;
    relay_refuse *refuse;
    void *refuse_context;
    /* The outcome. */
    bool unsent;
    struct bytes problem; /* data NULL: there is an answer. */
    struct http_answer answer;
};

struct line {
    struct relay_peer peer;
    const struct relay_options *options;
    pthread_mutex_t mutex; /* Guards what follows. */
    pthread_cond_t changed;
    struct job *first;
    struct job **last_link;
    size_t waiting;
    bool stopping;
};

struct sender {
    struct line *line;
    struct outbound_client *client;
    pthread_t thread;
    bool runs;
};

struct relay {
    struct relay_options options;
    struct line lines[RELAY_PEERS_MAX];
    struct sender senders[RELAY_PEERS_MAX * RELAY_THREADS];
};

/* --- What travels --- */

/* Headers about one connection, which a relay does not pass on, and those that are made anew. */
static bool is_of_connection(struct bytes name)
{
    static const char *const names[] = { "Connection",        "Keep-Alive", "Proxy-Connection",
                                         "Transfer-Encoding", "TE",         "Trailer",
                                         "Upgrade",           "Expect",     "Content-Length" };
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_header_equal(name, bytes_from_text(names[i])))
            return true;
    return false;
}

static size_t copy_headers(const struct http_exchange *exchange, struct http_header *out)
{
    const struct http_header *headers = http_exchange_headers(exchange);
    size_t count = 0;
    for (size_t i = 0; i < http_exchange_header_count(exchange); i++)
        if (!is_of_connection(headers[i].name))
            out[count++] = headers[i];
    out[count++] = (struct http_header){ BYTES(HTTP_RELAYED_HEADER), BYTES("1") };
    return count;
}

/* A peer may send anything; our own server writes sound headers only. */
static bool is_sound(struct http_header header)
{
    struct bytes name = header.name, value = header.value;
    return name.len > 0 && http_grammar_skip_name(name.data, 0, name.len) == name.len &&
           http_grammar_skip_value(value.data, 0, value.len) == value.len;
}

/* The lines of an answer's head as headers. */
static size_t read_headers(struct arena *arena, struct bytes head, struct http_header **out)
{
    struct http_header *headers = arena_alloc(arena, RELAY_HEADERS_MAX * sizeof *headers);
    size_t count = 0;
    while (head.len > 0 && count < RELAY_HEADERS_MAX) {
        struct bytes line = http_header_next_part(&head, '\n');
        while (line.len > 0 && line.data[line.len - 1] == '\r')
            line.len--;
        struct bytes name = http_header_next_part(&line, ':');
        if (line.data == NULL || line.len == 0 || is_of_connection(name) ||
            http_header_equal(name, BYTES("Date")))
            continue; /* Our own server adds those. */
        struct http_header header = { name, http_header_trim(line) };
        if (is_sound(header))
            headers[count++] = header;
    }
    *out = headers;
    return count;
}

static bool is_in_vain(void *context)
{
    return http_exchange_is_in_vain(context);
}

/* Sends the request, and fills in what came of it. */
static void send_job(const struct sender *sender, struct job *job)
{
    const struct http_exchange *exchange = job->exchange;
    struct arena *arena = http_exchange_arena(exchange);
    size_t header_max = http_exchange_header_count(exchange) + 1;
    struct http_header *headers = arena_alloc(arena, header_max * sizeof *headers);
    struct bytes method = http_exchange_method(exchange);
    struct outbound_request request = {
        .method = (const char *)arena_printf(arena, "%.*s", BYTES_FMT(method)).data,
        .url = sender->line->peer.url,
        .target = http_exchange_target(exchange),
        .headers = headers,
        .header_count = copy_headers(exchange, headers),
        .body = http_exchange_body(exchange),
        .timeout_ms = RELAY_TIMEOUT_MS,
        .answer_size_max = RELAY_ANSWER_SIZE_MAX,
        .is_cancelled = is_in_vain,
        .cancel_context = job->exchange,
    };
    struct outbound_answer answer = { 0 };
    enum outbound_result result =
        sender->line->options->send(sender->client, arena, &request, &answer);
    if (result != OUTBOUND_OK) {
        job->unsent = outbound_is_unsent(result);
        job->problem = result == OUTBOUND_CANCELLED ? BYTES("cancelled") : answer.problem;
        return;
    }
    if (answer.status < STATUS_MIN || answer.status > STATUS_MAX) {
        job->problem = BYTES("its answer has a status that HTTP does not have");
        return;
    }
    struct http_header *answer_headers;
    job->answer.header_count = read_headers(arena, buffer_bytes(&answer.head), &answer_headers);
    job->answer.headers = answer_headers;
    job->answer.status = answer.status;
    job->answer.body = answer.status == STATUS_NO_CONTENT ? BYTES("") : buffer_bytes(&answer.body);
}

/* --- The way back --- */

static void end_job(struct http_task *task)
{
    static_assert(offsetof(struct job, task) == 0, "a task begins its job");
    struct job *job = (struct job *)(void *)task;
    if (job->problem.data == NULL)
        http_exchange_answer(job->exchange, &job->answer);
    else
        job->refuse(job->refuse_context, job->loop_context, job->exchange, job->unsent,
                    job->problem);
}

static void post(struct job *job)
{
    job->task = (struct http_task){ .run = end_job };
    http_loop_post(http_exchange_loop(job->exchange), &job->task);
}

/* --- Threads --- */

/* The next request; NULL when the thread is to end. */
static struct job *wait_for_job(struct line *line)
{
    pthread_mutex_lock(&line->mutex);
    while (line->first == NULL && !line->stopping)
        pthread_cond_wait(&line->changed, &line->mutex);
    struct job *job = line->first;
    if (job != NULL) {
        line->first = job->next;
        if (line->first == NULL)
            line->last_link = &line->first;
        line->waiting--;
    }
    pthread_mutex_unlock(&line->mutex);
    return job;
}

static void *run_sender(void *context)
{
    const struct sender *sender = context;
    struct job *job;
    while ((job = wait_for_job(sender->line)) != NULL) {
        if (http_exchange_is_in_vain(job->exchange))
            job->problem = BYTES("cancelled");
        else
            send_job(sender, job);
        post(job);
    }
    return NULL;
}

bool relay_take(struct relay *relay, void *loop_context, struct http_exchange *exchange,
                relay_refuse *refuse, void *context)
{
    struct bytes region = relay_region_of(http_exchange_header(exchange, "Authorization"));
    size_t i = 0;
    while (i < relay->options.count && !bytes_equal(relay->lines[i].peer.region, region))
        i++;
    if (i == relay->options.count ||
        http_exchange_header(exchange, HTTP_RELAYED_HEADER).data != NULL)
        return false;
    struct line *line = &relay->lines[i];
    struct job *job = arena_alloc_zeroed(http_exchange_arena(exchange), sizeof *job);
    job->exchange = exchange;
    job->loop_context = loop_context;
    job->refuse = refuse;
    job->refuse_context = context;
    pthread_mutex_lock(&line->mutex); /* Held by nobody who waits. */
    bool accepted = line->waiting < RELAY_WAITING_MAX && !line->stopping;
    if (accepted) {
        *line->last_link = job;
        line->last_link = &job->next;
        line->waiting++;
        pthread_cond_signal(&line->changed);
    }
    pthread_mutex_unlock(&line->mutex);
    if (!accepted)
        refuse(context, loop_context, exchange, true,
               BYTES("too many requests wait for its server"));
    return true;
}

/* --- Starting and stopping --- */

static void open_line(struct line *line, const struct relay_peer *peer,
                      const struct relay_options *options)
{
    *line = (struct line){ .peer = *peer, .options = options };
    line->last_link = &line->first;
    pthread_mutex_init(&line->mutex, NULL);
    pthread_cond_init(&line->changed, NULL);
}

struct relay *relay_start(const struct relay_options *options, char message[OUTBOUND_MESSAGE_MAX])
{
    assert(options->count > 0 && options->count <= RELAY_PEERS_MAX);
    struct relay *relay = memory_checked(calloc(1, sizeof *relay));
    relay->options = *options;
    for (size_t i = 0; i < options->count; i++)
        open_line(&relay->lines[i], &options->peers[i], &relay->options);
    for (size_t i = 0; i < options->count * RELAY_THREADS; i++) {
        struct sender *sender = &relay->senders[i];
        sender->line = &relay->lines[i / RELAY_THREADS];
        sender->client = outbound_client_create(options->network, message);
        if (sender->client != NULL) {
            sender->runs = pthread_create(&sender->thread, NULL, run_sender, sender) == 0;
            snprintf(message, OUTBOUND_MESSAGE_MAX, "no thread is left");
        }
        if (!sender->runs) {
            relay_stop(relay);
            return NULL;
        }
    }
    return relay;
}

void relay_stop(struct relay *relay)
{
    if (relay == NULL)
        return;
    for (size_t i = 0; i < relay->options.count; i++) {
        struct line *line = &relay->lines[i];
        pthread_mutex_lock(&line->mutex);
        line->stopping = true;
        pthread_cond_broadcast(&line->changed);
        pthread_mutex_unlock(&line->mutex);
    }
    for (size_t i = 0; i < relay->options.count * RELAY_THREADS; i++)
        if (relay->senders[i].client != NULL)
            outbound_client_cancel(relay->senders[i].client);
    for (size_t i = 0; i < relay->options.count * RELAY_THREADS; i++) {
        if (relay->senders[i].runs)
            pthread_join(relay->senders[i].thread, NULL);
        outbound_client_destroy(relay->senders[i].client);
    }
    for (size_t i = 0; i < relay->options.count; i++) {
        pthread_cond_destroy(&relay->lines[i].changed);
        pthread_mutex_destroy(&relay->lines[i].mutex);
    }
    free(relay);
}
