/* tls_link.h -- TLS between a transport and its socket, inside http/.
 *
 * Bytes are decrypted from the loop's buffer straight to where the connection wants them, and
 * encrypted record by record into another. What a link has of its own are the bytes that could not
 * go on: those that arrived when nobody wanted to read, and those that the socket did not take.
 * Neither is more than one of the loop's buffers; while there are any of a kind, no more is made.
 */
#ifndef STATOR_HTTP_TLS_LINK_H
#define STATOR_HTTP_TLS_LINK_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "crypto/tls_session.h"
#include "http/transport.h"

struct memory_budget;
struct tls_context;
struct http_tls_link;

enum {
    HTTP_TLS_IN_SIZE = 64 * 1024, /* Of one read. */
    HTTP_TLS_OUT_SIZE = 4 * TLS_SESSION_RECORD_MAX,
};

/* A loop's buffers, which its connections use in turn, each for the time of one call. */
struct http_tls_buffers {
    uint8_t in[HTTP_TLS_IN_SIZE];
    uint8_t out[HTTP_TLS_OUT_SIZE];
    uint8_t record[TLS_SESSION_PLAIN_MAX]; /* The end of a head and the beginning of its body. */
};

/* What could not go on counts in the budget, which must outlive the link. */
struct http_tls_link *http_tls_link_create(struct tls_context *context,
                                           struct memory_budget *budget);
void http_tls_link_destroy(struct http_tls_link *link); /* Destroying NULL is allowed. */

/* Is the socket read as soon as something arrives there? */
bool http_tls_link_is_listening(const struct http_transport *transport);
/* What the functions of transport.h of the same names do if there is a link. */
MUST_CHECK bool http_tls_link_read(struct http_transport *transport);
void http_tls_link_stop_reading(struct http_transport *transport);
MUST_CHECK enum http_transport_status http_tls_link_write(struct http_transport *transport,
                                                          struct bytes head, struct bytes body);
MUST_CHECK bool http_tls_link_write_now(struct http_transport *transport, struct bytes text);
uint64_t http_tls_link_unwritten(const struct http_transport *transport);
/* Says goodbye, as far as the socket takes it. What arrives from here on is not decrypted. */
void http_tls_link_end(struct http_transport *transport);

#endif
