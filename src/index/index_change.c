/* index_change.c -- see index_change.h. */
#include "index/index_change.h"
#include "index/index_entry.h"

/* Where an item's entry is, if it has one. */
struct side {
    bool exists;
    struct item_place place;
};

static struct side side_of(struct arena *arena, const struct table_definition *table,
                           const struct index_definition *index, const struct item *item)
{
    struct side side = { .exists = false };
    side.exists = item != NULL && index_entry_locate(arena, table, index, item, &side.place);
    return side;
}

struct index_change index_change_between(struct arena *arena, const struct table_definition *table,
                                         const struct index_definition *index,
                                         const struct item *before, const struct item *after)
{
    struct index_change change = { .type = INDEX_CHANGE_NONE };
    struct side old = side_of(arena, table, index, before);
    struct side new = side_of(arena, table, index, after);
    if (old.exists && new.exists) {
        /* The partition follows from the key. */
        bool stays = bytes_equal(old.place.address.key, new.place.address.key);
        if (stays && index_entry_is_same(table, index, before, after))
            return change;
        change.type = stays ? INDEX_CHANGE_UPDATE : INDEX_CHANGE_MOVE;
    } else if (old.exists || new.exists) {
        change.type = new.exists ? INDEX_CHANGE_INSERT : INDEX_CHANGE_REMOVE;
    }
    if (old.exists) {
        change.removed = old.place.address;
        change.size_before = index_entry_size(table, index, before);
    }
    if (new.exists) {
        change.stored = new.place.address;
        change.entry = index_entry_project(arena, table, index, after);
        change.size_after = change.entry.size;
    }
    return change;
}
