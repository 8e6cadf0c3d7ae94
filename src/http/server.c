/* server.c -- starting and stopping the loops of a server. */
#include "http/server.h"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/memory.h"
#include "crypto/tls_context.h"
#include "http/addresses.h"
#include "http/loop.h"
#include "http/parser.h"
#include "http/request_memory.h"

const struct http_options http_options_default = {
    .address = "127.0.0.1",
    .port = 8000,
    .loop_count = 0,
    .header_size_max = 16 * 1024,
    .body_size_max = 16 * 1024 * 1024,
    .connections_max = 10000,
    .refused_max = HTTP_REFUSED_MAX,
    .connections_per_address_max = 5000,
    .memory_max = 1024 * 1024 * 1024,
    .header_timeout_ms = 10 * 1000,
    .body_timeout_ms = 30 * 1000,
    .idle_timeout_ms = 75 * 1000,
    .write_timeout_ms = 30 * 1000,
};

struct http_server {
    struct http_shared shared;
    uint16_t port;
    unsigned loop_count;
    unsigned loops_open; /* Those with a context of the handler. */
    struct http_loop *loops[];
};

static bool parse_address(const struct http_options *options, struct sockaddr_storage *address,
                          char message[HTTP_MESSAGE_MAX])
{
    *address = (struct sockaddr_storage){ 0 };
    if (uv_ip4_addr(options->address, options->port, (struct sockaddr_in *)address) == 0 ||
        uv_ip6_addr(options->address, options->port, (struct sockaddr_in6 *)address) == 0)
        return true;
    snprintf(message, HTTP_MESSAGE_MAX, "not an IP address: %s", options->address);
    return false;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address = { 0 };
    socklen_t size = sizeof address;
    int failed = getsockname(fd, (struct sockaddr *)&address, &size);
    assert(!failed);
    (void)failed;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
    if (address->ss_family == AF_INET6)
        ((struct sockaddr_in6 *)address)->sin6_port = htons(port);
    else
        ((struct sockaddr_in *)address)->sin_port = htons(port);
}

/* Binds and creates one more loop. */
static bool add_loop(struct http_server *server, struct sockaddr_storage *address,
                     char message[HTTP_MESSAGE_MAX])
{
    bool is_first = server->loop_count == 0;
    int fd = is_first ? http_listener_bind_first(address) : http_listener_bind_more(address);
    if (fd < 0) {
        snprintf(message, HTTP_MESSAGE_MAX, "cannot listen on %s port %u: %s",
                 server->shared.options.address, (unsigned)server->shared.options.port,
                 uv_strerror(fd));
        return false;
    }
    if (is_first) {
        server->port = port_of(fd);
        set_port(address, server->port);
    }
    struct http_loop *loop = http_loop_create(&server->shared, fd);
    if (loop == NULL) {
        close(fd);
        snprintf(message, HTTP_MESSAGE_MAX, "cannot create an event loop");
        return false;
    }
    server->loops[server->loop_count++] = loop;
    return true;
}

static void open_contexts(struct http_server *server)
{
    const struct http_handler *handler = &server->shared.handler;
    for (; server->loops_open < server->loop_count; server->loops_open++) {
        struct http_loop *loop = server->loops[server->loops_open];
        loop->context = handler->loop_open != NULL ? handler->loop_open(handler->context, loop)
                                                   : handler->context;
    }
}

/* No loop runs. False if one owes answers, and is not freed. */
static bool destroy(struct http_server *server)
{
    const struct http_handler *handler = &server->shared.handler;
    bool abandoned = false;
    for (unsigned i = 0; i < server->loop_count; i++) {
        struct http_loop *loop = server->loops[i];
        abandoned = abandoned || loop->abandoned;
        if (i < server->loops_open && handler->loop_close != NULL && !loop->abandoned)
            handler->loop_close(loop->context);
        http_loop_destroy(loop);
    }
    http_discard_stop(server->shared.discard);
    assert(abandoned || (memory_budget_used(&server->shared.memory) == 0 &&
                         atomic_load(&server->shared.connection_count) == 0));
    http_addresses_destroy(server->shared.addresses);
    tls_context_release(server->shared.tls);
    pthread_mutex_destroy(&server->shared.tls_mutex);
    if (!abandoned) /* Otherwise arenas that count in its budget are still in use. */
        free(server);
    return !abandoned;
}

