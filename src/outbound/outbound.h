/* outbound.h -- requests to other HTTP servers: those of triggers, and of commands that talk to a
 * server.
 *
 * Uses libcurl, on threads that may wait. Every part of a request is bounded: the lookup of the
 * name, connecting, the whole exchange, the head and the body of the answer. Another thread may
 * cancel it at any time, and nobody ever waits for a name server: see names.h.
 *
 * What this does not do is part of the contract: it follows no redirects, keeps no cookies, reads
 * no .netrc, speaks http and https only, and takes no proxy from the environment. Certificates are
 * always verified.
 *
 * The process must ignore SIGPIPE.
 */
#ifndef STATOR_OUTBOUND_OUTBOUND_H
#define STATOR_OUTBOUND_OUTBOUND_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/compiler.h"
#include "outbound/names.h"

struct arena;
struct http_header;
struct outbound;
struct outbound_client;

enum {
    OUTBOUND_MESSAGE_MAX = 4352, /* A path and a few words. */
    OUTBOUND_PROBLEM_SIZE_MAX = 256,
    OUTBOUND_NAME_TIMEOUT_MS = 10000,    /* Defaults. */
    OUTBOUND_CONNECT_TIMEOUT_MS = 10000, /* With TLS, until its handshake is done. */
    OUTBOUND_HEAD_SIZE_MAX = 64 * 1024,
    OUTBOUND_NAME_KEPT_MS = 60000, /* How long a client reuses the addresses of a name. */
    OUTBOUND_ASK_MS = 200,
    OUTBOUND_CA_KEPT_S = 60, /* How soon a new CA file is read. */
};

/* --- What all clients share --- */

struct outbound_options {
    const char *ca_file; /* PEM: trusted instead of the system's; NULL or "": the system's. */
    const char *proxy;   /* "http://host:port"; NULL or "": none. Loopback targets go without it. */
    int64_t name_timeout_ms; /* 0: the default, as of the next two. */
    int64_t connect_timeout_ms;
    size_t head_size_max;
    names_lookup *lookup; /* NULL: the system's. */
};

/* The texts must outlive it. NULL with one line for people if the CA file cannot be read, or the
 * proxy is invalid. Does not load libcurl. */
MUST_CHECK struct outbound *outbound_open(const struct outbound_options *options,
                                          char message[OUTBOUND_MESSAGE_MAX]);
/* After its last client was destroyed. Does not wait for lookups of names. Closing NULL is allowed.
 */
void outbound_close(struct outbound *outbound);

/* --- One owner's requests, one at a time --- */

/* Keeps a connection for the next request to the same server. The first client loads libcurl. Any
 * thread. NULL with one line for people if the system has no libcurl or no file descriptors left.
 */
MUST_CHECK struct outbound_client *outbound_client_create(struct outbound *outbound,
                                                          char message[OUTBOUND_MESSAGE_MAX]);
/* No call may be under way. Destroying NULL is allowed. */
void outbound_client_destroy(struct outbound_client *client);
/* Any thread. Once it has returned nothing more is sent; a call that is under way ends at once, and
 * so do all later ones. */
void outbound_client_cancel(struct outbound_client *client);

struct outbound_request {
    const char *method; /* "POST" */
    struct bytes url;   /* One that http_url_parse accepts. */
    /* What to ask that server for instead of the URL's path: begins with a slash, is escaped, and
     * may be longer than a URL. data NULL: the URL's. */
    struct bytes target;
    /* Content-Length is added, and Host unless it is among them. */
    const struct http_header *headers;
    size_t header_count;
    struct bytes body; /* Empty: none. */
    /* Use a new connection, so that the request is sent once only: see outbound_client_send. */
    bool sends_once;
    int64_t timeout_ms;
    size_t answer_size_max;
    /* Where the answer's body goes, of whatever status: `answer_size_max` bytes. NULL: into the
     * arena. */
    uint8_t *answer_memory;
    /* Asked every OUTBOUND_ASK_MS or sooner, on the calling thread, while the exchange is under
     * way: true ends it with OUTBOUND_CANCELLED. NULL: nobody is asked. */
    bool (*is_cancelled)(void *context);
    void *cancel_context;
};

enum outbound_result {
    OUTBOUND_OK,        /* There is an answer, whatever it says. */
    OUTBOUND_CANCELLED, /* The request may have had its effect; so with the last three. */
    /* Nothing was sent: */
    OUTBOUND_UNUSABLE, /* The URL, or the CA file. */
    OUTBOUND_NAME_FAILED,
    OUTBOUND_NAME_TIMEOUT,
    OUTBOUND_REFUSED, /* Nobody listens, no route, or the proxy does not connect. */
    OUTBOUND_CONNECT_TIMEOUT,
    OUTBOUND_TLS_FAILED, /* The certificate is not trusted, is another host's or expired, ... */
    /* No whole answer came: */
    OUTBOUND_TIMEOUT,
    OUTBOUND_TOO_LARGE,
    OUTBOUND_BROKEN, /* The connection ended too soon, or the answer is not HTTP. */
};
/* True if the server cannot have seen the request. */
bool outbound_is_unsent(enum outbound_result result);

struct outbound_answer {
    int status;           /* OUTBOUND_OK only, as are the next two. */
    struct buffer head;   /* Lines of headers. */
    struct buffer body;   /* In the request's memory if it had some. */
    struct bytes problem; /* Otherwise: what went wrong, for people. Names no URL. */
};

/* Everything lives in the arena. A request that meets a kept connection which the server has closed
 * meanwhile is sent again on a new one. */
MUST_CHECK enum outbound_result outbound_client_send(struct outbound_client *client,
                                                     struct arena *arena,
                                                     const struct outbound_request *request,
                                                     struct outbound_answer *answer);

/* The value of the first such header; data NULL if there is none. */
struct bytes outbound_answer_header(const struct outbound_answer *answer, const char *name);

#endif
