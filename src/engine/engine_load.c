/* engine_load.c -- see engine_load.h. */
#include "engine/engine_load.h"
#include "base/arena.h"
#include "base/log.h"

enum engine_status engine_load(struct engine *engine, const struct engine_load *load)
{
    struct engine_view *view = NULL;
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    struct arena *arena = arena_create();
    enum engine_status status = engine_view_open(engine, ENGINE_STRONG, &view);
    if (status == ENGINE_OK)
        status = engine_scan_open(view, &load->range, &scan);
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        if (!load->take(load->context, arena, &entry)) {
            log_write(LOG_ERROR, load->module, "%s", load->damage);
            status = ENGINE_CORRUPT;
        }
        arena_reset(arena);
    }
    engine_scan_close(scan);
    engine_view_close(view);
    arena_destroy(arena);
    return status == ENGINE_END ? ENGINE_OK : status;
}
