/* item_source.h -- the items of a table at a moment, for backups and restores: from its history, or
 * as they are if nobody can change them any more. */
#ifndef STATOR_API_BACKUP_ITEM_SOURCE_H
#define STATOR_API_BACKUP_ITEM_SOURCE_H
#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct engine_view;
struct item_source;
struct table_definition;

enum { ITEM_SOURCE_VIEW_SIZE = 4 * 1024 * 1024 };

/* The table at the moment `at_us` (history/history_reader.h); 0: a table that was dropped, as it
 * is. `after` is the last key that was seen; empty: none. Borrows engine and table. */
struct item_source *item_source_open(struct engine *engine, const struct table_definition *table,
                                     int64_t at_us, struct bytes after);
/* A table that is in use and has no history, from the beginning: by one view, which the source
 * takes over and keeps until it is closed. NULL: one that is opened by the first call of
 * item_source_next. */
struct item_source *item_source_open_view(struct engine *engine,
                                          const struct table_definition *table,
                                          struct engine_view *view);
void item_source_close(struct item_source *source); /* Closing NULL is allowed. */

struct source_item {
    struct bytes key;
    bool
        exists; /* False: a key without an item at that moment. The caller may look up and pause. */
    struct item item;
};
/* In the order of stored keys. ENGINE_END behind the last one. Borrowed until the next call. */
MUST_CHECK enum engine_status item_source_next(struct item_source *source, struct source_item *out);

#endif
