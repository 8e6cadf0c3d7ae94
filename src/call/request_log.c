/* request_log.c -- see request_log.h. */
#include "call/request_log.h"
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include "api/api.h"
#include "api/capacity.h"
#include "base/log.h"
#include "call/audit.h"
#include "model/error.h"

/* The longest ARN of a table has 320 bytes. */
enum { TABLES_SHOWN_MAX = 3, TABLE_SIZE_MAX = 320, WORD_SIZE_MAX = 64, NUMBER_SIZE_MAX = 40 };
static_assert(TABLES_SHOWN_MAX * (TABLE_SIZE_MAX + 40) + 6 * (WORD_SIZE_MAX + 40) <=
                  (int)AUDIT_LINE_SIZE_MAX,
              "every line has room for its fields");

static void add_text(struct audit_line *line, const char *name, const char *text)
{
    audit_line_add(line, name, bytes_from_text(text), WORD_SIZE_MAX);
}

static void add_tables(struct audit_line *line, const struct api_call *call)
{
    char count[NUMBER_SIZE_MAX];
    for (size_t i = 0; i < call->use_count && i < TABLES_SHOWN_MAX; i++)
        audit_line_add(line, "table", call->uses[i].table_name, TABLE_SIZE_MAX);
    snprintf(count, sizeof count, "%zu", call->use_count);
    if (call->use_count > TABLES_SHOWN_MAX)
        add_text(line, "tables", count);
}

static void add_units(struct audit_line *line, const struct api_call *call)
{
    char units[NUMBER_SIZE_MAX];
    int64_t half_units = 0;
    for (size_t i = 0; i < call->use_count; i++)
        half_units += capacity_use_total(&call->uses[i]);
    snprintf(units, sizeof units, "%" PRId64 "%s", half_units / 2, half_units % 2 == 0 ? "" : ".5");
    add_text(line, "units", units);
}

static void add_result(struct audit_line *line, enum error_code code)
{
    char status[NUMBER_SIZE_MAX];
    snprintf(status, sizeof status, "%d", code == ERROR_NONE ? 200 : error_kind(code)->http_status);
    add_text(line, "status", status);
    if (code != ERROR_NONE)
        add_text(line, "result", audit_error_name(code));
}

static void write_line(const struct audit_line *line)
{
    log_write(LOG_DEBUG, "request", "%.*s", (int)line->size, line->text);
}

void request_log_observe(void *context, const struct api_call *call,
                         const struct api_outcome *outcome)
{
    struct audit_line line;
    char elapsed[NUMBER_SIZE_MAX];
    (void)context;
    line.size = 0;
    add_text(&line, "operation", operation_name(call->operation));
    add_tables(&line, call);
    add_result(&line, outcome->error);
    snprintf(elapsed, sizeof elapsed, "%.3f", (double)outcome->elapsed_ns / 1e6);
    add_text(&line, "ms", elapsed);
    add_units(&line, call);
    write_line(&line);
}

void request_log_unknown(struct bytes target)
{
    struct audit_line line;
    line.size = 0;
    audit_line_add(&line, "operation", target.data == NULL ? BYTES("-") : target, WORD_SIZE_MAX);
    add_result(&line, ERROR_UNKNOWN_OPERATION);
    write_line(&line);
}
