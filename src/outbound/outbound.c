/* outbound.c -- see outbound.h.
 *
 * A client has a curl multi handle, and one easy handle for one transfer at a time. Its thread
 * advances the transfer under the client's mutex and waits for sockets without it. A step never
 * blocks: curl gets the addresses and is forbidden to look up a name itself, because it joins its
 * lookup threads when a transfer is removed.
 */
#include "outbound/outbound.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/clock.h"
#include "http/grammar.h"
#include "http/server.h"
#include "http/url.h"
#include "outbound/outbound_exchange.h"

enum {
    POLL_MS = 1000, /* Curl's own timers and a cancellation end it sooner. */
    CONNECTIONS_KEPT_MAX = 1,
    /* "+host:port:addresses" */
    RESOLVE_SIZE_MAX = NAMES_HOST_SIZE_MAX + NAMES_TEXT_SIZE_MAX + 16,
};
static_assert((int)NAMES_HOST_SIZE_MAX >= (int)HTTP_URL_HOST_SIZE_MAX,
              "every host that a URL may have");

struct outbound {
    struct outbound_options options;
    pthread_mutex_t mutex;    /* Held while libcurl is loaded. */
    struct curl_library curl; /* Set by the first client; `loaded` is guarded by the mutex. */
    bool loaded;
    bool has_proxy;
    struct http_url proxy;
    struct names *names;
};

struct outbound_client {
    struct outbound *outbound;
    const struct curl_library *curl; /* The outbound's. */
    CURLM *multi;
    CURL *easy;
    struct outbound_sockets sockets; /* Of the thread that sends. */
    atomic_bool cancelled;
    pthread_mutex_t mutex; /* Held for a step of the transfer, and to cancel. */

    /* The result of the last lookup; used by the thread that sends. */
    char host[NAMES_HOST_SIZE_MAX + 1];
    struct names_addresses addresses;
    int64_t known_until_ms; /* 0: nothing is known. */
};

static int64_t now_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static bool is_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* --- Opening --- */

static bool check_options(struct outbound *outbound, char message[OUTBOUND_MESSAGE_MAX])
{
    const struct outbound_options *options = &outbound->options;
    if (!is_empty(options->ca_file) && access(options->ca_file, R_OK) != 0) {
        snprintf(message, OUTBOUND_MESSAGE_MAX, "%s: %s", options->ca_file, strerror(errno));
        return false;
    }
    outbound->has_proxy = !is_empty(options->proxy);
    if (!outbound->has_proxy)
        return true;
    const char *problem = http_url_parse(bytes_from_text(options->proxy), &outbound->proxy);
    if (problem == NULL &&
        (outbound->proxy.is_tls || !bytes_equal_text(outbound->proxy.target, "/")))
        problem = "a proxy is http://host:port";
    if (problem != NULL)
        snprintf(message, OUTBOUND_MESSAGE_MAX, "proxy: %s", problem);
    return problem == NULL;
}

struct outbound *outbound_open(const struct outbound_options *options,
                               char message[OUTBOUND_MESSAGE_MAX])
{
    struct outbound *outbound = calloc(1, sizeof *outbound);
    if (outbound == NULL)
        abort();
    pthread_mutex_init(&outbound->mutex, NULL);
    outbound->options = *options;
    if (outbound->options.name_timeout_ms == 0)
        outbound->options.name_timeout_ms = OUTBOUND_NAME_TIMEOUT_MS;
    if (outbound->options.connect_timeout_ms == 0)
        outbound->options.connect_timeout_ms = OUTBOUND_CONNECT_TIMEOUT_MS;
    if (outbound->options.head_size_max == 0)
        outbound->options.head_size_max = OUTBOUND_HEAD_SIZE_MAX;
    if (!check_options(outbound, message)) {
        outbound_close(outbound);
        return NULL;
    }
    outbound->names = names_create(options->lookup);
    return outbound;
}

void outbound_close(struct outbound *outbound)
{
    if (outbound == NULL)
        return;
    names_release(outbound->names);
    if (outbound->loaded)
        outbound->curl.global_cleanup();
    pthread_mutex_destroy(&outbound->mutex);
    free(outbound);
}

