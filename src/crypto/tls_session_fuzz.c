/* tls_session_fuzz.c -- a server's session with arbitrary bytes from a client.
 *
 * The first byte selects one of two ways. Even: the rest is the input, in pieces of that size. Odd:
 * an honest client completes the handshake and sends text, and the rest corrupts its bytes: pairs
 * of a distance from the last corrupted byte and of bits to flip. So the fuzzer also reaches states
 * that only an honest client can reach.
 */
#include <assert.h>
#include <openssl/err.h>
#include <stdlib.h>
#include "crypto/tls_context.h"
#include "crypto/tls_session.h"
#include "tls_files.h"
#include "tls_peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUT_SIZE = 4096, PLAIN_SIZE = 512, ROUNDS_MAX = 8 };

struct server {
    struct tls_session *session;
    enum tls_status status;
    bool established;
    uint8_t out[OUT_SIZE];
    uint8_t plain[PLAIN_SIZE];
};

/* Made once: a key takes longer than what is fuzzed. */
static struct tls_files files;

static void destroy_files(void)
{
    tls_files_destroy(&files);
}

static const struct tls_files *files_of_process(void)
{
    if (files.directory[0] == '\0') {
        tls_files_create(&files);
        atexit(destroy_files);
    }
    return &files;
}

static struct tls_context *context_of_process(void)
{
    static struct tls_context *context;
    if (context == NULL)
        context = tls_files_context(files_of_process(), "server.pem", "server.key", "ca.pem");
    return context;
}

/* Gives the server `in`, and the client, if there is one, what the server says to it. */
static void serve(struct server *server, struct tls_peer *client, struct bytes in)
{
    struct tls_wire wire = { .in = in, .out = server->out, .out_capacity = OUT_SIZE };
    do {
        size_t len = 0;
        if (server->established)
            server->status =
                tls_session_read(server->session, &wire, server->plain, PLAIN_SIZE, &len);
        else
            server->status = tls_session_handshake(server->session, &wire);
        assert(wire.out_len <= OUT_SIZE && len <= PLAIN_SIZE && ERR_peek_error() == 0);
        assert(server->status != TLS_MORE || wire.in.len == 0);
        if (client != NULL)
            tls_peer_give(client, bytes_of(wire.out, wire.out_len));
        wire.out_len = 0;
        server->established = server->established || server->status == TLS_OK;
        if (server->established && len > 0)
            server->status = tls_session_write(server->session, &wire, bytes_of(server->plain, 1));
    } while (server->status == TLS_OK || server->status == TLS_FULL);
}

static void feed(struct server *server, struct bytes in, size_t step)
{
    while (in.len > 0 && server->status == TLS_MORE) {
        size_t size = step > 0 && step < in.len ? step : in.len;
        serve(server, NULL, bytes_of(in.data, size));
        in = bytes_of(in.data + size, in.len - size);
    }
}

/* Where the next byte is spoilt, in how much is sent until then. */
struct spoiler {
    struct bytes edits;
    size_t left;
};

static void spoil(struct spoiler *spoiler, struct bytes sent)
{
    uint8_t *data = (uint8_t *)(uintptr_t)sent.data;
    for (size_t i = 0; i < sent.len && spoiler->edits.len >= 2; i++) {
        if (spoiler->left-- > 0)
            continue;
        data[i] ^= spoiler->edits.data[1];
        spoiler->edits = bytes_of(spoiler->edits.data + 2, spoiler->edits.len - 2);
        spoiler->left = spoiler->edits.len > 0 ? spoiler->edits.data[0] : 0;
    }
}

static void talk(struct server *server, struct bytes edits, bool is_old)
{
    const struct tls_peer_options options = { .files = files_of_process(),
                                              .name = "client",
                                              .version_max = is_old ? TLS_PEER_1_2 : 0 };
    struct tls_peer *client = tls_peer_create(&options);
    struct spoiler spoiler = { edits, edits.len > 0 ? edits.data[0] : 0 };
    for (int i = 0; i < ROUNDS_MAX && server->status == TLS_MORE; i++) {
        if (tls_peer_shake(client) && server->established)
            tls_peer_write(client, BYTES("POST / HTTP/1.1\r\n"));
        struct bytes sent = tls_peer_take(client);
        spoil(&spoiler, sent);
        serve(server, client, sent);
        if (tls_peer_failed(client))
            break;
    }
    tls_peer_destroy(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct server server = { .session = tls_session_create(context_of_process()),
                             .status = TLS_MORE };
    struct bytes rest = bytes_of(data + 1, size - 1);
    if (data[0] % 2 == 0)
        feed(&server, rest, data[0]);
    else
        talk(&server, rest, data[0] % 4 == 1);
    struct tls_wire wire = { .in = BYTES(""), .out = server.out, .out_capacity = OUT_SIZE };
    tls_session_end(server.session, &wire);
    tls_session_destroy(server.session);
    return 0;
}
