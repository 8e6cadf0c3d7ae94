/* origin.c -- see origin.h. */
#include "router/origin.h"
#include <arpa/inet.h>
#include "http/grammar.h"

enum { PORT_DIGITS_MAX = 5 };

/* The host of "name:8000", "127.0.0.1" or "[::1]:8000", with its brackets; data NULL for any other
 * form. */
static struct bytes host_part(struct bytes text)
{
    size_t end = 0;
    if (text.len > 0 && text.data[0] == '[') {
        while (end < text.len && text.data[end] != ']')
            end++;
        end += end < text.len;
    } else {
        while (end < text.len && text.data[end] != ':')
            end++;
    }
    struct bytes host = bytes_of(text.data, end);
    if (end < text.len) {
        size_t digits = text.len - end - 1;
        if (text.data[end] != ':' || digits == 0 || digits > PORT_DIGITS_MAX)
            return (struct bytes){ 0 };
        for (size_t i = end + 1; i < text.len; i++)
            if (text.data[i] < '0' || text.data[i] > '9')
                return (struct bytes){ 0 };
    }
    return host.len > 0 ? host : (struct bytes){ 0 };
}

enum address_kind { NOT_AN_ADDRESS, ADDRESS, LOOPBACK_ADDRESS };

static enum address_kind address_kind(struct bytes host)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;
    bool is_bracketed = host.len >= 2 && host.data[0] == '[' && host.data[host.len - 1] == ']';
    if (is_bracketed)
        host = bytes_of(host.data + 1, host.len - 2);
    if (host.len >= sizeof text || memchr(host.data, '\0', host.len) != NULL)
        return NOT_AN_ADDRESS;
    memcpy(text, host.data, host.len);
    text[host.len] = '\0';
    if (is_bracketed)
        return inet_pton(AF_INET6, text, &v6) != 1 ? NOT_AN_ADDRESS
               : IN6_IS_ADDR_LOOPBACK(&v6)         ? LOOPBACK_ADDRESS
                                                   : ADDRESS;
    return inet_pton(AF_INET, text, &v4) != 1         ? NOT_AN_ADDRESS
           : ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET ? LOOPBACK_ADDRESS
                                                      : ADDRESS;
}

static bool is_loopback(struct bytes host)
{
    return http_header_equal(host, BYTES("localhost")) || address_kind(host) == LOOPBACK_ADDRESS;
}

/* True for "http://localhost:3000" and the like: a page that this machine serves. */
static bool is_loopback_origin(struct bytes origin)
{
    static const char *const schemes[] = { "http://", "https://" };
    for (size_t i = 0; i < COUNT_OF(schemes); i++) {
        struct bytes scheme = bytes_from_text(schemes[i]);
        if (origin.len <= scheme.len ||
            !http_header_equal(bytes_of(origin.data, scheme.len), scheme))
            continue;
        struct bytes host = host_part(bytes_of(origin.data + scheme.len, origin.len - scheme.len));
        return host.data != NULL && is_loopback(host);
    }
    return false;
}

enum match { NO_MATCH, MATCHES_LOOPBACK, MATCHES_NAME, MATCHES_ALL };

static enum match match_origin(const char *origins, struct bytes origin)
{
    struct bytes list = bytes_from_text(origins);
    enum match match = NO_MATCH;
    while (list.len > 0) {
        struct bytes entry = http_header_next_part(&list, ',');
        if (bytes_equal_text(entry, "*"))
            return MATCHES_ALL;
        if (origin.data == NULL)
            continue;
        if (bytes_equal_text(entry, "loopback")) {
            if (match == NO_MATCH && is_loopback_origin(origin))
                match = MATCHES_LOOPBACK;
        } else if (http_header_equal(entry, origin)) {
            match = MATCHES_NAME;
        }
    }
    return match;
}

static bool is_our_host(const char *hosts, struct bytes header)
{
    struct bytes host = header.data == NULL ? header : host_part(header);
    struct bytes list = bytes_from_text(hosts);
    if (host.data == NULL)
        return false;
    if (host.data[host.len - 1] == '.') /* "localhost." is the same name. */
        host.len--;
    if (is_loopback(host) || address_kind(host) != NOT_AN_ADDRESS)
        return true; /* DNS cannot redirect an address. */
    while (list.len > 0) {
        struct bytes entry = http_header_next_part(&list, ',');
        if (bytes_equal_text(entry, "*") || http_header_equal(entry, host))
            return true;
    }
    return false;
}

enum origin_verdict origin_judge(const struct origin_rules *rules,
                                 const struct origin_headers *headers, struct bytes *allowed)
{
    *allowed = (struct bytes){ 0 };
    if (!origin_is_page(headers))
        return ORIGIN_SERVED;
    enum match match = match_origin(rules->origins, headers->origin);
    if (match == NO_MATCH && headers->origin.data != NULL)
        return ORIGIN_REFUSED;
    if (match < MATCHES_NAME && !is_our_host(rules->hosts, headers->host))
        return ORIGIN_HOST_REFUSED;
    if (headers->origin.data != NULL)
        *allowed = match == MATCHES_ALL ? BYTES("*") : headers->origin;
    return ORIGIN_SERVED;
}