static void stop_loops(struct http_server *server, unsigned count, uint64_t grace_ms)
{
    for (unsigned i = 0; i < count; i++)
        http_loop_ask_to_stop(server->loops[i], grace_ms);
    for (unsigned i = 0; i < count; i++)
        pthread_join(server->loops[i]->thread, NULL);
}

static bool start_loops(struct http_server *server, char message[HTTP_MESSAGE_MAX])
{
    for (unsigned i = 0; i < server->loop_count; i++) {
        if (http_loop_start(server->loops[i]))
            continue;
        snprintf(message, HTTP_MESSAGE_MAX, "cannot start a thread");
        stop_loops(server, i, 0);
        return false;
    }
    return true;
}

static bool start_discard(struct http_server *server, char message[HTTP_MESSAGE_MAX])
{
    server->shared.discard = http_discard_start();
    if (server->shared.discard == NULL)
        snprintf(message, HTTP_MESSAGE_MAX, "cannot start a thread");
    return server->shared.discard != NULL;
}

struct http_server *http_server_start(const struct http_options *options,
                                      const struct http_handler *handler,
                                      char message[HTTP_MESSAGE_MAX])
{
    assert(handler->request != NULL);
    assert(options->header_size_max > 0 && options->header_size_max <= HTTP_PARSER_SIZE_MAX);
    assert(options->header_timeout_ms > 0 && options->body_timeout_ms > 0);
    assert(options->idle_timeout_ms > 0 && options->write_timeout_ms > 0);
    struct sockaddr_storage address;
    if (!parse_address(options, &address, message))
        return NULL;
    unsigned loop_count = options->loop_count;
    if (loop_count == 0)
        loop_count = uv_available_parallelism();
    struct http_server *server =
        memory_checked(calloc(1, sizeof *server + loop_count * sizeof server->loops[0]));
    server->shared.options = *options;
    server->shared.handler = *handler;
    atomic_init(&server->shared.connection_count, 0);
    server->shared.memory.size_max = http_pressure_scarce_size(options->memory_max);
    if (options->connections_per_address_max > 0)
        server->shared.addresses =
            http_addresses_create(options->connections_max, options->connections_per_address_max);
    server->shared.loops = server->loops;
    server->shared.loop_count = loop_count;
    pthread_mutex_init(&server->shared.tls_mutex, NULL);
    if (options->tls != NULL)
        server->shared.tls = tls_context_acquire(options->tls);
    bool ok = start_discard(server, message);
    while (ok && server->loop_count < loop_count)
        ok = add_loop(server, &address, message);
    if (ok) {
        open_contexts(server);
        ok = start_loops(server, message);
    }
    if (ok)
        return server;
    destroy(server);
    return NULL;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_set_tls(struct http_server *server, struct tls_context *tls)
{
    struct http_shared *shared = &server->shared;
    assert(shared->options.tls != NULL && tls != NULL);
    pthread_mutex_lock(&shared->tls_mutex);
    struct tls_context *before = shared->tls;
    shared->tls = tls_context_acquire(tls);
    pthread_mutex_unlock(&shared->tls_mutex);
    tls_context_release(before);
}

struct http_tls_link *http_shared_create_link(struct http_shared *shared)
{
    if (shared->options.tls == NULL)
        return NULL;
    pthread_mutex_lock(&shared->tls_mutex);
    struct tls_context *tls = tls_context_acquire(shared->tls);
    pthread_mutex_unlock(&shared->tls_mutex);
    struct http_tls_link *link = http_tls_link_create(tls, &shared->memory);
    tls_context_release(tls);
    return link;
}

bool http_server_stop(struct http_server *server, uint64_t grace_ms)
{
    stop_loops(server, server->loop_count, grace_ms);
    return destroy(server);
}

void http_server_read_statistics(const struct http_server *server, struct http_statistics *out)
{
    for (unsigned i = 0; i < server->loop_count; i++)
        http_loop_read_statistics(server->loops[i], out);
    out->connections += atomic_load(&server->shared.connection_count);
    out->connections_max += server->shared.options.connections_max;
    out->memory += memory_budget_used(&server->shared.memory);
    out->memory_max += server->shared.memory.size_max;
}
