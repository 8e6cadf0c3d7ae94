/* addresses.c -- see addresses.h.
 *
 * A hash table with open addressing, at most half full: it has twice as many slots as there can be
 * connections. Removing an entry moves later ones of its run forward, so there are no tombstones. A
 * secret goes into the hash, so clients cannot choose addresses that collide.
 */
#include "http/addresses.h"
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"

struct entry {
    uint64_t key;
    size_t count; /* 0: the slot is free. */
};

struct http_addresses {
    size_t per_address_max;
    uint64_t secret;
    size_t mask; /* Number of slots, a power of two, minus one. */
    pthread_mutex_t mutex;
    struct entry *entries; /* Guarded by the mutex. */
};

struct http_addresses *http_addresses_create(size_t connections_max, size_t per_address_max)
{
    assert(per_address_max > 0);
    struct http_addresses *addresses = memory_checked(calloc(1, sizeof *addresses));
    size_t count = 2;
    while (count < 2 * connections_max)
        count *= 2;
    addresses->per_address_max = per_address_max;
    if (getentropy(&addresses->secret, sizeof addresses->secret) != 0)
        abort();
    addresses->mask = count - 1;
    addresses->entries = memory_checked(calloc(count, sizeof *addresses->entries));
    pthread_mutex_init(&addresses->mutex, NULL);
    return addresses;
}

void http_addresses_destroy(struct http_addresses *addresses)
{
    if (addresses == NULL)
        return;
    pthread_mutex_destroy(&addresses->mutex);
    free(addresses->entries);
    free(addresses);
}

static const struct in6_addr *v6_of(const struct sockaddr *address)
{
    return &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

/* The four bytes of an IPv4 address; NULL if it is none. */
static const uint8_t *v4_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (const uint8_t *)&((const struct sockaddr_in *)(const void *)address)->sin_addr;
    if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(v6_of(address)))
        return v6_of(address)->s6_addr + 12;
    return NULL;
}

uint64_t http_addresses_key(const struct sockaddr *address)
{
    uint8_t bytes[sizeof(uint64_t)] = { 0xFF, 0xFF }; /* No IPv6 client's network. */
    uint64_t key;
    const uint8_t *v4 = v4_of(address);
    if (v4 != NULL)
        memcpy(bytes + 4, v4, 4);
    else if (address->sa_family == AF_INET6)
        memcpy(bytes, v6_of(address), sizeof bytes);
    memcpy(&key, bytes, sizeof key);
    return key;
}

void http_addresses_format(const struct sockaddr *address, char out[HTTP_PEER_SIZE])
{
    const uint8_t *v4 = v4_of(address);
    out[0] = 0;
    if (v4 != NULL)
        inet_ntop(AF_INET, v4, out, HTTP_PEER_SIZE);
    else if (address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, v6_of(address), out, HTTP_PEER_SIZE);
}

static size_t home_of(const struct http_addresses *addresses, uint64_t key)
{
    uint64_t mixed = key ^ addresses->secret;
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return (size_t)(mixed ^ mixed >> 31) & addresses->mask;
}

/* The slot of the key, or the free one for it. */
static size_t find_locked(const struct http_addresses *addresses, uint64_t key)
{
    size_t at = home_of(addresses, key);
    while (addresses->entries[at].count > 0 && addresses->entries[at].key != key)
        at = (at + 1) & addresses->mask;
    return at;
}

/* A later entry of the run may fill the gap unless its home lies after the gap. */
static void close_gap_locked(struct http_addresses *addresses, size_t gap)
{
    size_t mask = addresses->mask;
    struct entry *entries = addresses->entries;
    for (size_t at = (gap + 1) & mask; entries[at].count > 0; at = (at + 1) & mask) {
        size_t home = home_of(addresses, entries[at].key);
        if (((at - home) & mask) < ((at - gap) & mask))
            continue;
        entries[gap] = entries[at];
        entries[at].count = 0;
        gap = at;
    }
}

bool http_addresses_add(struct http_addresses *addresses, uint64_t key)
{
    pthread_mutex_lock(&addresses->mutex);
    struct entry *entry = &addresses->entries[find_locked(addresses, key)];
    bool ok = entry->count < addresses->per_address_max;
    if (ok) {
        entry->key = key;
        entry->count++;
    }
    pthread_mutex_unlock(&addresses->mutex);
    return ok;
}

void http_addresses_remove(struct http_addresses *addresses, uint64_t key)
{
    pthread_mutex_lock(&addresses->mutex);
    size_t at = find_locked(addresses, key);
    assert(addresses->entries[at].count > 0);
    if (--addresses->entries[at].count == 0)
        close_gap_locked(addresses, at);
    pthread_mutex_unlock(&addresses->mutex);
}
