/* raw_http.h -- a client that sends the bytes it is given and reads answers, for tests of sockets.
 *
 * Every wait ends after RAW_HTTP_WAIT_MS: a test waits for events, never for a time to pass.
 */
#ifndef STATOR_TEST_RAW_HTTP_H
#define STATOR_TEST_RAW_HTTP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum { RAW_HTTP_WAIT_MS = 20 * 1000 };

struct tls_peer;
struct tls_peer_options;

struct raw_http {
    int fd;
    struct tls_peer *tls; /* NULL: bytes go as they are. */
    uint8_t *data;        /* What has arrived. */
    size_t len;
    size_t taken; /* By answers returned. */
    size_t capacity;
};

struct raw_http_answer {
    int status;
    struct bytes head; /* With its empty line. Valid until the next call on the client. */
    struct bytes body;
};

/* Connects to 127.0.0.1; aborts if that fails. */
void raw_http_open(struct raw_http *client, uint16_t port);
/* The same, from a given address of this machine, as "127.0.0.2"; NULL: any. */
void raw_http_open_from(struct raw_http *client, uint16_t port, const char *source);
/* The same through TLS, once both ends have agreed. */
void raw_http_open_tls(struct raw_http *client, uint16_t port,
                       const struct tls_peer_options *options);
/* Agrees with the server on TLS, over a connection that is open. False if they cannot. */
MUST_CHECK bool raw_http_start_tls(struct raw_http *client, const struct tls_peer_options *options);
void raw_http_close(struct raw_http *client);
/* Closes so that the server sees a reset. */
void raw_http_reset(struct raw_http *client);
/* No more will be sent, which TLS is told too; answers can still be read. */
void raw_http_end(struct raw_http *client);

/* False if the server has closed the connection, or takes nothing for too long. */
bool raw_http_send(struct raw_http *client, struct bytes text);
bool raw_http_send_text(struct raw_http *client, const char *text);

/* The next answer with its whole body. False if the connection ends or too much time passes. */
MUST_CHECK bool raw_http_receive(struct raw_http *client, struct raw_http_answer *answer);
/* The same for an answer that announces a body but has none: to HEAD, or 100 Continue. */
MUST_CHECK bool raw_http_receive_head(struct raw_http *client, struct raw_http_answer *answer);
/* Waits for the orderly end of the connection, also in the eyes of TLS. False if bytes come first,
 * or a reset, or too much time passes. */
MUST_CHECK bool raw_http_ends(struct raw_http *client);

bool raw_http_has_header(const struct raw_http_answer *answer, const char *line);

#endif
