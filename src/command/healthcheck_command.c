/* healthcheck_command.c -- `stator healthcheck`: is the server of this machine ready? For
 * containers, which have no other program that could ask. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "command/command.h"
#include "config/config.h"
#include "outbound/outbound.h"

enum { TIMEOUT_MS = 4000, ANSWER_SIZE_MAX = 64 * 1024, STATUS_READY = 200 };

/* An address that listens for everybody is asked by way of loopback. */
static const char *host_of(struct arena *arena, const char *bind)
{
    if (strcmp(bind, "0.0.0.0") == 0)
        return "127.0.0.1";
    if (strcmp(bind, "::") == 0)
        return "[::1]";
    return strchr(bind, ':') == NULL ? bind : (const char *)arena_printf(arena, "[%s]", bind).data;
}

static struct bytes url_of(const struct command_call *call)
{
    const char *url = command_value_of(call, "url");
    const struct config *config = call->config;
    if (url != NULL)
        return bytes_from_text(url);
    return arena_printf(call->arena, "%s://%s:%u/readyz",
                        config->tls_cert_file[0] != '\0' ? "https" : "http",
                        host_of(call->arena, config->bind), (unsigned)config->port);
}

static int ask(const struct command_call *call, struct outbound_client *client)
{
    const struct outbound_request request = { .method = "GET",
                                              .url = url_of(call),
                                              .timeout_ms = TIMEOUT_MS,
                                              .answer_size_max = ANSWER_SIZE_MAX };
    struct outbound_answer answer;
    if (outbound_client_send(client, call->arena, &request, &answer) != OUTBOUND_OK) {
        fprintf(stderr, "stator: %.*s\n", BYTES_FMT(answer.problem));
        return COMMAND_FAILED;
    }
    struct bytes body = buffer_bytes(&answer.body);
    if (answer.status != STATUS_READY) {
        fprintf(stderr, "stator: not ready, status %d: %.*s\n", answer.status, BYTES_FMT(body));
        return COMMAND_FAILED;
    }
    puts("ready");
    return command_flush();
}

int healthcheck_command(const struct command_call *call)
{
    const char *ca_file = command_value_of(call, "ca-file");
    const struct outbound_options options = { .ca_file = ca_file != NULL
                                                             ? ca_file
                                                             : call->config->tls_cert_file };
    char message[OUTBOUND_MESSAGE_MAX];
    int code = COMMAND_FAILED;
    signal(SIGPIPE, SIG_IGN);
    struct outbound *outbound = outbound_open(&options, message);
    struct outbound_client *client =
        outbound != NULL ? outbound_client_create(outbound, message) : NULL;
    if (client != NULL)
        code = ask(call, client);
    else
        fprintf(stderr, "stator: %s\n", message);
    outbound_client_destroy(client);
    outbound_close(outbound);
    return code;
}
