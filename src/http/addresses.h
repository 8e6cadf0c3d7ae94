/* addresses.h -- how many connections each client address has, inside http/.
 *
 * For the bound on connections per address. Used when a connection opens and closes, not per
 * request, so one table with one lock serves all loops. IPv6 addresses count by their first 64
 * bits: a client usually has the whole network.
 */
#ifndef STATOR_HTTP_ADDRESSES_H
#define STATOR_HTTP_ADDRESSES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/compiler.h"
#include "http/server.h"

struct sockaddr;
struct http_addresses;

/* For at most `connections_max` connections at a time, `per_address_max` of each address. The owner
 * calls http_addresses_destroy; destroying NULL is allowed. */
struct http_addresses *http_addresses_create(size_t connections_max, size_t per_address_max);
void http_addresses_destroy(struct http_addresses *addresses);

/* The key under which an address is counted. Here and in the next function, an IPv4 address mapped
 * into IPv6 equals the plain one. */
uint64_t http_addresses_key(const struct sockaddr *address);
/* "192.0.2.1", "2001:db8::1"; empty if it is of another family. */
void http_addresses_format(const struct sockaddr *address, char out[HTTP_PEER_SIZE]);

/* False if the address has reached its bound. Each success needs an http_addresses_remove. From any
 * thread. */
MUST_CHECK bool http_addresses_add(struct http_addresses *addresses, uint64_t key);
void http_addresses_remove(struct http_addresses *addresses, uint64_t key);

#endif