static bool load_curl(struct outbound *outbound, char message[OUTBOUND_MESSAGE_MAX])
{
    pthread_mutex_lock(&outbound->mutex);
    if (!outbound->loaded &&
        curl_library_load(&outbound->curl, CURL_LIBRARY_FILE, message, OUTBOUND_MESSAGE_MAX)) {
        if (outbound->curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
            abort();
        outbound->loaded = true;
    }
    bool loaded = outbound->loaded;
    pthread_mutex_unlock(&outbound->mutex);
    return loaded;
}

struct outbound_client *outbound_client_create(struct outbound *outbound,
                                               char message[OUTBOUND_MESSAGE_MAX])
{
    if (!load_curl(outbound, message))
        return NULL;
    const struct curl_library *curl = &outbound->curl;
    struct outbound_client *client = calloc(1, sizeof *client);
    if (client == NULL)
        abort();
    client->outbound = outbound;
    client->curl = curl;
    pthread_mutex_init(&client->mutex, NULL);
    client->multi = curl->multi_init();
    client->easy = curl->easy_init();
    if (client->multi == NULL || client->easy == NULL)
        abort();
    curl->multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT_MAX);
    /* If it finds no descriptors, curl continues without a way to wake it up. */
    if (curl->multi_wakeup(client->multi) != CURLM_OK) {
        snprintf(message, OUTBOUND_MESSAGE_MAX, "no file descriptors are left");
        outbound_client_destroy(client);
        return NULL;
    }
    return client;
}

void outbound_client_destroy(struct outbound_client *client)
{
    if (client == NULL)
        return;
    client->curl->easy_cleanup(client->easy);
    client->curl->multi_cleanup(client->multi);
    pthread_mutex_destroy(&client->mutex);
    free(client);
}

void outbound_client_cancel(struct outbound_client *client)
{
    pthread_mutex_lock(&client->mutex);
    atomic_store(&client->cancelled, true);
    pthread_mutex_unlock(&client->mutex);
    client->curl->multi_wakeup(client->multi);
    names_wake(client->outbound->names);
}

/* --- Addresses --- */

static void copy_host(const struct http_url *url, char host[NAMES_HOST_SIZE_MAX + 1])
{
    snprintf(host, NAMES_HOST_SIZE_MAX + 1, "%.*s", BYTES_FMT(url->host));
}

/* Curl needs no lookup for these. It knows the short forms of IPv4 too: "127.1". */
static bool is_numeric(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    return inet_aton(host, &v4) != 0 || inet_pton(AF_INET6, host, &v6) == 1;
}

/* Targets on this machine do not go through a proxy. */
static bool is_loopback(const struct http_url *url)
{
    struct in_addr v4;
    char host[NAMES_HOST_SIZE_MAX + 1];
    copy_host(url, host);
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (inet_aton(host, &v4) != 0 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET);
}

static enum outbound_result result_of_lookup(struct outbound_exchange *exchange,
                                             enum names_status status, int error)
{
    switch (status) {
    case NAMES_FOUND:
        return OUTBOUND_OK;
    case NAMES_FAILED:
        return outbound_exchange_fail(exchange, OUTBOUND_NAME_FAILED, gai_strerror(error));
    case NAMES_LATE:
        return outbound_exchange_fail(exchange, OUTBOUND_NAME_TIMEOUT,
                                      "the host's name was not resolved in time");
    case NAMES_BUSY:
        return outbound_exchange_fail(exchange, OUTBOUND_NAME_FAILED,
                                      "too many lookups of other names are under way");
    case NAMES_CANCELLED:
        break;
    }
    return outbound_exchange_fail(exchange, OUTBOUND_CANCELLED, "cancelled");
}

static void forget_addresses(struct outbound_client *client)
{
    client->known_until_ms = 0;
}

/* Finds the addresses of a name, unless they are known from an earlier call. */
static enum outbound_result find_addresses(struct outbound_client *client,
                                           struct outbound_exchange *exchange, const char *host)
{
    int error = 0;
    if (client->known_until_ms > now_ms() && strcmp(client->host, host) == 0)
        return OUTBOUND_OK;
    forget_addresses(client);
    int64_t wait_ms =
        smaller(exchange->deadline_ms - now_ms(), client->outbound->options.name_timeout_ms);
    enum names_status status = names_find(client->outbound->names, host, wait_ms,
                                          &client->cancelled, &client->addresses, &error);
    if (status == NAMES_FOUND) {
        memcpy(client->host, host, strlen(host) + 1);
        client->known_until_ms = now_ms() + OUTBOUND_NAME_KEPT_MS;
    }
    return result_of_lookup(exchange, status, error);
}

/* Curl calls this before it looks up a name, which it never needs to do. */
static int forbid_lookup(void *resolver, void *reserved, void *context)
{
    (void)resolver;
    (void)reserved;
    (void)context;
    return 1;
}

/* Gives curl the addresses of the host to connect to. They are in `*list`, which the caller frees.
 */
