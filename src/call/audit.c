/* audit.c -- see audit.h. */
#include "call/audit.h"
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
#include "base/log_limit.h"
#include "base/memory.h"
#include "http/server.h"
#include "json/utf8.h"
#include "model/error.h"

/* --- Lines --- */

enum {
    ESCAPE_SIZE = 4,       /* \xNN */
    CUT_SIZE_MAX = 2 + 20, /* \+ and a number */
    PREFIX_SIZE_MAX = 80,  /* Written by the log: time, level, area. */
};
static_assert((int)AUDIT_LINE_SIZE_MAX + PREFIX_SIZE_MAX <= (int)LOG_LINE_MAX,
              "the log does not cut a line");

/* U+0080 to U+009F are control characters. U+2028 to U+202E and U+2066 to U+2069 separate lines or
 * change the direction of text, so a terminal could display a forged line. */
static bool is_harmless(const uint8_t *at, size_t size)
{
    if (size == 2)
        return at[0] != 0xC2 || at[1] > 0x9F;
    if (size != 3 || at[0] != 0xE2)
        return true;
    return !(at[1] == 0x80 && at[2] >= 0xA8 && at[2] <= 0xAE) &&
           !(at[1] == 0x81 && at[2] >= 0xA6 && at[2] <= 0xA9);
}

/* Writes the character at `at`, or its first byte escaped. Returns how many bytes it read;
 * `*written` is how many it wrote. */
static size_t write_character(const uint8_t *at, const uint8_t *end, char out[ESCAPE_SIZE + 1],
                              size_t *written)
{
    size_t size = *at < 0x80 ? 1 : utf8_size(at, end);
    if (*at == '"' || *at == '\\') {
        out[0] = '\\';
        out[1] = (char)*at;
        *written = 2;
        return 1;
    }
    if (size == 0 || *at < 0x20 || *at == 0x7F || !is_harmless(at, size)) {
        snprintf(out, ESCAPE_SIZE + 1, "\\x%02X", (unsigned)*at);
        *written = ESCAPE_SIZE;
        return 1;
    }
    memcpy(out, at, size);
    *written = size;
    return size;
}

static void append(struct audit_line *line, const char *text, size_t size)
{
    assert(line->size + size <= AUDIT_LINE_SIZE_MAX);
    memcpy(line->text + line->size, text, size);
    line->size += size;
}

static void append_value(struct audit_line *line, struct bytes value, size_t size_max)
{
    const uint8_t *end = value.data + value.len;
    char text[ESCAPE_SIZE + 1], cut[CUT_SIZE_MAX + 1];
    size_t shown = 0, size;
    for (size_t i = 0; i < value.len;) {
        size_t taken = write_character(value.data + i, end, text, &size);
        if (shown + size > size_max) {
            int cut_size = snprintf(cut, sizeof cut, "\\+%zu", value.len - i);
            append(line, cut, (size_t)cut_size);
            return;
        }
        append(line, text, size);
        shown += size;
        i += taken;
    }
}

void audit_line_add(struct audit_line *line, const char *name, struct bytes value, size_t size_max)
{
    assert(size_max > 0);
    if (line->size > 0)
        append(line, " ", 1);
    append(line, name, strlen(name));
    append(line, "=\"", 2);
    append_value(line, value, size_max < AUDIT_VALUE_SIZE_MAX ? size_max : AUDIT_VALUE_SIZE_MAX);
    append(line, "\"", 1);
}

/* --- Events --- */

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

/* How much of each value a line shows. The longest ARN of an index has 570 bytes. */
enum { USER_SIZE_MAX = 256, KEY_SIZE_MAX = 128, RESOURCE_SIZE_MAX = 640, WORD_SIZE_MAX = 64 };
/* Name, quotes and the \+N of a cut value take less than 40 bytes of each field. */
static_assert(USER_SIZE_MAX + KEY_SIZE_MAX + RESOURCE_SIZE_MAX + 4 * WORD_SIZE_MAX + 7 * 40 <=
                  (int)AUDIT_LINE_SIZE_MAX,
              "every line has room for its fields");

struct audit {
    struct log_limit limits[EVENTS];
};

const char *audit_error_name(enum error_code code)
{
    const char *type = error_kind(code)->type;
    const char *hash = strchr(type, '#');
    return hash == NULL ? type : hash + 1;
}

static void add_text(struct audit_line *line, const char *name, const char *text)
{
    audit_line_add(line, name, bytes_from_text(text), WORD_SIZE_MAX);
}

/* Starts a line. False if its event has reached its limit. */
static bool begin(struct audit *audit, enum audit_event event, struct audit_line *line,
                  uint64_t *suppressed)
{
    if (!log_limit_take(&audit->limits[event], clock_monotonic_ns(), suppressed))
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
        log_limit_init(&audit->limits[i], events[i].per_second, events[i].burst);
    return audit;
}

void audit_destroy(struct audit *audit)
{
    for (size_t i = 0; audit != NULL && i < EVENTS; i++) {
        struct audit_line line = { 0 };
        uint64_t suppressed = log_limit_end(&audit->limits[i]);
        if (suppressed == 0)
            continue;
        add_text(&line, "event", events[i].name);
        end((enum audit_event)i, &line, suppressed);
    }
    free(audit);
}

/* A request refused for its form, before access was decided, is no attempt to change anything and
 * must not use up lines of those that are. */
static bool is_change(const struct api_call *call)
{
    return operation_is_audited(call->operation) && call->asked;
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
             failed         ? audit_error_name(call->error.code)
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
    add_text(&line, "result", audit_error_name(err->code));
    end(EVENT_REFUSED, &line, suppressed);
}
