/* audit.c -- see audit.h. */
#include "wire/audit.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/api.h"
#include "auth/caller.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/log.h"
#include "base/memory.h"
#include "http/server.h"
#include "model/error.h"
#include "wire/audit_limit.h"
#include "wire/audit_line.h"

enum audit_event { EVENT_CHANGE, EVENT_FAILED, EVENT_DENIED, EVENT_REFUSED, EVENTS };

static const struct {
    const char *name;
    enum log_level level;
    int64_t per_second, burst;
} events[EVENTS] = {
    [EVENT_CHANGE] = { "change", LOG_INFO, AUDIT_CHANGES_PER_SECOND_MAX, AUDIT_CHANGES_BURST_MAX },
    [EVENT_FAILED] = { "failed", LOG_INFO, AUDIT_FAILED_PER_SECOND_MAX, AUDIT_FAILED_BURST_MAX },
    [EVENT_DENIED] = { "denied", LOG_WARN, AUDIT_DENIED_PER_SECOND_MAX, AUDIT_DENIED_BURST_MAX },
    [EVENT_REFUSED] = { "refused", LOG_WARN, AUDIT_REFUSED_PER_SECOND_MAX,
                        AUDIT_REFUSED_BURST_MAX },
};

/* How much of a value a line shows. An ARN of an index with the longest names has 570 bytes. */
enum { USER_SIZE_MAX = 256, KEY_SIZE_MAX = 128, RESOURCE_SIZE_MAX = 640, WORD_SIZE_MAX = 64 };
/* Names, quotes and the mark of a cut value take less than 40 bytes of each field. */
static_assert(USER_SIZE_MAX + KEY_SIZE_MAX + RESOURCE_SIZE_MAX + 4 * WORD_SIZE_MAX + 7 * 40 <=
                  (int)AUDIT_LINE_SIZE_MAX,
              "every line has room for its fields");

struct audit {
    struct audit_limit limits[EVENTS];
};

/* "AccessDeniedException" */
static const char *short_name(enum error_code code)
{
    const char *type = error_kind(code)->type;
    const char *hash = strchr(type, '#');
    return hash == NULL ? type : hash + 1;
}

static void add_text(struct audit_line *line, const char *name, const char *text)
{
    audit_line_add(line, name, bytes_from_text(text), WORD_SIZE_MAX);
}

/* False if too many lines of its kind were logged. */
static bool begin(struct audit *audit, enum audit_event event, struct audit_line *line,
                  uint64_t *suppressed)
{
    if (!audit_limit_take(&audit->limits[event], clock_monotonic_ns(), suppressed))
        return false;
    line->size = 0;
    add_text(line, "event", events[event].name);
    return true;
}

static void end(enum audit_event event, struct audit_line *line, uint64_t suppressed)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, suppressed);
    if (suppressed > 0)
        add_text(line, "suppressed", number);
    log_write(events[event].level, "audit", "%.*s", (int)line->size, line->text);
}

struct audit *audit_create(void)
{
    struct audit *audit = memory_checked(malloc(sizeof *audit));
    for (size_t i = 0; i < EVENTS; i++)
        audit_limit_init(&audit->limits[i], events[i].per_second, events[i].burst);
    return audit;
}

void audit_destroy(struct audit *audit)
{
    for (size_t i = 0; audit != NULL && i < EVENTS; i++) {
        struct audit_line line = { 0 };
        uint64_t suppressed = audit_limit_end(&audit->limits[i]);
        if (suppressed == 0)
            continue;
        add_text(&line, "event", events[i].name);
        end((enum audit_event)i, &line, suppressed);
    }
    free(audit);
}

/* What was refused before access was decided, for its form alone, was no attempt to change
 * anything: it must not use up the lines of those that were. */
static bool is_change(const struct api_call *call)
{
    return operation_changes_tables(call->operation) && call->asked;
}

void audit_call(struct audit *audit, const struct api_call *call)
{
    struct audit_line line;
    uint64_t suppressed;
    bool failed = error_is_set(&call->error);
    enum audit_event event = call->denied ? EVENT_DENIED : failed ? EVENT_FAILED : EVENT_CHANGE;
    if (call->caller == NULL || (!call->denied && !is_change(call)) ||
        !begin(audit, event, &line, &suppressed))
        return;
    audit_line_add(&line, "user", call->caller->arn, USER_SIZE_MAX);
    audit_line_add(&line, "key", call->caller->key_id, KEY_SIZE_MAX);
    add_text(&line, "operation", operation_name(call->operation));
    audit_line_add(&line, "resource", call->resource.data == NULL ? BYTES("-") : call->resource,
                   RESOURCE_SIZE_MAX);
    add_text(&line, "result",
             failed         ? short_name(call->error.code)
             : call->denied ? "AccessDenied"
                            : "ok");
    end(event, &line, suppressed);
}

void audit_stranger(struct audit *audit, const struct http_exchange *exchange,
                    const struct operation *operation, struct bytes claimed,
                    const struct error *err)
{
    char peer[HTTP_PEER_SIZE];
    struct audit_line line;
    uint64_t suppressed;
    if (!begin(audit, EVENT_REFUSED, &line, &suppressed))
        return;
    http_exchange_peer(exchange, peer);
    audit_line_add(&line, "key", claimed.len == 0 ? BYTES("-") : claimed, KEY_SIZE_MAX);
    add_text(&line, "operation", operation_name(operation));
    add_text(&line, "address", peer);
    add_text(&line, "result", short_name(err->code));
    end(EVENT_REFUSED, &line, suppressed);
}