static enum outbound_result give_addresses(struct outbound_client *client,
                                           struct outbound_exchange *exchange,
                                           const struct http_url *peer, struct curl_slist **list)
{
    char host[NAMES_HOST_SIZE_MAX + 1], entry[RESOLVE_SIZE_MAX];
    copy_host(peer, host);
    if (is_numeric(host))
        return OUTBOUND_OK;
    enum outbound_result result = find_addresses(client, exchange, host);
    if (result != OUTBOUND_OK)
        return result;
    /* The plus sign lets the entry expire from curl's cache. */
    snprintf(entry, sizeof entry, "+%s:%u:%s", host, (unsigned)peer->port, client->addresses.text);
    *list = client->curl->slist_append(NULL, entry);
    if (*list == NULL)
        abort();
    client->curl->easy_setopt(client->easy, CURLOPT_RESOLVE, *list);
    client->curl->easy_setopt(client->easy, CURLOPT_RESOLVER_START_FUNCTION, forbid_lookup);
    return OUTBOUND_OK;
}

/* --- The transfer --- */

/* Runs the transfer to its end. False if it was cancelled. */
static bool run(struct outbound_client *client, const struct outbound_request *request,
                CURLcode *code)
{
    const bool asks = request->is_cancelled != NULL;
    int running = 1, ignored;
    *code = CURLE_RECV_ERROR;
    while (running > 0) {
        pthread_mutex_lock(&client->mutex);
        bool cancelled = atomic_load(&client->cancelled);
        CURLMcode step =
            cancelled ? CURLM_OK : client->curl->multi_perform(client->multi, &running);
        pthread_mutex_unlock(&client->mutex);
        if (cancelled || (asks && request->is_cancelled(request->cancel_context)))
            return false;
        if (step != CURLM_OK)
            return true;
        if (running > 0 &&
            client->curl->multi_poll(client->multi, NULL, 0, asks ? OUTBOUND_ASK_MS : POLL_MS,
                                     NULL) != CURLM_OK)
            return true;
    }
    const CURLMsg *message = client->curl->multi_info_read(client->multi, &ignored);
    if (message != NULL && message->msg == CURLMSG_DONE)
        *code = message->data.result;
    return true;
}

static enum outbound_result transfer(struct outbound_client *client,
                                     struct outbound_exchange *exchange)
{
    CURLcode code;
    if (client->curl->multi_add_handle(client->multi, client->easy) != CURLM_OK)
        abort();
    bool ended = run(client, exchange->request, &code);
    enum outbound_result result =
        ended ? outbound_exchange_end(exchange, client->easy, code)
              : outbound_exchange_fail(exchange, OUTBOUND_CANCELLED, "cancelled");
    client->curl->multi_remove_handle(client->multi, client->easy);
    if (outbound_is_unsent(result))
        forget_addresses(client); /* They may be out of date. */
    return result;
}

/* Curl sends headers as they are: a line break within one would begin another, or a request. */
static bool headers_are_lines(const struct outbound_request *request)
{
    for (size_t i = 0; i < request->header_count; i++) {
        struct bytes name = request->headers[i].name, value = request->headers[i].value;
        if (http_grammar_skip_name(name.data, 0, name.len) != name.len ||
            http_grammar_skip_value(value.data, 0, value.len) != value.len)
            return false;
    }
    return true;
}

enum outbound_result outbound_client_send(struct outbound_client *client, struct arena *arena,
                                          const struct outbound_request *request,
                                          struct outbound_answer *answer)
{
    const struct outbound *outbound = client->outbound;
    struct outbound_exchange exchange = { .curl = client->curl,
                                          .arena = arena,
                                          .request = request,
                                          .answer = answer,
                                          .sockets = &client->sockets,
                                          .head_size_max = outbound->options.head_size_max,
                                          .deadline_ms = now_ms() + request->timeout_ms };
    struct http_url url;
    struct curl_slist *headers = NULL, *addresses = NULL;
    outbound_exchange_init(&exchange);
    const char *problem = http_url_parse(request->url, &url);
    if (problem == NULL && !headers_are_lines(request))
        problem = "a header has a control character";
    if (problem != NULL)
        return outbound_exchange_fail(&exchange, OUTBOUND_UNUSABLE, problem);
    bool by_proxy = outbound->has_proxy && !is_loopback(&url);
    client->curl->easy_reset(client->easy);
    enum outbound_result result =
        give_addresses(client, &exchange, by_proxy ? &outbound->proxy : &url, &addresses);
    if (result == OUTBOUND_OK) {
        struct outbound_exchange_route route = { .ca_file = outbound->options.ca_file,
                                                 .proxy = by_proxy ? outbound->options.proxy : "",
                                                 .connect_timeout_ms =
                                                     outbound->options.connect_timeout_ms };
        result = outbound_exchange_prepare(&exchange, client->easy, &route, &headers)
                     ? transfer(client, &exchange)
                     : outbound_exchange_fail(&exchange, OUTBOUND_UNUSABLE,
                                              "the request cannot be made");
    }
    client->curl->easy_reset(client->easy); /* Its options point to this stack frame. */
    client->curl->slist_free_all(headers);
    client->curl->slist_free_all(addresses);
    return result;
}
