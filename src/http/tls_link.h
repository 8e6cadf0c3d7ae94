/* tls_link.h -- TLS between a transport and its socket, inside http/.
 *
 * Decrypts from a buffer of the loop directly to where the connection wants the bytes, and encrypts
 * record by record into another. A link itself keeps only bytes that are stuck: input that arrived
 * while the connection did not read, and output that the socket did not take. Each is at most one
 * of the loop's buffers; while there is some, no more is produced.
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

/* A loop's buffers, shared by its connections, each for the duration of one call. */
struct http_tls_buffers {
    uint8_t in[HTTP_TLS_IN_SIZE];
    uint8_t out[HTTP_TLS_OUT_SIZE];
    uint8_t record[TLS_SESSION_PLAIN_MAX]; /* The end of a head and the start of its body. */
};

/* Bytes that are stuck count in the budget, which must outlive the link. */
struct http_tls_link *http_tls_link_create(struct tls_context *context,
                                           struct memory_budget *budget);
void http_tls_link_destroy(struct http_tls_link *link); /* Destroying NULL is allowed. */

/* True if the link reads from the socket now. */
bool http_tls_link_is_listening(const struct http_transport *transport);
/* The functions of transport.h of the same names, for a transport with a link. */
MUST_CHECK bool http_tls_link_read(struct http_transport *transport);
void http_tls_link_stop_reading(struct http_transport *transport);
MUST_CHECK enum http_transport_status http_tls_link_write(struct http_transport *transport,
                                                          struct bytes head, struct bytes body);
void http_tls_link_go_on(struct http_transport *transport);
MUST_CHECK bool http_tls_link_write_now(struct http_transport *transport, struct bytes text);
uint64_t http_tls_link_unwritten(const struct http_transport *transport);
/* Sends TLS's close_notify, if the socket takes it. Later input is not decrypted. */
void http_tls_link_end(struct http_transport *transport);

#endif
