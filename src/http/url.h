/* url.h -- the parts of "http://host:port/target", or https, for clients of other servers. */
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
    struct bytes host; /* A name or an address; IPv6 without brackets. */
    uint16_t port;
    struct bytes authority; /* Host and port as written, for the Host header. */
    struct bytes target;    /* Begins with a slash. */
};

/* Returns NULL, or what is wrong with the URL, for people. The parts borrow the text; a missing
 * target is "/". */
MUST_CHECK const char *http_url_parse(struct bytes text, struct http_url *out);

/* "scheme://host:port/path": the URL without user info, query and fragment, which may hold
 * passwords and tokens. For log lines, and for callers who may not see the whole URL. Accepts any
 * text, even one that is no URL. The result lives in the arena. */
struct bytes url_without_secrets(struct arena *arena, struct bytes url);

#endif
