/* item_fixture.h -- items from JSON written with single quotes, and back. */
#ifndef STATOR_TEST_ITEM_FIXTURE_H
#define STATOR_TEST_ITEM_FIXTURE_H
#include "base/bytes.h"
#include "model/item.h"

struct arena;

/* Double quotes in place of single ones. */
struct bytes item_fixture_text(struct arena *arena, const char *single_quoted);
/* {'a':{'N':'1'}} as an item; a fixture that is wrong asserts. */
struct item item_fixture_read(struct arena *arena, const char *single_quoted);
/* The item as JSON. */
struct bytes item_fixture_write(struct arena *arena, const struct item *item);

#endif
