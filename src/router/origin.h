/* origin.h -- which web pages may call the server, by the headers that only browsers send.
 *
 * A page that a developer opens can send requests to a database on the developer's own machine. A
 * browser marks them: `Origin` names the page on every POST and on every request to another host,
 * and `Sec-Fetch-Site` comes with every request to a host that the browser trusts. Pages cannot
 * change or leave out either. Two rules hold for requests with such a mark, and for no others, so
 * that SDKs and tools may use any name for the server:
 *
 * - The origin is one of `cors-origins`. This stops pages of other hosts, including one whose name
 *   was made to resolve to this machine (DNS rebinding): the page's own name is its origin.
 * - The `Host` is a loopback name, an IP address, or one of `allowed-hosts`. This stops rebinding
 *   where the browser sends no Origin. It is not asked for origins that were named in the setting,
 *   or where that is "*": whoever set it has answered the question.
 *
 * doc/security.md, "Web pages", has the argument.
 */
#ifndef STATOR_ROUTER_ORIGIN_H
#define STATOR_ROUTER_ORIGIN_H
#include "base/bytes.h"
#include "base/compiler.h"

/* Lists with commas, never NULL. */
struct origin_rules {
    const char *origins; /* "*", origins, and `loopback` for all pages of this machine. */
    const char *hosts;   /* "*" or names, without ports. */
};

/* Headers of a request; data NULL: it has none of that name. */
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
    ORIGIN_REFUSED,      /* The page is of an origin that may not call. */
    ORIGIN_HOST_REFUSED, /* A page used a name that is not known to be the server's. */
};

/* `allowed` is the value of Access-Control-Allow-Origin; data NULL: the answer has none. It borrows
 * from the headers. */
MUST_CHECK enum origin_verdict origin_judge(const struct origin_rules *rules,
                                            const struct origin_headers *headers,
                                            struct bytes *allowed);

#endif
