/* check_walk.c -- see check_walk.h. */
#include "check/check_walk.h"
#include <assert.h>
#include "base/arena.h"
#include "base/buffer.h"

struct walk {
    struct engine_view *view;
    const struct engine_place *place;
    check_walk_visitor *visit;
    void *context;
    struct buffer first; /* Where the next page begins. */
    bool ended;
};

/* A page starts behind the last key of the page before: at that key with a zero byte appended. */
static enum engine_status go_behind(struct walk *walk, struct bytes key)
{
    if (key.len >= ENGINE_KEY_SIZE_MAX)
        return ENGINE_CORRUPT;
    walk->first.len = 0;
    buffer_append_bytes(&walk->first, key);
    buffer_append_byte(&walk->first, 0);
    return ENGINE_OK;
}

static enum engine_status walk_page(struct walk *walk)
{
    struct engine_range range = { .place = *walk->place,
                                  .first = buffer_bytes(&walk->first),
                                  .count_max = CHECK_WALK_PAGE_COUNT,
                                  .bytes_max = CHECK_WALK_PAGE_SIZE };
    struct engine_scan *scan = NULL;
    struct engine_entry entry;
    enum engine_status status = engine_scan_open(walk->view, &range, &scan);
    walk->ended = true; /* Unless there is an entry. */
    while (status == ENGINE_OK && (status = engine_scan_next(scan, &entry)) == ENGINE_OK) {
        walk->ended = !walk->visit(walk->context, walk->place, &entry);
        if (walk->ended)
            break;
        status = go_behind(walk, entry.key);
    }
    engine_scan_close(scan);
    return status == ENGINE_END ? ENGINE_OK : status;
}

enum engine_status check_walk(struct engine_view *view, const struct engine_place *place,
                              check_walk_visitor *visit, void *context)
{
    assert(visit != NULL);
    struct walk walk = { .view = view, .place = place, .visit = visit, .context = context };
    struct arena *arena = arena_create();
    buffer_init(&walk.first, arena);
    enum engine_status status = ENGINE_OK;
    while (status == ENGINE_OK && !walk.ended)
        status = walk_page(&walk);
    arena_destroy(arena);
    return status;
}
