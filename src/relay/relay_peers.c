/* relay_peers.c -- see relay_peers.h. */
#include "relay/relay_peers.h"
#include <string.h>
#include "base/arena.h"
#include "http/grammar.h"
#include "http/url.h"

static bool is_region(struct bytes name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((name.data[i] < 'a' || name.data[i] > 'z') &&
            (name.data[i] < '0' || name.data[i] > '9') && name.data[i] != '-')
            return false;
    return name.len > 0 && name.len <= 32;
}

static const char *problem(struct arena *arena, struct bytes entry, const char *what)
{
    return (const char *)arena_printf(arena, "region-peers: \"%.*s\": %s",
                                      (int)(entry.len < 80 ? entry.len : 80),
                                      (const char *)entry.data, what)
        .data;
}

static const char *parse_entry(struct arena *arena, struct bytes entry, const char *own_region,
                               struct relay_peer *out)
{
    struct http_url url;
    struct bytes rest = entry;
    out->region = http_header_next_part(&rest, ' ');
    out->url = http_header_trim(rest);
    if (!is_region(out->region) || out->url.len == 0)
        return problem(arena, entry, "a peer is a region's name, a space and a URL");
    if (bytes_equal_text(out->region, own_region))
        return problem(arena, entry, "this is the server's own region");
    const char *wrong = http_url_parse(out->url, &url);
    if (wrong != NULL)
        return problem(arena, entry, wrong);
    if (!bytes_equal_text(url.target, "/"))
        return problem(arena, entry, "the URL of a peer has no path");
    return NULL;
}

const char *relay_peers_parse(struct arena *arena, const char *text, const char *own_region,
                              struct relay_peer peers[RELAY_PEERS_MAX], size_t *count)
{
    struct bytes rest = bytes_from_text(text);
    *count = 0;
    while (rest.len > 0) {
        struct bytes entry = http_header_trim(http_header_next_part(&rest, ','));
        if (*count == RELAY_PEERS_MAX)
            return "region-peers: there may be 16 peers at most";
        const char *wrong = parse_entry(arena, entry, own_region, &peers[*count]);
        if (wrong != NULL)
            return wrong;
        for (size_t i = 0; i < *count; i++)
            if (bytes_equal(peers[i].region, peers[*count].region))
                return problem(arena, entry, "the region has two peers");
        ++*count;
    }
    return NULL;
}

struct bytes relay_region_of(struct bytes authorization)
{
    static const char name[] = "Credential=";
    const struct bytes none = { 0 };
    const uint8_t *at = authorization.data == NULL
                            ? NULL
                            : memmem(authorization.data, authorization.len, name, sizeof name - 1);
    if (at == NULL || !bytes_starts_with(authorization, BYTES("AWS4-HMAC-SHA256")))
        return none;
    at += sizeof name - 1;
    struct bytes rest = bytes_of(at, (size_t)(authorization.data + authorization.len - at));
    http_header_next_part(&rest, '/'); /* The key, */
    http_header_next_part(&rest, '/'); /* and the date. */
    struct bytes region = http_header_next_part(&rest, '/');
    return rest.len > 0 && is_region(region) ? region : none;
}
