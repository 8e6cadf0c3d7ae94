/* relay_peers.h -- the servers of other regions, and the region that a request is for. */
#ifndef STATOR_RELAY_RELAY_PEERS_H
#define STATOR_RELAY_RELAY_PEERS_H
#include <stddef.h>
#include "base/bytes.h"
#include "base/compiler.h"

struct arena;

enum { RELAY_PEERS_MAX = 16 };

struct relay_peer {
    struct bytes region;
    struct bytes url; /* Of the server, without a path. */
};

/* Reads "us-west-2 http://127.0.0.1:8001, eu-west-1 https://db.example". Returns what is wrong, for
 * people, or NULL. The peers borrow the text; the arena is for messages. */
MUST_CHECK const char *relay_peers_parse(struct arena *arena, const char *text,
                                         const char *own_region,
                                         struct relay_peer peers[RELAY_PEERS_MAX], size_t *count);

/* The region in "AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/SERVICE/aws4_request, ...", the value
 * of an Authorization header; len 0 if it has no such form. Borrows it. */
struct bytes relay_region_of(struct bytes authorization);

#endif
