/* index_change.c -- see index_change.h. */
#include "index/index_change.h"
#include <assert.h>
#include "base/bytes.h"
#include "index/index_view.h"

/* Where an item's entry is, if it has one. */
struct side {
    bool exists;
    struct item_address place;
};

static struct side side_of(struct arena *arena, const struct index_view *view,
                           const struct index_definition *index)
{
    assert(index != NULL);
    struct side side = { .exists = false };
    side.exists = view != NULL && index_view_locate(arena, view, index, &side.place);
    return side;
}

struct index_change index_change_between(struct arena *arena,
                                         const struct index_comparison *comparison,
                                         const struct index_definition *index)
{
    const struct index_view *before = comparison->before, *after = comparison->after;
    struct index_change change = { .type = INDEX_CHANGE_NONE };
    /* An entry holds its own key, so one that holds the same stays where it is. */
    if (before != NULL && after != NULL && index_comparison_is_same(comparison, index))
        return change;
    struct side old = side_of(arena, before, index);
    struct side new = side_of(arena, after, index);
    if (old.exists && new.exists) {
        /* The partition follows from the key. */
        bool stays = bytes_equal(old.place.address.key, new.place.address.key);
        change.type = stays ? INDEX_CHANGE_UPDATE : INDEX_CHANGE_MOVE;
    } else if (old.exists || new.exists) {
        change.type = new.exists ? INDEX_CHANGE_INSERT : INDEX_CHANGE_REMOVE;
    }
    assert((change.type != INDEX_CHANGE_NONE) == (old.exists || new.exists));
    if (old.exists) {
        change.removed = old.place.address;
        change.size_before = index_view_size(before, index);
    }
    if (new.exists) {
        change.stored = new.place.address;
        change.entry = index_view_project(arena, after, index);
        change.size_after = change.entry.size;
    }
    return change;
}
