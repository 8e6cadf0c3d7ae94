/* index_fixture.h -- a table with indexes of every kind, for tests that need no catalogue. */
#ifndef STATOR_TEST_INDEX_FIXTURE_H
#define STATOR_TEST_INDEX_FIXTURE_H
#include "model/table_definition.h"

/* Table: p (S), s (N). In the order of its indexes:
 *   "local"     p, l (S)                 INCLUDE x, y
 *   "keys"      g (S), h (N)             KEYS_ONLY
 *   "all"       g (S)                    ALL
 *   "multiple"  g (S), b (B), h (N), l   INCLUDE p, x */
enum {
    INDEX_FIXTURE_LOCAL,
    INDEX_FIXTURE_KEYS,
    INDEX_FIXTURE_ALL,
    INDEX_FIXTURE_MULTIPLE,
    INDEX_FIXTURE_COUNT,
};
extern const struct table_definition index_fixture_table;

#endif
