/* index_change.h -- what a change of an item does to one index.
 *
 * Derived from the item before and after, both of which every write has read or made: so an entry
 * is never looked for, and no other item's entry is touched. Where an index may lack the old entry
 * (enum index_status), that is the caller's to find out.
 */
#ifndef STATOR_INDEX_INDEX_CHANGE_H
#define STATOR_INDEX_INDEX_CHANGE_H
#include <stddef.h>
#include "model/item.h"
#include "table/item_address.h"

struct arena;
struct index_comparison;
struct index_definition;

enum index_change_type {
    INDEX_CHANGE_NONE,   /* No entry before or after, or the same one. */
    INDEX_CHANGE_INSERT, /* A new entry. */
    INDEX_CHANGE_REMOVE, /* The old entry goes. */
    INDEX_CHANGE_UPDATE, /* The entry stays where it is and holds something else. */
    INDEX_CHANGE_MOVE,   /* Another key: the old entry goes, a new one comes. */
};

struct index_change {
    enum index_change_type type;
    struct engine_address removed; /* REMOVE, MOVE */
    struct engine_address stored;  /* INSERT, UPDATE, MOVE */
    struct item entry;             /* What is stored; borrows the item or lives in the arena. */
    /* DynamoDB's sizes of the entries; 0 where there is none. Set for all types but NONE. */
    size_t size_before;
    size_t size_after;
};

/* Either view of the comparison (index_view.h) may be NULL: there is no item. One comparison serves
 * all indexes of the table. Nothing is made unless something has to be stored or removed. */
struct index_change index_change_between(struct arena *arena,
                                         const struct index_comparison *comparison,
                                         const struct index_definition *index);

#endif
