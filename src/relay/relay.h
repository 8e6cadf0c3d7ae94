/* relay.h -- sends requests for other regions to their servers, and the answers back.
 *
 * A request that came as a whole waits in the queue of its peer for one of the peer's threads,
 * which sends it and waits for the answer. The answer is posted to the request's loop.
 */
#ifndef STATOR_RELAY_RELAY_H
#define STATOR_RELAY_RELAY_H
#include <stdbool.h>
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "outbound/outbound.h"
#include "relay/relay_peers.h"

struct http_exchange;
struct relay;

enum {
    RELAY_THREADS = 8,       /* Of each peer: so many requests are under way at a time. */
    RELAY_WAITING_MAX = 256, /* Requests for one peer that wait for a thread. */
    RELAY_TIMEOUT_MS = 60000,
    RELAY_ANSWER_SIZE_MAX = 32 * 1024 * 1024,
    RELAY_HEADERS_MAX = 128,
};

struct relay_options {
    const struct relay_peer *peers;
    size_t count; /* Above 0. */
    struct outbound *network;
    /* outbound_client_send, or a test's own. */
    enum outbound_result (*send)(struct outbound_client *client, struct arena *arena,
                                 const struct outbound_request *request,
                                 struct outbound_answer *answer);
};

/* Answers in place of a peer that gave no answer. On the loop's thread. */
typedef void relay_refuse(void *context, void *loop_context, struct http_exchange *exchange,
                          bool unsent, struct bytes text);

/* What the options point to must outlive it. NULL with one line for people if the system has no
 * threads or no libcurl for it. */
MUST_CHECK struct relay *relay_start(const struct relay_options *options,
                                     char message[OUTBOUND_MESSAGE_MAX]);
/* Ends the threads, and what they are doing. After the HTTP server has stopped. NULL is allowed. */
void relay_stop(struct relay *relay);

/* Takes the request over if it is signed for a peer's region: it is answered later. False: it is
 * not, and nothing was done. On the loop's thread. */
bool relay_take(struct relay *relay, void *loop_context, struct http_exchange *exchange,
                relay_refuse *refuse, void *context);

#endif
