/* index_change.c -- see index_change.h. */
#include "index/index_change.h"
#include "index/index_entry.h"

/* An entry, or none. */
struct side {
    bool exists;
    struct item_place place;
    struct item entry;
};

static struct side side_of(struct arena *arena, const struct table_definition *table,
                           const struct index_definition *index, const struct item *item)
{
    struct side side = { .exists = false };
    if (item == NULL || !index_entry_locate(arena, table, index, item, &side.place))
        return side;
    side.exists = true;
    side.entry = index_entry_project(arena, table, index, item);
    return side;
}

static enum index_change_type type_of(const struct side *before, const struct side *after)
{
    if (!before->exists)
        return after->exists ? INDEX_CHANGE_INSERT : INDEX_CHANGE_NONE;
    if (!after->exists)
        return INDEX_CHANGE_REMOVE;
    /* The partition follows from the key. */
    if (!bytes_equal(before->place.address.key, after->place.address.key))
        return INDEX_CHANGE_MOVE;
    return bytes_equal(before->entry.encoded, after->entry.encoded) ? INDEX_CHANGE_NONE
                                                                    : INDEX_CHANGE_UPDATE;
}

struct index_change index_change_between(struct arena *arena, const struct table_definition *table,
                                         const struct index_definition *index,
                                         const struct item *before, const struct item *after)
{
    struct side old = side_of(arena, table, index, before);
    struct side new = side_of(arena, table, index, after);
    struct index_change change = { .type = type_of(&old, &new) };
    if (change.type == INDEX_CHANGE_NONE)
        return change;
    if (old.exists) {
        change.removed = old.place.address;
        change.size_before = old.entry.size;
    }
    if (new.exists) {
        change.stored = new.place.address;
        change.entry = new.entry;
        change.size_after = new.entry.size;
    }
    return change;
}
