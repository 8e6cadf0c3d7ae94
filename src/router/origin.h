/* origin.h -- which web pages may call the server, by the headers that only browsers send.
 *
 * A page that a developer opens can send requests to a database on the developer's own machine. The
 * browser marks them: `Origin` names the page on every POST and on every request to another host,
 * and `Sec-Fetch-Site` is in every request to a host that the browser trusts. Pages can neither
 * change nor omit them. Two rules apply to requests with one of these headers. Requests of SDKs and
 * tools have neither, and may use any name for the server.
 *
 * - The origin must be in `cors-origins`. This stops pages of other hosts, even one whose name
 *   resolves to this machine (DNS rebinding), because the origin is the page's name.
 * - The `Host` must be a loopback name, an IP address, or in `allowed-hosts`. This stops rebinding
 *   if the browser sends no Origin. It is not checked for origins that the setting names, or if the
 *   setting is "*".
 *
 * doc/security.md, "Web pages", has the argument.
 */
#ifndef STATOR_ROUTER_ORIGIN_H
#define STATOR_ROUTER_ORIGIN_H
#include "base/bytes.h"
#include "base/compiler.h"

/* Comma-separated lists, never NULL. */
struct origin_rules {
    const char *origins; /* "*", origins, or `loopback` for all pages of this machine. */
    const char *hosts;   /* "*" or names, without ports. */
};

/* Headers of a request; data NULL: absent. */
struct origin_headers {
    struct bytes origin;
    struct bytes fetch_site;
    struct bytes host;
};

/* Only browsers send either of them. Looks at no other header. */
static inline bool origin_is_page(const struct origin_headers *headers)
{
    return headers->origin.data != NULL || headers->fetch_site.data != NULL;
}

enum origin_verdict {
    ORIGIN_SERVED,
    ORIGIN_REFUSED,      /* The page's origin may not call. */
    ORIGIN_HOST_REFUSED, /* The page used an unknown name for the server. */
};

/* `allowed` is the value of Access-Control-Allow-Origin; data NULL: the answer has none. It borrows
 * from the headers. */
MUST_CHECK enum origin_verdict origin_judge(const struct origin_rules *rules,
                                            const struct origin_headers *headers,
                                            struct bytes *allowed);

#endif
