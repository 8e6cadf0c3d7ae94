/* audit.c -- see audit.h. */
#include "wire/audit.h"
#include <string.h>
#include "api/api.h"
#include "auth/caller.h"
#include "base/log.h"
#include "http/server.h"
#include "model/error.h"

/* A stranger may claim anything; a line has room for this much of it. */
enum { CLAIMED_SHOWN_MAX = 64 };

/* "AccessDeniedException" */
static const char *short_name(enum error_code code)
{
    const char *type = error_kind(code)->type;
    const char *hash = strchr(type, '#');
    return hash == NULL ? type : hash + 1;
}

void audit_call(const struct api_call *call)
{
    bool failed = error_is_set(&call->error);
    bool denied = failed && call->error.code == ERROR_ACCESS_DENIED;
    struct bytes resource = call->resource.data == NULL ? BYTES("-") : call->resource;
    if (call->caller == NULL || (!denied && !operation_is_control(call->operation)))
        return;
    log_write(denied ? LOG_WARN : LOG_INFO, "audit",
              "user=%.*s key=%.*s operation=%s resource=%.*s result=%s",
              BYTES_FMT(call->caller->arn), BYTES_FMT(call->caller->key_id),
              operation_name(call->operation), BYTES_FMT(resource),
              failed ? short_name(call->error.code) : "ok");
}

void audit_stranger(const struct http_exchange *exchange, const struct operation *operation,
                    struct bytes claimed, const struct error *err)
{
    char peer[HTTP_PEER_SIZE];
    struct bytes shown = claimed.len == 0 ? BYTES("-") : claimed;
    if (shown.len > CLAIMED_SHOWN_MAX)
        shown.len = CLAIMED_SHOWN_MAX;
    http_exchange_peer(exchange, peer);
    log_write(LOG_WARN, "audit", "key=%.*s operation=%s address=%s result=%s", BYTES_FMT(shown),
              operation_name(operation), peer, short_name(err->code));
}
