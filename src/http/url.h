/* url.h -- the parts of "http://host:port/target", or https, for whoever calls a server. */
#ifndef STATOR_HTTP_URL_H
#define STATOR_HTTP_URL_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"

enum {
    HTTP_URL_SIZE_MAX = 2048,
    HTTP_URL_HOST_SIZE_MAX = 255, /* Of a name in the DNS. */
    HTTP_URL_PORT_DEFAULT = 80,
    HTTP_URL_TLS_PORT_DEFAULT = 443,
};

struct arena;

struct http_url {
    bool is_tls;       /* https */
    struct bytes host; /* A name or an address; one of IPv6 without its brackets. */
    uint16_t port;
    struct bytes authority; /* Host and port as written, for the Host header. */
    struct bytes target;    /* Begins with a slash. */
};

/* NULL if the text is such a URL; else what is wrong with it, for people. The parts borrow the
 * text, but for a target that it does not have. */
MUST_CHECK const char *http_url_parse(struct bytes text, struct http_url *out);

/* "scheme://host:port/path": the URL without user info, query and fragment, which may hold
 * passwords and tokens. For log lines, and for callers who may not see the whole URL. Takes any
 * text, also one that is no URL, of any scheme. The result lives in the arena. */
struct bytes url_without_secrets(struct arena *arena, struct bytes url);

#endif
