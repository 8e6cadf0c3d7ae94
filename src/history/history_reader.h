/* history_reader.h -- reads a table as it was at a moment, and what changed between two moments.
 *
 * A moment T stands for exactly the changes with commit times before T: of all tables, and of a
 * transaction all or nothing. Restores, full exports (T), incremental exports (from T to U) and
 * backups share this one rule, so full(T) and the changes from T to U make full(U).
 *
 * Before it reads, a job
 *   1. holds T for the table (history_holds.h), so that the history is neither closed nor trimmed;
 *   2. calls history_cut (history_cut.h), after which no change before T is missing any more.
 * T must not be before the beginning of the history (history_window.h).
 *
 * The state at T follows from any later state of the store. So a reader keeps no view for long: it
 * opens another one after every HISTORY_VIEW_SIZE bytes. A job that stores the last key it was
 * given continues behind it after a restart.
 *
 * `table` is a definition with a history. It need not be in the catalogue: the definition of a
 * dropped table serves as long as its owners are kept (its id and its history's). A reader belongs
 * to one thread, which may wait for the disk.
 */
#ifndef STATOR_HISTORY_HISTORY_READER_H
#define STATOR_HISTORY_HISTORY_READER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/compiler.h"
#include "engine/engine.h"
#include "model/item.h"

struct history_reader;
struct table_definition;

enum {
    HISTORY_VIEW_SIZE = 4 * 1024 * 1024,
    /* A reader that has passed so many versions of one item in a row seeks the one it needs, or the
     * next item: an item may be written thousands of times a second. */
    HISTORY_VERSIONS_SKIPPED = 8,
};

/* A range of item keys (table/item_address.h). They begin with the hash, so a reader returns the
 * items of one partition after those of another, all in the order of their keys. */
struct history_range {
    struct bytes first; /* Inclusive; empty: from the start. */
    struct bytes after; /* Only what is behind this key; empty: all. */
    struct bytes last;  /* Exclusive; empty: to the end. */
};

/* The range of one of the table's partitions. The keys are written to `first` and `last`, which the
 * range borrows. */
enum { HISTORY_HASH_SIZE = 8 };
struct history_range history_range_of_partition(const struct table_definition *table,
                                                size_t partition, uint8_t first[HISTORY_HASH_SIZE],
                                                uint8_t last[HISTORY_HASH_SIZE]);

/* --- The state at a moment --- */

/* Borrows engine and table until the reader is closed, and copies the range. The definition's
 * history must be kept or, of a dropped table, have been (HISTORY_ACTIVE). Never fails: whatever
 * fails does so in the first step. */
struct history_reader *history_reader_open_state(struct engine *engine,
                                                 const struct table_definition *table,
                                                 int64_t at_us, const struct history_range *range);

struct history_state {
    struct bytes key; /* The item's. */
    /* False: the key was not in use at T. Such keys are reported because there may be many of them
     * in a row, and the caller should get a chance to pause or stop. */
    bool exists;
    struct item item;
};
/* The next key. ENGINE_END behind the last one. ENGINE_CORRUPT, logged, if the history or an item
 * is damaged. The result is borrowed until the next call. */
MUST_CHECK enum engine_status history_reader_next_state(struct history_reader *reader,
                                                        struct history_state *out);

/* --- The changes between two moments --- */

/* Of commit times in [from_us, to_us). */
struct history_reader *history_reader_open_changes(struct engine *engine,
                                                   const struct table_definition *table,
                                                   int64_t from_us, int64_t to_us,
                                                   const struct history_range *range);

/* All changes of an item within the window, taken together. */
struct history_change {
    struct bytes key; /* The item's. */
    /* False: nothing changed, or the item existed neither before nor after. Reported as above. */
    bool changed;
    bool had_old, has_new;
    struct item old_image; /* The state at `from_us`, if it existed. */
    struct item new_image; /* The state at `to_us`, likewise. */
    int64_t written_us;    /* Commit time of the last change within the window. */
    bool by_service;       /* The last change was the item's expiry. */
};
MUST_CHECK enum engine_status history_reader_next_change(struct history_reader *reader,
                                                         struct history_change *out);

void history_reader_close(struct history_reader *reader); /* Closing NULL is allowed. */

#endif
