/* check.c -- see check.h. */
#include "check/check.h"
#include "base/arena.h"
#include "check/check_catalogue.h"
#include "check/check_places.h"
#include "check/check_server_time.h"
#include "check/check_stream.h"
#include "check/check_table.h"
#include "check/check_tokens.h"
#include "check/check_triggers.h"
#include "engine/engine.h"
#include "stream/stream_definition.h"

static void check_tables(struct engine_view *view, const struct check_catalogue *catalogue,
                         struct check_report *report, struct check_result *result)
{
    result->table_count = catalogue->table_count;
    for (size_t i = 0; i < catalogue->table_count; i++) {
        struct check_table_counts counts = check_table(view, &catalogue->tables[i], report);
        result->item_count += counts.item_count;
        result->entry_count += counts.entry_count;
    }
}

struct check_result check_store(struct engine *engine, check_report_sink *sink, void *context)
{
    struct check_result result = { 0 };
    struct check_report report = { .sink = sink, .context = context };
    struct engine_view *view = NULL;
    struct arena *arena = arena_create(); /* Holds the catalogue. */
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK) {
        struct check_catalogue catalogue = check_catalogue_read(view, arena, &report);
        check_tables(view, &catalogue, &report, &result);
        check_tokens(view, &report);
        check_server_time(view, &report);
        for (size_t i = 0; i < catalogue.stream_count; i++)
            check_stream(view, &catalogue.streams[i], &report);
        check_triggers(view, &catalogue, &report);
        check_places(view, &catalogue, &report);
    } else {
        check_report_unreadable(&report, status, "the store");
    }
    engine_view_close(view);
    arena_destroy(arena);
    result.problem_count = report.problem_count;
    result.gave_up = check_report_gave_up(&report);
    return result;
}
